"""The files of the contract suite: the texts of `files.toml`, and what its steps make of them."""

from __future__ import annotations

import gzip
import io
import re
import tempfile
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.csv
import speak
from pyarrow.feather import write_feather
from pyarrow.parquet import write_table

HERE = Path(__file__).parent
Step = Callable[[bytes], bytes]


def write_all(folder: Path) -> None:
    """Write every file of `files.toml`."""
    content = tomllib.loads((HERE / "files.toml").read_text("utf-8"))
    made = {name: text.encode() for name, text in content["text"].items()}
    for name, (source, *steps) in content["made"].items():
        made[name] = made[source]
        for step in steps:
            made[name] = STEPS[step](made[name])
    for name, data in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def replaced(old: str, new: str) -> Step:
    return lambda data: data.replace(old.encode(), new.encode())


def numbers(change: Callable[[float], str]) -> Step:
    """Write the decimals of a text in another way."""
    return lambda data: re.sub(rb"\b0\.\d+", lambda n: change(float(n[0])).encode(), data)


class Rows(NamedTuple):
    frame: pa.Table
    y: np.ndarray
    p: np.ndarray


def written(write: Callable[[io.BytesIO, Rows], Any]) -> Step:
    """Write the rows of a text by the function of a library."""

    def step(data: bytes) -> bytes:
        sink, frame = io.BytesIO(), pyarrow.csv.read_csv(io.BytesIO(data))
        columns = [name for name in frame.column_names if name.startswith("p_")]
        prob = np.column_stack([frame[name].to_numpy() for name in columns])
        write(sink, Rows(frame, frame["y"].to_numpy(), prob))
        return sink.getvalue()

    return step


def workbook(sink: io.BytesIO, rows: Rows, n_sheets: int = 1) -> None:
    book = openpyxl.Workbook()
    for sheet in [book.active, *(book.create_sheet(f"sheet {k}") for k in range(1, n_sheets))]:
        sheet.append(rows.frame.column_names)
        for row in rows.frame.to_pylist():
            sheet.append(list(row.values()))
    book.save(sink)


def lists(rows: Rows, dtype: pa.DataType) -> pa.Table:
    return pa.table({"y": rows.y, "p": pa.array(rows.p.tolist(), pa.list_(dtype))})


def mask(rows: Rows) -> np.ndarray:
    """Labels of six images of two by two pixels."""
    return np.tile(rows.y, 3).reshape(6, 2, 2)


def images(rows: Rows) -> np.ndarray:
    """Their probabilities, by image, class, row and column."""
    return np.moveaxis(np.tile(rows.p, (3, 1)).reshape(6, 2, 2, 3), -1, 1)


def by_command(job: str, output: str, suffix: str, **options: Any) -> Step:
    """The file that the command writes; an empty one if it writes none, so that its cases fail."""

    def step(data: bytes) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            source, made = Path(folder, f"2026-11-01{suffix}"), Path(folder, "made")
            source.write_bytes(data)
            line = speak.command_line(job, {"files": [str(source)], output: made, **options})
            speak.command(line)
            return made.read_bytes() if made.exists() else b""

    return step


def another_digit(data: bytes) -> bytes:
    """Change the last digit of the longest number."""
    at = max(re.finditer(rb"\d+", data), key=lambda found: len(found[0])).end() - 1
    return data[:at] + (b"2" if data[at : at + 1] == b"1" else b"1") + data[at + 1 :]


def another_byte(data: bytes) -> bytes:
    """Change a byte of the packed rows of a workbook."""
    sheet = zipfile.ZipFile(io.BytesIO(data)).getinfo("xl/worksheets/sheet1.xml")
    at = sheet.header_offset + 30 + len(sheet.filename) + sheet.compress_size // 2
    return data[:at] + bytes([data[at] ^ 255]) + data[at + 1 :]


STEPS: dict[str, Step] = {
    "same": bytes,
    "cut": lambda data: data[: len(data) * 3 // 5],
    "another byte": another_byte,
    "another digit": another_digit,
    "zero bytes": lambda data: bytes(len(data)),
    "gz": lambda data: gzip.compress(data, mtime=0),
    "zst": lambda data: pa.compress(data, "zstd", asbytes=True),
    "as utf-8-sig": lambda data: data.decode().encode("utf-8-sig"),
    "as utf-16": lambda data: data.decode().encode("utf-16"),
    "as utf-16-le": lambda data: data.decode().encode("utf-16-le"),
    "as latin-1": lambda data: data.decode().encode("latin-1"),
    "no ligature": replaced("œ", "oe"),
    "tabs": replaced(",", "\t"),
    "bars": replaced(",", "|"),
    "semicolons": lambda data: data.replace(b",", b";").replace(b".", b","),
    "crlf": replaced("\n", "\r\n"),
    "cr": replaced("\n", "\r"),
    "blank lines": replaced("\n", "\n\n"),
    "spaces": replaced(",", " , "),
    "quoted": lambda data: re.sub(rb"[^,\n]+", rb'"\g<0>"', data),
    "no header": lambda data: data.split(b"\n", 1)[1],
    "percent": numbers(lambda p: f"{100 * p:.6g}"),
    "percent signs": numbers(lambda p: f"{100 * p:.6g}%"),
    "logarithms": numbers(lambda p: repr(float(np.log(p)))),
    "bad second row": replaced("0.15,0.8", "0.15,0.9"),
    "not UTF-8": lambda data: data.replace(b'"y"', b'"\xff"', 2),
    "deep": replaced("0.7, 0.2, 0.1", "[" * 20_000 + "]" * 20_000),
    "in one array": lambda data: b"[" + b",\n".join(data.splitlines()) + b"]",
    "parquet": written(lambda to, of: write_table(of.frame, to)),
    "no rows": written(lambda to, of: write_table(of.frame[:0], to)),
    "lists": written(lambda to, of: write_table(lists(of, pa.float64()), to)),
    "single precision": written(lambda to, of: write_table(lists(of, pa.float32()), to)),
    "arrow": written(lambda to, of: write_feather(of.frame, to, "uncompressed")),
    "feather": written(lambda to, of: write_feather(of.frame, to, "lz4")),
    "npz": written(lambda to, of: np.savez(to, y_true=of.y, y_prob=of.p)),
    "objects in npz": written(lambda to, of: np.savez(to, y_true=of.y, y_prob=of.p.astype(object))),
    "images": written(lambda to, of: np.savez(to, y_true=mask(of), y_prob=images(of))),
    "image probabilities": written(lambda to, of: np.save(to, images(of))),
    "mask": written(lambda to, of: np.save(to, mask(of))),
    "labels": written(lambda to, of: np.save(to, of.y)),
    "probabilities": written(lambda to, of: np.save(to, of.p)),
    "objects": written(lambda to, of: np.save(to, of.p.astype(object))),
    "xlsx": written(workbook),
    "two sheets": written(lambda to, of: workbook(to, of, 2)),
    "table": by_command("tabulate", "output", ".csv"),
    "table of five bins": by_command("tabulate", "output", ".csv", bins=5),
    "table of sites": by_command("tabulate", "output", ".csv", groups="site"),
    "state": by_command("monitor", "state", ".json"),
}
