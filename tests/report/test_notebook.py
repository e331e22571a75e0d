"""An assessment in a notebook."""

import re
from dataclasses import replace

from html_reader import read, rows

import trueness as tn
from trueness.old_report._numbers import number, sentence_of


class TestNotebook:
    def test_it_shows_the_verdict_the_numbers_and_the_diagram(self, result):
        reader = read(result._repr_html_())
        seen = reader.text()
        assert "Over-confident" in seen
        assert sentence_of(result.verdict) in seen
        assert number(result.vce.debiased) in seen
        assert len(reader.named("svg")) == 1

    def test_it_has_no_scripts_no_ids_and_only_scoped_rules(self, result):
        reader = read(result._repr_html_())
        assert reader.named("script") == []
        assert [a for _, a in reader.elements if "id" in a] == []
        rules = re.sub(r"@media[^{]*", "", reader.text("style"))
        for selector in re.findall(r"([^{}]+)\{", rules):
            for part in selector.split(","):
                assert not part.strip() or part.strip().startswith(".trueness")

    def test_a_hostile_measure_name(self):
        evil = tn.Variation("</style><script>x</script>", tn.variations["iqv"].function)
        assert read(tn.assess(*rows(300), variation=evil, rng=0)._repr_html_()).named("script") == []

    def test_without_warnings(self, result):
        assert "<ul>" not in replace(result, warnings=())._repr_html_()
