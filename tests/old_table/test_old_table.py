"""A table is an immutable value; tables add, compare and refuse to add if they differ in kind."""

import copy
import os
import pickle
import re
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import oracle
import pytest
from table_rows import WEIGHT, Y_PROB, Y_TRUE

import trueness as tn

ARRAYS = [
    "count",
    "ordered_sum",
    "rank_count",
    "variation_sum",
    "row_count",
    "weight_square_sum",
    "effective_count",
    "edges",
    "mean_ordered",
    "rank_frequency",
    "mean_variation",
    "predicted_variation",
    "observed_variation",
    "gap",
]


def stored_arrays(table: tn.CalibrationTable) -> list[np.ndarray]:
    """Every array inside a table."""
    fields = [value for _, value in sorted(table.sums.items())]
    parts = [[value, *(getattr(value, name, None) for name in ("whole", "fraction"))] for value in fields]
    parts += [[value.value] for value in fields if hasattr(value, "value") and not hasattr(value, "whole")]
    return [part for some in parts for part in some if isinstance(part, np.ndarray)]


class TestImmutability:
    @pytest.mark.parametrize("name", ARRAYS)
    def test_nothing_written_into_an_array_reaches_the_table(
        self, table: tn.CalibrationTable, name: str
    ) -> None:
        before = copy.deepcopy(table)
        array = getattr(table, name)
        if array.flags.writeable:
            array[...] = 1
        else:
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 1
        assert table == before

    def test_the_integers_inside_are_read_only(self) -> None:
        table = tn.tabulate(Y_TRUE, Y_PROB)
        stored = [table.count, table.row_count, table.rank_count]
        for exact in (table.sums.ordered, table.sums.rank, table.sums.variation, table.sums.log_score):
            stored += [exact.whole, exact.fraction]
        assert not any(array.flags.writeable for array in stored)

    @pytest.mark.parametrize("name", ["spec", "sums", "count", "n_rows"])
    def test_attributes_cannot_be_set(self, table: tn.CalibrationTable, name: str) -> None:
        # TypeError is what Python 3.11 makes of setting a property on a frozen dataclass with slots.
        with pytest.raises((AttributeError, FrozenInstanceError, TypeError)):
            setattr(table, name, None)

    @pytest.mark.parametrize(
        "value",
        [tn.EqualWidth(3), tn.EqualMass(3), tn.EqualWidth(9), tn.Edges([0, 1]), tn.variations["iqv"]],
        ids=lambda value: type(value).__name__,
    )
    def test_the_parts_are_frozen_too(self, value: Any) -> None:
        name = "name" if isinstance(value, tn.Variation) else next(iter(type(value).__dataclass_fields__))
        with pytest.raises((AttributeError, FrozenInstanceError)):
            setattr(value, name, 5)

    def test_the_named_measures_cannot_be_replaced(self) -> None:
        with pytest.raises(TypeError):
            tn.variations["entropy"] = tn.variations["iqv"]  # type: ignore[index]

    def test_tables_are_not_hashable(self, table: tn.CalibrationTable) -> None:
        with pytest.raises(TypeError, match="hash"):
            hash(table)

    @pytest.mark.parametrize(
        "again",
        [copy.copy, copy.deepcopy, *(lambda t, p=p: pickle.loads(pickle.dumps(t, p)) for p in (0, 2, 5))],
        ids=["copy", "deepcopy", "pickle 0", "pickle 2", "pickle 5"],
    )
    def test_copies_are_as_immutable(self, table: tn.CalibrationTable, again: Any) -> None:
        """NumPy drops the read-only flag of arrays that travel; a table puts it back."""
        there = again(table)
        assert there == table
        arrays = stored_arrays(there)
        assert len(arrays) == len(stored_arrays(table)) >= 10
        assert not any(array.flags.writeable for array in arrays)
        with pytest.raises(ValueError, match="read-only"):
            there.row_count[0] += 1

    @pytest.mark.parametrize("name", [*oracle.MEASURES, "renyi(2)", "tsallis(0.5)"])
    def test_tables_travel_between_processes(self, name: str) -> None:
        """multiprocessing and joblib send results by pickle; a file is never one."""
        table = tn.tabulate(Y_TRUE, Y_PROB, variation=name)
        there = pickle.loads(pickle.dumps(table))
        assert there == table
        assert there + table == table + table
        assert tn.variation_calibration_error(there) == tn.variation_calibration_error(table)


class TestShapesAndTypes:
    def test_shapes(self, table: tn.CalibrationTable) -> None:
        m, c = table.n_bins, table.n_classes
        assert (m, c) == (10, 3)
        two = {"ordered_sum", "rank_count", "mean_ordered", "rank_frequency"}
        for name in ARRAYS:
            expected = (m, c) if name in two else (m + 1,) if name == "edges" else (m,)
            assert getattr(table, name).shape == expected, name

    def test_types(self) -> None:
        plain, split = tn.tabulate(Y_TRUE, Y_PROB), tn.tabulate(Y_TRUE, Y_PROB, ties="split")
        weighted = tn.tabulate(Y_TRUE, Y_PROB, sample_weight=WEIGHT)
        assert plain.count.dtype == plain.rank_count.dtype == plain.row_count.dtype == np.int64
        assert split.count.dtype == np.int64
        assert split.rank_count.dtype == np.float64
        assert weighted.count.dtype == weighted.rank_count.dtype == np.float64
        assert weighted.row_count.dtype == np.int64
        for table in (plain, split, weighted):
            assert table.ordered_sum.dtype == table.variation_sum.dtype == np.float64
            for name, kind in {
                "n_rows": int,
                "n_classes": int,
                "n_bins": int,
                "tied_rows": int,
                "impossible_rows": int,
                "log_score_sum": float,
                "log_score_variance": float,
            }.items():
                assert type(getattr(table, name)) is kind, name

    def test_empty_bins_are_nan_and_full_ones_are_not(self) -> None:
        """Rows near uniform fill the last bin alone."""
        table = tn.tabulate([0, 1], [[0.34, 0.33, 0.33]] * 2)
        filled = np.array([False] * 9 + [True])
        for name in ("mean_variation", "predicted_variation", "observed_variation", "gap"):
            assert (np.isnan(getattr(table, name)) == ~filled).all(), name
        for name in ("mean_ordered", "rank_frequency"):
            assert (np.isnan(getattr(table, name)) == ~filled[:, None]).all(), name
        for gap in (tn.variation_gap, tn.top_label_gap, tn.uncertainty_gap, tn.ranked_gap):
            assert (np.isnan(gap(table)) == ~filled).all()

    def test_gap_is_observed_minus_predicted_and_its_sign_means_over_confident(self) -> None:
        """Sure of the wrong class half the time: H rises from P to O, confidence falls; both are over-confident."""
        rows, labels = [[0.9, 0.1]] * 10, [0, 1] * 5
        by_entropy, by_confidence = (
            tn.tabulate(labels, rows),
            tn.tabulate(labels, rows, variation="confidence"),
        )
        assert np.nansum(by_entropy.gap) == pytest.approx(0.531004406411, abs=1e-12)
        assert np.nansum(by_confidence.gap) == pytest.approx(-0.4, abs=1e-12)
        for gap in (
            tn.variation_gap(by_entropy),
            tn.variation_gap(by_confidence),
            tn.top_label_gap(by_entropy),
            tn.uncertainty_gap(by_entropy),
            tn.ranked_gap(by_entropy),
        ):
            assert np.nansum(gap) > 0

    def test_tied_rows_counts_ties_of_the_true_class_only(self) -> None:
        rows = [[0.4, 0.4, 0.2], [0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.2, 0.4, 0.4]]
        assert tn.tabulate([0, 2, 1, 2], rows).tied_rows == 2


class TestAdding:
    @pytest.mark.parametrize(
        ("one", "other", "shown"),
        [
            (tn.Edges([0, 0.1 + 0.2, 1]), tn.Edges([0, 0.3, 1]), ["edges[1]", "0.30000000000000004", "0.3"]),
            (
                tn.Edges([0, 0.5, 1], 1e-12),
                tn.Edges([0, 0.5, 1], 1.0000000000000002e-12),
                ["snap", "1e-12", "1.0000000000000002e-12"],
            ),
            (
                tn.Edges(np.linspace(0, 1, 31)),
                tn.Edges([*np.linspace(0, 1, 31)[:15], 0.51, *np.linspace(0, 1, 31)[16:]]),
                ["edges[15]", "0.5", "0.51"],
            ),
        ],
        ids=["last digit", "snap", "in the middle"],
    )
    def test_the_difference_of_bins_that_print_alike_is_shown(
        self, one: tn.Edges, other: tn.Edges, shown: list[str]
    ) -> None:
        with pytest.raises(ValueError, match="bins") as caught:
            tn.tabulate(Y_TRUE, Y_PROB, bins=one) + tn.tabulate(Y_TRUE, Y_PROB, bins=other)
        assert all(re.search(rf"(?<![\d.]){re.escape(word)}(?![\d.])", str(caught.value)) for word in shown)

    def test_measures_of_the_same_name_are_distinguished(self) -> None:
        tables = [
            tn.tabulate(
                Y_TRUE, Y_PROB, variation=tn.Variation("mine", lambda x: 1 - x[..., 0], range=(0, top))
            )
            for top in (1.0, 2.0)
        ]
        with pytest.raises(ValueError, match=r"variation.*'mine'.*(another|same name)"):
            tables[0] + tables[1]

    def test_things_that_are_not_tables(self) -> None:
        table = tn.tabulate(Y_TRUE, Y_PROB)
        for thing in (1, 0.0, None, [1], np.zeros(3), "table"):
            with pytest.raises(TypeError):
                table + thing
        assert table != 1
        assert (table == None) is False  # noqa: E711

    def test_float32_and_float64_rows_add(self) -> None:
        """The bins are the same; only the snap at their edges follows the dtype of the rows."""
        both = tn.tabulate(Y_TRUE, Y_PROB) + tn.tabulate(Y_TRUE, Y_PROB.astype(np.float32))
        assert both.n_rows == 400


class TestComparing:
    def test_equality_sees_everything(self) -> None:
        table = tn.tabulate(Y_TRUE, Y_PROB)
        moved = Y_PROB.copy()
        moved[3] = moved[3] + np.array([2.0**-52, -(2.0**-52), 0])
        assert tn.tabulate(Y_TRUE, moved) != table
        assert tn.tabulate((Y_TRUE + 1) % 3, Y_PROB) != table
        assert tn.tabulate(Y_TRUE[:-1], Y_PROB[:-1]) != table


@pytest.mark.parametrize("moved", [False, True])
def test_ctrl_c_while_a_table_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moved: bool) -> None:
    """KeyboardInterrupt is raised, whether the file was already in its place or not, and no other file remains."""
    move = os.replace

    def interrupted(source: str, target: str) -> None:
        if moved:
            move(source, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tn.tabulate([0, 1], [[0.9, 0.1]] * 2).save(tmp_path / "t.json")
    assert [path.name for path in tmp_path.iterdir()] == (["t.json"] if moved else [])
