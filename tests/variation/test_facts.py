"""The facts that a variation measure carries, and that the rest of the library goes by them and not by names."""

import copy
import pickle

import numpy as np
import pytest

import trueness as tn
from trueness.old_inference.null import NullBins, mean_variation

RANK_2 = np.tile([0.95, 0.05, 0.0], (400, 1)), np.ones(400, int)
"""The model is sure of class 0, and the true class is always the second."""

rng = np.random.default_rng(5)
SIMPLEX = rng.dirichlet([0.3] * 5, 2000)
SORTED = np.sort(SIMPLEX, axis=1)[:, ::-1]
ALL = [*tn.variations.values(), tn.renyi(2), tn.tsallis(0.5)]


def copy_of(measure: tn.Variation, **facts: object) -> tn.Variation:
    """A user-defined measure with the formula, range and direction of another, and no other fact."""
    return tn.Variation(
        f"my_{measure.name}",
        measure.function,
        measure.range,
        measure.grows_with_dispersion,
        **facts,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("measure", ALL, ids=repr)
class TestFactsAreTrue:
    def test_symmetric(self, measure: tn.Variation) -> None:
        turned = np.abs(measure(SORTED) - measure(SORTED[:, ::-1])).max() < 1e-12
        assert turned == measure.symmetric

    def test_largest_gap_is_never_exceeded(self, measure: tn.Variation) -> None:
        observed = np.concatenate([SIMPLEX, np.eye(5)])
        for predicted in (SORTED[:100], np.eye(5)[:1], np.full((1, 5), 0.2)):
            gap = np.abs(measure(observed)[:, None] - measure(predicted)).max()
            assert gap <= measure.largest_gap_for(5) + 1e-12

    def test_a_copy_without_facts_has_the_same_largest_gap(self, measure: tn.Variation) -> None:
        assert copy_of(measure).largest_gap_for(5) == pytest.approx(measure.largest_gap_for(5), abs=1e-12)

    def test_expectation(self, measure: tn.Variation) -> None:
        """Against 200 000 simulated bins of six rows, within five standard errors."""
        n, p = 6, np.array([0.5, 0.3, 0.15, 0.05])
        exact = measure.expectation_for(np.array([n]), p[None])
        if exact is None:
            assert not measure.linear
            return
        values = measure(np.random.default_rng(1).multinomial(n, p, 200_000) / n)
        assert exact[0] == pytest.approx(values.mean(), abs=5 * values.std() / np.sqrt(200_000))

    def test_kernel_gives_the_values_of_the_function(self, measure: tn.Variation) -> None:
        if measure.kernel is not None:
            same = {"entropy": tn.variations["entropy"], "confidence": tn.variations["confidence"]}
            np.testing.assert_array_equal(measure(SORTED), same[measure.kernel](SORTED))

    def test_they_survive_pickling(self, measure: tn.Variation) -> None:
        for twin in (copy.deepcopy(measure), pickle.loads(pickle.dumps(measure))):
            assert twin == measure
            assert twin.symmetric == measure.symmetric


class TestIntervalOfACopy:
    @pytest.mark.parametrize("name", ["margin", "confidence"])
    @pytest.mark.parametrize("facts", [{}, {"lipschitz": 1.0}])
    def test_low_end_is_below_high_end(self, name: str, facts: dict[str, float]) -> None:
        """The largest gap of a measure that depends on the order of the ranks is wider than its range."""
        y_prob, y_true = RANK_2
        mine = tn.assess(y_true, y_prob, variation=copy_of(tn.variations[name], **facts), rng=0)
        named = tn.assess(y_true, y_prob, variation=name, rng=0)
        for estimate in (mine.vce, mine.net):
            assert estimate.interval.low <= estimate.debiased <= estimate.interval.high
        assert mine.vce.value == named.vce.value > 0.9
        if name == "margin":  # whose mean is simulated too
            assert mine.vce.interval == named.vce.interval
            assert mine.net.interval == named.net.interval

    def test_declared_facts_are_used(self) -> None:
        """A copy of confidence that is declared linear gives the numbers of confidence, to the bit."""
        y_true, y_prob = tn.simulate.calibrated(500, [1, 1, 1], rng=0)
        linear = copy_of(tn.variations["confidence"], linear=True, lipschitz=0.5)
        mine, named = (tn.assess(y_true, y_prob, variation=v, rng=0) for v in (linear, "confidence"))
        assert mine.vce.interval == named.vce.interval
        assert mine.vce.centred_p_value == named.vce.centred_p_value
        np.testing.assert_array_equal(mine.net.centred_gap, named.net.centred_gap)

    def test_declared_expectation_is_used_instead_of_simulation(self) -> None:
        table = tn.tabulate([0, 1, 2], [[0.5, 0.3, 0.2]] * 3)
        known = copy_of(tn.variations["iqv"], expectation=lambda _, p: np.full(len(p), 0.25))
        bins = NullBins.of(tn.tabulate([0, 1, 2], [[0.5, 0.3, 0.2]] * 3, variation=known))
        assert mean_variation(bins, 99, [0]).tolist() == [0.25]
        assert bins.expected_variation(np.full((99, 1), 0.1)).tolist() == [0.25]
        assert table.spec.is_by_entropy
        assert not table.spec.is_by_confidence


def test_values_that_are_not_finite_at_a_single_rank_are_left_out_of_the_largest_gap() -> None:
    ratio = tn.Variation("ratio", lambda x: x[..., 1] / x[..., 0])
    assert ratio.largest_gap_for(3) == 1.0
