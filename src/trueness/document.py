"""What a result says, as data: the answer, and sections of sentences, numbers and tables.

Every sentence is made once, by the result. Text, HTML and pictures are made from these values, so
that no two of them can disagree. `str(answer)` is at most 15 lines of at most 100 characters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from trueness.formatting import aligned, estimate, shortened, wrapped

WIDTH = 100
LINES = 15
MOST_NUMBERS = 5
MOST_PLACES = 3
MOST_ENTRIES = 30


class Caution(NamedTuple):
    """Something that limits what may be concluded, and what to do about it."""

    code: str
    """Short and stable, for programs: "few-rows", "ties", …"""
    text: str


class Entry(NamedTuple):
    """A number with its name and interval: a line of a list, a point of a picture."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    rows: int | None = None
    words: str = ""
    """What else is to be said about it; the reason if it has no value or interval."""
    signed: bool = False
    """Whether a plus sign is shown: the number is a difference."""


class Forest(NamedTuple):
    """Numbers of one unit, beneath one another.

    >>> print(*Forest("", "share", (Entry("VCE", 0.1204, 0.0763, 0.1662),)).lines(), sep="")
    VCE  0.120  [0.076, 0.166]
    """

    title: str
    unit: str
    """What they are numbers of, as the axis of a picture says it."""
    entries: tuple[Entry, ...]

    def lines(self, width: int = WIDTH) -> list[str]:
        """The entries as aligned lines: name, rows, value, interval, words."""
        if not self.entries:
            return []
        cells = []
        for it in self.entries:
            rows = "" if it.rows is None else f"{it.rows:,} rows"
            numbers = estimate(it.value, it.low, it.high, sign=it.signed)
            cells.append([shortened(it.name, 36), rows, *numbers])
        kept = [k for k in range(4) if any(row[k] for row in cells)]
        lines = aligned([[row[k] for k in kept] for row in cells], [k in (1, 2) for k in kept])
        longest = max(map(len, lines))
        starts = [f"{line:{longest}}  " for line in lines]
        pairs = zip(starts, self.entries, strict=True)
        texts = [wrapped(it.words, width, start) or [start.rstrip()] for start, it in pairs]
        shown = [line for text in texts[:MOST_ENTRIES] for line in text]
        more = len(texts) - MOST_ENTRIES
        return [*shown, f"… and {more:,} more"] if more > 0 else shown


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question about a model, for people; printed in at most 15 lines."""

    headline: str
    """What the model does, and by how much."""
    numbers: Forest
    """At most five numbers, VCE among them where the rows have one."""
    certainty: str
    """How sure that is: the only p-value of the answer, or what would be needed to tell."""
    where: tuple[str, ...]
    """In which groups, classes or bins, the clearest first."""
    advice: str
    """What to do."""
    warnings: tuple[Caution, ...]

    def __post_init__(self) -> None:
        if len(self.numbers.entries) > MOST_NUMBERS:
            raise ValueError(f"an answer has at most {MOST_NUMBERS} numbers")

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, width: int = WIDTH) -> list[str]:
        """The answer in at most 15 lines; in at most 21 that are shorter."""
        most = 2 if width >= WIDTH else 4
        places = [line for it in self.where for line in wrapped(it, width, "- ")]
        blocks = [
            _few(wrapped(self.headline, width), most, width),
            [line for it in self.numbers.lines(width) for line in _few([it], 1, width)],
            _few(wrapped(self.certainty, width), most, width),
            _few(places, MOST_PLACES + most - 2, width),
            _few(wrapped(self.advice, width, "What to do: "), most, width),
        ]
        cautions = [line for it in self.warnings for line in wrapped(it.text, width, "Warning: ")]
        left = LINES + 3 * (most - 2) - sum(map(len, blocks))
        if len(cautions) + 2 <= left:
            blocks[1] = ["", *blocks[1], ""]
        return [line for block in [*blocks, _few(cautions, left, width)] for line in block]


def _few(lines: list[str], most: int, width: int) -> list[str]:
    """The first lines; what follows is in the details, and the last line shows it."""
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], f"{lines[most - 1][: width - 2]} …"] if most > 0 else []


class Part(Protocol):
    """A part of a section that can be shown as text: numbers, a table, a chart."""

    def lines(self, width: int = WIDTH) -> list[str]:
        """The part as lines of at most so many characters."""


class Section(NamedTuple):
    """Sentences, numbers, tables and charts under a title."""

    title: str
    parts: tuple[str | Part, ...]
    folded: bool = False
    """Whether a page shows it only when it is asked for."""

    def lines(self, width: int = WIDTH) -> list[str]:
        """The section as text under its underlined title."""
        found = ["", self.title, "-" * len(self.title)]
        for part in self.parts:
            found += wrapped(part, width) if isinstance(part, str) else part.lines(width)
        return found


class Document(NamedTuple):
    """All that a result shows: the answer first, then how it was made, then the sections."""

    answer: Answer
    facts: tuple[str, ...]
    """What was assessed and how: rows, classes, bins, level, resamples and seed."""
    sections: tuple[Section, ...]
    table: str | None = None
    """The saved table as JSON, so that a page can be read back."""
