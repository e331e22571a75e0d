"""Axes, and what is true of every chart in SVG and in characters."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from charted import HOSTILE, charts, forest_of
from hypothesis import given
from hypothesis import strategies as st

from trueness.charts import Axis, forest_chart
from trueness.formatting import columns, visible

KINDS = ("points", "line", "band", "bars", "spans", "cells", "rule")


@pytest.mark.parametrize("scale", ["linear", "log", "logit"])
@given(st.floats(1e-6, 0.4), st.floats(0.45, 0.999999), st.integers(16, 100))
def test_ticks_are_round_few_and_inside(scale: str, low: float, high: float, room: int) -> None:
    axis = Axis("", (low, high), scale)
    ticks = axis.ticks(room)
    assert len(ticks) <= room // 8 + 1
    for value, text in ticks:
        assert low * (1 - 1e-6) <= value <= high * (1 + 1e-6)
        if not text.startswith("10"):
            assert math.isclose(float(text.replace(",", "")), value, rel_tol=1e-6, abs_tol=1e-9)
    places = axis.place([value for value, _ in ticks])
    assert np.all(np.diff(places) > 0)


def test_places_are_on_the_scale() -> None:
    assert Axis("", (0.01, 0.99), "logit").place([0.01, 0.5, 0.99]).round(9).tolist() == [0, 0.5, 1]
    assert Axis("", (1, 100), "log").place([0, 10, 1e9]).tolist() == [0, 0.5, 1]
    names = Axis.of_names("", ["a", "b"])
    assert names.place([0, 1]).tolist() == [0.25, 0.75]
    assert Axis("", (2, 2)).place([2]).tolist() == [0]


def test_names_are_left_out_evenly_where_there_is_no_room() -> None:
    axis = Axis.of_names("", [f"2026-01-{k:02d}" for k in range(30)])
    assert len(axis.ticks()) == 30
    assert [value for value, _ in axis.ticks(44)] == [0, 8, 16, 24]


@pytest.mark.parametrize("name", charts())
class TestEveryChart:
    def test_marks_are_of_the_seven_kinds_and_have_words(self, name: str) -> None:
        chart = charts()[name]
        assert {chart.x.scale, chart.y.scale} <= {"linear", "log", "logit", "names"}
        for mark in (*chart.marks, *chart.strip):
            assert mark.kind in KINDS
            assert mark.role in ("observed", "predicted", "band", "ink", "quiet")
            if mark.kind in ("points", "bars", "cells"):
                assert len(mark.words) == len(mark.x)
            for end in mark.corners:
                assert np.isfinite(end).all()
        assert any(mark.words for mark in chart.marks)

    def test_the_svg_is_well_formed_and_inside_its_box(self, name: str) -> None:
        chart = charts()[name]
        svg = chart.svg()
        root = ET.fromstring(svg)
        assert root.get("aria-label") == chart.title
        assert "nan" not in svg
        assert " style=" not in svg
        _, _, width, height = map(float, root.get("viewBox", "").split())
        for text in root.iter("text"):
            if text.get("transform") is None:
                assert 0 <= float(text.get("x", "")) <= width
                assert 0 <= float(text.get("y", "")) <= height
        titles = [it.text for it in root.iter("title")]
        words = {word for mark in (*chart.marks, *chart.strip) for word in mark.words}
        assert {"\n".join(map(visible, it.split("\n"))) for it in words} == set(titles)

    @pytest.mark.parametrize("width", [60, 80, 100])
    def test_text_fits(self, name: str, width: int) -> None:
        lines = charts()[name].lines(width)
        assert max(map(columns, lines)) <= width
        assert all(line.isprintable() for line in lines)
        assert charts()[name].title[:20] in lines[0]


def test_names_become_neither_markup_nor_control_characters() -> None:
    chart = forest_chart(forest_of())
    svg, text = chart.svg(), chart.text()
    assert "<script" not in svg
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ufeff]", svg + text)
    names = [it.text for it in ET.fromstring(svg).iter("text")]
    assert {"$x_1$ & <b>", '"quoted"', "Øst"} <= set(names)
    assert HOSTILE[1] in text


def test_legends_name_each_kind_once() -> None:
    names = [text for _, text in charts()["reliability"].legend()]
    assert names[:3] == [
        "95 % of calibrated models",
        "observed = predicted",
        "95 % interval of a bin",
    ]
    assert "observed" in names
    assert [text for _, text in charts()["map"].legend()] == [
        "more often than predicted",
        "less often",
    ]


def test_a_notebook_shows_the_svg() -> None:
    assert charts()["ranks"].svg() in charts()["ranks"]._repr_html_()
