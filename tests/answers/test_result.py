"""What all answers share."""

from __future__ import annotations

import re

import pytest
from answered import answered

from trueness.answers.result import safe_names
from trueness.refusals import Refusal


def test_flat_numbers() -> None:
    flat = answered("one group").flat("run/")
    result = answered("one group")
    assert flat["run/vce"] == result.vce.value
    assert flat["run/vce_debiased"] == result.vce.debiased
    assert flat["run/group/s5/gap_low"] == result.groups["s5"].gap.low
    assert flat["run/p_value"] == result.p_value
    for name, value in flat.items():
        assert isinstance(value, float)
        assert re.fullmatch(r"[\w/-]+", name)
        assert len(name) <= 250


def test_what_is_missing_is_left_out() -> None:
    flat = answered("few clusters").flat()
    assert "p_value" not in flat
    assert "vce_low" not in flat
    assert "vce" in flat


def test_names_stay_different() -> None:
    assert safe_names(["é", "ü", "é"]) == ["_", "__2", "__3"]
    assert len(safe_names(["x" * 500])[0]) == 80


def test_an_unknown_table_is_refused() -> None:
    with pytest.raises(Refusal, match="did you mean 'metrics'"):
        answered("sharpened").to_frame("metric")


def test_equality_is_of_all_numbers() -> None:
    assert answered("sharpened") != answered("flattened")
    assert answered("sharpened") != 3
    with pytest.raises(TypeError):
        hash(answered("sharpened"))


def test_printing_is_the_answer() -> None:
    result = answered("sharpened")
    assert str(result) == repr(result) == str(result.answer)
    assert result.p_value == result.verdict.p_value
