"""`assess` and `assess_table`: rows, tables, files, streams and containers give the same result."""

import math
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from assessment_data import CLASS_TABLE, EF, RESULT, SITE, Y_PROB, Y_TRUE

import trueness as tn
from trueness.rows.groups import names_of
from trueness.tabulation import tabulate_rows


class TestSameResultFromTables:
    """`assess` equals `assess_table` for the same rng, however the tables were computed."""

    @pytest.mark.parametrize("bins", [10, EF, tn.Edges([0, 0.3, 0.7, 1])])
    @pytest.mark.parametrize("variation", ["entropy", "confidence", "iqv", "margin"])
    def test_from_rows(self, bins: Any, variation: str) -> None:
        by_width = tn.EqualWidth(3) if isinstance(bins, tn.Edges) else bins
        if variation == "confidence" and isinstance(bins, tn.Edges):
            bins = by_width
        table = tn.tabulate(Y_TRUE, Y_PROB, variation=variation, bins=bins)
        by_confidence = tn.tabulate(Y_TRUE, Y_PROB, variation="confidence", bins=by_width)
        given = {} if variation == "confidence" else {"confidence_table": by_confidence}
        result = tn.assess_table(table, class_table=CLASS_TABLE, rng=3, **given)
        assert result == tn.assess(Y_TRUE, Y_PROB, variation=variation, bins=bins, rng=3)
        assert result.ece is not None

    def test_from_a_file(self, tmp_path: Path) -> None:
        tables = [tn.tabulate(Y_TRUE, Y_PROB, variation=v) for v in ("entropy", "confidence")]
        tn.CalibrationTable.save_all(tables, tmp_path / "tables.json")
        table, by_confidence = tn.CalibrationTable.load_all(tmp_path / "tables.json")
        assert (
            tn.assess_table(table, confidence_table=by_confidence, class_table=CLASS_TABLE, rng=3) == RESULT
        )

    def test_from_a_stream_on_a_fine_grid(self) -> None:
        streams = [
            tn.Accumulator(4, variation=v, bins=tn.EqualWidth(4000)) for v in ("entropy", "confidence")
        ]
        for start in range(0, 1200, 250):
            for stream in streams:
                stream.update(Y_TRUE[start : start + 250], Y_PROB[start : start + 250])
        fine, fine_confidence = (stream.table for stream in streams)
        given = {"confidence_table": fine_confidence, "class_table": CLASS_TABLE}
        result = tn.assess_table(fine, **given, bins=10, rng=3)
        assert result == RESULT
        merged = tn.assess_table(fine, confidence_table=fine_confidence, bins=EF, rng=3)
        by_hand = tn.assess_table(fine.coarsen(EF), confidence_table=fine_confidence.coarsen(EF), rng=3)
        assert merged == by_hand
        assert merged.table.n_bins == 10

    def test_edges_are_for_the_measure_alone(self) -> None:
        fine, fine_confidence = (
            tn.tabulate(Y_TRUE, Y_PROB, variation=v, bins=tn.EqualWidth(4000))
            for v in ("entropy", "confidence")
        )
        bins = tn.Edges([0, 0.5, 1])
        result = tn.assess_table(fine, confidence_table=fine_confidence, bins=bins, rng=3)
        assert result.table.edges.tolist() == [0, 0.5, 1]
        assert result.confidence_table is not None
        assert result.confidence_table.edges.tolist() == [0.25, 0.625, 1]
        assert tn.assess_table(fine, bins=bins, rng=3).ece is None
        alone = tn.assess_table(fine_confidence, bins=2, rng=3)
        assert alone.ece == alone.vce

    def test_without_a_confidence_table_only_ece_is_missing(self) -> None:
        result = tn.assess_table(tn.tabulate(Y_TRUE, Y_PROB), rng=3)
        assert result.ece is None
        for name in ("vce", "net", "rce", "rce_w1"):
            assert getattr(result, name).interval == getattr(RESULT, name).interval
        assert "needs a table binned by confidence" in str(result)

    def test_row_options_reach_the_table(self) -> None:
        logits = np.log(Y_PROB) + 3
        np.testing.assert_allclose(
            tn.assess(Y_TRUE, logits, from_logits=True, rng=3).vce.value, RESULT.vce.value, atol=1e-9
        )
        doubled = tn.assess(Y_TRUE, Y_PROB * 2, normalize=True, rng=3)
        np.testing.assert_allclose(doubled.vce.value, RESULT.vce.value, atol=1e-12)
        names = ["a", "b", "c", "d"]
        named = tn.assess([names[y] for y in Y_TRUE], Y_PROB, classes=names, rng=3)
        assert named.table == RESULT.table
        assert named.classes is not None
        assert [it.name for it in named.classes.classes] == names
        assert tn.assess(Y_TRUE, Y_PROB, ties="split", rng=3).table.spec.ties == "split"

    def test_a_generator_moves_on(self) -> None:
        rng = np.random.default_rng(1)
        first, second = (tn.assess(Y_TRUE, Y_PROB, rng=rng) for _ in range(2))
        assert first != second
        assert first != "an assessment"
        assert tn.assess(Y_TRUE, Y_PROB, rng=second.seed) == second


class TestContainers:
    """Rows, groups and clusters in any container give the result of NumPy arrays."""

    CLUSTERS = np.arange(1200) // 6
    # Without classes: their draws depend on their names, which only some containers have.
    OPTIONS: ClassVar[dict[str, Any]] = {"rng": 3, "resamples": 99, "by_class": False}
    WANT = tn.assess(Y_TRUE, Y_PROB, groups=SITE, clusters=CLUSTERS, **OPTIONS)

    def same(self, y_true: Any, y_prob: Any, groups: Any, clusters: Any, **options: Any) -> bool:
        return (
            tn.assess(y_true, y_prob, groups=groups, clusters=clusters, **self.OPTIONS, **options)
            == self.WANT
        )

    def test_frames(self) -> None:
        import pandas as pd
        import polars as pl

        odd = np.random.default_rng(0).permutation(1200)  # an index out of order must not reorder anything
        frame = pd.DataFrame({"y": Y_TRUE, "site": SITE, "patient": self.CLUSTERS}, index=odd)
        probabilities = pd.DataFrame(Y_PROB, columns=list("abcd"), index=odd)
        assert self.same(frame["y"], probabilities, frame["site"], frame["patient"])
        assert self.same(frame["y"], probabilities, frame["site"].astype("category"), frame["patient"])
        rows = pl.DataFrame({"y": Y_TRUE, "site": SITE, "patient": self.CLUSTERS})
        assert self.same(rows["y"], pl.DataFrame(Y_PROB), rows["site"], rows["patient"])

    def test_missing_names_in_frames(self) -> None:
        import pandas as pd
        import polars as pl

        for series in (
            pd.Series(["a", None, "b"]),
            pd.Series(["a", pd.NA, "b"]),
            pl.Series(["a", None, "b"]),
        ):
            with pytest.raises(ValueError, match=r"`groups` has a missing value in row 1"):
                names_of("groups", series, 3)


class TestConfidenceBins:
    Y, P = tn.simulate.calibrated(2000, [1.0] * 3, rng=6)

    def test_ece_uses_them(self) -> None:
        result = tn.assess(self.Y, self.P, bins=tn.Edges([0, 0.5, 0.9, 1]), confidence_bins=15)
        assert result.ece is not None
        assert result.ece.value == pytest.approx(tn.ece(self.Y, self.P, bins=15), abs=1e-12)
        assert "3 bins of entropy (ECE: 15 bins of confidence)" in str(result)
        mass = tn.assess(self.Y, self.P, confidence_bins=tn.EqualMass(7))
        assert mass.ece is not None
        assert mass.ece.value == pytest.approx(tn.ece(self.Y, self.P, bins=tn.EqualMass(7)), abs=1e-12)

    def test_from_tables_and_in_compare(self) -> None:
        fine, by_confidence = (
            tn.tabulate(self.Y, self.P, bins=tn.EqualWidth(4000), variation=name)
            for name in ("entropy", "confidence")
        )
        result = tn.assess_table(fine, confidence_table=by_confidence, bins=10, confidence_bins=20)
        assert result == tn.assess(self.Y, self.P, bins=10, confidence_bins=20, by_class=False)
        alone = tn.assess_table(fine, confidence_table=by_confidence, confidence_bins=20)
        assert alone.ece == result.ece or alone.ece.value == result.ece.value
        pair = tn.compare(self.Y, {"a": self.P, "b": self.P[:, ::-1]}, confidence_bins=20, resamples=39)
        assert pair.assessments["a"].ece.value == result.ece.value


GINI = tn.Variation(
    "half_gini", lambda x: 0.5 * (1 - (x**2).sum(axis=-1)), range=lambda c: (0, 0.5 * (1 - 1 / c))
)


MEASURES = ["iqv", "confidence", "max_probability", "wilcox_variation_ratio", "margin", tn.renyi(2), GINI]


@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m if isinstance(m, str) else m.name)
class TestAnyMeasure:
    Y, P = tn.simulate.calibrated(2000, [1.0] * 4, rng=7)

    def test_net_above_0_is_over_confident(self, measure: Any) -> None:
        for exponent, word, sign in ((1.5, "over", 1), (0.6, "under", -1)):
            result = tn.assess(
                self.Y, tn.simulate.sharpen(self.P, exponent), variation=measure, bins=EF, rng=0
            )
            assert sign * result.net.debiased > 0
            assert sign * result.net.interval.low > 0 or sign * result.net.interval.high > 0
            assert result.verdict.kind == f"{word}-confident"
            assert result.net.value == pytest.approx(tn.signed_parts(result.table).net, abs=1e-12)
            assert result.vce.value == pytest.approx(tn.variation_calibration_error(result.table), abs=1e-12)
            assert result.uce is None

    def test_calibrated(self, measure: Any) -> None:
        result = tn.assess(self.Y, self.P, variation=measure, bins=EF, rng=0)
        assert result.verdict.kind == "none"
        assert result.net.interval.low <= 0 <= result.net.interval.high
        assert result.vce.interval.low <= 1e-12


class TestWeights:
    def test_whole_weights_against_repeated_rows(self) -> None:
        """The value is the same, but the noise is that of fewer rows: repeated rows are not independent."""
        weight = np.random.default_rng(1).integers(1, 4, 1200)
        weighted = tn.assess(Y_TRUE, Y_PROB, sample_weight=weight, rng=3)
        repeated = tn.assess(np.repeat(Y_TRUE, weight), np.repeat(Y_PROB, weight, axis=0), rng=3)
        assert weighted.vce.value == pytest.approx(repeated.vce.value, abs=1e-12)
        assert weighted.rce.value == pytest.approx(repeated.rce.value, abs=1e-12)
        widths = [r.net.interval.high - r.net.interval.low for r in (weighted, repeated)]
        # Effective rows are (Σw)²/Σw² ≈ 1200·4/4.67, repeated ones 1200·2: noise larger by √2.33.
        assert widths[0] / widths[1] == pytest.approx(math.sqrt(2 * 4.667 / 4), rel=0.1)

    def test_equal_weights_change_nothing(self) -> None:
        """Except the scale; the draws are those of the same seed."""
        weighted = tn.assess(Y_TRUE, Y_PROB, sample_weight=np.full(1200, 3.0), rng=3)
        assert weighted.vce.p_value == RESULT.vce.p_value
        assert weighted.net.interval.low == pytest.approx(RESULT.net.interval.low, abs=1e-9)
        assert weighted.log_score_z.value == pytest.approx(RESULT.log_score_z.value, rel=1e-9)

    def test_size_with_random_weights(self) -> None:
        """Weights independent of the labels: size at 5 % up to 7.5 % and four errors of 100 runs, .105."""
        runs, seeds = 100, np.random.default_rng(3)
        seen = []
        for _ in range(runs):
            y_true, y_prob = tn.simulate.calibrated(800, [1.0] * 3, rng=seeds)
            result = tn.assess(
                y_true, y_prob, sample_weight=seeds.exponential(size=800), bins=EF, resamples=99, rng=seeds
            )
            seen.append([result.p_value, result.vce.p_value, result.rce.p_value, result.log_score_z.p_value])
        rejected = np.mean(np.array(seen) <= 0.05, axis=0)
        assert (rejected <= 0.075 + 4 * math.sqrt(0.075 * 0.925 / runs)).all()


class TestSeed:
    def test_the_default_is_seed_0(self) -> None:
        y_true, y_prob = tn.simulate.calibrated(300, [1.0] * 3, rng=4)
        assert tn.assess(y_true, y_prob) == tn.assess(y_true, y_prob, rng=0)
        assert tn.assess(y_true, y_prob).seed == 0
        fresh = {tn.assess(y_true, y_prob, rng=None, resamples=39).seed for _ in range(3)}
        assert len(fresh) == 3
        table = tn.tabulate(y_true, y_prob)
        assert (
            tn.assess_table(table).seed
            == tn.sweep_bins(tn.tabulate(y_true, y_prob, bins=tn.EqualWidth(4000))).seed
            == 0
        )
        assert tn.compare(y_true, {"a": y_prob, "b": y_prob[:, ::-1]}, resamples=39).seed == 0


def test_group_tables_of_more_rows_than_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trueness.tabulation.passes.CHUNK_ROWS", 100)
    cut = tn.assess(Y_TRUE, Y_PROB, groups=SITE, rng=3)
    for group in cut.groups:
        assert group.assessment is not None
        mine = group.name == SITE
        assert group.assessment.table == tn.tabulate(Y_TRUE[mine], Y_PROB[mine])


def test_specs_are_tabulated_together() -> None:
    from trueness.rows import Rows

    rows = Rows.of(Y_TRUE, Y_PROB, None, from_logits=False, normalize=False, classes=None)
    specs = [tn.tabulate(Y_TRUE, Y_PROB, variation=v).spec for v in ("entropy", "confidence")]
    tables = tabulate_rows(rows, specs)
    assert tables == [RESULT.table, RESULT.confidence_table]
