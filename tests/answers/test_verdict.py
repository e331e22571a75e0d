"""Which error is named, in words that anybody understands."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from answered import (
    FLAT,
    MAKERS,
    answered,
    by_predicted_class,
    clustered,
    grouped,
    rows,
    sharpened_part,
)

from trueness.answers.assessment import assess

HARD_TO_READ = """
centred p;by class Q;cumulated;signed root;to each row's own base;too timid;too seldom;forecasts
leave to one another;bound how often;too-extreme;nan;inf;plug-in misleads;log-score Z
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("name", MAKERS)
def test_kind(name: str) -> None:
    assert answered(name).verdict.kind == MAKERS[name][1]


@pytest.mark.parametrize("name", MAKERS)
def test_words(name: str) -> None:
    """Short, without jargon, one p-value, a full stop, and no number without words."""
    result = answered(name)
    text = str(result)
    assert len(text.splitlines()) <= 15
    assert max(map(len, text.splitlines())) <= 100
    for phrase in filter(None, HARD_TO_READ):
        assert not re.search(rf"(?<![a-z]){re.escape(phrase)}(?![a-z])", text), phrase
    assert not re.search(r"e-\d\d|\d{6,}\.\d", text)
    assert len(re.findall(r"\bp [=<>]", text)) == (result.p_value is not None)
    for sentence in (result.answer.headline, result.answer.certainty, result.answer.advice):
        assert sentence[0].isupper() or sentence[0] == "p"
        assert sentence.endswith(".")
    names = [entry.name for entry in result.answer.numbers.entries]
    assert len(names) <= 5
    assert "VCE" in names


def test_a_temperature_is_advised_where_one_number_corrects_the_error() -> None:
    for name, factor in (("sharpened", 1.5), ("two classes", 2.0), ("flattened", 0.6)):
        advice = answered(name).answer.advice
        (found,) = re.findall(r"Divide the logits by about ([\d.]+)", advice)
        assert float(found) == pytest.approx(factor, rel=0.15)
    for name in ("exchanged", "shifted", "opposite", "one-hot, wrong", "impossible", "calibrated"):
        advice = answered(name).answer.advice
        assert not re.search(r"logits|(?<!One )temperature", advice)


def test_wrong_lower_ranks_are_no_over_confidence() -> None:
    answer = answered("lower ranks").answer
    assert answer.headline.startswith("Wrong ranks: the true class is among the 2 most probable in")
    assert "check the columns" in answer.advice


def test_certain_predictions_are_counted() -> None:
    answer = answered("one-hot, wrong").answer
    assert "certain in 500 rows, wrong in 40" in answer.headline
    assert answer.advice.startswith("Smooth")
    assert "certain in 500 rows, wrong in 0" in answered("one-hot, right").answer.headline


def test_impossible_rows_are_counted() -> None:
    assert "In 50 rows the true class had probability 0" in answered("impossible").answer.advice


def test_too_few_says_how_many_are_needed() -> None:
    assert "5 rows; at least 30 are needed" in answered("few rows").answer.headline
    result = answered("few clusters")
    assert "7 effective clusters; at least 10 are needed" in result.answer.headline
    assert result.p_value is None
    assert result.answer.certainty == "No p-value can be given."
    assert result.vce.value is not None
    assert result.vce.low is None


def test_a_clear_error_of_few_rows_has_no_size() -> None:
    result = assess(np.zeros(12, int), np.tile([0.02, 0.98], (12, 1)))
    assert result.p_value is not None
    assert result.p_value <= 0.05
    assert "too few rows to say how wrong" in result.answer.certainty


def test_what_would_be_seen() -> None:
    certainty = answered("calibrated").answer.certainty
    assert re.search(r"[\d.]+ points .* in 4 of 5 such samples", certainty)


def test_classes_are_named() -> None:
    names = {"classes": [f"c{k}" for k in range(10)]}
    given = by_predicted_class()
    given["y_true"] = np.array(names["classes"])[given["y_true"]]
    headline = assess(**given, **names).answer.headline
    assert headline == (
        "Over-confident where it predicts class c3 and under-confident where it predicts class c7."
    )
    verdict = answered("shifted").verdict
    assert verdict.where == "0"
    assert "Class 0 is more frequent than predicted" in answered("shifted").answer.headline


def test_one_class_too_extreme() -> None:
    """The log-odds of class 0 of ten are stretched, and nothing else."""
    given = rows(20_000, [1.0] * 10)
    rng, p = np.random.default_rng(4), given["y_prob"]
    first = p[:, 0]
    true = 1 / (1 + (first / (1 - first)) ** -0.6 * 1.9)
    rest = p[:, 1:] * ((1 - true) / (1 - first))[:, None]
    mixed = np.column_stack([true, rest])
    y = (mixed.cumsum(axis=1) < rng.random((20_000, 1))).sum(axis=1).clip(0, 9)
    result = assess(y, p)
    assert result.classes is not None
    assert result.classes["0"].words == "too extreme"
    assert result.verdict.kind == "by-class"
    assert "The probabilities of class 0 are too extreme: slope 0.59" in result.answer.headline
    assert result.verdict.where == "0"


def test_groups_belong_to_the_answer() -> None:
    result = answered("one group")
    assert result.answer.headline == "Over-confident in 1 of 8 groups, s5."
    assert result.answer.where[0].startswith("s5: it states")
    assert result.answer.advice.startswith("For s5 alone: divide the logits by about")
    assert result.answer.advice.endswith("leave the other groups as they are.")
    assert (result.verdict.where, result.wrong_groups) == ("s5", ("s5",))


def test_most_groups_are_all_rows() -> None:
    result = answered("most groups")
    assert result.answer.headline.startswith("Over-confident: it states")
    first, second, third = result.wrong_groups
    places = f"an error is found in 3 of 3 groups: {first}, {second} and {third}"
    assert result.answer.where == (places,)


def test_a_shared_value_of_a_column_is_named() -> None:
    sites, wards = np.repeat([f"site {k}" for k in range(6)], 400), np.tile(["x", "y"], 1200)
    given = sharpened_part(rows(2400, FLAT), sites == "site 2")
    result = assess(**given, groups={"site": sites, "ward": wards})
    assert result.wrong_groups
    assert result.answer.headline == "Over-confident in 2 of 12 groups, all with site=site 2."
    assert result.verdict.where == "site=site 2"
    assert "Look at site=site 2 alone" in result.answer.advice


def test_no_group_is_wrong_after_correction() -> None:
    result = assess(**grouped(150, [f"s{k}" for k in range(12)], set()))
    assert result.wrong_groups == ()
    assert result.verdict.kind == "no-evidence"


def test_small_groups_are_named() -> None:
    group = np.array(["big"] * 480 + ["tiny"] * 20)
    result = assess(**rows(500, FLAT), groups=group)
    assert set(result.groups) == {"big"}
    (caution,) = [it for it in result.answer.warnings if it.code == "small-groups"]
    assert caution.text == "1 group of fewer than 100 rows not assessed: tiny."


@pytest.mark.parametrize(
    ("name", "tolerance", "size", "words"),
    [
        ("sharpened", 0.5, "negligible", "Nothing: the error is within the tolerance."),
        ("sharpened", 0.01, "beyond", "beyond the tolerance"),
        ("sharpened", {"ece": 0.07}, "undecided", "undecided if within"),
        ("calibrated", 0.01, "undecided", "undecided if within"),
        ("calibrated", 0.5, "negligible", "within the tolerance"),
        ("few rows", 0.5, "undecided", "undecided"),
    ],
)
def test_tolerance(name: str, tolerance: Any, size: str, words: str) -> None:
    result = assess(**MAKERS[name][0](), tolerance=tolerance)
    assert result.verdict.size == size
    assert words in f"{result.answer.headline} {result.answer.advice}"


def test_small_errors_are_called_small() -> None:
    result = assess(**rows(200_000, FLAT, 1.02))
    assert result.verdict.size == "small"
    assert "clear, but small" in result.answer.headline
    assert re.search(r"by about 1\.0[1-4] ", result.answer.advice)


def test_names_are_made_visible() -> None:
    group = np.array(["a\x1b[31m"] * 200 + ["b"] * 200 + ["c"] * 200)
    given = sharpened_part(rows(600, FLAT), group == "a\x1b[31m", 6.0)
    assert "\x1b" not in str(assess(**given, groups=group))


def test_clusters_advise_clusters() -> None:
    result = assess(**clustered(12, 2))
    assert result.answer.advice == "Collect more clusters."
