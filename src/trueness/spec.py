"""What a table sums: the options a user gives, the spec that follows from them, and every sum.

`FIELDS` is the one list of the sums. Adding tables, merging bins, saving and converting are loops
over it, so that a new sum is one line here and one in each engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from math import prod
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness.bins import Bins, Edges
from trueness.exact_sums import LOG_SCORE_BITS, PROBABILITY_BITS
from trueness.variation import Variation


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What is to be summed, as asked for before the rows are known.

    Parameters
    ----------
    variation : str or Variation
        The variation measure by which rows are put into bins.
    bins : int or EqualWidth, EqualMass, Edges
        The bins of variation; a number means bins of equal width over the measure's range.
    confidence_bins : int or EqualWidth, EqualMass, Edges, optional
        The bins of the largest probability, for ECE; as many and of the same kind by default.
    by_class : bool
        Whether to sum the probability of each class too, in cells over [0, 1].
    ties : "first" or "split", optional
        The rank of equal probabilities: the lower class index first, or shared. "first" by default,
        and "split" if rows have options of their own.
    events : list of classes, optional
        The classes whose probabilities are summed; all by default, the second of two.
    """

    variation: str | Variation = "entropy"
    bins: int | Bins = 10
    confidence_bins: int | Bins | None = None
    by_class: bool = True
    ties: str | None = None
    events: tuple[str | int, ...] = ()


MOST_BYTES = 2**29
"""The memory that all sums of a table may take."""


class Field(NamedTuple):
    """How one sum of a table is laid out.

    The first axis is `axis`: "part" has an entry for each part of the table, "group" one for each
    group and number of options, whatever the clusters. `dims` are the axes that follow. Sums of
    `bits` > 0 count units of 2⁻ᵇⁱᵗˢ; those of 0 bits count rows. In a weighted table all are floats
    Σw·x, but for those that `counts` rows whatever their weights.
    """

    axis: Literal["part", "group"]
    dims: tuple[str, ...]
    bits: int
    view: str
    """Which part of the spec asks for it: "rank", "score", "prediction", "top", "class", or ""
    for all tables; followed by "weighted" if only tables of weighted rows have it."""
    counts: bool = False


P, L = PROBABILITY_BITS, LOG_SCORE_BITS

FIELDS: dict[str, Field] = {
    # Rows by their variation V: the paper's bins B_m.
    "rows": Field("part", ("bin",), 0, "rank", counts=True),  # |B_m|
    "weight": Field("part", ("bin",), 0, "rank weighted"),  # Σw
    "weight_square": Field("part", ("bin",), 0, "rank weighted"),  # Σw²
    "ordered": Field("part", ("bin", "rank"), P, "rank"),  # Σq, ordered probabilities
    "ranks": Field("part", ("bin", "rank"), P, "rank"),  # Σr, how often the true class had a rank
    "variation": Field("group", ("bin",), P, "rank"),  # ΣV(p)
    "log_score": Field("part", ("bin",), L, "score"),  # Σ(ln p_y + H) of rows with p_y > 0, nats
    "log_score_variance": Field("part", ("bin",), L, "score"),  # Σw²·VE of the same rows
    # Rows by their largest probability, for ECE.
    "top_rows": Field("part", ("top_bin",), 0, "top", counts=True),
    "top_weight": Field("part", ("top_bin",), 0, "top weighted"),
    "top_weight_square": Field("part", ("top_bin",), 0, "top weighted"),
    "top_predicted": Field("part", ("top_bin",), P, "top"),  # Σq₁
    "top_observed": Field("part", ("top_bin",), P, "top"),  # how often the top label was right
    # The probability of each class, in cells over [0, 1].
    "class_rows": Field("group", ("class", "cell"), 0, "class", counts=True),
    "class_weight": Field("group", ("class", "cell"), 0, "class weighted"),
    "class_weight_square": Field("group", ("class", "cell"), 0, "class weighted"),
    "class_predicted": Field("group", ("class", "cell"), P, "class"),
    "class_observed": Field("group", ("class", "cell"), P, "class"),
    "class_predicted_total": Field("part", ("class",), P, "class"),
    "class_observed_total": Field("part", ("class",), P, "class"),
    # Rows by the class that they predict.
    "predicted_rows": Field("group", ("prediction",), 0, "prediction", counts=True),
    "predicted_score": Field("part", ("prediction",), L, "prediction"),  # Σ(ln p_y + H)
    "predicted_score_variance": Field("group", ("prediction",), L, "prediction"),
    "predicted_misses": Field("group", ("prediction",), P, "prediction"),  # Σ(1 - q₁), expected
    # All rows.
    "log_likelihood": Field("part", (), L, "score"),  # Σ ln p_y of rows with p_y > 0, nats
    "true_probability": Field("group", (), P, ""),  # Σp_y
    "square": Field("group", (), P, ""),  # Σ‖p‖²
    "label_spread": Field("group", (), P, ""),  # Σ(1 - ‖s‖²) of soft labels s
    "residual_square": Field("group", (), P, " weighted"),  # Σw²·‖p - s‖²
    "tied_rows": Field("group", (), 0, "", counts=True),  # the true class shares its probability
    "impossible_rows": Field("group", (), 0, "", counts=True),  # the true class had probability 0
}


@dataclass(frozen=True, slots=True)
class Spec:
    """What the sums of a table are sums of. Tables of equal specs add.

    A view that is None or empty is not summed: `variation` and `bins` are those of the ranks,
    `top_bins` those of the largest probability, `classes` and `class_bins` those of single classes.
    """

    n_classes: int | None
    """None if rows have numbers of options of their own."""
    variation: Variation | None
    bins: Edges | None
    top_bins: Edges | None = None
    classes: tuple[int, ...] = ()
    """All classes, of two only the second: the first is its mirror image."""
    class_bins: Edges | None = None
    ties: str = "first"
    weighted: bool = False
    scores: bool = True
    """Whether log-scores are summed."""
    by_prediction: bool = True
    """Whether they are also summed by predicted class."""
    class_names: tuple[str, ...] | None = field(default=None, compare=False)

    def fields(self) -> Iterator[tuple[str, Field]]:
        """The sums of such a table, by name."""
        asked = {
            "": True,
            "rank": self.bins is not None,
            "score": self.bins is not None and self.scores,
            "prediction": self.scores and self.by_prediction,
            "top": self.top_bins is not None,
            "class": bool(self.classes),
        }
        for name, its in FIELDS.items():
            view, _, only = its.view.partition(" ")
            if asked[view] and (self.weighted or not only):
                yield name, its

    def is_float(self, its: Field) -> bool:
        """Whether such a sum is float64 because rows are weighted."""
        return self.weighted and not its.counts

    def shapes(self, n_parts: int, n_groups: int, n_options: int) -> dict[str, tuple[int, ...]]:
        """The shape of each sum, of so many parts, groups and (at most) options."""
        sizes = {"part": n_parts, "group": n_groups, "rank": n_options}
        binned = {"bin": self.bins, "top_bin": self.top_bins, "cell": self.class_bins}
        sizes |= {dim: 0 if bins is None else bins.n_bins for dim, bins in binned.items()}
        sizes |= {"class": len(self.classes), "prediction": n_options}
        return {
            name: (
                *(sizes[dim] for dim in (its.axis, *its.dims)),
                *((2,) if its.bits and not self.is_float(its) else ()),
            )
            for name, its in self.fields()
        }

    def n_bytes(self, n_parts: int, n_groups: int, n_options: int) -> int:
        """The memory that the sums take."""
        return sum(8 * prod(shape) for shape in self.shapes(n_parts, n_groups, n_options).values())

    def zeros(self, n_parts: int, n_groups: int, n_options: int) -> dict[str, NDArray[Any]]:
        """The sums of no rows, of so many parts, groups and options."""
        shapes = self.shapes(n_parts, n_groups, n_options)
        return {
            name: np.zeros(shapes[name], np.float64 if self.is_float(its) else np.int64)
            for name, its in self.fields()
        }

    def difference(self, other: Spec) -> str | None:
        """The first field in which two specs differ, with both values; None if they are equal."""
        for each in fields(self):
            mine, theirs = getattr(self, each.name), getattr(other, each.name)
            if each.compare and mine != theirs:
                return f"{each.name} differs: {_contrast(mine, theirs)}"
        named = self.class_names is not None and other.class_names is not None
        if named and self.class_names != other.class_names:
            return f"class_names differs: {_contrast(self.class_names, other.class_names)}"
        return None


def _contrast(mine: Any, theirs: Any) -> str:
    """Two different values in words; of as many bins, the first edge that differs."""
    if isinstance(mine, Edges) and isinstance(theirs, Edges) and mine.n_bins == theirs.n_bins:
        edges = [*mine.edges, mine.snap], [*theirs.edges, theirs.snap]
        k, (a, b) = next((k, of) for k, of in enumerate(zip(*edges, strict=True)) if of[0] != of[1])
        name = f"edges[{k}]" if k <= mine.n_bins else "snap"
        return f"{name} is {a!r} and {b!r}"
    brief = (f"{it.n_bins} bins" if isinstance(it, Edges) else repr(it) for it in (mine, theirs))
    return " and ".join(text if len(text) <= 80 else f"{text[:80]}…" for text in brief)
