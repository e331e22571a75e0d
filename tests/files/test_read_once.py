"""Standard input and pipes give the table of the file."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import predictions as same
import pytest
from reading import EXPECTED, run

import trueness as tn
from trueness.cli import main


class TestReadOnce:
    """A path whose bytes are gone once they are read gives the table of the file; real pipes in real processes."""

    @pytest.mark.parametrize("name", ["csv", "jsonl"])
    @pytest.mark.parametrize("path", ["/dev/stdin", "/dev/fd/0"])
    def test_the_device_of_standard_input(self, tmp_path: Path, name: str, path: str) -> None:
        file, write, options = same.FORMATS[name]
        write(tmp_path / file)
        data = (tmp_path / file).read_bytes()
        run("tabulate", path, *options, "-o", "t.json", folder=tmp_path, stdin=data)
        assert tn.CalibrationTable.load_all(tmp_path / "t.json") == EXPECTED

    def test_several_pipes(self, tmp_path: Path) -> None:
        """In one run, side by side in a comparison, and of saved tables."""
        file, write, wide = same.FORMATS["csv"]
        write(tmp_path / file)
        command, options = shlex.join([sys.executable, "-m", "trueness"]), shlex.join(wide)
        half = len(same.Y_TRUE) // 2
        script = (
            f"set -e\n{command} tabulate <(head -n {half + 1} {file}) <(head -n 1 {file}; tail -n +{half + 2} {file})"
            f" {options} -o t.json\n"
            f"{command} merge <(cat t.json) <(cat t.json) -o twice.json\n"
            f"{command} compare <(cat {file}) <(cat {file}) {options} --names a,b --json c.json\n"
        )
        subprocess.run(["bash", "-c", script], cwd=tmp_path, check=True, timeout=120)
        assert tn.CalibrationTable.load_all(tmp_path / "t.json") == EXPECTED
        twice = tn.CalibrationTable.load_all(tmp_path / "twice.json")
        assert twice == [table + table for table in EXPECTED]
        compared = json.loads((tmp_path / "c.json").read_text())
        assert {model["n_rows"] for model in compared["assessments"].values()} == {len(same.Y_TRUE)}

    @pytest.mark.parametrize("name", ["parquet", "arrow file", "arrow stream", "npz", "npy"])
    def test_a_format_that_is_not_read_from_front_to_back(
        self, tmp_path: Path, name: str, capsys: Any
    ) -> None:
        """Refused before the pipe is opened, which would wait for a writer."""
        file = "x.npy" if name == "npy" else same.FORMATS[name][0]
        os.mkfifo(tmp_path / file)
        assert main(["tabulate", str(tmp_path / file), "-o", str(tmp_path / "t.json")]) == 2
        assert "can be read only once" in capsys.readouterr().err

    def test_what_needs_the_rows_twice(self, tmp_path: Path, capsys: Any) -> None:
        os.mkfifo(tmp_path / "x.csv")
        np.save(tmp_path / "x.npy", same.Y_PROB)
        pipe, out = str(tmp_path / "x.csv"), ["-o", str(tmp_path / "t.json")]
        assert main(["tabulate", str(tmp_path / "x.npy"), "--label-file", pipe, *out]) == 2
        assert "(--label-file) is not a file" in capsys.readouterr().err
        assert main(["compare", pipe, pipe, "--names", "a,b"]) == 2
        assert "used for two models and can be read only once" in capsys.readouterr().err
