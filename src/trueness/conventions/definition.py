"""A convention: how another library computes a calibration error, as a function of the same rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trueness._arguments import require_choice, whole_number
from trueness.bins import Bins
from trueness.conventions.assignments import Assignment
from trueness.conventions.readings import Reader, Reading, read_rows
from trueness.conventions.totals import Curve, curve_of
from trueness.refusals import InvalidValueError
from trueness.rows import Rows

Assign = Callable[[Reading, int], Assignment]
Total = Callable[[Reading, Assignment, str], float]


@dataclass(frozen=True, slots=True)
class Defect:
    """Something a user of the library should know, with the public issue if one is known."""

    text: str
    link: str | None = None

    def __str__(self) -> str:
        return f"{self.text} ({self.link})" if self.link else self.text


@dataclass(frozen=True, slots=True)
class Reproduced:
    """The number of a library for given rows, with its bins."""

    convention: str
    value: float
    bins: int | None
    norm: str
    reading: Reading
    assignment: Assignment

    @property
    def curve(self) -> Curve:
        """Mean prediction, frequency and count of the bins with rows."""
        return curve_of(self.reading, self.assignment.index, self.assignment.n_bins)


@dataclass(frozen=True, slots=True)
class Convention:
    """One entry of the registry: what the library computes, in words and as a function of rows.

    `bins`, `edges`, `range`, `dropped` and `arithmetic` are the rules in words; `read`, `assign` and `total` are the
    same rules in code. `rest` says what remains between the bins and the number.
    """

    name: str
    library: str
    version: str
    source: str
    computes: str
    bins: str
    edges: str
    range: str
    dropped: str
    arithmetic: str
    read: Reader
    assign: Assign
    total: Total
    default_bins: int | None = 10
    fixed_bins: bool = False
    least_bins: int = 1
    norms: tuple[str, ...] = ("l1",)
    metric: str = "ece"
    rest: str = ""
    defects: tuple[Defect, ...] = ()
    least_rows: int = 1
    """Fewer rows are an error of the library."""
    least_labels: int = 1
    """With more than two classes, labels of fewer classes are an error of the library."""
    needs_every_label: bool = False
    """Whether the library leaves out columns of classes without a label, which is refused here."""

    def compute(
        self,
        y_true: Any,
        y_prob: Any,
        *,
        bins: int | Bins | None = None,
        norm: str | None = None,
        from_logits: bool = False,
        normalize: bool = False,
        classes: Any = None,
    ) -> Reproduced:
        """The number of the library for these rows; `bins` and `norm` default to the library's own.

        Rows are those of `tabulate`. Logits are turned into probabilities in float64 before.

        >>> from trueness.conventions import CONVENTIONS
        >>> CONVENTIONS["torchmetrics"].compute([1, 0], [0.95, 1.0], bins=15).value.__round__(3)
        0.525
        """
        n_bins, norm = self.bins_or_default(bins), self.norm_or_default(norm)
        rows = Rows.of(y_true, y_prob, from_logits=from_logits, normalize=normalize, classes=classes)
        reading = read_rows(rows, self.read)
        if reading.n_rows < self.least_rows:
            raise InvalidValueError(
                "too-few-rows",
                f"{reading.n_rows} rows are too few for convention {self.name!r}, which needs "
                f"{self.least_rows}",
                "use another convention",
                argument="y_prob",
                value=reading.n_rows,
            )
        self._refuse_labels(reading)
        assignment = self.assign(reading, n_bins or 1)
        return Reproduced(self.name, self.total(reading, assignment, norm), n_bins, norm, reading, assignment)

    def bins_text(self, bins: int | None) -> str:
        """The bins in words, for so many bins, or for as many as the library has by default."""
        number = self.default_bins if bins is None else bins
        return self.bins if number is None else self.bins.format(n=number, fewer=number - 1)

    def bins_or_default(self, bins: int | Bins | None) -> int | None:
        """The number of bins; refused where the library leaves no choice."""
        if bins is None or (self.fixed_bins and bins == self.default_bins):
            return self.default_bins
        if self.fixed_bins:
            rule = self.bins_text(None)
            cause = f"`bins={bins!r}` does not apply to convention {self.name!r}, which has {rule}"
            remedy = "leave out `bins`"
            raise InvalidValueError("bad-argument", cause, remedy, argument="bins", value=bins)
        return whole_number("bins", bins, self.least_bins)

    def norm_or_default(self, norm: str | None) -> str:
        """The norm; refused if the library does not have it."""
        if norm is None:
            return self.norms[0]
        require_choice("norm", norm, self.norms)
        return norm

    def _refuse_labels(self, reading: Reading) -> None:
        """Refuse labels for which the library raises an error or changes the rows."""
        n_classes, n_seen = len(reading.seen), int(reading.seen.sum())
        needed = n_classes if self.needs_every_label else self.least_labels
        if n_classes > 2 and n_seen < needed:
            cause = f"the labels have {n_seen} of {n_classes} classes; {self.library} " + (
                "leaves out the other columns" if self.needs_every_label else f"refuses fewer than {needed}"
            )
            remedy = "leave out these columns first, or use another convention"
            raise InvalidValueError("missing-classes", cause, remedy, argument="y_true")
