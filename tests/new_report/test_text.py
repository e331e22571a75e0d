"""A document as text."""

from __future__ import annotations

import pytest
from answered import MAKERS, answered

from trueness.formatting import columns
from trueness.report.text import text


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("width", [80, 100])
def test_lines_fit_and_can_be_printed(name: str, width: int) -> None:
    lines = text(answered(name).document(), width).splitlines()
    assert max(map(columns, lines)) <= width
    assert all(line.isprintable() for line in lines)


def test_the_answer_is_first_and_charts_follow() -> None:
    lines = text(answered("one group").document(), 100).splitlines()
    assert "\n".join(lines).startswith(str(answered("one group")))
    assert "Reliability by entropy" in lines
    assert "Ranks of the true class" in lines


def test_what_is_folded_can_be_left_out() -> None:
    document = answered("one group").document()
    short, whole = text(document, folded=False), text(document)
    assert "Bins of confidence" in whole
    assert "Bins of confidence" not in short
    assert len(short) < len(whole)


def test_headlines_are_bold_where_colour_is_wanted() -> None:
    document = answered("one group").document()
    assert text(document, color=True).startswith("\033[1m")
    assert "\033" not in text(document)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_every_encoding_can_show_it(encoding: str) -> None:
    found = text(answered("one group").document(), encoding=encoding)
    assert found.encode(encoding)
    assert ("│" in found) == (encoding == "utf-8")
