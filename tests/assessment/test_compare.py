"""Several models on the same rows: the same weights, batches that add up, differences whose noise is what it says."""

import json
import math
from functools import cache
from itertools import pairwise
from typing import Any

import inference_oracle as exact
import numpy as np
import pytest

import trueness as tn
from trueness.assessment._contrasts import tail_p_value
from trueness.inference.bootstrap_weights import BLOCK_ROWS, SLOTS, RowWeights, identity, stream_key
from trueness.inference.null import p_value

pytestmark = pytest.mark.simulation

Y_TRUE, GOOD = tn.simulate.calibrated(1500, [1.0] * 3, rng=1)
SHARP = tn.simulate.sharpen(GOOD, 1.5)
BLUNT = tn.simulate.sharpen(GOOD, 0.8)
MODELS = {"good": GOOD, "sharp": SHARP, "blunt": BLUNT}
RESULT = tn.compare(Y_TRUE, MODELS, rng=2, resamples=199)
NUMBERS = ("vce", "net", "ece", "rce", "rce_w1")
EF = tn.EqualMass(10)


class TestPoissonWeights:
    def test_the_table_of_weights(self) -> None:
        """65536 slots, mean and variance exactly 1, every share within 2 slots and a bit of Poisson(1)."""
        assert sum(SLOTS) == 2**16
        assert sum(k * n for k, n in enumerate(SLOTS)) == 2**16
        assert sum(k * k * n for k, n in enumerate(SLOTS)) == 2 * 2**16
        for k, n in enumerate(SLOTS):
            assert n / 2**16 == pytest.approx(exact.poisson_pmf(k), abs=1.5e-4)

    def test_as_drawn(self) -> None:
        """Shares of 512000 weights within five errors of those of the table, and no two replicates alike."""
        weights = RowWeights(stream_key([1]), 256).block(0, 2000)
        for k, n in enumerate(SLOTS):
            share = n / 2**16
            error = 5 * math.sqrt(share * (1 - share) / weights.size) + 1e-9
            assert np.mean(weights == k) == pytest.approx(share, abs=error)
        rows, replicates = np.corrcoef(weights[:200]), np.corrcoef(weights.T[:100])
        for correlation, size in ((rows, 256), (replicates, 2000)):
            beside = correlation[~np.eye(len(correlation), dtype=bool)]
            assert np.abs(beside).max() < 6 / math.sqrt(size)

    def test_position_alone_decides(self) -> None:
        whole = RowWeights(5, 7).block(0, 3 * BLOCK_ROWS)
        for start, stop in ((0, 1), (5, 9), (BLOCK_ROWS - 1, BLOCK_ROWS + 1), (100, 2 * BLOCK_ROWS + 3)):
            assert (RowWeights(5, 7).block(start, stop) == whole[start:stop]).all()
            assert (RowWeights(5, 7, first_row=start).block(0, stop - start) == whole[start:stop]).all()
        assert (RowWeights(6, 7).block(0, 100) != whole[:100]).any()

    def test_identity_is_the_same_everywhere(self) -> None:
        """A hash of the name, not Python's, which changes with the process."""
        assert identity("patient-7") == 13551768810836757873  # blake2b, eight bytes, little-endian
        assert identity(7) == identity(7.0) == identity("7")
        assert identity("a") != identity("b")


class TestBatches:
    @pytest.mark.parametrize("cuts", [(0, 1500), (0, 1, 700, 1500), tuple(range(0, 1501, 150))])
    def test_a_comparer_in_batches_is_compare(self, cuts: tuple[int, ...]) -> None:
        comparer = tn.Comparer(3, models=list(MODELS), rng=2, resamples=199)
        for start, stop in pairwise(cuts):
            batch = {name: p[start:stop] for name, p in MODELS.items()}
            comparer.update(Y_TRUE[start:stop], batch)
        assert comparer.n_rows == 1500
        assert_same(comparer.result(), RESULT)

    def test_bins_of_equal_mass(self) -> None:
        want = tn.compare(Y_TRUE, MODELS, bins=EF, rng=2, resamples=99)
        edges = {name: (EF.fit(p), EF.fit(p, variation="confidence")) for name, p in MODELS.items()}
        comparer = tn.Comparer(3, models=list(MODELS), bins=edges, rng=2, resamples=99)
        for part in (slice(0, 600), slice(600, None)):
            comparer.update(Y_TRUE[part], {name: p[part] for name, p in MODELS.items()})
        assert_same(comparer.result(), want)

    def test_groups_and_clusters_in_batches(self) -> None:
        site, patient = np.arange(1500) % 2, np.arange(1500) // 10
        want = tn.compare(Y_TRUE, MODELS, groups=site, clusters=patient, rng=2, resamples=99)
        comparer = tn.Comparer(3, models=list(MODELS), rng=2, resamples=99)
        for part in (slice(0, 601), slice(601, None)):
            comparer.update(
                Y_TRUE[part],
                {name: p[part] for name, p in MODELS.items()},
                groups=site[part],
                clusters=patient[part],
            )
        got = comparer.result()
        assert_same(got, want)
        assert [group.n_rows for group in got.groups] == [750, 750]
        assert got.assessments["good"].n_clusters == want.assessments["good"].n_clusters == 150

    def test_order_of_the_mapping_does_not_matter_to_an_update(self) -> None:
        comparer = tn.Comparer(3, models=list(MODELS), rng=2, resamples=199)
        comparer.update(Y_TRUE, dict(reversed(MODELS.items())))
        assert_same(comparer.result(), RESULT)

    def test_a_refused_batch_leaves_nothing_behind(self) -> None:
        comparer = tn.Comparer(3, models=["good", "sharp"], rng=2, resamples=199)
        pair = {"good": GOOD, "sharp": SHARP}
        comparer.update(Y_TRUE, pair, groups=np.zeros(1500))
        before = comparer.result().to_dict()
        spoiled = SHARP.copy()
        spoiled[9] = 2
        with pytest.raises(ValueError, match="row 9"):
            comparer.update(Y_TRUE, {"good": GOOD, "sharp": spoiled})
        with pytest.raises(ValueError, match="clusters must be given with every batch"):
            comparer.update(Y_TRUE, pair, groups=np.ones(1500), clusters=np.arange(1500))
        assert comparer.n_rows == 1500
        assert comparer.result().to_dict() == before


def assert_same(got: tn.Comparison, want: tn.Comparison) -> None:
    """Tables to the bit, replicates to rounding: sums of another order."""
    for name, assessment in want.assessments.items():
        assert got.assessments[name] == assessment or got.assessments[name].table == assessment.table
        assert got.assessments[name].vce.debiased == pytest.approx(assessment.vce.debiased, abs=1e-10)
    assert [(pair.first, pair.second) for pair in got.pairs] == [
        (pair.first, pair.second) for pair in want.pairs
    ]
    for mine, theirs in zip(got.pairs, want.pairs, strict=True):
        for number in NUMBERS:
            a, b = getattr(mine, number), getattr(theirs, number)
            assert a.difference == pytest.approx(b.difference, abs=1e-10)
            assert a.interval.low == pytest.approx(b.interval.low, abs=1e-10)
            assert a.interval.high == pytest.approx(b.interval.high, abs=1e-10)
            assert a.p_value == pytest.approx(b.p_value, rel=1e-6)  # tails are not shares
            assert a.adjusted_p_value == pytest.approx(b.adjusted_p_value, rel=1e-6)
    assert len(got.groups) == len(want.groups)
    for mine_group, their_group in zip(got.groups, want.groups, strict=True):
        assert mine_group.name == their_group.name
        assert mine_group.adjusted_p_values == pytest.approx(their_group.adjusted_p_values)


class TestDifferences:
    def test_identical_models(self) -> None:
        (pair,) = tn.compare(Y_TRUE, {"a": SHARP, "b": SHARP.copy()}, rng=0, resamples=99).pairs
        for number in NUMBERS:
            contrast = getattr(pair, number)
            assert contrast.difference == 0
            assert (contrast.interval.low, contrast.interval.high) == (0, 0)
            assert contrast.p_value == contrast.adjusted_p_value == 1

    def test_models_that_hardly_differ(self) -> None:
        """What they have in common cancels: no number's interval is longer than a tenth of that for another model."""
        near = tn.simulate.sharpen(SHARP, 1.002)
        (close,) = tn.compare(Y_TRUE, {"a": SHARP, "b": near}, bins=EF, rng=0, resamples=99).pairs
        (apart,) = tn.compare(Y_TRUE, {"a": SHARP, "b": GOOD}, bins=EF, rng=0, resamples=99).pairs
        for number in NUMBERS:
            short, long = (getattr(pair, number).interval for pair in (close, apart))
            assert short.high - short.low < 0.1 * (long.high - long.low), number

    def test_the_models_are_those_of_assess(self) -> None:
        for name, y_prob in MODELS.items():
            assert RESULT.assessments[name] == tn.assess(Y_TRUE, y_prob, rng=2, resamples=199)
        for pair in RESULT.pairs:
            for number in NUMBERS:
                first, second = (
                    getattr(RESULT.assessments[name], number).debiased for name in (pair.first, pair.second)
                )
                assert getattr(pair, number).difference == pytest.approx(first - second, abs=1e-12)

    def test_holm_over_three_models(self) -> None:
        assert [(p.first, p.second) for p in RESULT.pairs] == [
            ("good", "sharp"),
            ("good", "blunt"),
            ("sharp", "blunt"),
        ]
        for number in NUMBERS:
            p = [getattr(pair, number).p_value for pair in RESULT.pairs]
            adjusted = [getattr(pair, number).adjusted_p_value for pair in RESULT.pairs]
            assert adjusted == pytest.approx(exact.holm(p))

    def test_turned_round(self) -> None:
        """The other way round the difference and its interval change sign, the p-value stays."""
        turned = tn.compare(Y_TRUE, {"sharp": SHARP, "good": GOOD}, rng=2, resamples=199).pairs[0]
        straight = RESULT.pairs[0]
        for number in NUMBERS:
            a, b = getattr(turned, number), getattr(straight, number)
            assert a.difference == pytest.approx(-b.difference, abs=1e-12)
            assert (a.interval.low, a.interval.high) == pytest.approx((-b.interval.high, -b.interval.low))
            assert a.p_value == b.p_value

    def test_what_rows_share_cancels(self) -> None:
        """Two models that are nearly the same differ by far less noise than either has alone."""
        near = tn.simulate.sharpen(SHARP, 1.01)
        pair = tn.compare(Y_TRUE, {"a": SHARP, "b": near}, rng=0, resamples=199).pairs[0]
        alone = RESULT.assessments["sharp"].net.interval
        assert pair.net.interval.high - pair.net.interval.low < (alone.high - alone.low) / 3

    def test_verdicts(self) -> None:
        said = RESULT.verdict.splitlines()
        assert said[0].startswith("good is better calibrated than sharp: VCE good - sharp = -0.")
        close = tn.compare(Y_TRUE, {"a": GOOD, "b": tn.simulate.sharpen(GOOD, 1.001)}, rng=0, resamples=99)
        assert close.verdict.startswith("no evidence that a and b differ in calibration: VCE a - b = ")
        assert close.verdicts[0].kind == "none"

    def test_a_model_and_its_negation(self) -> None:
        """VCE, net and every symmetric number are equal; ECE and RCE are not."""
        y_true, y_prob = tn.simulate.calibrated(2000, [1.0, 1.0], rng=1)
        result = tn.compare(y_true, {"right": y_prob, "negated": y_prob[:, ::-1]}, resamples=199)
        (pair,), (verdict,) = result.pairs, result.verdicts
        assert abs(pair.vce.difference) < 0.005  # by the draws alone
        assert pair.vce.p_value > 0.05
        assert pair.net.p_value > 0.05
        assert pair.adjusted_p_value <= 0.001
        assert (verdict.kind, verdict.better) == ("better", "right")
        assert "ECE right - negated = -0." in str(verdict)

    def test_a_signed_difference_does_not_name_the_better_model(self) -> None:
        """Net gaps of a calibrated model and one sharpened by 1.1 differ clearly; which is nearer to 0 is noise."""
        for seed in range(12):
            y_true, y_prob = tn.simulate.calibrated(1000, [1.0] * 3, rng=seed)
            models = {"true": y_prob, "sharp": tn.simulate.sharpen(y_prob, 1.1)}
            (verdict,) = tn.compare(y_true, models, resamples=99).verdicts
            assert verdict.better != "sharp"
            if verdict.kind == "differ":
                assert "sharp states more certainty than true" in str(verdict)

    def test_events_that_did_not_happen(self) -> None:
        """A hundred rows without an event cannot tell a forecast of .004 from one of .006."""
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
        assert "a: warnings " in str(certain)
        assert "impossible" in str(certain)

    def test_errors_in_opposite_directions(self) -> None:
        y_true, y_prob = tn.simulate.calibrated(3000, [1.0] * 3, rng=1)
        models = {"blunt": tn.simulate.sharpen(y_prob, 0.7), "sharp": tn.simulate.sharpen(y_prob, 1.35)}
        (verdict,) = tn.compare(y_true, models, resamples=199).verdicts
        assert (verdict.kind, verdict.better) == ("differ", None)
        assert "blunt is under-confident, sharp is over-confident" in str(verdict)

    def test_four_models_with_few_resamples(self) -> None:
        """Six pairs and 99 resamples: no share of replicates could pass the correction, the tail can."""
        models = {f"a={a}": tn.simulate.sharpen(GOOD, a) for a in (1.0, 1.5, 2.0, 3.0)}
        result = tn.compare(Y_TRUE, models, resamples=99)
        assert result.pairs[2].adjusted_p_value < 0.01
        assert result.verdicts[2].better == "a=1.0"

    def test_columns_say_what_they_are(self) -> None:
        kinds, metrics = str(RESULT).splitlines()[2:4]
        assert kinds.split() == ["plug-in", *["debiased"] * 4]
        assert " ".join(metrics.split()) == "model VCE VCE net gap ECE RCE p accuracy Brier log-loss"

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
        """Weight 0 is absence, but the row keeps its place: the others keep their bootstrap weights."""
        weight = (np.arange(1500) % 3 > 0).astype(float)
        some = tn.compare(Y_TRUE, {"a": GOOD, "b": SHARP}, sample_weight=weight, rng=0, resamples=99)
        spoiled = np.where(weight[:, None] > 0, SHARP, GOOD)
        same = tn.compare(Y_TRUE, {"a": GOOD, "b": spoiled}, sample_weight=weight, rng=0, resamples=99)
        assert some.pairs[0].vce == same.pairs[0].vce

    def test_few_rows_give_numbers(self) -> None:
        """Replicates in which no row is drawn must not spoil the answer."""
        result = tn.compare(Y_TRUE[:4], {"a": GOOD[:4], "b": SHARP[:4]}, rng=0)
        for number in NUMBERS:
            contrast = getattr(result.pairs[0], number)
            assert math.isfinite(contrast.interval.low)
            assert math.isfinite(contrast.interval.high)
            assert 0 < contrast.p_value <= 1


class TestGroups:
    SITE = np.array(["x", "y", "z"])[np.random.default_rng(0).choice(3, 1500, p=[0.6, 0.35, 0.05])]

    def test_each_group_is_its_rows_alone_with_their_weights(self) -> None:
        result = tn.compare(Y_TRUE, MODELS, groups=self.SITE, rng=2, resamples=99)
        plain = tn.compare(Y_TRUE, MODELS, rng=2, resamples=99)
        assert_same(tn.compare(Y_TRUE, MODELS, rng=2, resamples=99), plain)
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
                Y_TRUE, MODELS, sample_weight=(group.name == self.SITE).astype(float), rng=2, resamples=99
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

    def test_the_assessments_know_the_clusters(self) -> None:
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


class TestRefusals:
    def test_models(self) -> None:
        for wrong in ({"a": GOOD}, [GOOD, SHARP], {}, None):
            with pytest.raises(TypeError, match=r"y_probs must be a mapping of two or more models"):
                tn.compare(Y_TRUE, wrong)
        for models in ("ab", ["a"], ["a", "a"]):
            with pytest.raises(ValueError, match=r"models must be two or more different names"):
                tn.Comparer(3, models=models)

    def test_updates(self) -> None:
        comparer = tn.Comparer(3, models=["a", "b"])
        with pytest.raises(ValueError, match=r"no rows were added"):
            comparer.result()
        with pytest.raises(
            ValueError, match=r"y_probs must hold the predictions of \['a', 'b'\], got \['a', 'c'\]"
        ):
            comparer.update(Y_TRUE, {"a": GOOD, "c": SHARP})
        with pytest.raises(ValueError, match=r"got ndarray"):
            comparer.update(Y_TRUE, GOOD)
        with pytest.raises(ValueError, match=r"'b' have 2 classes, not 3"):
            comparer.update(
                Y_TRUE % 2, {"a": GOOD, "b": SHARP[:, :2] / SHARP[:, :2].sum(axis=1, keepdims=True)}
            )
        with pytest.raises(ValueError, match=r"takes no sample_weight"):
            comparer.update(Y_TRUE, {"a": GOOD, "b": SHARP}, sample_weight=np.ones(1500))
        with pytest.raises(ValueError, match=r"needs sample_weight"):
            tn.Comparer(3, models=["a", "b"], weighted=True).update(Y_TRUE, {"a": GOOD, "b": SHARP})

    def test_bins_of_equal_mass_in_a_stream(self) -> None:
        with pytest.raises(ValueError, match=r"EqualMass bins depend on all rows"):
            tn.Comparer(3, models=["a", "b"], bins=EF)

    def test_models_of_different_length(self) -> None:
        with pytest.raises(ValueError, match=r"1499|1500"):
            tn.compare(Y_TRUE, {"a": GOOD, "b": SHARP[:-1]})


def merged(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A calibrated model that knows less: in half of the rows it does not tell the last two classes apart."""
    p = truth.copy()
    blind = rng.random(len(p)) < 0.5
    p[blind, -2:] = p[blind, -2:].mean(axis=1, keepdims=True)
    return p


def population(alpha: tuple[float, ...], exponent: float) -> dict[str, float]:
    """VCE and net of `merged` and sharpened predictions, with the known probabilities in place of labels."""
    rng = np.random.default_rng(12)
    known = merged(rng.dirichlet(alpha, 100_000), rng)
    p = tn.simulate.sharpen(known, exponent)
    order = np.argsort(-p, axis=1, kind="stable")
    q, t = (np.take_along_axis(x, order, axis=1) for x in (p, known))
    n_classes, found = len(alpha), {}
    for name in ("entropy", "confidence"):
        measure = tn.variations[name]
        place = np.searchsorted(np.quantile(measure(q), np.arange(1, 10) / 10), measure(q))
        weight = np.bincount(place, minlength=10) / len(p)
        predicted, observed = (np.array([x[place == m].mean(axis=0) for m in range(10)]) for x in (q, t))
        found[name] = weight, measure(observed) - measure(predicted), observed - predicted
    weight, gaps, apart = found["entropy"]
    return {
        "vce": float(weight @ np.abs(gaps)),
        "net": float(weight @ gaps),
        "ece": float(found["confidence"][0] @ np.abs(found["confidence"][1])),
        "rce": float(weight @ np.abs(apart).sum(axis=1)) / 2,
        "rce_w1": float(weight @ np.abs(np.cumsum(apart, axis=1)[:, :-1]).sum(axis=1)) / (n_classes - 1),
    }


RUNS = 80
FOUR = 4 * math.sqrt(0.9 * 0.1 / RUNS)


@cache
def contrasts(
    alpha: tuple[float, ...], n_rows: int, a: float, b: float
) -> tuple[dict[str, float], dict[str, float]]:
    """In 80 runs of two models that err apart: how often is the true difference covered, and how often one called?"""
    seeds = np.random.default_rng([len(alpha), n_rows, int(10 * a), int(10 * b)])
    first, second = population(alpha, a), population(alpha, b)
    covered, called = [], []
    for _ in range(RUNS):
        y_true, truth = tn.simulate.calibrated(n_rows, alpha, rng=seeds)
        models = {
            name: tn.simulate.sharpen(merged(truth, seeds), x) for name, x in (("first", a), ("second", b))
        }
        pair = tn.compare(y_true, models, bins=EF, resamples=99, rng=seeds).pairs[0]
        seen = {name: getattr(pair, name) for name in first}
        covered.append([c.interval.low <= first[n] - second[n] <= c.interval.high for n, c in seen.items()])
        called.append([*(c.p_value <= 0.05 for c in seen.values()), pair.p_value <= 0.05])
    rates = dict(zip([*first, "together"], np.mean(called, axis=0), strict=True))
    return dict(zip(first, np.mean(covered, axis=0), strict=True)), rates


class TestTail:
    """p-values beyond all replicates."""

    def test_of_normal_noise(self) -> None:
        """Beyond 999 draws of |N(0, 1)|: the normal p-value, but for the error of the 99 % point.

        Its standard error is 4 % of the standard deviation, and 17 % of that move the tail at 4.5 by a factor of 31.
        """
        noise = np.abs(np.random.default_rng(0).standard_normal(999))
        for size in (4.0, 4.5):
            p, normal = tail_p_value(noise, size), math.erfc(size / math.sqrt(2))
            assert p <= 1 / 1000
            assert normal / 31 < p < 31 * normal
        assert tail_p_value(noise, 1.0) == p_value(noise, 1.0)
        assert tail_p_value(noise, 50.0) == 1e-6
        assert tail_p_value(np.zeros(99), 0.1) == 0.01
        assert tail_p_value(noise[:49], 50.0) == 0.02  # too few to say anything about a tail

    def test_it_never_rises_with_the_size(self) -> None:
        noise = np.abs(np.random.default_rng(1).standard_t(3, 99))
        sizes = np.linspace(0, 3 * noise.max(), 300)
        found = [tail_p_value(noise, float(size)) for size in sizes]
        assert all(a >= b for a, b in pairwise(found))


FLAT, SKEW = (1.0,) * 3, (10.0, *(1.0,) * 9)


@pytest.mark.parametrize(("alpha", "n_rows", "a"), [(FLAT, 500, 1.0), (FLAT, 500, 1.3)])
def test_equal_models_are_called_different_in_a_twentieth_of_runs(
    alpha: tuple[float, ...], n_rows: int, a: float
) -> None:
    """All metrics together: at most .065 at 5 %, plus four errors of 80 runs."""
    _, called = contrasts(alpha, n_rows, a, a)
    assert called["together"] <= 0.065 + 4 * math.sqrt(0.065 * 0.935 / RUNS)


@pytest.mark.parametrize("number", ["vce", "net", "ece", "rce", "rce_w1"])
@pytest.mark.parametrize(
    ("alpha", "n_rows", "a", "b"),
    [(FLAT, 500, 1.0, 1.0), (FLAT, 500, 1.3, 1.3), (FLAT, 500, 1.0, 1.4), (SKEW, 300, 0.9, 1.1)],
)
def test_coverage_and_size(alpha: tuple[float, ...], n_rows: int, a: float, b: float, number: str) -> None:
    """The interval of the difference covers ≥ 90 %, less four errors of 80 runs (.13).

    Where the truth is no difference, one is called at 5 % in up to 10 % of runs, plus four errors. a = 0.9 and 1.1 err
    in opposite directions and differ in nothing but the net gap.
    """
    covered, called = contrasts(alpha, n_rows, a, b)
    assert covered[number] >= 0.9 - FOUR
    if a == b or (a, b, number != "net") == (0.9, 1.1, True):
        assert called[number] <= 0.1 + FOUR
    elif number == "net":
        assert called[number] > 0.5
