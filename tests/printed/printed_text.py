"""What `print` and the command show, as numbers with names.

`printed_text.txt` changes with the text, its names do not: on each line the names of the groups of
a pattern, and the pattern; further lines are indented. `@` stands for the first group, a label.
Every number must belong to a name.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

MACROS = {
    "N": r"([-+]?\d[\d,]*\.?\d*(?:e[-+]\d+)?|inf(?:inite)?)",
    "P": r"([<>]?\d\.\d+)",
    "LABEL": r"([\w-]+)",
    "METRIC": "VCE|net gap|ECE|RCE W1|RCE|classwise total|classwise ECE|class gap",
    "EVENT": r"gap in the large|spread \(signed root\)|Cox slope|Cox intercept|ECE, plug-in"
    r"|ECE, debiased|RMS error, plug-in|RMS error, debiased|largest gap of a bin|ICI \(loess\)"
    r"|E50|E90|Emax|KS|Kuiper|Spiegelhalter Z|Hosmer-Lemeshow|log-score Z|Brier score|log-loss",
}
TEXT = re.sub(r"\n {4}", "", Path(__file__).with_suffix(".txt").read_text("utf-8"))


class Shown(NamedTuple):
    """A number in a text."""

    name: str
    text: str

    @property
    def value(self) -> float:
        return float(self.text.strip("<>").replace(",", "").replace("inite", ""))

    @property
    def unit(self) -> float:
        """The last digit that is shown."""
        digits, _, power = self.text.partition("e")
        return 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))


def numbers_in(text: str) -> tuple[list[Shown], list[str]]:
    """The numbers that have a name; and those that have none, each with its line."""
    shown: list[Shown] = []
    claimed: set[int] = set()
    for line in TEXT.splitlines():
        names, _, pattern = line.partition(" |")
        pattern = re.sub(r"\{([A-Z]+)\}", lambda found: MACROS[found.group(1)], pattern.removeprefix(" "))
        for found in re.finditer(pattern, text, re.MULTILINE):
            groups = [(found.group(k), range(*found.span(k))) for k in range(1, found.re.groups + 1)]
            label, where = groups.pop(0) if "@" in names else ("", range(0))
            for name, (number, span) in zip(names.split(";"), groups, strict=True):
                if number is not None and not claimed.intersection(span):
                    claimed.update(span)
                    shown += [Shown(name.replace("@", label or "").strip(), number)] if name else []
            claimed.update(where)
    tokens = re.finditer(rf"(?<![\w.]){MACROS['N']}(?!\w)", text)
    lost = [token for token in tokens if not claimed.intersection(range(*token.span()))]
    return shown, [
        f"{it.group()} in {text.splitlines()[text.count(chr(10), 0, it.start())]!r}" for it in lost
    ]
