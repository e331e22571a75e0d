"""Rows of named cells as data frames, CSV, Markdown and LaTeX: the one place where results become such tables."""

from __future__ import annotations

import csv
import io
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, ClassVar, Literal, NamedTuple

from trueness._printing import p_text, visible
from trueness.refusals import InvalidValueError

DIGITS = 4
FRAMES: tuple[Literal["pandas", "polars"], ...] = ("pandas", "polars")
"""The libraries of data frames, in the order of preference."""

Rows = Sequence[Mapping[str, Any]]
"""Rows that have the same names in the same order."""


class Marked(NamedTuple):
    """A cell with a text for people, which may be the best of its column."""

    text: str
    best: bool = False


class Tabular:
    """A result with tables of named cells. `tables_of_cells` lists their names, the usual one first."""

    __slots__ = ()
    tables_of_cells: ClassVar[tuple[str, ...]]

    @abstractmethod
    def _cells(self, of: str) -> Rows:
        """The rows of a table."""

    def _printed_cells(self, of: str) -> Rows:
        """The rows of a table as Markdown and LaTeX show them: intervals beside their values, no empty columns."""
        return for_people(self._cells(of))

    def to_frame(self, of: str | None = None) -> Any:
        """A table as a data frame: of pandas or polars, whichever is installed, else a dict of columns.

        `of` names the table: "metrics", "groups" or "bins" of an assessment, "differences", "models" or "groups" of a
        comparison, "bins" of a calibration table; `tables_of_cells` lists those of a result. Missing values are None.
        """
        columns = columns_of(self._cells(self._name(of)))
        library = next((name for name in FRAMES if find_spec(name) is not None), None)
        if library is None:
            return columns
        import narwhals as nw

        return nw.from_dict(columns, backend=library).to_native()

    def to_csv(self, of: str | None = None) -> str:
        """A table as CSV with all digits; `of` as in `to_frame`."""
        return csv_text(self._cells(self._name(of)))

    def to_markdown(self, of: str | None = None) -> str:
        """A table as Markdown; `of` as in `to_frame`."""
        return markdown_text(self._printed_cells(self._name(of)))

    def to_latex(self, of: str | None = None) -> str:
        """A table as a LaTeX tabular with the rules of booktabs; `of` as in `to_frame`."""
        return latex_text(self._printed_cells(self._name(of)))

    def _name(self, of: str | None) -> str:
        """The table that is meant."""
        name = self.tables_of_cells[0] if of is None else of
        if name not in self.tables_of_cells:
            names = ", ".join(self.tables_of_cells)
            cause = f"of must be one of {names}, got {of!r}"
            remedy = f"leave it out for {self.tables_of_cells[0]}"
            raise InvalidValueError("unknown-table", cause, remedy, argument="of", value=of)
        return name


def for_people(rows: Rows) -> Rows:
    """The rows with each value and its interval in one cell, without columns that are empty in all rows.

    The interval of `vce` is in `vce_low` and `vce_high`; `low` and `high` belong to the column before them.

    >>> for_people([{"model": "a", "vce": 0.5, "vce_low": 0.25, "vce_high": 0.75, "reason": None}])
    [{'model': 'a', 'vce': '0.5000 [0.2500, 0.7500]'}]
    """
    names = list(rows[0] if rows else ())
    ends = {name: (f"{name}_low", f"{name}_high") for name in names if f"{name}_low" in names}
    if "low" in names:
        ends[names[names.index("low") - 1]] = ("low", "high")
    hidden = {end for pair in ends.values() for end in pair}
    shown = [
        name for name in names if name not in hidden and any(_value(row[name]) is not None for row in rows)
    ]
    return [{name: _with_interval(row, name, ends.get(name)) for name in shown} for row in rows]


def _with_interval(row: Mapping[str, Any], name: str, ends: tuple[str, str] | None) -> Any:
    if ends is None or _value(row[name]) is None:
        return row[name]
    low, high = (_shown(end, row[end]) for end in ends)
    return f"{_shown(name, row[name])} [{low}, {high}]"


def columns_of(rows: Rows) -> dict[str, list[Any]]:
    """The rows as columns; NaN is None.

    >>> columns_of([{"bin": 1, "gap": 0.5}, {"bin": 2, "gap": math.nan}])
    {'bin': [1, 2], 'gap': [0.5, None]}
    """
    return {name: [_value(row[name]) for row in rows] for name in (rows[0] if rows else ())}


def csv_text(rows: Rows) -> str:
    r"""The rows as CSV with a header; missing values are empty.

    >>> csv_text([{"bin": 1, "gap": 0.5}, {"bin": 2, "gap": None}])
    'bin,gap\n1,0.5\n2,\n'
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(rows[0] if rows else ())
    writer.writerows([_spreadsheet_value(value) for value in row.values()] for row in rows)
    return out.getvalue()


def markdown_text(rows: Rows) -> str:
    r"""The rows as a table of Markdown, with the best cells in bold.

    >>> print(markdown_text([{"model": "a|b", "VCE": Marked("0.01", best=True)}]), end="")
    | model | VCE |
    | --- | --- |
    | a\|b | **0.01** |
    """
    lines = [list(rows[0] if rows else ()), ["---"] * len(rows[0] if rows else ())]
    lines += [[_markdown_cell(name, value) for name, value in row.items()] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def latex_text(rows: Rows) -> str:
    r"""The rows as a tabular of LaTeX with the rules of booktabs, with the best cells in bold.

    >>> print(latex_text([{"p_value": 0.5, "of": "a & b"}]), end="")
    \begin{tabular}{rl}
    \toprule
    p\_value & of \\
    \midrule
    0.500 & a \& b \\
    \bottomrule
    \end{tabular}
    """
    first = rows[0] if rows else {}
    alignment = "".join("r" if _is_number_column(rows, name) else "l" for name in first)
    head = " & ".join(_escaped(name) for name in first)
    body = [" & ".join(_latex_cell(name, value) for name, value in row.items()) for row in rows]
    lines = [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule", rf"{head} \\", r"\midrule"]
    lines += [rf"{line} \\" for line in body]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _value(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _spreadsheet_value(value: Any) -> Any:
    """A value in CSV; a text that a spreadsheet would take for a formula is quoted by an apostrophe."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return "" if _value(value) is None else value


def _is_number_column(rows: Rows, name: str) -> bool:
    return all(row[name] is None or isinstance(row[name], (int, float)) for row in rows)


def _shown(name: str, value: Any) -> str:
    """A value as people read it: p-values and other numbers with few digits."""
    if _value(value) is None:
        return ""
    if isinstance(value, float):
        return p_text(value) if name.endswith("p_value") else f"{value:.{DIGITS}f}"
    return visible(value.text if isinstance(value, Marked) else str(value))


def _markdown_cell(name: str, value: Any) -> str:
    text = _shown(name, value).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
    return f"**{text}**" if isinstance(value, Marked) and value.best else text


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "−": r"$-$",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
}


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)


def _latex_cell(name: str, value: Any) -> str:
    text = _escaped(_shown(name, value))
    return rf"\textbf{{{text}}}" if isinstance(value, Marked) and value.best else text
