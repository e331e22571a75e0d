"""Predictions to a file, chunk by chunk: what `trueness simulate` writes, and tests read."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from trueness._atomic_write import atomic_file
from trueness.files._arrow import pyarrow
from trueness.files._errors import InputError, shown
from trueness.files._paths import Kind, kind_of

Chunks = Iterable[tuple[NDArray[Any], NDArray[Any]]]


def write_predictions(path: str, chunks: Chunks, n_rows: int, n_classes: int) -> None:
    """Write labels `y_true` and probabilities `p_0` … (NPZ: one array `y_prob`) in the format of the file's ending."""
    kind = kind_of(path)
    writer = None if kind is None else _WRITERS.get(kind.format)
    if kind is None or writer is None:
        raise InputError(
            f"the ending of {shown(path)} is none that can be written",
            "take .parquet, .arrow, .csv, .tsv, .jsonl (CSV and JSON Lines also with .gz or .zst) or .npz",
        )
    with atomic_file(path) as beside:
        writer(beside, kind, chunks, n_rows, n_classes)


def _columns(y_true: NDArray[Any], y_prob: NDArray[Any]) -> dict[str, NDArray[Any]]:
    return {"y_true": y_true.astype(np.int64), **{f"p_{c}": y_prob[:, c] for c in range(y_prob.shape[1])}}


def _schema(n_classes: int) -> Any:
    pa = pyarrow()
    return pa.schema([("y_true", pa.int64()), *((f"p_{c}", pa.float64()) for c in range(n_classes))])


def _write_parquet(path: str, _: Kind, chunks: Chunks, __: int, n_classes: int) -> None:
    pa = pyarrow()
    import pyarrow.parquet as pq

    # Probabilities hardly repeat: a dictionary would be built and thrown away.
    with pq.ParquetWriter(
        path,
        _schema(n_classes),
        use_dictionary=["y_true"],
        compression="zstd",
        write_page_checksum=True,
    ) as file:
        for y_true, y_prob in chunks:
            file.write_table(pa.table(_columns(y_true, y_prob)))


def _write_arrow(path: str, _: Kind, chunks: Chunks, __: int, n_classes: int) -> None:
    pa = pyarrow()
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, _schema(n_classes)) as file:
        for y_true, y_prob in chunks:
            file.write_batch(pa.record_batch(_columns(y_true, y_prob)))


@contextmanager
def _sink(path: str, compression: str | None) -> Iterator[Any]:
    pa = pyarrow()
    with pa.OSFile(path, "wb") as file:
        if compression is None:
            yield file
        else:
            with pa.CompressedOutputStream(file, compression) as packed:
                yield packed


def _write_csv(path: str, kind: Kind, chunks: Chunks, _: int, n_classes: int) -> None:
    pa = pyarrow()
    from pyarrow import csv

    options = csv.WriteOptions(delimiter="\t" if kind.format == "tsv" else ",", quoting_style="needed")
    with (
        _sink(path, kind.compression) as sink,
        csv.CSVWriter(sink, _schema(n_classes), write_options=options) as file,
    ):
        for y_true, y_prob in chunks:
            file.write_table(pa.table(_columns(y_true, y_prob)))


def _write_jsonl(path: str, kind: Kind, chunks: Chunks, _: int, __: int) -> None:
    with _sink(path, kind.compression) as sink:
        for y_true, y_prob in chunks:
            lines = (
                json.dumps({"y_true": label, "y_prob": row})
                for label, row in zip(y_true.tolist(), y_prob.tolist(), strict=True)
            )
            sink.write(("\n".join(lines) + "\n").encode())


def _write_npz(path: str, _: Kind, chunks: Chunks, n_rows: int, n_classes: int) -> None:
    """An archive is written member after member, so the labels wait in a file of their own."""
    with tempfile.TemporaryFile() as labels, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("y_prob.npy", "w", force_zip64=True) as member:
            _write_header(member, (n_rows, n_classes), "<f8")
            for y_true, y_prob in chunks:
                labels.write(y_true.astype("<i8").tobytes())
                member.write(np.ascontiguousarray(y_prob, "<f8").tobytes())
        with archive.open("y_true.npy", "w", force_zip64=True) as member:
            _write_header(member, (n_rows,), "<i8")
            labels.seek(0)
            while data := labels.read(2**20):
                member.write(data)


def _write_header(member: IO[bytes], shape: tuple[int, ...], descr: str) -> None:
    np.lib.format.write_array_header_1_0(member, {"descr": descr, "fortran_order": False, "shape": shape})


_WRITERS: dict[str, Callable[[str, Kind, Chunks, int, int], None]] = {
    "parquet": _write_parquet,
    "arrow": _write_arrow,
    "csv": _write_csv,
    "tsv": _write_csv,
    "jsonl": _write_jsonl,
    "npz": _write_npz,
}
