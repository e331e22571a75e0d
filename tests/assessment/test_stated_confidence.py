"""Events with stated probabilities: vectors E1 to E3 and H1, laws, words, groups, clusters, size and power."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import trueness as tn
from trueness.old_assessment import GroupAssessment

Rows = tuple[NDArray[np.int64], NDArray[np.float64]]


def piles(*parts: tuple[float, int, int]) -> Rows:
    """Rows of stated values: each value with how often the event came about, and among how many rows."""
    event = [np.repeat([1, 0], [hits, n - hits]) for _, hits, n in parts]
    stated = [np.full(n, value) for value, _, n in parts]
    return np.concatenate(event), np.concatenate(stated)


E1 = piles((0.9, 7, 10), (0.5, 3, 4), (1.0, 1, 2))
E2 = piles((0.2, 5, 10), (0.8, 5, 10))
E3 = piles((0.2, 5, 10), (0.8, 10, 10))
H1 = piles((0.5, 40, 100), (0.9, 60, 100), (1.0, 20, 50))


def near(value: float) -> object:
    return pytest.approx(value, abs=1e-12)


class TestVectors:
    def test_e1(self) -> None:
        result = tn.assess_event(*E1)
        assert result.bins.count.tolist() == [4, 10, 2]
        assert result.ece.value == near(0.25)
        assert result.net.value == near(0.125)
        assert result.rms.value == near(0.268095132369)
        assert result.rms.debiased == near(0.102062072616)
        assert result.max_gap == near(0.5)
        assert result.brier_score == near(0.28125)
        parts = result.brier_parts
        assert (parts.reliability, parts.resolution, parts.uncertainty) == near(
            (0.071875, 0.00546875, 0.21484375)
        )
        assert result.brier_z.value == near(3.425800798516)
        assert result.impossible_rows == 1
        assert result.log_score_z.value == -math.inf

    def test_e2(self) -> None:
        result = tn.assess_event(*E2)
        assert (result.ece.value, result.net.value) == near((0.3, 0.0))
        assert result.brier_z.value == near(3.354101966250)
        assert result.log_score_z.value == near(-3.354101966250)

    def test_e3(self) -> None:
        result = tn.assess_event(*E3)
        assert (result.ece.value, result.net.value) == near((0.25, -0.25))
        assert result.brier_z.value == near(0.559016994375)
        event, stated = E3
        folded = tn.tabulate(event, np.column_stack([1 - stated, stated]), variation="confidence")
        assert tn.expected_calibration_error(folded) == near(0.05)
        assert tn.signed_parts(folded).net == near(0.05)

    def test_h1(self) -> None:
        event, stated = H1
        result = tn.assess_event(event, stated)
        assert tn.hle_calibration_error(stated, event) == near(0.063245553203)
        assert (result.ece.value, result.net.value) == near((0.28, 0.28))
        assert result.rms.value == near(0.334664010614)
        assert tn.hle_calibration_error(stated[:150], event[:150]) == 0.0
        assert math.isnan(tn.hle_calibration_error(stated[:99], event[:99]))

    def test_hle_rows_are_in_their_order(self) -> None:
        stated = np.full(250, 0.5)
        event = np.arange(250) >= 100
        assert tn.hle_calibration_error(stated, event) == near(0.5 * math.sqrt(100 / 250))
        assert tn.hle_calibration_error(stated, event[::-1]) == near(0.5 * math.sqrt(100 / 250))

    def test_brier_of_a_table(self) -> None:
        found = tn.brier(tn.tabulate_events(*E1))
        assert found == near((0.28125, 0.071875, 0.00546875, 0.21484375, 3.425800798516, found.p_value))
        assert math.isnan(tn.brier(tn.tabulate_events([0, 1, 1], [0.5, 0.5, 1.0])).z)


def test_log_score_is_that_of_two_classes() -> None:
    """Σ(y - p)·logit(p)/√Σp(1 - p)logit² over fine cells, against the exact sum of a table of two classes."""
    rng = np.random.default_rng(0)
    stated = rng.uniform(0.02, 0.98, 4000)
    event = rng.random(4000) < stated**1.1
    table = tn.tabulate(event, np.column_stack([1 - stated, stated]))
    z = table.log_score_sum / math.sqrt(table.log_score_variance)
    assert tn.assess_event(event, stated).log_score_z.value == pytest.approx(z, abs=1e-3)


def test_event_and_its_opposite() -> None:
    """(s, e) and (1 - s, 1 - e): the same sizes, the opposite direction."""
    rng = np.random.default_rng(1)
    stated = rng.uniform(0.03, 0.97, 500)
    event = rng.random(500) < 0.8 * stated
    one, other = (tn.assess_event(*rows) for rows in ((event, stated), (~event, 1 - stated)))
    for name in ("ece", "rms", "brier"):
        assert getattr(one, name).value == pytest.approx(getattr(other, name).value, abs=1e-12)
    assert one.brier_z.value == pytest.approx(other.brier_z.value, abs=1e-9)
    assert one.net.value == pytest.approx(-other.net.value, abs=1e-12)


class TestWords:
    def test_thirty_percent_sure_and_right_sixty_percent_is_too_low(self) -> None:
        result = tn.assess_event(*piles((0.3, 120, 200)), what="right")
        assert result.verdict.kind == "stated-too-low"
        assert str(result.verdict).startswith(
            "stated too low: 0.30 on average, right 0.60 of the time, net gap -0.300 ["
        )
        assert "stated confidence: 200 rows, right in 60 %" in str(result)
        assert "stated most often: 0.3 in 100 %" in str(result)

    def test_only_the_brier_score(self) -> None:
        """Gaps of .05 at .85 and .15: bins show nothing, the bin-free test does."""
        result = tn.assess_event(*piles((0.85, 237, 300), (0.15, 63, 300)), what="right", bins=1)
        assert result.verdict.kind == "too-extreme"
        assert "bins show nothing at this sample size: but the Brier score says too extreme (Z = +" in str(
            result.verdict
        )

    def test_p_value_is_the_smaller_one_after_holm(self) -> None:
        result = tn.assess_event(*piles((0.8, 72, 100), (0.6, 50, 100)), what="right")
        p = sorted(finding.p_value for finding in result.evidence)
        assert [finding.key for finding in result.evidence] == ["in_the_large", "ece"]
        assert result.p_value == min(1.0, 2 * p[0], max(2 * p[0], p[1]))

    def test_default_confidence(self) -> None:
        event, stated = H1
        result = tn.assess_event(event, stated, what="right", default_confidence=True)
        (caution,) = [it for it in result.warnings if it.code == "full-confidence"]
        assert "in 50 rows of 250 the confidence is exactly 100 %" in caution.message
        assert caution.remedy == "without them ECE is 0.2000 and the net gap +0.2000"
        assert not any(it.code == "full-confidence" for it in tn.assess_event(event, stated).warnings)

    def test_unknown_words_are_refused(self) -> None:
        with pytest.raises(tn.Refusal, match="what"):
            tn.assess_event(*E1, what="wrong")


class TestGroupsAndClusters:
    def test_groups_have_corrected_p_values(self) -> None:
        event, stated = piles((0.9, 90, 150), (0.6, 90, 150))
        names = np.repeat(["law", "physics"], 150)
        result = tn.assess_event(event, stated, what="right", groups=names)
        assert [(group.name, group.n_rows, group.flagged) for group in result.groups] == [
            ("law", 150, True),
            ("physics", 150, False),
        ]
        law, physics = result.groups
        assert law.adjusted_p_value == min(1.0, 2 * law.p_value)
        assert physics.adjusted_p_value == max(physics.p_value, law.adjusted_p_value)
        assert "law" in str(result)
        assert json.loads(json.dumps(result.to_dict()))["groups"][0]["flagged"]

    def test_report(self, tmp_path: Path) -> None:
        event, stated = piles((0.9, 90, 150), (0.6, 90, 150))
        result = tn.assess_event(event, stated, what="right", groups=np.repeat(["law", "physics"], 150))
        result.write_html(tmp_path / "stated.html")
        page = (tmp_path / "stated.html").read_text()
        for words in (
            "How often are the answers right?",
            "Stated too high",
            "Brier Z",
            "1 of 2 groups",
            "physics",
        ):
            assert words in page, words
        assert "predicted probability of a right answer" in page
        assert "net gap (above 0: stated too high)" in page

    def test_groups_with_clusters(self) -> None:
        """A group is assessed as its rows alone with their clusters: only its seed and its p-value differ."""
        event, stated = piles((0.9, 90, 150), (0.6, 90, 150))
        names, rooms = np.repeat(["law", "physics"], 150), np.arange(300) // 6
        result = tn.assess_event(event, stated, what="right", groups=names, clusters=rooms)
        law = result.groups[0].assessment
        assert isinstance(result.groups[0], GroupAssessment)
        assert (law.what, law.n_clusters, law.label) == ("right", 25, "stated confidence")
        alone = tn.assess_event(event[:150], stated[:150], what="right", clusters=rooms[:150])
        assert law.in_the_large == alone.in_the_large
        assert law.table == alone.table
        few = tn.assess_event(event, stated, groups=names, clusters=np.where(names == "law", 0, rooms))
        assert "cluster" in few.groups[0].reason

    def test_columns_of_groups(self) -> None:
        """Means of stated confidences; otherwise numbers of rows, and the slope."""
        event, stated = piles((0.9, 90, 150), (0.6, 90, 150))
        names = np.repeat(["law", "physics"], 150)
        lines = str(tn.assess_event(event, stated, what="right", groups=names)).splitlines()
        at = next(k for k, line in enumerate(lines) if line.startswith("group"))
        assert lines[at].split()[:4] == ["group", "rows", "stated", "observed"]
        assert "slope" not in lines[at]
        assert lines[at + 1].split()[:5] == ["law", "150", "0.9000", "0.6000", "+0.3000"]
        lines = str(tn.assess_event(event, stated, groups=names)).splitlines()
        at = next(k for k, line in enumerate(lines) if line.startswith("group"))
        assert lines[at].split()[:6] == ["group", "rows", "expected", "observed", "gap", "slope"]
        assert lines[at + 1].split()[:5] == ["law", "150", "135", "90", "+0.3000"]

    def test_small_groups_are_named(self) -> None:
        result = tn.assess_event(*E1, groups=["a"] * 16)
        assert result.groups[0].reason == "fewer than 100 rows"

    def test_clusters_widen_the_interval(self) -> None:
        rng = np.random.default_rng(2)
        stated = np.repeat(rng.uniform(0.5, 0.99, 100), 5)
        event = np.repeat(rng.random(100) < stated[::5], 5)
        alone = tn.assess_event(event, stated, what="right")
        together = tn.assess_event(event, stated, what="right", clusters=np.repeat(np.arange(100), 5))
        assert together.n_clusters == 100
        assert together.table == alone.table
        widths = [it.net.interval.high - it.net.interval.low for it in (together, alone)]
        assert widths[0] == pytest.approx(math.sqrt(5) * widths[1], rel=0.25)
        assert abs(together.brier_z.value) < abs(alone.brier_z.value)
        assert together.p_value >= alone.p_value

    def test_few_clusters_are_refused(self) -> None:
        with pytest.raises(tn.Refusal, match="at least 5 are needed"):
            tn.assess_event(*E1, clusters=[0] * 8 + [1] * 8)


def test_a_bin_for_every_percent() -> None:
    event, stated = piles((0.01, 1, 10), (0.015001, 1, 10), (0.8, 7, 10), (0.804, 5, 10), (0.81, 5, 10))
    edges = tn.Edges([0, *(np.arange(100) + 0.5) / 100, 1])
    result = tn.assess_event(event, stated, bins=edges)
    assert result.bins.count.tolist() == [10, 10, 20, 10]


def test_piles_are_never_parted() -> None:
    stated = np.repeat([0.5, 0.8, 0.9, 0.95], [10, 30, 40, 20])
    result = tn.assess_event(np.arange(100) % 2, stated, bins=tn.EqualMass(10))
    assert result.bins.count.tolist() == [10, 30, 40, 20]


def stated_rows(n: int, shift: float, rng: np.random.Generator) -> Rows:
    """Ten values from 50 to 99 %, in piles at 80, 90 and 95; true frequency s - shift."""
    values = np.array([0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99])
    share = np.array([1, 1, 2, 1, 4, 2, 5, 4, 1, 1])
    stated = rng.choice(values, n, p=share / share.sum())
    return (rng.random(n) < stated - shift).astype(int), stated


class TestOperatingCharacteristics:
    def test_calibrated(self) -> None:
        """N = 300, 300 runs: ECE p ≤ .05 in .02 to .09, its interval covers 0 in at least .93."""
        rng = np.random.default_rng(11)
        p, covered = [], []
        for seed in range(300):
            result = event_error(*stated_rows(300, 0.0, rng), seed)
            p.append(result.p_value)
            covered.append(result.interval.low <= 0.0)
        assert 0.02 <= np.mean(np.array(p) <= 0.05) <= 0.09
        assert np.mean(covered) >= 0.93

    def test_shifted(self) -> None:
        """Shift .05, N = 1000, 100 runs: mean debiased ECE .044 to .054, net p ≤ .05 in at least .95."""
        rng = np.random.default_rng(12)
        debiased, p = [], []
        for seed in range(100):
            event, stated = stated_rows(1000, 0.05, rng)
            debiased.append(event_error(event, stated, seed).debiased)
            p.append(gap_p_value(event, stated))
        assert 0.044 <= np.mean(debiased) <= 0.054
        assert np.mean(np.array(p) <= 0.05) >= 0.95


def event_error(event: NDArray[np.int64], stated: NDArray[np.float64], seed: int) -> object:
    from trueness.old_inference.events.calibration_error import event_calibration_error
    from trueness.old_inference.events.of_table import event_bins

    (bins,) = event_bins(tn.tabulate_events(event, stated), 10)
    return event_calibration_error(bins, 0.95, [seed], 199)


def gap_p_value(event: NDArray[np.int64], stated: NDArray[np.float64]) -> float:
    from trueness.old_inference.events.in_the_large import gap_test
    from trueness.old_inference.events.of_table import event_cells

    (cells,) = event_cells(tn.tabulate_events(event, stated))
    return gap_test(cells).p_value
