"""`assess` from rows, tables, files, streams, groups and clusters: the same answer, and what it says."""

import json
import math
import re
from pathlib import Path
from typing import Any

import inference_oracle as exact
import numpy as np
import pytest

import trueness as tn
from trueness.assessment import text
from trueness.assessment._groups import flagged_first
from trueness.assessment._judge import draws_for
from trueness.inference.bootstrap_weights import ClusterWeights
from trueness.inference.estimates import Evidence, variation_error
from trueness.inference.replicates import replicate
from trueness.rows.groups import coded, names_of
from trueness.tabulation import tabulate_rows

Y_TRUE, TRUTH = tn.simulate.calibrated(1200, [1.0] * 4, rng=1)
Y_PROB = tn.simulate.sharpen(TRUTH, 1.3)
SITE = np.array(["north", "south", "east"])[np.random.default_rng(2).choice(3, 1200, p=[0.5, 0.4, 0.1])]
RESULT = tn.assess(Y_TRUE, Y_PROB, rng=3)
EF = tn.EqualMass(10)
ENGINES = ["portable", pytest.param("fused", marks=pytest.mark.fast)]


def codes(result: tn.Assessment) -> set[str]:
    return {caution.code for caution in result.warnings}


class TestTablesLoseNothing:
    """assess == assess_table for the same rng, however the tables were made."""

    @pytest.mark.parametrize("bins", [10, EF, tn.Edges([0, 0.3, 0.7, 1])])
    @pytest.mark.parametrize("variation", ["entropy", "confidence", "iqv", "margin"])
    def test_from_rows(self, bins: Any, variation: str) -> None:
        by_width = tn.EqualWidth(3) if isinstance(bins, tn.Edges) else bins
        if variation == "confidence" and isinstance(bins, tn.Edges):
            bins = by_width
        table = tn.tabulate(Y_TRUE, Y_PROB, variation=variation, bins=bins)
        by_confidence = tn.tabulate(Y_TRUE, Y_PROB, variation="confidence", bins=by_width)
        given = {} if variation == "confidence" else {"confidence_table": by_confidence}
        result = tn.assess_table(table, rng=3, **given)
        assert result == tn.assess(Y_TRUE, Y_PROB, variation=variation, bins=bins, rng=3)
        assert result.ece is not None

    def test_from_a_file(self, tmp_path: Path) -> None:
        tables = [tn.tabulate(Y_TRUE, Y_PROB, variation=v) for v in ("entropy", "confidence")]
        tn.CalibrationTable.save_all(tables, tmp_path / "tables.json")
        table, by_confidence = tn.CalibrationTable.load_all(tmp_path / "tables.json")
        assert tn.assess_table(table, confidence_table=by_confidence, rng=3) == RESULT

    def test_from_summed_tables_of_batches(self) -> None:
        cuts = [slice(0, 1), slice(1, 700), slice(700, 1200)]
        table, by_confidence = (
            sum(tn.tabulate(Y_TRUE[cut], Y_PROB[cut], variation=v) for cut in cuts)
            for v in ("entropy", "confidence")
        )
        assert tn.assess_table(table, confidence_table=by_confidence, rng=3) == RESULT

    def test_from_a_stream_on_a_fine_grid(self) -> None:
        streams = [tn.Accumulator(4, variation=v, bins=tn.FineGrid()) for v in ("entropy", "confidence")]
        for start in range(0, 1200, 250):
            for stream in streams:
                stream.update(Y_TRUE[start : start + 250], Y_PROB[start : start + 250])
        fine, fine_confidence = (stream.table for stream in streams)
        result = tn.assess_table(fine, confidence_table=fine_confidence, bins=10, rng=3)
        assert result == RESULT
        merged = tn.assess_table(fine, confidence_table=fine_confidence, bins=EF, rng=3)
        by_hand = tn.assess_table(fine.coarsen(EF), confidence_table=fine_confidence.coarsen(EF), rng=3)
        assert merged == by_hand
        assert merged.table.n_bins == 10

    def test_edges_are_for_the_measure_alone(self) -> None:
        fine, fine_confidence = (
            tn.tabulate(Y_TRUE, Y_PROB, variation=v, bins=tn.FineGrid()) for v in ("entropy", "confidence")
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

    @pytest.mark.parametrize("engine", ENGINES)
    def test_values_are_those_of_the_readers(self, engine: str) -> None:
        result = tn.assess(Y_TRUE, Y_PROB, rng=0, engine=engine)
        assert result.vce.value == pytest.approx(tn.vce(Y_TRUE, Y_PROB), abs=1e-12)
        assert result.ece is not None
        assert result.ece.value == pytest.approx(tn.ece(Y_TRUE, Y_PROB), abs=1e-12)
        assert result.uce is not None
        assert result.uce.value == pytest.approx(tn.uce(Y_TRUE, Y_PROB), abs=1e-12)
        assert result.rce.value == pytest.approx(tn.rce(Y_TRUE, Y_PROB), abs=1e-12)
        assert result.rce_w1.value == pytest.approx(tn.rce(Y_TRUE, Y_PROB, distance="w1"), abs=1e-12)
        assert result.net.value == pytest.approx(tn.signed_parts(result.table).net, abs=1e-12)

    def test_row_options_reach_the_table(self) -> None:
        logits = np.log(Y_PROB) + 3
        np.testing.assert_allclose(
            tn.assess(Y_TRUE, logits, from_logits=True, rng=3).vce.value, RESULT.vce.value, atol=1e-9
        )
        doubled = tn.assess(Y_TRUE, Y_PROB * 2, normalize=True, rng=3)
        np.testing.assert_allclose(doubled.vce.value, RESULT.vce.value, atol=1e-12)
        names = ["a", "b", "c", "d"]
        assert tn.assess([names[y] for y in Y_TRUE], Y_PROB, classes=names, rng=3) == RESULT
        assert tn.assess(Y_TRUE, Y_PROB, ties="split", rng=3).table.spec.ties == "split"

    def test_a_generator_moves_on(self) -> None:
        rng = np.random.default_rng(1)
        first, second = (tn.assess(Y_TRUE, Y_PROB, rng=rng) for _ in range(2))
        assert first != second
        assert first != "an assessment"
        assert tn.assess(Y_TRUE, Y_PROB, rng=second.seed) == second


class TestGroups:
    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("bins", [10, EF], ids=["EW", "EF"])
    def test_each_group_has_the_table_of_its_rows(self, engine: str, bins: Any) -> None:
        result = tn.assess(Y_TRUE, Y_PROB, bins=bins, groups=SITE, rng=3, engine=engine, min_group_size=1)
        assert [group.name for group in result.groups] == ["east", "north", "south"]
        assert result.confidence_table is not None
        for group in result.groups:
            mine = group.name == SITE
            assert group.n_rows == mine.sum()
            assert group.assessment is not None
            for table, of in (
                (group.assessment.table, result.table),
                (group.assessment.confidence_table, result.confidence_table),
            ):
                alone = tn.tabulate(
                    Y_TRUE[mine], Y_PROB[mine], variation=of.spec.variation, bins=of.bins, engine=engine
                )
                assert table is not None
                assert table.same_counts(alone)
                assert table.isclose(alone)

    def test_the_whole_is_as_without_groups(self) -> None:
        result = tn.assess(Y_TRUE, Y_PROB, groups=SITE, rng=3)
        assert result.vce.interval == RESULT.vce.interval
        assert result.p_value == RESULT.p_value
        assert result.table == RESULT.table

    @pytest.mark.parametrize("bins", [10, EF], ids=["EW", "EF"])
    def test_from_tables(self, bins: Any) -> None:
        want = tn.assess(Y_TRUE, Y_PROB, bins=bins, groups=SITE, rng=3)
        assert want.confidence_table is not None
        pairs = {
            name: tuple(
                tn.tabulate(
                    Y_TRUE[name == SITE], Y_PROB[name == SITE], variation=of.spec.variation, bins=of.bins
                )
                for of in (want.table, want.confidence_table)
            )
            for name in ("east", "north", "south")
        }
        got = tn.assess_table(want.table, confidence_table=want.confidence_table, groups=pairs, rng=3)
        assert got == want
        swapped = dict(reversed(pairs.items()))
        other = tn.assess_table(want.table, confidence_table=want.confidence_table, groups=swapped, rng=3)
        mine = {group.name: group.adjusted_p_value for group in got.groups}
        assert {group.name: group.adjusted_p_value for group in other.groups} == mine

    def test_from_fine_tables_in_the_bins_of_all_rows(self) -> None:
        fine = {
            name: tn.tabulate(Y_TRUE[name == SITE], Y_PROB[name == SITE], bins=tn.FineGrid())
            for name in ("north", "south")
        }
        result = tn.assess_table(sum(fine.values()), groups=fine, bins=EF, rng=3)
        for group in result.groups:
            assert group.assessment is not None
            assert group.assessment.ece is None
            assert group.assessment.table.bins == result.table.bins

    def test_by_confidence(self) -> None:
        """One table serves as both, in groups as in the whole."""
        result = tn.assess(Y_TRUE, Y_PROB, variation="confidence", groups=SITE, rng=3)
        assert result.ece is result.vce
        for group in result.groups:
            assert group.assessment is not None
            assert group.assessment.ece is group.assessment.vce

    def test_a_groups_numbers_do_not_depend_on_the_other_groups(self) -> None:
        few = tn.assess(Y_TRUE, Y_PROB, groups=np.where(SITE == "north", "north", "rest"), rng=3)
        many = tn.assess(Y_TRUE, Y_PROB, groups=SITE, rng=3)
        north = [next(g for g in result.groups if g.name == "north") for result in (few, many)]
        assert north[0].assessment == north[1].assessment

    def test_correction_across_groups(self) -> None:
        result = tn.assess(Y_TRUE, Y_PROB, groups=SITE, rng=3)
        p = [group.p_value for group in result.groups]
        assert [group.adjusted_p_value for group in result.groups] == pytest.approx(
            exact.benjamini_hochberg(p)
        )
        for group in result.groups:
            assert group.assessment is not None
            assert group.p_value == pytest.approx(combined(group.assessment))

    def test_small_groups_are_named_not_assessed(self) -> None:
        result = tn.assess(Y_TRUE, Y_PROB, groups=SITE, rng=3, min_group_size=300)
        east, north, south = result.groups
        assert east.assessment is None
        assert east.reason == "fewer than 300 rows"
        assert math.isnan(east.adjusted_p_value)
        p = [north.p_value, south.p_value]
        assert [north.adjusted_p_value, south.adjusted_p_value] == pytest.approx(exact.benjamini_hochberg(p))
        assert "fewer than 300 rows" in str(result)
        assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["groups"][0]["p_value"] is None
        none = tn.assess(Y_TRUE, Y_PROB, groups=SITE, rng=3, min_group_size=10_000)
        assert [group.assessment for group in none.groups] == [None] * 3

    def test_a_group_without_weight(self) -> None:
        weight = np.where(SITE == "east", 0.0, 1.0)
        result = tn.assess(Y_TRUE, Y_PROB, groups=SITE, sample_weight=weight, rng=3, min_group_size=1)
        assert result.groups[0].n_rows == 0
        assert result.groups[0].assessment is None

    def test_many_groups_are_cut_short_in_print_only(self) -> None:
        names = np.arange(1200) // 20
        result = tn.assess(Y_TRUE, Y_PROB, groups=names, rng=3, min_group_size=1, resamples=39)
        assert len(result.groups) == 60
        assert "and 20 more groups" in str(result)

    def test_names_of_groups(self) -> None:
        assert coded(np.array([2.0, 1.5, 2.0]))[0] == ["1.5", "2"]
        assert coded(np.array([3, 1, 3]))[0] == ["1", "3"]
        assert coded(names_of("groups", [True, False, True], 3))[0] == ["False", "True"]
        assert coded(names_of("groups", np.array(["a", 1, "a"], dtype=object), 3))[0] == ["1", "a"]

    def test_combinations_of_columns(self) -> None:
        """A mapping of columns: the groups are those of the joined names."""
        half = np.arange(1200) % 2
        names = [f"site={site}, half={number}" for site, number in zip(SITE, half, strict=True)]
        want = tn.assess(Y_TRUE, Y_PROB, groups=names, rng=3, resamples=99)
        for columns in ({"site": SITE, "half": half}, {"site": SITE.tolist(), "half": half.astype(float)}):
            assert tn.assess(Y_TRUE, Y_PROB, groups=columns, rng=3, resamples=99) == want
        assert tn.assess(Y_TRUE, Y_PROB, groups={"site": SITE}, rng=3) == tn.assess(
            Y_TRUE, Y_PROB, groups=SITE, rng=3
        )
        with pytest.raises(ValueError, match=r"groups\['half'\] has shape"):
            tn.assess(Y_TRUE, Y_PROB, groups={"site": SITE, "half": half[1:]})
        with pytest.raises(ValueError, match="groups has no columns"):
            tn.assess(Y_TRUE, Y_PROB, groups={})

    @pytest.mark.frames
    def test_combinations_of_the_columns_of_a_frame(self) -> None:
        import pandas as pd
        import polars as pl

        half = np.arange(1200) % 2
        want = tn.assess(Y_TRUE, Y_PROB, groups={"site": SITE, "half": half}, rng=3, resamples=99)
        for kind in (pd.DataFrame, pl.DataFrame):
            columns = kind({"site": SITE, "half": half})
            assert tn.assess(Y_TRUE, Y_PROB, groups=columns, rng=3, resamples=99) == want

    def test_combinations_that_read_alike_stay_apart(self) -> None:
        a, b = np.array(["x", "x, b=y"])[np.arange(1200) % 2], np.array(["y, b=z", "z"])[np.arange(1200) % 2]
        result = tn.assess(Y_TRUE, Y_PROB, groups={"a": a, "b": b}, rng=3, resamples=39)
        assert [group.n_rows for group in result.groups] == [600, 600]

    @pytest.mark.parametrize("make", [list, tuple, lambda names: np.array(names, object)])
    def test_names_that_differ_by_a_nul_stay_apart(self, make: Any) -> None:
        """NumPy's own text would drop it at the end."""
        names = make(["a", "a\0"] * 600)
        result = tn.assess(Y_TRUE, Y_PROB, groups=names, rng=3, resamples=39)
        assert [(group.name, group.n_rows) for group in result.groups] == [("a", 600), ("a\0", 600)]
        clusters = make([f"{n // 6}" + "\0" * (n % 2) for n in range(1200)])
        assert tn.assess(Y_TRUE, Y_PROB, clusters=clusters, resamples=39).n_clusters == 400

    def test_flagged_groups_are_printed_first(self) -> None:
        """Those whose corrected p-value is within the limit, smallest first; the others in their order."""
        y_true, y_prob = tn.simulate.calibrated(3000, [1, 1, 1], rng=0)
        names = np.array(["east", "north", "south"])[np.arange(3000) % 3]
        spoiled = np.where((names == "south")[:, None], tn.simulate.sharpen(y_prob, 4), y_prob)
        result = tn.assess(y_true, spoiled, groups=names, rng=3)
        assert [group.name for group in result.groups] == ["east", "north", "south"]
        words = [line.split()[0] for line in str(result).splitlines() if line.strip()]
        assert [word for word in words if word in names] == ["south", "east", "north"]
        p_values = {"a": 0.2, "b": 0.01, "c": float("nan"), "d": 0.001, "e": 0.05}
        assert flagged_first("abcde", p_values.__getitem__, 0.05) == ["d", "b", "e", "a", "c"]

    def test_a_name_that_is_no_text_in_utf_8(self, tmp_path: Path) -> None:
        """Half a surrogate pair, as a file with a broken name brings it: the numbers are those of another name."""
        broken = np.where(SITE == "north", "nor\udc80", SITE)
        result = tn.assess(Y_TRUE, Y_PROB, groups=broken, clusters=np.arange(1200) // 6, rng=3, resamples=39)
        want = tn.assess(Y_TRUE, Y_PROB, groups=SITE, clusters=np.arange(1200) // 6, rng=3, resamples=39)
        assert sorted(group.n_rows for group in result.groups) == sorted(
            group.n_rows for group in want.groups
        )
        assert (result.vce.value, result.vce.interval) == (want.vce.value, want.vce.interval)
        assert r"nor\udc80 " in str(result)
        result.write_html(tmp_path / "r.html")
        of_clusters = tn.assess(
            Y_TRUE, Y_PROB, clusters=[f"\udc80{n // 6}" for n in range(1200)], resamples=39
        )
        assert of_clusters.n_rows == 1200


class TestContainers:
    """Rows, groups and clusters in any container give the answer of the NumPy rows."""

    CLUSTERS = np.arange(1200) // 6
    WANT = tn.assess(Y_TRUE, Y_PROB, groups=SITE, clusters=CLUSTERS, rng=3, resamples=99)

    def same(self, y_true: Any, y_prob: Any, groups: Any, clusters: Any, **options: Any) -> bool:
        return (
            tn.assess(y_true, y_prob, groups=groups, clusters=clusters, rng=3, resamples=99, **options)
            == self.WANT
        )

    def test_lists(self) -> None:
        assert self.same(Y_TRUE.tolist(), Y_PROB.tolist(), SITE.tolist(), self.CLUSTERS.tolist())
        assert self.same(tuple(Y_TRUE), list(Y_PROB), tuple(SITE), self.CLUSTERS.astype(float))

    def test_one_hot_labels_and_names(self) -> None:
        assert self.same(np.eye(4)[Y_TRUE], Y_PROB, SITE.astype(object), self.CLUSTERS.astype(object))
        names = np.array(list("wxyz"))
        assert self.same(names[Y_TRUE], Y_PROB, SITE, self.CLUSTERS.astype(str), classes=list("wxyz"))

    @pytest.mark.frames
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

    @pytest.mark.frames
    def test_missing_names_in_frames(self) -> None:
        import pandas as pd
        import polars as pl

        for series in (
            pd.Series(["a", None, "b"]),
            pd.Series(["a", pd.NA, "b"]),
            pl.Series(["a", None, "b"]),
        ):
            with pytest.raises(ValueError, match=r"groups has a missing value in row 1"):
                names_of("groups", series, 3)

    @pytest.mark.torch
    def test_tensors(self) -> None:
        import torch

        assert self.same(torch.tensor(Y_TRUE), torch.tensor(Y_PROB), SITE, torch.tensor(self.CLUSTERS))

    @pytest.mark.fast
    def test_engines_agree(self) -> None:
        portable, fused = (
            tn.assess(Y_TRUE, Y_PROB, groups=SITE, rng=3, engine=engine) for engine in ("portable", "fused")
        )
        assert fused.vce.p_value == portable.vce.p_value
        assert fused.vce.debiased == pytest.approx(portable.vce.debiased, abs=1e-12)
        # The log-score is among the evidence, and its last bits differ between engines.
        for mine, theirs in zip(fused.groups, portable.groups, strict=True):
            assert mine.p_value == pytest.approx(theirs.p_value, rel=1e-9)


class TestRefusals:
    @pytest.mark.parametrize("level", [0.49, 1, 1.0, -1, "0.95", True, math.nan, None])
    def test_level(self, level: Any) -> None:
        with pytest.raises(ValueError, match=r"level must be a number from 0.5 to below 1"):
            tn.assess(Y_TRUE, Y_PROB, level=level)

    @pytest.mark.parametrize(("level", "least"), [(0.95, 19), (0.99, 99), (0.5, 1), (0.9, 9), (0.999, 999)])
    def test_too_few_resamples_for_the_level(self, level: float, least: int) -> None:
        """The p-value of a test is at least 1/(R + 1), which must reach 1 - level."""
        with pytest.raises(ValueError, match=rf"resamples.* {least} or more|resamples must be .* from 1"):
            tn.assess(Y_TRUE[:50], Y_PROB[:50], level=level, resamples=least - 1)
        wrong = np.eye(4)[(Y_TRUE[:50] + 1) % 4] * 0.99 + 0.0025
        worst = tn.assess(Y_TRUE[:50], wrong, level=level, resamples=least, rng=0)
        assert worst.p_value <= 1 - level + 1e-12
        assert worst.verdict.kind == "ranks"

    @pytest.mark.parametrize("resamples", [0, -1, 99.5, "99", None, True])
    def test_resamples(self, resamples: Any) -> None:
        with pytest.raises((TypeError, ValueError), match="resamples"):
            tn.assess(Y_TRUE, Y_PROB, resamples=resamples)

    @pytest.mark.parametrize("rng", ["0", -1, 1.5, True])
    def test_rng(self, rng: Any) -> None:
        with pytest.raises(TypeError, match="rng must be None, a seed"):
            tn.assess(Y_TRUE, Y_PROB, rng=rng)

    @pytest.mark.parametrize("argument", ["groups", "clusters"])
    def test_names(self, argument: str) -> None:
        for values, message in (
            (SITE[:-1], r"has shape \(1199,\); one name for each of 1200 rows"),
            (np.stack([SITE, SITE]), r"has shape \(2, 1200\)"),
            ([*SITE[:-1].tolist(), None], r"has a missing value in row 1199"),
            (np.where(np.arange(1200) == 7, np.nan, 1.0), r"is nan in row 7"),
            (np.where(np.arange(1200) == 7, np.inf, 1.0), r"is inf in row 7"),
            (np.array([*SITE[:-1], math.nan], dtype=object), r"has a missing value in row 1199"),
            (np.full(1200, "NaT", dtype="M8[D]"), r"has a missing value in row 0"),
        ):
            with pytest.raises(ValueError, match=f"{argument} {message}"):
                tn.assess(Y_TRUE, Y_PROB, **{argument: values})
        with pytest.raises(TypeError, match=argument):
            tn.assess(Y_TRUE, Y_PROB, **{argument: 7})

    def test_few_clusters(self) -> None:
        with pytest.raises(ValueError, match="clusters has 4 distinct values; at least 5"):
            tn.assess(Y_TRUE, Y_PROB, clusters=np.arange(1200) % 4)
        result = tn.assess(
            Y_TRUE, Y_PROB, clusters=np.arange(1200) % 9, groups=np.arange(1200) % 3, resamples=39
        )
        assert [group.reason for group in result.groups] == ["fewer than 5 clusters"] * 3

    def test_min_group_size(self) -> None:
        with pytest.raises(ValueError, match="min_group_size"):
            tn.assess(Y_TRUE, Y_PROB, groups=SITE, min_group_size=0)

    def test_choices(self) -> None:
        with pytest.raises(ValueError, match="ties"):
            tn.assess(Y_TRUE, Y_PROB, ties="both")
        with pytest.raises(ValueError, match="variation"):
            tn.assess(Y_TRUE, Y_PROB, variation="entropie")
        with pytest.raises(ValueError, match="engine"):
            tn.assess(Y_TRUE, Y_PROB, engine="quick")

    def test_tables(self) -> None:
        table = tn.tabulate(Y_TRUE, Y_PROB)
        by_confidence = tn.tabulate(Y_TRUE, Y_PROB, variation="confidence")
        with pytest.raises(TypeError, match=r"table must be a CalibrationTable.*got ndarray"):
            tn.assess_table(Y_PROB)
        with pytest.raises(TypeError, match="confidence_table must be a CalibrationTable"):
            tn.assess_table(table, confidence_table=0.3)
        with pytest.raises(ValueError, match="confidence_table is binned by entropy"):
            tn.assess_table(table, confidence_table=table)
        with pytest.raises(ValueError, match="they must be of the same rows"):
            tn.assess_table(table + table, confidence_table=by_confidence)
        with pytest.raises(TypeError, match=r"groups\['a'\] must be a CalibrationTable"):
            tn.assess_table(table, groups={"a": 3})
        with pytest.raises(ValueError, match="a table without rows cannot be assessed"):
            tn.assess_table(tn.CalibrationTable.empty(table.spec))

    @pytest.mark.parametrize("engine", ENGINES)
    def test_a_bad_row_is_named_by_its_own_number_among_groups(self, engine: str) -> None:
        spoiled = Y_PROB.copy()
        spoiled[777] = [0.5, 0.5, 0.5, -0.5]
        with pytest.raises(ValueError, match="row 777"):
            tn.assess(Y_TRUE, spoiled, groups=SITE, engine=engine)


def in_clusters(k: int, rows: int, kind: str, seeds: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Calibrated rows of K clusters that share p and all or half of their labels."""
    y_true, y_prob = tn.simulate.calibrated(k, [1.0] * 3, rng=seeds)
    names = np.repeat(np.arange(k), rows)
    y_true, y_prob = y_true[names], y_prob[names]
    if kind == "correlated":
        anew = tn.simulate.draw_labels(y_prob, seeds)
        y_true = np.where(seeds.random(len(names)) < 0.5, anew, y_true)
    return y_true, y_prob, names


class TestClusters:
    @pytest.mark.parametrize("kind", ["copies", "correlated"])
    def test_size(self, kind: str) -> None:
        """150 clusters of 8 rows: without clusters= nearly every calibrated run is called, with it few are.

        The bootstrap's own size is .05 only for many clusters; .10 is allowed, and four errors of 60 runs, .155.
        """
        runs, seeds = 60, np.random.default_rng(44)
        naive, aware, covered = [], [], []
        for _ in range(runs):
            y_true, y_prob, names = in_clusters(150, 8, kind, seeds)
            naive.append(tn.assess(y_true, y_prob, bins=tn.EqualMass(5), resamples=99, rng=seeds).p_value)
            result = tn.assess(y_true, y_prob, bins=tn.EqualMass(5), resamples=99, rng=seeds, clusters=names)
            aware.append([result.p_value, result.log_score_z.p_value])
            covered.append(result.net.interval.low <= 0 <= result.net.interval.high)
            assert result.n_clusters == 150
        assert np.mean(np.array(naive) <= 0.05) > (0.5 if kind == "copies" else 0.15)
        allowed = 0.10 + 4 * math.sqrt(0.1 * 0.9 / runs)
        assert (np.mean(np.array(aware) <= 0.05, axis=0) <= allowed).all()
        assert np.mean(covered) >= 0.88 - 4 * math.sqrt(0.88 * 0.12 / runs)

    def test_size_with_few_clusters_and_many_classes(self) -> None:
        """30 clusters of 20 copies, ten classes, five bins: six different rows in each. Up to .15 and four errors."""
        runs, seeds, seen = 40, np.random.default_rng(45), []
        for _ in range(runs):
            y_true, y_prob = tn.simulate.calibrated(30, [1.0] * 10, rng=seeds)
            names = np.repeat(np.arange(30), 20)
            result = tn.assess(
                y_true[names], y_prob[names], bins=tn.EqualMass(5), resamples=99, rng=seeds, clusters=names
            )
            seen.append(result.p_value)
        assert np.mean(np.array(seen) <= 0.05) <= 0.15 + 4 * math.sqrt(0.15 * 0.85 / runs)

    def test_size_where_bins_err_together(self) -> None:
        """Predictions of their own, and labels at the cluster's quantile of the ranks in half of the rows."""
        runs, seeds, seen = 80, np.random.default_rng(46), []
        names = np.repeat(np.arange(60), 10)
        for _ in range(runs):
            y_prob = -np.sort(-seeds.dirichlet([1.0] * 10, len(names)), axis=1)
            own, shared = seeds.random(len(names)), seeds.random(60)[names]
            level = np.where(seeds.random(len(names)) < 0.5, shared, own)
            y_true = np.argmax(np.cumsum(y_prob, axis=1) > level[:, None] * (1 - 1e-12), axis=1)
            both = [
                tn.assess(y_true, y_prob, bins=tn.EqualMass(5), resamples=99, rng=seeds, **how)
                for how in ({}, {"clusters": names})
            ]
            seen.append([p for result in both for p in (result.p_value, result.log_score_z.p_value)])
        plain, plain_z, aware, aware_z = np.mean(np.array(seen) <= 0.05, axis=0)
        four = 4 * math.sqrt(0.1 * 0.9 / runs)
        assert max(aware, aware_z) <= 0.1 + four, (aware, aware_z)
        assert min(plain, plain_z) > 0.12, (plain, plain_z)

    def test_single_rows_as_clusters_give_about_the_same(self) -> None:
        """The noise of a bootstrap over single rows is that of the multinomial null, to its own error, about 10 %."""
        y_true, y_prob = tn.simulate.calibrated(2000, [1.0] * 3, rng=5)
        plain = tn.assess(y_true, y_prob, bins=tn.EqualMass(5), rng=1)
        single = tn.assess(y_true, y_prob, bins=tn.EqualMass(5), rng=1, clusters=np.arange(2000))
        widths = [r.net.interval.high - r.net.interval.low for r in (plain, single)]
        assert widths[1] == pytest.approx(widths[0], rel=0.25)
        assert single.vce.noise_floor == pytest.approx(plain.vce.noise_floor, rel=0.15)
        assert single.log_score_z.value == pytest.approx(plain.log_score_z.value, rel=0.1)

    def test_weights_belong_to_the_name_not_to_the_place(self) -> None:
        names = np.array(["b", "a", "c", "a", "b", "a"])
        weights = ClusterWeights(7, 50, names)
        lines = weights.block(0, 6)
        assert (lines[1] == lines[3]).all()
        assert (lines[0] == lines[4]).all()
        assert (lines[0] != lines[1]).any()
        order = np.array([5, 2, 0, 4, 1, 3])
        assert (ClusterWeights(7, 50, names[order]).block(0, 6) == lines[order]).all()
        assert (ClusterWeights(7, 50, names[2:5]).block(0, 3) == lines[2:5]).all()
        assert (weights.block(3, 5) == lines[3:5]).all()
        assert (ClusterWeights(8, 50, names).block(0, 6) != lines).any()

    def test_seven_and_seven_point_zero_are_one_patient(self) -> None:
        whole, point = (ClusterWeights(1, 9, np.array([7, 8], dtype=d)).block(0, 2) for d in (int, float))
        assert (whole == point).all()

    def test_order_of_rows_does_not_matter(self) -> None:
        names = np.arange(1200) // 6
        order = np.random.default_rng(9).permutation(1200)
        straight, mixed = (
            tn.assess(Y_TRUE[o], Y_PROB[o], clusters=names[o], rng=3, resamples=99)
            for o in (np.arange(1200), order)
        )
        assert mixed.table == straight.table
        assert mixed.vce.p_value == straight.vce.p_value
        assert mixed.net.interval.low == pytest.approx(straight.net.interval.low, abs=1e-9)
        assert mixed.log_score_z.value == pytest.approx(straight.log_score_z.value, abs=1e-9)

    def test_replicates_of_batches_add_up(self) -> None:
        from trueness.rows import Rows

        names = np.arange(1200) % 40
        table = tn.tabulate(Y_TRUE, Y_PROB)

        def made(cut: slice) -> Any:
            rows = Rows.of(Y_TRUE[cut], Y_PROB[cut], None, from_logits=False, normalize=False, classes=None)
            return replicate([(rows, [table.spec])], ClusterWeights(3, 20, names[cut]), 20)[0][0][0]

        whole, parts = made(slice(None)), made(slice(0, 333)) + made(slice(333, None))
        np.testing.assert_allclose(parts.sums, whole.sums, rtol=1e-12, atol=1e-12)
        # A replicate is the table of the rows repeated as often as their weights say.
        weights = ClusterWeights(3, 20, names).block(0, 1200)
        for k in (0, 7, 19):
            again = tn.tabulate(
                np.repeat(Y_TRUE, weights[:, k]), np.repeat(Y_PROB, weights[:, k], axis=0), bins=table.bins
            )
            np.testing.assert_allclose(whole.ordered[:, k], again.ordered_sum, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(whole.rank[:, k], again.rank_count, rtol=1e-12, atol=1e-12)

    def test_split_ties_and_weights_in_replicates(self) -> None:
        from trueness.rows import Rows

        rounded = np.round(Y_PROB, 1)
        rounded /= rounded.sum(axis=1, keepdims=True)
        weight = np.arange(1200) % 3  # zeros among them
        table = tn.tabulate(Y_TRUE, rounded, ties="split", sample_weight=weight)
        rows = Rows.of(Y_TRUE, rounded, weight, from_logits=False, normalize=False, classes=None)
        names = np.arange(1200) // 10
        made = replicate([(rows, [table.spec])], ClusterWeights(3, 5, names), 5)[0][0][0]
        drawn = ClusterWeights(3, 5, names).block(0, 1200)
        again = tn.tabulate(
            Y_TRUE, rounded, ties="split", sample_weight=weight * drawn[:, 2], bins=table.bins
        )
        np.testing.assert_allclose(made.rank[:, 2], again.rank_count, atol=1e-9)
        np.testing.assert_allclose(made.ordered[:, 2], again.ordered_sum, atol=1e-9)

    def test_groups_of_clusters(self) -> None:
        """A group's clusters have the weights they have among all rows, so that it is as if assessed alone."""
        names = np.arange(1200) // 4
        whole = tn.assess(Y_TRUE, Y_PROB, groups=SITE, clusters=names, rng=3, resamples=99)
        plain = tn.assess(Y_TRUE, Y_PROB, clusters=names, rng=3, resamples=99)
        assert whole.vce.p_value == plain.vce.p_value
        assert whole.net.interval.low == pytest.approx(plain.net.interval.low, abs=1e-9)
        assert whole.n_clusters == plain.n_clusters == 300
        north = next(group for group in whole.groups if group.name == "north")
        assert north.assessment is not None
        assert north.assessment.n_clusters == len(set(names[SITE == "north"]))

    def test_progress_over_groups(self) -> None:
        y_true, y_prob = tn.simulate.calibrated(900, [1.0] * 3, rng=0)
        told: list[float] = []
        tn.assess(y_true, y_prob, groups=np.arange(900) % 4, resamples=39, rng=0, progress=told.append)
        assert told == [0.25, 0.5, 0.75, 1.0]

    def test_progress_goes_up_to_one(self) -> None:
        told: list[float] = []
        y_true, y_prob = tn.simulate.calibrated(5000, [1.0] * 3, rng=0)
        tn.assess(
            y_true,
            y_prob,
            clusters=np.arange(5000) // 10,
            groups=np.arange(5000) % 2,
            progress=told.append,
            resamples=39,
            rng=0,
        )
        assert told == sorted(told)
        assert len(told) > 2
        assert told[-1] == 1.0

    def test_few_clusters_are_named(self) -> None:
        result = tn.assess(Y_TRUE, Y_PROB, clusters=np.arange(1200) % 20, rng=0, resamples=99)
        assert "few-clusters" in codes(result)
        assert "20 clusters" in str(result)
        assert "few-clusters" not in codes(
            tn.assess(Y_TRUE, Y_PROB, clusters=np.arange(1200) % 40, rng=0, resamples=99)
        )


class TestSweep:
    FINE = tn.tabulate(Y_TRUE, Y_PROB, bins=tn.FineGrid(4000))

    @pytest.mark.parametrize("kind", ["mass", "width"])
    def test_against_assess_table_on_the_coarsened_table(self, kind: str) -> None:
        numbers = [2, 5, 10, 40]
        sweep = tn.sweep_bins(self.FINE, numbers, kind=kind, resamples=9999, rng=4)
        for k, number in enumerate(numbers):
            coarse = self.FINE.coarsen(tn.EqualMass(number) if kind == "mass" else tn.EqualWidth(number))
            result = tn.assess_table(coarse, resamples=9999, rng=4)
            assert sweep.n_bins[k] == np.count_nonzero(coarse.row_count)
            assert sweep.value[k] == pytest.approx(tn.variation_calibration_error(coarse), abs=1e-12)
            # Draws of another stream: within their error.
            assert sweep.noise_floor[k] == pytest.approx(result.vce.noise_floor, rel=0.03)
            assert sweep.p_value[k] == pytest.approx(
                result.vce.centred_p_value, abs=5 * math.sqrt(2 * 0.25 / 9999)
            )
            assert sweep.debiased[k] == pytest.approx(result.vce.debiased, abs=2e-3)
            assert sweep.net[k] == pytest.approx(result.net.debiased, abs=1e-9)
            assert sweep.low[k] == pytest.approx(result.vce.interval.low, abs=3e-3)
            assert sweep.high[k] == pytest.approx(result.vce.interval.high, abs=3e-3)
            share = coarse.count[coarse.row_count > 0] / 1200
            assert sweep.smallest_share[k] == pytest.approx(share.min())
            assert sweep.largest_share[k] == pytest.approx(share.max())
            # And of the same stream exactly.
            evidence = Evidence.of(coarse, 9999, [4, 7])
            assert sweep.high[k] == variation_error(evidence, 0.95, [4, 7]).interval.high

    def test_calibrated_noise_grows_with_the_bins(self) -> None:
        table = tn.tabulate(*tn.simulate.calibrated(3000, [1.0] * 3, rng=1), bins=tn.FineGrid())
        sweep = tn.sweep_bins(table, rng=0)
        assert sweep.n_bins.tolist() == [5, 10, 20, 40, 80]
        assert (np.diff(sweep.noise_floor) > 0).all()

    def test_words_and_dict(self) -> None:
        sweep = tn.sweep_bins(self.FINE, [5, 10], rng=4)
        assert len(str(sweep).splitlines()) == 4
        assert "bins of equal mass" in repr(sweep)
        content = json.loads(json.dumps(sweep.to_dict(), allow_nan=False))
        assert (content["schema"], content["kind"]) == (2, "bin-sweep")
        assert content["n_bins"] == [5, 10]
        assert content["value"] == sweep.value.tolist()

    def test_refusals(self) -> None:
        with pytest.raises(TypeError, match="table must be a CalibrationTable on a FineGrid"):
            tn.sweep_bins(Y_PROB)
        with pytest.raises(ValueError, match="kind"):
            tn.sweep_bins(self.FINE, kind="area")
        with pytest.raises(ValueError, match="at least one number of bins"):
            tn.sweep_bins(self.FINE, [])
        with pytest.raises(ValueError, match="n_bins"):
            tn.sweep_bins(self.FINE, [0])
        with pytest.raises(ValueError, match="7"):
            tn.sweep_bins(self.FINE, [7], kind="width")


class TestAnswer:
    def test_to_dict_survives_json(self) -> None:
        certain = tn.assess([0, 1] * 30, np.eye(2)[[0, 0] * 30], rng=0)
        for result in (RESULT, certain, tn.assess(Y_TRUE, Y_PROB, groups=SITE, variation="iqv", rng=3)):
            content = result.to_dict()
            assert json.loads(json.dumps(content, allow_nan=False)) == content
            assert (content["schema"], content["kind"]) == (2, "assessment")
            assert content["trueness"] == tn.__version__
            assert content["verdict"]["text"] == str(result.verdict)
            assert content["verdict"]["kind"] == result.verdict.kind
            assert [finding["p_value"] for finding in content["evidence"]] == [
                finding.p_value for finding in result.evidence
            ]
            assert content["vce"]["interval"]["low"] == result.vce.interval.low
            back = [tn.CalibrationTable.from_dict(table) for table in content["tables"]]
            assert back == [result.table, result.confidence_table]
        assert certain.to_dict()["log_score_z"]["value"] is None
        assert "cannot vary" in certain.to_dict()["log_score_z"]["reason"]
        assert certain.to_dict()["impossible_rows"] == 30
        assert certain.to_dict()["log_loss"] is None
        assert "infinite" in certain.to_dict()["log_loss_reason"]

    def test_what_is_missing_says_why(self) -> None:
        content = tn.assess_table(tn.tabulate(Y_TRUE, Y_PROB, variation="iqv"), rng=0).to_dict()
        assert content["ece"] is None
        assert content["ece_reason"] == text.NO_ECE
        assert content["uce"] is None
        assert content["uce_reason"] == text.NO_UCE
        json.dumps(content, allow_nan=False)
        assert text.NO_UCE in str(tn.assess(Y_TRUE, Y_PROB, variation="iqv", rng=0, resamples=39))

    def test_the_page_names_every_number(self) -> None:
        page = str(tn.assess(Y_TRUE, Y_PROB, groups=SITE, rng=3))
        for word in (
            "VCE",
            "net gap",
            "ECE",
            "RCE",
            "RCE W1",
            "UCE",
            "log-score Z",
            "95 % interval",
            "north",
            "1200 rows",
        ):
            assert word in page
        assert repr(RESULT) == str(RESULT)
        assert str(RESULT.verdict) in page
        assert RESULT.verdict.advice in page
        assert "accuracy " in page
        assert "Brier score " in page
        assert "log-loss " in page
        assert "10 bins of entropy (ECE: 10 of confidence)" in page
        assert "not 0" in page

    def test_it_is_frozen_and_not_hashable(self) -> None:
        with pytest.raises(AttributeError):
            RESULT.level = 0.9  # type: ignore[misc]
        with pytest.raises(TypeError):
            hash(RESULT)

    def test_bins_that_are_empty_have_no_numbers(self) -> None:
        result = tn.assess([0] * 40, [[0.9, 0.1]] * 40, rng=0)
        assert np.isfinite(result.vce.centred_gap).sum() == 1
        assert np.isnan(result.vce.bins.low).sum() == 9
        assert result.to_dict()["vce"]["centred_gap"].count(None) == 9


def halves(extra: int = 0) -> tuple[list[int], list[list[float]]]:
    """400 rows at (.9, .1) of which 80 % are right, 632 at (.6, .4) of which 75 % are: +.253 and -.160, in sum 0.

    `extra` more of the first kind tip the balance towards over-confidence.
    """
    first = 400 + extra
    right = round(0.8 * first)
    y_true = [0] * right + [1] * (first - right) + [0] * 474 + [1] * 158
    return y_true, [[0.9, 0.1]] * first + [[0.6, 0.4]] * 632


def combined(result: tn.Assessment) -> float:
    """The Cauchy combination of all the evidence, from its definition."""
    return exact.cauchy_combination([finding.p_value for finding in result.evidence])


class TestVerdict:
    Y, P = tn.simulate.calibrated(3000, [1.0] * 3, rng=6)

    def test_calibrated(self) -> None:
        result = tn.assess(self.Y, self.P, rng=0)
        assert (result.verdict.kind, result.verdict.direction, result.verdict.size) == ("none", None, None)
        said = str(result.verdict)
        assert said.startswith("no evidence of miscalibration at this sample size: p = ")
        assert f"3000 rows would reveal with 80 % power: {result.detectable_net_gap:.3g}" in said

    @pytest.mark.parametrize("n_rows", [1, 2])
    def test_a_row_in_a_bin_reveals_nothing(self, n_rows: int) -> None:
        """Its entropy is 0 whatever its label, so that no noise is seen; that is not a sharp instrument."""
        result = tn.assess([0, 0][:n_rows], [[0.9, 0.1], [0.6, 0.4]][:n_rows], rng=0)
        assert result.detectable_net_gap == np.inf
        assert result.verdict.kind == "too-few-rows"
        assert str(result.verdict).startswith("too few rows to tell: ")
        assert result.to_dict()["detectable_net_gap"] is None

    def test_certain_predictions(self) -> None:
        """No gap is "revealed with 80 % power: 0", and a calibrated UCE of 0 is not called "not 0"."""
        right = tn.assess([0] * 50, [[1.0, 0.0]] * 50, rng=0)
        assert right.detectable_net_gap == 0
        assert right.verdict.kind == "none"
        assert "power" not in str(right)
        assert "a calibrated model would get 0.0000\n" in str(right)
        one_error = tn.assess([1] + [0] * 49, [[1.0, 0.0]] * 50, rng=0)
        assert one_error.verdict.kind == "over-confident"
        assert "right in 98.0 % of rows and stated at 100.0 %" in str(one_error.verdict)

    @pytest.mark.parametrize(("exponent", "word", "sign"), [(1.4, "over", 1), (0.7, "under", -1)])
    def test_one_direction(self, exponent: float, word: str, sign: int) -> None:
        result = tn.assess(self.Y, tn.simulate.sharpen(self.P, exponent), rng=0)
        assert result.verdict.kind == f"{word}-confident"
        assert result.verdict.direction == word
        assert result.verdict.p_value == result.p_value
        said = str(result.verdict)
        assert said.startswith(f"{word}-confident: its first choice is right in ")
        assert f"outcomes vary {'more' if sign > 0 else 'less'} than predicted" in said
        assert sign * result.net.debiased > 0
        assert f"{result.net.debiased:+.4f}" in said
        assert f"[{result.net.interval.low:+.4f}, {result.net.interval.high:+.4f}]" in said
        assert sign * result.log_score_z.value < 0
        assert "p = 0.001" in said  # all tests are at their floor, 1/(999 + 1)
        right = float(np.mean(self.P.argmax(axis=1) == self.Y))
        assert f"right in {100 * right:.1f} % of rows" in said

    def test_both_directions(self) -> None:
        result = tn.assess(*halves(), rng=0)
        assert result.verdict.kind == "mixed"
        assert str(result.verdict).startswith(
            "miscalibrated in both directions: over-confident in some bins, under-confident in others"
        )
        assert result.net.interval.low < 0 < result.net.interval.high
        assert result.vce.debiased == pytest.approx(0.196, abs=0.002)
        tipped = tn.assess(*halves(600), rng=0)
        assert tipped.verdict.kind == "over-confident"
        assert "some bins err the other way (VCE" in str(tipped.verdict)

    def test_ranks_reversed(self) -> None:
        """A2: nine of ten at (.9, .1) wrong. VCE is 0; verdict and p-value rest on RCE and ECE too."""
        for times in (1, 100):
            result = tn.assess(([0] + [1] * 9) * times, [[0.9, 0.1]] * 10 * times, rng=0)
            assert result.vce.value == pytest.approx(0, abs=1e-12)
            assert result.verdict.kind == "ranks"
            assert result.p_value <= 0.01
            said = str(result.verdict)
            assert "right in 10.0 % of rows and stated at 90.0 %, although outcomes vary as much as" in said
            assert f"RCE {result.rce.debiased:.4f}" in said
            assert "columns are in the order of the labels" in result.verdict.advice
            assert "rank-order" in codes(result)

    def test_forty_points_off(self) -> None:
        """p = .3 for an event of rate .7: VCE and net see nothing, and the verdict is not silent."""
        y_true = (np.arange(20_000) % 10 < 7).astype(int)
        result = tn.assess(y_true, np.full(20_000, 0.3))
        assert result.vce.centred_p_value > 0.5
        assert result.p_value < 0.003
        assert "right in 30.0 % of rows and stated at 70.0 %" in str(result.verdict)

    def test_a_small_entropy_does_not_hide_a_wrong_first_choice(self) -> None:
        """(.7, .3) of which a quarter is right: outcomes vary less than predicted, which is not under-confidence."""
        y_true = (np.arange(4000) % 4 > 0).astype(int)
        result = tn.assess(y_true, np.tile([0.7, 0.3], (4000, 1)))
        assert result.net.interval.high < 0
        assert result.verdict.kind == "ranks"

    def test_one_bin_is_not_some_bins(self) -> None:
        """First choices are right more often than stated, lower ranks vary more: in a single bin."""
        y_prob = np.tile([0.6, 0.39, 0.005, 0.005], (2000, 1))
        result = tn.assess(np.repeat([0, 1, 2, 3], [1260, 540, 100, 100]), y_prob)
        assert result.verdict.kind == "mixed"
        assert "some bins" not in str(result.verdict)
        assert "right in 63.0 % of rows and stated at 60.0 %, yet outcomes vary more" in str(result.verdict)

    def test_the_level_decides(self) -> None:
        y_prob = tn.simulate.sharpen(self.P, 1.12)
        strict, loose = (tn.assess(self.Y, y_prob, level=level, rng=0) for level in (0.99, 0.9))
        assert strict.p_value == loose.p_value
        assert (loose.verdict.direction == "over") == (loose.p_value <= 0.1)
        assert (strict.verdict.direction == "over") == (strict.p_value <= 0.01)
        wide, narrow = (r.net.interval.high - r.net.interval.low for r in (strict, loose))
        assert wide > narrow

    def test_p_value_is_that_of_all_the_evidence(self) -> None:
        for result in (RESULT, tn.assess(self.Y, self.P, rng=1)):
            assert [finding.key for finding in result.evidence] == [
                "vce",
                "net",
                "ece",
                "rce",
                "rce_w1",
                "log_score",
            ]
            assert result.p_value == pytest.approx(combined(result))

    def test_one_number_is_not_counted_twice(self) -> None:
        """By confidence VCE and ECE are one number, and so are both distances of RCE for two classes."""
        two = tn.assess(*tn.simulate.calibrated(300, [1.0, 1.0], rng=4))
        assert [f.key for f in two.evidence] == ["vce", "net", "ece", "rce", "log_score"]
        by_confidence = tn.assess(self.Y, self.P, variation="confidence")
        assert [f.key for f in by_confidence.evidence] == ["vce", "net", "rce", "rce_w1", "log_score"]
        alone = tn.assess_table(tn.tabulate(self.Y, self.P))
        assert [f.key for f in alone.evidence] == ["vce", "net", "rce", "rce_w1", "log_score"]

    def test_only_the_log_score(self) -> None:
        """A thousand rows, one of them an outcome that was stated to be nearly impossible."""
        y_true = np.array([0] * 999 + [1])
        y_prob = np.tile([1 - 1e-9, 1e-9], (1000, 1))
        result = tn.assess(y_true, y_prob, rng=0)
        assert result.log_score_z.p_value < 1e-6
        assert result.verdict.kind == "over-confident"

    def test_the_normal_tail_of_the_log_score_is_not_trusted_alone(self) -> None:
        """One event of stated probability 1e-4 in 1000 rows has a chance of .095; Z is -2.9, p = .003 if normal."""
        y_true = np.array([0] * 999 + [1])
        result = tn.assess(y_true, np.tile([0.9999, 0.0001], (1000, 1)), resamples=1999)
        chance = 1 - 0.9999**1000
        assert result.log_score_z.p_value < 0.005
        assert result.log_score_z.drawn_p_value == pytest.approx(chance, abs=4 * math.sqrt(0.1 * 0.9 / 1999))
        assert result.verdict.kind == "none"

    def test_an_impossible_row_is_a_finding_of_its_own(self) -> None:
        """One row among 3001 whose true class had probability 0: the others decide the verdict."""
        ruled_out = np.vstack([self.P, [0.6, 0.4, 0.0]])
        result = tn.assess(np.append(self.Y, 2), ruled_out, rng=0)
        assert result.verdict.kind == "none"
        assert "besides, 1 row had a true class of stated probability 0" in str(result.verdict)
        assert result.log_score_z.reason == "without 1 row whose true class had probability 0"
        assert abs(result.log_score_z.value - tn.assess(self.Y, self.P).log_score_z.value) < 0.01
        assert result.log_loss == math.inf
        assert "log-loss infinite" in str(result)


class TestTolerance:
    Y, P = tn.simulate.calibrated(30_000, [1.0] * 3, rng=6)

    def said(self, exponent: float, tolerance: Any, rows: int = 30_000) -> Any:
        y_prob = tn.simulate.sharpen(self.P[:rows], exponent)
        return tn.assess(self.Y[:rows], y_prob, tolerance=tolerance).verdict

    def test_negligible_beyond_and_undecided(self) -> None:
        """Intervals decide: all within, one wholly outside, or neither."""
        assert self.said(1.05, 0.1).size == "negligible"
        assert self.said(1.05, 0.1).headline == "Negligible, within the tolerance"
        assert self.said(1.05, 0.1).kind == "over-confident"  # significant all the same
        beyond = self.said(1.5, 0.02)
        assert beyond.size == "beyond"
        assert beyond.headline == "Over-confident beyond the tolerance"
        assert "beyond the tolerance 0.02: VCE in [0." in str(beyond)
        unknown = self.said(1.0, 0.01, rows=300)
        assert (unknown.kind, unknown.size) == ("none", "undecided")
        assert "300 rows cannot tell whether it is within the tolerance" in str(unknown)

    def test_by_the_ends_of_the_intervals(self) -> None:
        result = tn.assess(self.Y, tn.simulate.sharpen(self.P, 1.1))
        high = max(it.interval.high for it in (result.vce, result.ece, result.rce) if it is not None)
        low = max(it.interval.low for it in (result.vce, result.ece, result.rce) if it is not None)
        assert self.said(1.1, high + 1e-9).size == "negligible"
        assert self.said(1.1, high - 1e-9).size == "undecided"
        assert self.said(1.1, low + 1e-9).size == "undecided"
        assert self.said(1.1, low - 1e-9).size == "beyond"

    def test_by_metric(self) -> None:
        assert self.said(1.5, {"vce": 0.5}).size == "negligible"
        assert self.said(1.5, {"vce": 0.5, "ece": 0.01}).size == "beyond"
        assert self.said(0.7, {"net": 0.01}).size == "beyond"  # under-confident: its size counts

    def test_small_without_a_tolerance(self) -> None:
        y_true, y_prob = tn.simulate.calibrated(400_000, [1.0] * 3, rng=1)
        result = tn.assess(y_true, tn.simulate.sharpen(y_prob, 1.02))
        assert result.p_value < 0.01
        assert (result.verdict.kind, result.verdict.size) == ("over-confident", "small")
        assert "small, but more than noise" in str(result.verdict)

    def test_a_metric_that_is_not_named_has_the_largest_tolerance(self) -> None:
        """A tolerance for VCE alone does not make a model that is 40 points off negligible."""
        y_true = (np.arange(2000) % 10 < 7).astype(int)
        result = tn.assess(y_true, np.full(2000, 0.3), tolerance={"vce": 0.05})
        assert result.verdict.size == "beyond"
        assert "ECE in [0.3" in str(result.verdict)

    def test_too_few_rows_are_never_beyond(self) -> None:
        result = tn.assess([0, 1], [[0.9, 0.1], [0.6, 0.4]], tolerance=0.02)
        assert (result.verdict.kind, result.verdict.size) == ("too-few-rows", "undecided")
        assert (result.vce.interval.low, result.vce.interval.high) == (0, 1)

    def test_beyond_needs_evidence(self) -> None:
        """At tolerance 0 an interval of RCE can exclude it by chance; without evidence that is undecided."""
        for seed in range(30, 45):
            y_true, y_prob = tn.simulate.calibrated(1000, [1.0] * 3, rng=seed)
            verdict = tn.assess(y_true, y_prob, tolerance=0, resamples=199).verdict
            assert verdict.kind != "none" or verdict.size == "undecided"

    @pytest.mark.parametrize(
        ("tolerance", "message"),
        [
            ({"vcx": 0.1}, "tolerance names 'vcx'; the metrics are vce, net, ece, rce, rce_w1"),
            (-0.1, "tolerance for vce must be a number from 0 to 2, got -0.1"),
            ("0.1", "tolerance for vce must be a number"),
            (math.nan, "tolerance for vce must be a number"),
            ({}, "tolerance is empty"),
        ],
    )
    def test_refusals(self, tolerance: Any, message: str) -> None:
        with pytest.raises(ValueError, match=re.escape(message)):
            tn.assess(self.Y[:100], self.P[:100], tolerance=tolerance)


class TestManyGroups:
    """A correction must be passable: tests that no draw reaches are repeated with more draws."""

    def test_one_wrong_group_among_eighty(self) -> None:
        """The smallest p-value of 999 draws, times 80, is .08."""
        names = np.repeat(np.arange(80), 100)
        y_true, y_prob = tn.simulate.calibrated(8000, [1.0] * 3, rng=4)
        y_prob[:100] = np.roll(np.eye(3)[y_true[:100]], 1, axis=1) * 0.97 + 0.01
        result = tn.assess(y_true, y_prob, groups=names)
        wrong = next(group for group in result.groups if group.name == "0")
        assert wrong.adjusted_p_value <= 0.05
        assert wrong.assessment is not None
        assert wrong.assessment.resamples > 999
        others = [
            group.assessment.resamples for group in result.groups if group is not wrong and group.assessment
        ]
        assert np.median(others) == 999
        assert "few-resamples" not in codes(result)

    def test_one_wrong_group_among_many(self) -> None:
        """Some calibrated groups are at the floor by chance; the wrong one is found all the same."""
        names = np.repeat(np.arange(400), 100)
        y_true, y_prob = tn.simulate.calibrated(40_000, [1.0, 1.0], rng=0)
        y_prob[700:800] = 0.98 * np.eye(2)[1 - y_true[700:800]] + 0.01
        result = tn.assess(y_true, y_prob, groups=names, resamples=199)
        assert [group.name for group in result.groups if group.flagged] == ["7"]
        assert "few-resamples" not in codes(result)
        printed = str(result).splitlines()
        first = next(k for k, line in enumerate(printed) if line.startswith("group")) + 1
        assert printed[first].startswith("7 ")
        assert printed[first].endswith("ranks")

    @pytest.mark.parametrize("p_value", [0.05, 1e-3, 1e-5])
    def test_draws_that_are_needed(self, p_value: float) -> None:
        """So many let one test alone reach the p-value while all others count against it, and hardly fewer do."""
        result = tn.assess(*tn.simulate.calibrated(300, [1.0] * 3, rng=4))
        draws = draws_for(p_value, result)
        others = [0.9] * (len(result.evidence) - 1)
        assert exact.cauchy_combination([1 / (draws + 1), *others]) <= p_value
        assert exact.cauchy_combination([1 / (0.98 * draws), *others]) > p_value

    def test_clusters_cannot_be_drawn_anew_and_it_says_so(self) -> None:
        names = np.repeat(np.arange(12), 100)
        y_true, y_prob = tn.simulate.calibrated(1200, [1.0, 1.0], rng=4)
        y_prob[:100] = 0.98 * np.eye(2)[1 - y_true[:100]] + 0.01
        result = tn.assess(y_true, y_prob, groups=names, clusters=np.arange(1200) // 2, resamples=39)
        assert "few-resamples" in codes(result)
        assert "raise resamples to" in str(result)

    def test_a_finer_resolution(self) -> None:
        """Without one, 999 draws; asked for p-values of 1e-4, a clear case is drawn until it can have one."""
        y_true, y_prob = tn.simulate.calibrated(500, [1.0] * 3, rng=4)
        sharp = tn.simulate.sharpen(y_prob, 3)
        assert tn.assess(y_true, sharp).resamples == 999
        fine = tn.assess(y_true, sharp, p_resolution=1e-4)
        assert fine.p_value <= 1e-4
        assert fine == tn.assess(y_true, sharp, resamples=fine.resamples)
        assert tn.assess(y_true, y_prob, p_resolution=1e-4).resamples == 999
        with pytest.raises(ValueError, match="p_resolution must be a number between 0 and 1"):
            tn.assess(y_true, sharp, p_resolution=0)


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
            == tn.sweep_bins(tn.tabulate(y_true, y_prob, bins=tn.FineGrid())).seed
            == 0
        )
        assert tn.compare(y_true, {"a": y_prob, "b": y_prob[:, ::-1]}, resamples=39).seed == 0


class TestConfidenceBins:
    Y, P = tn.simulate.calibrated(2000, [1.0] * 3, rng=6)

    def test_ece_is_made_with_them(self) -> None:
        result = tn.assess(self.Y, self.P, bins=tn.Edges([0, 0.5, 0.9, 1]), confidence_bins=15)
        assert result.ece is not None
        assert result.ece.value == pytest.approx(tn.ece(self.Y, self.P, bins=15), abs=1e-12)
        assert "3 bins of entropy (ECE: 15 of confidence)" in str(result)
        mass = tn.assess(self.Y, self.P, confidence_bins=tn.EqualMass(7))
        assert mass.ece is not None
        assert mass.ece.value == pytest.approx(tn.ece(self.Y, self.P, bins=tn.EqualMass(7)), abs=1e-12)

    def test_from_tables_and_in_compare(self) -> None:
        fine, by_confidence = (
            tn.tabulate(self.Y, self.P, bins=tn.FineGrid(), variation=name)
            for name in ("entropy", "confidence")
        )
        result = tn.assess_table(fine, confidence_table=by_confidence, bins=10, confidence_bins=20)
        assert result == tn.assess(self.Y, self.P, bins=10, confidence_bins=20)
        alone = tn.assess_table(fine, confidence_table=by_confidence, confidence_bins=20)
        assert alone.ece == result.ece or alone.ece.value == result.ece.value
        pair = tn.compare(self.Y, {"a": self.P, "b": self.P[:, ::-1]}, confidence_bins=20, resamples=39)
        assert pair.assessments["a"].ece.value == result.ece.value


class TestWarnings:
    """Each is raised by data that deserve it, and not by data that do not."""

    GOOD = tn.assess(*tn.simulate.calibrated(5000, [1.0] * 3, rng=3), bins=EF, rng=0)

    def test_good_data_have_none(self) -> None:
        assert self.GOOD.warnings == ()
        assert "warnings" not in str(self.GOOD)

    def test_few_rows_names_the_bins_that_are_supported(self) -> None:
        result = tn.assess(*tn.simulate.calibrated(300, [1.0] * 100, rng=3), bins=EF, rng=0)
        (few,) = [c for c in result.warnings if c.code == "few-rows"]
        assert "use at most 3 bins" in few.remedy
        assert "300 rows for 100 classes" in few.message
        fine = tn.assess(*tn.simulate.calibrated(300, [1.0] * 100, rng=3), bins=tn.EqualMass(3), rng=0)
        assert "few-rows" not in codes(fine)
        none = tn.assess([0, 1, 0], [[0.6, 0.4]] * 3, rng=0)
        assert "not even one bin is supported" in str(none)

    def test_small_bins(self) -> None:
        y_true, y_prob = tn.simulate.calibrated(400, [1.0] * 3, rng=3)
        assert "small-bins" in codes(tn.assess(y_true, y_prob, rng=0))
        assert "small-bins" not in codes(tn.assess(y_true, y_prob, bins=EF, rng=0))

    def test_empty_bins(self) -> None:
        assert "empty-bins" in codes(tn.assess([0, 1] * 50, [[0.6, 0.4]] * 100, rng=0))

    def test_rank_order(self) -> None:
        y_true, y_prob = [0] * 30 + [1] * 60 + [2] * 10, [[0.4, 0.35, 0.25]] * 100
        result = tn.assess(y_true, y_prob, rng=0)
        (caution,) = [c for c in result.warnings if c.code == "rank-order"]
        assert "look at RCE" in caution.remedy
        assert "rank-order" not in codes(tn.assess([0] * 40 + [1] * 35 + [2] * 25, y_prob, rng=0))

    def test_ties(self) -> None:
        y_prob = [[0.4, 0.4, 0.2]] * 100
        first, split = (tn.assess([0, 1] * 50, y_prob, ties=ties, rng=0) for ties in ("first", "split"))
        said = {r.table.spec.ties: next(c for c in r.warnings if c.code == "ties") for r in (first, split)}
        assert "ties='split'" in said["first"].remedy
        assert "share" in said["split"].remedy
        assert "100 rows of 100" in str(said["first"])

    def test_impossible(self) -> None:
        result = tn.assess([0] * 50 + [2], [[0.7, 0.3, 0.0]] * 51, rng=0)
        assert "impossible" in codes(result)
        assert math.isfinite(result.log_score_z.value)
        assert "without 1 row" in str(result.log_score_z.reason)

    def test_uneven_weights(self) -> None:
        y_true, y_prob = tn.simulate.calibrated(1000, [1.0] * 3, rng=3)
        heavy = np.where(np.arange(1000) < 20, 100.0, 1.0)
        assert "uneven-weights" in codes(tn.assess(y_true, y_prob, sample_weight=heavy, rng=0))
        assert "uneven-weights" not in codes(tn.assess(y_true, y_prob, sample_weight=heavy * 0 + 2, rng=0))

    def test_plug_in_misleads(self) -> None:
        """C = 100 and 30 rows a bin: entropy of 30 ranks is at most .74, the plug-in says little else."""
        y_true, truth = tn.simulate.calibrated(300, [1.0] * 100, rng=3)
        for exponent, word in ((0.7, "above"), (1.0, "above"), (2.5, "below")):
            result = tn.assess(y_true, tn.simulate.sharpen(truth, exponent), bins=EF, rng=0)
            (said,) = [c.message for c in result.warnings if c.code == "plug-in-misleads"]
            assert word in said
        between = tn.assess(y_true, tn.simulate.sharpen(truth, 1.7), bins=EF, rng=0)  # right, by chance
        assert "plug-in-misleads" not in codes(between)

    def test_plug_in_misleads_names_the_cause(self) -> None:
        """Noise is a twentieth of the value here: few rows for 1000 classes bias it."""
        y_true, y_prob = tn.simulate.calibrated(2000, np.full(1000, 0.02), rng=0)
        result = tn.assess(y_true, tn.simulate.sharpen(y_prob, 2))
        (said,) = [c for c in result.warnings if c.code == "plug-in-misleads"]
        assert result.vce.noise_floor < result.vce.value / 10
        assert "noise" not in said.remedy
        assert "biased" in said.remedy
        noisy = tn.assess(*tn.simulate.calibrated(300, [1.0] * 100, rng=3), bins=EF)
        assert "most of it is sampling noise" in next(
            c.remedy for c in noisy.warnings if c.code == "plug-in-misleads"
        )

    def test_certain_predictions_are_not_misled_by_rounding(self) -> None:
        result = tn.assess([0, 1] * 50, np.eye(2)[[0, 1] * 50], rng=0)
        assert "plug-in-misleads" not in codes(result)
        assert math.isnan(result.log_score_z.value)
        assert "cannot vary" in str(result.log_score_z.reason)


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

    def test_noise_floor_by_all_outcomes(self, measure: Any) -> None:
        """Nine rows at (.5, .3, .2): the mean of |V(r̄) - V(q̄)| over 55 outcomes, to the error of 9999 draws."""
        v = tn.variations[measure] if isinstance(measure, str) else measure
        q = [0.5, 0.3, 0.2]
        result = tn.assess([0] * 4 + [1] * 3 + [2] * 2, [q] * 9, variation=measure, resamples=9999, rng=2)
        law = exact.null_law(9, q, lambda r: abs(v(r) - v(q)))
        error = 5 * exact.sd(law) / math.sqrt(9999) + 1e-12
        assert result.vce.noise_floor == pytest.approx(exact.mean(law), abs=error)
        p = exact.at_least(law, result.vce.value)
        assert result.vce.p_value == pytest.approx(p, abs=5 * math.sqrt(max(p * (1 - p), 0) / 9999) + 1e-4)


class TestWeights:
    def test_whole_numbers_are_near_repetition(self) -> None:
        """The value is the same; noise is that of fewer rows: repeated rows are not new ones."""
        weight = np.random.default_rng(1).integers(1, 4, 1200)
        weighted = tn.assess(Y_TRUE, Y_PROB, sample_weight=weight, rng=3)
        repeated = tn.assess(np.repeat(Y_TRUE, weight), np.repeat(Y_PROB, weight, axis=0), rng=3)
        assert weighted.vce.value == pytest.approx(repeated.vce.value, abs=1e-12)
        assert weighted.rce.value == pytest.approx(repeated.rce.value, abs=1e-12)
        widths = [r.net.interval.high - r.net.interval.low for r in (weighted, repeated)]
        # Effective rows are (Σw)²/Σw² ≈ 1200·4/4.67, repeated ones 1200·2: noise larger by √2.33.
        assert widths[0] / widths[1] == pytest.approx(math.sqrt(2 * 4.667 / 4), rel=0.1)

    def test_equal_weights_are_no_weights(self) -> None:
        """But for the scale; draws are those of the same seed."""
        weighted = tn.assess(Y_TRUE, Y_PROB, sample_weight=np.full(1200, 3.0), rng=3)
        assert weighted.vce.p_value == RESULT.vce.p_value
        assert weighted.net.interval.low == pytest.approx(RESULT.net.interval.low, abs=1e-9)
        assert weighted.log_score_z.value == pytest.approx(RESULT.log_score_z.value, rel=1e-9)

    def test_size_with_random_weights(self) -> None:
        """Weights that do not look at the labels: size at 5 % up to 7.5 % and four errors of 100 runs, .105."""
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
