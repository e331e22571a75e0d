"""`compare`: differences, verdicts, groups, clusters, and the printed page."""

import json
import math
from typing import Any

import inference_oracle as exact
import numpy as np
import pytest
from comparison_data import EF, GOOD, METRICS, MODELS, RESULT, SHARP, Y_TRUE, assert_same

import trueness as tn


class TestDifferences:
    def test_models_that_hardly_differ(self) -> None:
        """What they have in common cancels: no metric's interval is longer than a tenth of that for another model."""
        near = tn.simulate.sharpen(SHARP, 1.002)
        (close,) = tn.compare(Y_TRUE, {"a": SHARP, "b": near}, bins=EF, rng=0, resamples=99).pairs
        (apart,) = tn.compare(Y_TRUE, {"a": SHARP, "b": GOOD}, bins=EF, rng=0, resamples=99).pairs
        for key in METRICS:
            short, long = (getattr(pair, key).interval for pair in (close, apart))
            assert short.high - short.low < 0.1 * (long.high - long.low), key

    def test_the_assessments_are_those_of_assess(self) -> None:
        for name, y_prob in MODELS.items():
            assert RESULT.assessments[name] == tn.assess(Y_TRUE, y_prob, rng=2, resamples=199)
        for pair in RESULT.pairs:
            for key in METRICS:
                first, second = (
                    getattr(RESULT.assessments[name], key).debiased for name in (pair.first, pair.second)
                )
                assert getattr(pair, key).difference == pytest.approx(first - second, abs=1e-12)

    def test_holm_over_three_models(self) -> None:
        assert [(p.first, p.second) for p in RESULT.pairs] == [
            ("good", "sharp"),
            ("good", "blunt"),
            ("sharp", "blunt"),
        ]
        for key in METRICS:
            p = [getattr(pair, key).p_value for pair in RESULT.pairs]
            adjusted = [getattr(pair, key).adjusted_p_value for pair in RESULT.pairs]
            assert adjusted == pytest.approx(exact.holm(p))

    def test_models_in_reverse_order(self) -> None:
        """The difference and its interval change sign, the p-value stays."""
        turned = tn.compare(Y_TRUE, {"sharp": SHARP, "good": GOOD}, rng=2, resamples=199).pairs[0]
        straight = RESULT.pairs[0]
        for key in METRICS:
            a, b = getattr(turned, key), getattr(straight, key)
            assert a.difference == pytest.approx(-b.difference, abs=1e-12)
            assert (a.interval.low, a.interval.high) == pytest.approx((-b.interval.high, -b.interval.low))
            assert a.p_value == b.p_value

    def test_what_rows_share_cancels(self) -> None:
        """Two models that are nearly the same differ by far less noise than either has alone."""
        near = tn.simulate.sharpen(SHARP, 1.01)
        pair = tn.compare(Y_TRUE, {"a": SHARP, "b": near}, rng=0, resamples=199).pairs[0]
        alone = RESULT.assessments["sharp"].net.interval
        assert pair.net.interval.high - pair.net.interval.low < (alone.high - alone.low) / 3

    def test_a_model_and_its_negation(self) -> None:
        """VCE, the net gap and every symmetric metric are equal; ECE and RCE are not."""
        y_true, y_prob = tn.simulate.calibrated(2000, [1.0, 1.0], rng=1)
        result = tn.compare(y_true, {"right": y_prob, "negated": y_prob[:, ::-1]}, resamples=199)
        (pair,), (verdict,) = result.pairs, result.verdicts
        assert abs(pair.vce.difference) < 0.005  # by the draws alone
        assert pair.vce.p_value > 0.05
        assert pair.net.p_value > 0.05
        assert pair.adjusted_p_value <= 0.001
        assert (verdict.kind, verdict.better) == ("better", "right")
        assert "ECE(right) - ECE(negated) = -0." in str(verdict)

    def test_a_signed_difference_does_not_name_the_better_model(self) -> None:
        """Net gaps of a calibrated model and one sharpened by 1.1 differ clearly; which is nearer to 0 is noise."""
        for seed in range(12):
            y_true, y_prob = tn.simulate.calibrated(1000, [1.0] * 3, rng=seed)
            models = {"true": y_prob, "sharp": tn.simulate.sharpen(y_prob, 1.1)}
            (verdict,) = tn.compare(y_true, models, resamples=99).verdicts
            assert verdict.better != "sharp"
            if verdict.kind == "differ":
                assert "sharp is more confident than true" in str(verdict)

    def test_events_that_did_not_happen(self) -> None:
        """A hundred rows without an event do not distinguish a forecast of .004 from one of .006."""
        (verdict,) = tn.compare(
            np.zeros(100, int), {"a": np.full(100, 0.004), "b": np.full(100, 0.006)}
        ).verdicts
        assert verdict.better is None

    def test_tolerance_and_warnings_are_printed(self) -> None:
        result = tn.compare(Y_TRUE, {"a": GOOD, "b": SHARP}, tolerance=0.02, resamples=99)
        assert f"b: {result.assessments['b'].verdict}" in str(result)
        assert "95 % intervals" in str(result)
        certain = tn.compare(
            [0, 1] * 50, {"a": np.eye(2)[[0, 0] * 50], "b": [[0.5, 0.5]] * 100}, resamples=99
        )
        assert "\na: in 50 rows of 100 the true class had probability 0" in str(certain)
        assert "\nb: in 100 rows of 100 another class has the same probability" in str(certain)

    def test_four_models_with_few_resamples(self) -> None:
        """Six pairs and 99 resamples: the correction needs p-values below any share of replicates."""
        models = {f"a={a}": tn.simulate.sharpen(GOOD, a) for a in (1.0, 1.5, 2.0, 3.0)}
        result = tn.compare(Y_TRUE, models, resamples=99)
        assert result.pairs[2].adjusted_p_value < 0.01
        assert result.verdicts[2].better == "a=1.0"

    def test_print_and_dict(self) -> None:
        result = tn.compare(Y_TRUE, MODELS, rng=2, resamples=99, groups=np.arange(1500) % 20)
        page = str(result)
        assert repr(result) == page
        for word in ("good", "sharp", "blunt", "debiased", "net gap", "seed 2", "fewer than 100 rows"):
            assert word in page
        content = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert (content["schema"], content["kind"]) == (2, "comparison")
        assert content["pairs"][0]["vce"]["difference"] == result.pairs[0].vce.difference
        assert set(content["assessments"]) == set(MODELS)
        assert content["groups"][0]["comparison"] is None

    @pytest.mark.parametrize("variation", ["confidence", "iqv", "margin"])
    def test_other_measures(self, variation: str) -> None:
        models = {"good": GOOD, "sharp": tn.simulate.sharpen(GOOD, 2)}
        (pair,) = tn.compare(Y_TRUE, models, variation=variation, rng=0, resamples=99).pairs
        assert pair.net.interval.high < 0  # the second is over-confident, the first is not
        assert pair.vce.adjusted_p_value <= 0.05
        if variation == "confidence":
            assert pair.vce.difference == pytest.approx(pair.ece.difference, abs=1e-12)

    def test_edges_ties_weights_and_logits(self) -> None:
        weight = 1.0 + np.arange(1500) % 2
        options: dict[str, Any] = {"rng": 0, "resamples": 99, "bins": tn.Edges([0, 0.5, 0.8, 1])}
        plain = tn.compare(Y_TRUE, {"a": GOOD, "b": SHARP}, sample_weight=weight, ties="split", **options)
        logits = tn.compare(
            Y_TRUE,
            {"a": np.log(GOOD), "b": np.log(SHARP)},
            sample_weight=weight,
            ties="split",
            from_logits=True,
            **options,
        )
        assert logits.pairs[0].vce.difference == pytest.approx(plain.pairs[0].vce.difference, abs=1e-9)
        assert plain.assessments["a"].table.n_bins == 3
        assert plain.assessments["a"].table.spec.weighted

    def test_weights_that_leave_rows_out(self) -> None:
        """A row of weight 0 does not count, but keeps its place: the others keep their bootstrap weights."""
        weight = (np.arange(1500) % 3 > 0).astype(float)
        some = tn.compare(Y_TRUE, {"a": GOOD, "b": SHARP}, sample_weight=weight, rng=0, resamples=99)
        spoiled = np.where(weight[:, None] > 0, SHARP, GOOD)
        same = tn.compare(Y_TRUE, {"a": GOOD, "b": spoiled}, sample_weight=weight, rng=0, resamples=99)
        assert some.pairs[0].vce == same.pairs[0].vce

    def test_few_rows_give_numbers(self) -> None:
        """Replicates in which no row is drawn must not spoil the result."""
        result = tn.compare(Y_TRUE[:4], {"a": GOOD[:4], "b": SHARP[:4]}, rng=0)
        for key in METRICS:
            contrast = getattr(result.pairs[0], key)
            assert math.isfinite(contrast.interval.low)
            assert math.isfinite(contrast.interval.high)
            assert 0 < contrast.p_value <= 1


class TestGroups:
    SITE = np.array(["x", "y", "z"])[np.random.default_rng(0).choice(3, 1500, p=[0.6, 0.35, 0.05])]

    def test_each_group_is_its_rows_alone_with_their_weights(self) -> None:
        n_rows = 1000  # so few that rows are not dealt into blocks
        y_true, site = Y_TRUE[:n_rows], self.SITE[:n_rows]
        models = {name: y_prob[:n_rows] for name, y_prob in MODELS.items()}
        result = tn.compare(y_true, models, groups=site, rng=2, resamples=99)
        plain = tn.compare(y_true, models, rng=2, resamples=99)
        assert_same(tn.compare(y_true, models, rng=2, resamples=99), plain)
        for mine, theirs in zip(result.pairs, plain.pairs, strict=True):
            assert mine.vce.interval.low == pytest.approx(theirs.vce.interval.low, abs=1e-10)
        x, y, z = result.groups
        assert (x.name, y.name, z.name) == ("x", "y", "z")
        assert z.comparison is None
        assert z.reason == "fewer than 100 rows"
        assert z.adjusted_p_values == ()
        for group in (x, y):
            # Rows of no weight keep their places, so that this is the group with its own weights.
            alone = tn.compare(
                y_true, models, sample_weight=(group.name == site).astype(float), rng=2, resamples=99
            )
            assert group.comparison is not None
            for mine, theirs in zip(group.comparison.pairs, alone.pairs, strict=True):
                assert mine.net.interval.low == pytest.approx(theirs.net.interval.low, abs=1e-9)
                assert mine.vce.difference == pytest.approx(theirs.vce.difference, abs=1e-9)

    def test_correction_across_groups(self) -> None:
        result = tn.compare(Y_TRUE, MODELS, groups=self.SITE, rng=2, resamples=99)
        compared = [group for group in result.groups if group.comparison is not None]
        for k in range(3):
            p = [group.comparison.pairs[k].adjusted_p_value for group in compared if group.comparison]
            assert [group.adjusted_p_values[k] for group in compared] == pytest.approx(
                exact.benjamini_hochberg(p)
            )

    def test_combinations_of_columns(self) -> None:
        half = np.arange(1500) % 2
        columns = {"site": self.SITE, "half": half}
        names = [f"site={site}, half={number}" for site, number in zip(self.SITE, half, strict=True)]
        models = {"good": GOOD, "sharp": SHARP}
        got, want = (
            tn.compare(Y_TRUE, models, groups=groups, rng=2, resamples=39).to_dict()
            for groups in (columns, names)
        )
        assert got == want

    def test_flagged_groups_are_printed_first(self) -> None:
        last = max(np.unique(self.SITE).tolist())
        other = np.where((last == self.SITE)[:, None], tn.simulate.sharpen(GOOD, 4), GOOD)
        result = tn.compare(Y_TRUE, {"good": GOOD, "other": other}, groups=self.SITE, rng=2, min_group_size=1)
        printed = [
            line.split(",")[0] for line in str(result).splitlines() if "adjusted for the number" in line
        ]
        assert printed == [last, *(group.name for group in result.groups if group.name != last)]

    def test_all_groups_too_small(self) -> None:
        result = tn.compare(
            Y_TRUE, {"a": GOOD, "b": SHARP}, groups=self.SITE, min_group_size=2000, rng=2, resamples=39
        )
        assert [group.comparison for group in result.groups] == [None] * 3


class TestClusters:
    def test_copies_of_rows_are_not_new_rows(self) -> None:
        """Eight copies of each row, in clusters: the noise is that of the rows, not of their copies."""
        n = 300
        eight = np.repeat(np.arange(n), 8)
        models = {"good": GOOD[:n], "sharp": SHARP[:n]}
        copies = {name: p[eight] for name, p in models.items()}
        bins = {
            name: (tn.EqualMass(5).fit(p), tn.EqualMass(5).fit(p, variation="confidence"))
            for name, p in models.items()
        }

        def width(y_true: Any, y_probs: Any, clusters: Any) -> float:
            comparer = tn.Comparer(3, models=["good", "sharp"], bins=bins, rng=0)
            comparer.update(y_true, y_probs, clusters=clusters)
            interval = comparer.result().pairs[0].net.interval
            return interval.high - interval.low

        alone = width(Y_TRUE[:n], models, None)
        # Quantiles of 999 replicates at 2.5 and 97.5 %: about 5 % of a width.
        assert width(Y_TRUE[eight], copies, eight) == pytest.approx(alone, rel=0.25)
        assert width(Y_TRUE[eight], copies, None) < alone / 2

    def test_assessments_have_the_number_of_clusters(self) -> None:
        patient = np.arange(1500) // 10
        result = tn.compare(Y_TRUE, {"a": GOOD, "b": SHARP}, clusters=patient, rng=0, resamples=99)
        assert result.assessments["a"].n_clusters == 150

    def test_order_of_rows_does_not_matter(self) -> None:
        patient, order = np.arange(1500) // 10, np.random.default_rng(1).permutation(1500)
        straight = tn.compare(Y_TRUE, {"a": GOOD, "b": SHARP}, clusters=patient, rng=0, resamples=99)
        mixed = tn.compare(
            Y_TRUE[order], {"a": GOOD[order], "b": SHARP[order]}, clusters=patient[order], rng=0, resamples=99
        )
        assert_same(mixed, straight)
