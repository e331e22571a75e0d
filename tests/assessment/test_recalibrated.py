"""Before and after a recalibration: no row is used twice, and the price in log-loss in plain loops."""

import math

import numpy as np
import pytest

import trueness as tn
from trueness.recalibration import scale_by_temperature, variation_temperature

Y_TRUE, CALIBRATED = tn.simulate.calibrated(3000, [1, 1, 1], rng=0)
SHARP = tn.simulate.sharpen(CALIBRATED, 1.6)


def test_probabilities_before_and_after_are_those_of_compare() -> None:
    found = tn.compare_recalibration(Y_TRUE, SHARP, CALIBRATED, resamples=99, rng=2)
    expected = tn.compare(Y_TRUE, {"before": SHARP, "after": CALIBRATED}, resamples=99, rng=2)
    assert found.comparison.to_dict() == expected.to_dict()
    assert (found.temperature, found.n_fitted) == (None, 0)
    assert found.comparison.verdicts[0].better == "after"
    assert found.verdict.splitlines()[1].startswith("the log-loss falls: ")


def test_the_change_of_the_log_loss_in_plain_loops() -> None:
    found = tn.compare_recalibration(Y_TRUE, SHARP, CALIBRATED, resamples=19).log_loss
    changes = [
        math.log(before[y]) - math.log(after[y])
        for y, before, after in zip(Y_TRUE.tolist(), SHARP.tolist(), CALIBRATED.tolist(), strict=True)
    ]
    n = len(changes)
    mean = sum(changes) / n
    variance = sum((change - mean) ** 2 for change in changes) / (n - 1) / n
    assert found.difference == pytest.approx(mean)
    assert found.interval.high - mean == pytest.approx(1.959964 * math.sqrt(variance), rel=1e-6)
    assert found.after - found.before == pytest.approx(mean)
    assert found.p_value == pytest.approx(math.erfc(abs(mean) / math.sqrt(2 * variance)))


def test_clusters_make_the_interval_of_the_log_loss_wider_in_plain_loops() -> None:
    y_true, before = np.repeat(Y_TRUE[:20], 30), np.repeat(SHARP[:20], 30, axis=0)
    after = np.repeat(CALIBRATED[:20], 30, axis=0)
    clusters = np.repeat(np.arange(20), 30)
    found = tn.compare_recalibration(y_true, before, after, clusters=clusters, resamples=19).log_loss
    changes = [math.log(before[i, y]) - math.log(after[i, y]) for i, y in enumerate(y_true.tolist())]
    mean = sum(changes) / 600
    sums = [sum(changes[i] - mean for i in range(30 * g, 30 * g + 30)) for g in range(20)]
    variance = sum(total**2 for total in sums) * 20 / 19 / 600**2
    assert found.interval.high - mean == pytest.approx(1.959964 * math.sqrt(variance), rel=1e-6)


@pytest.mark.parametrize("method", ["variation", "likelihood"])
def test_the_temperature_is_fitted_on_one_part_and_judged_on_the_other(method: str) -> None:
    found = tn.compare_recalibration(Y_TRUE, SHARP, method=method, resamples=99, calibration_share=0.4)
    assert found.temperature is not None
    assert found.n_fitted == 1200
    assert found.comparison.assessments["after"].n_rows == 1800
    assert found.temperature.value == pytest.approx(1.6, abs=4 * found.temperature.standard_error)
    assert found.temperature.standard_error < 0.15
    assert found.comparison.verdicts[0].better == "after"
    assert found.log_loss.interval.high < 0


def test_the_rows_that_are_judged_do_not_change_the_fit() -> None:
    """Other labels on the judged rows leave the temperature as it is: nothing of them is seen by the fit."""
    first = tn.compare_recalibration(Y_TRUE, SHARP, resamples=19, rng=5)
    assert first.temperature is not None
    order = np.random.default_rng([5, 13]).permutation(3000)
    fitted = np.sort(order[:1500])
    expected = variation_temperature(Y_TRUE[fitted], SHARP[fitted])
    assert first.temperature == expected
    judged = np.setdiff1d(np.arange(3000), fitted)
    changed = Y_TRUE.copy()
    changed[judged] = 0
    assert tn.compare_recalibration(changed, SHARP, resamples=19, rng=5).temperature == expected
    after = scale_by_temperature(SHARP[judged], expected.value)
    direct = tn.compare(Y_TRUE[judged], {"before": SHARP[judged], "after": after}, resamples=19, rng=5)
    assert first.comparison.to_dict() == direct.to_dict()


def test_clusters_stay_together() -> None:
    clusters = np.arange(3000) // 10
    found = tn.compare_recalibration(Y_TRUE, SHARP, clusters=clusters, resamples=99)
    assert found.n_fitted == 1500
    assert found.comparison.assessments["before"].n_clusters == 150


def test_names_of_classes_and_logits() -> None:
    names = np.array(["a", "b", "c"])
    plain = tn.compare_recalibration(Y_TRUE, SHARP, resamples=19)
    named = tn.compare_recalibration(names[Y_TRUE], SHARP, classes=list(names), resamples=19)
    assert named.temperature == plain.temperature
    classes = named.comparison.assessments["after"].classes
    assert classes is not None
    assert [it.name for it in classes.classes] == ["a", "b", "c"]
    logits = tn.compare_recalibration(Y_TRUE, np.log(SHARP), from_logits=True, resamples=19)
    assert logits.log_loss.difference == pytest.approx(plain.log_loss.difference, rel=1e-6)


def test_impossible_rows_are_left_out_of_the_log_loss_and_counted() -> None:
    before = np.array([[0.5, 0.5], [1.0, 0.0], [0.2, 0.8], [0.9, 0.1]] * 50)
    after = np.array([[0.6, 0.4], [0.9, 0.1], [0.2, 0.8], [0.9, 0.1]] * 50)
    y_true = np.array([0, 1, 1, 0] * 50)
    found = tn.compare_recalibration(y_true, before, after, resamples=19)
    assert found.log_loss.left_out == 50
    assert found.log_loss.before == pytest.approx(-(math.log(0.5) + math.log(0.8) + math.log(0.9)) / 3)
    assert "log-loss without 50 rows whose true class had probability 0" in str(found)


@pytest.mark.parametrize("n_possible", [0, 1])
def test_without_two_rows_the_change_of_the_log_loss_is_unknown(n_possible: int) -> None:
    wrong, right = [1.0, 0.0], [0.5, 0.5]
    y_prob = np.array([right] * n_possible + [wrong] * (100 - n_possible))
    found = tn.compare_recalibration(np.ones(100, int), y_prob, y_prob[:], resamples=19)
    assert found.log_loss.left_out == 100 - n_possible
    assert math.isnan(found.log_loss.p_value)
    assert math.isnan(found.log_loss.interval.high)
    assert found.verdict.splitlines()[-1].startswith("the change of the log-loss is unknown")
    assert found.to_dict()["change_of_log_loss"]["p_value"] is None


def test_text_and_json() -> None:
    found = tn.compare_recalibration(Y_TRUE, SHARP, resamples=99)
    for sentence in found.verdict.splitlines():
        assert str(found).count(sentence) == 1
    assert str(found).startswith(f"temperature {found.temperature.value:.3f} (standard error")
    content = found.to_dict()
    assert content["kind"] == "recalibration"
    assert content["change_of_log_loss"]["difference"] == found.log_loss.difference
    assert content["temperature"]["value"] == found.temperature.value
    assert "trueness-notebook" in found._repr_html_()


def test_the_picture_shows_both() -> None:
    drawn = tn.compare_recalibration(Y_TRUE, SHARP, resamples=19).plot()
    words = [text.get_text().partition(":")[0] for text in drawn.ax_.get_legend().get_texts()]
    assert words[-2:] == ["before", "after"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "isotonic"}, "method"),
        ({"calibration_share": 1.0}, "calibration_share must be a number between 0 and 1"),
        (
            {"calibration_share": 0.0001},
            "rows are too few to be divided by calibration_share=0.0001: each part needs",
        ),
    ],
)
def test_refusals(options: dict, message: str) -> None:
    with pytest.raises(tn.Refusal, match=message):
        tn.compare_recalibration(Y_TRUE, SHARP, **options)


def test_a_bad_row_is_refused_with_its_number() -> None:
    bad = SHARP.copy()
    bad[17, 2] = np.nan
    with pytest.raises(tn.Refusal, match="`y_prob` is nan in row 17, class 2"):
        tn.compare_recalibration(Y_TRUE, bad)
