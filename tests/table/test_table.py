"""The table as a value: immutable, readable, and unwilling to add what does not belong together."""

import copy
import inspect
import os
import pickle
import re
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import numpy as np
import oracle
import pytest

import trueness as tn

RNG = np.random.default_rng(7)
Y_PROB = RNG.dirichlet([1.0, 1.0, 1.0], 200)
Y_TRUE = RNG.integers(0, 3, 200)
WEIGHT = RNG.gamma(1.0, 1.0, 200)
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


@pytest.fixture(params=["plain", "split", "weighted"])
def table(request: pytest.FixtureRequest) -> tn.CalibrationTable:
    how: dict[str, Any] = {"plain": {}, "split": {"ties": "split"}, "weighted": {"sample_weight": WEIGHT}}[
        request.param
    ]
    return tn.tabulate(Y_TRUE, Y_PROB, **how)


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
        [tn.EqualWidth(3), tn.EqualMass(3), tn.FineGrid(9), tn.Edges([0, 1]), tn.variations["iqv"]],
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

    def test_copies_are_equal(self, table: tn.CalibrationTable) -> None:
        assert copy.copy(table) == copy.deepcopy(table) == table

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

    def test_unweighted_rows_count_as_much_as_they_are(self) -> None:
        table = tn.tabulate(Y_TRUE, Y_PROB)
        np.testing.assert_array_equal(table.weight_square_sum, table.count)
        np.testing.assert_array_equal(table.effective_count[table.count > 0], table.count[table.count > 0])

    def test_equal_weights_leave_the_effective_count(self) -> None:
        table = tn.tabulate(Y_TRUE, Y_PROB, sample_weight=np.full(200, 0.1))
        np.testing.assert_allclose(table.effective_count, table.row_count, rtol=1e-12)

    def test_impossible_rows(self) -> None:
        """ln 0 is left out of the log-score and counted instead; its varentropy is that of the row, 0."""
        table = tn.tabulate([0, 1], [[1.0, 0.0], [1.0, 0.0]])
        assert (table.impossible_rows, table.log_score_sum, table.log_score_variance) == (1, 0.0, 0.0)

    def test_log_score_of_one_row(self) -> None:
        """ln .25 + H(.75, .25), and the varentropy of two points p q (ln p - ln q)^2, in units of 2^-40."""
        p, q = 0.75, 0.25
        h = -p * np.log(p) - q * np.log(q)
        table = tn.tabulate([1], [[p, q]])
        assert table.log_score_sum == pytest.approx(np.log(q) + h, abs=2.0**-40)
        assert table.log_score_variance == pytest.approx(p * q * np.log(p / q) ** 2, abs=2.0**-40)

    def test_tied_rows_counts_ties_of_the_true_class_only(self) -> None:
        rows = [[0.4, 0.4, 0.2], [0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.2, 0.4, 0.4]]
        assert tn.tabulate([0, 2, 1, 2], rows).tied_rows == 2


class TestAdding:
    def test_sum_of_many(self) -> None:
        parts = [tn.tabulate(Y_TRUE[i : i + 50], Y_PROB[i : i + 50]) for i in range(0, 200, 50)]
        assert sum(parts) == sum(parts[1:], parts[0]) == tn.tabulate(Y_TRUE, Y_PROB)

    @pytest.mark.parametrize(
        ("how", "field", "shown"),
        [
            ({"variation": "iqv"}, "variation", ["entropy", "iqv"]),
            ({"bins": 5}, "bins", ["10", "5"]),
            ({"bins": tn.Edges([0, 0.3, 1])}, "bins", ["0.3"]),
            ({"bins": tn.EqualMass(10)}, "bins", ["10"]),
            ({"ties": "split"}, "ties", ["first", "split"]),
            ({"sample_weight": WEIGHT}, "weighted", ["True", "False"]),
        ],
    )
    def test_unlike_tables_name_the_field(self, how: dict[str, Any], field: str, shown: list[str]) -> None:
        plain, other = tn.tabulate(Y_TRUE, Y_PROB), tn.tabulate(Y_TRUE, Y_PROB, **how)
        for add in (lambda: plain + other, lambda: other + plain, lambda: sum([plain, other])):
            with pytest.raises(ValueError, match=field) as caught:
                add()
            assert all(word in str(caught.value) for word in shown)
        assert plain != other
        assert not plain.same_counts(other)
        assert not plain.isclose(other)

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
    def test_bins_that_print_alike_are_told_apart(
        self, one: tn.Edges, other: tn.Edges, shown: list[str]
    ) -> None:
        with pytest.raises(ValueError, match="bins") as caught:
            tn.tabulate(Y_TRUE, Y_PROB, bins=one) + tn.tabulate(Y_TRUE, Y_PROB, bins=other)
        assert all(re.search(rf"(?<![\d.]){re.escape(word)}(?![\d.])", str(caught.value)) for word in shown)

    def test_measures_of_one_name_are_told_apart(self) -> None:
        tables = [
            tn.tabulate(
                Y_TRUE, Y_PROB, variation=tn.Variation("mine", lambda x: 1 - x[..., 0], range=(0, top))
            )
            for top in (1.0, 2.0)
        ]
        with pytest.raises(ValueError, match=r"variation.*'mine'.*(another|same name)"):
            tables[0] + tables[1]

    def test_another_number_of_classes(self) -> None:
        four = tn.tabulate([0], [[0.25] * 4])
        with pytest.raises(ValueError, match=r"n_classes.*3.*4"):
            tn.tabulate(Y_TRUE, Y_PROB) + four

    def test_equal_mass_tables_of_different_rows_do_not_add(self) -> None:
        one, other = (
            tn.tabulate(Y_TRUE[s], Y_PROB[s], bins=tn.EqualMass(5)) for s in (slice(100), slice(100, 200))
        )
        with pytest.raises(ValueError, match="bins"):
            one + other

    def test_what_is_no_table(self) -> None:
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

    def test_isclose_forgives_rounding_and_nothing_more(self) -> None:
        table = tn.tabulate(Y_TRUE, Y_PROB)
        near, far = Y_PROB.copy(), Y_PROB.copy()
        near[3] += np.array([2.0**-50, -(2.0**-50), 0])
        far[3] += np.array([1e-6, -1e-6, 0])
        assert table.isclose(tn.tabulate(Y_TRUE, near))
        assert not table.isclose(tn.tabulate(Y_TRUE, far))
        assert table.isclose(tn.tabulate(Y_TRUE, far), rtol=1e-5)
        assert not table.isclose(tn.tabulate(Y_TRUE[:-1], Y_PROB[:-1]), rtol=1e-1)

    def test_isclose_of_light_weights(self) -> None:
        """Agreement is relative to the weights: however light, other labels are another table."""
        light = WEIGHT * 1e-15
        one = tn.tabulate(Y_TRUE, Y_PROB, sample_weight=light)
        other = tn.tabulate((Y_TRUE + 1) % 3, Y_PROB, sample_weight=light)
        assert not one.isclose(other)

    def test_isclose_looks_at_each_bin_on_its_own_scale(self) -> None:
        """One heavy row in another bin must not excuse what the light ones say."""
        rows, weight = [[0.9, 0.1], [0.6, 0.4], [0.6, 0.4]], [1e13, 1, 1]
        one, other = (tn.tabulate(y, rows, sample_weight=weight) for y in ([0, 0, 0], [0, 0, 1]))
        assert not one.isclose(other)
        assert not other.isclose(one)

    @pytest.mark.parametrize("scale", [1e-13, 1.0, 1e13])
    def test_isclose_sees_how_weights_are_shared(self, scale: float) -> None:
        """The same weight in all, (1, 1) or (1.9, .1): an effective count of 2 or of 1.1."""
        one, other = (
            tn.tabulate([0, 0], [[0.6, 0.4]] * 2, sample_weight=np.array(weight) * scale)
            for weight in ([1, 1], [1.9, 0.1])
        )
        assert not one.isclose(other)
        assert one.isclose(tn.tabulate([0, 0], [[0.6, 0.4]] * 2, sample_weight=[scale, scale * (1 + 1e-15)]))

    def test_isclose_looks_at_every_sum(self) -> None:
        """Another label in one row of equal ranks moves the log-score alone."""
        rows = np.array([[0.5, 0.3, 0.2], [0.52, 0.28, 0.2]])
        assert not tn.tabulate([0, 1], rows).isclose(tn.tabulate([1, 0], rows))

    @pytest.mark.parametrize("compare", ["same_counts", "isclose"])
    @pytest.mark.parametrize("thing", [3, None, "table", np.zeros(3)], ids=repr)
    def test_what_is_no_table_is_not_compared(self, compare: str, thing: Any) -> None:
        with pytest.raises(TypeError, match=rf"{compare}.*CalibrationTable.*{type(thing).__name__}"):
            getattr(tn.tabulate(Y_TRUE, Y_PROB), compare)(thing)

    @pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
    def test_edges_may_differ_by_the_rounding_of_v(self, weight: Any) -> None:
        """Two engines take the edges of equal-mass bins from V, which they compute to 1e-12."""
        fitted = tn.EqualMass(4).fit(Y_PROB)

        def moved(by: float, snap: float | None = fitted.snap) -> tn.CalibrationTable:
            inner = [edge + by for edge in fitted.edges[1:-1]]
            edges = tn.Edges([fitted.edges[0], *inner, fitted.edges[-1]], snap)
            return tn.tabulate(Y_TRUE, Y_PROB, bins=edges, sample_weight=weight)

        assert moved(0) != moved(4e-13)
        assert moved(0).same_counts(moved(4e-13))
        assert moved(0).isclose(moved(4e-13))
        for other in (moved(1e-11), moved(0, 2e-12), moved(0, None)):
            assert moved(0).row_count.tolist() == other.row_count.tolist()
            assert not moved(0).same_counts(other)
            assert not moved(0).isclose(other)

    def test_same_counts_leaves_the_logarithms_out(self) -> None:
        """Swapping labels between two rows of one bin and one rank pattern moves the log-score alone."""
        rows = np.array([[0.5, 0.3, 0.2], [0.52, 0.28, 0.2]])
        one, other = tn.tabulate([0, 1], rows), tn.tabulate([1, 0], rows)
        assert one.same_counts(other)
        assert one != other


class TestReading:
    def test_repr_shows_what_matters(self, table: tn.CalibrationTable) -> None:
        text = repr(table)
        for word in ("CalibrationTable", "200", "3 classes", "10 bins", "entropy"):
            assert word in text, word
        assert len(text.splitlines()) <= 15
        assert max(map(len, text.splitlines())) <= 120
        assert str(table) == text

    @pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
    @pytest.mark.parametrize("doublings", [0, 7, 20, 35])
    def test_repr_gives_whole_counts_to_the_last_digit(self, weighted: bool, doublings: int) -> None:
        """1169680 rows are not 1.16968e+06, and 35 doublings push the column, not the digits."""
        weight = np.ones(9138) if weighted else None
        table = tn.tabulate(np.zeros(9138, int), [[0.9, 0.1]] * 9138, sample_weight=weight)
        for _ in range(doublings):
            table = table + table
        titles, *lines = repr(table).splitlines()[1:11]
        assert {line.split()[2] for line in lines} == {"0", str(9138 * 2**doublings)}
        assert {len(line) for line in lines} == {len(titles)}

    def test_repr_of_weights_that_are_not_whole(self) -> None:
        table = tn.tabulate([0, 0], [[0.9, 0.1]] * 2, sample_weight=[1169680.25, 1.5])
        assert "1169681.8" in repr(table)
        assert "0.123457" in repr(tn.tabulate([0], [[0.9, 0.1]], sample_weight=[0.123456789]))

    def test_repr_has_no_negative_zero(self) -> None:
        """A gap of -1e-6 rounds to +0.0000, and so does a V of -0.0."""
        minus = tn.Variation("minus", lambda x: -np.abs(1 - x[..., 0]), range=(-1.0, -0.0))
        for variation in ("entropy", "confidence", minus):
            rows = np.array([[0.5 + 1e-6, 0.5 - 1e-6]] * 2 + [[1.0, 0.0]] * 2)
            text = repr(tn.tabulate([0, 1, 0, 0], rows, variation=variation))
            assert not re.search(r"-0\.?0*(?![\d.])", text)

    def test_repr_warns_of_small_bins(self) -> None:
        """A bin of one row has no observed variation whatever the labels: not to be overlooked."""
        small = r"2 of 3 filled bins .*fewer than 10 rows"
        rows = [[1.0, 0.0]] * 10 + [[0.9, 0.1]] * 9 + [[0.5, 0.5]]
        assert re.search(small, repr(tn.tabulate([0] * 20, rows)))
        assert "fewer than" not in repr(tn.tabulate([0] * 10, rows[:10]))
        assert "fewer than" not in repr(tn.CalibrationTable.empty(tn.tabulate([0] * 10, rows[:10]).spec))

    def test_repr_warns_of_bins_with_fewer_rows_than_classes(self) -> None:
        """n rows show at most n ranks: of 20 classes, 19 rows cannot look uniform."""
        for n, small in ((19, True), (20, False)):
            text = repr(tn.tabulate(np.zeros(n, int), np.full((n, 20), 0.05), ties="split"))
            assert bool(re.search("1 of 1 filled bins .*fewer than 20 rows", text)) == small

    def test_repr_warns_of_bins_ruled_by_a_few_heavy_rows(self) -> None:
        """Twenty rows of which one has all the weight tell as much as one; ten equal ones are ten, to rounding."""
        rows, labels = [[0.9, 0.1]] * 20, [0] * 20
        heavy = tn.tabulate(labels, rows, sample_weight=[1e6] + [1e-3] * 19)
        assert re.search("1 of 1 filled bins .*fewer than 10 effective rows", repr(heavy))
        for weight in (0.1, 1 / 3, 7e-9):
            even = tn.tabulate(labels[:10], rows[:10], sample_weight=[weight] * 10)
            assert "fewer than" not in repr(even)

    def test_repr_of_a_fine_grid_stays_short(self) -> None:
        assert len(repr(tn.tabulate(Y_TRUE, Y_PROB, bins=tn.FineGrid(4000))).splitlines()) < 10

    def test_repr_of_nothing(self, table: tn.CalibrationTable) -> None:
        assert "0 " in repr(tn.CalibrationTable.empty(table.spec))

    def test_repr_of_the_small_objects(self) -> None:
        assert repr(tn.EqualWidth(10)) == "EqualWidth(n_bins=10)"
        assert "entropy" in repr(tn.variations["entropy"])
        parts = tn.signed_parts(tn.tabulate(Y_TRUE, Y_PROB))
        assert all(word in repr(parts) for word in ("over=", "under=", "net="))

    def test_the_spec_says_what_was_summed(self) -> None:
        spec = tn.tabulate(Y_TRUE, Y_PROB, variation="iqv", ties="split").spec
        assert (spec.n_classes, spec.variation, spec.ties, spec.weighted) == (
            3,
            tn.variations["iqv"],
            "split",
            False,
        )
        assert spec.bins.edges == tuple(oracle.equal_width(10, 0.0, 1.0))

    def test_the_user_is_told_of_impossible_events_and_of_ties(self) -> None:
        """A true class of probability zero, and one that shared its probability: not to be overlooked."""
        text = repr(tn.tabulate([0, 1], [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
        assert re.search(r"\b1\b.*(impossible|probability (zero|0))", text)
        assert re.search(r"\b1\b.*(tie|shared)", text)
        assert not re.search(r"impossible|probability zero", repr(tn.tabulate(Y_TRUE, Y_PROB)))

    def test_the_promised_signatures(self) -> None:
        """Truth first, as in scikit-learn; options keyword-only, with these defaults."""
        rows = {
            "ties": "first",
            "sample_weight": None,
            "from_logits": False,
            "normalize": False,
            "classes": None,
        }
        norms = {"norm": "l1", "min_count": None}
        promised = {
            tn.vce: {"variation": "entropy", "bins": 10} | rows | norms,
            tn.ece: {"bins": 10} | rows | norms,
            tn.uce: {"bins": 10} | rows | norms,
            tn.rce: {"distance": "tv", "variation": "entropy", "bins": 10} | rows | norms,
            tn.tabulate: {"variation": "entropy", "bins": 10, "engine": "auto", "n_threads": None} | rows,
        }
        for function, options in promised.items():
            parameters = inspect.signature(function).parameters
            assert list(parameters)[:2] == ["y_true", "y_prob"]
            keywords = {name: p.default for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
            assert keywords == options, function.__name__
        for reader in (tn.variation_calibration_error, tn.expected_calibration_error, tn.top_label_error):
            assert list(inspect.signature(reader).parameters) == ["table", "norm", "min_count"]

    def test_the_public_names(self) -> None:
        promised = [
            "vce",
            "ece",
            "uce",
            "rce",
            "assess",
            "assess_table",
            "Assessment",
            "compare",
            "Comparer",
            "Comparison",
            "sweep_bins",
            "BinSweep",
            "tabulate",
            "Accumulator",
            "CalibrationTable",
            "TableSpec",
            "EqualWidth",
            "EqualMass",
            "Edges",
            "FineGrid",
            "Variation",
            "variations",
            "renyi",
            "tsallis",
            "variation_calibration_error",
            "expected_calibration_error",
            "uncertainty_calibration_error",
            "ranked_calibration_error",
            "top_label_error",
            "variation_gap",
            "top_label_gap",
            "uncertainty_gap",
            "ranked_gap",
            "signed_parts",
            "SignedParts",
            "simulate",
            "__version__",
        ]
        assert set(promised) <= set(tn.__all__)
        assert all(hasattr(tn, name) for name in promised)
        assert set(dir(tn)) == set(tn.__all__)


class TestCoarsening:
    def test_by_number_object_and_edges(self) -> None:
        fine = tn.tabulate(Y_TRUE, Y_PROB, bins=100)
        assert fine.coarsen(10) == fine.coarsen(tn.EqualWidth(10)) == tn.tabulate(Y_TRUE, Y_PROB, bins=10)
        uneven = tn.Edges([0, 0.25, 0.9, 1])
        assert fine.coarsen(uneven) == tn.tabulate(Y_TRUE, Y_PROB, bins=uneven)
        assert fine.coarsen(100) == fine

    @pytest.mark.parametrize("starts", [[], [1], [1, 3], [0, 0], [0, 3, 3], [0, 5, 2]], ids=str)
    def test_runs_of_bins_that_lose_or_repeat_some_are_refused(self, starts: list[int]) -> None:
        with pytest.raises(ValueError, match="begin at 0"):
            tn.tabulate(Y_TRUE, Y_PROB).sums.merge_runs(np.array(starts, dtype=np.int64))

    def test_a_bin_for_the_lowest_value_alone_stays(self) -> None:
        rows = np.array([[1.0, 0.0]] * 8 + [[0.9, 0.1], [0.5, 0.5]])
        table = tn.tabulate(np.zeros(10, int), rows, bins=tn.EqualMass(10))
        assert table.edges[0] == table.edges[1]
        assert table.coarsen(table.bins) == table
        merged = table.coarsen(tn.Edges([0, table.edges[2], 1]))
        assert merged.count.tolist() == [9, 1]

    def test_twice_is_once(self) -> None:
        fine = tn.tabulate(Y_TRUE, Y_PROB, bins=tn.FineGrid(1000))
        assert fine.coarsen(100).coarsen(10) == fine.coarsen(10)

    def test_by_confidence_whose_range_depends_on_the_classes(self) -> None:
        fine = tn.tabulate(Y_TRUE, Y_PROB, variation="confidence", bins=tn.FineGrid(4000))
        for m in (7, 10, 16):
            if 4000 % m == 0:
                assert fine.coarsen(m).same_counts(fine.coarsen(tn.Edges(fine.edges[:: 4000 // m])))
        direct = tn.tabulate(Y_TRUE, Y_PROB, variation="confidence", bins=10)
        np.testing.assert_array_equal(fine.coarsen(10).count, direct.count)

    def test_equal_mass_sizes_are_within_a_cell(self) -> None:
        """4000 cells on 20,000 rows: statistics promises sizes within 1 % of N/M for few classes."""
        rng = np.random.default_rng(0)
        y_prob = rng.dirichlet([1.0, 1.0, 1.0], 20_000)
        fine = tn.tabulate(rng.integers(0, 3, 20_000), y_prob, bins=tn.FineGrid(4000))
        coarse = fine.coarsen(tn.EqualMass(10))
        assert coarse.n_bins == 10
        assert np.abs(coarse.count / 2000 - 1).max() < 0.01

    def test_a_weighted_table(self) -> None:
        fine = tn.tabulate(Y_TRUE, Y_PROB, bins=100, sample_weight=WEIGHT)
        assert fine.coarsen(10).isclose(tn.tabulate(Y_TRUE, Y_PROB, bins=10, sample_weight=WEIGHT))


class TestBinningObjects:
    def test_the_first_two_edges_may_be_equal(self) -> None:
        """A bin for the lowest value alone: one-hot rows apart from the rest."""
        rows = np.array([[1.0, 0, 0], [0, 1.0, 0], [0.5, 0.5, 0], [0.4, 0.3, 0.3]])
        table = tn.tabulate([0, 0, 0, 0], rows, bins=tn.Edges([0, 0, 1]))
        assert table.count.tolist() == [2, 2]

    def test_equal_mass_of_many_one_hot_rows(self) -> None:
        """8 of 10 rows with V = 0: the first bin takes them all; 10 bins asked, 3 made (V = 0, and two values)."""
        rows = np.array([[1.0, 0.0]] * 8 + [[0.9, 0.1], [0.5, 0.5]])
        table = tn.tabulate(np.zeros(10, int), rows, bins=tn.EqualMass(10))
        assert table.count.tolist() == [8, 1, 1]
        assert table.edges[0] == table.edges[1] == 0
        assert table.edges[-1] == 1

    def test_equal_mass_of_equal_rows_is_one_bin(self) -> None:
        for row in ([1.0, 0.0], [0.5, 0.5], [0.9, 0.1]):
            table = tn.tabulate([0] * 7, [row] * 7, bins=tn.EqualMass(3))
            assert table.count.tolist() == [7]
            assert table.edges.tolist() == [0, 1]

    def test_equal_mass_of_values_that_differ_in_the_last_bit(self) -> None:
        """(.8, .1, .1) and its permutations have one V; as sums in another order they might not."""
        rows = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]] * 10)
        rows[:15, :] += np.array([0, 1e-16, -1e-16])
        table = tn.tabulate(np.zeros(30, int), rows, bins=tn.EqualMass(5))
        assert table.count.tolist() == [30]

    def test_fitted_edges_take_rows_beyond_those_they_were_fitted_on(self) -> None:
        fitted = tn.EqualMass(4).fit([[0.6, 0.4], [0.7, 0.3], [0.75, 0.25], [0.8, 0.2]])
        table = tn.tabulate([0, 0], [[1.0, 0.0], [0.5, 0.5]], bins=fitted)
        assert table.count[0] == 1
        assert table.count[-1] == 1

    def test_fit_with_logits_and_weights(self) -> None:
        logits = np.log(Y_PROB)
        exact = tn.EqualMass(5).fit(Y_PROB)
        assert tn.EqualMass(5).fit(logits, from_logits=True).edges == pytest.approx(exact.edges, abs=1e-12)
        assert tn.EqualMass(5).fit(Y_PROB * 3, normalize=True).edges == pytest.approx(exact.edges, abs=1e-12)
        half = tn.EqualMass(5).fit(Y_PROB, sample_weight=np.arange(200) < 100)
        assert half.edges == tn.EqualMass(5).fit(Y_PROB[:100]).edges

    def test_numbers_of_numpy_are_numbers(self) -> None:
        ten, three = np.int64(10), np.int32(3)
        assert tn.tabulate(Y_TRUE, Y_PROB, bins=ten) == tn.tabulate(Y_TRUE, Y_PROB, bins=tn.EqualWidth(ten))
        assert tn.Accumulator(n_classes=three, bins=ten).table.spec == tn.tabulate(Y_TRUE, Y_PROB).spec
        assert tn.renyi(np.float64(2)) == tn.renyi(np.int64(2)) == tn.renyi(2)

    def test_equal_objects_are_equal(self) -> None:
        assert tn.EqualWidth(10) == tn.EqualWidth(10) != tn.EqualWidth(11)
        assert tn.Edges([0, 0.5, 1]) == tn.Edges((0.0, 0.5, 1.0)) == tn.Edges(np.array([0, 0.5, 1]))
        assert tn.Edges([0, 1]) != tn.Edges([0, 1], snap=1e-12)


class TestOwnMeasures:
    GINI = tn.Variation("gini", lambda x: 1 - (x**2).sum(axis=-1), range=lambda c: (0, 1 - 1 / c))

    @pytest.mark.parametrize("bins", [10, tn.EqualMass(4)])
    def test_a_measure_of_one_s_own(self, bins: Any) -> None:
        """Gini is (C-1)/C times the IQV, range included: the same bins, and the same factor in VCE."""
        mine = tn.tabulate(Y_TRUE, Y_PROB, variation=self.GINI, bins=bins)
        iqv = tn.tabulate(Y_TRUE, Y_PROB, variation="iqv", bins=bins)
        assert mine.count.tolist() == iqv.count.tolist()
        assert tn.vce(Y_TRUE, Y_PROB, variation=self.GINI, bins=bins) == pytest.approx(
            2 / 3 * tn.vce(Y_TRUE, Y_PROB, variation="iqv", bins=bins), abs=1e-13
        )

    def test_a_range_below_zero(self) -> None:
        """V = ln p_1 - ln p_2 bounded by hand: sums of negative numbers are exact too, split = whole."""
        negative = tn.Variation(
            "negative", lambda x: -1.5 - x[..., 0], range=(-2.5, -1.5), grows_with_dispersion=True
        )
        whole = tn.tabulate(Y_TRUE, Y_PROB, variation=negative)
        halves = [tn.tabulate(Y_TRUE[s], Y_PROB[s], variation=negative) for s in (slice(77), slice(77, 200))]
        assert sum(halves) == whole
        np.testing.assert_allclose(whole.variation_sum.sum(), (-1.5 - Y_PROB.max(axis=1)).sum(), rtol=1e-12)

    def test_a_large_range(self) -> None:
        bits = tn.Variation("perplexity", lambda x: 1 / (x**2).sum(axis=-1), range=lambda c: (1, c))
        table = tn.tabulate(Y_TRUE, Y_PROB, variation=bits)
        np.testing.assert_allclose(table.variation_sum.sum(), (1 / (Y_PROB**2).sum(axis=1)).sum(), rtol=1e-12)

    def test_measures_of_unlike_names_do_not_add(self) -> None:
        with pytest.raises(ValueError, match=r"variation.*gini.*iqv|variation.*iqv.*gini"):
            tn.tabulate(Y_TRUE, Y_PROB, variation=self.GINI) + tn.tabulate(Y_TRUE, Y_PROB, variation="iqv")

    def test_names_of_families_are_understood(self) -> None:
        assert tn.tabulate(Y_TRUE, Y_PROB, variation="renyi(2)") == tn.tabulate(
            Y_TRUE, Y_PROB, variation=tn.renyi(2)
        )
        one = tn.tabulate(Y_TRUE, Y_PROB, variation=tn.tsallis(2))
        np.testing.assert_array_equal(one.count, tn.tabulate(Y_TRUE, Y_PROB, variation="iqv").count)


@pytest.mark.parametrize("moved", [False, True])
def test_ctrl_c_while_a_table_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moved: bool) -> None:
    """It is told as what it is, whether the file was in its place already or not, and nothing else is left behind."""
    move = os.replace

    def interrupted(source: str, target: str) -> None:
        if moved:
            move(source, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tn.tabulate([0, 1], [[0.9, 0.1]] * 2).save(tmp_path / "t.json")
    assert [path.name for path in tmp_path.iterdir()] == (["t.json"] if moved else [])


class TestScores:
    """Accuracy, Brier score and log-loss; their values are judged in test_against_oracle and test_outside_oracles."""

    def test_without_rows_there_are_none(self) -> None:
        for weighted in (False, True):
            spec = replace(tn.tabulate([0], [[0.5, 0.5]]).spec, weighted=weighted)
            empty = tn.CalibrationTable.empty(spec)
            assert np.isnan([empty.accuracy, empty.brier_score, empty.log_loss]).all()

    def test_an_impossible_row_makes_the_log_loss_infinite(self) -> None:
        table = tn.tabulate([0, 1], [[1.0, 0.0], [1.0, 0.0]])
        assert (table.accuracy, table.brier_score, table.log_loss) == (0.5, 1.0, np.inf)

    @pytest.mark.parametrize("engine", ["portable", pytest.param("fused", marks=pytest.mark.fast)])
    def test_the_ends_of_their_ranges(self, engine: str) -> None:
        sure = np.eye(3)
        best, worst = (tn.tabulate(labels, sure, engine=engine) for labels in ([0, 1, 2], [1, 2, 0]))
        assert (best.accuracy, best.brier_score, best.log_loss) == (1.0, 0.0, 0.0)
        assert (worst.accuracy, worst.brier_score, worst.log_loss) == (0.0, 2.0, np.inf)

    @pytest.mark.parametrize("engine", ["portable", pytest.param("fused", marks=pytest.mark.fast)])
    @pytest.mark.parametrize("off", [1e-6, 1e-7, 2.0**-40, 2.0**-53])
    def test_a_nearly_perfect_model_keeps_its_digits(self, off: float, engine: str) -> None:
        """2·off² per row, which the difference of float sums would lose; a unit of rounding for each value."""
        table = tn.tabulate(np.zeros(5000, int), np.tile([1 - off, off], (5000, 1)), engine=engine)
        assert table.brier_score == pytest.approx(2 * off * off, abs=3 * 2.0**-52)
        assert table.brier_score >= 0

    def test_ties_that_are_split_give_the_expected_accuracy(self) -> None:
        labels, rows = [0, 1, 2], np.full((3, 3), 1 / 3)
        assert tn.tabulate(labels, rows).accuracy == 1 / 3
        assert tn.tabulate([0, 0], [[0.5, 0.5], [0.5, 0.5]], ties="split").accuracy == 0.5
        assert tn.tabulate([0, 0], [[0.5, 0.5], [0.5, 0.5]]).accuracy == 1.0
