"""The compiled engine gives the event tables of the portable one to the last bit: classes, grids, layouts, bad rows."""

from typing import Any

import numpy as np
import pytest
from compiled_rows import every_kind_of_events, nasty, on_edges, rows, tables_of

from trueness.bins import class_grid, event_grid
from trueness.old_table import AnySpec, EventSpec, table_of
from trueness.rows import Rows
from trueness.tabulation import compiled, tabulate_rows
from trueness.tabulation.compiled import event_cells
from trueness.tabulation.compiled.library import Library
from trueness.tabulation.running_sums import RunningSums

pytestmark = pytest.mark.usefixtures("compiled")

CLASSES = [2, 3, 5, 8, 9, 10, 15, 16, 17, 33, 100, 129, 1000]


def assert_same(y_true: Any, y_prob: Any, specs: list[AnySpec], n_threads: int = 1, **how: Any) -> list[Any]:
    """The tables of the compiled engine, which are those of the portable one."""
    given = Rows.of(y_true, y_prob, **how)
    made = tabulate_rows(given, specs, "compiled", n_threads)
    assert made == tabulate_rows(given, specs, "portable")
    return made


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_classes", CLASSES)
def test_every_kind_of_events(n_classes: int, dtype: str, order: Any) -> None:
    """With two tables in the same pass, with one, and alone."""
    tables = tables_of(n_classes)
    for y_true, y_prob in (rows(203, n_classes), nasty(n_classes, dtype=dtype), on_edges(n_classes, dtype)):
        given = np.asarray(y_prob.astype(dtype), order=order)
        for number, events in enumerate(every_kind_of_events(n_classes)):
            assert_same(y_true, given, [*tables[: number % 3], events])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("grid", [class_grid(), event_grid()], ids=["class", "event"])
def test_every_edge(grid: Any, dtype: str) -> None:
    """All thresholds and the floats beside them, and random numbers of every size."""
    rng = np.random.default_rng(0)
    thresholds = grid.thresholds(float(np.finfo(dtype).eps)).astype(dtype)
    kind = np.dtype(dtype).type
    beside = [np.nextafter(thresholds, kind(0)), np.nextafter(thresholds, kind(1))]
    some = [2.0 ** -rng.uniform(0, 70, 20_000), 1 - 2.0 ** -rng.uniform(0, 40, 20_000), np.array(grid.edges)]
    p = np.concatenate([thresholds, *beside, *some]).astype(dtype)
    for n_classes in (2, 3, 20):
        y_prob = np.zeros((len(p), n_classes), dtype)
        y_prob[:, 0], y_prob[:, -1] = 1 - p, p
        good = y_prob.sum(axis=1, dtype=float) == 1.0
        y_true = rng.integers(0, n_classes, len(p))
        specs: list[AnySpec] = [EventSpec(n_classes, tuple(range(n_classes)), grid)]
        (table,) = assert_same(y_true[good], y_prob[good], specs)
        assert np.count_nonzero(table.sums.rows) > grid.n_cells


@pytest.mark.parametrize("n_classes", [3, 16])
def test_several_event_tables_of_one_pass_in_any_order(n_classes: int) -> None:
    kinds, (by_entropy, by_confidence) = every_kind_of_events(n_classes), tables_of(n_classes)
    specs: list[AnySpec] = [
        kinds[0],
        by_entropy,
        kinds[3],
        by_confidence,
        kinds[2],
        tables_of(n_classes, (3, 4))[0],
    ]
    made = assert_same(*nasty(n_classes), specs)
    assert [table.spec for table in made] == specs


@pytest.mark.parametrize("n_classes", [2, 3, 10, 20])
@pytest.mark.parametrize("n_rows", [*range(1, 18), 1023, 1024, 1025, 2000, 2001, 16_001])
def test_every_length(n_rows: int, n_classes: int) -> None:
    """Around groups of rows, chunks, and the emptying of sums."""
    specs: list[AnySpec] = [*tables_of(n_classes), EventSpec.by_class(n_classes)]
    assert_same(*rows(n_rows, n_classes), specs)
    assert_same(*rows(n_rows, n_classes), [EventSpec(n_classes, ("top", 0), event_grid())])


@pytest.mark.parametrize("certain", [0, 1])
@pytest.mark.parametrize("n_classes", [2, 3, 10, 40])
def test_sums_of_one_cell_do_not_overflow(n_classes: int, certain: int) -> None:
    """70 000 rows of probability 1 are 17 times 2⁶⁴ units."""
    y_prob = np.zeros((70_000, n_classes))
    y_prob[:, 1] = 1.0
    kinds: list[AnySpec] = [EventSpec.by_class(n_classes), EventSpec(n_classes, ("top",), event_grid())]
    for events in kinds:
        (table,) = assert_same(np.full(70_000, certain), y_prob, [events])
        assert table.sums.rows.max() == table.sums.predicted.whole.max() == 70_000


def test_words_of_cells_are_emptied_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    y_true, y_prob = rows(200_001, 3)
    given, specs = Rows.of(y_true, y_prob), [*tables_of(3), EventSpec.by_class(3)]
    expected = tabulate_rows(given, specs, "compiled", 1)
    monkeypatch.setattr(event_cells, "MOST_ROWS", 70_000)
    assert tabulate_rows(given, specs, "compiled", 1) == expected


@pytest.mark.parametrize("n_classes", [*range(2, 18), 40])
def test_events_do_not_change_tables(n_classes: int) -> None:
    """With events the kernel sums rows in short runs: sums must be emptied in time at the end of a run too."""
    y_true, y_prob = rows(400_000, n_classes)
    given, specs = Rows.of(y_true, y_prob), tables_of(n_classes)
    work = compiled.Pass(given, [*specs, EventSpec.by_class(n_classes)])
    work.add(given, 0, len(y_true))
    alone = tabulate_rows(given, specs, "compiled", 1)
    assert [table_of(spec, sums) for spec, sums in zip(specs, work.sums(), strict=False)] == alone


@pytest.mark.parametrize("n_classes", [3, 10, 17, 100])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_at_any_address_and_distance(n_classes: int, dtype: str) -> None:
    y_true, y_prob = nasty(n_classes, dtype=dtype)
    wide = np.full((len(y_prob), n_classes + 3), 0.7, dtype)
    wide[:, 1 : n_classes + 1] = y_prob
    tall = np.full((3 * len(y_prob), n_classes), 0.7, dtype)
    tall[::3] = y_prob
    moved = np.empty(y_prob.nbytes + 1, np.uint8)[1:].view(dtype).reshape(y_prob.shape)
    moved[...] = y_prob
    for events in every_kind_of_events(n_classes):
        specs: list[AnySpec] = [*tables_of(n_classes), events]
        expected = assert_same(y_true, y_prob, specs)
        for given in (wide[:, 1 : n_classes + 1], tall[::3], moved):
            assert tabulate_rows(Rows.of(y_true, given), specs, "compiled", 1) == expected


@pytest.mark.parametrize("with_tables", [False, True])
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_classes", [2, 3, 7, 15, 16, 33])
def test_bad_rows_leave_nothing_in_the_sums(
    n_classes: int, dtype: str, columns: bool, with_tables: bool
) -> None:
    """Wherever they are in their group, and though the sums are used again afterwards."""
    for events in every_kind_of_events(n_classes):
        specs: list[AnySpec] = [*(tables_of(n_classes) if with_tables else []), events]
        y_true, y_prob = nasty(n_classes, dtype=dtype)
        running, engines = RunningSums(specs, "compiled"), RunningSums(specs, "portable")
        for number, value in enumerate([np.nan, -np.nan, np.inf, -np.inf, -0.5, 7.0, 0.999]):
            row = 11 * number % 30
            given = y_prob.copy(order="F" if columns else "C")
            given[row, number % n_classes] = value
            if value == 0.999:
                given[row] = value
            assert running.add(Rows.of(y_true, given)).sum() == 1
            assert engines.add(Rows.of(y_true, given)).sum() == 1
        sums, expected = running.take(), engines.take()
        assert sums is not None
        assert expected is not None
        assert all(one.same(other) for one, other in zip(sums, expected, strict=True))


def test_common_tables_are_made_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tables and the classes: the library is called once for each block."""
    calls, add = [], Library.sum
    monkeypatch.setattr(Library, "sum", lambda library, job: calls.append(job.n_rows) or add(library, job))
    for n_classes in (2, 10, 40):
        specs: list[AnySpec] = [*tables_of(n_classes), EventSpec.by_class(n_classes)]
        tabulate_rows(Rows.of(*rows(500, n_classes)), specs, "compiled", 1)
    assert calls == [500] * 3
