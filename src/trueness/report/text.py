"""A document as text: for a terminal, a log, an e-mail.

The answer comes first; sections follow in their order, with charts in characters. Lines are at most
as long as asked for. What an encoding lacks, as the code pages of Windows lack the signs of charts,
is replaced by a plain character of the same width.
"""

from __future__ import annotations

from collections.abc import Iterator

from trueness.charts.chart import Chart
from trueness.document import WIDTH, Document, Section
from trueness.formatting import columns

NARROW = 80
"""What every terminal has."""

_BOLD, _PLAIN = "\033[1m", "\033[0m"

_SIMPLER = dict(zip("●○│┊─−–└░▒█▇▆▅▄▃▂▁·…", "o.||---+::#####___.~", strict=True))
"""Plain characters that look alike."""


def text(
    document: Document,
    width: int = WIDTH,
    *,
    color: bool = False,
    folded: bool = True,
    encoding: str = "utf-8",
) -> str:
    """The document in lines of at most `width` columns, 80 at least.

    With `color` headline and titles are bold. Sections that a page folds are without their charts,
    and without `folded` left out.
    """
    width = max(width, NARROW)
    return "\n".join(encodable(line, encoding) for line in _lines(document, width, color, folded))


def _lines(document: Document, width: int, color: bool, folded: bool) -> Iterator[str]:
    first, *rest = document.answer.lines(width)
    yield f"{_BOLD}{first}{_PLAIN}" if color else first
    yield from (_cut(line, width) for line in rest)
    yield ""
    yield from (_cut(line, width) for line in document.facts)
    for section in document.sections:
        if folded or not section.folded:
            yield from _section(section, width, color)


def _section(section: Section, width: int, color: bool) -> Iterator[str]:
    shown = (it for it in section.parts if not (section.folded and isinstance(it, Chart)))
    empty, title, rule, *lines = section._replace(parts=tuple(shown)).lines(width)
    yield from (empty, f"{_BOLD}{title}{_PLAIN}", rule) if color else (empty, title, rule)
    yield from (_cut(line, width) for line in lines)


def _cut(line: str, width: int) -> str:
    """The line, or as much of it as fits, with "…" at its end."""
    if columns(line) <= width:
        return line
    while columns(line) >= width:
        line = line[:-1]
    return f"{line}…"


def encodable(line: str, encoding: str) -> str:
    """The line with characters that the encoding has.

    >>> encodable("●──│ 北京", "cp1252"), encodable("● Øst", "utf-8")
    ('o--| ??', '● Øst')
    """
    try:
        line.encode(encoding)
    except UnicodeEncodeError:
        line = "".join(_SIMPLER.get(letter, letter) for letter in line)
        line = line.encode(encoding, "replace").decode(encoding)
    return line
