"""Wheels: which platform they are for, what is in them, and that they work where they are installed."""

import ctypes
import json
import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from build_hooks import make_hook

pytestmark = pytest.mark.build

ROOT = Path(__file__).parents[2]
FOLDER = "trueness/tabulation/compiled"
LIBRARIES = ("_library.so", "_library.dylib", "_library.dll")
MAGIC = {
    "x86_64-linux-gnu.2.17": (0, b"\x7fELF", 18, (62).to_bytes(2, "little")),
    "aarch64-linux-gnu.2.17": (0, b"\x7fELF", 18, (183).to_bytes(2, "little")),
    "aarch64-macos.11.0": (0, b"\xcf\xfa\xed\xfe", 4, (0x0100000C).to_bytes(4, "little")),
    "x86_64-macos.10.13": (0, b"\xcf\xfa\xed\xfe", 4, (0x01000007).to_bytes(4, "little")),
    "x86_64-windows-gnu": (0, b"MZ", None, (0x8664).to_bytes(2, "little")),
}
"""By platform: where the file's magic number is, and where its processor (in Windows' files a pointer says so)."""

FakeCompiler = Callable[..., Path]


def build_wheel(root: Path, folder: Path) -> Path:
    from hatchling.builders.wheel import WheelBuilder

    return Path(next(WheelBuilder(str(root)).build(directory=str(folder), versions=["standard"])))


def pip_wheel(root: Path, folder: Path) -> Path:
    """The wheel that pip builds, offline and with the tools of this environment."""
    options = ["--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--wheel-dir", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(root)], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def read(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def libraries(files: dict[str, bytes]) -> list[str]:
    return [name for name in files if Path(name).stem == "_library"]


def description(files: dict[str, bytes]) -> list[str]:
    (text,) = [content.decode() for name, content in files.items() if name.endswith(".dist-info/WHEEL")]
    return text.splitlines()


class TestThisPlatform:
    def test_without_a_c_compiler_ziglang_builds_the_library(
        self, tree: Path, tmp_path: Path, no_compilers: Path
    ) -> None:
        import hatch_build

        wheel = pip_wheel(tree, tmp_path)
        target = hatch_build.host()
        assert target is not None
        assert wheel.name.endswith(f"-py3-none-{target.tag}.whl")
        files = read(wheel)
        assert libraries(files) == [f"{FOLDER}/{target.library}"]
        assert not any("source" in name for name in files)
        assert "Root-Is-Purelib: false" in description(files)
        assert f"Tag: py3-none-{target.tag}" in description(files)
        library = tmp_path / target.library
        library.write_bytes(files[f"{FOLDER}/{target.library}"])
        assert ctypes.CDLL(str(library)).trueness_level() in {1, 2, 3, 4}

    def test_without_any_compiler_the_wheel_is_pure_and_one_line_says_so(
        self,
        tree: Path,
        tmp_path: Path,
        no_compilers: Path,
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        monkeypatch.setitem(sys.modules, "ziglang", None)
        wheel = build_wheel(tree, tmp_path)
        assert wheel.name.endswith("-py3-none-any.whl")
        files = read(wheel)
        assert libraries(files) == []
        assert "Root-Is-Purelib: true" in description(files)
        captured = capfd.readouterr()
        assert captured.out + captured.err == (
            "trueness is installed without its compiled engine, and is slower: "
            "no C compiler was found, and ziglang is not installed\n"
        )

    def test_an_error_in_the_sources_is_not_hidden_by_a_pure_wheel(
        self, tree: Path, tmp_path: Path, no_compilers: Path
    ) -> None:
        import hatch_build

        (hatch_build.source_folder(tree) / "kernel.c").write_text("#error broken kernel\n", encoding="utf-8")
        with pytest.raises(Exception, match="broken kernel"):
            build_wheel(tree, tmp_path)


class TestOtherPlatforms:
    @pytest.mark.parametrize("triple", MAGIC)
    def test_the_wheel_has_a_library_for_its_platform_only(
        self, triple: str, tree: Path, tmp_path: Path, no_compilers: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import hatch_build

        (target,) = [target for target in hatch_build.TARGETS if target.triple == triple]
        for name in LIBRARIES:  # of an editable install
            (tree / "src" / FOLDER / name).write_bytes(b"stale")
        monkeypatch.setenv("TRUENESS_TARGET", triple)
        wheel = build_wheel(tree, tmp_path)
        assert wheel.name.endswith(f"-py3-none-{target.tag}.whl")
        files = read(wheel)
        (name,) = libraries(files)
        assert name == f"{FOLDER}/{target.library}"
        start, magic, place, processor = MAGIC[triple]
        library = files[name]
        if place is None:
            place = int.from_bytes(library[0x3C:0x40], "little") + 4
        assert library[start : start + len(magic)] == magic
        assert library[place : place + len(processor)] == processor
        assert b"trueness_level" in library

    @pytest.mark.parametrize(
        ("target", "version", "message"),
        [
            ("sparc-linux", "standard", "'sparc-linux' is unknown; it is one of x86_64-linux-gnu.2.17, "),
            ("aarch64-macos.11.0", "editable", "is for wheels"),
            ("aarch64-macos.11.0", "standard", "ziglang, which is not installed"),
        ],
    )
    @pytest.mark.usefixtures("no_compilers")
    def test_what_cannot_be_built_is_refused(
        self, target: str, version: str, message: str, tree: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import hatch_build

        monkeypatch.setitem(sys.modules, "ziglang", None)
        monkeypatch.setenv("TRUENESS_TARGET", target)
        with pytest.raises(hatch_build.BuildError, match=re.escape(message)):
            make_hook(tree).initialize(version, {"force_include": {}})


class TestEditableInstalls:
    @pytest.fixture
    def compiler(
        self, no_compilers: Path, fake_compiler: FakeCompiler, monkeypatch: pytest.MonkeyPatch
    ) -> Path:
        monkeypatch.setitem(sys.modules, "ziglang", None)
        return fake_compiler(no_compilers / "cc")

    def compilations(self, tree: Path, compiler: Path) -> int:
        """How many units an editable install compiles, apart from the probe."""
        log = Path(f"{compiler}.log")
        log.write_text("", encoding="utf-8")
        make_hook(tree).initialize("editable", {})
        lines = log.read_text(encoding="utf-8").splitlines()
        return sum(1 for line in lines if " -c " in line and "probe.c" not in line)

    def test_the_library_lies_beside_the_modules_and_is_built_once(self, tree: Path, compiler: Path) -> None:
        units = self.compilations(tree, compiler)
        assert units > 1
        assert (tree / "src" / FOLDER / "_library.so").read_text(encoding="utf-8") == "library\n"
        assert self.compilations(tree, compiler) == 0

    @pytest.mark.parametrize("changed", ["source", "header", "hook", "compiler", "library", "note"])
    def test_a_change_builds_it_again(
        self, changed: str, tree: Path, compiler: Path, fake_compiler: FakeCompiler
    ) -> None:
        import hatch_build

        units = self.compilations(tree, compiler)
        beside, sources = tree / "src" / FOLDER, hatch_build.source_folder(tree)
        if changed == "compiler":
            fake_compiler(compiler, version="fake 2")
        elif changed == "note":
            note = beside / "_library.json"
            other = json.loads(note.read_text(encoding="utf-8")) | {"target": "other"}
            note.write_text(json.dumps(other), encoding="utf-8")
        else:
            files = {"source": sources / "kernel.c", "header": sources / "cpu.h"}
            files |= {"hook": tree / "hatch_build.py", "library": beside / "_library.so"}
            with files[changed].open("a", encoding="utf-8") as file:
                file.write("\n")
        assert self.compilations(tree, compiler) == units

    def test_a_wheel_has_a_newly_built_library(
        self, tree: Path, tmp_path: Path, compiler: Path, fake_compiler: FakeCompiler
    ) -> None:
        self.compilations(tree, compiler)
        log = Path(f"{fake_compiler(compiler)}.log")
        files = read(build_wheel(tree, tmp_path))
        assert libraries(files) == [f"{FOLDER}/_library.so"]
        assert "kernel.c" in log.read_text(encoding="utf-8")

    def test_without_a_compiler_an_up_to_date_library_stays(self, tree: Path, compiler: Path) -> None:
        self.compilations(tree, compiler)
        compiler.unlink()
        hook = make_hook(tree)
        assert hook.dependencies() == []
        hook.initialize("editable", {})
        assert (tree / "src" / FOLDER / "_library.so").is_file()

    def test_without_a_compiler_an_old_library_is_removed(self, tree: Path, compiler: Path) -> None:
        import hatch_build

        self.compilations(tree, compiler)
        compiler.unlink()
        (hatch_build.source_folder(tree) / "kernel.c").write_text("int changed;\n", encoding="utf-8")
        make_hook(tree).initialize("editable", {})
        assert not list((tree / "src" / FOLDER).glob("_library*"))


def test_the_source_distribution_has_the_sources_and_the_hook_but_no_library(
    tree: Path, tmp_path: Path
) -> None:
    from hatchling.builders.sdist import SdistBuilder

    for name in (*LIBRARIES, "_library.json"):
        (tree / "src" / FOLDER / name).write_bytes(b"stale")
    built = next(SdistBuilder(str(tree)).build(directory=str(tmp_path), versions=["standard"]))
    with tarfile.open(built) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    sources = {
        f"src/{FOLDER}/source/{name}" for name in ("cpu.h", "dispatch.c", "kernel.c", "windows_entry.c")
    }
    assert names >= {"hatch_build.py", "pyproject.toml", *sources}
    assert not any("_library" in name for name in names)


SCRIPT = """
import sys
import trueness as tn
from pathlib import Path

assert Path(tn.__file__).is_relative_to(sys.prefix), tn.__file__
y_true, y_prob = tn.simulate.calibrated(2000, alpha=[4, 2, 1, 1], rng=0)
compiled = tn.tabulate(y_true, y_prob, engine="compiled")
assert compiled == tn.tabulate(y_true, y_prob, engine="portable")
assert compiled == tn.tabulate(y_true, y_prob)
print(compiled.n_rows)
"""


def test_the_wheel_works_in_an_empty_environment(tmp_path: Path, no_compilers: Path) -> None:
    """The wheel of this repository, built by ziglang, with NumPy and narwhals alone."""
    wheel = pip_wheel(ROOT, tmp_path)
    venv.create(tmp_path / "empty", symlinks=True)
    python = tmp_path / "empty/bin/python"
    install = ["install", "--quiet", "--no-index", "--no-deps", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), *install], check=True)
    needed = tmp_path / "needed"
    needed.mkdir()
    for name in ("numpy", "narwhals"):
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        folder = Path(spec.origin).parent
        for part in (folder, folder.with_name(f"{name}.libs")):
            if part.exists():
                (needed / part.name).symlink_to(part)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    command = [str(python), "-W", "error", "-c", SCRIPT]
    ended = subprocess.run(
        command,
        cwd=tmp_path,
        env=clean | {"PYTHONPATH": str(needed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "2000\n", "")
