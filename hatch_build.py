"""Build hook: compile the C library of the compiled engine and put it into the wheel, or beside the sources.

The compiler is the first of these that passes a probe: ``$CC``, cc, gcc (12 or newer), clang (15 or newer), and the
PyPI package ziglang, which is a build requirement only if the others fail. Without a compiler the wheel is pure Python
and the portable engine is used. ``TRUENESS_TARGET`` names another platform to build a wheel for, which ziglang does.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "trueness/tabulation/compiled"
ZIGLANG = "ziglang>=0.13"
PARALLEL = 2

FLAGS = (
    "-O3", "-std=gnu11", "-fvisibility=hidden", "-fomit-frame-pointer", "-fno-math-errno", "-fno-trapping-math",
    "-fno-stack-protector", "-fno-sanitize=undefined",
)  # fmt: skip
LAST = ("-ffp-contract=off",)
"""A fused multiply-add would change the last bits. The flag comes last, so that no other one undoes it."""
PROCESSOR_FLAGS = {"x86_64": ("-DTRUENESS_X86=1",), "aarch64": ("-DTRUENESS_ARM=1",)}
LEVELS = {"x86_64": (4, 3, 2), "aarch64": (1,)}
"""The instruction sets of `kernel.c`, slowest to compile first."""

PROBE = """
#if defined(__clang__) && __clang_major__ < 15
#error "clang 15 or newer is needed"
#endif
#if defined(_WIN32) && !defined(__clang__)
#error "gcc does not align the stack for AVX on Windows"
#endif
#if defined(TRUENESS_X86) != defined(__x86_64__) || defined(TRUENESS_ARM) != defined(__aarch64__)
#error "compiles for another processor"
#endif
#include <stdint.h>
typedef double vector __attribute__((vector_size(64)));
void probe(vector *v) { *v = __builtin_shufflevector(*v, *v, 7, 6, 5, 4, 3, 2, 1, 0); }
#if defined(_WIN32)
int __stdcall DllMainCRTStartup(void *a, unsigned long b, void *c) { (void)a; (void)b; (void)c; return 1; }
#endif
"""


class BuildError(Exception):
    """The library could not be built."""


class Target(NamedTuple):
    """A platform: its name for ziglang, the platform tag of its wheel, and the ending of its libraries."""

    triple: str
    tag: str

    @property
    def processor(self) -> str:
        """x86_64 or aarch64."""
        return self.triple.split("-")[0]

    @property
    def system(self) -> str:
        """linux, macos or windows."""
        return self.triple.split("-")[1].split(".")[0]

    @property
    def library(self) -> str:
        """The file name of the library."""
        return "_library" + {"linux": ".so", "macos": ".dylib", "windows": ".dll"}[self.system]


TARGETS = (
    Target("x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64"),
    Target("aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64"),
    Target("aarch64-macos.11.0", "macosx_11_0_arm64"),
    Target("x86_64-macos.10.13", "macosx_10_13_x86_64"),
    Target("x86_64-windows-gnu", "win_amd64"),
)
"""The platforms of the wheels of a release."""

PURE = "any"
"""The value of ``TRUENESS_TARGET`` that asks for a wheel without a library."""


class Compiler(NamedTuple):
    """A command that compiles C, and whether it is ziglang's."""

    command: tuple[str, ...]
    zig: bool = False

    def instruction_set(self, target: Target, level: int | None) -> list[str]:
        """The flags for a level of `kernel.c`; for None, for code that runs on every processor of the target.

        Without a flag ziglang would compile for the processor of this machine.
        """
        if target.processor != "x86_64":
            return []
        name = "x86-64" if level is None else f"x86-64-v{level}"
        wide = ["-mprefer-vector-width=512"] if level == 4 else []
        return [f"-march={name.replace('-', '_') if self.zig else name}", *wide]

    def platform_flags(self, target: Target) -> list[str]:
        """The flags that name the platform."""
        if self.zig:
            return ["-target", target.triple]
        if target.system == "macos":
            arch = target.processor.replace("aarch64", "arm64")
            return ["-arch", arch, f"-mmacosx-version-min={target.triple.split('.', 1)[1]}"]
        return []

    def linking(self, target: Target) -> list[str]:
        """The flags that link objects to a library that needs no C library, where the platform permits that.

        Functions such as memcpy, to which compilers turn loops, come from the process on Linux and from zig on Windows.
        """
        if target.system == "macos":
            strip = "-s" if self.zig else "-Wl,-x"
            return ["-shared", strip, f"-Wl,-install_name,@rpath/{target.library}"]
        if target.system == "linux":
            return ["-shared", "-s", "-nostdlib"]
        return ["-shared", "-s", "-nostdlib", "-rtlib=compiler-rt"] if self.zig else ["-shared"]

    def identity(self) -> str:
        """The first line of the compiler's version."""
        version = [*self.command[:-1], "version"] if self.zig else [*self.command, "--version"]
        return " ".join([*self.command[-1:], *_run(version).splitlines()[:1]])


class Unit(NamedTuple):
    """A source file and the flags of one of its compilations."""

    source: Path
    flags: tuple[str, ...]


def units(folder: Path, target: Target, compiler: Compiler) -> list[Unit]:
    """What is compiled for a target from the sources in a folder."""
    levels = [
        Unit(folder / "kernel.c", (f"-DLEVEL={level}", *compiler.instruction_set(target, level)))
        for level in LEVELS[target.processor]
    ]
    baseline = tuple(compiler.instruction_set(target, None))
    others = ["dispatch.c", *(["windows_entry.c"] if target.system == "windows" and compiler.zig else [])]
    return [*levels, *(Unit(folder / name, baseline) for name in others)]


def compilation(unit: Unit, target: Target, compiler: Compiler, extra: Sequence[str] = ()) -> list[str]:
    """The command that compiles a unit, without the name of its output. CFLAGS of the environment have no effect."""
    position = [] if target.system == "windows" else ["-fPIC"]
    where = [*compiler.platform_flags(target), *PROCESSOR_FLAGS[target.processor]]
    return [
        *compiler.command, *where, *FLAGS, *position, *unit.flags, *extra, *LAST, "-c", str(unit.source),
    ]  # fmt: skip


def compile_library(
    sources: Path, target: Target, compiler: Compiler, folder: Path, extra: Sequence[str] = ()
) -> Path:
    """The library of the sources, built in a folder. `extra` flags go to compiler and linker (sanitizers)."""
    return build_units(units(sources, target, compiler), target, compiler, folder, extra)


def build_units(
    parts: Sequence[Unit], target: Target, compiler: Compiler, folder: Path, extra: Sequence[str] = ()
) -> Path:
    """The library of some units, which are compiled in parallel."""
    folder.mkdir(parents=True, exist_ok=True)
    objects = [str(folder / f"{number}.o") for number in range(len(parts))]
    commands = [
        [*compilation(part, target, compiler, extra), "-o", name]
        for part, name in zip(parts, objects, strict=True)
    ]
    with ThreadPoolExecutor(PARALLEL) as pool:
        list(pool.map(_run, commands))
    library = folder / target.library
    linking = [*compiler.command, *compiler.platform_flags(target), *compiler.linking(target), *extra]
    _run([*linking, *compiler.instruction_set(target, None), *objects, "-o", str(library)])
    return library


def _run(command: Sequence[str]) -> str:
    """The output of a command; a `BuildError` with its messages if it fails."""
    folder = str(scratch_folder() / "zig")  # a home folder need not be writable
    environment = {"ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder} | os.environ
    try:
        ended = subprocess.run(
            command, env=environment, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise BuildError(f"{command[0]}: {error}") from error
    if ended.returncode != 0:
        raise BuildError(f"{shlex.join(command)}\n{ended.stdout}{ended.stderr}")
    return ended.stdout


@cache
def scratch_folder() -> Path:
    """A temporary folder that is removed when the process ends."""
    folder = tempfile.mkdtemp(prefix="trueness-build-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def passes_probe(compiler: Compiler, target: Target) -> bool:
    """Whether a small file compiles for the highest instruction set and links to a library."""
    source = scratch_folder() / "probe.c"
    source.write_text(PROBE, encoding="utf-8")
    flags = compiler.instruction_set(target, LEVELS[target.processor][0])
    try:
        build_units([Unit(source, tuple(flags))], target, compiler, scratch_folder() / "probe")
    except BuildError:
        return False
    return True


def candidates(environment: Mapping[str, str], cross: bool) -> Iterator[Compiler]:
    """The compilers to try, in order; only ziglang compiles for another platform."""
    if not cross:
        named = shlex.split(environment.get("CC", ""))
        yield from (Compiler(tuple(command)) for command in (named, ["cc"], ["gcc"], ["clang"]) if command)
    if find_spec("ziglang") is not None:
        yield Compiler((sys.executable, "-m", "ziglang", "cc"), zig=True)


def find_compiler(target: Target, environment: Mapping[str, str], cross: bool) -> Compiler | None:
    """The first compiler that passes the probe; None if none does."""
    return next((c for c in candidates(environment, cross) if passes_probe(c, target)), None)


def ziglang_is_obtainable() -> bool:
    """Whether the package registry has ziglang for this machine; assumed if there is no pip to ask."""
    pip = [sys.executable, "-I", "-m", "pip"]  # -I: pip's isolated build environment hides pip itself
    ask = [*pip, "--disable-pip-version-check", "index", "versions", "ziglang", "--retries=0", "--timeout=15"]
    try:
        _run([*pip, "--version"])
    except BuildError:
        return True
    try:
        _run(ask)
    except BuildError:
        return False
    return True


def host() -> Target | None:
    """The platform of this Python; None if there are no kernels for it."""
    system = {"linux": "linux", "darwin": "macos", "win32": "windows"}.get(sys.platform)
    machine = platform.machine().lower()
    processor = {"arm64": "aarch64", "amd64": "x86_64"}.get(machine, machine)
    known = [target for target in TARGETS if (target.processor, target.system) == (processor, system)]
    if not known or sys.maxsize < 2**32:
        return None
    return known[0]._replace(tag=f"linux_{processor}") if system == "linux" else known[0]


def requested_target(environment: Mapping[str, str]) -> tuple[Target | None, bool]:
    """The platform to build for and whether ``TRUENESS_TARGET`` names it; None for a wheel without a library."""
    name = environment.get("TRUENESS_TARGET", "")
    if not name:
        return host(), False
    known = {target.triple: target for target in TARGETS}
    if name != PURE and name not in known:
        raise BuildError(f"TRUENESS_TARGET={name!r} is unknown; it is one of {', '.join([*known, PURE])}")
    return known.get(name), True


def source_folder(root: Path) -> Path:
    """The folder of the C sources."""
    return root / "src" / PACKAGE / "source"


def digest(root: Path) -> str:
    """A hash of the sources and of this file, which has the flags."""
    sources = sorted(path for path in source_folder(root).rglob("*") if path.is_file())
    files = [root / "hatch_build.py", *sources]
    return hashlib.sha256(b"".join(path.name.encode() + path.read_bytes() for path in files)).hexdigest()


def record(root: Path, target: Target, compiler: str, library: Path) -> dict[str, str]:
    """What a library was built from and by; it is saved beside the library."""
    content = hashlib.sha256(library.read_bytes()).hexdigest()
    return {"sources": digest(root), "target": target.triple, "compiler": compiler, "library": content}


def kept_library(root: Path, target: Target, compiler: Compiler | None) -> Path | None:
    """The library beside the sources if it is what would be built now; without a compiler, whichever built it."""
    library = root / "src" / PACKAGE / target.library
    noted = library.with_suffix(".json")
    if not (library.is_file() and noted.is_file()):
        return None
    before = json.loads(noted.read_text(encoding="utf-8"))
    identity = compiler.identity() if compiler else before["compiler"]
    return library if before == record(root, target, identity, library) else None


def keep_library(root: Path, target: Target, compiler: Compiler, library: Path) -> None:
    """Put a library beside the sources. A process that has loaded the one before keeps it."""
    folder = root / "src" / PACKAGE
    noted = json.dumps(record(root, target, compiler.identity(), library), indent=2)
    new = folder / f"{target.library}.new"
    shutil.copyfile(library, new)
    new.replace(folder / target.library)
    (folder / target.library).with_suffix(".json").write_text(noted + "\n", encoding="utf-8")


def forget_library(root: Path, target: Target) -> None:
    """Remove a library beside the sources that is not up to date."""
    for suffix in (Path(target.library).suffix, ".json"):
        (root / "src" / PACKAGE / target.library).with_suffix(suffix).unlink(missing_ok=True)


class LibraryHook(BuildHookInterface[Any]):
    """Builds the library before hatchling collects the files of a wheel or of an editable install."""

    def dependencies(self) -> list[str]:
        """Ziglang, if nothing else can compile and it can be had."""
        target, cross = requested_target(os.environ)
        if target is None or find_compiler(target, os.environ, cross):
            return []
        if not cross and kept_library(Path(self.root), target, None):
            return []
        return [ZIGLANG] if cross or ziglang_is_obtainable() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the library and tell hatchling where it is and which platform the wheel is for."""
        target, cross = requested_target(os.environ)
        if cross and version == "editable":
            raise BuildError("TRUENESS_TARGET is for wheels; an editable install is for this machine")
        library = self._library(target, cross, version) if target else None
        if target is None:
            self._explain(
                "TRUENESS_TARGET asks for that" if cross else "there are no kernels for this platform"
            )
        elif library is None and cross:
            raise BuildError(f"wheels for {target.triple} are built by ziglang, which is not installed")
        elif library is None:
            forget_library(Path(self.root), target)
            self._explain("no C compiler was found, and ziglang is not installed")
        elif version != "editable":
            build_data["force_include"][str(library)] = f"{PACKAGE}/{target.library}"
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{target.tag}"

    def _library(self, target: Target, cross: bool, version: str) -> Path | None:
        """The library for a target; None if there is neither a compiler nor an up-to-date library.

        An editable install keeps its library and compiles it again only after a change. A wheel has a new one.
        """
        root = Path(self.root)
        compiler = find_compiler(target, os.environ, cross)
        may_be_kept = not cross and (version == "editable" or compiler is None)
        kept = kept_library(root, target, compiler) if may_be_kept else None
        if kept or compiler is None:
            return kept
        library = compile_library(source_folder(root), target, compiler, scratch_folder() / target.triple)
        if version == "editable":
            keep_library(root, target, compiler, library)
        return library

    def _explain(self, reason: str) -> None:
        self.app.display_warning(
            f"trueness is installed without its compiled engine, and is slower: {reason}"
        )
