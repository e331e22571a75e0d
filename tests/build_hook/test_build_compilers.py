"""Which compiler the build hook uses, and with which flags."""

import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from build_hooks import make_hook

pytestmark = pytest.mark.build

FakeCompiler = Callable[..., Path]


def found_command() -> tuple[str, ...] | None:
    import hatch_build

    compiler = hatch_build.find_compiler(hatch_build.TARGETS[0], os.environ, cross=False)
    return compiler and compiler.command


def sum_of_product(library: Path) -> float:
    """(1 + 2⁻²⁷)² - (1 + 2⁻²⁶) by the kernel: 0 if the product is rounded, 2⁻⁵⁴ by a fused multiply-add."""
    function = ctypes.CDLL(str(library)).trueness_sum_of_product
    function.argtypes, function.restype = [ctypes.c_double] * 3, ctypes.c_double
    result: float = function(1 + 2**-27, 1 + 2**-27, -1 - 2**-26)
    return result


ZIG = (sys.executable, "-m", "ziglang", "cc")


def test_cc_of_the_environment_comes_first_with_its_arguments(
    no_compilers: Path, fake_compiler: FakeCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    named, _ = fake_compiler(no_compilers / "named"), fake_compiler(no_compilers / "cc")
    monkeypatch.setenv("CC", f"'{named}' -m64")
    assert found_command() == (str(named), "-m64")


@pytest.mark.parametrize("broken", ["missing", "failing"])
def test_a_broken_cc_is_passed_over(
    broken: str, no_compilers: Path, fake_compiler: FakeCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_compiler(no_compilers / "failing", works=False)
    fake_compiler(no_compilers / "cc")
    monkeypatch.setenv("CC", str(no_compilers / broken))
    assert found_command() == ("cc",)


def test_the_order_is_cc_gcc_clang_ziglang(no_compilers: Path, fake_compiler: FakeCompiler) -> None:
    names = ["cc", "gcc", "clang"]
    for name in names:
        fake_compiler(no_compilers / name)
    order = []
    for name in names:
        order.append(found_command())
        fake_compiler(no_compilers / name, works=False)
    assert [*order, found_command()] == [("cc",), ("gcc",), ("clang",), ZIG]


@pytest.mark.parametrize("unfit", [("-U__clang_major__", "-D__clang_major__=14"), ("-U__x86_64__",)])
def test_the_probe_refuses_old_compilers_and_other_processors(unfit: tuple[str, ...], tmp_path: Path) -> None:
    import hatch_build

    source = tmp_path / "probe.c"
    source.write_text(hatch_build.PROBE, encoding="utf-8")
    zig, target = hatch_build.Compiler(ZIG, zig=True), hatch_build.TARGETS[0]
    parts = [hatch_build.Unit(source, ())]
    assert hatch_build.build_units(parts, target, zig, tmp_path / "good").is_file()
    with pytest.raises(hatch_build.BuildError, match=r"clang 15 or newer|another processor"):
        hatch_build.build_units(parts, target, zig, tmp_path / "bad", unfit)


class TestTheRequirement:
    def test_nothing_is_required_with_a_compiler(
        self, tree: Path, no_compilers: Path, fake_compiler: FakeCompiler
    ) -> None:
        fake_compiler(no_compilers / "gcc")
        assert make_hook(tree).dependencies() == []

    @pytest.mark.parametrize("obtainable", [True, False])
    def test_without_one_ziglang_is_required_if_it_can_be_had(
        self, obtainable: bool, tree: Path, no_compilers: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "ziglang", None)
        monkeypatch.setattr("hatch_build.ziglang_is_obtainable", lambda: obtainable)
        assert make_hook(tree).dependencies() == (["ziglang>=0.13"] if obtainable else [])

    def test_it_cannot_be_had_from_an_empty_registry(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import hatch_build

        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
        assert not hatch_build.ziglang_is_obtainable()
        (tmp_path / "ziglang-0.17.0-py3-none-any.whl").touch()
        assert hatch_build.ziglang_is_obtainable()

    def test_another_platform_always_needs_it(
        self, tree: Path, no_compilers: Path, fake_compiler: FakeCompiler, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fake_compiler(no_compilers / "gcc")
        monkeypatch.setitem(sys.modules, "ziglang", None)
        monkeypatch.setenv("TRUENESS_TARGET", "aarch64-macos.11.0")
        assert make_hook(tree).dependencies() == ["ziglang>=0.13"]

    def test_a_wheel_without_a_library_needs_nothing(
        self, tree: Path, no_compilers: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "ziglang", None)
        monkeypatch.setenv("TRUENESS_TARGET", "any")
        assert make_hook(tree).dependencies() == []


class TestFlags:
    def test_contraction_is_off_after_all_other_flags_and_cflags_have_no_effect(
        self, tree: Path, no_compilers: Path, fake_compiler: FakeCompiler, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import hatch_build

        log = Path(f"{fake_compiler(no_compilers / 'cc')}.log")
        for name in ("CFLAGS", "CPPFLAGS", "LDFLAGS"):
            monkeypatch.setenv(name, "-ffp-contract=fast -DUNWANTED")
        sources, target = hatch_build.source_folder(tree), hatch_build.TARGETS[0]
        compiler = hatch_build.Compiler(("cc",))
        hatch_build.compile_library(sources, target, compiler, tree / "built", ["-DEXTRA"])
        lines = [line.split() for line in log.read_text(encoding="utf-8").splitlines()]
        compilations = [line for line in lines if "-c" in line]
        assert len(compilations) == 4
        assert len(lines) == 5
        for line in compilations:
            assert line.index("-ffp-contract=off") == line.index("-c") - 1
            assert all(not word.startswith("-") for word in line[line.index("-c") + 1 :] if word != "-o")
        assert not any("UNWANTED" in word or "fast" in word for line in lines for word in line)

    @pytest.mark.parametrize("extra", [(), ("-ffp-contract=fast",)])
    def test_a_product_is_rounded_before_it_is_added(self, extra: tuple[str, ...], tree: Path) -> None:
        import hatch_build

        target, sources = hatch_build.host(), hatch_build.source_folder(tree)
        assert target is not None
        candidates = hatch_build.candidates(os.environ, cross=False)
        usable = [compiler for compiler in candidates if hatch_build.passes_probe(compiler, target)]
        assert usable
        for number, compiler in enumerate(usable):
            built = hatch_build.compile_library(sources, target, compiler, tree / str(number), extra)
            assert sum_of_product(built) == 0
