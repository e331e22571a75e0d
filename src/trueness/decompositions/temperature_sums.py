"""The log loss at seventeen temperatures, as sums that merge: `temperature_profile`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from trueness._arguments import whole_number
from trueness._arrays import FloatArray, column_sums
from trueness._row_arithmetic import LN2, LOG_SCORE_BITS, exp, log2
from trueness._scratch import Scratch
from trueness._threads import Span, in_threads
from trueness.decompositions.temperature import KNOTS, TemperatureFit, fit_temperature, loss_at
from trueness.old_table.exact_sums import ExactSum, FloatSum, Sum
from trueness.ranking import ordered_rows
from trueness.refusals import InvalidTypeError, InvalidValueError
from trueness.rows import Rows, row_sums

LEAST_LOG = -69.0
"""ln p no lower than this, p = 10⁻³⁰: classes of probability 0 would make the loss infinite at every temperature."""

_BLOCK_VALUES = 2**15
"""Probabilities whose seventeen powers are computed at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class TemperatureProfile:
    """L(a) = Σ[ln Σ_c p_cᵃ - a·ln p_y] with its first two derivatives at seventeen exponents a = 2^(j/4), j = -8 … 8.

    An exponent is one over a temperature. Profiles of parts of the data add to that of all rows, to the bit if rows
    have no weights.
    """

    n_classes: int
    n_rows: int
    sums: Sum
    """L, L′ and L″ at each exponent, in nats, (3, 17)."""
    weight: float
    """Σw; the rows if they have no weights."""
    weight_square: float
    """Σw²."""

    def __add__(self, other: object) -> TemperatureProfile:
        if not isinstance(other, TemperatureProfile):
            return NotImplemented
        if self.n_classes != other.n_classes or type(self.sums) is not type(other.sums):
            cause = (
                f"profiles of {self.n_classes} and {other.n_classes} classes, or with and "
                "without weights, cannot be added"
            )
            raise InvalidValueError("different-tables", cause, "make both with the same options")
        sums: Any = self.sums
        return TemperatureProfile(
            self.n_classes,
            self.n_rows + other.n_rows,
            sums + other.sums,
            self.weight + other.weight,
            self.weight_square + other.weight_square,
        )

    def __radd__(self, other: object) -> TemperatureProfile:
        """`sum` begins with 0, which counts as no rows."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TemperatureProfile):
            return NotImplemented
        mine: Any = self.sums
        same_kind = type(self.sums) is type(other.sums) and self.n_classes == other.n_classes
        return same_kind and self.n_rows == other.n_rows and bool(mine.same(other.sums))

    __hash__ = None  # type: ignore[assignment]

    def fit(self) -> TemperatureFit:
        """The best exponent, and the log loss as calibration and refinement at it."""
        return fit_temperature(self.sums.value, self.weight, self.weight_square)

    def log_loss_at(self, exponent: float) -> float:
        """The mean log loss of these rows at an exponent from 1/4 to 4, such as one fitted on other rows."""
        if not KNOTS[0] <= exponent <= KNOTS[-1]:
            cause = f"exponent must be from 0.25 to 4, got {exponent!r}"
            raise InvalidValueError("bad-argument", cause, argument="exponent", value=exponent)
        return loss_at(self.sums.value, float(exponent)) / self.weight

    def to_dict(self) -> dict[str, Any]:
        """Everything in the profile as plain numbers, exact."""
        content: dict[str, Any] = {"kind": "temperature-profile", "schema": 1, "n_classes": self.n_classes}
        content |= {"n_rows": self.n_rows, "weight": self.weight, "weight_square": self.weight_square}
        if isinstance(self.sums, ExactSum):
            return content | {"whole": self.sums.whole.tolist(), "fraction": self.sums.fraction.tolist()}
        return content | {"value": self.sums.value.tolist()}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> TemperatureProfile:
        """The profile of `to_dict`."""
        if not isinstance(content, dict) or content.get("kind") != "temperature-profile":
            raise InvalidTypeError(
                "wrong-type", "this is not a temperature profile", "pass what to_dict returned"
            )
        sums: Sum
        if "value" in content:
            sums = FloatSum(np.array(content["value"], np.float64))
        else:
            whole, fraction = (np.array(content[name], np.int64) for name in ("whole", "fraction"))
            sums = ExactSum(whole, fraction, LOG_SCORE_BITS)
        named = (content[name] for name in ("n_classes", "n_rows", "weight", "weight_square"))
        n_classes, n_rows, weight, square = named
        return cls(n_classes, n_rows, sums, weight, square)


def temperature_profile(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    n_threads: int | None = None,
) -> TemperatureProfile:
    """The log loss and its derivatives at seventeen temperatures, in one pass; profiles add.

    Rows are as in `tabulate`. The pass costs about twenty times that of a table. ln p counts as no lower than -69.

    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(5000, [1, 1, 1], rng=0)
    >>> fit = temperature_profile(y_true, tn.simulate.sharpen(y_prob, 1.5)).fit()
    >>> round(1 / fit.exponent, 1), fit.calibration > 0.02, fit.p_value < 1e-6
    (1.5, True, True)
    """
    rows = Rows.of(
        y_true, y_prob, sample_weight, from_logits=from_logits, normalize=normalize, classes=classes
    )
    workers = 1 if n_threads is None else whole_number("n_threads", n_threads, 1)
    spans = list(rows.spans(values=_BLOCK_VALUES))
    parts = in_threads(lambda some: _sum_blocks(rows, some), spans, workers)
    sums: Any = reduce(add, parts)
    weight = rows.sample_weight
    total = float(rows.n_rows if weight is None else weight.sum())
    square = float(rows.n_rows if weight is None else weight @ weight)
    n_rows = rows.n_rows if weight is None else int(np.count_nonzero(weight))
    return TemperatureProfile(rows.n_classes, n_rows, sums, total, square)


def _sum_blocks(rows: Rows, spans: Iterable[Span]) -> Sum:
    """The sums over some blocks of rows, (3, 17)."""
    weight, scratch = rows.sample_weight, Scratch()
    total: Any = ExactSum.zeros((3, len(KNOTS)), LOG_SCORE_BITS) if weight is None else None
    for start, stop in spans:
        terms = _block_terms(rows, start, stop, scratch)
        units = np.rint(terms * 2.0**LOG_SCORE_BITS).astype(np.int64)
        if weight is None:
            whole, fraction = units >> LOG_SCORE_BITS, units & ((1 << LOG_SCORE_BITS) - 1)
            part: Any = ExactSum.with_carry(whole.sum(axis=2), fraction.sum(axis=2), LOG_SCORE_BITS)
        else:
            part = FloatSum((units * 2.0**-LOG_SCORE_BITS) @ weight[start:stop])
        total = part if total is None else total + part
    return FloatSum(np.zeros((3, len(KNOTS)))) if total is None else total


def _block_terms(rows: Rows, start: int, stop: int, scratch: Scratch) -> FloatArray:
    """L, L′ and L″ of each row at each exponent, (3, 17, n); the first bad row is refused."""
    block = rows.block(start, stop)
    with np.errstate(all="ignore"):
        ordered = ordered_rows(block, scratch)
        row_sums(rows, ordered, ordered + 1.0, start)
    assert rows.labels is not None
    labels = rows.labels.block(start, stop)
    logs = _logs(ordered, scratch)
    true = _logs(block[np.arange(stop - start), labels][None].astype(np.float64), scratch)[0]
    terms = np.empty((3, len(KNOTS), stop - start))
    for k, a in enumerate(KNOTS.tolist()):
        # Sorted downwards, so that the first line is the largest and every exponent is at most 0.
        power = exp(np.ascontiguousarray(a * (logs - logs[0])), scratch)
        total = column_sums(power)
        mean = column_sums(power * logs) / total
        second = column_sums(power * (logs - mean) ** 2) / total
        log_total = log2(total, scratch) * LN2
        terms[0, k] = (a * logs[0] + log_total) - a * true
        terms[1, k] = mean - true
        terms[2, k] = second
    return terms


def _logs(p: FloatArray, scratch: Scratch) -> FloatArray:
    """ln p, no lower than LEAST_LOG, as an array of its own."""
    return np.maximum(log2(np.maximum(p, 1e-40), scratch) * LN2, LEAST_LOG)
