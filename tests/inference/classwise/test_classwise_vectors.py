"""The classes of the vector T, whose values come from exact arithmetic."""

import numpy as np
import pytest
from event_rows import FIVE, class_of_t

from trueness.old_inference.classwise.assessment import assess_classes
from trueness.old_inference.classwise.errors import NOT_MEASURED
from trueness.old_inference.classwise.results import ClasswiseAssessment
from trueness.old_inference.corrections import benjamini_hochberg


@pytest.fixture(scope="module")
def assessed() -> ClasswiseAssessment:
    cells, bins = [class_of_t(c) for c in range(3)], [class_of_t(c, FIVE) for c in range(3)]
    return assess_classes(cells, bins, 3, level=0.95, resamples=99_999, seed=0)


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
