"""Laws of the decompositions, and agreement with plain loops."""

import math
from dataclasses import replace
from types import SimpleNamespace

import decomposition_oracle as oracle
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trueness as tn
from trueness.decompositions.frequencies import Frequencies

seeds = st.integers(0, 2**32 - 1)


def one_event(n_rows: int, seed: int, slope: float = 1.0):
    rng = np.random.default_rng(seed)
    p = rng.beta(0.8, 1.2, n_rows)
    odds = (p / (1 - p)) ** slope
    return (rng.random(n_rows) < odds / (1 + odds)).astype(int), p


@given(seeds, st.integers(2, 60))
def test_the_parts_of_an_event_are_half_of_those_of_two_classes(seed: int, n_rows: int) -> None:
    y, p = one_event(n_rows, seed)
    event = tn.brier_decomposition(y, p, tn.EqualMass(4), resamples=9)
    want = oracle.brier_parts([([pi], [float(yi)], 0) for pi, yi in zip(p, y, strict=True)])
    assert event.score == pytest.approx(want["score"], abs=1e-12)
    assert event.total == pytest.approx(event.score, abs=1e-12)
    whole = tn.brier_decomposition(y, p, 1, resamples=9)
    for name, key in (("reliability", "rel"), ("within_variance", "wbv"), ("within_covariance", "wbc")):
        assert getattr(whole, name) == pytest.approx(want[key], abs=1e-12)


def test_bins_of_one_row_are_merged_with_their_neighbour() -> None:
    ones = np.ones(6)
    vectors = np.stack([np.linspace(0.1, 0.9, 6), 1 - np.linspace(0.1, 0.9, 6)], axis=1)
    bins = Frequencies(np.array([1.0, 1.0, 3.0, 1.0, 4.0, 1.0]), ones / 6, vectors, vectors)
    merged = replace(bins, weight=bins.count / 11).with_neighbours()
    assert merged.count == pytest.approx([2, 3, 6])
    assert merged.weight.sum() == pytest.approx(1)
    assert merged.weight @ merged.predicted == pytest.approx(bins.count / 11 @ vectors)


def test_brier_Z_of_two_classes_is_that_of_spiegelhalter() -> None:
    y, p = one_event(500, 3, slope=0.8)
    spiegelhalter = tn.assess_event(y, p).spiegelhalter
    found = tn.brier_test(y, p)
    assert found.value == pytest.approx(-spiegelhalter.value, rel=1e-9)
    assert found.p_value == pytest.approx(spiegelhalter.p_value, rel=1e-9)


def test_events_of_more_classes_are_the_top_label_or_chosen() -> None:
    y, p = tn.simulate.calibrated(300, [1, 1, 1], rng=0)
    top = tn.smooth_calibration_error(tn.tabulate_events(y, p, events="top"), resamples=9)
    assert tn.smece(y, p) == top.value
    table = tn.tabulate_events(y, p, events=[0, 2], grid="event")
    assert tn.smece(y, p, event=2) == tn.smooth_calibration_error(table, event=2, resamples=9).value
    assert tn.corp_decomposition(table, event=0, resamples=9).score == pytest.approx(
        np.mean((p[:, 0] - (y == 0)) ** 2)
    )


READERS = [tn.smooth_calibration_error, tn.corp_decomposition, tn.log_reliability]


@pytest.mark.parametrize("reader", READERS)
def test_merged_tables_give_the_numbers_of_all_rows(reader) -> None:
    y, p = one_event(500, 7)
    whole = reader(tn.tabulate_events(y, p), resamples=19)
    merged = reader(sum(tn.tabulate_events(y[k::3], p[k::3]) for k in range(3)), resamples=19)
    for name in ("p_value", "noise_floor", "words"):
        assert getattr(merged, name) == getattr(whole, name)


@given(seeds, st.integers(1, 50), st.sampled_from([2, 3, 7]))
def test_profiles_add_to_the_bit(seed: int, cut: int, n_classes: int) -> None:
    y, p = tn.simulate.calibrated(120, [0.3] * n_classes, rng=seed)
    whole = tn.temperature_profile(y, p)
    parts = [tn.temperature_profile(y[part], p[part]) for part in (slice(cut, None), slice(0, cut))]
    assert sum(parts) == whole == tn.temperature_profile(y[::-1], p[::-1], n_threads=3)
    assert tn.TemperatureProfile.from_dict(whole.to_dict()) == whole


def test_whole_weights_are_repeated_rows_in_a_profile() -> None:
    y, p = tn.simulate.calibrated(100, [1, 1, 1], rng=5)
    weight = np.arange(100) % 3
    repeated = tn.temperature_profile(np.repeat(y, weight), np.repeat(p, weight, axis=0)).fit()
    weighted = tn.temperature_profile(y, p, sample_weight=weight.astype(float)).fit()
    assert weighted.exponent == pytest.approx(repeated.exponent, rel=1e-10)
    assert weighted.refinement == pytest.approx(repeated.refinement, rel=1e-10)


def test_an_impossible_row_makes_the_log_score_infinite_and_leaves_the_brier_score() -> None:
    table = tn.tabulate_events([1, 0, 1, 0], [0.0, 0.2, 0.7, 0.4])
    log = tn.corp_decomposition(table, score="log", resamples=9)
    assert math.isinf(log.miscalibration)
    assert log.p_value == 0
    assert log.reason == "infinite: the outcome of 1 rows had probability 0"
    assert math.isfinite(tn.corp_decomposition(table, resamples=9).miscalibration)


def test_a_temperature_outside_the_knots_says_so() -> None:
    fit = tn.temperature_profile([0] * 20, [[0.6, 0.4]] * 20).fit()
    assert fit.exponent == 4
    assert fit.reason is not None


def test_predictions_without_variance_have_no_brier_test() -> None:
    found = tn.brier_test([0, 1], [[0.5, 0.5]] * 2)
    assert math.isnan(found.value)
    assert found.reason is not None


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda it: tn.corp_decomposition(it.table.coarsen(10)), "table"),
        (lambda it: tn.corp_decomposition(it.table, score="crps"), "score"),
        (lambda it: tn.smooth_calibration_error(tn.tabulate(it.y, it.p)), "table"),
        (lambda it: tn.smooth_calibration_error(it.table, resamples=0), "resamples"),
        (lambda it: tn.brier_decomposition(it.y, it.p * 2), "y_prob"),
        (lambda it: tn.brier_decomposition(it.y, it.p, resamples=0), "resamples"),
        (lambda it: tn.brier_test(it.y + 1, it.p), "y_true"),
        (lambda it: tn.log_reliability(tn.EventTable.empty(it.table.spec)), "table"),
        (lambda it: tn.temperature_profile(it.y, it.p).log_loss_at(5.0), "exponent"),
        (lambda it: tn.temperature_profile(it.y, it.p * 2), "y_prob"),
        (lambda it: tn.temperature_step(tn.CalibrationTable.empty(tn.tabulate(it.y, it.p).spec)), "table"),
    ],
)
def test_bad_arguments_are_refused(call, argument: str) -> None:
    y, p = one_event(12, 0)
    with pytest.raises(tn.Refusal) as caught:
        call(SimpleNamespace(y=y, p=p, table=tn.tabulate_events(y, p)))
    assert caught.value.argument == argument


def test_several_events_need_a_name() -> None:
    y, p = tn.simulate.calibrated(20, [1, 1, 1], rng=0)
    with pytest.raises(tn.Refusal) as caught:
        tn.smooth_calibration_error(tn.tabulate_events(y, p, grid="event"))
    assert caught.value.argument == "event"
    with pytest.raises(tn.Refusal):
        tn.temperature_profile(y, p) + tn.temperature_profile([0, 1], [0.2, 0.7])
