"""Tables of different rows compared: noises add up, clusters that both have are one, and groups are compared."""

import json
import math
import re
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.old_inference.replicates import bootstrap_table
from trueness.old_table.tables import Tables
from trueness.refusals import InvalidTypeError, InvalidValueError

ROWS = tn.simulate.calibrated(4000, [1.0] * 3, rng=2)


def tables_of(part: slice, power: float = 1.0, **how: Any) -> Tables:
    y_true, y_prob = (array[part] for array in ROWS)
    return tn.assess(y_true, tn.simulate.sharpen(y_prob, power), resamples=39, **how).tables


class TestCompareTables:
    def test_differences_are_those_of_the_assessments(self) -> None:
        monday, tuesday = tables_of(slice(0, 2000)), tables_of(slice(2000, None), 1.4)
        found = tn.compare_tables({"monday": monday, "tuesday": tuesday}, resamples=199)
        assert not found.paired
        for name, tables in (("monday", monday), ("tuesday", tuesday)):
            alone = tn.assess_table(tables, resamples=199)
            assert found.assessments[name] == alone
        (pair,) = found.pairs
        for key in ("vce", "net", "ece", "rce"):
            contrast = pair.contrasts[key]
            first, second = (found.assessments[name].estimates[key] for name in ("monday", "tuesday"))
            assert first is not None
            assert second is not None
            assert contrast.difference == first.debiased - second.debiased
            assert contrast.interval.low < contrast.difference < contrast.interval.high
        assert found.verdicts[0].better == "monday"
        assert "monday 2000, tuesday 2000" in str(found)
        assert json.loads(json.dumps(found.to_dict()))["paired"] is False

    def test_its_lines_are_headed_by_table_and_those_of_models_by_model(self) -> None:
        days = {"monday": tables_of(slice(0, 2000)), "tuesday": tables_of(slice(2000, None))}
        y_true, y_prob = ROWS
        unpaired = tn.compare_tables(days, resamples=39)
        paired = tn.compare(y_true, {"a": y_prob, "b": tn.simulate.sharpen(y_prob, 1.4)}, resamples=39)
        for found, what, other in ((unpaired, "table", "model"), (paired, "model", "table")):
            assert re.search(rf"^{what} +VCE ", str(found), re.MULTILINE)
            assert other not in str(found)
            names, *_ = found.to_markdown("models").splitlines()
            assert names.split()[1] == what
            assert [line.split(",")[0] for line in found.to_csv(of="models").splitlines()] == [
                what,
                *found.assessments,
            ]

    def test_the_standard_error_of_the_net_gap_is_that_of_both(self) -> None:
        """√(a² + b²) to the error of 999 replicates, about 2 %, and of the noise of few bins."""
        parts = [tables_of(slice(0, 1000)), tables_of(slice(1000, None))]
        found = tn.compare_tables({"a": parts[0], "b": parts[1]}, rng=1)
        widths = [it.net.interval.high - it.net.interval.low for it in found.assessments.values()]
        (pair,) = found.pairs
        width = pair.net.interval.high - pair.net.interval.low
        assert width == pytest.approx(math.hypot(*widths), rel=0.12)

    def test_the_same_seed_gives_the_same_numbers_and_names_do_not_share_noise(self) -> None:
        table = tables_of(slice(0, 2000))
        first, again = (tn.compare_tables({"a": table, "b": table}, resamples=99, rng=4) for _ in range(2))
        assert first.pairs[0].contrasts == again.pairs[0].contrasts
        assert first.pairs[0].net.difference == 0
        assert first.pairs[0].net.interval.high > 0.01  # of the same table, but as if of other rows

    def test_clusters_that_both_tables_have_are_one(self) -> None:
        """Two halves of each cluster, with the same error: the difference has less noise than of other clusters."""
        seeds = np.random.default_rng(5)
        y_true, y_prob = tn.simulate.calibrated(200, [1.0] * 3, rng=seeds)
        names = np.repeat(np.arange(200), 10)
        result = [
            tn.assess(y_true[names], y_prob[names], clusters=some, resamples=99).tables
            for some in (names, names, names + 1000)
        ]
        widths = []
        for other in result[1:]:
            (pair,) = tn.compare_tables({"a": result[0], "b": other}, resamples=199).pairs
            widths.append(pair.net.interval.high - pair.net.interval.low)
        assert widths[0] < 0.2 * widths[1]

    def test_bins_may_be_chosen_later(self) -> None:
        fine = [tables_of(part, bins=tn.EqualWidth(400)) for part in (slice(0, 2000), slice(2000, None))]
        found = tn.compare_tables({"a": fine[0], "b": fine[1]}, bins=tn.EqualMass(5), resamples=99)
        assert all(result.table.n_bins == 5 for result in found.assessments.values())

    @pytest.mark.parametrize(
        ("tables", "error", "cause"),
        [
            ({"a": tables_of(slice(0, 500))}, InvalidTypeError, "two or more"),
            ([1, 2], InvalidTypeError, "two or more"),
            ({"a": tables_of(slice(0, 500)), "b": 3}, InvalidTypeError, "CalibrationTable"),
            (
                {"a": tables_of(slice(0, 500)), "b": tn.tabulate([0, 1], [0.2, 0.8])},
                InvalidValueError,
                "different classes",
            ),
            (
                {"a": tables_of(slice(0, 500)), "b": tables_of(slice(0, 500), variation="iqv")},
                InvalidValueError,
                "different measures",
            ),
            (
                {"a": tables_of(slice(0, 500)), "b": tables_of(slice(0, 500), clusters=np.arange(500) // 5)},
                InvalidValueError,
                "different kinds of rows",
            ),
        ],
    )
    def test_refusals(self, tables: Any, error: type[Exception], cause: str) -> None:
        with pytest.raises(error, match=cause):
            tn.compare_tables(tables)

    def test_size_and_coverage(self) -> None:
        """Two halves of the same population: 5 % at most are called different, with four errors of 80 runs."""
        runs, seeds, rejected, covered = 80, np.random.default_rng(6), [], []
        for _ in range(runs):
            parts = {}
            for name in ("a", "b"):
                y_true, y_prob = tn.simulate.calibrated(600, [1.0] * 3, rng=seeds)
                parts[name] = tn.tabulate(y_true, tn.simulate.sharpen(y_prob, 1.3), bins=5)
            (pair,) = tn.compare_tables(parts, resamples=99, rng=seeds).pairs
            rejected.append(pair.p_value <= 0.05)
            covered.append(pair.net.interval.low <= 0 <= pair.net.interval.high)
        assert np.mean(rejected) <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / runs)
        assert np.mean(covered) >= 0.93 - 4 * math.sqrt(0.93 * 0.07 / runs)


class TestReplicatesOfATable:
    def test_mean_and_variance(self) -> None:
        """Poisson rank counts around the table: mean and variance n·r, to their errors."""
        table = tn.tabulate(*ROWS, bins=5)
        made = bootstrap_table(table, 5000, [3])
        expected = table.rank_count
        np.testing.assert_allclose(
            made.rank.mean(axis=2), expected, atol=5 * np.sqrt(expected.max() / 5000) + 1
        )
        np.testing.assert_allclose(made.rank.var(axis=2), expected, rtol=0.15, atol=2)
        np.testing.assert_allclose(made.ordered.sum(axis=1), made.rank.sum(axis=1))


class TestCompareGroups:
    site = np.array(["north", "south", "east"])[np.arange(4000) % 3]
    y_prob = np.where((site == "north")[:, None], tn.simulate.sharpen(ROWS[1], 1.6), ROWS[1])

    @pytest.mark.parametrize("clusters", [None, np.arange(4000) // 8])
    def test_against_the_rest_and_each_other(self, clusters: Any) -> None:
        result = tn.assess(ROWS[0], self.y_prob, groups=self.site, resamples=99, clusters=clusters)
        rest = result.compare_groups()
        assert [(pair.first, pair.second) for pair in rest.pairs] == [
            (name, f"not {name}") for name in ("east", "north", "south")
        ]
        assert rest.assessments["not north"].n_rows == 4000 - result.groups[1].n_rows
        assert rest.verdicts[1].better == "not north"
        each = result.compare_groups("each")
        assert [(pair.first, pair.second) for pair in each.pairs] == [
            ("east", "north"),
            ("east", "south"),
            ("north", "south"),
        ]
        assert each.verdicts[1].kind == "none"
        assert each.pairs[0].adjusted_p_value >= each.pairs[0].p_value
        whole = rest.assessments["north"].tables + rest.assessments["not north"].tables
        assert whole == result.tables

    def test_without_groups(self) -> None:
        with pytest.raises(InvalidValueError, match="groups"):
            tn.assess(*ROWS, resamples=39).compare_groups()
        with pytest.raises(ValueError, match="against"):
            tn.assess(*ROWS, groups=self.site, resamples=39).compare_groups("all")

    def test_as_a_part_of_the_assessment(self) -> None:
        result = tn.assess(ROWS[0], self.y_prob, groups=self.site, resamples=99)
        assert "compared_groups" not in result.to_dict()
        for against in ("rest", "each"):
            whole, alone = result.with_compared_groups(against), result.compare_groups(against)
            content = json.loads(json.dumps(whole.to_dict(), allow_nan=False))["compared_groups"]
            assert content["against"] == against
            assert content["pairs"] == json.loads(json.dumps(alone.to_dict()["pairs"]))
            assert [each["better"] for each in content["verdicts"]] == [it.better for it in alone.verdicts]
            assert {**whole.to_dict(), "compared_groups": None} == {
                **result.to_dict(),
                "compared_groups": None,
            }
        text = str(result.with_compared_groups())
        assert "3 of 3 groups differ from the rest in calibration" in text
        assert re.search(r"north +\+0\.1.* 0\.001  worse than the rest\n", text)
        assert "2 of 3 pairs of groups differ in calibration" in str(result.with_compared_groups("each"))
        assert "east is better" in str(result.with_compared_groups("each"))

    def test_a_group_named_like_the_rest_of_another(self) -> None:
        names = np.array(["a", "not a", "b"])[np.arange(4000) % 3]
        rest = tn.assess(*ROWS, groups=names, resamples=39).compare_groups()
        assert [(pair.first, pair.second) for pair in rest.pairs] == [
            ("a", "not not a"),
            ("b", "not b"),
            ("not a", "not not not a"),
        ]
        assert len(rest.assessments) == 6

    def test_too_many_pairs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("trueness.old_assessment.unpaired.MOST_PAIRS", 2)
        result = tn.assess(*ROWS, groups=self.site, resamples=39)
        with pytest.raises(InvalidValueError, match=r"3 groups make 3 pairs, more than 2; .*'rest'"):
            result.compare_groups("each")
