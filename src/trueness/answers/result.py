"""What all answers share: print, details, plain values, flat numbers, tables."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trueness.arguments import Settings
from trueness.document import WIDTH, Answer, Document
from trueness.listing import Listing, plain
from trueness.refusals import InvalidValueError, nearest
from trueness.table import Table

if TYPE_CHECKING:
    from trueness.answers.verdict import Verdict
    from trueness.charts import Chart


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result(ABC):
    """An answer with the numbers behind it. Print it to read it.

    It is computed when it is made; nothing is computed, locked or drawn at random later.
    """

    answer: Answer
    """For people: headline, numbers, certainty, where, advice, warnings."""
    verdict: Verdict
    """For programs: kind, p-value, size, where."""
    table: Table
    """The sums from which every number was computed."""
    settings: Settings

    @property
    def p_value(self) -> float | None:
        """The only p-value of the answer; None if none can be given."""
        return self.verdict.p_value

    @abstractmethod
    def document(self) -> Document:
        """The answer, how it was made, and all sections."""

    @abstractmethod
    def listings(self) -> Mapping[str, Listing]:
        """The tables of numbers by name, the usual one first."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and strings; None for a missing number."""

    @abstractmethod
    def numbers(self) -> Mapping[str, Any]:
        """The numbers by name; an `Estimate` counts as its parts."""

    def parts(self) -> Mapping[str, Mapping[str, Result]]:
        """The results of groups, models or labels, by kind and name."""
        return {}

    def chart_kinds(self) -> Mapping[str, Callable[[], Chart]]:
        """The pictures by kind, the usual one first; they are made when they are asked for."""
        return {}

    def chart(self, kind: str | None = None) -> Chart:
        """A picture of `chart_kinds()` by its kind; the usual one by default."""
        known = self.chart_kinds()
        kind = next(iter(known), "") if kind is None else kind
        if kind not in known:
            cause, remedy = f"there is no chart {kind!r}", nearest(str(kind), list(known))
            raise InvalidValueError("unknown-chart", cause, remedy, argument="kind", value=kind)
        return known[kind]()

    def plot(
        self, kind: str | None = None, ax: Any = None, label: str | None = None, color: Any = None
    ) -> Any:
        """Draw a picture with matplotlib, and return the axes; on the same axes they overlay."""
        return self.chart(kind).plot(ax, label, color)

    def write_html(self, path: str | os.PathLike[str], title: str | None = None) -> None:
        """Write a report: one HTML page, from which `Table.load` reads the table again."""
        from trueness.report import html

        html.write(self.document(), path, title)

    def _repr_html_(self) -> str:
        from trueness.report import html

        return html.fragment(self.document())

    def __str__(self) -> str:
        return str(self.answer)

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Result) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def details(self, width: int = WIDTH) -> str:
        """The answer and all numbers behind it, as text of 80 columns or more."""
        from trueness.report.text import text

        return text(self.document(), width)

    def flat(self, prefix: str = "") -> dict[str, float]:
        """All numbers as one flat dict of floats, for experiment trackers.

        `vce` is the plug-in value and `vce_noise_floor` its noise floor; `vce_debiased` is the
        debiased value, with its interval from `vce_low` to `vce_high`. Those of a group are
        `group/NAME/vce`; in NAME, what MLflow, Weights & Biases or TensorBoard refuse becomes "_".
        What has no value is left out.
        """
        found = dict(_flattened("", plain(self.numbers())))
        for kind, results in self.parts().items():
            names = safe_names(list(results))
            for name, result in zip(names, results.values(), strict=True):
                found |= result.flat(f"{kind}/{name}/")
        return {f"{prefix}{name}": value for name, value in found.items()}

    def to_frame(self, of: str | None = None) -> Any:
        """A table of `listings()` as a data frame of pandas or polars, else a dict of columns."""
        return self.listing(of).to_frame()

    def to_markdown(self, of: str | None = None) -> str:
        """A table of `listings()` as Markdown."""
        return self.listing(of).markdown()

    def to_latex(self, of: str | None = None) -> str:
        """A table of `listings()` as a LaTeX tabular with the rules of booktabs."""
        return self.listing(of).latex()

    def listing(self, of: str | None = None) -> Listing:
        """A table of `listings()` by its name; the usual one by default."""
        known = self.listings()
        if of is None:
            return next(iter(known.values()))
        if of not in known:
            cause = f"`of` must be the name of a table, got {of!r}"
            remedy = nearest(str(of), list(known))
            raise InvalidValueError("unknown-table", cause, remedy, argument="of", value=of)
        return known[of]


def _flattened(name: str, content: Any) -> Iterator[tuple[str, float]]:
    """The numbers of nested mappings; `value` has the name of the mapping that it is in."""
    if isinstance(content, Mapping):
        for key, part in content.items():
            yield from _flattened("_".join(filter(None, (name, key * (key != "value")))), part)
    elif isinstance(content, (int, float)) and not isinstance(content, bool):
        yield name, float(content)


def safe_names(names: list[str]) -> list[str]:
    """Names with ASCII letters, digits, "-" and "_" alone, all different.

    >>> safe_names(["St. Mary", "St. Mary's", "St_ Mary", ""])
    ['St__Mary', 'St__Mary_s', 'St__Mary_2', '_']
    """
    found: list[str] = []
    for name in names:
        safe = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:80] or "_"  # MLflow takes 250 in all
        number, own = 1, safe
        while own in found:
            number += 1
            own = f"{safe}_{number}"
        found.append(own)
    return found
