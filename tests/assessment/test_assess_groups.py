"""Groups of rows: their tables, corrected p-values, and enough draws for the correction."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import inference_oracle as exact
import numpy as np
import pytest
from assessment_data import EF, SITE, Y_PROB, Y_TRUE, codes, combined

import trueness as tn
from trueness.old_assessment._estimation import resamples_for
from trueness.old_assessment.text import flagged_first
from trueness.old_table.tables import Tables
from trueness.rows.groups import encode_names, names_of


class TestGroups:
    @pytest.mark.parametrize("bins", [10, EF], ids=["EW", "EF"])
    def test_from_tables(self, bins: Any) -> None:
        want = tn.assess(Y_TRUE, Y_PROB, bins=bins, groups=SITE, rng=3, by_class=False)
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

    def test_from_tables_as_one_value(self) -> None:
        """`Tables` for the whole and for groups, beside a table and its confidence table."""
        fine = {
            name: Tables.of(
                [
                    tn.tabulate(
                        Y_TRUE[name == SITE], Y_PROB[name == SITE], variation=v, bins=tn.EqualWidth(4000)
                    )
                    for v in ("entropy", "confidence")
                ]
                + [tn.tabulate_events(Y_TRUE[name == SITE], Y_PROB[name == SITE])]
            )
            for name in ("east", "north", "south")
        }
        whole = fine["east"] + fine["north"] + fine["south"]
        got = tn.assess_table(whole, groups=fine, bins=10, rng=3)
        assert got == tn.assess(Y_TRUE, Y_PROB, groups=SITE, rng=3)
        pairs = {name: (tables.by_variation, tables.by_confidence) for name, tables in fine.items()}
        without = {name: replace(tables, events=()) for name, tables in fine.items()}
        got = tn.assess_table(replace(whole, events=()), groups=without, bins=10, rng=3)
        assert got == tn.assess_table(
            whole.by_variation, confidence_table=whole.by_confidence, groups=pairs, bins=10, rng=3
        )

    def test_from_fine_tables_in_the_bins_of_all_rows(self) -> None:
        fine = {
            name: tn.tabulate(Y_TRUE[name == SITE], Y_PROB[name == SITE], bins=tn.EqualWidth(4000))
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

    def test_small_groups_are_listed_but_not_assessed(self) -> None:
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

    def test_only_the_printed_page_is_limited_to_40_groups(self) -> None:
        names = np.arange(1200) // 20
        result = tn.assess(Y_TRUE, Y_PROB, groups=names, rng=3, min_group_size=1, resamples=39)
        assert len(result.groups) == 60
        assert "and 20 more groups" in str(result)

    def test_names_of_groups(self) -> None:
        assert encode_names(np.array([2.0, 1.5, 2.0]))[0] == ["1.5", "2"]
        assert encode_names(np.array([3, 1, 3]))[0] == ["1", "3"]
        assert encode_names(names_of("groups", [True, False, True], 3))[0] == ["False", "True"]
        assert encode_names(names_of("groups", np.array(["a", 1, "a"], dtype=object), 3))[0] == ["1", "a"]

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
        with pytest.raises(ValueError, match=r"`groups\['half'\]` has shape"):
            tn.assess(Y_TRUE, Y_PROB, groups={"site": SITE, "half": half[1:]})
        with pytest.raises(ValueError, match="groups has no columns"):
            tn.assess(Y_TRUE, Y_PROB, groups={})

    def test_combinations_with_equal_labels_stay_separate(self) -> None:
        a, b = np.array(["x", "x, b=y"])[np.arange(1200) % 2], np.array(["y, b=z", "z"])[np.arange(1200) % 2]
        result = tn.assess(Y_TRUE, Y_PROB, groups={"a": a, "b": b}, rng=3, resamples=39)
        assert [group.n_rows for group in result.groups] == [600, 600]

    @pytest.mark.parametrize("make", [list, tuple, lambda names: np.array(names, object)])
    def test_names_that_differ_by_a_nul_stay_separate(self, make: Any) -> None:
        """NumPy strings drop a NUL at the end."""
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

    def test_a_name_that_is_not_valid_utf_8(self, tmp_path: Path) -> None:
        """Half a surrogate pair, as in a broken file name: the numbers are those of any other name."""
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


class TestManyGroups:
    """With no resample as extreme as the data, more are made until the corrected p-value can be small enough."""

    def test_one_wrong_group_among_many(self) -> None:
        """Some calibrated groups have the smallest p-value by chance; the wrong group is found all the same."""
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
        assert {group.kind for group in result.groups} == {"none", "ranks"}

    @pytest.mark.parametrize("p_value", [0.05, 1e-3, 1e-5])
    def test_draws_that_are_needed(self, p_value: float) -> None:
        """One test alone then reaches the p-value if all others count against it; with 2 % fewer draws it does not."""
        result = tn.assess(*tn.simulate.calibrated(300, [1.0] * 3, rng=4))
        resamples = resamples_for(p_value, result)
        others, weights = [0.9] * (len(result.evidence) - 1), [1.0] * len(result.evidence)
        weights[-1] = 2.0  # that of the cumulative log-score
        assert exact.cauchy_combination([1 / (resamples + 1), *others], weights) <= p_value
        assert exact.cauchy_combination([1 / (0.98 * resamples), *others], weights) > p_value

    def test_clusters_cannot_be_drawn_again_and_a_warning_says_so(self) -> None:
        names = np.repeat(np.arange(12), 100)
        y_true, y_prob = tn.simulate.calibrated(1200, [1.0, 1.0], rng=4)
        y_prob[:100] = 0.98 * np.eye(2)[1 - y_true[:100]] + 0.01
        result = tn.assess(
            y_true, y_prob, groups=names, clusters=np.arange(1200) // 2, resamples=39, by_class=False
        )
        assert "few-resamples" in codes(result)
        assert "raise the number of resamples to" in str(result)

    def test_a_finer_resolution(self) -> None:
        """By default 999 draws; for p-values of 1e-4, a clear case is drawn more often."""
        y_true, y_prob = tn.simulate.calibrated(500, [1.0] * 3, rng=4)
        sharp = tn.simulate.sharpen(y_prob, 3)
        assert tn.assess(y_true, sharp).resamples == 999
        fine = tn.assess(y_true, sharp, p_resolution=1e-4)
        assert fine.p_value <= 1e-4
        assert fine == tn.assess(y_true, sharp, resamples=fine.resamples)
        assert tn.assess(y_true, y_prob, p_resolution=1e-4).resamples == 999
        with pytest.raises(ValueError, match="p_resolution must be a number between 0 and 1"):
            tn.assess(y_true, sharp, p_resolution=0)
