"""Tables of many bins or many numbers are saved in few characters, exactly, and checked as all others are."""

import base64
import copy
import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import trueness as tn
from trueness.demo import load_digits
from trueness.old_table import EventTable, OptionTables, Tables, packed_numbers
from trueness.old_table.json_numbers import encode_numbers
from trueness.old_table.packed_numbers import pack, unpack, unpack_at_most
from trueness.old_table.tables import table_from_dict

RNG = np.random.default_rng(5)
Y_PROB = RNG.dirichlet([0.5, 0.5, 0.5], 260)
Y_TRUE = RNG.integers(0, 3, 260)
GRID = tn.tabulate(Y_TRUE, Y_PROB, bins=tn.EqualWidth(1000))


def plain(table: Any) -> Any:
    """The content of a file with the table, as a new value."""
    return json.loads(json.dumps(table.to_dict(), allow_nan=False))


def characters(table: Any) -> int:
    return len(json.dumps(table.to_dict()))


def read_by_definition(text: str, shape: tuple[int, int]) -> list[list[int]]:
    """Packed integers, in plain loops as the documentation describes them."""
    data = zlib.decompress(base64.b64decode(text))
    n_rows, n_columns = shape
    count = n_rows * n_columns
    found = [[0] * n_columns for _ in range(n_rows)]
    for k in range(count):
        number = bytes(data[plane * count + k] for plane in range(8))
        found[k % n_rows][k // n_rows] = struct.unpack("<q", number)[0]
    return found


class TestPackedNumbers:
    @given(
        arrays.arrays(
            np.int64,
            arrays.array_shapes(min_dims=1, max_dims=2, max_side=40),
            elements=st.integers(-(2**62), 2**62),
        )
    )
    def test_unpacked_is_packed(self, numbers: Any) -> None:
        back = unpack(pack(numbers), numbers.shape, np.int64)
        assert back.dtype == np.int64
        np.testing.assert_array_equal(back, numbers)

    @given(arrays.arrays(np.float64, st.integers(1, 50), elements=st.floats(allow_nan=False)))
    def test_floats_to_the_bit(self, numbers: Any) -> None:
        assert unpack(pack(numbers), numbers.shape, np.float64).tobytes() == numbers.tobytes()
        assert unpack_at_most(pack(numbers), 60, np.float64).tobytes() == numbers.tobytes()

    def test_against_the_definition(self) -> None:
        numbers = RNG.integers(-(2**60), 2**60, (90, 4))
        assert read_by_definition(pack(numbers), (90, 4)) == numbers.tolist()

    def test_few_numbers_and_very_many_are_written_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert isinstance(encode_numbers(np.zeros(256, np.int64)), list)
        assert isinstance(encode_numbers(np.zeros(257, np.int64)), str)
        assert isinstance(encode_numbers(np.zeros((3, 100), np.int64)), str)
        monkeypatch.setattr(packed_numbers, "MOST", 500)
        assert isinstance(encode_numbers(np.zeros(501, np.int64)), list)

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "not those of 64-bit numbers"),
            ("!!!!", "base64"),
            ("ä" * 8, "ASCII"),
            (base64.b64encode(b"not zlib").decode(), "header"),
            (base64.b64encode(zlib.compress(b"1234567")).decode(), "not those of 64-bit numbers"),
            (base64.b64encode(zlib.compress(b"12345678")).decode(), "1 numbers instead of 300"),
            (base64.b64encode(zlib.compress(bytes(2400))[:-4]).decode(), "not those of 64-bit numbers"),
            (base64.b64encode(zlib.compress(bytes(2400)) + b"x").decode(), "not those of 64-bit numbers"),
            (base64.b64encode(zlib.compress(bytes(2408))).decode(), "not those of 64-bit numbers"),
        ],
    )
    def test_other_texts_are_refused(self, text: str, words: str) -> None:
        with pytest.raises(ValueError, match=words):
            unpack(text, (300,), np.int64)

    def test_a_text_that_would_grow_without_end(self) -> None:
        """A thousand characters for each in the file: no more is unpacked than was declared."""
        bomb = base64.b64encode(zlib.compress(bytes(10**8), 9)).decode()
        with pytest.raises(ValueError, match="not those of 64-bit numbers"):
            unpack(bomb, (300,), np.int64)
        with pytest.raises(ValueError, match="too many"):
            unpack(bomb, (10**12,), np.int64)


MANY_EDGES = st.lists(st.integers(1, 999), min_size=101, max_size=120, unique=True)
BINS = st.one_of(
    st.integers(1, 400),
    st.integers(101, 5000).map(tn.EqualWidth),
    st.integers(1, 200).map(tn.EqualMass),
    MANY_EDGES.map(lambda inner: tn.Edges([0, *(k / 1000 for k in sorted(inner)), 1])),
)


@st.composite
def tables(draw: st.DrawFn) -> tn.CalibrationTable:
    """Tables of few and many bins, of all kinds."""
    n_rows, n_classes = draw(st.integers(1, 300)), draw(st.integers(2, 12))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    y_prob = rng.dirichlet(np.full(n_classes, 0.5), n_rows)
    return tn.tabulate(
        rng.integers(0, n_classes, n_rows),
        y_prob.astype(draw(st.sampled_from(["float64", "float32"]))),
        bins=draw(BINS),
        variation=draw(st.sampled_from(["entropy", "confidence"])),
        ties=draw(st.sampled_from(["first", "split"])),
        sample_weight=rng.gamma(1.0, 1.0, n_rows) if draw(st.booleans()) else None,
    )


class TestRoundTrip:
    @settings(max_examples=40, deadline=None)
    @given(tables())
    def test_loaded_is_saved(self, table: tn.CalibrationTable) -> None:
        loaded = tn.CalibrationTable.from_dict(plain(table))
        assert loaded == table
        assert loaded.spec == table.spec
        assert loaded + table == table + table

    def test_sums_beyond_the_integers_of_floats_stay_exact(self) -> None:
        table = GRID
        for _ in range(40):
            table = table + table
        assert tn.CalibrationTable.from_dict(plain(table)) == table

    def test_a_user_s_measure(self) -> None:
        mine = tn.Variation("mine", lambda x: 1 - x[..., 0], range=lambda c: (0, 1 - 1 / c))
        table = tn.tabulate(Y_TRUE, Y_PROB, variation=mine, bins=200)
        assert tn.CalibrationTable.from_dict(plain(table), variation=mine) == table

    @pytest.mark.parametrize("name", ["options", "events", "by confidence", "empty"])
    def test_every_kind(self, name: str, tmp_path: Path) -> None:
        lists = [row[:k] / row[:k].sum() for row, k in zip(Y_PROB, 2 + np.arange(260) % 2, strict=True)]
        table: Any = {
            "options": lambda: tn.tabulate(Y_TRUE % 2, lists, bins=tn.EqualWidth(4000)),
            "events": lambda: tn.tabulate_events(*mixed(2000, 40)),
            "by confidence": lambda: tn.tabulate(Y_TRUE, Y_PROB, variation="confidence", bins=150),
            "empty": lambda: tn.CalibrationTable.empty(GRID.spec),
        }[name]()
        assert table_from_dict(plain(table)) == table
        table.save(tmp_path / "t.json")
        assert json.loads((tmp_path / "t.json").read_text())["schema"] == 5
        kind = {"options": OptionTables, "events": EventTable}.get(name, tn.CalibrationTable)
        assert kind.load(tmp_path / "t.json") == table


def mixed(n_rows: int, n_classes: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(n_classes)
    return rng.integers(0, n_classes, n_rows), rng.dirichlet(np.full(n_classes, 0.2), n_rows)


class TestTheFile:
    def test_the_grid_of_the_demo_s_logistic_regression(self) -> None:
        """1 797 rows in 556 of 4 000 bins: 780 426 characters if every bin is written out."""
        digits = load_digits()
        table = tn.tabulate(digits.y_true, digits.y_prob["logistic_regression"], bins=tn.EqualWidth(4000))
        assert np.count_nonzero(table.row_count) == 556
        assert characters(table) < 60_000
        assert tn.CalibrationTable.from_dict(plain(table)) == table

    def test_bins_without_rows_are_left_out(self) -> None:
        content = plain(GRID)
        assert content["bins"] == np.flatnonzero(GRID.row_count).tolist()
        assert len(content["sums"]["rows"]) == len(content["bins"])
        assert content["spec"]["edges"] == 1000
        rank = read_by_definition(content["sums"]["rank"]["whole"], (len(content["bins"]), 3))
        assert rank == GRID.rank_count[GRID.row_count > 0].tolist()

    def test_a_hundred_bins_are_written_out(self) -> None:
        table = tn.tabulate([0, 1] * 40, [0.1, 0.8] * 40, bins=100)
        content = plain(table)
        assert set(content) == {"spec", "n_rows", "sums"}
        assert len(content["spec"]["edges"]) == 101

    @pytest.mark.parametrize("bins", [tn.EqualMass(120), tn.Edges(np.linspace(0, 1, 131) ** 2)], ids=repr)
    def test_other_edges_are_listed(self, bins: Any) -> None:
        content = plain(tn.tabulate(Y_TRUE, Y_PROB, bins=bins))
        assert len(content["spec"]["edges"]) == bins.n_bins + 1
        assert tn.CalibrationTable.from_dict(content).n_bins == bins.n_bins

    def test_a_table_too_large_to_be_sparse(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(packed_numbers, "MOST", 2999)
        content = plain(GRID)
        assert "bins" not in content
        assert len(content["sums"]["rows"]) == 1000 or isinstance(content["sums"]["rows"], str)
        assert tn.CalibrationTable.from_dict(content) == GRID

    def test_beside_small_tables(self, tmp_path: Path) -> None:
        tables = Tables.of([tn.tabulate(Y_TRUE, Y_PROB), GRID, tn.tabulate_events(Y_TRUE, Y_PROB)])
        tables.save(tmp_path / "t.json")
        assert json.loads((tmp_path / "t.json").read_text())["schema"] == 5
        assert Tables.load(tmp_path / "t.json") == tables


def put(value: Any, *keys: Any) -> Callable[[Any], None]:
    def edit(content: Any) -> None:
        for key in keys[:-1]:
            content = content[key]
        content[keys[-1]] = value(content[keys[-1]]) if callable(value) else value

    return edit


def repacked(edit: Callable[[Any], None], shape: tuple[int, ...]) -> Callable[[str], str]:
    """An edit of packed integers."""

    def change(text: str) -> str:
        numbers = unpack(text, shape, np.int64)
        edit(numbers)
        return pack(numbers)

    return change


N = int(np.count_nonzero(GRID.row_count))


def set_first(value: int) -> Callable[[Any], None]:
    return lambda numbers: numbers.__setitem__((0,) * numbers.ndim, value)


DAMAGE: list[tuple[str, Callable[[Any], None]]] = [
    ("bins must increase and be bins of the table", put(lambda bins: bins[::-1], "bins")),
    ("bins must increase and be bins of the table", put(lambda bins: [*bins[:-1], 1000], "bins")),
    ("bins must increase and be bins of the table", put(lambda bins: [-1, *bins[1:]], "bins")),
    ("bins must increase and be bins of the table", put(lambda bins: [bins[1], *bins[1:]], "bins")),
    ("bins must be integers", put(lambda bins: [0.5, *bins[1:]], "bins")),
    ("bins must be a list", put(None, "bins")),
    ("bins must be a list", put({}, "bins")),
    ("bins cannot be unpacked", put("abc", "bins")),
    ("entries|shape|unpacked", put(lambda bins: bins[1:], "bins")),
    ("edges", put(lambda bins: [b + 1 for b in bins[:-1]] + bins[-1:], "bins")),
    ("n_rows is 261", put(261, "n_rows")),
    ("parts are wrong", put(1, "more")),
    ("edges must be numbers", put(100, "spec", "edges")),
    ("edges must be numbers", put(True, "spec", "edges")),
    ("edges must be numbers", put("1000", "spec", "edges")),
    ("number of bins must be at most", put(10**12, "spec", "edges")),
    ("too few bins to leave some out, or too many cells", put(10**12, "spec", "n_classes")),
    ("snap must be", put(1e-9, "spec", "snap")),
    ("a listed bin has no rows", put(lambda rows: [0, *rows[1:]], "sums", "rows")),
    ("ordered.whole cannot be unpacked", put("QUJD", "sums", "ordered", "whole")),
    ("ordered.whole cannot be unpacked", put(lambda text: text[:-8], "sums", "ordered", "whole")),
    (
        "ordered.fraction must be from 0 to 1",
        put(repacked(set_first(-1), (N, 3)), "sums", "ordered", "fraction"),
    ),
    (
        "ordered.fraction must be from 0 to 1",
        put(repacked(set_first(2**52), (N, 3)), "sums", "ordered", "fraction"),
    ),
    ("ordered.whole must be integers", put(repacked(set_first(2**62), (N, 3)), "sums", "ordered", "whole")),
    ("do not add up to its count", put(repacked(set_first(7), (N, 3)), "sums", "rank", "whole")),
    ("rank has a negative count|add up", put(repacked(set_first(-1), (N, 3)), "sums", "rank", "whole")),
    ("variation.*edges", put(lambda whole: [5, *whole[1:]], "sums", "variation", "whole")),
    ("tied_rows", put("AAAA", "sums", "tied_rows")),
]


class TestDamagedTables:
    @pytest.mark.parametrize(
        ("words", "edit"), DAMAGE, ids=[f"{k}-{words[:30]}" for k, (words, _) in enumerate(DAMAGE)]
    )
    def test_it_is_refused(self, words: str, edit: Callable[[Any], None]) -> None:
        assert 200 < N <= 256  # numbers by bin are written out, those by bin and rank are packed
        content = copy.deepcopy(plain(GRID))
        edit(content)
        with pytest.raises(tn.Refusal, match=words) as caught:
            tn.CalibrationTable.from_dict(content)
        assert caught.value.code == "damaged-file"

    def test_floats_that_are_not_finite(self) -> None:
        table = tn.tabulate(Y_TRUE, Y_PROB, sample_weight=np.ones(260), bins=tn.EqualWidth(1000))
        content = plain(table)
        numbers = unpack(content["sums"]["ordered"], (N, 3), np.float64)
        for bad in (np.nan, np.inf, 1e301):
            numbers[0, 0] = bad
            content["sums"]["ordered"] = pack(numbers)
            with pytest.raises(tn.Refusal, match="ordered must be finite numbers"):
                tn.CalibrationTable.from_dict(content)

    def test_a_short_file_allocates_little(self) -> None:
        """Many classes in few bins: what is packed is no larger than the most that is packed."""
        content = plain(tn.tabulate([0, 1], np.full((2, 300), 1 / 300), bins=2))
        assert isinstance(content["sums"]["ordered"]["whole"], str)
        content["spec"]["n_classes"] = 10**12
        with pytest.raises(tn.Refusal, match="too many cells"):
            tn.CalibrationTable.from_dict(content)
