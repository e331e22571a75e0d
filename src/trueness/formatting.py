"""Numbers, p-values, counts and names as text, by one rule each.

A number with an interval has as many decimals as two digits of the interval's width; one without
has three digits that count. A p-value has at most two digits, and none is smaller than 0.0001. What
is missing is a dash, and whoever prints it says why. Nothing here prints "nan" or "inf".
"""

from __future__ import annotations

import math
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence


def decimals(low: float, high: float) -> int:
    """How many decimals show two digits of the width of an interval: 1 to 6.

    >>> decimals(0.0763, 0.1662), decimals(0.00512, 0.00533), decimals(-0.41, 0.48)
    (3, 5, 2)
    """
    width = abs(high - low)
    if not 0 < width < math.inf:
        return 3
    return min(max(1 - math.floor(math.log10(width)), 1), 6)


def decimals_of(value: float) -> int:
    """Decimals of a number without an interval: three digits that count, at most four decimals."""
    if value == 0 or not math.isfinite(value) or abs(value) >= 99.95:
        return 0
    return min(max(2 - math.floor(math.log10(abs(value) * (1 + 5e-4))), 0), 4)


def number(value: float | None, places: int | None = None, *, sign: bool = False) -> str:
    """A number; `places` are its decimals, otherwise it has three digits that count.

    >>> number(0.07542), number(1234.5), number(0.07542, 3, sign=True), number(None)
    ('0.0754', '1,234', '+0.075', '–')
    >>> number(math.inf), number(-1e-9, 3), number(0.00001)
    ('infinite', '0.000', '0.0000')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    digits = decimals_of(value) if places is None else places
    return f"{value:{'+' if sign and value else ''}z,.{digits}f}"


def estimate(
    value: float | None, low: float | None, high: float | None, *, sign: bool = False
) -> tuple[str, str]:
    """A number and its interval in brackets, which is empty if there is none.

    >>> estimate(0.1204, 0.0763, 0.1662), estimate(0.1204, None, None)
    (('0.120', '[0.076, 0.166]'), ('0.120', ''))
    """
    if low is None or high is None:
        return number(value, sign=sign), ""
    places = decimals(low, high)
    shown, first, last = (number(each, places, sign=sign) for each in (value, low, high))
    return shown, f"[{first}, {last}]"


def percent(share: float) -> str:
    """A share in percent; 0 % and 100 % are exact.

    >>> percent(0.6134), percent(0.99998), percent(1.0), percent(0.0004)
    ('61.3 %', '99.998 %', '100 %', '0.04 %')
    """
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    near = min(abs(share), abs(1 - share))
    places = 1 if near >= 5e-4 else min(-2 - math.floor(math.log10(near)), 6)
    return f"{100 * share:.{places}f} %"


def p_value(p: float | None) -> str:
    """A p-value in a sentence, with two digits at most.

    >>> p_value(0.0421), p_value(1e-9), p_value(0.9996), p_value(None)
    ('p = 0.042', 'p < 0.0001', 'p > 0.99', 'no p-value')
    """
    if p is None:
        return "no p-value"
    text = p_cell(p)
    return f"p {text[0]} {text[1:]}" if text[0] in "<>" else f"p = {text}"


def p_cell(p: float | None) -> str:
    """A p-value in a column: "0.042", "<0.0001", ">0.99"."""
    if p is None or math.isnan(p):
        return "–"
    if p < 1e-4:
        return "<0.0001"
    return ">0.99" if p > 0.99 else f"{p:.2g}"


def count(rows: float) -> str:
    """A number of rows, or a sum of weights.

    >>> count(12345), count(49203.0), count(2.561), count(1234.5)
    ('12,345', '49,203', '2.56', '1,234')
    """
    return f"{rows:,.0f}" if float(rows).is_integer() else number(rows)


def counted(rows: float, one: str, many: str | None = None) -> str:
    """A count with its noun: "1 row", "1,200 rows"."""
    return f"{count(rows)} {one if rows == 1 else many or one + 's'}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Names in a sentence; beyond `most` the rest is counted.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c", "d", "e"])
    ('a', 'a and b', 'a, b, c and 2 more')
    """
    shown = [shortened(name, 60) for name in names]
    if len(shown) > most:
        shown = [*shown[:most], f"{len(shown) - most} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def visible(text: str) -> str:
    """The text with control characters, direction marks and lone surrogates escaped."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def shortened(text: str, most: int) -> str:
    """The text in one line of at most so many characters."""
    flat = " ".join(visible(text).split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def wrapped(text: str, width: int, start: str = "") -> list[str]:
    """The text in lines of at most `width`, the first with `start` and others indented as far."""
    lines = textwrap.wrap(text, max(width - len(start), 10), break_on_hyphens=False)
    return [(" " * len(start) if k else start) + line for k, line in enumerate(lines)]


def columns(text: str) -> int:
    """How many columns of a terminal a text takes; Chinese letters take two.

    >>> columns("Oslo"), columns("北京")
    (4, 4)
    """
    return len(text) + sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)


def aligned(rows: Iterable[Sequence[str]], right: Sequence[bool]) -> list[str]:
    """Lines in which each column has one width; the columns marked `right` end alike.

    >>> aligned([["VCE", "0.120"], ["accuracy", "+0.613"]], [False, True])
    ['VCE        0.120', 'accuracy  +0.613']
    """
    lines = [list(row) for row in rows]
    for k, column in enumerate(zip(*lines, strict=True)):
        width = max(map(columns, column))
        for line in lines:
            space = " " * (width - columns(line[k]))
            line[k] = f"{space}{line[k]}" if right[k] else f"{line[k]}{space}"
    return ["  ".join(line).rstrip() for line in lines]
