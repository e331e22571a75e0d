"""`OptionTables`: a table for each number of options in common bins, its metrics, sums, bins and files."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import oracle
import pytest
from option_rows import (
    N_OPTIONS,
    ROWS,
    Y_PROB,
    Y_TRUE,
    simulated,
)

import trueness as tn
from trueness.old_table import OptionTables


class TestVectors:
    """Section 12.1 of the specification, to 1e-12."""

    def test_a_measure_whose_range_depends_on_the_options_is_refused(self) -> None:
        gini = tn.Variation("own", lambda x: 1 - (x**2).sum(axis=-1), range=lambda c: (0, 1 - 1 / c))
        with pytest.raises(tn.Refusal, match="'own' has a range that depends on the number of options"):
            tn.tabulate(Y_TRUE, ROWS, variation=gini)


class TestLaws:
    """Section 12.2."""

    @pytest.mark.parametrize(
        "how", [{}, {"ties": "first"}, {"bins": tn.EqualMass(7)}, {"bins": tn.EqualWidth(400)}]
    )
    def test_rows_of_one_number_give_the_table_of_tabulate(self, how: dict[str, Any]) -> None:
        which = N_OPTIONS == 4
        y_prob = np.ascontiguousarray(Y_PROB[which, :4])
        through = tn.tabulate(Y_TRUE[which], y_prob, n_options=[4] * which.sum(), **how)
        assert through == tn.tabulate(Y_TRUE[which], y_prob, **{"ties": "split", **how})
        assert through == tn.tabulate(Y_TRUE[which], y_prob, **how)  # no ties, of which the default differs

    def test_ties_are_not_ignored_if_there_are_some(self) -> None:
        rows = [[0.5, 0.5], [0.2, 0.8]]
        assert tn.tabulate([1, 0], rows, n_options=[2, 2]) != tn.tabulate([1, 0], rows)
        assert tn.tabulate([1, 0], rows, n_options=[2, 2]) == tn.tabulate([1, 0], rows, ties="split")

    def test_lists_and_padded_arrays_give_the_same(self) -> None:
        table = tn.tabulate(Y_TRUE, ROWS)
        assert tn.tabulate(Y_TRUE, Y_PROB, n_options=N_OPTIONS) == table
        assert tn.tabulate(Y_TRUE, Y_PROB.astype(np.float32), n_options=N_OPTIONS) != table
        objects = np.empty(len(ROWS), object)
        objects[:] = ROWS
        assert tn.tabulate(Y_TRUE, objects) == table

    @pytest.mark.parametrize("engine", ["portable", "auto"])
    @pytest.mark.parametrize("cuts", [[1, 50, 51, 120], [17, 90]])
    def test_any_split_into_shards_adds_up(self, engine: str, cuts: list[int]) -> None:
        """Also in order of their options, so that no shard has all of them and some have one."""
        whole = tn.tabulate(Y_TRUE, Y_PROB, n_options=N_OPTIONS)
        for order in (np.arange(len(Y_TRUE)), np.argsort(N_OPTIONS, kind="stable")):
            shards = [
                tn.tabulate(Y_TRUE[part], Y_PROB[part], n_options=N_OPTIONS[part], engine=engine)
                for part in np.split(order, cuts)
            ]
            assert sum(shards) == whole
            assert sum(shards[::-1]) == whole

    def test_a_table_of_one_number_adds_too(self) -> None:
        four = N_OPTIONS == 4
        alone = tn.tabulate(Y_TRUE[four], Y_PROB[four, :4], ties="split")
        rest = tn.tabulate(Y_TRUE[~four], Y_PROB[~four], n_options=N_OPTIONS[~four])
        whole = tn.tabulate(Y_TRUE, ROWS)
        assert rest + alone == whole
        assert alone + rest == whole

    def test_the_empty_tables_change_nothing(self) -> None:
        table = tn.tabulate(Y_TRUE, ROWS)
        assert isinstance(table, OptionTables)
        empty = OptionTables.empty(table.spec)
        assert empty + table == table == table + empty
        assert empty.n_rows == 0
        assert np.isnan(empty.gap).all()

    def test_renumbering_the_options_of_each_row_changes_nothing(self) -> None:
        stream = np.random.default_rng(3)
        rows, labels = [], []
        for row, label in zip(ROWS, Y_TRUE.tolist(), strict=True):
            order = stream.permutation(len(row))
            rows.append([row[k] for k in order])
            labels.append(int(np.flatnonzero(order == label)[0]))
        mine, other = tn.tabulate(Y_TRUE, ROWS), tn.tabulate(labels, rows)
        assert isinstance(other, OptionTables)
        # Sums by predicted option are by its index.
        for c, table in other.items():
            assert np.array_equal(table.rank_count, mine[c].rank_count)
            assert np.array_equal(table.ordered_sum, mine[c].ordered_sum)

    def test_one_row_of_thirteen_options_hardly_changes_the_number(self) -> None:
        """Section 12.4: padded to 13, a thousand rows of four options would read 46 % less."""
        y_true, y_prob, n_options = simulated({4: 1000}, 8, power=1.3)
        wide = np.zeros((1001, 13))
        wide[:1000, :4], wide[1000] = y_prob, 1 / 13
        alone = tn.vce(y_true, y_prob, n_options=n_options)
        more = tn.vce([*y_true, 3], wide, n_options=[*n_options, 13])
        assert abs(more / alone - 1) < 0.02
        assert tn.vce([*y_true, 3], wide) < 0.7 * alone


class TestBins:
    def test_equal_mass_from_the_rows_of_all_options(self) -> None:
        values = [oracle.entropy(sorted(row, reverse=True)) for row in ROWS]
        table = tn.tabulate(Y_TRUE, ROWS, bins=tn.EqualMass(8))
        assert table.edges == pytest.approx(oracle.equal_mass(8, values, 0.0, 1.0), abs=1e-12)
        assert table.row_count.tolist() == [25] * 8

    def test_a_grid_is_coarsened_at_once(self) -> None:
        fine = tn.tabulate(Y_TRUE, ROWS, bins=tn.EqualWidth(4000))
        assert fine.coarsen(10) == tn.tabulate(Y_TRUE, ROWS)
        coarse = fine.coarsen(tn.EqualMass(4))
        assert isinstance(coarse, OptionTables)
        assert all(abs(n - 50) <= 2 for n in coarse.row_count.tolist())
        assert {table.bins.edges for table in coarse.values()} == {coarse.bins.edges}


class TestFiles:
    def test_a_file_holds_ordinary_tables_that_belong_together(self, tmp_path: Path) -> None:
        path = tmp_path / "table.json"
        table = tn.tabulate(Y_TRUE, ROWS)
        table.save(path)
        content = json.loads(path.read_text(encoding="utf-8"))
        assert (content["schema"], content["together"]) == (5, "options")
        assert [each["spec"]["n_classes"] for each in content["tables"]] == [2, 3, 4, 7]
        assert OptionTables.load(path) == table
        assert isinstance(table, OptionTables)
        assert tn.CalibrationTable.load_all(path) == [*table.values()]

    def test_a_shard_of_one_number_adds_after_it_was_saved(self, tmp_path: Path) -> None:
        paths = []
        for c in (2, 3):
            which = c == N_OPTIONS
            paths.append(tmp_path / f"{c}.json")
            tn.tabulate(Y_TRUE[which], Y_PROB[which], n_options=N_OPTIONS[which]).save(paths[-1])
        which = N_OPTIONS <= 3
        both = tn.tabulate(Y_TRUE[which], Y_PROB[which], n_options=N_OPTIONS[which])
        assert sum(map(OptionTables.load, paths)) == both
        assert tn.CalibrationTable.load(paths[0]) == both[2]

    def test_an_ordinary_file_is_one_of_a_single_number(self, tmp_path: Path) -> None:
        four = N_OPTIONS == 4
        table = tn.tabulate(Y_TRUE[four], Y_PROB[four, :4], ties="split")
        table.save(tmp_path / "four.json")
        assert OptionTables.load(tmp_path / "four.json") == table

    def test_damaged_content_is_refused(self, tmp_path: Path) -> None:
        table = tn.tabulate(Y_TRUE, ROWS)
        path = tmp_path / "table.json"
        table.save(path)
        content = json.loads(path.read_text(encoding="utf-8"))
        for change in (
            {"together": "strata"},
            {"together": "options", "tables": content["tables"] + content["tables"][:1]},
        ):
            path.write_text(json.dumps(content | change), encoding="utf-8")
            with pytest.raises(tn.Refusal):
                OptionTables.load(path)

    def test_a_dict_and_a_pickle_give_the_same(self) -> None:
        table = tn.tabulate(Y_TRUE, ROWS)
        assert isinstance(table, OptionTables)
        assert OptionTables.from_dict(json.loads(json.dumps(table.to_dict()))) == table
        empty = OptionTables.empty(table.spec)
        assert OptionTables.from_dict(empty.to_dict()) == empty
        assert pickle.loads(pickle.dumps(table)) == table

    def test_the_text_names_the_options(self) -> None:
        text = repr(tn.tabulate(Y_TRUE, ROWS))
        assert text.startswith("OptionTables: 200 rows, 2 to 7 options (2: 30, 3: 60, 4: 90, 7: 20)")
        assert "CalibrationTable: 30 rows, 2 classes" in text
