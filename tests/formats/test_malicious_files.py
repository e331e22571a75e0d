"""Malicious files run no code, exhaust no memory and write nothing outside the output."""

import gzip
import io
import resource
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reading import MEGABYTE, message, peak_of

from trueness.files import Plan, Request, RowOptions, Source, find_inputs, load_tables, sum_source


def npy(shape: Any, descr: Any = "<f8", data: bytes = b"", order: bool = False) -> bytes:
    """The bytes of an array whose header may be wrong."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": descr, "fortran_order": order, "shape": shape})
    return stream.getvalue() + data


def npz(path: Path, compression: int = zipfile.ZIP_DEFLATED, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return path


LABELS = npy((2,), "<i8", np.zeros(2, "<i8").tobytes())


def test_a_pickle_in_another_array_is_ignored(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", y_true=[0, 1], y_prob=np.full((2, 2), 0.5), extra=np.array([{}], object))
    source = Source(find_inputs([str(tmp_path / "x.npz")]).files, Request(), RowOptions())
    assert sum_source(source, Plan()).tables.n_rows == 2


@pytest.mark.parametrize(
    "y_prob",
    [
        npy((2**50, 10)),
        npy((2, 2**40)),
        npy((2**31, 2), order=True),
        npy((-1, 2)),
        npy((2, 2), "<U1000000000"),
        npy((2, 2, 2)),
        npy((2, 2), [("a", "<f8")]),
        npy((2, 2), "<M8[s]", b"\0" * 32),
        b"\x93NUMPY\x01\x00\xff\xff{'descr'",
        b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + b"(" * 1000,
        npy((2, 2), data=b"\0" * 8),
    ],
    ids=[
        "rows",
        "classes",
        "by columns",
        "negative",
        "text",
        "cube",
        "records",
        "times",
        "cut",
        "deep",
        "short",
    ],
)
def test_wrong_headers(tmp_path: Path, y_prob: bytes) -> None:
    message(npz(tmp_path / "x.npz", y_true=LABELS, y_prob=y_prob))
    (tmp_path / "x.npy").write_bytes(y_prob)
    (tmp_path / "y.npy").write_bytes(LABELS)
    message(tmp_path / "x.npy", label_file=str(tmp_path / "y.npy"))


@pytest.fixture(scope="module")
def bomb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """800 MB of logits that are 0, in less than a megabyte."""
    n_rows, path = 10**7, tmp_path_factory.mktemp("bomb") / "x.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, shape in (("y_true", (n_rows,)), ("logits", (n_rows, 9))):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                member.write(npy(shape))
                for _ in range(int(np.prod(shape)) * 8 // 8_000_000):
                    member.write(bytes(8_000_000))
    assert path.stat().st_size < MEGABYTE
    return path


def test_a_bomb_is_read_a_little_at_a_time(bomb: Path, tmp_path: Path) -> None:
    """As probabilities its first row is refused; as logits it is good, and takes time but no memory."""
    table = str(tmp_path / "t.json")
    code, printed, peak = peak_of("tabulate", str(bomb), "-o", table)
    assert (code, "row 1:" in printed) == (2, True), printed
    assert peak < 200
    code, printed, peak = peak_of("tabulate", str(bomb), "--from-logits", "-o", table)
    assert code == 0, printed
    assert load_tables(table).n_rows == 10**7
    assert peak < 200


def test_a_bomb_by_columns_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("y_true.npy", npy((2**22,), "|i1", bytes(2**22)))
        with archive.open("y_prob.npy", "w") as member:
            member.write(npy((2**22, 9), order=True))
            for _ in range(9 * 4):
                member.write(bytes(8 * 2**20))
    assert "column by column" in message(tmp_path / "x.npz")


def test_the_unit_of_memory_is_known() -> None:
    """On Linux kilobytes; the tests above would pass for any peak otherwise."""
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > 20 * MEGABYTE


LONG = "x" * 20_000


def write_long_texts(path: Path) -> None:
    """Rows in which one text of 20 000 letters repeats, with 20 000 short ones in between."""

    import pyarrow as pa
    import pyarrow.parquet as pq

    n_rows = 60_000
    codes = np.where(np.arange(n_rows) % 3 == 0, np.arange(n_rows) // 3, 0).astype(np.int32)
    texts = [LONG, *(f"short {number}" for number in range(1, 20_000))]
    if path.suffix == ".parquet":
        columns = {"y": np.arange(n_rows) % 2, "p_0": np.full(n_rows, 0.25), "p_1": np.full(n_rows, 0.75)}
        written = pa.DictionaryArray.from_arrays(codes, texts)
        names = pa.DictionaryArray.from_arrays((codes > 0).astype(np.int32), [LONG, "short"])
        pq.write_table(pa.table({**columns, "text": written, "name": names}), path)
        return
    csv = path.name.endswith("csv.gz")
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write("y,p_0,p_1,text,name\n" if csv else "")
        for row, code in enumerate(codes.tolist()):
            name, text = "short" if code else LONG, texts[code]
            if csv:
                file.write(f"{row % 2},0.25,0.75,{text},{name}\n")
            else:
                file.write(f'{{"y": {row % 2}, "p": [0.25, 0.75], "text": "{text}", "name": "{name}"}}\n')


@pytest.fixture(
    scope="module", params=["parquet", "csv.gz", pytest.param("jsonl.gz", marks=pytest.mark.slow)]
)
def long_texts(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long") / f"x.{request.param}"
    write_long_texts(path)
    return path


@pytest.mark.parametrize(
    "options",
    [
        ["--label", "y", "--groups", "name"],
        ["--label", "y", "--where", "text != short 7"],
        ["--label", "name", "--classes", f"{LONG},short"],
    ],
    ids=["by", "where", "label"],
)
def test_a_long_text_in_many_rows_is_held_once(long_texts: Path, tmp_path: Path, options: list[str]) -> None:
    """As NumPy's text a column would take 4.8 GB, as Python's or Arrow's 1.2 GB."""
    table = str(tmp_path / "t.json")
    code, printed, peak = peak_of("tabulate", str(long_texts), *options, "-o", table)
    assert code == 0, printed[-500:]
    assert load_tables(table).n_rows in (60_000, 59_999)
    assert peak < 400
