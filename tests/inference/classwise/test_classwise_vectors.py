"""The classes of the vector T, whose values come from exact arithmetic."""

import numpy as np
import pytest
from event_rows import FIVE, T_LABELS, T_PROBS, class_of_t

from trueness.inference.classwise.assessment import assess_classes
from trueness.inference.classwise.errors import NOT_MEASURED
from trueness.inference.classwise.results import ClasswiseAssessment
from trueness.inference.corrections import benjamini_hochberg


@pytest.fixture(scope="module")
def assessed() -> ClasswiseAssessment:
    cells, bins = [class_of_t(c) for c in range(3)], [class_of_t(c, FIVE) for c in range(3)]
    return assess_classes(cells, bins, 3, level=0.95, resamples=99_999, seed=0)


def test_errors(assessed: ClasswiseAssessment) -> None:
    ece = [each.ece for each in assessed.classes]
    assert [error.value for error in ece] == pytest.approx([0.24, 0.225, 0.1675], abs=1e-12)
    floors = [0.2502185925, 0.277810816574, 0.2329111307]
    assert [error.noise_floor for error in ece] == pytest.approx(floors, abs=1e-12)
    p_values = [0.556165564886, 0.898162397224, 1.0]
    assert [error.p_value for error in ece] == pytest.approx(p_values, abs=0.005)


def test_means(assessed: ClasswiseAssessment) -> None:
    assert assessed.mean.value == pytest.approx(0.210833333333, abs=1e-12)
    assert assessed.total.value == pytest.approx(0.31625, abs=1e-12)
    assert assessed.expected_weighted.value == pytest.approx(0.21096875, abs=1e-12)
    assert assessed.observed_weighted.value == pytest.approx(0.2071875, abs=1e-12)
    assert assessed.mean.noise_floor == pytest.approx(0.253646846591, abs=1e-12)
    assert assessed.total.noise_floor == pytest.approx(1.5 * assessed.mean.noise_floor, rel=1e-12)
    floors = np.array([0.2502185925, 0.277810816574, 0.2329111307])
    expected = np.sum(T_PROBS, axis=0) / len(T_LABELS)
    assert assessed.expected_weighted.noise_floor == pytest.approx(float(expected @ floors), abs=1e-12)
    assert assessed.total.p_value == assessed.mean.p_value


def test_gaps(assessed: ClasswiseAssessment) -> None:
    gaps = [each.gap for each in assessed.classes]
    assert [gap.value for gap in gaps] == pytest.approx([0.07, -0.0225, -0.0475], abs=1e-12)
    assert [gap.expected for gap in gaps] == pytest.approx([2.56, 2.82, 2.62], abs=1e-12)
    assert [gap.observed for gap in gaps] == [2, 3, 3]
    assert [gap.p_value for gap in gaps] == pytest.approx([0.973373882210, 1, 1], abs=1e-12)


def test_spreads(assessed: ClasswiseAssessment) -> None:
    spreads = [each.spread for each in assessed.classes]
    roots = [1.064262460126, 0.325092756455, 1.092643288517]
    assert [spread.signed_root for spread in spreads] == pytest.approx(roots, abs=1e-12)
    p_values = [0.287209818878, 0.745110870988, 0.274550448548]
    assert [spread.p_value for spread in spreads] == pytest.approx(p_values, abs=1e-12)


def test_correction_over_gaps_and_spreads_together(assessed: ClasswiseAssessment) -> None:
    p = [0.973373882210, 0.287209818878, 1, 0.745110870988, 1, 0.274550448548]
    adjusted = benjamini_hochberg(p)
    seen = [p for each in assessed.classes for p in (each.adjusted_gap_p_value, each.adjusted_spread_p_value)]
    assert seen == pytest.approx(adjusted, abs=1e-11)
    assert [each.adjusted_p_value for each in assessed.classes] == pytest.approx(
        [min(adjusted[2 * c : 2 * c + 2]) for c in range(3)], abs=1e-11
    )
    assert assessed.evidence_p_value == pytest.approx(min(adjusted), abs=1e-11)


def test_classes_with_few_rows_are_tested_but_not_measured(assessed: ClasswiseAssessment) -> None:
    for each in assessed.classes:
        assert not each.measured
        assert each.ece.interval is None
        assert np.isnan(each.ece.debiased)
        assert each.ece.reason == NOT_MEASURED
        assert each.words == ""
    assert assessed.pooled is not None
    assert assessed.pooled.names == ("0", "1", "2")
    assert assessed.pooled.expected == pytest.approx(8)
    assert (assessed.pooled.observed, assessed.pooled.p_value) == (8, 1.0)
    assert assessed.impossible == ()
