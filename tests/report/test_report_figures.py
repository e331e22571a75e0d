"""The figures of the report: every registered picture, drawn from the assessment, or from merged bins if many."""

import re
import sys
from dataclasses import replace
from importlib import invalidate_caches

import numpy as np
import pytest
from html_reader import read, rows

import trueness as tn
from trueness import plots, report
from trueness.plots.picture import BINS, CLASSES
from trueness.plots.reliability import reliability_chart, reliability_of
from trueness.plots.svg import WIDTH, linear_ticks, log_ticks
from trueness.report._figures import MOST_BINS, drawable

MODULE = '''
"""A small picture: the accuracy of each bin."""

from trueness._markup import tag
from trueness.plots.picture import Numbers, Picture
from trueness.plots.svg import WIDTH, Frame, chart, mark


def accuracies_of(result):
    return result.table.rank_frequency[result.table.row_count > 0, 0].tolist()


def accuracy_chart(data):
    frame = Frame(40, 10, 300, 100, (0, len(data)), (0, 1))
    marks = [
        mark(f"accuracy {value:.3f}", tag("circle", class_="dot", cx=frame.x(k), cy=frame.y(value), r=4.0))
        for k, value in enumerate(data)
    ]
    return chart(WIDTH, 150, "Accuracy by bin", "One dot for each bin.", marks)


PICTURES = (
    Picture(
        key="accuracy",
        title="Accuracy by bin",
        caption="How often the first choice is right.",
        section="SECTION",
        data=accuracies_of,
        svg=accuracy_chart,
        numbers=lambda data: Numbers("Accuracies", ["bin", "accuracy"], [[str(k), x] for k, x in enumerate(data)]),
        wide=True,
    ),
)
'''


@pytest.fixture
def add_picture(tmp_path, monkeypatch):
    """Adds a folder with a picture in this section to the package of the pictures, and returns the picture."""

    def add(section):
        (tmp_path / "accuracy").mkdir()
        (tmp_path / "accuracy" / "__init__.py").write_text(
            MODULE.replace("SECTION", section), encoding="utf-8"
        )
        monkeypatch.setattr(plots, "__path__", [*plots.__path__, str(tmp_path)])
        monkeypatch.delitem(sys.modules, f"{plots.__name__}.accuracy", raising=False)
        invalidate_caches()
        return next(picture for picture in plots.pictures() if picture.key == "accuracy")

    return add


class TestRegistry:
    def test_every_picture_that_applies_is_in_the_page_in_its_order(self, result, page):
        names = [a["aria-label"] for a in read(page).named("svg") if "aria-label" in a]
        drawn = [it.svg(it.data(result)) for it in plots.pictures() if it.applies(result)]
        assert names == [read(svg).named("svg")[0]["aria-label"] for svg in drawn]
        assert all(svg in page for svg in drawn)

    def test_a_picture_that_does_not_apply_is_left_out(self):
        page = report.page(tn.assess_table(tn.tabulate(*rows(), variation="margin"), rng=0))
        for picture in plots.pictures():
            absent = picture.section == CLASSES or picture.key in {
                "reliability-ece",
                "reliability-uce",
                "groups",
                "compared-groups",
            }
            assert (f"<strong>{picture.title}. </strong>" in page) is not absent

    def test_a_new_picture_appears_by_its_folder_alone(self, result, page, add_picture):
        added = add_picture(BINS)
        new = report.page(result)
        section = new[new.index(f"<h2>{BINS}</h2>") :]
        section = section[: section.index("</section>")]
        assert added.svg(added.data(result)) in section
        assert f"<strong>{added.title}. </strong>{added.caption}" in section
        assert "<caption>Accuracies</caption>" in section
        assert "Accuracy by bin" not in page

    def test_a_picture_under_a_new_heading_gets_a_section(self, result, add_picture):
        add_picture("Accuracy")
        page = report.page(result)
        assert (
            page.index("<h2>Groups</h2>") < page.index("<h2>Accuracy</h2>") < page.index("<h2>All bins</h2>")
        )

    def test_a_new_picture_is_drawn_with_matplotlib_by_its_display(self, result, add_picture):
        from matplotlib.figure import Figure

        from trueness.plots._display import Display

        class AccuracyDisplay(Display):
            def _draw(self, ax, layers):
                for layer in layers:
                    ax.plot(layer.data, label=layer.label)

        picture, ax = replace(add_picture(BINS), display=AccuracyDisplay), Figure().subplots()
        for label in ("one", "two"):
            picture.display(picture.data(result)).plot(ax, label=label)
        assert [line.get_label() for line in ax.lines] == ["one", "two"]
        assert ax.lines[0].get_ydata().tolist() == picture.data(result)


class TestDiagrams:
    def test_dots_are_at_the_values_of_their_bins(self, result, page):
        """Pixels of the first diagram back into numbers: the frame is 388 wide from x = 58, y = 12."""
        r = reliability_of(result)
        svg = page[page.index('<svg xmlns="http://www.w3.org/2000/svg" class="chart"') :]
        svg = svg[: svg.index("</svg>")]
        dots = [
            tuple(map(float, at)) for at in re.findall(r'class="dot[^"]*" cx="([\d.]+)" cy="([\d.]+)"', svg)
        ]
        low, high = r.view
        pad = 0.03 * (high - low)
        span = high - low + 2 * pad
        found = [((x - 58) / 388 * span + low - pad, (400 - y) / 388 * span + low - pad) for x, y in dots]
        np.testing.assert_allclose(found, np.stack([r.x, r.y], axis=1), atol=1e-4)
        radii = [
            float(radius)
            for radius in re.findall(r'class="dot[^"]*" cx="[\d.]+" cy="[\d.]+" r="([\d.]+)"', svg)
        ]
        assert np.array_equal(np.argsort(radii), np.argsort(r.bins.rows))

    def test_every_mark_has_its_numbers_in_words(self, result, page):
        titles = re.findall(r'<g class="mark"><title>(.*?)</title>', page, re.DOTALL)
        m = int(np.flatnonzero(result.table.row_count)[0])
        first = titles[0]
        assert f"{result.table.predicted_variation[m]:.4f}" in first
        assert f"{result.table.observed_variation[m]:.4f}" in first
        assert len(titles) > 80

    @pytest.mark.parametrize(
        "answer",
        [
            tn.assess([0], [[0.999, 0.001]], rng=0),
            tn.assess([0, 1, 2] * 50, [[0.5, 0.3, 0.2]] * 150, rng=0),
            tn.assess(*tn.simulate.calibrated(300, [0.05] * 100, rng=0), rng=0),
        ],
        ids=["one row", "one kind of row", "many classes"],
    )
    def test_bars_and_bands_stay_in_their_picture(self, answer):
        """A picture of a small part of the range does not run into the words above and below it."""
        for metric in ("vce", "ece", "uce"):
            chart = reliability_chart(reliability_of(answer, metric))
            bottom = 12 + WIDTH - 58 - 14
            bars = re.findall(r'<line class="bar"[^>]*y1="([\d.-]+)" y2="([\d.-]+)"', chart)
            bands = re.findall(r'class="band"[^>]* y="([\d.-]+)" width="14" height="([\d.-]+)"', chart)
            corners = re.findall(
                r"[\d.-]+,([\d.-]+)", "".join(re.findall(r'class="band" points="([^"]+)', chart))
            )
            heights = [float(y) for bar in bars for y in bar] + [float(y) for y in corners]
            heights += [y for top, height in bands for y in (float(top), float(top) + float(height))]
            assert bars
            assert bands or corners
            assert min(heights) >= 12 - 0.1, metric
            assert max(heights) <= bottom + 1.1, metric

    def test_many_bins_are_merged_for_the_pictures(self):
        answer = tn.assess(*rows(), bins=tn.FineGrid(400), rng=0)
        assert np.count_nonzero(answer.table.row_count) > MOST_BINS
        shown, note = drawable(answer)
        assert np.count_nonzero(shown.table.row_count) <= MOST_BINS
        assert shown.confidence_table.n_bins <= MOST_BINS
        assert shown.table == answer.table.coarsen(tn.EqualMass(MOST_BINS))
        seen = report.page(answer)
        assert note in seen
        assert len(seen.encode()) < 1_000_000


def test_ticks():
    assert [words for _, words in linear_ticks(0.48, 0.72)] == ["0.5", "0.55", "0.6", "0.65", "0.7"]
    assert [words for _, words in log_ticks(1e-7, 1)] == ["10⁻⁶", "0.0001", "0.01", "1"]
    assert log_ticks(2, 5) == []
