"""Which instruction set the library chooses: by synthetic features, on this processor, and on emulated ones."""

import ctypes
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.build

Level = Callable[[dict[str, tuple[int, int]]], int]
SOURCES = Path(__file__).parents[2] / "src/trueness/tabulation/compiled/source"

# Bits by the processors' manuals: leaf 1 ecx, leaf 7 ebx, leaf 0x80000001 ecx, and XCR0.
V2 = {
    "sse3": (0, 0),
    "ssse3": (0, 9),
    "cx16": (0, 13),
    "sse4.1": (0, 19),
    "sse4.2": (0, 20),
    "popcnt": (0, 23),
}
V2 |= {"lahf": (2, 0)}
V3 = {"fma": (0, 12), "movbe": (0, 22), "osxsave": (0, 27), "avx": (0, 28), "f16c": (0, 29), "bmi1": (1, 3)}
V3 |= {"avx2": (1, 5), "bmi2": (1, 8), "lzcnt": (2, 5), "saves sse": (3, 1), "saves avx": (3, 2)}
V4 = {"f": (1, 16), "dq": (1, 17), "cd": (1, 28), "bw": (1, 30), "vl": (1, 31)}
V4 |= {"saves masks": (3, 5), "saves upper halves": (3, 6), "saves upper registers": (3, 7)}

LEVEL_OF = """
#include "cpu.h"
__attribute__((visibility("default")))
int64_t level_of(uint32_t basic, uint32_t newer, uint32_t extended, uint32_t saved)
{
    return cpu_level((cpu_features){basic, newer, extended, saved});
}
"""
PROGRAM = """
#include "cpu.h"
void _start(void)
{
    int64_t level = best_level();
#if defined(__x86_64__)
    __asm__ volatile("syscall" : : "a"(60L), "D"(level));
#else
    register int64_t code __asm__("x0") = level, exit __asm__("x8") = 93;
    __asm__ volatile("svc 0" : : "r"(code), "r"(exit));
#endif
    __builtin_unreachable();
}
"""
"""A program that needs no C library, which ziglang would take minutes to compile. Its exit code is the level."""


def zig_cc(code: str, target: str, output: Path, *options: str) -> Path:
    """A program or library of C code that includes headers of the library."""
    source = output.with_suffix(".c")
    source.write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*command, *options, f"-I{SOURCES}", str(source), "-o", str(output)], check=True)
    return output


def level(*command: str | Path) -> int:
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode


@pytest.fixture(scope="module")
def level_of(
    tmp_path_factory: pytest.TempPathFactory,
) -> Level:
    import hatch_build

    target = hatch_build.host()
    assert target is not None
    if target.processor != "x86_64":
        pytest.fail("these tests need an x86-64 processor")
    path = tmp_path_factory.mktemp("cpu") / "level_of.so"
    library = ctypes.CDLL(
        str(zig_cc(LEVEL_OF, "x86_64-linux-gnu.2.17", path, "-shared", "-nostdlib", "-fPIC"))
    )

    def of(features: dict[str, tuple[int, int]]) -> int:
        words = [sum(1 << bit for word, bit in features.values() if word == number) for number in range(4)]
        return int(library.level_of(*map(ctypes.c_uint32, words)))

    return of


class TestFeatures:
    @pytest.mark.parametrize(("features", "expected"), [({}, 0), (V2, 2), (V2 | V3, 3), (V2 | V3 | V4, 4)])
    def test_a_level_has_all_features_of_the_lower_ones(
        self, features: dict[str, tuple[int, int]], expected: int, level_of: Level
    ) -> None:
        assert level_of(features) == expected

    @pytest.mark.parametrize("missing", V2 | V3 | V4)
    def test_each_feature_is_needed(self, missing: str, level_of: Level) -> None:
        present = {name: place for name, place in (V2 | V3 | V4).items() if name != missing}
        assert level_of(present) == (0 if missing in V2 else 2 if missing in V3 else 3)

    def test_higher_features_do_not_replace_lower_ones(self, level_of: Level) -> None:
        assert level_of(V3 | V4) == 0
        assert level_of(V2 | V4) == 2


@pytest.fixture(scope="module")
def x86_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("program") / "level"
    return zig_cc(PROGRAM, "x86_64-linux-musl", path, "-static", "-nostdlib", "-march=x86_64")


def test_this_processor_has_the_level_that_the_kernel_reports(x86_program: Path) -> None:
    """Linux lists what the processor has and the system supports."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    flags = set(next(line for line in lines if line.startswith("flags")).partition(":")[2].split())
    v2 = {"pni", "ssse3", "cx16", "sse4_1", "sse4_2", "popcnt", "lahf_lm"} <= flags
    v3 = v2 and {"fma", "movbe", "xsave", "avx", "f16c", "bmi1", "avx2", "bmi2", "abm"} <= flags
    v4 = v3 and {"avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl"} <= flags
    assert level(x86_program) == (4 if v4 else 3 if v3 else 2 if v2 else 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("processor", "expected"), [("core2duo", 0), ("Nehalem", 2), ("SandyBridge", 2), ("Haswell", 3)]
)
def test_emulated_processors(processor: str, expected: int, x86_program: Path) -> None:
    assert level("qemu-x86_64", "-cpu", processor, x86_program) == expected


@pytest.mark.slow
def test_an_emulated_arm_processor(tmp_path: Path) -> None:
    program = zig_cc(PROGRAM, "aarch64-linux-musl", tmp_path / "level", "-static", "-nostdlib")
    assert level("qemu-aarch64", program) == 1
