"""Names from outside: none becomes markup or code, and the page loads and sends nothing."""

import base64
import hashlib
import json
import re

from html_reader import HOSTILE, read, rows

import trueness as tn
from trueness import old_report as report
from trueness._markup import json_text, tag


class TestHostileNames:
    def test_no_name_becomes_an_element(self, page):
        reader = read(page)
        plain = read(report.page(tn.assess(*rows(), rng=7, groups=[f"g{k % 9}" for k in range(1500)])))
        kinds = [name for name, _ in reader.elements]
        expected = [name for name, _ in plain.elements]
        assert sorted(set(kinds)) == sorted(set(expected))
        assert len(kinds) == len(expected)
        assert len(reader.named("script")) == 2

    def test_names_are_shown_unchanged(self, page):
        names = re.findall(r"<bdi>(.*?)</bdi>", page)
        seen = read(" ".join(names)).text()
        for name in HOSTILE[:5]:
            assert name in seen
        assert "\ufffd\ufffd\ufffd[31m" in seen
        assert not re.search("[\x00-\x08\x0b-\x1f\u202e\ud800-\udfff]", page)
        page.encode()  # fails for a lone surrogate

    def test_embedded_names_are_complete(self, page, tmp_path):
        path = tmp_path / "r.html"
        path.write_text(page, encoding="utf-8")
        assert set(report.read(path).groups) == set(HOSTILE)

    def test_a_custom_measure_with_a_hostile_name(self):
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

    def test_the_security_policy_comes_first_and_has_the_hashes_of_style_and_script(self, page):
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
