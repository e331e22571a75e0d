"""The numbers behind an answer, as tables and as text."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from answered import MAKERS, answered

from trueness.answers.assessment import assess

NAMES = ["metrics", "tests", "groups", "clusters", "classes", "bins", "confidence", "ranks"]


@pytest.mark.parametrize("name", MAKERS)
def test_details_fit_and_have_no_nan(name: str) -> None:
    text = answered(name).details()
    assert max(map(len, text.splitlines())) <= 100
    assert text.startswith(str(answered(name)))
    assert "nan" not in text.split()
    assert "inf" not in text.split()


@pytest.mark.parametrize("name", MAKERS)
def test_plain_values_are_json(name: str) -> None:
    content = answered(name).to_dict()
    assert json.dumps(content, allow_nan=False)
    assert content["kind"] == "assessment"
    assert content["verdict"]["kind"] == MAKERS[name][1]


def test_sections() -> None:
    titles = [section.title for section in answered("one group").document().sections]
    assert titles == [
        "Groups",
        "Predicted and observed",
        "Numbers",
        "Tests, combined into the p-value of the answer",
        "Groups in numbers",
        "Classes in numbers",
        "Bins of variation",
        "Bins of confidence",
        "Ranks of the true class",
    ]
    assert "Clusters that are furthest off" in answered("clusters").details()
    facts = " ".join(answered("clusters").document().facts)
    assert "1,800 rows, 3 classes, 10 bins of" in facts
    assert "999 resamples, seed 0" in facts
    assert "30 clusters" in facts


def test_listings() -> None:
    found = answered("one group").listings()
    assert list(found) == NAMES
    metrics = {row[0]: row for row in found["metrics"].rows}
    assert list(metrics) == [
        "confidence minus accuracy",
        "VCE",
        "ECE",
        "RCE",
        "net gap",
        "log-score minus entropy",
    ]
    assert metrics["VCE"][1] == answered("one group").vce.debiased
    groups = found["groups"].to_dict()
    assert groups["group"][0] == "s5"
    assert groups["wrong"] == [True, *[False] * 7]
    assert set(groups["verdict"][1:]) == {"no-evidence"}


def test_the_bins_are_those_of_the_errors() -> None:
    result = answered("sharpened")
    for listing, estimate in (("bins", result.vce), ("confidence", result.ece)):
        columns = result.listings()[listing].to_dict()
        gaps = np.abs(np.array(columns["gap"], float))
        share = np.array(columns["rows"], float) / result.n_rows
        assert share @ gaps == pytest.approx(estimate.value, abs=1e-12)
    ranks = result.listings()["ranks"].to_dict()
    assert sum(ranks["observed"]) == pytest.approx(1)  # type: ignore[arg-type]
    assert ranks["observed"][0] == result.accuracy


def test_the_entropic_calibration_difference() -> None:
    """Mean of -ln p_y - H(p), from the rows (Sumler et al. 2025)."""
    given, result = MAKERS["sharpened"][0](), answered("sharpened")
    p, y = given["y_prob"], given["y_true"]
    own = -np.log(p[np.arange(len(p)), y]) + (p * np.log(p)).sum(axis=1)
    assert result.score_gap.value == pytest.approx(own.mean(), abs=1e-9)
    assert result.score_gap.low is not None
    assert result.score_gap.low > 0


def test_frames_and_text() -> None:
    result = answered("sharpened")
    assert list(result.to_frame("bins").columns)[:4] == ["bin", "from", "to", "rows"]
    assert result.to_markdown().splitlines()[0].startswith("| metric | estimate")
    assert r"\toprule" in result.to_latex("tests")
    assert len(result.to_frame()) == 6


def test_the_infinite_log_loss_is_a_word() -> None:
    result = answered("impossible")
    assert math.isinf(result.log_loss)
    assert "log-loss infinite" in result.details()
    assert result.to_dict()["log_loss"] is None
    assert "log_loss" not in result.flat()


def test_long_tables_are_cut_in_text_only() -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1.0] * 60, 2000)
    result = assess(rng.integers(0, 60, 2000), p)
    assert len(result.to_frame("classes")) == 60
    assert len(result.details().splitlines()) < 240
