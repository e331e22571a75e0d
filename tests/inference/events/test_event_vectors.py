"""Classes of the vector T and the event B, whose numbers were worked out by exact arithmetic."""

import pytest
from event_rows import FIVE, class_of_t, event_b

from trueness.inference.events.calibration_error import event_calibration_error, expected_absolute_gap
from trueness.inference.events.cox import cox_fit
from trueness.inference.events.cumulative import largest_tail, range_tail
from trueness.inference.events.curve_errors import curve_errors
from trueness.inference.events.hosmer_lemeshow import hosmer_lemeshow_test
from trueness.inference.events.in_the_large import gap_test
from trueness.inference.events.spread import spread_test


def exactly(value: object) -> object:
    """Equal to twelve digits."""
    return pytest.approx(value, rel=2e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("c", "counts", "want"),
    [
        (0, [3, 2, 1, 2], (0.24, 0.285952356171, 0.2502185925, 0.556165564886)),
        (1, [3, 2, 1, 2], (0.225, 0.264547569761, 0.277810816574, 0.898162397224)),
        (2, [4, 2, 1, 1], (0.1675, 0.191882125275, 0.2329111307, 1.0)),
    ],
)
def test_calibration_error_of_the_classes_of_T(c, counts, want):
    value, l2, floor, p = want
    bins = class_of_t(c, FIVE)
    assert bins.count.tolist() == counts
    found = event_calibration_error(bins, 0.95, [0], 99_999)
    assert found.value == exactly(value)
    assert found.noise_floor == exactly(floor) == exactly(expected_absolute_gap(bins))
    # The standard error of 99 999 draws is at most .0016.
    assert found.p_value == pytest.approx(p, abs=0.005)
    assert event_calibration_error(bins, 0.95, [0], 9, "l2").value == exactly(l2)


@pytest.mark.parametrize(
    ("c", "sums", "tails"),
    [
        (0, (2.56, 2, 0.07), (0.486686941105, 0.831745698764, 0.973373882210)),
        (1, (2.82, 3, -0.0225), (0.721128638638, 0.593079147872, 1.0)),
        (2, (2.62, 3, -0.0475), (0.797679491629, 0.525357277517, 1.0)),
    ],
)
def test_gaps_of_the_classes_of_T(c, sums, tails):
    found = gap_test(class_of_t(c))
    assert (found.expected, found.observed, found.value) == exactly(sums)
    assert (found.lower_tail, found.upper_tail, found.p_value) == exactly(tails)
    assert found.ratio == exactly(sums[1] / sums[0])
    assert found.reason is None


@pytest.mark.parametrize(
    ("cells", "score", "w", "p"),
    [
        (class_of_t(0), 0.904149217820, 1.064262460126, 0.287209818878),
        (class_of_t(1), 0.313370760167, 0.325092756455, 0.745110870988),
        (class_of_t(2), 0.866413664701, 1.092643288517, 0.274550448548),
        (event_b(), -0.365786133879, -0.342133229482, 0.732250631244),
    ],
)
def test_spread_of_the_classes_of_T_and_of_B(cells, score, w, p):
    found = spread_test(cells)
    assert (found.score, found.signed_root, found.p_value) == exactly((score, w, p))


def test_the_gap_of_B():
    found = gap_test(event_b())
    assert (found.expected, found.value, found.ratio) == exactly((4.27, -0.073, 1.170960187354))


def test_hosmer_lemeshow_of_B_in_five_bins_of_two():
    found = hosmer_lemeshow_test(event_b(), [0], 99, n_bins=5)
    assert (found.value, found.chi_square_p_value, found.degrees) == exactly(
        (1.866613210507, 0.867276623520, 5)
    )


def test_the_law_of_brownian_motion():
    assert (largest_tail(1), largest_tail(2)) == exactly((0.629222570200, 0.091000523846))
    assert (range_tail(1), range_tail(2)) == exactly((0.936635412080, 0.181494339394))


def test_cox_of_B():
    found = cox_fit(event_b(), 0.95)
    a, b = found.intercept, found.slope
    assert (a.value, a.standard_error) == exactly((0.399621130390, 0.822731025553))
    assert (b.value, b.standard_error) == exactly((0.832537946284, 0.564877438655))
    assert (found.statistic, found.p_value) == exactly((0.433174489822, 0.805262276822))
    assert found.intercept_at_slope_1.value == exactly(0.482938382416)


def test_curves_of_B():
    logistic = curve_errors(event_b(), "logistic", [0], 1)
    assert (logistic.ici.value, logistic.e_max.value) == exactly((0.074158244285, 0.123540911314))
    isotonic = curve_errors(event_b(), "isotonic", [0], 1)
    assert isotonic.ici.value == exactly(0.112333333333)
    third, half = 1 / 3, 1 / 2
    assert isotonic.fitted.tolist() == exactly([0, 0, third, third, third, half, half, 1, 1, 1])
