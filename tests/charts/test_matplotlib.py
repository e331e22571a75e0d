"""Charts on matplotlib axes: nothing overlaps, names are as they are, overlays share a frame."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from charted import charts, forest_of, table_of

from trueness.charts import Chart, forest_chart, reliability_chart, trend_chart
from trueness.charts.matplotlib_axes import COLOURS
from trueness.document import Entry, Forest

plt = pytest.importorskip("matplotlib.pyplot")


def texts_of(figure: Any) -> list[Any]:
    from matplotlib.text import Text

    return [it for it in figure.findobj(Text) if it.get_visible() and it.get_text().strip()]


def collisions(figure: Any) -> list[str]:
    """Texts that touch one another or leave the figure."""
    figure.canvas.draw()
    boxes = [(it.get_text(), it.get_window_extent()) for it in texts_of(figure)]
    found = []
    for k, (text, a) in enumerate(boxes):
        if min(a.x0, a.y0) < -0.5 or a.x1 > figure.bbox.x1 + 0.5 or a.y1 > figure.bbox.y1 + 0.5:
            found.append(f"{text} is cut")
        for other, b in boxes[k + 1 :]:
            if min(a.x1, b.x1) - max(a.x0, b.x0) > 0.5 and min(a.y1, b.y1) - max(a.y0, b.y0) > 0.5:
                found.append(f"{text} and {other}")
    return found


@pytest.mark.parametrize("inches", [3.3, 7.0])
@pytest.mark.parametrize("name", charts())
@pytest.mark.parametrize("own", [True, False])
def test_no_text_overlaps(name: str, inches: float, own: bool) -> None:
    with plt.rc_context({"figure.figsize": (inches, 4.2)}):
        ax = None if own else plt.subplots(layout="constrained")[1]
        figure = charts()[name].plot(ax).get_figure()
    assert collisions(figure) == []
    assert figure.get_figwidth() == inches


@pytest.mark.parametrize("inches", [3.3, 7.0])
def test_overlays_and_small_multiples_do_not_overlap(inches: float) -> None:
    with plt.rc_context({"figure.figsize": (inches, 4.2)}):
        ax = charts()["reliability"].plot(label="first")
    for name in ("second", "a third with a long name"):
        charts()["reliability"].plot(ax, label=name)
    assert collisions(ax.get_figure()) == []
    figure, axes = plt.subplots(2, 2, figsize=(7, 8), layout="constrained")
    for each in axes.flat:
        charts()["class"].plot(each)
    assert collisions(figure) == []


def test_an_overlay_draws_reference_and_counts_once() -> None:
    first, other = charts()["reliability"], reliability_chart(table_of("many"))
    ax = first.plot(label="raw")
    before = len(ax.lines), len(ax.patches), len(ax.collections)
    assert other.plot(ax, label="after", color="black") is ax
    points = sum(mark.kind == "points" for mark in other.marks)
    # a band, intervals and points are added; no diagonal and no bars of counts
    assert (len(ax.lines), len(ax.patches), len(ax.collections)) == (
        before[0],
        before[1],
        before[2] + 2 + points,
    )
    names = [it.get_text() for it in ax.get_legend().get_texts()]
    assert names.count("raw") == names.count("after") == names.count("observed = predicted") == 1


def test_axes_hold_all_that_is_overlaid() -> None:
    narrow, wide = charts()["reliability"], reliability_chart(table_of("many"))
    for first, second in ((narrow, wide), (wide, narrow)):
        ax = first.plot()
        second.plot(ax)
        low, high = ax.get_xlim()
        assert low == pytest.approx(min(first.x.range[0], second.x.range[0]))
        assert high == pytest.approx(max(first.x.range[1], second.x.range[1]))


def test_points_are_where_the_chart_says() -> None:
    chart = charts()["confidence"]
    ax = chart.plot(label="model")
    (drawn,) = (it for it in ax.collections if it.get_label() == "model")
    (mark,) = (it for it in chart.marks if (it.kind, it.role) == ("points", "observed"))
    assert np.asarray(drawn.get_offsets()) == pytest.approx(np.stack([mark.x, mark.y], 1))


def test_names_are_drawn_as_they_are() -> None:
    chart: Chart = forest_chart(forest_of(("$x_1$ & <b>", "_private", "$\\frac{1}{$")))
    ax = chart.plot(label="_$model$")
    ax.get_figure().canvas.draw()
    shown = {it.get_text() for it in texts_of(ax.get_figure())}
    assert {"$x_1$ & <b>", "_private", "$\\frac{1}{$", "_$model$"} <= shown
    assert not any(it.get_parse_math() for it in texts_of(ax.get_figure()) if "$" in it.get_text())


def test_letters_of_other_scripts_are_kept() -> None:
    ax = forest_chart(forest_of(("北京协和", "عربي", "Ωμέγα"))).plot()
    assert [it.get_text() for it in ax.get_yticklabels()] == ["北京协和", "عربي", "Ωμέγα"]


def test_nothing_global_is_changed() -> None:
    before = dict(plt.rcParams)
    charts()["ranks"].plot()
    assert dict(plt.rcParams) == before


def test_fonts_of_files_are_embedded_and_nothing_is_a_bitmap() -> None:
    out = io.BytesIO()
    with plt.rc_context({"pdf.compression": 0}):
        charts()["reliability"].plot().get_figure().savefig(out, format="pdf")
    content = out.getvalue()
    assert b"/Font" in content
    assert b"/FontDescriptor" in content
    assert b"/Subtype /Image" not in content


def seen(color: str, kind: str) -> float:
    """The lightness of a colour in grey print, or the yellow-blue axis that all eyes see."""
    from matplotlib.colors import to_rgb

    red, green, blue = (
        v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in to_rgb(color)
    )
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return 116 * light ** (1 / 3) - 16 if kind == "grey" else blue - (red + green) / 2


def test_colours_can_be_told_apart_without_red_and_green() -> None:
    observed, predicted = COLOURS[:2]
    assert abs(seen(observed, "blue") - seen(predicted, "blue")) > 0.3
    # In grey print they differ in form: points and intervals, lines and bars.
    for name in ("reliability", "ranks", "map"):
        by_role: dict[str, set[tuple[str, bool]]] = {}
        for mark in charts()[name].marks:
            by_role.setdefault(mark.role, set()).add((mark.kind, mark.is_hollow))
        forms = [by_role.get(role, set()) for role in ("observed", "predicted")]
        assert not forms[0] & forms[1]
    assert seen(observed, "grey") < 60
    assert seen(predicted, "grey") < 60


def test_days_with_dollar_signs_are_days() -> None:
    ax = trend_chart(Forest("Days", "gap", (Entry("$a$", 0.1), Entry("$b_1", 0.2)))).plot()
    ax.get_figure().canvas.draw()
    assert [it.get_text() for it in ax.get_xticklabels()] == ["$a$", "$b_1"]
    assert not any(it.get_parse_math() for it in ax.get_xticklabels())
