"""Pages on moving over from other libraries: the committed outputs of libraries that the site's build does not have."""

import doctest
import re
from pathlib import Path

import pytest

import trueness as tn
from trueness.demo import load_digits

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "moving"
RESULTS = {path.stem: path for path in (FOLDER / "results").glob("*.txt")}


def run_again(name: str) -> None:
    """Run the examples of a file and compare their outputs."""
    failed, run = doctest.testfile(str(RESULTS[name]), module_relative=False)
    assert (failed, run > 0) == (0, True)


@pytest.mark.torch
def test_the_outputs_of_torchmetrics_are_those_of_the_installed_one() -> None:
    run_again("torchmetrics")


@pytest.mark.netcal
def test_the_outputs_of_netcal_are_those_of_the_installed_one() -> None:
    run_again("netcal")


@pytest.mark.parametrize("name", RESULTS)
def test_a_convention_gives_the_committed_number(name: str) -> None:
    text, digits = RESULTS[name].read_text(encoding="utf-8"), load_digits()
    found = re.findall(r"(?m)^(naive_Bayes|logistic_regression): (?:ECE )?([\d.]+)", text)
    assert len(found) == 2
    for model, number in found:
        ours = tn.ece(digits.y_true, digits.y_prob[model].astype(float), convention=name)
        assert ours == pytest.approx(float(number), abs=1.1e-5)


def test_committed_outputs_name_the_versions_that_the_conventions_follow() -> None:
    for name, path in RESULTS.items():
        first = path.read_text(encoding="utf-8").splitlines()[0]
        assert f"{name} {tn.conventions.CONVENTIONS[name].version}" in first


def test_every_page_is_in_the_index() -> None:
    text = (FOLDER / "index.md").read_text(encoding="utf-8")
    pages = {path.stem for path in FOLDER.glob("*.md")} - {"index"}
    assert set(re.findall(r"(?m)^\| \[[^]]+\]\(([\w-]+)\.md\)", text)) == pages
    for page in pages:
        headings = re.findall(r"(?m)^## (.*)$", (FOLDER / f"{page}.md").read_text(encoding="utf-8"))
        assert headings[0] == "Their number"
        assert "Why the default number differs" in headings
        assert headings[-1] == "Next"
