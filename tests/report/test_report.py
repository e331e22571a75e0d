"""The report as a file: what it says, what it holds, and what no name can make of it."""

import base64
import hashlib
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import trueness as tn
from trueness import report
from trueness.plots.readings import reliability
from trueness.report._frame import linear_ticks, log_ticks
from trueness.report._markup import escaped, json_text, tag
from trueness.report._numbers import colour, number, p_text, sentence_of
from trueness.report._pictures import MOST_BINS, Drawn

HOSTILE = [
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "</script><script>window.hacked=1</script>",
    "</title></style><b>bold</b>",
    "a & b &lt; c",
    "\x00\x07\x1b[31m",
    "emoji 🙂, 漢字",
    "\u202eright to left",
    "]]> --> <!-- {{x}} ${y}",
]


class Reader(HTMLParser):
    """Elements and text as a browser would see them; complains about tags that do not match."""

    EMPTY = ("meta", "br")

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.elements, self.open, self.texts = [], [], []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((tuple(self.open), data))

    def named(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self, within=None):
        return "".join(text for where, text in self.texts if within is None or within in where)


def read(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def rows(n_rows=1500, exponent=1.6, alpha=(4, 2, 1, 1), seed=0):
    y_true, y_prob = tn.simulate.calibrated(n_rows, alpha, rng=seed)
    return y_true, tn.simulate.sharpen(y_prob, exponent)


@pytest.fixture(scope="module")
def result():
    names = np.array(HOSTILE, dtype=object)[np.arange(1500) % 9]
    return tn.assess(*rows(), rng=7, groups=names)


@pytest.fixture(scope="module")
def page(result):
    return report.page(result, title=HOSTILE[0], made_by=HOSTILE[2] + "\ud800", file_name=HOSTILE[1])


class TestWhatItSays:
    def test_the_verdict_comes_first(self, result, page):
        seen = read(page).text("main")
        assert seen.startswith("Over-confident")
        sentence = result.verdict.sentence.replace("-0", "−0")
        assert sentence[1:] in seen[:400]
        assert result.verdict.advice in seen[:600]

    def test_every_number_has_its_card_and_its_line(self, result, page):
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

    def test_warnings_stand_with_their_remedies(self):
        answer = tn.assess([0, 1, 0] * 40, [[0.5, 0.5]] * 120, rng=0)
        assert answer.warnings
        seen = read(report.page(answer)).text("main")
        for caution in answer.warnings:
            assert caution.message[1:] in seen
            assert caution.remedy[1:] in seen

    def test_groups_are_listed_with_the_smallest_p_value_first(self, result, page):
        ordered = sorted(result.groups, key=lambda group: group.adjusted_p_value)
        table = page[page.index('<table id="groups">') :]
        places = [table.index(f"<bdi>{escaped(group.name)}</bdi>") for group in ordered]
        assert places == sorted(places)

    def test_groups_that_are_too_small_say_so(self):
        answer = tn.assess(*rows(300), rng=0, groups=["big"] * 290 + ["tiny"] * 10)
        assert "not assessed: fewer than 100 rows" in report.page(answer)
        alone = tn.assess(*rows(300), rng=0, groups=np.arange(300) % 10)
        seen = report.page(alone)
        assert seen.count("not assessed: fewer than 100 rows") == 10
        assert "Net gap of the groups" not in seen

    def test_it_says_how_to_cite_and_what_made_it(self, result, page):
        seen = read(page).text()
        assert "arXiv 2602.12975" in seen
        assert f"trueness {tn.__version__}" in seen
        assert "This report was made by:" in seen
        own = read(report.page(result)).text("pre")
        assert (
            "trueness.assess(y_true, y_prob, variation='entropy', bins=10, level=0.95, resamples=999, rng=7"
            in own
        )

    def test_the_dots_stand_where_the_bins_are(self, result, page):
        """Pixels of the first diagram back into numbers: the frame is 388 wide from x = 58, y = 12."""
        r = reliability(result)
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
        assert np.array_equal(np.argsort(radii), np.argsort(r.rows))

    def test_every_mark_says_its_numbers(self, result, page):
        titles = re.findall(r'<g class="mark"><title>(.*?)</title>', page, re.DOTALL)
        m = int(np.flatnonzero(result.table.row_count)[0])
        first = titles[0]
        assert f"{result.table.predicted_variation[m]:.4f}" in first
        assert f"{result.table.observed_variation[m]:.4f}" in first
        assert len(titles) > 80


class TestVerdicts:
    @pytest.mark.parametrize(
        ("words", "exponent"),
        [
            ("Over-confident", 1.6),
            ("Under-confident", 0.6),
            ("No evidence of miscalibration at this sample size", 1.0),
        ],
    )
    def test_headlines_of_real_answers(self, words, exponent):
        answer = tn.assess(*rows(3000, exponent), rng=0)
        assert answer.verdict.headline == words
        assert f"<h2>{words}</h2>" in report.page(answer)

    def test_ranks_that_are_exchanged(self):
        answer = tn.assess([0] * 10 + [1] * 90, [[0.9, 0.1]] * 100, rng=0)
        assert "<h2>Miscalibrated in the ranks</h2>" in report.page(answer)

    def test_the_headline_follows_the_tolerance(self):
        y_true, y_prob = rows(3000, 1.6)
        page = report.page(tn.assess(y_true, y_prob, tolerance=0.5))
        assert "<h2>Negligible, within the tolerance</h2>" in page
        assert "verdict none" in page
        assert "<h2>Over-confident beyond the tolerance</h2>" in report.page(
            tn.assess(y_true, y_prob, tolerance=0.01)
        )

    def test_what_only_some_of_the_metrics_see(self, result):
        """The p-values decide the words: set so that one metric after the other is the only one that sees."""

        def verdict(vce=0.9, net=0.9, rce=0.9, ece=0.9, z=0.9):
            return replace(
                result,
                estimates={
                    "vce": replace(result.vce, centred_p_value=vce),
                    "net": replace(result.net, centred_p_value=net),
                    "ece": replace(result.ece, p_value=ece),
                    "rce": replace(result.rce, p_value=rce),
                    "rce_w1": replace(result.rce_w1, p_value=rce),
                },
                log_score_z=replace(result.log_score_z, p_value=z, drawn_p_value=z),
            ).verdict

        for given, kind, shade in (
            ({"vce": 0.001}, "mixed", "mixed"),
            ({"net": 0.001}, "over-confident", "over"),
            ({"rce": 0.001}, "ranks", "mixed"),
            ({"ece": 0.001}, "top-class", "over"),
            ({"z": 0.001}, "over-confident", "over"),
            ({}, "none", "none"),
        ):
            assert verdict(**given).kind == kind
            assert colour(verdict(**given)) == shade


class TestNothingFromOutside:
    def test_no_name_becomes_an_element(self, page):
        reader = read(page)
        plain = read(report.page(tn.assess(*rows(), rng=7, groups=[f"g{k % 9}" for k in range(1500)])))
        kinds = [name for name, _ in reader.elements]
        expected = [name for name, _ in plain.elements]
        assert sorted(set(kinds)) == sorted(set(expected))
        assert len(kinds) == len(expected)
        assert len(reader.named("script")) == 2

    def test_names_are_read_as_they_are_written(self, page):
        names = re.findall(r"<bdi>(.*?)</bdi>", page)
        seen = read(" ".join(names)).text()
        for name in HOSTILE[:5]:
            assert name in seen
        assert "\ufffd\ufffd\ufffd[31m" in seen
        assert not re.search("[\x00-\x08\x0b-\x1f\u202e\ud800-\udfff]", page)
        page.encode()  # which half a surrogate pair would not let

    def test_names_in_what_machines_read_are_whole(self, page, tmp_path):
        path = tmp_path / "r.html"
        path.write_text(page, encoding="utf-8")
        assert set(report.read(path).groups) == set(HOSTILE)

    def test_a_measure_of_ones_own_with_an_evil_name(self):
        evil = tn.Variation("<img src=x>", tn.variations["iqv"].function)
        seen = report.page(tn.assess(*rows(300), variation=evil, rng=0))
        assert read(seen).named("img") == []
        assert "<img" not in seen

    def test_nothing_is_loaded_and_nothing_else_runs(self, page):
        reader = read(page)
        for _, attributes in reader.elements:
            assert not {"src", "href", "style", "action", "srcset", "data", "poster"} & set(attributes)
            assert not [name for name in attributes if name.startswith("on")]
        assert set(re.findall(r"https?://[^\s\"'<]+", page)) == {"http://www.w3.org/2000/svg"}
        assert "@import" not in page
        assert "url(" not in page

    def test_the_policy_comes_before_what_it_governs_and_knows_it_by_its_hash(self, page):
        (policy,) = [a["content"] for a in read(page).named("meta") if "http-equiv" in a]
        assert policy.startswith("default-src 'none'; ")
        assert "unsafe" not in policy
        for element, directive in (("style", "style-src"), ("script", "script-src")):
            content = page[page.rindex(f"<{element}>") + len(element) + 2 : page.rindex(f"</{element}>")]
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            assert f"{directive} 'sha256-{digest}'" in policy
            assert page.index("Content-Security-Policy") < page.index(f"<{element}>")

    def test_tags_escape_everything_but_markup(self):
        assert tag("p", "<b>", tag("b", 1), title='"') == '<p title="&quot;">&lt;b&gt;<b>1</b></p>'
        assert "<" not in json_text(HOSTILE)
        assert json.loads(json_text(HOSTILE)) == HOSTILE


class TestReadBack:
    def test_tables_come_back_to_the_last_bit(self, result, tmp_path):
        path = tmp_path / "report.html"
        result.write_html(path)
        assert report.tables_in(path) == [result.table, result.confidence_table]
        assert report.tables_in(str(path))[0].same_counts(result.table)

    def test_the_lines_it_prints_give_the_same_answer(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        for name, options in {
            "plain": {},
            "groups": {"groups": ["a", "b"] * 750},
            "by confidence": {"variation": "confidence", "bins": 4},
            "edges": {"bins": tn.EqualMass(20), "ties": "split", "level": 0.9, "resamples": 99},
            "weights": {"sample_weight": np.linspace(0.1, 2, 1500)},
        }.items():
            answer = tn.assess(*rows(), rng=3, **options)
            answer.write_html(f"{name}.html")
            page = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
            code = read(page).text("pre").partition("import trueness")[2]
            scope = {}
            exec("import trueness" + code, scope)
            assert scope["result"] == answer

    def test_the_call_it_prints_gives_the_same_answer(self):
        y_true, y_prob = rows()
        for options in (
            {},
            {"bins": tn.Edges([0, 0.3, 1])},
            {"variation": "margin", "ties": "split", "level": 0.9},
        ):
            answer = tn.assess(y_true, y_prob, rng=11, **options)
            (call,) = re.findall(r"trueness\.assess\(y_true.*\)", read(report.page(answer)).text("pre"))
            assert eval(call, {"trueness": tn, "y_true": y_true, "y_prob": y_prob}) == answer

    def test_what_the_call_leaves_to_the_reader_is_named(self):
        y_true, y_prob = rows(400)
        answer = tn.assess(
            y_true,
            y_prob,
            rng=0,
            clusters=np.arange(400) // 4,
            groups=["a", "b"] * 200,
            sample_weight=np.ones(400),
        )
        seen = read(report.page(answer)).text()
        assert "sample_weight=sample_weight, clusters=clusters, groups=groups)" in seen
        assert "not how its rows come in clusters" in seen
        assert "100 clusters" in seen

    def test_a_measure_of_ones_own_must_be_named(self, tmp_path):
        own = tn.Variation("gini", lambda x: 1 - (x**2).sum(axis=-1), range=lambda c: (0, 1 - 1 / c))
        answer = tn.assess(*rows(300), variation=own, rng=0)
        path = tmp_path / "own.html"
        answer.write_html(path)
        with pytest.raises(ValueError, match="measure 'gini'"):
            report.tables_in(path)
        assert report.tables_in(path, own)[0] == answer.table
        assert "variation=gini)" in path.read_text(encoding="utf-8")

    def test_a_report_without_confidence(self, tmp_path):
        answer = tn.assess_table(tn.tabulate(*rows()), rng=0)
        path = tmp_path / "r.html"
        answer.write_html(path)
        assert report.tables_in(path) == [answer.table]
        assert "Accuracy against confidence" not in path.read_text(encoding="utf-8")

    @pytest.mark.parametrize(
        ("spoil", "words"),
        [
            (lambda text: text[:9], "holds no tables; it is not a report of trueness"),
            (lambda text: text[: text.index("</script>")], "holds no tables"),
            (lambda text: text.replace('"schema": 2', '"schema": 99'), "schema 99"),
            (lambda text: text.replace('"n_rows": 1500', '"n_rows": 1501'), "n_rows is 1501"),
            (lambda text: text.replace('{"format"', '{"format'), "is not a file of calibration tables"),
            (lambda text: text.replace('"seed": 7', '"seed": "x"'), "metadata is corrupt"),
            (
                lambda text: text.replace('"report": {"level"', '"report": {"lvl"'),
                "metadata is corrupt",
            ),
            (lambda text: text.replace('"report": ', '"rapport": '), "metadata is corrupt"),
        ],
    )
    def test_what_is_damaged_is_refused(self, result, tmp_path, spoil, words):
        path = tmp_path / "r.html"
        text = report.page(result)
        assert spoil(text) != text
        path.write_text(spoil(text), encoding="utf-8")
        with pytest.raises(ValueError, match=re.escape(words)):
            report.tables_in(path)

    def test_bytes_that_are_no_text(self, tmp_path):
        path = tmp_path / "r.html"
        path.write_bytes(b"\xff\xfe\x00")
        with pytest.raises(ValueError, match="is not a file of calibration tables"):
            report.read(path)

    def test_names_tell_reports(self):
        assert report.is_report("a/B.HTML")
        assert report.is_report("x.htm")
        assert not report.is_report("table.json")


class TestSize:
    def test_the_same_answer_gives_the_same_bytes_and_few_of_them(self, result):
        first, again = report.page(result), report.page(tn.assess(*rows(), rng=7, groups=_names()))
        assert first == again
        assert len(first.encode()) < 300_000

    def test_the_report_of_the_example(self, tmp_path):
        from trueness import demo

        demo.tell(tmp_path / "r.html")
        assert (tmp_path / "r.html").stat().st_size < 200_000

    def test_many_bins_are_drawn_in_fewer(self):
        answer = tn.assess(*rows(), bins=tn.FineGrid(400), rng=0)
        assert np.count_nonzero(answer.table.row_count) > MOST_BINS
        drawn = Drawn.of(answer)
        assert np.count_nonzero(drawn.by_variation.table.row_count) <= MOST_BINS
        assert drawn.by_confidence.table.n_bins <= MOST_BINS
        assert drawn.by_variation.table == answer.table.coarsen(tn.EqualMass(MOST_BINS))
        seen = report.page(answer)
        assert drawn.note in seen
        assert len(seen.encode()) < 1_000_000

    def test_tables_of_many_groups_are_left_out_and_it_is_said(self, tmp_path):
        many = tn.assess(*rows(), rng=0, groups=np.arange(1500) % 300, min_group_size=1, resamples=39)
        path = tmp_path / "many.html"
        many.write_html(path)
        assert report.read(path).groups == {}
        assert report.tables_in(path)[0] == many.table
        assert "would have made this file too large" in path.read_text(encoding="utf-8")
        assert path.stat().st_size < 1_000_000


def _names():
    return np.array(HOSTILE, dtype=object)[np.arange(1500) % 9]


class TestOddAnswers:
    def test_one_bin(self):
        assert "Over-confident" in report.page(tn.assess([0, 1] * 100, [[0.9, 0.1]] * 200, rng=0))

    def test_what_cannot_vary(self):
        answer = tn.assess([0] * 100, [[1.0, 0.0]] * 100, rng=0)
        assert math.isnan(answer.log_score_z.value)
        assert read(report.page(answer)).text("main")

    def test_what_was_ruled_out_came_true(self):
        answer = tn.assess([0, 1] * 50, [[1.0, 0.0]] * 100, rng=0)
        seen = report.page(answer)
        assert "−∞" in seen
        assert answer.log_score_z.reason in seen

    def test_clusters_in_many_bins(self):
        y_true, y_prob = rows(600)
        answer = tn.assess(
            y_true, y_prob, bins=tn.FineGrid(400), clusters=np.arange(600) // 3, rng=0, resamples=99
        )
        assert "Rows are taken to be independent there" in report.page(answer)

    def test_a_place_that_cannot_be_written(self, result, tmp_path):
        with pytest.raises(OSError, match="No such file or directory"):
            result.write_html(tmp_path / "nowhere" / "r.html")
        with pytest.raises(IsADirectoryError):
            result.write_html(tmp_path)
        assert list(tmp_path.iterdir()) == []

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
        from trueness.report._figures import WIDTH, reliability_chart

        for metric in ("vce", "ece", "uce"):
            chart = reliability_chart(reliability(answer, metric))
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

    def test_one_row(self):
        page = report.page(tn.assess([0], [[0.999, 0.001]], rng=0))
        assert "<h2>Too few rows to tell</h2>" in page
        assert ">1 row · 2 classes" in page
        assert "1 rows" not in page

    def test_groups_too_small_to_assess_are_counted(self):
        page = report.page(tn.assess(*rows(900), groups=[str(k % 90) for k in range(900)], rng=0))
        assert "90 of 90 groups were not assessed" in page


class TestNotebook:
    def test_it_shows_the_verdict_the_numbers_and_the_diagram(self, result):
        reader = read(result._repr_html_())
        seen = reader.text()
        assert "Over-confident" in seen
        assert sentence_of(result.verdict) in seen
        assert number(result.vce.debiased) in seen
        assert len(reader.named("svg")) == 1

    def test_it_has_neither_scripts_nor_ids_and_keeps_its_rules_to_itself(self, result):
        reader = read(result._repr_html_())
        assert reader.named("script") == []
        assert [a for _, a in reader.elements if "id" in a] == []
        rules = re.sub(r"@media[^{]*", "", reader.text("style"))
        for selector in re.findall(r"([^{}]+)\{", rules):
            for part in selector.split(","):
                assert not part.strip() or part.strip().startswith(".trueness")

    def test_an_evil_measure(self):
        evil = tn.Variation("</style><script>x</script>", tn.variations["iqv"].function)
        assert read(tn.assess(*rows(300), variation=evil, rng=0)._repr_html_()).named("script") == []

    def test_without_warnings(self, result):
        assert "<ul>" not in replace(result, warnings=())._repr_html_()


def test_numbers_in_words():
    assert [number(x, True, 2) for x in (-0.5, 0.25, math.nan, -math.inf, math.inf)] == [
        "−0.50",
        "+0.25",
        "–",
        "−∞",
        "∞",
    ]
    assert [p_text(p) for p in (0.04, 1e-9, 1.0, math.nan)] == [
        "0.040",
        "<\u202f0.001",
        ">\u202f0.99",
        "–",
    ]


def test_ticks():
    assert [words for _, words in linear_ticks(0.48, 0.72)] == ["0.5", "0.55", "0.6", "0.65", "0.7"]
    assert [words for _, words in log_ticks(1e-7, 1)] == ["10⁻⁶", "0.0001", "0.01", "1"]
    assert log_ticks(2, 5) == []
