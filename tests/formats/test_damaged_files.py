"""Damaged and empty files are refused by name."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from trueness.files import Plan, Request, RowOptions, Source, find_inputs, sum_source


class TestFiles:
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
