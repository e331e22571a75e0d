"""The same rows in files of every format, written by pyarrow, NumPy and the standard library, not by trueness."""

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

N_ROWS = 3000
NAMES = ("bird", "cat", "dog")

_rng = np.random.default_rng(5)
Y_PROB = _rng.dirichlet([2.0, 1.0, 0.5], N_ROWS)
Y_PROB[:7] = [
    [1, 0, 0],
    [0.5, 0.5, 0],
    [1 / 3, 1 / 3, 1 / 3],
    [0.1, 0.2, 0.7],
    [0, 0, 1],
    [0.25, 0.5, 0.25],
    [1e-300, 0, 1],
]
Y_TRUE = np.array([_rng.choice(3, p=row) for row in Y_PROB])
WEIGHT = np.round(_rng.gamma(1.0, 1.0, N_ROWS), 6)
HOSPITAL = np.array(["north", "../../etc", 'a,b "c"', "größe"])[_rng.integers(0, 4, N_ROWS)]
AGE = _rng.integers(20, 90, N_ROWS)


def wide(y_true: Any = Y_TRUE, y_prob: Any = Y_PROB) -> dict[str, Any]:
    """Columns in another order than their numbers: p_10 comes before p_2 in the file."""
    columns = {
        "hospital": HOSPITAL,
        "p_10": y_prob[:, 2],
        "age": AGE,
        "p_2": y_prob[:, 1],
        "p_1": y_prob[:, 0],
    }
    return columns | {"label": y_true, "w": WEIGHT}


def table(columns: dict[str, Any] | None = None) -> Any:
    import pyarrow as pa

    return pa.table(columns or wide())


def _lists(fixed: bool, slice_of_more: bool = False) -> Any:
    """A table with one list column, optionally as a slice in the middle of longer arrays."""
    import pyarrow as pa

    rows = np.concatenate([Y_PROB[::-1], Y_PROB, Y_PROB]) if slice_of_more else Y_PROB
    labels = np.concatenate([Y_TRUE[::-1], Y_TRUE, Y_TRUE]) if slice_of_more else Y_TRUE
    flat = pa.array(rows.ravel())
    lists = (
        pa.FixedSizeListArray.from_arrays(flat, 3)
        if fixed
        else pa.ListArray.from_arrays(pa.array(np.arange(0, 3 * len(rows) + 1, 3), pa.int32()), flat)
    )
    made = pa.table({"label": labels, "probs": lists})
    return made.slice(N_ROWS, N_ROWS) if slice_of_more else made


def _parquet(path: Path, content: Any, **options: Any) -> None:
    import pyarrow.parquet as pq

    pq.write_table(content, path, **options)


def _ipc(path: Path, content: Any, kind: str = "file", compression: str | None = None) -> None:
    import pyarrow as pa

    options = pa.ipc.IpcWriteOptions(compression=compression)
    new = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    with pa.OSFile(str(path), "wb") as sink, new(sink, content.schema, options=options) as file:
        file.write_table(content, max_chunksize=700)


def _csv_bytes(delimiter: str = ",") -> bytes:
    from pyarrow import csv

    sink = io.BytesIO()
    csv.write_csv(table(), sink, csv.WriteOptions(delimiter=delimiter))
    return sink.getvalue()


def _zstd(data: bytes) -> bytes:
    """As a stream, like the command line tool; `pa.compress` would leave out the length."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _json_bytes(as_list: bool) -> bytes:
    lines = []
    for label, row, age in zip(Y_TRUE.tolist(), Y_PROB.tolist(), AGE.tolist(), strict=True):
        probs = {"probs": row} if as_list else {"p_1": row[0], "p_10": row[2], "p_2": row[1]}
        lines.append(json.dumps({"label": label, "age": age, **probs}))
    return ("\n".join(lines) + "\n").encode()


def written(path: Path, columns: dict[str, Any]) -> Path:
    """Write columns to a file in the format of its ending."""
    if path.suffix == ".npz":
        np.savez(path, **{name: np.asarray(column) for name, column in columns.items()})
    elif path.suffix == ".parquet":
        _parquet(path, table(columns))
    else:
        lines = table(columns).to_pylist()
        if path.suffix == ".jsonl":
            path.write_text("\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")
        else:
            separator = "\t" if path.suffix == ".tsv" else ","
            texts = [list(columns), *([str(value) for value in line.values()] for line in lines)]
            path.write_text("".join(separator.join(text) + "\n" for text in texts), encoding="utf-8")
    return path


WIDE = ["--probs", "p_*", "--classes", "index"]
LIST = ["--probs", "probs"]

FORMATS: dict[str, tuple[str, Callable[[Path], Any], list[str]]] = {
    "parquet": ("x.parquet", lambda path: _parquet(path, table(), row_group_size=900), WIDE),
    "parquet, zstd": ("x.parquet", lambda path: _parquet(path, table(), compression="zstd"), WIDE),
    "parquet, list": ("x.parquet", lambda path: _parquet(path, _lists(fixed=False)), LIST),
    "parquet, fixed list": ("x.pq", lambda path: _parquet(path, _lists(fixed=True)), LIST),
    "arrow file": ("x.arrow", lambda path: _ipc(path, table()), WIDE),
    "arrow, fixed list, slice": ("x.arrow", lambda path: _ipc(path, _lists(True, True)), LIST),
    "arrow, list, slice": ("x.arrow", lambda path: _ipc(path, _lists(False, True)), LIST),
    "feather, lz4": ("x.feather", lambda path: _ipc(path, table(), compression="lz4"), WIDE),
    "arrow stream": ("x.arrows", lambda path: _ipc(path, table(), "stream"), WIDE),
    "csv": ("x.csv", lambda path: path.write_bytes(_csv_bytes()), WIDE),
    "csv.gz": ("x.csv.gz", lambda path: path.write_bytes(gzip.compress(_csv_bytes())), WIDE),
    "csv.zst": ("x.csv.zst", lambda path: path.write_bytes(_zstd(_csv_bytes())), WIDE),
    "tsv": ("x.tsv", lambda path: path.write_bytes(_csv_bytes("\t")), WIDE),
    "jsonl": ("x.jsonl", lambda path: path.write_bytes(_json_bytes(False)), WIDE),
    "jsonl.gz, list": ("x.jsonl.gz", lambda path: path.write_bytes(gzip.compress(_json_bytes(True))), LIST),
    "npz": ("x.npz", lambda path: np.savez(path, y_true=Y_TRUE, y_prob=Y_PROB), []),
    "npz, compressed": (
        "x.npz",
        lambda path: np.savez_compressed(path, ground_truth=Y_TRUE, predictions=Y_PROB),
        [],
    ),
    "npz, by columns": (
        "x.npz",
        lambda path: np.savez(path, y_true=Y_TRUE, y_prob=np.asfortranarray(Y_PROB)),
        [],
    ),
    "npz, one-hot": (
        "x.npz",
        lambda path: np.savez(path, t=np.eye(3)[Y_TRUE], q=Y_PROB),
        ["--label", "t", "--probs", "q"],
    ),
    "npz, columns": (
        "x.npz",
        lambda path: np.savez(path, label=Y_TRUE, **{f"p_{c}": Y_PROB[:, c] for c in range(3)}),
        [],
    ),
}
