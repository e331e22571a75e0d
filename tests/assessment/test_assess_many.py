"""Models × data sets: the numbers are those of `assess` and `compare`."""

import re
from typing import Any

import numpy as np
import pytest

import trueness as tn

ROWS = {
    name: tn.simulate.calibrated(1200, alpha=[4, 1, 1], rng=seed) for seed, name in enumerate(("in", "out"))
}
SETTINGS: dict[str, Any] = {"resamples": 99, "rng": 3, "bins": 5}
PREDICTIONS = {
    ("plain", "in"): ROWS["in"],
    ("sharp", "in"): (ROWS["in"][0], tn.simulate.sharpen(ROWS["in"][1], 1.6)),
    ("soft", "in"): (ROWS["in"][0], tn.simulate.sharpen(ROWS["in"][1], 0.6)),
    ("plain", "out"): ROWS["out"],
}
FOUND = tn.assess_many(PREDICTIONS, **SETTINGS)


def test_every_cell_is_the_assessment_of_its_rows() -> None:
    assert list(FOUND.assessments) == list(PREDICTIONS)
    for key, pair in PREDICTIONS.items():
        assert FOUND.assessments[key] == tn.assess(*pair, **SETTINGS)


def test_differences_are_those_of_compare_corrected_within_each_data_set() -> None:
    y_true = ROWS["in"][0]
    models = {model: y_prob for (model, name), (_, y_prob) in PREDICTIONS.items() if name == "in"}
    expected = tn.compare(y_true, models, **SETTINGS)
    assert list(FOUND.comparisons) == ["in"]
    assert FOUND.comparisons["in"].to_dict() == expected.to_dict()
    lines = FOUND.to_csv("differences").splitlines()
    assert len(lines) == 1 + sum(len(pair.contrasts) for pair in expected.pairs)


def test_the_best_of_a_data_set_is_bold_and_a_missing_cell_is_empty() -> None:
    sizes = {model: abs(FOUND.assessments[model, "in"].vce.debiased) for model in FOUND.models}
    assert FOUND.best("in") == [min(sizes, key=lambda model: sizes[model])]
    assert FOUND.best("out") == []
    for text, bold in ((FOUND.to_markdown(), r"\*\*(.+?)\*\*"), (FOUND.to_latex(), r"\\textbf\{(.+?)\}")):
        best = FOUND.assessments[FOUND.best("in")[0], "in"].vce
        expected = f"{best.debiased:.4f} [{best.interval.low:.4f}, {best.interval.high:.4f}]"
        assert re.findall(bold, text) == [expected]
    assert FOUND.to_markdown().splitlines()[-1].endswith("|  |")
    assert str(FOUND).count("VCE(plain) - VCE(sharp)") >= 1


@pytest.mark.frames
def test_the_frame_has_one_row_for_each_cell() -> None:
    frame = FOUND.to_frame()
    assert list(zip(frame["model"], frame["data_set"], strict=True)) == list(PREDICTIONS)
    np.testing.assert_array_equal(frame["vce"], [each.vce.debiased for each in FOUND.assessments.values()])


def test_other_labels_keys_and_metrics_are_refused() -> None:
    other = {("a", "in"): ROWS["in"], ("b", "in"): ROWS["out"]}
    with pytest.raises(tn.Refusal, match="the labels of 'b' and 'a' differ"):
        tn.assess_many(other)
    for wrong in ({"a": ROWS["in"]}, {("a", "in", 1): ROWS["in"]}, {("a", "in"): ROWS["in"][0]}, {}):
        with pytest.raises(tn.Refusal, match="predictions"):
            tn.assess_many(wrong)
    with pytest.raises(tn.Refusal, match="vce"):
        tn.assess_many(PREDICTIONS, metric="VCE")
