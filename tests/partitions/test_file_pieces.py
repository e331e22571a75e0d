"""Files in pieces: every file once, in order, in pieces that are neither too small nor too large."""

from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.files import Request, RowOptions, Source, find_inputs
from trueness.files.remote import Remote, find_remote, remote_batches
from trueness.formats.inputs import InputFile, Kind
from trueness.partitions import file_pieces
from trueness.partitions.files import PIECE_BYTES

SIZES = st.lists(st.integers(0, PIECE_BYTES + 10) | st.integers(0, 1000), min_size=1, max_size=60)


@given(sizes=SIZES, slots=st.integers(0, 9), remote=st.booleans())
def test_pieces_are_the_files_in_order(sizes: list[int], slots: int, remote: bool) -> None:
    place = "elsewhere" if remote else None
    files = [
        Remote(InputFile(f"{number}.csv", Kind("csv"), size), place) for number, size in enumerate(sizes)
    ]
    pieces = file_pieces(files, slots)
    assert list(chain.from_iterable(piece.files for piece in pieces)) == files
    assert {piece.first for piece in pieces} == {"0.csv"}
    totals = [sum(file.input.size for file in piece.files) for piece in pieces]
    share = sum(sizes) / max(1, slots)
    for piece, total in zip(pieces, totals, strict=True):
        assert len(piece.files) == 1 or (total <= min(PIECE_BYTES, share + 1) and not remote)
    for piece, total in zip(pieces[1:], totals, strict=False):
        assert remote or total + piece.files[0].input.size > min(PIECE_BYTES, share) / 2


def test_small_files_are_put_together() -> None:
    files = [Remote(InputFile(f"{number}.csv", Kind("csv"), 10)) for number in range(1000)]
    assert [len(piece.files) for piece in file_pieces(files, 4)] == [250] * 4
    assert len(file_pieces(files, 10_000)) == 1000


def test_large_files_are_the_same_number_of_rounds_for_all_slots() -> None:
    files = [Remote(InputFile(f"{number}.csv", Kind("csv"), PIECE_BYTES // 8)) for number in range(48)]
    assert [len(piece.files) for piece in file_pieces(files, 4)] == [6] * 8  # 6 GB: two rounds of four


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files with columns of numbers, text and lists, in row groups of other lengths than the batches."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    for name in "ab":
        y_prob = rng.dirichlet([1, 1, 1], 1000)
        table = pa.table(
            {
                "y": rng.integers(0, 3, 1000),
                "g": [f"group {number % 7}, {name}" for number in range(1000)],
                **{f"p_{c}": y_prob[:, c] for c in range(3)},
            }
        )
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=130, write_page_checksum=True)
    return tmp_path


def contents(batches: Any) -> list[tuple[Any, ...]]:
    """All rows, with the file and number of each."""
    return [
        (batch.file, number, label, *probabilities, batch.groups.names[code])
        for batch in batches
        for number, label, probabilities, code in zip(
            batch.numbers.tolist(),
            batch.y_true.tolist(),
            np.stack(batch.y_prob.columns, axis=1).tolist(),
            batch.groups.codes.tolist(),
            strict=True,
        )
    ]


@pytest.mark.parametrize("n_threads", [1, 2, 3, 9])
def test_any_number_of_decoding_threads_gives_the_same_rows(
    folder: Path, n_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trueness.files.source.BATCH_VALUES", 3 * 200)
    how = Request("y", "p_*", by="g"), RowOptions()
    alone = Source(find_inputs([str(folder)]).files, *how)
    read = remote_batches(find_remote([str(folder)]), *how, n_threads=n_threads)
    expected = contents(alone.batches())
    assert len(expected) == 2000
    assert contents(read) == expected
