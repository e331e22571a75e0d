"""The score by predicted class: the vector T, pooling, what is left out, and rare misses."""

import math

import numpy as np
import pytest
from class_rows import CLASS_GRID, brier_scores, dirichlet, draw, events, log_scores
from event_rows import T_LABELS, T_PROBS

from trueness.old_inference.corrections import benjamini_hochberg
from trueness.old_inference.scores.misses import Misses, standardised_scores
from trueness.old_inference.scores.predicted_class import PredictedClassTest, by_predicted_class

P, Y = np.array(T_PROBS), np.array(T_LABELS)


def beyond(z: float) -> float:
    """P(Z ≥ z) for a standard normal Z."""
    return math.erfc(z / math.sqrt(2)) / 2


def misses_beyond(number: int, n: int, chance: float) -> float:
    """P(X > number) + P(X = number)/2 for X ~ Binomial(n, chance), term by term."""
    terms = [math.comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(number, number + 60)]
    return math.fsum(terms) - terms[0] / 2


def result_of(
    y: np.ndarray, p: np.ndarray, *, corrected: bool = True, least_rows: int = 50
) -> PredictedClassTest:
    predicted, n_classes = p.argmax(axis=1), p.shape[1]
    misses = Misses.of(events(y, p, CLASS_GRID), n_classes) if corrected else None
    rows = np.bincount(predicted, minlength=n_classes)
    return by_predicted_class(
        rows, *log_scores(y, p).by(predicted, n_classes), misses=misses, least_rows=least_rows
    )


class TestVector:
    """T, whose values come from exact arithmetic."""

    SCORE = np.array([0.700248257423, 0.241440471756, 0.733983001345])
    VARIANCE = np.array([1.078811757637, 0.970988536922, 0.991104055459])

    def test_q_without_pooling(self) -> None:
        test = result_of(Y, P, corrected=False, least_rows=1)
        assert test.value == pytest.approx(1.058127451324, abs=2e-12)
        assert test.p_value == pytest.approx(0.787190663488, abs=1e-12)
        assert test.safe_p_value == test.p_value
        assert (test.degrees, test.reason) == (3, None)
        assert [term.classes for term in test.terms] == [(0,), (1,), (2,)]
        assert [term.value for term in test.terms] == pytest.approx(
            self.SCORE / np.sqrt(self.VARIANCE), abs=1e-11
        )

    def test_brier_columns(self) -> None:
        """The Brier sums take the place of the log-score sums: Z of the whole is .835648014055."""
        test = by_predicted_class(np.array([3, 3, 2]), *brier_scores(Y, P).by(P.argmax(axis=1), 3))
        assert test.terms[0].value == pytest.approx(0.835648014055, abs=1e-12)
        assert test.p_value == pytest.approx(2 * beyond(0.835648014055), abs=1e-12)


class TestTerms:
    """Which classes make a term, and which are left out."""

    def test_small_classes_are_pooled_and_empty_ones_have_no_term(self) -> None:
        rows = np.array([60, 10, 0, 50, 49])
        score, variance = np.array([1.0, 2.0, 0.0, 3.0, 4.0]), np.array([4.0, 1.0, 0.0, 9.0, 3.0])
        test = by_predicted_class(rows, score, variance)
        assert [term.classes for term in test.terms] == [(0,), (3,), (1, 4)]
        assert [term.value for term in test.terms] == pytest.approx([0.5, 1.0, 3.0])
        assert [term.rows for term in test.terms] == [60, 50, 59]
        q = 0.25 + 1 + 9  # the tail of χ² with three degrees of freedom has a closed form
        tail = 2 * beyond(math.sqrt(q)) + math.sqrt(2 * q / math.pi) * math.exp(-q / 2)
        assert test.p_value == pytest.approx(tail, rel=1e-12)

    def test_single_terms_are_corrected_for_their_number(self) -> None:
        test = by_predicted_class(np.full(4, 100), np.array([1.0, -3.0, 2.0, 0.2]), np.ones(4))
        p = [2 * beyond(abs(z)) for z in (1.0, -3.0, 2.0, 0.2)]
        assert [term.p_value for term in test.terms] == pytest.approx(p, rel=1e-12)
        assert [term.adjusted_p_value for term in test.terms] == pytest.approx(
            benjamini_hochberg(p), rel=1e-12
        )

    def test_terms_without_variance_are_left_out_with_the_reason(self) -> None:
        test = by_predicted_class(np.array([100, 100]), np.array([2.0, 0.0]), np.array([1.0, 0.0]))
        assert (test.degrees, test.value) == (1, 4.0)
        assert math.isnan(test.terms[1].value)
        assert "certain or uniform" in str(test.terms[1].reason)
        assert "1 predicted class left out" in str(test.reason)

    @pytest.mark.parametrize("rows", [np.zeros(3), np.full(3, 100.0)])
    def test_no_variance_at_all(self, rows: np.ndarray) -> None:
        test = by_predicted_class(rows, np.zeros(3), np.zeros(3))
        assert math.isnan(test.value)
        assert math.isnan(test.p_value)
        assert math.isnan(test.safe_p_value)
        assert "certain or uniform" in str(test.reason)

    def test_impossible_rows(self) -> None:
        """They make p = 0 with the reason; the terms are those of the other rows, and evidence does not change."""
        sums = np.full(2, 100), np.array([1.0, -1.0]), np.ones(2)
        test, other = by_predicted_class(*sums, impossible_rows=2), by_predicted_class(*sums)
        assert test.p_value == 0
        assert "2 rows had probability 0" in str(test.reason)
        assert (test.value, test.safe_p_value, test.terms) == (other.value, other.p_value, other.terms)
        alone = by_predicted_class(np.full(2, 100), np.zeros(2), np.zeros(2), impossible_rows=1)
        assert alone.p_value == 0
        assert "1 row had probability 0" in str(alone.reason)

    def test_relabelling_permutes_the_terms(self) -> None:
        rng = np.random.default_rng(0)
        p = dirichlet(rng, 4, 0.5, 800)
        y, order = draw(rng, p), np.array([2, 0, 3, 1])
        test, moved = result_of(y, p), result_of(np.argsort(order)[y], p[:, order])
        assert moved.value == pytest.approx(test.value, rel=1e-12)
        assert moved.safe_p_value == pytest.approx(test.safe_p_value, rel=1e-9)
        for place, k in enumerate(order):
            assert moved.terms[place].value == pytest.approx(test.terms[k].value, rel=1e-9)


class TestRareMisses:
    """The signed root of the likelihood ratio of misses."""

    def test_without_misses_it_is_the_standardised_sum(self) -> None:
        none = Misses(np.zeros(0), np.zeros(0), np.zeros(0, np.int64), 10)
        score, variance = np.array([-2.0, 0.5]), np.array([4.0, 0.01])
        w = standardised_scores(score, variance, none, np.arange(10) % 2)
        assert w == pytest.approx(score / np.sqrt(variance), rel=1e-9)

    @pytest.mark.parametrize("expected", [0.02, 0.1, 1.0, 5.0])
    def test_tails_are_those_of_the_number_of_misses(self, expected: float) -> None:
        """A thousand rows of two classes, all with the same probability: the score is a function of the misses.

        w is that of the binomial, so its tail is within a factor of two of the exact one with half of the probability
        of the number itself, where Z is off by up to a factor of a million.
        """
        n, chance = 1000.0, expected / 1000
        cost = math.log((1 - chance) / chance)
        misses = Misses(np.array([n]), np.array([chance]), np.array([0]), 2)
        for number in range(math.ceil(expected + 0.5), math.ceil(expected) + 8):
            score, variance = -(number - expected) * cost, n * chance * (1 - chance) * cost**2
            (w,) = standardised_scores(np.array([score]), np.array([variance]), misses, np.array([0]))
            exact = misses_beyond(number, int(n), chance)
            assert exact / 2 <= beyond(-w) <= 2 * exact

    def test_classes_are_the_rows_above_one_half(self) -> None:
        """Two classes are one event and its mirror image."""
        y, p = np.array([0, 1, 0, 1]), np.array([[0.9, 0.1], [0.8, 0.2], [0.5, 0.5], [0.05, 0.95]])
        of_event = Misses.of(events(y, p, None), 2)
        assert sorted(zip(of_event.owner.tolist(), of_event.chance.round(12).tolist(), strict=True)) == [
            (0, 0.1),
            (0, 0.2),
            (1, 0.05),
        ]
        three = Misses.of(events(Y, P, None), 3)
        assert np.bincount(three.owner, three.count, 3).tolist() == [3, 2, 2]  # .41 is below one half

    def test_size_with_near_certain_predictions(self) -> None:
        """Ten classes, Dirichlet(.002), 1000 rows.

        Of 2000 runs, Q calls .121 at 5 % and .0625 at .6 %, with corrected values .012 and .001.
        Tolerance: four standard errors of a share of .05 and of .006 in 300 runs.
        """
        rng, plain, safe = np.random.default_rng(4), [], []
        for _ in range(300):
            p = dirichlet(rng, 10, 0.002, 1000)
            test = result_of(draw(rng, p), p)
            plain.append(test.p_value)
            safe.append(test.safe_p_value)
        for limit in (0.05, 0.006):
            four = 4 * math.sqrt(limit * (1 - limit) / 300)
            assert np.mean(np.array(safe) <= limit) <= limit + four
        assert np.mean(np.array(plain) <= 0.006) > 0.006 + 4 * math.sqrt(0.006 / 300)

    def test_power_is_kept(self) -> None:
        """Where predictions are not certain, the correction changes nothing that matters: 100 runs, C = 3."""
        rng, called = np.random.default_rng(5), []
        for _ in range(100):
            truth = dirichlet(rng, 3, 1.0, 2000)
            sharp = truth ** np.where(truth.argmax(axis=1) == 0, 1.25, 0.9)[:, None]
            test = result_of(draw(rng, truth), sharp / sharp.sum(axis=1, keepdims=True))
            called.append((test.p_value <= 0.05, test.safe_p_value <= 0.05))
        plain, safe = np.mean(called, axis=0)
        assert plain > 0.5
        assert abs(plain - safe) <= 0.1
