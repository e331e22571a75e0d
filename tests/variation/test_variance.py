"""The variance of V of rank frequencies by formula, against enumeration and draws."""

import math
from functools import partial

import inference_oracle as exact
import numpy as np
import oracle
import pytest

import trueness as tn
from trueness.variation.expectation import entropy_variance


def nats(q: list[float]) -> float:
    return oracle.entropy(q) * math.log(len(q))


def variance_of_two(n: int, q: float) -> float:
    """Of the entropy in nats of two classes: a function of one binomial count."""
    law = [(nats([k / n, 1 - k / n]), mass) for k, mass in exact.binomial(n, q).items()]
    return exact.sd(law) ** 2


def is_within_its_bound(n: int, q: list[float], want: float) -> bool:
    (variance,), (bound,) = entropy_variance(np.array([n]), np.array([q]))
    return bool(bound > 0.05 or abs(math.sqrt(variance / want) - 1) <= bound)


class TestEntropy:
    @pytest.mark.parametrize("n", [1, 2, 5, 10, 30, 100, 1000, 30_000])
    def test_the_error_of_two_classes_is_within_its_bound(self, n: int) -> None:
        for q in (0.5, 0.6, 0.75, 0.9, 0.99, 0.999, 0.99999):
            assert is_within_its_bound(n, [q, 1 - q], variance_of_two(n, q)), q

    @pytest.mark.parametrize("n", [20, 40, 60])
    def test_the_error_of_three_classes_is_within_its_bound(self, n: int) -> None:
        for q in ([1 / 3] * 3, [0.4, 0.35, 0.25], [0.6, 0.3, 0.1], [0.45, 0.45, 0.1], [0.9, 0.08, 0.02]):
            law = exact.null_law(n, q, nats)
            assert is_within_its_bound(n, q, exact.sd(law) ** 2), q

    def test_the_bound_falls_with_the_square_of_the_rows(self) -> None:
        """The share of a term in 1/n³ in a variance in 1/n."""
        q = np.array([[0.7, 0.2, 0.1]])
        few, many = (entropy_variance(np.array([n]), q)[1][0] for n in (10_000, 100_000))
        assert many == pytest.approx(few / 100, rel=0.01)

    @pytest.mark.parametrize("n_classes", [2, 4, 10])
    def test_against_draws(self, n_classes: int) -> None:
        """An sd from R draws has a relative error of √((κ - 1)/4R), κ the kurtosis; five of them are allowed."""
        rng, draws = np.random.default_rng(n_classes), 100_000
        for concentration in (0.7, 5.0, 1e6):
            q = -np.sort(-rng.dirichlet([concentration] * n_classes))
            (variance,), (bound,) = tn.variations["entropy"].variance_for(np.array([5000]), q[None])
            drawn = tn.variations["entropy"](rng.multinomial(5000, q, draws) / 5000)
            apart = drawn - drawn.mean()
            kurtosis = (apart**4).mean() / (apart**2).mean() ** 2
            error = math.sqrt((kurtosis - 1) / (4 * draws))
            assert math.sqrt(variance) == pytest.approx(drawn.std(), rel=5 * error + bound)

    def test_ranks_that_cannot_be_observed_make_no_difference(self) -> None:
        without, with_them = (
            entropy_variance(np.array([50]), np.array([[0.6, 0.4, *others]])) for others in ([], [0.0, 0.0])
        )
        assert without == with_them

    def test_certain_predictions_have_no_noise(self) -> None:
        variance, bound = entropy_variance(np.array([1, 900]), np.array([[1.0, 0.0], [0.0, 1.0]]))
        assert variance.tolist() == bound.tolist() == [0.0, 0.0]

    def test_a_very_rare_rank_leaves_the_variance_unknown(self) -> None:
        assert entropy_variance(np.array([100]), np.array([[1 - 1e-9, 1e-9]]))[1][0] > 1


@pytest.mark.parametrize("n", [1, 7])
def test_linear_measures_are_exact(n: int) -> None:
    q = [0.5, 0.3, 0.2]
    weighted = tn.Variation("weighted", lambda x: x @ np.array([1.0, 0.5, 0.0]), linear=True)
    for measure in (tn.variations["confidence"], weighted):
        variance, bound = measure.variance_for(np.array([n]), np.array([q]))
        law = exact.null_law(n, q, partial(measure))
        assert math.sqrt(variance[0]) == pytest.approx(exact.sd(law), rel=1e-12)
        assert bound.tolist() == [0.0]


def test_other_measures_have_no_formula() -> None:
    assert tn.variations["iqv"].variance_for(np.array([9]), np.array([[0.5, 0.5]])) is None
