"""Laws of event tables: sums by cell as plain loops give them, in any split and order, and what they merge into."""

import pickle
from dataclasses import replace
from typing import Any

import event_oracle as oracle
import numpy as np
import pytest
from event_tables import TABLES, Y_PROB, Y_TRUE, mixed_rows

import trueness as tn
from trueness.bins import class_grid
from trueness.old_table import EventTable, Tables, stack_events
from trueness.old_table.exact_sums import ExactSum

ENGINES = ["portable", "compiled"]
UNSPLIT = ["portable", "auto", "compiled"]


def units(value: Any) -> list[Any]:
    """Exact sums in units, as whole numbers."""
    assert isinstance(value, ExactSum)
    both = zip(value.whole.ravel().tolist(), value.fraction.ravel().tolist(), strict=True)
    return [(whole << value.bits) + fraction for whole, fraction in both]


def require_sums_of_loops(table: EventTable, labels: Any, rows: Any, grid: str) -> None:
    """The sums of each cell to the last bit, and logarithms to rounding."""
    for place, event in enumerate(table.events):
        expected, moments = oracle.cells(labels, rows, event, grid, table.spec.ties)
        filled = np.flatnonzero(table.sums.rows[place]).tolist()
        assert filled == sorted(expected)
        one = table.select(event).sums
        found = zip(one.rows[0].tolist(), units(one.predicted), units(one.observed), strict=True)
        cells = dict(enumerate(found))
        assert {at: cells[at] for at in filled} == expected
        if grid == "event":
            for name in ("square", "cube", "fourth", "product"):
                assert units(getattr(one, name)) == [getattr(moments, name)], name
            assert one.impossible_rows is not None
            assert one.impossible_rows.tolist() == [moments.impossible_rows]
            assert one.log_likelihood is not None
            assert one.log_likelihood.value[0] == pytest.approx(moments.log_likelihood, rel=1e-11)


class TestAgainstPlainLoops:
    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
    @pytest.mark.parametrize("n_classes", [2, 3, 10, 17])
    def test_all_classes(self, n_classes: int, dtype: str, engine: str) -> None:
        labels, rows = mixed_rows(200, n_classes, dtype)
        table = tn.tabulate_events(labels, rows, engine=engine)
        assert table.events == ((1,) if n_classes == 2 else tuple(range(n_classes)))
        require_sums_of_loops(table, labels, rows, "event" if n_classes == 2 else "class")
        assert EventTable.from_dict(table.to_dict()) == table

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("grid", ["class", "event"])
    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_chosen_events(self, dtype: str, grid: str, engine: str) -> None:
        labels, rows = mixed_rows(200, 5, dtype)
        table = tn.tabulate_events(labels, rows, events=["top", 3, 0], grid=grid, engine=engine)
        assert table.events == ("top", 3, 0)
        require_sums_of_loops(table, labels, rows, grid)

    @pytest.mark.parametrize("ties", ["first", "split"])
    @pytest.mark.parametrize("n_classes", [2, 3, 7])
    def test_the_top_label_by_both_rules_for_ties(self, n_classes: int, ties: str) -> None:
        rng = np.random.default_rng(n_classes)
        rows = rng.multinomial(6, np.full(n_classes, 1 / n_classes), 200) / 6
        rows[::9] = 1 / n_classes
        labels = rng.integers(0, n_classes, 200)
        assert sum(np.count_nonzero(row == row.max()) > 1 for row in rows) > 30
        table = tn.tabulate_events(labels, rows, events="top", ties=ties)
        require_sums_of_loops(table, labels, rows, "event")
        whole = tn.tabulate(labels, rows, ties=ties)
        assert table.observed_total[0] == pytest.approx(whole.sums.rank.value[:, 0].sum(), rel=1e-14)

    @pytest.mark.parametrize("engine", ENGINES)
    def test_a_block_of_equal_rows(self, engine: str) -> None:
        """Four thousand squares of .95 are more than 64 bits hold, in units of 2⁻⁵²."""
        labels, rows = np.zeros(5000, int), np.tile([0.95, 0.03, 0.02], (5000, 1))
        table = tn.tabulate_events(labels, rows, events=0, engine=engine)
        one = tn.tabulate_events(labels[:1], rows[:1], events=0, engine="portable")
        for name in ("square", "cube", "fourth", "product", "log_likelihood", "predicted"):
            found, expected = units(getattr(table.sums, name)), units(getattr(one.sums, name))
            assert found == [5000 * each for each in expected], name


class TestSums:
    @pytest.mark.parametrize("name", TABLES)
    def test_adding_the_empty_table_changes_nothing(self, name: str) -> None:
        table = TABLES[name]
        empty = EventTable.empty(table.spec)
        if table.grid == class_grid() or table.spec.has_moments:
            assert table + empty == empty + table == table
        assert sum([table]) == table

    @pytest.mark.parametrize("engine", UNSPLIT)
    @pytest.mark.parametrize("options", [{}, {"events": ["top", 0]}, {"grid": "event"}], ids=str)
    def test_splits_and_orders(self, options: dict[str, Any], engine: str) -> None:
        labels, rows = mixed_rows(5000, 3)
        how = {**options, "engine": engine}
        whole = tn.tabulate_events(labels, rows, **how)
        parts = np.array_split(np.arange(5000), [1, 17, 1200, 4100])
        assert sum(tn.tabulate_events(labels[part], rows[part], **how) for part in parts) == whole
        order = np.random.default_rng(0).permutation(5000)
        assert tn.tabulate_events(labels[order], rows[order], **how) == whole
        assert tn.tabulate_events(labels, np.asfortranarray(rows), **how) == whole
        assert tn.tabulate_events(labels, rows, n_threads=3, **how) == whole
        assert whole.n_rows == 5000

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_totals(self, dtype: str) -> None:
        """Every row is in one cell of each class; one class is observed, and probabilities sum to 1."""
        labels, rows = mixed_rows(1000, 6, dtype)
        table = tn.tabulate_events(labels, rows)
        assert table.count.sum(axis=1).tolist() == [1000] * 6
        assert table.observed_total.sum() == 1000
        assert table.observed_total.tolist() == np.bincount(labels, minlength=6).tolist()
        assert table.expected_total.sum() == pytest.approx(1000, abs=1000 * 6 * float(np.finfo(dtype).eps))
        assert np.all(table.observed_count <= table.count)

    def test_of_two_classes_only_the_second_is_kept(self) -> None:
        labels, rows = mixed_rows(400, 2)
        table = tn.tabulate_events(labels, rows)
        assert table.events == (1,)
        assert table == tn.tabulate_events(labels, rows[:, 1])
        assert table.observed_total.tolist() == [np.count_nonzero(labels)]
        mirrored = tn.tabulate_events(1 - labels, rows[:, ::-1], events=0)
        assert mirrored.sums.same(table.sums)

    @pytest.mark.parametrize("seed", range(3))
    def test_relabelling_classes_permutes_events(self, seed: int) -> None:
        labels, rows = mixed_rows(500, 5)
        order = np.random.default_rng(seed).permutation(5)
        turned = tn.tabulate_events(np.argsort(order)[labels], rows[:, order])
        assert turned.sums.same(tn.tabulate_events(labels, rows).select(order.tolist()).sums)

    def test_tables_of_other_events_do_not_add(self) -> None:
        table = TABLES["classes"]
        for other, words in [
            (TABLES["top"], "events differs"),
            (TABLES["event grid"], "grid differs: 80 cells and 5026 cells"),
            (TABLES["weighted"], "weighted differs"),
            (TABLES["two classes"], "n_classes differs: 3 and 2"),
            (tn.tabulate_events(Y_TRUE, Y_PROB, ties="split"), "ties differs"),
        ]:
            with pytest.raises(ValueError, match=words):
                table + other
        with pytest.raises(TypeError):
            table + tn.tabulate(Y_TRUE, Y_PROB)

    def test_copies_and_pickles_are_equal_and_read_only(self) -> None:
        for table in TABLES.values():
            again = pickle.loads(pickle.dumps(table))
            assert again == table
            assert again.spec.class_names == table.spec.class_names
            with pytest.raises(ValueError, match="read-only"):
                again.row_count[0, 0] = 1


class TestNames:
    def test_names_of_classes_are_kept(self) -> None:
        named, plain = TABLES["named"], TABLES["classes"]
        assert named == plain
        assert named.spec.class_names == ("a", "b", "c")
        for total in (named + plain, plain + named, sum([plain, plain, named])):
            assert total.spec.class_names == ("a", "b", "c")
        assert (named + named).spec.name_of(1) == "b"

    def test_other_names_do_not_add(self) -> None:
        other = EventTable(replace(TABLES["named"].spec, class_names=("a", "c", "b")), TABLES["named"].sums)
        with pytest.raises(ValueError, match="class names differ"):
            TABLES["named"] + other

    def test_events_by_name(self) -> None:
        labels, names = np.array(["no", "maybe", "yes"])[Y_TRUE], ["no", "maybe", "yes"]
        table = tn.tabulate_events(labels, Y_PROB, classes=names, events=["yes", "top"])
        assert table == tn.tabulate_events(Y_TRUE, Y_PROB, events=[2, "top"])
        assert "yes" in repr(table)
        with pytest.raises(tn.Refusal, match="'never', which is not a class") as caught:
            tn.tabulate_events(labels, Y_PROB, classes=names, events="never")
        assert caught.value.code == "unknown-event"

    @pytest.mark.parametrize("events", [[], [0, 0], 3, -1, True, "nobody", [1.5]], ids=repr)
    def test_refused_events(self, events: Any) -> None:
        with pytest.raises(tn.Refusal, match="events"):
            tn.tabulate_events(Y_TRUE, Y_PROB, events=events)

    def test_too_many_events_on_the_fine_grid(self) -> None:
        labels, rows = mixed_rows(20, 70)
        with pytest.raises(tn.Refusal, match="at most 64") as caught:
            tn.tabulate_events(labels, rows, grid="event")
        assert caught.value.code == "too-many-events"

    def test_names_of_columns(self) -> None:
        import pandas as pd

        frame = pd.DataFrame(Y_PROB, columns=["p_cat", "p_dog", "p_cow"])
        by_name = np.array(["cat", "dog", "cow"])[Y_TRUE]
        for labels in (by_name, np.char.add("p_", by_name)):
            table = tn.tabulate_events(labels, frame)
            assert table == TABLES["classes"]
            assert table.spec.class_names == ("cat", "dog", "cow")
        numbered = pd.DataFrame(Y_PROB, columns=["p_0", "p_1", "p_2"])
        assert tn.tabulate_events(Y_TRUE, numbered).spec.class_names is None


class TestCoarserCells:
    @pytest.mark.parametrize("n_bins", [1, 5, 10, 15, 60])
    def test_by_either_grid_the_bins_are_the_same(self, n_bins: int) -> None:
        labels, rows = mixed_rows(2000, 4)
        fine, by_class = tn.tabulate_events(labels, rows, grid="event"), tn.tabulate_events(labels, rows)
        assert fine.coarsen(class_grid()) == by_class
        assert fine.coarsen(n_bins) == by_class.coarsen(n_bins) == by_class.coarsen(60).coarsen(n_bins)

    def test_merging_and_adding_change_places(self) -> None:
        one, two = (tn.tabulate_events(*mixed_rows(n, 3)) for n in (100, 200))
        assert (one + two).coarsen(10) == one.coarsen(10) + two.coarsen(10)

    def test_equal_mass_is_for_one_event(self) -> None:
        table = tn.tabulate_events(*mixed_rows(4000, 3), grid="event")
        with pytest.raises(tn.Refusal, match="select one event first"):
            table.coarsen(tn.EqualMass(5))
        bins = table.select(2).coarsen(tn.EqualMass(4))
        assert bins.count.sum() == 4000

    def test_bins_that_the_grid_lacks_are_refused(self) -> None:
        with pytest.raises(tn.Refusal, match="divides 60"):
            TABLES["classes"].coarsen(7)

    def test_select(self) -> None:
        table = TABLES["classes"]
        assert table.select([2, 0]) == tn.tabulate_events(Y_TRUE, Y_PROB, events=[2, 0], grid="class")
        assert table.select(1).expected_total[0] == table.expected_total[1]
        assert table.select([0, 1, 2]) == table
        for wanted in ([], 3, "top", [0, 5]):
            with pytest.raises(tn.Refusal, match="this table has no event") as caught:
                table.select(wanted)
            assert caught.value.code == "unknown-event"


class TestMultiLabel:
    LABELS = np.random.default_rng(3).integers(0, 2, (200, 3))
    PROBS = np.random.default_rng(4).random((200, 3))

    def tables(self, rows: slice = slice(None)) -> EventTable:
        names = ["rain", "wind", "fog"]
        each = [tn.tabulate_events(self.LABELS[rows, k], self.PROBS[rows, k]) for k in range(3)]
        return stack_events(each, names)

    def test_each_label_is_an_event_of_its_own(self) -> None:
        table = self.tables()
        assert table.events == ("rain", "wind", "fog")
        assert table.n_classes is None
        assert table.observed_total.tolist() == self.LABELS.sum(axis=0).tolist()
        assert table.expected_total == pytest.approx(self.PROBS.sum(axis=0), rel=1e-14)
        wind = tn.tabulate_events(self.LABELS[:, 1], self.PROBS[:, 1])
        assert table.select("wind").sums.same(wind.sums)

    def test_they_add_and_are_saved(self) -> None:
        table = self.tables()
        assert self.tables(slice(80)) + self.tables(slice(80, None)) == table
        assert EventTable.from_dict(table.to_dict()) == table


class TestTablesOfTheSameRows:
    def test_they_add_and_coarsen_together(self) -> None:
        tables = Tables.of([tn.tabulate(Y_TRUE, Y_PROB), TABLES["classes"], TABLES["top"]])
        assert tables.by_class == TABLES["classes"]
        assert tables.events == (TABLES["classes"], TABLES["top"])
        twice = tables + tables
        assert twice.events == tuple(table + table for table in tables.events)
        assert tables.coarsen(5).events == tables.events
        assert tables.without_events().stored == [tables.by_variation]

    def test_events_of_other_rows_are_refused(self) -> None:
        with pytest.raises(tn.Refusal, match="same rows") as caught:
            Tables.of([tn.tabulate(Y_TRUE, Y_PROB), TABLES["classes"] + TABLES["classes"]])
        assert caught.value.code == "different-rows"
        with pytest.raises(tn.Refusal, match="300 of 2"):
            Tables.of([tn.tabulate(Y_TRUE, Y_PROB), TABLES["two classes"]])

    def test_events_alone_are_not_enough(self) -> None:
        with pytest.raises(tn.Refusal, match="none of these tables is a CalibrationTable"):
            Tables.of([TABLES["classes"]])

    def test_tables_with_and_without_events_do_not_add(self) -> None:
        by_variation = tn.tabulate(Y_TRUE, Y_PROB)
        with pytest.raises(tn.Refusal, match="entropy and class cannot be added to tables by entropy"):
            Tables.of([by_variation, TABLES["classes"]]) + Tables.of([by_variation])
