"""The report and the notebook view of a comparison: its numbers, its tables, and names that try to become code."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from html_reader import HOSTILE, read, rows

import trueness as tn
from trueness import old_report as report
from trueness.old_report._comparison import headline_of
from trueness.old_report._numbers import number


@cache
def hostile_comparison():
    """Three models and groups whose names are attacks."""
    y_true, y_prob = rows()
    models = dict(zip(HOSTILE, (y_prob, tn.simulate.sharpen(y_prob, 0.6), y_prob), strict=False))
    groups = np.array(HOSTILE[:3], dtype=object)[np.arange(1500) % 3]
    return tn.compare(y_true, models, groups=groups, resamples=99)


@cache
def two_models(n_classes=2):
    y_true, y_prob = tn.simulate.calibrated(1200, [1.0] * n_classes, rng=0)
    models = {"before": tn.simulate.sharpen(y_prob, 1.8), "after": y_prob}
    return tn.compare(y_true, models, resamples=99)


def test_it_has_the_verdicts_the_models_and_all_differences(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "comparison.html"
    found = two_models()
    found.write_html(path, title="Before and after")
    reader = read(path.read_text(encoding="utf-8"))
    seen = reader.text()
    assert "Before and after" in reader.text("h1")
    assert "after is better calibrated" in reader.text("h2")
    assert str(found.verdicts[0]) in seen
    for result in found.assessments.values():
        assert number(result.vce.debiased) in seen
        assert number(result.log_loss) in seen
    for key, contrast in found.pairs[0].contrasts.items():
        assert found.metrics[key].label in seen
        assert number(contrast.difference, sign=True) in seen
    assert len(reader.named("svg")) == 5  # all metrics, and two diagrams of each model
    assert "trueness.compare(y_true, {'before': …, 'after': …}, variation='entropy', bins=10" in seen


def test_hostile_names_do_not_become_code(tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    hostile_comparison().write_html(path, title=HOSTILE[0], made_by=HOSTILE[2])
    for text in (path.read_text(encoding="utf-8"), hostile_comparison()._repr_html_()):
        reader = read(text)
        assert reader.named("img") == reader.named("b") == []
        assert HOSTILE[0] in reader.text()
        assert HOSTILE[1] in reader.text()
    assert (
        len(read(path.read_text(encoding="utf-8")).named("script")) == 2
    )  # the tables, and that of the page


def test_equal_comparisons_give_equal_bytes_and_nothing_is_loaded(tmp_path: Path) -> None:
    pages = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        hostile_comparison().write_html(tmp_path / name / "x.html")
        pages.append((tmp_path / name / "x.html").read_text(encoding="utf-8"))
    assert pages[0] == pages[1]
    assert re.findall(r'(?:src|href)="', pages[0]) == []
    assert "default-src &#x27;none&#x27;" in pages[0]


def test_the_tables_of_the_models_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    found = two_models()
    found.write_html(path)
    tables = report.model_tables_in(path)
    assert list(tables) == ["before", "after"]
    for name, result in found.assessments.items():
        assert tables[name].by_variation == result.table
        again = tn.assess_table(tables[name], resamples=99, rng=found.seed)
        assert again.vce.debiased == result.vce.debiased
    with pytest.raises(tn.Refusal, match=r"x\.html is the report of a comparison") as refused:
        report.tables_in(path)
    assert "model_tables_in" in str(refused.value)


def test_compact_tables_are_read_back_and_have_their_schema(tmp_path: Path) -> None:
    """Tables of many bins leave out those without rows."""
    y_true, y_prob = rows(300)
    path = tmp_path / "x.html"
    models = {"a": y_prob, "b": tn.simulate.sharpen(y_prob, 1.5)}
    found = tn.compare(y_true, models, bins=200, resamples=19)
    found.write_html(path)
    assert '"schema":5' in path.read_text(encoding="utf-8").replace('"schema": 5', '"schema":5')
    for name, tables in report.model_tables_in(path).items():
        assert tables.by_variation == found.assessments[name].table


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ('"models"', '"model"'),
        ('"name"', '"label"'),
        ('"models"', '"models":3,"x"'),
        ('"schema"', '"scheme"'),
    ],
)
def test_a_damaged_report_is_refused(written: str, instead: str, tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    two_models().write_html(path)
    before, begin, after = path.read_text(encoding="utf-8").partition('id="trueness-models">')
    assert written in after
    path.write_text(before + begin + after.replace(written, instead), encoding="utf-8")
    with pytest.raises(tn.Refusal, match=r"x\.html is damaged: the report's metadata is corrupt"):
        report.model_tables_in(path)


def test_tables_of_different_rows(tmp_path: Path) -> None:
    y_true, y_prob = rows()
    days = {
        "monday": tn.tabulate(y_true[:700], y_prob[:700]),
        "tuesday": tn.tabulate(y_true[700:], y_prob[700:]),
    }
    found = tn.compare_tables(days, resamples=99)
    path = tmp_path / "days.html"
    found.write_html(path)
    seen = read(path.read_text(encoding="utf-8")).text()
    assert "different rows" in seen
    assert "No evidence that the tables differ" in seen
    assert "2 tables" in seen
    assert "pairs of tables" in seen
    assert not re.search("models", seen.partition("How this was made")[0])
    assert "models" not in found._repr_html_()
    again = tn.compare_tables(report.model_tables_in(path), resamples=99)
    assert again.pairs[0].vce.difference == found.pairs[0].vce.difference


def test_groups_and_models_that_were_left_out_are_said(tmp_path: Path) -> None:
    y_true, y_prob = rows(300)
    models = {f"m{k}": tn.simulate.sharpen(y_prob, 1 + k / 10) for k in range(10)}
    found = tn.compare(y_true, models, groups=["a"] * 290 + ["b"] * 10, resamples=19)
    path = tmp_path / "x.html"
    found.write_html(path)
    seen = read(path.read_text(encoding="utf-8")).text()
    assert "2 more models not drawn." in seen
    assert "30 more pairs are in the table of differences." in seen
    assert "not compared: fewer than" in seen


def test_the_headline() -> None:
    assert headline_of(two_models()) == "after is better calibrated"
    y_true, y_prob = rows()
    same = tn.compare(y_true, {"a": y_prob, "b": y_prob}, resamples=99)
    assert headline_of(same) == "No evidence that the models differ in calibration"
    wide, sharp = tn.simulate.sharpen(y_prob, 0.3), tn.simulate.sharpen(y_prob, 0.625)
    three = tn.compare(y_true, {"sharp": y_prob, "wide": wide, "good": sharp}, resamples=99)
    assert headline_of(three) == "good is best calibrated"


class TestNotebook:
    @pytest.mark.parametrize(
        "make",
        [
            hostile_comparison,
            two_models,
            lambda: tn.assess(*rows(400), groups=np.arange(400) % 2, resamples=99).groups[0],
            lambda: tn.assess(*rows(200), groups=["a"] * 195 + ["b"] * 5, resamples=99).groups[1],
            lambda: tn.assess_event(
                np.arange(600).reshape(200, 3) % 2, np.full((200, 3), 0.4), multilabel=True, resamples=99
            ),
            lambda: tn.assess_many({(HOSTILE[0], "x"): rows(200), ("b", "x"): rows(200)}, resamples=19),
        ],
        ids=["hostile", "two", "group", "small-group", "events", "many"],
    )
    def test_every_result_has_a_fragment_without_scripts_and_ids(self, make) -> None:
        text = make()._repr_html_()
        reader = read(text)
        assert reader.named("script") == []
        assert [attributes for _, attributes in reader.elements if "id" in attributes] == []
        assert "trueness-notebook" in text
        assert len(text) < 120_000
        rules = re.sub(r"@media[^{]*", "", reader.text("style"))
        for selector in re.findall(r"([^{}]+)\{", rules):
            assert all(part.strip().startswith(".trueness") for part in selector.split(",") if part.strip())

    def test_a_group_says_its_name_and_its_corrected_p_value(self) -> None:
        group = tn.assess(*rows(400), groups=["<i>x</i>", "y"] * 200, resamples=99).groups[0]
        seen = read(group._repr_html_()).text()
        assert "Group <i>x</i>, 200 rows" in seen
        assert "adjusted for the number of groups" in seen

    def test_the_best_cell_is_bold(self) -> None:
        y_true, y_prob = rows(600)
        pairs = {("a", "x"): (y_true, y_prob), ("b", "x"): (y_true, tn.simulate.sharpen(y_prob, 0.6))}
        found = tn.assess_many(pairs, resamples=99)
        assert (
            read(found._repr_html_())
            .text("strong")
            .startswith(f"{found._printed_cells('models')[1]['x'].text}")
        )
