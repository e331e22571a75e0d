"""Tables of named cells as data frames, CSV, Markdown, LaTeX and text; results as plain values."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

import numpy as np

from trueness.formatting import aligned, decimals_of, estimate, number, p_cell, shortened, visible

FRAMES: tuple[Literal["pandas", "polars"], ...] = ("pandas", "polars")
"""The libraries of data frames, in the order of preference."""

MOST_LINES = 40
"""Rows that are shown as text; frames and files have all."""


class Marked(NamedTuple):
    """A cell with a text for people, which may be the best of its column."""

    text: str
    best: bool = False


class Listing(NamedTuple):
    r"""Rows of named cells. Numbers keep all digits; only what is made for people rounds them.

    A column `vce` may have its interval in `vce_low` and `vce_high`, and the column before `low`
    and `high` has its interval there; people see both in one cell. p-values are in columns whose
    names end in `p_value`.

    >>> Listing(("group", "vce"), (("a", 0.5), ("b", None))).csv()
    'group,vce\na,0.5\nb,\n'
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, object]]) -> Listing:
        """Rows that have the same names in the same order."""
        columns = tuple(rows[0]) if rows else ()
        return cls(columns, tuple(tuple(row[name] for name in columns) for row in rows))

    def to_dict(self) -> dict[str, list[object]]:
        """The columns by name; what is missing or not a number is None."""
        return {name: [_known(row[k]) for row in self.rows] for k, name in enumerate(self.columns)}

    def to_frame(self) -> Any:
        """As a data frame of pandas or polars, whichever is installed, else a dict of columns."""
        library = next((name for name in FRAMES if find_spec(name) is not None), None)
        if library is None:
            return self.to_dict()
        import narwhals as nw

        return nw.from_dict(self.to_dict(), backend=library).to_native()

    def csv(self) -> str:
        """As CSV with a header and all digits; missing values are empty."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([_spreadsheet_value(value) for value in row] for row in self.rows)
        return out.getvalue()

    def markdown(self) -> str:
        r"""As a table of Markdown with the best cells in bold.

        >>> print(Listing(("model", "VCE"), (("a|b", Marked("0.01", True)),)).markdown(), end="")
        | model | VCE |
        | --- | --- |
        | a\|b | **0.01** |
        """
        heads, *body = self.texts(_markdown, "**{}**")
        lines = [heads, ["---"] * len(heads), *body]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def latex(self) -> str:
        r"""As a tabular of LaTeX with the rules of booktabs and the best cells in bold.

        >>> print(Listing(("of", "p_value"), (("a & b", 0.5),)).latex(), end="")
        \begin{tabular}{lr}
        \toprule
        of & p\_value \\
        \midrule
        a \& b & 0.5 \\
        \bottomrule
        \end{tabular}
        """
        heads, *body = self.texts(_latex, r"\textbf{{{}}}")
        sides = "".join("r" if right else "l" for right in are_numbers(body, len(heads)))
        lines = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule"]
        lines += [rf"{' & '.join(heads)} \\", r"\midrule"]
        lines += [rf"{' & '.join(row)} \\" for row in body]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])

    def lines(self, width: int = 100) -> list[str]:
        """As aligned lines of text under their heads; what is too long ends in "…"."""
        heads, *body = self.texts(lambda text: shortened(text, 40), "{}")
        lines = aligned([heads, *body], are_numbers(body, len(heads)))
        if (more := len(body) - MOST_LINES) > 0:
            lines = [*lines[:-more], f"… and {more:,} more"]
        return [line if len(line) <= width else f"{line[: width - 1]}…" for line in lines]

    def texts(self, escape: Callable[[str], str], bold: str) -> list[list[str]]:
        """Heads and cells for people: values beside their intervals, no columns that are empty.

        Numbers without intervals have the decimals of the largest in their column.
        """
        names, by_name = self.columns, self.to_dict()
        ends = {name: (f"{name}_low", f"{name}_high") for name in names if f"{name}_low" in names}
        if "low" in names:
            ends[names[names.index("low") - 1]] = ("low", "high")
        hidden = {end for pair in ends.values() for end in pair}
        shown: list[list[str]] = []
        for name, cells in by_name.items():
            if name in hidden or all(it is None for it in cells):
                continue
            low, high = (by_name[end] for end in ends.get(name, (name, name)))
            largest = max((abs(it) for it in cells if isinstance(it, float)), default=0.0)
            places = None if name in ends else decimals_of(largest)
            column = [escape(name)]
            values: Iterator[tuple[Any, Any, Any]] = zip(cells, low, high, strict=True)
            for value, *interval in values:
                if isinstance(value, Marked):
                    text = escape(value.text)
                    column.append(bold.format(text) if value.best else text)
                elif name.endswith("p_value"):
                    column.append(escape("" if value is None else p_cell(value)))
                else:
                    column.append(escape(_text(value, interval, places)))
            shown.append(column)
        return [list(row) for row in zip(*shown, strict=True)] or [[]]


def _text(value: Any, interval: Sequence[Any], places: int | None) -> str:
    if isinstance(value, float) and places is None:
        return " ".join(estimate(value, *interval)).strip()
    if isinstance(value, float):
        return number(value, places)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "" if value is None else visible(str(value))


def are_numbers(body: Sequence[Sequence[str]], n_columns: int) -> list[bool]:
    """Which columns hold numbers alone."""
    return [all(row[k][:1] in "$0123456789+-<>&" for row in body) for k in range(n_columns)]


def plain(value: object) -> Any:
    """The value as numbers, lists, strings and dicts; what JSON cannot hold is None.

    >>> plain({"a": (1, math.inf), "b": np.array([0.5])})
    {'a': [1, None], 'b': [0.5]}
    """
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _spreadsheet_value(value: object) -> object:
    """A value in CSV; a text that a spreadsheet would take for a formula begins with a quote."""
    if isinstance(value, Marked):
        value = value.text
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return "" if _known(value) is None else value


def _markdown(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
}


def _latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)
