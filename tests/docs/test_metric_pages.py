"""Every reported metric has a page in docs/metrics, and all pages have the same headings."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import trueness as tn
from trueness.assessment.compared import compared_numbers

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "metrics"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.name != "index.md")
HEADINGS = [
    "Definition",
    "Estimator",
    "Range",
    "What the ends mean",
    "What it is blind to",
    "Example",
    "Reference",
    "Next",
]

OF_EVENTS = {page.stem for page in PAGES if page.stem.startswith("event-")} | {
    *("brier", "hosmer-lemeshow", "log-loss", "log-score", "spiegelhalter")
}
"""The pages that describe `assess_event`."""

NOT_METRICS = {
    "adjusted_p_value",
    "bins",
    "by_options",
    "class_table",
    "classes",
    "cluster_spread",
    "detectable_net_gap",
    "evidence",
    "groups",
    "impossible_rows",
    "kind",
    "level",
    "n_classes",
    "n_clusters",
    "n_rows",
    "name",
    "options",
    "p_value",
    "resamples",
    "row_worth",
    "schema",
    "seed",
    "tables",
    "tail_bounds",
    "tolerance",
    "top_k",
    "trueness",
    "value_is",
    "variation",
    "verdict",
    "warnings",
    "what",
}
"""What results hold besides metrics: settings, counts, tables and conclusions."""

MODULES_OF_METRICS = ("metrics", "row_metrics", "event_metrics", "decompositions", "predicted_class")
WITHOUT_A_PAGE = {
    *("ranked_gap", "top_label_gap", "uncertainty_gap", "variation_gap"),  # of each bin, not of the model
    *("tabulate_by_predicted_class", "tabulate_confusion", "top_label_event"),  # rows or tables, not numbers
}


def names_in(text: str) -> set[str]:
    """The identifiers in the code spans of a text."""
    return {name for span in re.findall(r"`([^`]+)`", text) for name in re.findall(r"\w+", span)}


def where(page: Path) -> set[str]:
    """The names in the table at the top of a page, which says where the metric is found."""
    head = page.read_text(encoding="utf-8").split("\n## ")[0]
    return names_in("\n".join(line for line in head.splitlines() if line.startswith("|")))


def public_functions() -> Iterator[str]:
    for name in tn.__all__:
        value = getattr(tn, name)
        module = getattr(value, "__module__", "").split(".")
        if callable(value) and not isinstance(value, type) and set(module[1:2]) & set(MODULES_OF_METRICS):
            yield name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_all_headings_and_an_example(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"(?m)^## (.*)$", text) == HEADINGS
    sections = dict(zip(HEADINGS, re.split(r"(?m)^## .*\n", text)[1:], strict=True))
    assert all(section.strip() for section in sections.values())
    assert ">>> " in sections["Example"]
    assert "](index.md)" in sections["Next"]


def test_every_page_is_in_the_index() -> None:
    text = (FOLDER / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"(?m)^\| \[[^]]+\]\(([\w-]+)\.md\)", text)
    assert sorted(listed) == [page.stem for page in PAGES]
    assert sorted(text.split(":hidden:\n")[1].split("```")[0].split()) == [page.stem for page in PAGES]


def test_every_number_of_an_assessment_has_a_page() -> None:
    result = tn.assess(*tn.simulate.calibrated(100, [1, 1, 1], rng=0), resamples=19).to_dict()
    reported = {*result, *compared_numbers()} - NOT_METRICS
    described = set().union(*(where(page) for page in PAGES if not page.stem.startswith("event-")))
    described |= where(FOLDER / "event-gap.md") & {"event_gap"}
    assert {"vce", "uce", "accuracy"} < reported
    assert reported - described == set()


def test_every_number_of_an_event_has_a_page() -> None:
    p = np.random.default_rng(0).random(100)
    event = tn.assess_event(np.arange(100) % 2, p, resamples=19).to_dict()
    reported = set(event) - NOT_METRICS
    assert {"in_the_large", "cox", "ece"} < reported
    described = set().union(*(where(page) for page in PAGES if page.stem in OF_EVENTS))
    assert reported - described == set()


def test_every_public_function_that_computes_a_metric_has_a_page() -> None:
    described = set().union(*map(where, PAGES))
    functions = set(public_functions()) - WITHOUT_A_PAGE
    assert {"vce", "smece", "brier_decomposition", "class_conditional_errors"} < functions
    assert functions - described == set()
    of_simplex = {name for name in tn.simplex.__all__ if name.islower()}
    assert of_simplex - described == set()
