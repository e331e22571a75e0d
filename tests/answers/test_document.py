"""An answer is short, whatever it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.document import Answer, Caution, Document, Entry, Forest, Section
from trueness.listing import Listing
from trueness.report.text import text as text_of

WORDS = st.text("abcdefghij klmnop 0123456789.,-", max_size=300)
NUMBERS = st.none() | st.floats(-10, 10)
ENTRIES = st.builds(Entry, WORDS, NUMBERS, NUMBERS, NUMBERS, st.none(), WORDS, st.booleans())


def answer_of(**changes: object) -> Answer:
    given = {
        "headline": "Over-confident: it states 69.1 % and is right in 61.3 % of 2,000 rows.",
        "numbers": Forest("", "share", (Entry("VCE", 0.1204, 0.0763, 0.1662, None, "noise"),)),
        "certainty": "p < 0.0001.",
        "where": ("group a",),
        "advice": "Divide the logits by about 1.5.",
        "warnings": (Caution("ties", "Ties."),),
    }
    return Answer(**(given | changes))  # type: ignore[arg-type]


@given(
    WORDS,
    st.lists(ENTRIES, max_size=5),
    WORDS,
    st.lists(WORDS, max_size=9),
    WORDS,
    st.lists(WORDS, max_size=9),
)
def test_at_most_fifteen_lines_of_a_hundred(
    headline: str,
    entries: list[Entry],
    certainty: str,
    where: list[str],
    advice: str,
    warnings: list[str],
) -> None:
    cautions = tuple(Caution("code", text) for text in warnings)
    numbers = Forest("", "share", tuple(entries))
    text = str(Answer(headline, numbers, certainty, tuple(where), advice, cautions))
    assert len(text.splitlines()) <= 15
    assert max(map(len, text.splitlines()), default=0) <= 100


def test_the_conclusion_comes_first() -> None:
    lines = str(answer_of()).splitlines()
    assert lines[0].startswith("Over-confident")
    assert lines[2] == "VCE  0.120  [0.076, 0.166]  noise"
    assert lines[-2:] == ["What to do: Divide the logits by about 1.5.", "Warning: Ties."]


def test_more_than_five_numbers_are_no_answer() -> None:
    with pytest.raises(ValueError, match="at most 5"):
        answer_of(numbers=Forest("", "share", (Entry("VCE", 0.1),) * 6))


def test_what_does_not_fit_is_marked() -> None:
    text = str(answer_of(warnings=tuple(Caution("few", f"Warning {k}.") for k in range(30))))
    assert text.endswith(" …")


def test_numbers_are_aligned_with_signs_and_reasons() -> None:
    entries = (
        Entry("gap", 0.05, 0.01, 0.09, signed=True),
        Entry("none", None, words="too few rows"),
        Entry("site", 0.5, rows=1200),
    )
    assert Forest("", "share", entries).lines() == [
        "gap               +0.050  [+0.010, +0.090]",
        "none                   –                    too few rows",
        "site  1,200 rows   0.500",
    ]
    assert Forest("", "share", ()).lines() == []


def test_long_words_are_wrapped_below_their_number() -> None:
    lines = Forest("", "share", (Entry("VCE", 0.1, words="word " * 40),)).lines(60)
    assert len(lines) > 2
    assert {len(line) - len(line.lstrip()) for line in lines[1:]} == {lines[0].index("word")}
    assert max(map(len, lines)) <= 60


def test_a_document_has_its_sections_in_order() -> None:
    listing = Listing(("bin", "gap"), ((1, 0.25),))
    sections = (Section("Bins", ("A sentence.", listing)), Section("Empty", ()))
    text = text_of(Document(answer_of(), ("2,000 rows",), sections))
    assert "2,000 rows\n\nBins\n----\nA sentence.\nbin    gap\n  1  0.250\n\nEmpty\n-----" in text
