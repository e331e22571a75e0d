"""The page of the report: what it says, for ordinary and for extreme assessments."""

import math
import re

import numpy as np
import pytest
from html_reader import hostile_names, read, rows

import trueness as tn
from trueness import old_report as report
from trueness._markup import escape
from trueness.old_report._numbers import number


class TestWhatItSays:
    def test_the_verdict_comes_first(self, result, page):
        seen = read(page).text("main")
        assert seen.startswith("Over-confident")
        sentence = result.verdict.sentence.replace("-0", "−0")
        assert sentence[1:] in seen[:400]
        assert result.verdict.advice in seen[:600]

    def test_every_metric_has_its_card_and_its_line(self, result, page):
        reader = read(page)
        cards, everything = reader.text("li"), reader.text("table")
        for name in ("net", "vce", "ece", "rce"):
            estimate = getattr(result, name)
            sign = name == "net"
            assert number(estimate.debiased, sign) in cards
            assert number(estimate.interval.low, sign) in cards
            for value in (estimate.value, estimate.noise_floor, estimate.debiased, estimate.interval.high):
                assert number(value, sign) in everything
        assert number(result.uce.calibrated_value) in cards
        for value in (result.accuracy, result.brier_score, result.log_loss):
            assert number(value) in cards
            assert number(value) in everything
        assert number(result.log_score_z.value, sign=True, digits=2) in cards

    def test_every_filled_bin_has_its_line(self, result, page):
        lines = re.findall(r'<tr><th scope="row">(\d+)</th><td>(.*?)</tr>', page)
        table = result.table
        filled = np.flatnonzero(table.row_count)
        of_bins = [(int(name), cells) for name, cells in lines if " to " in cells.split("</td>")[0]]
        assert [name for name, _ in of_bins][-len(filled) :] == (filled + 1).tolist()
        for (_, cells), m in zip(of_bins[-len(filled) :], filled, strict=True):
            assert number(float(table.predicted_variation[m])) in cells
            assert number(float(table.observed_variation[m])) in cells

    def test_warnings_are_shown_with_their_remedies(self):
        answer = tn.assess([0, 1, 0] * 40, [[0.5, 0.5]] * 120, rng=0)
        assert answer.warnings
        seen = read(report.page(answer)).text("main")
        for caution in answer.warnings:
            assert caution.message[1:] in seen
            assert caution.remedy[1:] in seen

    def test_groups_are_listed_with_the_smallest_p_value_first(self, result, page):
        ordered = sorted(result.groups, key=lambda group: group.adjusted_p_value)
        table = page[page.index('<table id="groups">') :]
        places = [table.index(f"<bdi>{escape(group.name)}</bdi>") for group in ordered]
        assert places == sorted(places)

    def test_groups_that_are_too_small_state_the_reason(self):
        answer = tn.assess(*rows(300), rng=0, groups=["big"] * 290 + ["tiny"] * 10)
        assert "not assessed: fewer than 100 rows" in report.page(answer)
        alone = tn.assess(*rows(300), rng=0, groups=np.arange(300) % 10)
        seen = report.page(alone)
        assert seen.count("not assessed: fewer than 100 rows") == 10
        assert "Net gap of the groups" not in seen

    def test_citation_and_provenance(self, result, page):
        seen = read(page).text()
        assert "arXiv 2602.12975" in seen
        assert f"trueness {tn.__version__}" in seen
        assert "This report was made by:" in seen
        own = read(report.page(result)).text("pre")
        assert (
            "trueness.assess(y_true, y_prob, variation='entropy', bins=10, level=0.95, resamples=999, rng=7"
            in own
        )


class TestVerdicts:
    def test_the_headline_follows_the_tolerance(self):
        y_true, y_prob = rows(3000, 1.6)
        page = report.page(tn.assess(y_true, y_prob, tolerance=0.5))
        assert "<h2>Negligible, within the tolerance</h2>" in page
        assert "verdict none" in page
        assert "<h2>Over-confident beyond the tolerance</h2>" in report.page(
            tn.assess(y_true, y_prob, tolerance=0.01)
        )


class TestSize:
    def test_equal_assessments_give_equal_bytes_and_a_small_file(self, result):
        first, again = report.page(result), report.page(tn.assess(*rows(), rng=7, groups=hostile_names()))
        assert first == again
        assert len(first.encode()) < 300_000

    def test_the_report_of_the_example(self, tmp_path):
        from trueness import demo

        demo.run_demo(tmp_path / "r.html")
        assert (tmp_path / "r.html").stat().st_size < 250_000


class TestExtremeAssessments:
    def test_one_bin(self):
        page = report.page(tn.assess([0, 1] * 100, [[0.9, 0.1]] * 200, rng=0))
        assert "<h2>Forecasts class 1 too seldom</h2>" in page
        assert "over-confident as a whole" in page

    def test_outcomes_without_variation(self):
        answer = tn.assess([0] * 100, [[1.0, 0.0]] * 100, rng=0)
        assert math.isnan(answer.log_score_z.value)
        assert read(report.page(answer)).text("main")

    def test_an_observed_class_of_probability_0(self):
        answer = tn.assess([0, 1] * 50, [[1.0, 0.0]] * 100, rng=0)
        seen = report.page(answer)
        assert "−∞" in seen
        assert answer.log_score_z.reason in seen

    def test_clusters_in_many_bins(self):
        y_true, y_prob = rows(600)
        answer = tn.assess(
            y_true, y_prob, bins=tn.EqualWidth(400), clusters=np.arange(600) // 3, rng=0, resamples=99
        )
        assert "They treat the rows as independent" in report.page(answer)

    def test_a_path_that_cannot_be_written(self, result, tmp_path):
        with pytest.raises(IsADirectoryError):
            result.write_html(tmp_path)
        assert list(tmp_path.iterdir()) == []
        (tmp_path / "file").write_text("")
        with pytest.raises(OSError, match="file"):
            result.write_html(tmp_path / "file" / "r.html")

    def test_folders_that_are_missing_are_created(self, result, tmp_path):
        result.write_html(tmp_path / "new" / "folder" / "r.html")
        assert (tmp_path / "new" / "folder" / "r.html").exists()

    def test_one_row(self):
        page = report.page(tn.assess([0], [[0.999, 0.001]], rng=0))
        assert "<h2>Too few rows for a conclusion</h2>" in page
        assert ">1 row · 2 classes" in page
        assert "1 rows" not in page

    def test_groups_too_small_to_assess_are_counted(self):
        page = report.page(tn.assess(*rows(900), groups=[str(k % 90) for k in range(900)], rng=0))
        assert "90 of 90 groups were not assessed" in page
