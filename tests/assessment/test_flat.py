"""`flat()`: one dict of floats whose names are valid for all trackers, made from the list of metrics."""

import math
import re
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.old_assessment import _flat
from trueness.old_assessment.reported import REPORTED

STRICT = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
"""What Weights & Biases recommends for names of metrics, the strictest rule of the three trackers."""


def rows(n_classes: int = 3) -> tuple[Any, Any]:
    y_true, y_prob = tn.simulate.calibrated(800, np.ones(n_classes), rng=1)
    return y_true, tn.simulate.sharpen(y_prob, 1.5)


def results() -> dict[str, Any]:
    y_true, y_prob = rows()
    y, p = rows(2)
    calm = {"resamples": 99, "rng": 0}
    groups = np.array(["St. Mary", "St_ Mary", ".."])[np.arange(800) % 3]
    votes = np.random.default_rng(0).multinomial(5, y_prob)
    return {
        "plain": tn.assess(y_true, y_prob, **calm),
        "two": tn.assess(y, p, **calm),
        "groups": tn.assess(y_true, y_prob, groups=groups, **calm),
        "clusters": tn.assess(y_true, y_prob, clusters=np.arange(800) // 8, **calm),
        "options": tn.assess([0, 1] * 400, [[0.6, 0.4], [0.2, 0.5, 0.3]] * 400, **calm),
        "table": tn.assess_table(tn.tabulate(y_true, y_prob, variation="iqv"), **calm),
        "event": tn.assess_event(y, p[:, 1], groups=groups, **calm),
        "events": tn.assess_event(np.eye(3, dtype=int)[y_true], y_prob, multilabel=True, **calm),
        "votes": tn.assess_votes(y_true, votes, **calm),
        "comparison": tn.compare(y, {"a": p, "b/c": p[:, ::-1]}, groups=groups, **calm),
    }


RESULTS = ["plain", "two", "groups", "clusters", "options", "table", "event", "events", "votes", "comparison"]


@pytest.fixture(scope="module")
def assessed() -> dict[str, Any]:
    return results()


@pytest.mark.parametrize("which", RESULTS)
def test_names_and_values_are_valid_for_every_tracker(assessed: dict[str, Any], which: str) -> None:
    flat = assessed[which].flat()
    assert len(flat) > 10
    for name, value in flat.items():
        assert type(value) is float
        assert math.isfinite(value)
        *folders, last = name.split("/")
        assert STRICT.fullmatch(last)
        assert all(re.fullmatch(r"[A-Za-z0-9_-]+", folder) for folder in folders)
        assert len(name) <= 250
        # A store of files keeps a metric as a file: no name may be a folder of another.
        assert not any("/".join(folders[:k]) in flat for k in range(1, len(folders) + 1))


def numbers_in(content: Any) -> int:
    """How many finite numbers nested mappings hold, without those that are left out."""
    if isinstance(content, dict):
        return sum(numbers_in(part) for key, part in content.items() if key not in _flat._LEFT_OUT)
    return int(isinstance(content, (int, float)) and not isinstance(content, bool))


def test_the_numbers_of_every_metric(assessed: dict[str, Any]) -> None:
    result, flat = assessed["plain"], assessed["plain"].flat()
    for key in REPORTED:
        estimate = result.estimates[key]
        assert flat[key] == estimate.value
        assert flat[f"{key}_noise_floor"] == estimate.noise_floor
        assert flat[f"{key}_debiased"] == estimate.debiased
        assert (flat[f"{key}_low"], flat[f"{key}_high"]) == (estimate.interval.low, estimate.interval.high)
        assert flat[f"{key}_p_value"] == estimate.p_value
    assert flat["p_value"] == result.p_value
    assert flat["accuracy"] == result.accuracy
    assert flat["uce_calibrated_value"] == result.uce.calibrated_value
    assert flat["n_rows"] == 800.0
    assert result.flat("calibration/") == {f"calibration/{name}": value for name, value in flat.items()}


def test_numbers_that_are_not_finite_are_left_out() -> None:
    result = tn.assess([0, 1] * 20, [[1.0, 0.0]] * 40, resamples=99)
    assert math.isinf(result.log_loss)
    assert "log_loss" not in result.flat()
    assert result.flat()["impossible_rows"] == 20.0


def test_groups_have_names_of_their_own(assessed: dict[str, Any]) -> None:
    result, flat = assessed["groups"], assessed["groups"].flat()
    assert [group.name for group in result.groups] == ["..", "St. Mary", "St_ Mary"]
    for place, name in enumerate(["__", "St__Mary", "St__Mary_2"]):
        group = result.groups[place]
        assert flat[f"group/{name}/vce"] == group.assessment.vce.value
        assert flat[f"group/{name}/adjusted_p_value"] == group.adjusted_p_value


def test_events_and_options_and_pairs(assessed: dict[str, Any]) -> None:
    event, comparison = assessed["event"], assessed["comparison"]
    assert event.flat()["cox_slope_low"] == event.cox.slope.interval.low
    assert event.flat()["in_the_large"] == event.in_the_large.value
    assert assessed["events"].flat()["event/2/ece"] == assessed["events"]["2"].ece.value
    assert assessed["options"].flat()["options/3/n_rows"] == 400.0
    flat, pair = comparison.flat(), comparison.pairs[0]
    assert flat["difference/a-b_c/vce"] == pair.vce.difference
    assert flat["difference/a-b_c/log_loss_high"] == pair.log_loss.interval.high
    assert flat["model/b_c/ece"] == comparison.assessments["b/c"].ece.value
    assert flat["group/__/model/a/n_rows"] == 266.0


def test_a_comparison_of_two_classes_is_a_table(assessed: dict[str, Any]) -> None:
    """Its rows include numbers that only comparisons have."""
    assert "log-loss" in assessed["comparison"].to_csv()
    assert "Brier score" in assessed["comparison"].to_csv("groups")
