"""Adding a format touches one module: a module in the folder of formats is read, written, chosen and listed."""

import ast
import subprocess
import sys
from importlib import invalidate_caches
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness import formats
from trueness.cli import main
from trueness.files import find_inputs, load_tables
from trueness.formats import by_name
from trueness.refusals import Refusal

pytestmark = pytest.mark.cli

MODULE = '''
"""Words: a line for each row, the label and the probabilities."""

import numpy as np

from trueness.formats import Format
from trueness.formats.fields import Chunk, Field


class Reader:
    def __init__(self, input, options):
        self._rows = np.loadtxt(input.path, ndmin=2)

    @property
    def fields(self):
        return {"y_true": Field("number"), "y_prob": Field("list", self._rows.shape[1] - 1)}

    def first_width(self, name):
        return self._rows.shape[1] - 1

    def chunks(self, wanted, rows):
        for start in range(0, len(self._rows), rows):
            part = self._rows[start : start + rows]
            yield Chunk({"y_true": part[:, 0], "y_prob": part[:, 1:]}, len(part), 1.0)

    def close(self):
        pass


def write(path, kind, predictions):
    with open(path, "w", encoding="utf-8") as file:
        for y_true, y_prob in predictions.chunks:
            np.savetxt(file, np.column_stack([y_true, y_prob]))


FORMAT = Format(endings=(".words",), open_file=Reader, write=write)
'''


COMMAND_WITH_FORMAT = """
import sys
from trueness.formats import by_name

by_name.__path__.append(sys.argv[1])
from trueness.cli import main

sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A second folder of the package, with the module of the format `words`."""
    folder = tmp_path / "more_formats"
    folder.mkdir()
    (folder / "words.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.setattr(by_name, "__path__", [*by_name.__path__, str(folder)])
    monkeypatch.delitem(sys.modules, f"{by_name.__name__}.words", raising=False)
    invalidate_caches()
    return folder


@pytest.mark.usefixtures("folder")
class TestOneModule:
    def test_it_is_read_by_its_ending_and_written(self, tmp_path: Path) -> None:
        path, out = str(tmp_path / "x.words"), str(tmp_path / "t.json")
        assert main(["simulate", "--rows", "200", "--alpha", "3,1,1", "-o", path]) == 0
        rows = np.loadtxt(path)
        assert main(["tabulate", path, "-o", out]) == 0
        expected = tn.tabulate(rows[:, 0].astype(int), rows[:, 1:])
        assert load_tables(out).whole.by_variation == expected
        assert [file.path for file in find_inputs([str(tmp_path)]).files] == [path]

    def test_it_is_a_choice_of_the_option(self, tmp_path: Path, folder: Path) -> None:
        def run(*arguments: str) -> Any:
            command = [sys.executable, "-c", COMMAND_WITH_FORMAT, str(folder), *arguments]
            return subprocess.run(command, capture_output=True, text=True, check=False)

        (tmp_path / "x.dat").write_text("0 0.25 0.75\n1 0.5 0.5\n")
        arguments = ["tabulate", str(tmp_path / "x.dat"), "-o", str(tmp_path / "t.json")]
        assert run(*arguments, "--format", "words").returncode == 0
        assert "npz,words" in run("tabulate", "--help").stdout
        refused = run(*arguments)
        assert refused.returncode == 2
        assert "npz, words" in refused.stderr

    def test_messages_list_its_ending(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        with pytest.raises(Refusal, match=r"\.npz, \.words"):
            find_inputs([str(tmp_path / "empty")])
        with pytest.raises(Refusal, match=r"\.npz, \.words"):
            formats.write_predictions(str(tmp_path / "x.unknown"), [], 0, 2)

    def test_it_cannot_be_piped(self) -> None:
        with pytest.raises(Refusal, match="words cannot be read that way"):
            find_inputs(["-"], "words")


def test_no_format_imports_another() -> None:
    for path in Path(by_name.__path__[0]).glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        assert not [module for module in imported if module.startswith(by_name.__name__)], path


def test_every_format_has_a_reader_and_endings_of_its_own() -> None:
    endings = [ending for format in formats.formats().values() for ending in format.endings]
    assert len(endings) == len(set(endings))
    for name, format in formats.formats().items():
        assert (format.open_file is None) != (format.open_text is None), name


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    monkeypatch.setattr("trueness.formats.find_spec", lambda _: None)
    (file,) = find_inputs([str(tmp_path / "x.parquet")]).files
    with pytest.raises(Refusal, match=r"parquet files need pyarrow.*pip install") as caught:
        formats.open_reader(file, formats.ReadOptions())
    assert caught.value.code == "missing-library"
    assert isinstance(caught.value, ImportError)
