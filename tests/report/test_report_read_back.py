"""The tables inside a report, and the calls that give its numbers again."""

import re

import numpy as np
import pytest
from html_reader import read, rows

import trueness as tn
from trueness import old_report as report
from trueness.old_table import file as table_file


class TestReadBack:
    def test_tables_come_back_to_the_last_bit(self, result, tmp_path):
        path = tmp_path / "report.html"
        result.write_html(path)
        assert report.tables_in(path) == [result.table, result.confidence_table]
        assert report.tables_in(str(path))[0] == result.table

    def test_the_printed_code_gives_the_same_assessment(self, tmp_path, monkeypatch):
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

    def test_arguments_that_the_report_lacks_are_named(self):
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
        assert "The table and the sums of its clusters are in this file" in seen
        assert "100 clusters" in seen

    @pytest.mark.parametrize("groups", [None, ["a", "b"] * 300])
    @pytest.mark.parametrize("n_clusters", [60, 300])
    def test_clusters_are_in_the_file(self, tmp_path, groups, n_clusters):
        """The code of the report gives the same assessment, whose noise is that of clusters."""
        who = np.arange(600) % n_clusters
        answer = tn.assess(*rows(600), clusters=who, groups=groups, rng=3, resamples=99, min_group_size=1)
        path = tmp_path / "report.html"
        answer.write_html(path)
        saved = report.read(path)
        assert saved.tables == answer.tables
        (code,) = re.findall(r"import trueness\n.*\n\)", read(path.read_text()).text("pre"), re.DOTALL)
        scope = {}
        exec(code.replace("report.html", str(path)), scope)
        assert scope["result"] == answer
        assert answer.n_clusters == n_clusters

    def test_clusters_that_would_take_too_much(self, tmp_path, monkeypatch):
        monkeypatch.setattr("trueness.old_report._embedded.MOST_FOR_CLUSTERS", 10_000)
        answer = tn.assess(*rows(600), clusters=np.arange(600) % 60, groups=["a", "b"] * 300, resamples=99)
        path = tmp_path / "report.html"
        answer.write_html(path)
        saved = report.read(path)
        assert saved.tables.clusters is None
        assert saved.tables.stored == answer.tables.stored
        assert all(tables.clusters is None for tables in saved.groups.values())
        seen = read(path.read_text()).text()
        assert "the sums of its clusters are not: they would make it too large" in seen

    def test_a_custom_measure_must_be_passed(self, tmp_path):
        own = tn.Variation("gini", lambda x: 1 - (x**2).sum(axis=-1), range=lambda c: (0, 1 - 1 / c))
        answer = tn.assess(*rows(300), variation=own, rng=0)
        path = tmp_path / "own.html"
        answer.write_html(path)
        with pytest.raises(ValueError, match="measure 'gini'"):
            report.tables_in(path)
        assert report.tables_in(path, own)[0] == answer.table
        assert "variation=gini)" in path.read_text(encoding="utf-8")

    def test_tables_by_class_come_back(self, tmp_path):
        path = tmp_path / "r.html"
        answer = tn.assess(*rows(), groups=["a", "b"] * 750, rng=0)
        answer.write_html(path)
        saved = report.read(path)
        assert saved.tables == answer.tables
        assert saved.tables.by_class == tn.tabulate_events(*rows())
        assert [tables.by_class for tables in saved.groups.values()] == [
            group.assessment.tables.by_class for group in answer.groups
        ]
        assert "too large" not in path.read_text(encoding="utf-8")

    @pytest.mark.parametrize(
        ("limit", "kept", "words"),
        [
            (20_000, ["a", "b"], "The tables by class of the groups are not in this file"),
            (1_000, [], "The tables of the groups are not in this file"),
        ],
    )
    def test_groups_are_kept_without_tables_by_class_if_these_are_too_large(
        self, tmp_path, monkeypatch, limit, kept, words
    ):
        monkeypatch.setattr("trueness.old_report._embedded.MOST_FOR_GROUPS", limit)
        path = tmp_path / "r.html"
        answer = tn.assess(*rows(), groups=["a", "b"] * 750, rng=0)
        answer.write_html(path)
        saved = report.read(path)
        assert saved.tables == answer.tables
        assert list(saved.groups) == kept
        for group in answer.groups[: len(kept)]:
            assert saved.groups[group.name] == group.assessment.tables.without_events()
        assert words in path.read_text(encoding="utf-8")

    @pytest.mark.parametrize(
        ("spoil", "words"),
        [
            (lambda text: text[:9], "has no tables; pass a complete report written by trueness"),
            (lambda text: text[: text.index("</script>")], "has no tables"),
            (lambda text: text.replace(f'"schema": {table_file.SCHEMA}', '"schema": 99'), "schema 99"),
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
    def test_damaged_reports_are_refused(self, result, tmp_path, spoil, words):
        path = tmp_path / "r.html"
        text = report.page(result)
        assert spoil(text) != text
        path.write_text(spoil(text), encoding="utf-8")
        with pytest.raises(ValueError, match=re.escape(words)):
            report.tables_in(path)

    def test_reports_are_recognised_by_their_ending(self):
        assert report.is_report("a/B.HTML")
        assert report.is_report("x.htm")
        assert not report.is_report("table.json")

    def test_tables_of_many_groups_are_left_out_with_a_note(self, tmp_path):
        many = tn.assess(*rows(), rng=0, groups=np.arange(1500) % 300, min_group_size=1, resamples=39)
        path = tmp_path / "many.html"
        many.write_html(path)
        assert report.read(path).groups == {}
        assert report.tables_in(path)[0] == many.table
        assert "they would make it too large" in path.read_text(encoding="utf-8")
        assert path.stat().st_size < 1_000_000
