"""What holds for the assessment of any classes: relabelling, two classes, empty classes, words."""

import math
from dataclasses import replace

import numpy as np
import pytest
from class_rows import CLASS_GRID, TEN, assess_rows, dirichlet, draw, events
from event_rows import cells_of

from trueness.old_inference.classwise.assessment import assess_classes
from trueness.old_inference.classwise.errors import classwise_errors
from trueness.old_inference.classwise.results import TOO_EXTREME, TOO_TIMID, ClasswiseError
from trueness.old_inference.events.calibration_error import event_calibration_error
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.normal import half_normal_quantile


def rows(
    n_classes: int = 4, n: int = 600, alpha: float = 0.7, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = dirichlet(rng, n_classes, alpha, n)
    return draw(rng, p), p


def same(one: ClasswiseError, other: ClasswiseError, rel: float = 1e-9) -> None:
    assert one.value == pytest.approx(other.value, rel=rel)
    assert one.noise_floor == pytest.approx(other.noise_floor, rel=rel)
    assert one.p_value == other.p_value
    assert one.debiased == pytest.approx(other.debiased, rel=rel, abs=1e-9, nan_ok=True)
    assert (one.interval is None) == (other.interval is None)
    if one.interval is not None and other.interval is not None:
        assert one.interval.low == pytest.approx(other.interval.low, rel=rel, abs=1e-12)
        assert one.interval.high == pytest.approx(other.interval.high, rel=rel)


def test_relabelling_permutes_the_answer_and_changes_nothing_else() -> None:
    y, p = rows()
    names, order = ["cat", "dog", "hen", "owl"], np.array([2, 0, 3, 1])
    one = assess_rows(y, p, names=names)
    other = assess_rows(np.argsort(order)[y], p[:, order], names=[names[c] for c in order])
    by_name = {each.name: each for each in other.classes}
    for each in one.classes:
        twin = by_name[each.name]
        assert replace(each, index=0, ece=twin.ece) == replace(twin, index=0)
        same(each.ece, twin.ece, rel=1e-12)
    for name in ("mean", "total", "expected_weighted", "observed_weighted"):
        same(getattr(one, name), getattr(other, name))
    assert one.evidence_p_value == other.evidence_p_value


def test_two_classes_are_one_event() -> None:
    """Exchanging the columns gives the same errors; the p-value is drawn from mirrored bins, with the same law."""
    y, p = rows(2, 2000)
    one, other = assess_rows(y, p, resamples=9999), assess_rows(1 - y, p[:, ::-1], resamples=9999)
    assert [each.index for each in one.classes] == [1]
    for name in ("mean", "total", "expected_weighted", "observed_weighted"):
        same(replace(getattr(one, name), p_value=0.0), replace(getattr(other, name), p_value=0.0), rel=1e-6)
        assert getattr(one, name) == one.mean
    assert one.mean.p_value == pytest.approx(other.mean.p_value, abs=4 * math.sqrt(0.5 / 9999))
    assert one.classes[0].gap.value == pytest.approx(-other.classes[0].gap.value, abs=1e-12)
    assert one.evidence_p_value == pytest.approx(other.evidence_p_value, rel=1e-6)


def test_a_class_is_assessed_as_the_event_that_it_is() -> None:
    """Value, floor, p-value and debiased value of one class are those of the event view with its stream."""
    y, p = rows(3, 1500)
    assessed = assess_rows(y, p, resamples=199, seed=8)
    for c, bins in enumerate(events(y, p, TEN)):
        event, each = event_calibration_error(bins, 0.95, [8, 6, c], 199), assessed.classes[c].ece
        assert each.interval is not None
        assert (each.value, each.noise_floor, each.p_value) == pytest.approx(
            (event.value, event.noise_floor, event.p_value), rel=1e-12
        )
        assert each.debiased == pytest.approx(event.debiased, abs=1e-12)
        # Other draws of the same quantile: its relative error in 9999 draws is about one per cent.
        assert each.interval.high == pytest.approx(event.interval.high, rel=0.05)


def test_an_empty_class_changes_no_p_value_of_others() -> None:
    y, p = rows()
    more = np.concatenate([p, np.zeros((len(p), 1))], axis=1)
    one, other = assess_rows(y, p), assess_rows(y, more)
    assert other.classes[:4] == one.classes
    last = other.classes[4]
    assert math.isnan(last.gap.p_value)
    assert math.isnan(last.adjusted_p_value)
    assert "never predicted" in str(last.gap.reason)
    assert (last.ece.value, last.words, last.impossible) == (0, "", False)
    assert other.mean.value == pytest.approx(one.mean.value * 4 / 5)
    assert (other.total.value, other.total.p_value) == (pytest.approx(one.total.value), one.total.p_value)


def test_a_class_that_was_observed_with_probability_0_is_impossible() -> None:
    y, p = rows()
    more = np.concatenate([p, np.zeros((len(p), 1))], axis=1)
    seen = y.copy()
    seen[:2] = 4
    assessed = assess_rows(seen, more)
    last = assessed.classes[4]
    assert (last.gap.p_value, last.adjusted_p_value, last.impossible) == (0, 0, True)
    assert last.words == "impossible: probability 0 in every row, 2 observed"
    assert assessed.impossible == ("4",)
    assert assessed.evidence_p_value > 0
    assert assessed.by_adjusted_p_value[0] is last


def test_mean_over_classes_of_which_one_has_no_rows() -> None:
    none = EventCells(*(np.zeros(0) for _ in range(4)))
    y, p = rows(3)
    cells, bins = events(y, p, CLASS_GRID), events(y, p, TEN)
    assessed = assess_classes([*cells[:2], none], [*bins[:2], none], 3, level=0.9, resamples=99, seed=0)
    assert math.isnan(assessed.classes[2].ece.value)
    assert math.isnan(assessed.classes[2].adjusted_p_value)
    assert assessed.mean.value == pytest.approx(sum(each.ece.value for each in assessed.classes[:2]) / 3)


def test_words() -> None:
    """3000 rows; class 0 is stated one and a half times as often as it is observed, class 1 is too extreme."""
    rng = np.random.default_rng(3)
    often = rng.uniform(0.1, 0.5, 3000)
    observed = rng.random(3000) < often / 1.5
    base = rng.uniform(0.02, 0.98, 3000)
    odds = (base / (1 - base)) ** 0.6
    extreme = rng.random(3000) < odds / (1 + odds)
    timid = rng.random(3000) < (timid_odds := (base / (1 - base)) ** 1.6) / (1 + timid_odds)
    events_of = [(often, observed), (base, extreme), (base, timid)]
    cells, bins = ([cells_of(p, y, edges) for p, y in events_of] for edges in (CLASS_GRID, TEN))
    first, second, third = assess_classes(cells, bins, 3, level=0.95, resamples=99, seed=0).classes
    assert first.words.split("; ")[0] == (
        f"predicted too often: {often.sum():.0f} expected, {observed.sum():,} observed"
    )
    assert TOO_EXTREME in second.words
    assert TOO_TIMID in third.words
    mirrored = [cells_of(p / 2, y, CLASS_GRID) for p, y in events_of]
    seldom = assess_classes(mirrored, mirrored, 3, level=0.95, resamples=99, seed=0).classes[1]
    assert seldom.words.startswith(f"predicted too seldom: {base.sum() / 2:.0f} expected")


def test_words_need_the_corrected_p_value() -> None:
    """A gap with p = .03 among many calibrated classes is not called."""
    few = cells_of(np.full(100, 0.1), np.arange(100) < 17)
    calm = cells_of(np.full(100, 0.1), np.arange(100) < 10)
    assessed = assess_classes([few] + [calm] * 9, [few] + [calm] * 9, 10, level=0.95, resamples=99, seed=0)
    assert assessed.classes[0].gap.p_value < 0.05
    assert [each.words for each in assessed.classes] == [""] * 10
    alone = assess_classes([few], [few], 2, level=0.95, resamples=99, seed=0)
    assert alone.classes[0].words == "predicted too seldom: 10 expected, 17 observed"


def test_pooled_classes_have_the_exact_sum_of_their_gaps() -> None:
    """Three classes with 4, 4 and 992 expected rows: the first two are pooled, Binomial(1000, .004) twice."""
    y = np.repeat([0, 1, 2], [10, 10, 980])
    p = np.tile([0.004, 0.004, 0.992], (1000, 1))
    pooled = assess_rows(y, p).pooled
    assert pooled is not None
    assert pooled.names == ("0", "1", "2")  # fewer than ten rows are expected without class 2
    two = assess_rows(y, np.tile([0.004, 0.004, 0.982], (1000, 1))).pooled
    assert two is not None
    assert (two.names, two.observed) == (("0", "1"), 20)
    assert two.expected == pytest.approx(8)
    tail = 1 - sum(math.comb(2000, k) * 0.004**k * 0.996 ** (2000 - k) for k in range(20))
    assert two.p_value == pytest.approx(2 * tail, rel=1e-9)


def test_weights_count_as_fewer_rows() -> None:
    """Weights of 1 and 3 in turn are worth 4/5 of the rows."""
    rng = np.random.default_rng(4)
    p, weight = rng.uniform(0.1, 0.9, 400), np.tile([1.0, 3.0], 200)
    y = rng.random(400) < p
    weighted, plain = (cells_of(p, y, TEN, w) for w in (weight, None))
    one, other = (
        assess_classes([cells], [cells], 2, level=0.95, resamples=199, seed=0) for cells in (weighted, plain)
    )
    assert one.mean.noise_floor == pytest.approx(other.mean.noise_floor * math.sqrt(5 / 4), rel=0.1)
    assert one.classes[0].measured


def test_interval_of_the_mean_is_half_normal() -> None:
    """Against the quantile of the sum over 60 bins by 9999 draws, whose error is about half a per cent."""
    y, p = rows(6, 3000)
    bins = events(y, p, TEN)
    errors = classwise_errors(bins, 0.95, 99, [[0, 6, c] for c in range(6)])
    scales = []
    for cells in bins:
        n, q = cells.count, cells.mean_predicted
        r = (n * cells.mean_observed + q) / (n + 1)
        scales += (n / cells.total / 6 * np.sqrt(np.maximum(q * (1 - q), r * (1 - r)) / n)).tolist()
    reach = half_normal_quantile(np.array(scales), 0.95, [1])
    assert errors.mean.interval is not None
    assert errors.mean.interval.high == pytest.approx(errors.mean.value + reach, rel=0.01)
