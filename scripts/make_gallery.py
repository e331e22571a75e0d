"""Write ``docs/guide/gallery.md`` and its pictures by running the code that the page shows.

Run it with ``make gallery``; it needs the extra ``plots``, and Chromium for the screenshot of the report.
"""

import contextlib
import io
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parents[1] / "docs" / "guide"
PICTURES = FOLDER / "gallery"

BEFORE = """\
import matplotlib.pyplot as plt
import numpy as np
import trueness as tn
from trueness.demo import load_digits
from trueness.plots import (
    ClassDiagramDisplay,
    ClassDisplay,
    ConfusionDisplay,
    ConvergenceDisplay,
    CumulativeScoreDisplay,
    DifferencesDisplay,
    ForestDisplay,
    GapDisplay,
    PredictedClassDisplay,
    RankDisplay,
    RankHeatMapDisplay,
)

digits = load_digits()  # three classifiers on handwritten digits
forest = tn.assess(digits.y_true, digits.y_prob["random_forest"], rng=0)
"""


class Picture(NamedTuple):
    """A heading, what the picture shows, and the code whose last line is a Display."""

    name: str
    title: str
    words: str
    code: str


GALLERY = (
    Picture(
        "reliability",
        "Reliability diagram",
        "Each point is a bin: the entropy that the model predicts against the entropy of the observed ranks of the "
        "true class. The grey band shows where noise alone would put a calibrated model with as many rows; hollow "
        "points have too few rows for a conclusion. This forest is under-confident: all points lie far below the line.",
        "forest.plot()",
    ),
    Picture(
        "overlay",
        "Several models in one picture",
        "Displays of the same kind on the same axes are drawn over one another, each in its colour, with one legend "
        "below the axes that covers no point. Every picture on this page but the two maps does the same with `ax=`, "
        "`label=` and `color=`.",
        """\
ax = None
for name, y_prob in digits.y_prob.items():
    display = tn.assess(digits.y_true, y_prob, rng=0).plot(ax=ax, label=name.replace("_", " "))
    ax = display.ax_
display""",
    ),
    Picture(
        "three-metrics",
        "The same data by VCE, ECE and UCE",
        "Predictions of a calibrated model, drawn into existing axes. VCE and ECE follow the diagonal. UCE does not: "
        "a calibrated model follows the blue curve.",
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
        "Above 0 a bin is over-confident, below 0 under-confident, whatever the variation measure. Gaps are centred: "
        "each is the observed variation minus its mean for a calibrated model with as many rows.",
        "GapDisplay.from_assessment(forest)",
    ),
    Picture(
        "log-score",
        "Where along the entropy a model is over-confident",
        "Bars are the log-score of each bin in standard deviations, below 0 over-confident, above 0 under-confident; "
        "the line adds them up. 95 % of calibrated models stay in the grey band.",
        "CumulativeScoreDisplay.from_assessment(forest)",
    ),
    Picture(
        "event",
        "A rare event",
        "A logistic regression with class_weight='balanced', where 1 % of the rows have the event. scikit-learn's "
        "calibration curve (left) shows the same points, without their noise and without how many rows they stand for. "
        "The model expects the event in a third of the rows; it is observed in 1 %. The cumulative differences (right) "
        "need no bins: their slope is the gap.",
        """\
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

X, y = make_classification(20_000, weights=[0.99], flip_y=0, class_sep=0.6, random_state=0)
model = LogisticRegression(class_weight="balanced").fit(X[:10_000], y[:10_000])
y_true, y_prob = y[10_000:], model.predict_proba(X[10_000:])[:, 1]
event = tn.assess_event(y_true, y_prob, rng=0)
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(16, 5.6), layout="constrained")
CalibrationDisplay.from_predictions(y_true, y_prob, n_bins=10, ax=left)
DifferencesDisplay.from_event(event, ax=right)
event.plot(ax=middle)""",
    ),
    Picture(
        "classes",
        "Classes",
        "How often each digit was observed per expected one, with its exact noise; the log-score of the rows that "
        "predict each digit; and the reliability diagram of the digit that is wrong most clearly.",
        """\
bayes = tn.assess(digits.y_true, digits.y_prob["naive_Bayes"], rng=0)
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(17, 5.2), layout="constrained")
ClassDisplay.from_assessment(bayes, ax=left)
PredictedClassDisplay.from_assessment(bayes, ax=middle)
ClassDiagramDisplay.from_assessment(bayes, ax=right)""",
    ),
    Picture(
        "ranks",
        "Rank of the true class",
        "The mean ordered prediction of one bin beside how often the first, second, … choice was the true class. VCE "
        "compares the variation of these two distributions; this picture shows the distributions themselves.",
        "forest.plot_ranks(bin=5)",
    ),
    Picture(
        "heat-map",
        "Where the predicted distribution is wrong",
        "Bins × ranks. Orange ranks were observed more often than predicted, blue ones less often, in standard "
        "deviations: for a calibrated model the numbers are approximately standard normal.",
        "RankHeatMapDisplay.from_assessment(forest)",
    ),
    Picture(
        "many-classes",
        "A thousand classes",
        "With many classes the axes are logarithmic, and the higher ranks are merged into groups. This model gives too "
        "much probability to its first ranks and too little to the others.",
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
        "One line for each group, with its interval. The p-values are corrected for the number of groups.",
        """\
halves = np.where(digits.y_true < 5, "digits 0 to 4", "digits 5 to 9")
bayes = tn.assess(digits.y_true, digits.y_prob["naive_Bayes"], groups=halves, rng=0)
ForestDisplay.from_assessment(bayes)""",
    ),
    Picture(
        "confusion",
        "Expected and observed confusions",
        "The rows that predict each class by their true class: the observed number and, in brackets, the number that a "
        "calibrated model with these predictions would have. This model mistakes other digits for an 8 more often than "
        "it says.",
        'ConfusionDisplay.from_predictions(digits.y_true, digits.y_prob["naive_Bayes"])',
    ),
    Picture(
        "models",
        "Models side by side",
        "Differences between models on the same rows. The comparison is paired: noise that the models share cancels.",
        """\
models = tn.compare(digits.y_true, digits.y_prob, rng=0)
models.plot()""",
    ),
    Picture(
        "recalibration",
        "Before and after recalibration",
        "A temperature is fitted on half of the rows. The other half is compared before and after: "
        "the diagrams over one another (left), and the signed gaps (right). `found.verdict` also says what happened to "
        "the log-loss. If you have the probabilities after, pass them: `tn.compare_recalibration(y_true, before, "
        "after)`.",
        """\
found = tn.compare_recalibration(digits.y_true, digits.y_prob["random_forest"], rng=0)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 6.2), layout="constrained")
found.plot(ax=left)
for name, result in found.comparison.assessments.items():
    display = GapDisplay.from_assessment(result, ax=right, label=name)
display""",
    ),
    Picture(
        "sweep",
        "Effect of the number of bins",
        "VCE against the number of bins, from one table on a fine grid. The plug-in value grows with the number of "
        "bins because its noise floor does; the debiased value hardly changes.",
        """\
y_true, y_prob = tn.simulate.calibrated(3000, [10, 1, 1], rng=0)
fine = tn.tabulate(y_true, tn.simulate.sharpen(y_prob, 1.2), bins=tn.FineGrid())
tn.sweep_bins(fine, [5, 10, 20, 40, 80], rng=0).plot()""",
    ),
    Picture(
        "convergence",
        "Effect of the sample size",
        "VCE against the number of rows. The plug-in value of a calibrated model would follow the dotted line, its "
        "noise floor; this model is slightly over-confident, and its value levels off above it.",
        """\
tables = []
for n_rows in (300, 1000, 3000, 10_000, 30_000, 100_000):
    y_true, y_prob = tn.simulate.calibrated(n_rows, [1, 1, 1], rng=n_rows)
    tables.append(tn.tabulate(y_true, tn.simulate.sharpen(y_prob, 1.1)))
ConvergenceDisplay.from_tables(tables, rng=0)""",
    ),
)

ABOUT = (
    "Every picture on this page was drawn by the code above it (`make gallery` draws them again). They need the extra "
    "`plots` (`pip install 'trueness[plots]'`); the report and the diagram in the terminal do not. All examples start "
    "with:"
)
ABOUT_REPORT = (
    "One self-contained HTML file: the verdict, the metrics and what they mean, these pictures with tooltips, and the "
    "table itself, which `trueness.report.tables_in` reads back."
)

ABOUT_COMPARISON = (
    "The report of a comparison: which model is better calibrated, the differences with their intervals, and the "
    "diagrams of all models. `trueness compare a.parquet b.parquet --report comparison.html` writes the same."
)

COMPARISON = """\
models.write_html("comparison.html", title="Three classifiers on handwritten digits")"""

REPORT = """\
forest.write_html("report.html", title="Random forest on handwritten digits")"""

TEXT = """\
from trueness.plots.reliability import reliability_of, reliability_text

print(reliability_text(reliability_of(forest)))"""

SEEN = {
    "overlay": "Points of three models in three colours and shapes: one above the diagonal, one far below it, one near "
    "it; the legend names the models below the axes.",
    "recalibration": "Points before, far below the diagonal, and after, near it; right, gaps before far below zero and "
    "after around zero.",
    "reliability": "Observed against predicted entropy. All points are far below the diagonal, outside the grey band.",
    "three-metrics": "Three diagrams. The points of VCE and ECE are on the diagonal, those of UCE on a curve below it.",
    "gaps": "A gap for each bin of entropy, with its noise. All are below 0: the forest is under-confident.",
    "log-score": "Bars of the log-score for each bin and their cumulated line, which leaves the grey band upwards.",
    "event": "Left, scikit-learn's curve. Middle, the same points with noise and rows. Right, the cumulative "
    "differences, which fall far out of the band.",
    "classes": "Left, observed over expected rows of each digit. Middle, log-scores by predicted digit, all below 0. "
    "Right, the reliability diagram of digit 8: expected 269 times, observed 174 times.",
    "ranks": "Predicted and observed frequency of each rank in one bin. Rank 1 is observed more often than predicted.",
    "heat-map": "Bins by ranks. Rank 1 is orange, observed too often; the ranks after it are blue.",
    "many-classes": "Left, frequencies of ranks on logarithmic axes. Right, bins by groups of ranks: the first are "
    "blue, later ones orange.",
    "groups": "Net gap with interval: 0.29 for digits 0 to 4, 0.23 for digits 5 to 9, and 0.26 for all rows.",
    "confusion": "Predicted by true digits, observed and expected numbers. The diagonal is blue, below expected; "
    "most other cells are orange.",
    "models": "Differences of VCE between each two of three models, with intervals; none contains 0.",
    "sweep": "VCE against the number of bins. Plug-in value and noise floor rise, the debiased value is level.",
    "convergence": "VCE against the number of rows. The noise floor falls to 0, the plug-in value levels off above it.",
}
"""What is seen on each picture, for readers who do not see it."""


def page(terminal: str) -> str:
    """The text of the gallery; `terminal` is the output of the last example."""
    parts = [
        "# Gallery",
        ABOUT,
        f"```python\n{BEFORE}```",
    ]
    for it in GALLERY:
        picture = f"![{SEEN[it.name]}](gallery/{it.name}.png)"
        parts += [f"## {it.title}", it.words, f"```python\n{it.code}\n```", picture]
    parts += [
        "## The report",
        ABOUT_REPORT,
        f"```python\n{REPORT}\n```",
        "![The first screen of the report](gallery/report.png)",
        "## The report of a comparison",
        ABOUT_COMPARISON,
        f"```python\n{COMPARISON}\n```",
        "![The first screen of the report of a comparison](gallery/comparison.png)",
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


def new_scope() -> dict[str, Any]:
    """The names that the common start of all examples defines."""
    names: dict[str, Any] = {}
    exec(BEFORE, names)
    return names


def terminal_output(names: dict[str, Any]) -> str:
    """The output of the example for the terminal."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(TEXT, names)
    return out.getvalue()


def take_screenshot(names: dict[str, Any], code: str, file: str, path: Path) -> None:
    """Save the first screen of a report, which the code writes, in Chromium."""
    from playwright.sync_api import sync_playwright

    browser = os.environ.get("TRUENESS_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), sync_playwright() as driver:
        exec(code, names)
        started = driver.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        view = started.new_page(viewport={"width": 1000, "height": 1250})
        view.goto(f"file://{folder}/{file}")
        view.screenshot(path=path)
        started.close()


def main() -> None:
    """Draw everything and write the page."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    PICTURES.mkdir(exist_ok=True)
    names = new_scope()
    for it in GALLERY:
        figure = draw(it, names)
        figure.savefig(PICTURES / f"{it.name}.png", dpi=90, metadata={"Software": None})
        plt.close(figure)
        print(f"docs/guide/gallery/{it.name}.png")
    take_screenshot(names, REPORT, "report.html", PICTURES / "report.png")
    take_screenshot(names, COMPARISON, "comparison.html", PICTURES / "comparison.png")
    (FOLDER / "gallery.md").write_text(page(terminal_output(names)), encoding="utf-8")
    print("docs/guide/gallery.md")


if __name__ == "__main__":
    sys.exit(main())
