"""Several models on the same axes: one legend that covers no point, one colour each, and nothing drawn twice."""

import inspect
from functools import cache

import numpy as np
import pytest
from artists import (
    class_weighted_event,
    covered_points,
    legend_of,
    over_confident_rows,
    rare_event,
    scattered,
)

import trueness as tn
from trueness import plots
from trueness.plots._display import Display, MapDisplay
from trueness.plots.style import COLOURS

pytestmark = pytest.mark.plots

POWERS = {"plain": 0.8, "sharp": 1.6, "soft": 0.4}


@cache
def models():
    """Three models of the same rows, in three groups."""
    y_true, y_prob = over_confident_rows(1500)
    return {
        name: tn.assess(
            y_true,
            tn.simulate.sharpen(y_prob, power),
            groups=np.arange(1500) % 3,
            resamples=99,
            p_resolution=1 / 99,
        )
        for name, power in POWERS.items()
    }


@cache
def sweeps():
    y_true, y_prob = over_confident_rows(800)
    tables = [tn.tabulate(y_true, tn.simulate.sharpen(y_prob, p), bins=tn.FineGrid()) for p in (0.5, 1, 1.2)]
    return [tn.sweep_bins(table, [5, 10, 20], resamples=99) for table in tables]


@cache
def tables():
    found = []
    for power in (0.6, 1.0, 1.6):
        rows = [tn.simulate.calibrated(n, [2, 1, 1], rng=n) for n in (200, 800, 3200)]
        found.append([tn.tabulate(y, tn.simulate.sharpen(p, power)) for y, p in rows])
    return found


@cache
def monitors():
    made = []
    for power in (1.0, 1.8):
        monitor = tn.Monitor(alpha=0.05, tolerance=0.0)
        for day in range(8):
            y_true, y_prob = tn.simulate.calibrated(300, [2, 1, 1], rng=day)
            monitor.update(tn.tabulate(y_true, tn.simulate.sharpen(y_prob, power)), at=f"day {day}")
        made.append(monitor)
    return made


def each(display, **options):
    return [lambda it=it, **more: display(it, **options, **more) for it in models().values()]


DRAWN = {
    "vce": lambda: each(plots.ReliabilityDisplay.from_assessment),
    "ece": lambda: each(plots.ReliabilityDisplay.from_assessment, metric="ece"),
    "uce": lambda: each(plots.ReliabilityDisplay.from_assessment, metric="uce"),
    "result": lambda: [it.plot for it in models().values()],
    "gaps": lambda: each(plots.GapDisplay.from_assessment),
    "ranks": lambda: each(plots.RankDisplay.from_assessment),
    "result-ranks": lambda: [it.plot_ranks for it in models().values()],
    "predicted-class": lambda: each(plots.PredictedClassDisplay.from_assessment),
    "classes": lambda: each(plots.ClassDisplay.from_assessment),
    "groups": lambda: each(plots.ForestDisplay.from_assessment),
    "class-diagram": lambda: each(plots.ClassDiagramDisplay.from_assessment, of_class=0),
    "event": lambda: [it.plot for it in (rare_event(), class_weighted_event())],
    "rare-event": lambda: [rare_event().plot, rare_subset().plot],
    "differences": lambda: [
        lambda it=it, **more: plots.DifferencesDisplay.from_event(it, **more)
        for it in (rare_event(), class_weighted_event())
    ],
    "sweep": lambda: [it.plot for it in sweeps()],
    "convergence": lambda: [
        lambda it=it, **more: plots.ConvergenceDisplay.from_tables(it, resamples=99, **more)
        for it in tables()
    ],
    "evidence": lambda: [
        lambda it=it, **more: plots.EvidenceDisplay.from_monitor(it, **more) for it in monitors()
    ],
    "trend": lambda: [lambda it=it, **more: plots.TrendDisplay.from_monitor(it, **more) for it in monitors()],
}


@cache
def rare_subset():
    from artists import event_rows

    y_true, p = event_rows()
    return tn.assess_event(y_true[:3000], p[:3000] ** 1.2, rng=0, resamples=99)


def drawn_together(kind, *, layout="constrained"):
    """All models of a kind on new axes of a figure with this layout."""
    from matplotlib.figure import Figure

    ax, display = Figure(figsize=(5, 5.4), layout=layout).subplots(), None
    makers = DRAWN[kind]()
    for maker, name in zip(makers, "abc"[: len(makers)], strict=True):
        display = maker(ax=ax, label=f"model {name}")
    return display, len(makers)


@pytest.mark.parametrize("kind", DRAWN)
@pytest.mark.parametrize("layout", ["constrained", None], ids=["layout", "no-layout"])
def test_the_legend_names_every_model_once_and_covers_no_point(kind, layout):
    display, n_models = drawn_together(kind, layout=layout)
    words = legend_of(display.ax_)
    for name in "abc"[:n_models]:
        assert sum(text.startswith(f"model {name}") for text in words) in (
            (1, 2) if kind == "evidence" else (1,)
        )
    assert len(set(words)) == len(words)
    assert covered_points(display.ax_) == []
    box, frame = display.ax_.get_legend().get_window_extent(), display.figure_.bbox
    assert box.y0 >= frame.y0  # and is not cut off
    assert box.y1 <= display.ax_.bbox.y0


@pytest.mark.parametrize("kind", DRAWN)
def test_one_model_alone_has_a_legend_that_covers_no_point(kind):
    display = DRAWN[kind]()[0](label="alone")
    assert covered_points(display.ax_) == []


def test_every_display_can_be_drawn_over_another_one_or_is_a_map():
    named = {name for name in plots.__all__ if name.endswith("Display")}
    over = {type(drawn_together(kind)[0]).__name__ for kind in DRAWN}
    maps = {name for name in named if issubclass(getattr(plots, name), MapDisplay)}
    assert over | maps == named
    assert not over & maps


@pytest.mark.parametrize("name", sorted({n for n in plots.__all__ if n.endswith("Display")}))
def test_every_way_to_draw_takes_axes_label_and_color(name):
    display = getattr(plots, name)
    makers = [value for key, value in inspect.getmembers(display) if key.startswith("from_")]
    assert makers
    for make in (*makers, display.plot):
        assert {"ax", "label", "color"} <= set(inspect.signature(make).parameters)


def test_each_model_has_its_points_in_its_colour():
    from matplotlib.colors import to_hex

    display, _ = drawn_together("vce")
    together = scattered(display.ax_)[0]
    alone = [scattered(it.plot().ax_)[0] for it in models().values()]
    expected = np.concatenate(alone)
    np.testing.assert_allclose(
        together[np.lexsort(together.T)], expected[np.lexsort(expected.T)], rtol=0, atol=1e-12
    )
    faces = {to_hex(c.get_facecolor()[0]) for c in display.ax_.collections if len(c.get_offsets()) > 1}
    assert {colour.lower() for colour in COLOURS[:3]} <= faces


def test_a_colour_of_your_own():
    from matplotlib.colors import to_hex

    first = next(iter(models().values())).plot(color="purple", label="mine")
    faces = {to_hex(c.get_facecolor()[0]) for c in first.ax_.collections if len(c.get_offsets()) > 1}
    assert to_hex("purple") in faces
    assert any(text.startswith("mine: VCE plug-in") for text in legend_of(first.ax_))


def test_an_unknown_colour_is_refused_and_what_was_drawn_stays():
    plain, sharp, _ = models().values()
    ax = plain.plot(label="plain").ax_
    before = ax.get_children()
    with pytest.raises(
        tn.Refusal, match="color='nocolour' is not a colour of matplotlib; pass a name such as"
    ):
        sharp.plot(ax, label="sharp", color="nocolour")
    assert ax.get_children() == before


def test_a_name_that_begins_with_an_underscore_is_in_the_legend():
    """Matplotlib leaves out entries that begin with one."""
    plain, sharp, _ = models().values()
    ax = sharp.plot(plain.plot(label="_plain").ax_, label="_sharp_").ax_
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [entry.strip().partition(":")[0] for entry in entries[-2:]] == ["_plain", "_sharp_"]


def test_both_axes_show_all_models():
    display, _ = drawn_together("vce")
    views = [it.plot().data.view for it in models().values()]
    low, high = display.ax_.get_xlim()
    assert low < min(view[0] for view in views)
    assert high > max(view[1] for view in views)


def test_the_same_display_drawn_again_replaces_itself():
    display = next(iter(models().values())).plot(label="one")
    before = len(display.ax_.get_children())
    display.plot(display.ax_, label="one")
    assert len(display.ax_.get_children()) == before


def test_what_others_drew_stays_and_cleared_axes_start_again():
    first, second, _ = models().values()
    display = first.plot(label="one")
    (mine,) = display.ax_.plot([0, 1], [1, 0])
    second.plot(ax=display.ax_, label="two")
    assert mine in display.ax_.lines
    display.ax_.clear()
    second.plot(ax=display.ax_)
    assert not any("model" in text and "one" in text for text in legend_of(display.ax_))
    assert len(legend_of(display.ax_)) < 5


def test_a_picture_of_something_else_is_refused():
    first = next(iter(models().values()))
    display = first.plot(metric="vce")
    with pytest.raises(
        tn.Refusal, match="ax shows VCE, observed entropy against predicted entropy"
    ) as refused:
        first.plot(metric="ece", ax=display.ax_)
    assert refused.value.code == "different-pictures"


def test_a_map_has_a_title_and_refuses_colours_and_layers():
    first = next(iter(models().values()))
    display = plots.RankHeatMapDisplay.from_assessment(first, label="forest $1")
    assert display.ax_.get_title() == r"forest \$1"
    with pytest.raises(tn.Refusal, match="color='red': the colours of a map"):
        plots.RankHeatMapDisplay.from_assessment(first, color="red")
    with pytest.raises(tn.Refusal, match="ax shows a map"):
        plots.RankHeatMapDisplay.from_assessment(next(iter(models().values())), ax=display.ax_)


@pytest.mark.parametrize("wrong", [{"label": 3}, {"color": (1, 0, 0)}])
def test_names_and_colours_are_strings(wrong):
    with pytest.raises(tn.Refusal, match="must be a string"):
        next(iter(models().values())).plot(**wrong)


def test_a_comparison_draws_its_models_and_its_pairs():
    y_true, y_prob = over_confident_rows(600)
    found = tn.compare(y_true, {"a": y_prob, "b": tn.simulate.sharpen(y_prob, 0.5)}, resamples=99)
    drawn = found.plot_models(metric="ece")
    assert [text.partition(":")[0] for text in legend_of(drawn.ax_)][-2:] == ["a", "b"]
    assert covered_points(drawn.ax_) == []
    pairs = found.plot(label="test")
    found.plot(ax=pairs.ax_, label="again", metric="vce")
    assert legend_of(pairs.ax_) == ["test", "again"]
    assert isinstance(pairs, Display)
