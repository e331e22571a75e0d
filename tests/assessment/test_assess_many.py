"""Models × data sets: the numbers are those of `assess` and `compare`."""

import csv
import io
import re
from functools import cache
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


def test_the_frame_has_one_row_for_each_cell() -> None:
    frame = FOUND.to_frame()
    assert list(zip(frame["model"], frame["data_set"], strict=True)) == list(PREDICTIONS)
    np.testing.assert_array_equal(frame["vce"], [each.vce.debiased for each in FOUND.assessments.values()])


def test_other_labels_keys_and_metrics_are_refused() -> None:
    other = {("a", "in"): ROWS["in"], ("b", "in"): ROWS["out"]}
    with pytest.raises(tn.Refusal, match="the labels of 'b' and 'a' differ"):
        tn.assess_many(other)
    for wrong in ({"a": ROWS["in"]}, {("a", "in", 1, 2): ROWS["in"]}, {("a", "in"): ROWS["in"][0]}, {}):
        with pytest.raises(tn.Refusal, match="predictions"):
            tn.assess_many(wrong)
    for wrong, got in (
        ([ROWS["in"]], "got list"),
        ({"a": ROWS["in"]}, "got the key 'a'"),
        ({("a", "in"): [*ROWS["in"]]}, r"got list for the key \('a', 'in'\)"),
    ):
        with pytest.raises(tn.Refusal, match=got + r"; such as \{\('model', 'test'\): "):
            tn.assess_many(wrong)
    with pytest.raises(tn.Refusal, match="vce"):
        tn.assess_many(PREDICTIONS, metric="VCE")


POWERS = {"sharp": (1.4, 1.5, 1.7), "plain": (0.98, 1.0, 1.05)}
RUNS = {
    (model, "in", seed): (ROWS["in"][0], tn.simulate.sharpen(ROWS["in"][1], power))
    for model, powers in POWERS.items()
    for seed, power in enumerate(powers)
} | {("base", "in"): (ROWS["in"][0], tn.simulate.sharpen(ROWS["in"][1], 1.2)), ("plain", "out"): ROWS["out"]}


@cache
def seeded() -> tn.AssessedModels:
    return tn.assess_many(RUNS, **SETTINGS)


def test_every_run_is_the_assessment_of_its_rows() -> None:
    found = seeded()
    assert list(found.assessments) == [tuple(map(str, key)) for key in RUNS]
    for key, pair in RUNS.items():
        assert found.assessments[tuple(map(str, key))] == tn.assess(*pair, **SETTINGS)
    assert set(found.seeds) == {("sharp", "in"), ("plain", "in"), ("base", "in")}


@pytest.mark.parametrize("metric", ["vce", "net", "ece", "rce", "cwece"])
def test_means_and_spreads_in_plain_loops(metric: str) -> None:
    """Mean and standard deviation of the debiased values of the runs; the mean of scores."""
    for model, powers in POWERS.items():
        runs = [seeded().assessments[model, "in", str(seed)] for seed in range(len(powers))]
        values = [run.estimates[metric].debiased for run in runs]
        mean = sum(values) / len(values)
        spread = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
        estimate = seeded().seeds[model, "in"].estimates[metric]
        assert estimate is not None
        assert estimate.mean == pytest.approx(mean)
        assert estimate.observed_sd == pytest.approx(spread**0.5)
        assert estimate.between_sd <= estimate.observed_sd
        assert estimate.interval.low <= mean <= estimate.interval.high
        accuracy = sum(run.accuracy for run in runs) / len(runs)
        assert seeded().seeds[model, "in"].mean_of("accuracy") == pytest.approx(accuracy)


def test_the_sampling_error_of_one_seed_is_that_of_its_own_interval() -> None:
    """Of the net gap, whose interval is normal: half its width is z times the sampling error (to the resamples)."""
    for model, powers in POWERS.items():
        reach = [
            seeded().assessments[model, "in", str(seed)].net.interval.high
            - seeded().assessments[model, "in", str(seed)].net.debiased
            for seed in range(len(powers))
        ]
        estimate = seeded().seeds[model, "in"].estimates["net"]
        assert estimate is not None
        assert estimate.within_sd == pytest.approx(sum(reach) / len(reach) / 1.96, rel=0.25)


def test_seeds_of_the_same_predictions_have_no_spread_and_the_interval_of_one_run() -> None:
    """The same run three times: nothing is gained by repeating it."""
    same = {("net", "in", seed): RUNS["sharp", "in", 0] for seed in range(3)}
    estimate = tn.assess_many(same, **SETTINGS).seeds["net", "in"].estimates["net"]
    alone = tn.assess(*RUNS["sharp", "in", 0], **SETTINGS).net
    assert estimate is not None
    assert estimate.between_sd == pytest.approx(0, abs=1e-9)
    assert estimate.standard_error == pytest.approx(estimate.within_sd)
    width = alone.interval.high - alone.interval.low
    assert estimate.interval.high - estimate.interval.low == pytest.approx(width, rel=0.25)


def test_models_whose_seeds_are_the_same_run_are_compared() -> None:
    """Two seeds of no spread: the p-value is that of the sampling error alone, however small it is."""
    same = {(name, "in", seed): RUNS[name, "in", 0] for name in ("sharp", "plain") for seed in range(2)}
    (pair,) = tn.assess_many(same, **SETTINGS).comparisons["in"].pairs
    (once,) = (
        tn.assess_many({key: same[key] for key in same if key[2] == 0}, **SETTINGS).comparisons["in"].pairs
    )
    for key, contrast in pair.contrasts.items():
        assert contrast.p_value == pytest.approx(once.contrasts[key].p_value, rel=1e-6, abs=1e-12), key


def test_models_are_compared_by_the_means_of_all_their_seeds() -> None:
    comparison = seeded().comparisons["in"]
    assert [(pair.first, pair.second) for pair in comparison.pairs] == [
        ("sharp", "plain"),
        ("sharp", "base"),
        ("plain", "base"),
    ]
    for pair in comparison.pairs:
        for key, contrast in pair.contrasts.items():
            means = [seeded().seeds[name, "in"].estimates[key].mean for name in (pair.first, pair.second)]
            assert contrast.difference == pytest.approx(means[0] - means[1])
            assert (contrast.p_value < 0.05) == (contrast.interval.low > 0 or contrast.interval.high < 0)
            assert contrast.adjusted_p_value >= contrast.p_value
    assert "plain is better calibrated than sharp: " in comparison.verdict
    assert "means over 3 seeds and 1 seed" in comparison.verdict


def test_a_seed_more_changes_the_paired_noise_as_compare_does() -> None:
    """One run of each model: the difference and nearly the interval of `compare`, whose noise is paired too."""
    two = {("a", "in", 0): RUNS["sharp", "in", 0], ("b", "in", 0): RUNS["plain", "in", 0]}
    (pair,) = tn.assess_many(two, **SETTINGS).comparisons["in"].pairs
    (expected,) = tn.compare(
        ROWS["in"][0], {"a": two["a", "in", 0][1], "b": two["b", "in", 0][1]}, **SETTINGS
    ).pairs
    assert pair.net.difference == pytest.approx(expected.net.difference)
    ours, theirs = (it.net.interval.high - it.net.interval.low for it in (pair, expected))
    assert ours == pytest.approx(theirs, rel=0.25)


def test_tables_and_text_say_both_spreads() -> None:
    found = seeded()
    lines = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [(row["model"], row["data_set"], row["n_seeds"]) for row in lines] == [
        ("sharp", "in", "3"),
        ("plain", "in", "3"),
        ("base", "in", "1"),
        ("plain", "out", "1"),
    ]
    estimate = found.seeds["sharp", "in"].estimates["vce"]
    assert estimate is not None
    assert float(lines[0]["vce"]) == estimate.mean
    assert float(lines[0]["vce_between_sd"]) == estimate.between_sd
    assert float(lines[0]["vce_within_sd"]) == estimate.within_sd
    assert lines[2]["vce_between_sd"] == ""
    shown = f"(3 seeds, sd {estimate.between_sd:.4f} between, {estimate.within_sd:.4f} within)"
    for text in (found.to_markdown(), found.to_latex(), str(found)):
        assert shown in text
    assert "further seeds and further rows" in str(found)
    assert len(found.to_csv("runs").splitlines()) == 1 + len(RUNS)


def test_runs_that_cannot_be_told_apart_are_refused() -> None:
    rows = ROWS["in"]
    for wrong in (
        {("a", "in"): rows, ("a", "in", 1): rows},
        {("a", "in", 1): rows, ("a", "in", "1"): rows},
    ):
        with pytest.raises(tn.Refusal, match="give each run of a model a seed of its own"):
            tn.assess_many(wrong)
    with pytest.raises(tn.Refusal, match=r"'a, seed 2' and 'a, seed 1' differ"):
        tn.assess_many({("a", "in", 1): ROWS["in"], ("a", "in", 2): ROWS["out"]})
