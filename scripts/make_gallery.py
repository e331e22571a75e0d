"""Write ``docs/gallery.md`` and its pictures by running the code that the page shows.

Run it with ``make gallery``; it needs the extra ``plots``, and Chromium for the picture of the report.
"""

import contextlib
import io
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

DOCS = Path(__file__).parents[1] / "docs"
PICTURES = DOCS / "gallery"

BEFORE = """\
import matplotlib.pyplot as plt
import numpy as np
import trueness as tn
from trueness.demo import load_digits
from trueness.plots import ConvergenceDisplay, ForestDisplay, GapDisplay, RankDisplay, RankHeatMapDisplay

digits = load_digits()  # three classifiers on handwritten digits
forest = tn.assess(digits.y_true, digits.y_prob["random_forest"], rng=0)
"""


class Picture(NamedTuple):
    """A heading, a description, and code whose last line is a Display."""

    name: str
    title: str
    words: str
    code: str


GALLERY = (
    Picture(
        "reliability",
        "Reliability diagram",
        "Each point is a bin: the entropy that the model predicts against the entropy of the observed ranks of the "
        "true class. The grey band shows where the bins of a calibrated model would lie at this sample size. Hollow "
        "points have few rows. This forest is strongly under-confident.",
        "forest.plot()",
    ),
    Picture(
        "three-metrics",
        "The same data by VCE, ECE and UCE",
        "Calibrated predictions, drawn into existing axes. VCE and ECE follow the diagonal; UCE does not, even for a "
        "perfectly calibrated model, which follows the blue curve.",
        """\
truth = tn.assess(*tn.simulate.calibrated(20_000, [1, 1, 1], rng=0), rng=0)
figure, axes = plt.subplots(1, 3, figsize=(14, 5), layout="constrained")
for metric, ax in zip(["vce", "ece", "uce"], axes):
    display = truth.plot(ax=ax, metric=metric)
display""",
    ),
    Picture(
        "gaps",
        "Signed gaps",
        "Above 0 a bin is over-confident, below 0 under-confident, for every variation measure. Each gap is centred: "
        "the observed variation minus its expectation for a calibrated model at this sample size.",
        "GapDisplay.from_assessment(forest)",
    ),
    Picture(
        "ranks",
        "Rank of the true class",
        "The mean ordered prediction of one bin, and the observed frequency of each rank of the true class. VCE "
        "compares the variation of the two distributions; this figure shows the distributions.",
        "forest.plot_ranks(bin=5)",
    ),
    Picture(
        "heat-map",
        "Differences by bin and rank",
        "Bins × ranks. Orange ranks are more frequent than predicted, blue ones less frequent, in standard deviations "
        "of their noise: for a calibrated model these are approximately standard normal.",
        "RankHeatMapDisplay.from_assessment(forest)",
    ),
    Picture(
        "many-classes",
        "A thousand classes",
        "Axes become logarithmic, and ranks are grouped, in wider groups for lower ranks. This model is over-confident "
        "in its first ranks and underestimates the tail.",
        """\
y_true, y_prob = tn.simulate.calibrated(20_000, np.full(1000, 0.05), rng=0)
many = tn.tabulate(y_true, tn.simulate.sharpen(y_prob, 1.3), bins=tn.EqualMass(10))
figure, (left, right) = plt.subplots(1, 2, figsize=(16, 4.6), layout="constrained", width_ratios=[2, 3])
RankDisplay.from_table(many, ax=left)
RankHeatMapDisplay.from_table(many, ax=right)""",
    ),
    Picture(
        "groups",
        "Groups",
        "One line for each group, with its interval; p-values are adjusted for the number of groups.",
        """\
halves = np.where(digits.y_true < 5, "digits 0 to 4", "digits 5 to 9")
bayes = tn.assess(digits.y_true, digits.y_prob["naive_Bayes"], groups=halves, rng=0)
ForestDisplay.from_assessment(bayes)""",
    ),
    Picture(
        "models",
        "Models side by side",
        "Differences between models on the same rows, with paired intervals.",
        "tn.compare(digits.y_true, digits.y_prob, rng=0).plot()",
    ),
    Picture(
        "sweep",
        "Number of bins",
        "VCE against the number of bins, from one table on a fine grid. The plug-in value grows with the bins because "
        "its noise floor does; the debiased value does not.",
        """\
y_true, y_prob = tn.simulate.calibrated(3000, [10, 1, 1], rng=0)
fine = tn.tabulate(y_true, tn.simulate.sharpen(y_prob, 1.2), bins=tn.FineGrid())
tn.sweep_bins(fine, [5, 10, 20, 40, 80], rng=0).plot()""",
    ),
    Picture(
        "convergence",
        "Number of rows",
        "VCE against the number of rows, from saved tables. The plug-in value of a calibrated model decreases "
        "along the dotted line; that of this slightly sharpened model departs from it.",
        """\
tables = []
for n_rows in (300, 1000, 3000, 10_000, 30_000, 100_000):
    y_true, y_prob = tn.simulate.calibrated(n_rows, [1, 1, 1], rng=n_rows)
    tables.append(tn.tabulate(y_true, tn.simulate.sharpen(y_prob, 1.1)))
ConvergenceDisplay.from_tables(tables, rng=0)""",
    ),
)

ABOUT = (
    "Every figure on this page was made by the code above it (`make gallery` draws them again). Figures need the extra "
    "`plots` (`pip install 'trueness[plots]'`); the report and the diagram in the terminal do not. All examples begin "
    "with:"
)
ABOUT_REPORT = (
    "A self-contained HTML file: the verdict, the metrics with their meaning, these figures with details on hover, and "
    "the tables, which `trueness.report.tables_in` reads."
)

REPORT = """\
forest.write_html("report.html", title="Random forest on handwritten digits")"""

TEXT = """\
from trueness.plots.readings import reliability
from trueness.plots.text import reliability_text

print(reliability_text(reliability(forest)))"""


def page(terminal: str) -> str:
    """The text of the gallery; `terminal` is the output of the last example."""
    parts = [
        "# Gallery",
        ABOUT,
        f"```python\n{BEFORE}```",
    ]
    for it in GALLERY:
        picture = f"![{it.title}: see the text](gallery/{it.name}.png)"
        parts += [f"## {it.title}", it.words, f"```python\n{it.code}\n```", picture]
    parts += [
        "## The report",
        ABOUT_REPORT,
        f"```python\n{REPORT}\n```",
        "![The first screen of the report](gallery/report.png)",
        "## In a terminal",
        f"```python\n{TEXT}\n```",
        f"```text\n{terminal.rstrip()}\n```",
    ]
    return "\n\n".join(parts) + "\n"


def draw(it: Picture, scope: dict[str, Any]) -> Any:
    """The figure that the code of a picture draws."""
    *lines, last = it.code.splitlines()
    exec("\n".join(lines), scope)
    return eval(last, scope).figure_


def scope() -> dict[str, Any]:
    """The names that all examples use."""
    names: dict[str, Any] = {}
    exec(BEFORE, names)
    return names


def terminal_output(names: dict[str, Any]) -> str:
    """The output of the example for the terminal."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(TEXT, names)
    return out.getvalue()


def photograph(names: dict[str, Any], path: Path) -> None:
    """Save a screenshot of the top of the report in Chromium."""
    from playwright.sync_api import sync_playwright

    browser = os.environ.get("TRUENESS_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), sync_playwright() as driver:
        exec(REPORT, names)
        started = driver.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        view = started.new_page(viewport={"width": 1000, "height": 1250})
        view.goto(f"file://{folder}/report.html")
        view.screenshot(path=path)
        started.close()


def main() -> None:
    """Draw all figures and write the page."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    PICTURES.mkdir(exist_ok=True)
    names = scope()
    for it in GALLERY:
        figure = draw(it, names)
        figure.savefig(PICTURES / f"{it.name}.png", dpi=90, metadata={"Software": None})
        plt.close(figure)
        print(f"docs/gallery/{it.name}.png")
    photograph(names, PICTURES / "report.png")
    (DOCS / "gallery.md").write_text(page(terminal_output(names)), encoding="utf-8")
    print("docs/gallery.md")


if __name__ == "__main__":
    sys.exit(main())
