"""Bad options (names, bins, measures, numbers of classes) are refused with the argument and the value."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from refused_calls import GOOD, LABELS

import trueness as tn


class TestNames:
    @pytest.mark.parametrize(
        ("call", "wrong", "accepted"),
        [
            (
                lambda: tn.vce(LABELS, GOOD, variation="entropie"),
                "entropie",
                ["entropy", "iqv", "margin", "renyi"],
            ),
            (lambda: tn.vce(LABELS, GOOD, ties="random"), "random", ["first", "split"]),
            (lambda: tn.tabulate(LABELS, GOOD, engine="gpu"), "gpu", ["auto", "portable", "compiled"]),
            (lambda: tn.rce(LABELS, GOOD, distance="l2"), "l2", ["tv", "w1"]),
            (lambda: tn.vce(LABELS, GOOD, norm="L3"), "L3", ["l1", "l2", "max"]),
            (lambda: tn.ece(LABELS, GOOD, norm="rms"), "rms", ["l1", "l2", "max"]),
            (
                lambda: tn.ranked_calibration_error(tn.tabulate(LABELS, GOOD), "kl"),
                "kl",
                ["tv", "w1"],
            ),
            (lambda: tn.ranked_gap(tn.tabulate(LABELS, GOOD), "kl"), "kl", ["tv", "w1"]),
            (
                lambda: tn.variation_calibration_error(tn.tabulate(LABELS, GOOD), norm="l0"),
                "l0",
                ["l1", "l2", "max"],
            ),
            (lambda: tn.Accumulator(n_classes=3, ties="last"), "last", ["first", "split"]),
            (lambda: tn.Accumulator(n_classes=3, variation="gini"), "gini", ["entropy", "iqv"]),
        ],
    )
    def test_an_unknown_name_lists_the_known_ones(
        self, call: Callable[[], Any], wrong: str, accepted: list[str]
    ) -> None:
        with pytest.raises(ValueError, match=re.escape(repr(wrong))) as caught:
            call()
        assert all(name in str(caught.value) for name in accepted)

    @pytest.mark.parametrize("variation", [None, 3, np.mean, ["entropy"]])
    def test_a_variation_that_is_not_a_variation(self, variation: Any) -> None:
        with pytest.raises(TypeError, match="variation"):
            tn.vce(LABELS, GOOD, variation=variation)

    @pytest.mark.parametrize("alpha", [0, -1, np.nan, np.inf, "two", None])
    @pytest.mark.parametrize("family", [tn.renyi, tn.tsallis])
    def test_orders_that_have_no_formula(self, family: Any, alpha: Any) -> None:
        with pytest.raises((TypeError, ValueError), match="alpha"):
            family(alpha)

    @pytest.mark.parametrize("threads", [0, -1, 1.5, "two"])
    def test_a_bad_number_of_threads(self, threads: Any) -> None:
        with pytest.raises((TypeError, ValueError), match="n_threads"):
            tn.tabulate(LABELS, GOOD, n_threads=threads)

    def test_options_are_keyword_only(self) -> None:
        for function in (tn.tabulate, tn.vce, tn.ece, tn.uce, tn.rce):
            with pytest.raises(TypeError, match="positional"):
                function(LABELS, GOOD, "entropy")


class TestBins:
    @pytest.mark.parametrize("bins", [0, -3, 2.5, True, "10", None, [0, 0.5, 1]])
    def test_things_that_are_not_bins(self, bins: Any) -> None:
        with pytest.raises((TypeError, ValueError), match="bins"):
            tn.vce(LABELS, GOOD, bins=bins)

    @pytest.mark.parametrize("make", [tn.EqualWidth, tn.EqualMass])
    @pytest.mark.parametrize("n", [0, -1, 1.5, True, "3"])
    def test_numbers_of_bins(self, make: Any, n: Any) -> None:
        with pytest.raises((TypeError, ValueError), match=r"bins|cells"):
            make(n)

    @pytest.mark.parametrize(
        "edges", [[], [0], [0, 0], [1, 0], [0, 0.5, 0.5, 1], [0, np.nan, 1], [0, np.inf], [0, 0.7, 0.3, 1]]
    )
    def test_edges_that_do_not_increase(self, edges: list[float]) -> None:
        with pytest.raises(ValueError, match="edges"):
            tn.Edges(edges)

    @pytest.mark.parametrize("snap", [-1e-9, np.nan, np.inf])
    def test_a_bad_snap(self, snap: float) -> None:
        with pytest.raises(ValueError, match="snap"):
            tn.Edges([0, 1], snap)

    @pytest.mark.parametrize("edges", [[0.2, 1], [0, 0.8], [0.5, 0.6]])
    def test_edges_that_do_not_cover_the_range(self, edges: list[float]) -> None:
        """Rows outside would have no bin, and the counts would not add up to N."""
        with pytest.raises(ValueError, match=r"edges.*range|range.*edges|edges run"):
            tn.vce(LABELS, GOOD, bins=tn.Edges(edges))

    def test_an_unfitted_equal_mass_cannot_accumulate(self) -> None:
        with pytest.raises(ValueError, match=r"EqualMass.*fit"):
            tn.Accumulator(n_classes=3, bins=tn.EqualMass(10))

    @pytest.mark.parametrize(
        ("dtype", "fine", "too_fine"), [("float16", 127, 128), ("float32", 1_000_000, 1_048_576)]
    )
    def test_bins_finer_than_the_dtype(self, dtype: str, fine: int, too_fine: int) -> None:
        """A snap of 4 eps against half a bin 1/(2M): refused from M = 1/(8 eps) on."""
        assert 1 / (8 * float(np.finfo(dtype).eps)) == too_fine
        y_prob = np.array([[0.5, 0.5], [0.75, 0.25]], dtype)
        assert tn.tabulate([0, 0], y_prob, bins=fine).n_rows == 2
        with pytest.raises(ValueError, match=r"bins.*(dtype|y_prob)"):
            tn.tabulate([0, 0], y_prob, bins=too_fine)

    def test_coarsening_to_missing_edges(self) -> None:
        table = tn.tabulate(LABELS, GOOD, bins=10)
        with pytest.raises(ValueError, match="edge"):
            table.coarsen(3)
        with pytest.raises(ValueError, match="edge"):
            table.coarsen(tn.Edges([0, 0.25, 1]))


class TestAccumulator:
    def test_another_number_of_classes(self) -> None:
        accumulator = tn.Accumulator(n_classes=4)
        with pytest.raises(ValueError, match=r"y_prob.*3.*4|4.*3"):
            accumulator.update(LABELS, GOOD)
        assert accumulator.n_rows == 0

    @pytest.mark.parametrize("n", [1, 0, -2, 2.5, True, None])
    def test_numbers_of_classes(self, n: Any) -> None:
        with pytest.raises((TypeError, ValueError), match="n_classes"):
            tn.Accumulator(n_classes=n)

    def test_merging_unlike_accumulators(self) -> None:
        one, other = tn.Accumulator(n_classes=3), tn.Accumulator(n_classes=3, bins=5)
        with pytest.raises(ValueError, match="bins"):
            one.merge(other)


class TestReaders:
    def test_ece_needs_a_table_by_confidence(self) -> None:
        for reader in (tn.expected_calibration_error,):
            with pytest.raises(ValueError, match=r"confidence.*entropy|entropy.*confidence"):
                reader(tn.tabulate(LABELS, GOOD))

    def test_uce_needs_a_table_by_entropy(self) -> None:
        with pytest.raises(ValueError, match=r"entropy.*iqv|iqv.*entropy"):
            tn.uncertainty_calibration_error(tn.tabulate(LABELS, GOOD, variation="iqv"))

    def test_a_table_of_no_rows_has_no_numbers(self) -> None:
        empty = tn.CalibrationTable.empty(tn.tabulate(LABELS, GOOD).spec)
        for reader in (
            tn.variation_calibration_error,
            tn.top_label_error,
            tn.ranked_calibration_error,
            tn.signed_parts,
        ):
            with pytest.raises(ValueError, match="rows"):
                reader(empty)


class TestOwnMeasures:
    def test_a_measure_that_returns_nan_is_refused(self) -> None:
        broken = tn.Variation("broken", lambda x: x[..., 0] * np.nan)
        with pytest.raises(ValueError, match=r"broken.*row 0|broken.*nan"):
            tn.vce(LABELS, GOOD, variation=broken)

    def test_a_measure_that_writes_into_its_input_does_not_change_the_table(self) -> None:
        """Refused, because what it is given cannot be written to; or harmless."""

        def careless(x: np.ndarray) -> np.ndarray:
            x -= x
            return x.sum(axis=-1)

        with pytest.raises(ValueError, match="read-only"):
            tn.tabulate(LABELS, GOOD, variation=tn.Variation("careless", careless))

    def test_a_measure_of_another_shape_is_refused(self) -> None:
        with pytest.raises(ValueError, match="sideways"):
            tn.vce(LABELS, GOOD, variation=tn.Variation("sideways", lambda x: x))

    @pytest.mark.parametrize("range_", [(1, 0), (0, 0), (0, np.inf), (np.nan, 1)])
    def test_a_bad_range(self, range_: tuple[float, float]) -> None:
        with pytest.raises(ValueError, match="range"):
            tn.vce(LABELS, GOOD, variation=tn.Variation("mine", lambda x: x[..., 0], range=range_))


class TestExtremes:
    @pytest.mark.parametrize("weight", [1e200, 1e-200])
    def test_weights_whose_squares_overflow_or_vanish(self, weight: float) -> None:
        with pytest.raises(ValueError, match=r"`sample_weight` is .* in row 2\b.*1e-140 to 1e140"):
            tn.vce(LABELS, GOOD, sample_weight=[1, 1, weight, *[1] * (len(LABELS) - 3)])

    def test_rows_whose_sum_is_infinite(self) -> None:
        with pytest.raises(ValueError, match=r"`y_prob` sums to inf in row 1\b.*normalised"):
            tn.vce([0, 1], [[0.5, 0.5], [1e308, 1e308]], normalize=True)

    @pytest.mark.parametrize("name", ["entropy", "renyi(2)"])
    def test_a_measure_with_the_name_of_another(self, name: str) -> None:
        with pytest.raises(ValueError, match="name of a built-in measure"):
            tn.Variation(name, lambda x: x[..., 0])

    def test_snap_goes_by_the_measure_s_range_not_by_wider_edges(self) -> None:
        """Confidence with C = 2 spans 1/2, so 1.5e-7 above an edge is off it, though edges that span 1 snap 2.4e-7."""
        y_prob = [[0.75 + 1.5e-7, 0.25 - 1.5e-7]]
        table = tn.tabulate([0], y_prob, variation="confidence", bins=tn.Edges([0, 0.75, 1]))
        assert table.count.tolist() == [0, 1]
        table = tn.tabulate([0], y_prob, variation="wilcox_variation_ratio", bins=tn.Edges([0, 0.5, 1]))
        assert table.count.tolist() == [1, 0]


class TestOddArguments:
    @pytest.mark.parametrize("edges", [5, "01", [[0, 1]], ["a", "b"]])
    def test_edges_that_are_not_numbers(self, edges: object) -> None:
        with pytest.raises(TypeError, match="edges must be a"):
            tn.Edges(edges)

    def test_classes_that_cannot_be_names(self) -> None:
        with pytest.raises(TypeError, match="classes must be names"):
            tn.vce(LABELS, GOOD, classes=[[0], [1], [2]])

    def test_labels_that_are_missing(self) -> None:
        with pytest.raises(ValueError, match=r"`y_true` has a missing value in row 1\b"):
            tn.vce([0, None], [[0.5, 0.5], [0.4, 0.6]])
        with pytest.raises(ValueError, match=r"`y_prob` has a missing value in row 1\b"):
            tn.vce([0, 1], [[0.5, 0.5], [None, 0.6]])

    def test_too_many_bins(self) -> None:
        with pytest.raises(ValueError, match="at most 10000000"):
            tn.EqualWidth(10**12)

    def test_normalising_one_dimension(self) -> None:
        with pytest.raises(ValueError, match=r"probability of class 1 already.*normalize"):
            tn.vce([0, 1], [0.4, 0.6], normalize=True)

    def test_a_point_bin_that_the_finer_bins_do_not_have(self) -> None:
        table = tn.tabulate(LABELS, GOOD, bins=10)
        with pytest.raises(ValueError, match=r"start with \[0, 0\], which is not a bin of the finer"):
            table.coarsen(tn.Edges([0, 0, 1]))
        with pytest.raises(ValueError, match="not a bin of the finer"):
            tn.tabulate(LABELS, GOOD, bins=1).coarsen(tn.Edges([0, 0, 1]))
