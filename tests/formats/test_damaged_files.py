"""Damaged and empty files are refused by name."""

import gzip
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reading import csv, refused, summed

import trueness as tn
from trueness.cli import main
from trueness.files import Plan, Request, RowOptions, Source, find_inputs, parse_condition, sum_source
from trueness.refusals import Refusal


class TestFiles:
    @pytest.mark.parametrize("ending", ["parquet", "arrow", "npz", "npy", "csv.gz", "csv.zst"])
    @pytest.mark.parametrize("how", ["cut off", "a byte changed", "something else"])
    def test_damaged_files(self, tmp_path: Path, ending: str, how: str) -> None:
        from trueness.files import write_predictions

        path = tmp_path / f"x.{ending}"
        y_true, y_prob = tn.simulate.calibrated(5000, [1, 1, 1], rng=0)
        if ending == "npy":
            np.save(path, y_prob)
            np.save(tmp_path / "labels.npy", y_true)
        else:
            write_predictions(str(path), [(y_true, y_prob)], 5000, 3)
        data = bytearray(path.read_bytes())
        if how == "cut off":
            data = data[: len(data) // 2]
        elif how == "something else":
            data = bytearray(b"Dear reader, this is a letter.\n" * 100)
        else:
            data[len(data) // 2 :] = bytes(byte ^ 0x55 for byte in data[len(data) // 2 :])
        path.write_bytes(data)
        out = tmp_path / "t.json"
        labels = ["--label-file", str(tmp_path / "labels.npy")] if ending == "npy" else []
        assert main(["tabulate", str(path), *labels, "-o", str(out)]) == 2
        assert not out.exists()

    def test_the_cause_names_the_file(self, tmp_path: Path, capsys: Any) -> None:
        path = tmp_path / "x.parquet"
        path.write_bytes(b"PAR1" + b"\0" * 100 + b"PAR1")
        assert main(["tabulate", str(path), "-o", str(tmp_path / "t.json")]) == 2
        cause, remedy = capsys.readouterr().err.splitlines()
        assert str(path) in cause
        assert "create the file again" in remedy

    def test_empty_files(self, tmp_path: Path) -> None:
        (tmp_path / "x.csv").touch()
        assert "0 bytes" in refused(tmp_path / "x.csv").cause
        (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b""))
        assert "is empty" in refused(tmp_path / "x.csv.gz").cause
        assert "hold no rows" in refused(csv(tmp_path / "y.csv")).cause
        np.savez(tmp_path / "x.npz", y_true=np.zeros(0), y_prob=np.zeros((0, 3)))
        assert "hold no rows" in refused(tmp_path / "x.npz").cause

    def test_an_empty_file_among_others_is_reported(self, tmp_path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table({"y": [0], "p": [[0.5, 0.5]]})
        pq.write_table(table.slice(0, 0), tmp_path / "a.parquet")
        pq.write_table(table, tmp_path / "b.parquet")
        printed: list[str] = []
        source = Source(find_inputs([str(tmp_path)]).files, Request(), RowOptions(), remarks=printed.append)
        assert sum_source(source, Plan()).tables.n_rows == 1
        assert printed == [f"{tmp_path / 'a.parquet'} holds no rows"]

    def test_nothing_is_left(self, tmp_path: Path) -> None:

        path = csv(tmp_path / "x.csv", "0,0.5,0.5")
        assert "no rows are left" in refused(path, where=(parse_condition("y = 1"),)).cause
        assert "no rows are left" in refused(csv(tmp_path / "z.csv", "0,0.5,0.1"), skip=True).cause


def test_an_npy_file_that_is_cut_off(tmp_path: Path, capsys: Any) -> None:
    y_true, y_prob = tn.simulate.calibrated(100, [5, 1, 1], rng=0)
    np.save(tmp_path / "p.npy", y_prob)
    np.save(tmp_path / "y.npy", y_true)
    whole = (tmp_path / "p.npy").read_bytes()
    (tmp_path / "p.npy").write_bytes(whole[:1000])
    arguments = ["tabulate", str(tmp_path / "p.npy"), "--label-file", str(tmp_path / "y.npy")]
    assert main([*arguments, "-o", str(tmp_path / "t.json")]) == 2
    assert "but holds 1000" in capsys.readouterr().err
    (tmp_path / "p.npy").write_bytes(whole)
    (tmp_path / "y.npy").write_bytes((tmp_path / "y.npy").read_bytes()[:500])
    assert main([*arguments, "-o", str(tmp_path / "t.json")]) == 2
    assert "y.npy declares" in capsys.readouterr().err


@pytest.mark.parametrize("skip", [False, True])
def test_names_of_columns_that_are_not_utf8(tmp_path: Path, skip: bool) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes("y,p_ä,p_b\nä,0.5,0.5\n".encode("latin-1"))
    if skip:  # read as they are, with a mark for what is no text
        with pytest.raises(Refusal):
            summed(path, skip=True, label="z")
        return
    error = refused(path)
    assert error.cause.startswith(f"{path} is not UTF-8: ")
    assert "--encoding latin-1" in error.remedy


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))]
)
@pytest.mark.parametrize("ending", ["parquet", "arrow", "arrows", "npz", "csv", "jsonl"])
def test_bytes_changed_at_random_end_in_an_answer_or_a_refusal(
    tmp_path: Path, ending: str, seed: int
) -> None:
    """In a process of its own, which a crash of a library would end with a signal."""
    from trueness.files import write_predictions

    rng = np.random.default_rng(seed)
    y_prob = rng.dirichlet([1, 1, 1], 500)
    path = tmp_path / f"x.{ending}"
    if ending == "arrows":
        import pyarrow as pa

        table = pa.table({"y": np.zeros(500, int), "g": ["a"] * 500, "p": list(y_prob)})
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as file:
            file.write_table(table)
    else:
        write_predictions(str(path), [(np.zeros(500, int), y_prob)], 500, 3)
    data = np.frombuffer(path.read_bytes(), np.uint8).copy()
    script = (
        "import sys\nfrom trueness.cli import main\n"
        "codes = {main(['tabulate', name, '-o', sys.argv[1] + '/t.json']) for name in sys.argv[2:]}\n"
        "sys.exit(0 if codes <= {0, 2} else 9)"
    )
    names = []
    for copy in range(20):
        changed = data.copy()
        # Where the structure is, more often than where the numbers are.
        places = np.concatenate([rng.integers(0, len(data), 3), rng.integers(0, min(400, len(data)), 2)])
        places = np.concatenate([places, len(data) - 1 - rng.integers(0, min(400, len(data)), 2)])
        changed[places] = rng.integers(0, 256, len(places))
        names.append(str(tmp_path / f"{copy}.{ending}"))
        Path(names[-1]).write_bytes(changed.tobytes())
    ended = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), *names], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert "Traceback" not in ended.stderr


def test_a_parquet_file_with_checksums_is_refused_or_gives_the_same_table(tmp_path: Path) -> None:
    """One bit of each file is flipped; what simulate writes has checksums."""
    path, out = tmp_path / "x.parquet", tmp_path / "t.json"
    assert main(["simulate", "--rows", "3000", "--alpha", "1,1,1", "-o", str(path)]) == 0
    assert main(["tabulate", str(path), "-o", str(out)]) == 0
    expected, data = out.read_bytes(), path.read_bytes()
    rng = np.random.default_rng(0)
    refusals = 0
    for place in rng.integers(4, len(data) - 8, 250).tolist():
        flipped = bytearray(data)
        flipped[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(flipped)
        code = main(["tabulate", str(path), "-o", str(out)])
        refusals += code == 2
        assert code == 2 or out.read_bytes() == expected, place
    assert refusals > 200


def test_a_page_that_was_changed_is_refused_with_the_name_of_the_file(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "x.parquet"
    assert main(["simulate", "--rows", "3000", "--alpha", "1,1,1", "-o", str(path)]) == 0
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert main(["tabulate", str(path), "-o", str(tmp_path / "t.json")]) == 2
    printed = capsys.readouterr().err
    assert f"{path} cannot be read, it may be damaged" in printed
    assert "CRC checksum" in printed
