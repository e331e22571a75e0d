"""The sections of classes, of predicted classes and of events, and the reports of events."""

import re
from functools import cache

import numpy as np
import pytest
from html_reader import HOSTILE, read

import trueness as tn
from trueness import old_report as report
from trueness import plots
from trueness._markup import escape
from trueness.old_report._numbers import number

NAMES = ["ape", "bat", "cat", "dog", "elk", HOSTILE[0]]


@cache
def six_classes():
    """One class of six is predicted too often; another has a name that is an attack."""
    y_true, y_prob = tn.simulate.calibrated(3000, [0.7] * 6, rng=3)
    y_prob[:, 2] *= 1.6
    names = np.array(NAMES, dtype=object)[y_true]
    return tn.assess(names, y_prob, classes=NAMES, normalize=True, rng=0, resamples=199)


@cache
def two_classes():
    """A model that forecasts a rare event too often."""
    rng = np.random.default_rng(0)
    log_odds = -4 + rng.normal(size=3000)
    y_true = (rng.random(3000) < 1 / (1 + np.exp(-log_odds))).astype(int)
    return y_true, 1 / (1 + np.exp(-(log_odds + 2)))


@cache
def assessed_pair():
    return tn.assess(*two_classes(), rng=0, resamples=99)


@cache
def assessed_event(name=None):
    y_true, y_prob = two_classes()
    if name is None:
        return tn.assess_event(y_true, y_prob, rng=0, resamples=99)
    labels = np.where(y_true, name, "no").astype(object)
    return tn.assess_event(labels, y_prob, positive=name, rng=0, resamples=99)


def section_of(page, heading):
    start = page.index(f"<h2>{heading}</h2>")
    return page[start : page.index("</section>", start)]


class TestClasses:
    def test_the_table_has_a_line_for_each_class_in_the_order_of_the_p_values(self):
        answer = six_classes()
        section = section_of(report.page(answer), "Classes")
        table = section[section.index('<table id="classes">') :]
        names = re.findall(r'<th scope="row"><bdi>(.*?)</bdi></th>', table)
        assert names == [escape(each.name) for each in answer.classes.by_adjusted_p_value]
        worst = answer.classes.by_adjusted_p_value[0]
        line = table[table.index("<bdi>cat</bdi>") :].partition("</tr>")[0]
        assert worst.name == "cat"
        for text in (
            f"{worst.gap.expected:,.0f}",
            f"{worst.gap.observed:,.0f}",
            f"{worst.gap.ratio:.3g} [",
            number(worst.gap.value, sign=True),
            number(worst.spread.slope, digits=2),
            number(worst.ece.debiased),
            "too often",
        ):
            assert text in line

    def test_the_interval_of_the_ratio_is_that_of_the_gap(self):
        answer = six_classes()
        worst = answer.classes.by_adjusted_p_value[0]
        low, high = (
            1 - 3000 * end / worst.gap.expected for end in (worst.gap.interval.high, worst.gap.interval.low)
        )
        assert low < worst.gap.ratio < high
        assert f"{worst.gap.ratio:.3g} [{low:.3g}, {high:.3g}]" in report.page(answer)

    def test_more_than_forty_classes_are_folded_and_rare_ones_pooled(self):
        y_true, y_prob = tn.simulate.calibrated(400, [0.1] * 50, rng=0)
        answer = tn.assess(y_true, y_prob, resamples=99)
        section = section_of(report.page(answer), "Classes")
        folded = section[section.index("<summary>10 more classes</summary>") :]
        assert folded[: folded.index("</details>")].count("<tr>") == 11
        pooled = answer.classes.pooled
        assert f"{len(pooled.names)} classes with fewer than 10 expected rows" in section
        assert f"{pooled.observed:,.0f} observed" in section

    def test_the_total_has_a_card_with_the_mean_in_small_print(self):
        answer = six_classes()
        page = report.page(answer)
        cards = page[page.index('<ul class="cards">') : page.index("</ul>", page.index('<ul class="cards">'))]
        (card,) = [it for it in cards.split("<li>") if "Classwise total" in it]
        assert number(answer.classes.total.debiased) in card
        assert f"Classwise ECE {number(answer.classes.mean.debiased)}" in card

    def test_by_predicted_class(self):
        answer = six_classes()
        section = section_of(report.page(answer), "By predicted class")
        test = answer.by_predicted_class
        assert f"Q = {test.value:.1f} with {test.degrees} degrees of freedom" in section
        assert "<caption>Predicted classes</caption>" in section
        assert "window.hacked = 1</script>" not in section


class TestTwoClasses:
    def test_the_event_is_the_first_section_after_the_verdict(self):
        page = report.page(assessed_pair())
        headings = re.findall(r"<h2>(.*?)</h2>", page)
        assert headings[1:3] == ["How often is class 1 observed?", "The numbers"]
        assert "<h2>Classes</h2>" not in page

    def test_its_numbers_and_pictures_are_those_of_the_event(self):
        answer = assessed_pair()
        event, page = answer.event, report.page(answer)
        for picture in plots.event_pictures():
            assert picture.svg(picture.data(event)) in page
        section = section_of(page, "How often is class 1 observed?")
        assert number(event.in_the_large.value, sign=True) in section
        assert f"{event.in_the_large.observed:,.0f} observed" in section
        assert number(event.cox.slope.value, digits=2) in section
        assert number(event.hosmer_lemeshow.value) in section
        assert "at the same probability are not seen" in section

    def test_a_notebook_shows_the_event_too(self):
        answer = assessed_pair()
        reader = read(answer._repr_html_())
        assert len(reader.named("svg")) == 1
        assert "Reliability diagram of class 1" in [a["aria-label"] for a in reader.named("svg")]
        assert "Gap in the large" in reader.text()


class TestEventReport:
    def test_it_says_the_verdict_and_can_be_read_back(self, tmp_path):
        event, path = assessed_event(), tmp_path / "event.html"
        event.write_html(path, title="Rain")
        text = path.read_text(encoding="utf-8")
        reader = read(text)
        assert event.verdict.headline in reader.text("h2")
        assert reader.text("h1") == "Rain"
        (table,) = report.event_tables_in(path)
        assert table == event.table
        again = tn.assess_event_table(table, level=0.95, resamples=99, rng=0)
        assert again.to_dict()["ece"] == event.to_dict()["ece"]

    def test_the_code_in_it_reproduces_the_numbers(self, tmp_path, monkeypatch):
        y_true, y_prob = two_classes()
        event = tn.assess_event(y_true, y_prob, bins=tn.EqualMass(5), rng=4, resamples=99)
        event.write_html(tmp_path / "event.html")
        code = read((tmp_path / "event.html").read_text(encoding="utf-8")).text("pre")
        monkeypatch.chdir(tmp_path)
        scope = {}
        exec(code[code.index("import trueness") :], scope)
        assert scope["result"] == event
        call = code[: code.index("import trueness")]
        assert eval(call, {"trueness": tn, "y_true": y_true, "y_prob": y_prob}) == event

    @pytest.mark.parametrize("name", HOSTILE[:4])
    def test_names_do_not_become_code(self, name):
        event = assessed_event(name)
        reader = read(report.page_of_event(event, title=name, made_by=name))
        assert len(reader.named("script")) == 2
        assert reader.named("img") == []
        assert read(event._repr_html_()).named("script") == []

    def test_the_slope_explains_a_test_that_only_responds_to_the_gap(self):
        event = assessed_event()
        slope = event.cox.slope.interval
        assert event.spread.p_value < 0.05
        assert slope.low < 1 < slope.high
        assert "the test also responds to a large gap" in report.page_of_event(event)
        assert "extreme" not in event.verdict.sentence

    @pytest.mark.parametrize(
        "rows",
        [([1], [0.001]), ([0, 1] * 50, [0.0, 1.0] * 50), ([0] * 9, [0.2] * 9)],
        ids=["one", "certain", "never"],
    )
    def test_extreme_events(self, rows):
        text = report.page_of_event(tn.assess_event(*rows, resamples=99))
        read(text)
        assert "nan" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)

    def test_a_notebook_cell_has_no_scripts_and_no_ids(self):
        reader = read(assessed_event()._repr_html_())
        assert reader.named("script") == []
        assert [a for _, a in reader.elements if "id" in a] == []
        assert assessed_event().verdict.headline in reader.text()
