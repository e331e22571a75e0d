"""Arguments that `assess` and `assess_table` refuse, with codes and messages."""

import math
from typing import Any

import numpy as np
import pytest
from assessment_data import ENGINES, SITE, Y_PROB, Y_TRUE

import trueness as tn


class TestRefusals:
    @pytest.mark.parametrize("level", [0.49, 1, 1.0, -1, "0.95", True, math.nan, None])
    def test_level(self, level: Any) -> None:
        with pytest.raises(ValueError, match=r"level must be a number from 0.5 to below 1"):
            tn.assess(Y_TRUE, Y_PROB, level=level)

    @pytest.mark.parametrize(("level", "least"), [(0.95, 19), (0.99, 99), (0.5, 1), (0.9, 9), (0.999, 999)])
    def test_too_few_resamples_for_the_level(self, level: float, least: int) -> None:
        """The p-value of a test is at least 1/(R + 1), which must reach 1 - level."""
        with pytest.raises(
            ValueError, match=rf"use {least} resamples or more|`resamples` must be .* at least 1"
        ):
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
            with pytest.raises(ValueError, match=f"`{argument}` {message}"):
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
        with pytest.raises(TypeError, match=r"`table` must be a CalibrationTable.*got ndarray"):
            tn.assess_table(Y_PROB)
        with pytest.raises(TypeError, match="`confidence_table` must be a CalibrationTable"):
            tn.assess_table(table, confidence_table=0.3)
        with pytest.raises(ValueError, match="confidence_table is binned by entropy"):
            tn.assess_table(table, confidence_table=table)
        with pytest.raises(ValueError, match="they must be of the same rows"):
            tn.assess_table(table + table, confidence_table=by_confidence)
        with pytest.raises(TypeError, match=r"`groups\['a'\]` must be a CalibrationTable"):
            tn.assess_table(table, groups={"a": 3})
        with pytest.raises(ValueError, match="a table without rows cannot be assessed"):
            tn.assess_table(tn.CalibrationTable.empty(table.spec))

    @pytest.mark.parametrize(
        ("options", "code", "argument", "value"),
        [
            ({"level": 2}, "bad-argument", "level", 2),
            ({"p_resolution": 0}, "bad-argument", "p_resolution", 0),
            ({"resamples": 9}, "too-few-resamples", "resamples", 9),
            ({"tolerance": {"vcx": 0.1}}, "unknown-metric", "tolerance", "vcx"),
            ({"tolerance": {"vce": 3}}, "bad-argument", "tolerance", 3),
            ({"tolerance": {}}, "bad-argument", "tolerance", None),
            ({"clusters": np.arange(1200) % 4}, "too-few-clusters", "clusters", 4),
        ],
    )
    def test_codes_and_facts(self, options: Any, code: str, argument: str, value: Any) -> None:
        with pytest.raises(tn.Refusal) as caught:
            tn.assess(Y_TRUE, Y_PROB, **options)
        assert (caught.value.code, caught.value.argument, caught.value.value) == (code, argument, value)

    def test_codes_for_tables(self) -> None:
        table = tn.tabulate(Y_TRUE, Y_PROB)
        by_confidence = tn.tabulate(Y_TRUE[1:], Y_PROB[1:], variation="confidence")
        for given, code in (
            ({"table": 3}, "wrong-type"),
            ({"table": table, "confidence_table": table}, "wrong-table"),
            ({"table": table, "confidence_table": by_confidence}, "different-rows"),
            ({"table": table, "groups": {"{a}": 3}}, "wrong-type"),  # braces in names are kept
        ):
            with pytest.raises(tn.Refusal) as caught:
                tn.assess_table(**given)
            assert caught.value.code == code
        assert "`groups['{a}']` must be a CalibrationTable" in str(caught.value)

    @pytest.mark.parametrize("engine", ENGINES)
    def test_a_bad_row_is_named_by_its_own_number_among_groups(self, engine: str) -> None:
        spoiled = Y_PROB.copy()
        spoiled[777] = [0.5, 0.5, 0.5, -0.5]
        with pytest.raises(ValueError, match="row 777"):
            tn.assess(Y_TRUE, spoiled, groups=SITE, engine=engine)
