"""What makes a row bad, in one place: a code for each row.

It has three uses: raise a refusal of the first bad row (`refuse_bad_rows`, `row_sums`), skip the rows whose code is not
`RowCode.GOOD`, and count them (`count_codes`). The compiled engine has checks of its own; tests
compare them with these codes.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray
from trueness._row_arithmetic import PROBABILITY_BITS, UNIT, sum_units
from trueness.refusals import InvalidValueError, Refusal
from trueness.rows._rows import SUM_TOLERANCE, Rows
from trueness.rows.validation import usable_weights, weight_refusal

Codes = NDArray[np.uint8]


class RowCode(IntEnum):
    """Whether a row can be used, and if not why; of several reasons the smallest number counts."""

    GOOD = 0
    NOT_FINITE = 1
    """A probability is NaN or infinite."""
    OUTSIDE_RANGE = 2
    """A probability is below 0 or above 1 (with `normalize`, below 0)."""
    SUM_NOT_1 = 3
    """The sum of the probabilities differs from 1 by more than the tolerance."""
    CANNOT_BE_NORMALIZED = 4
    """The sum by which probabilities are to be divided is 0 or infinite."""
    BAD_LOGITS = 5
    """A logit is NaN or +inf, or all logits are -inf."""
    LABEL_OUT_OF_RANGE = 6
    """The label is not a class index, a class name or a one-hot row."""
    BAD_WEIGHT = 7
    """The weight is negative, not finite, or too large or too small to be squared."""

    @property
    def refusal_code(self) -> str:
        """The `code` of the refusal of such a row, such as "not-finite"."""
        return self.name.lower().replace("_", "-")


def row_codes(rows: Rows) -> Codes:
    """The `RowCode` of each row, (rows,), by its prediction, label and weight; never raises because of a row.

    Build the rows with `Rows.of_arrays` if their weights are not checked yet.

    >>> rows = Rows.of_arrays(np.array([0, 2]), np.array([[0.2, 0.8], [0.4, 0.6]]), np.array([1.0, -1.0]))
    >>> [RowCode(code).refusal_code for code in row_codes(rows)]
    ['good', 'label-out-of-range']
    """
    codes = np.zeros(rows.n_rows, np.uint8)
    for start, stop in rows.spans():
        codes[start:stop] = _prediction_codes(rows, start, stop)
    if rows.labels is not None:
        bad = rows.labels.indices(0, rows.n_rows) < 0
        codes[bad & (codes == RowCode.GOOD)] = RowCode.LABEL_OUT_OF_RANGE
    if rows.sample_weight is not None:
        bad = ~usable_weights(rows.sample_weight)
        codes[bad & (codes == RowCode.GOOD)] = RowCode.BAD_WEIGHT
    return codes


def count_codes(codes: Codes) -> IntArray:
    """The number of rows of each `RowCode`, (8,)."""
    return np.bincount(codes, minlength=len(RowCode)).astype(np.int64, copy=False)


def row_sums(rows: Rows, ordered: FloatArray, steps: FloatArray, start: int) -> IntArray:
    """The sum of each row of a block that begins at row `start`, in units of 2⁻⁵²; the first bad row is refused.

    `ordered` holds the rows as columns, sorted downwards, (classes, rows), and `steps` holds 1 + p in the same places.
    """
    total = _sums_in_units(ordered, steps)
    if not _are_distributions(ordered, total, rows.form.sum_tolerance_units):
        refuse_bad_rows(rows, start, start + len(total))
    return total


def _sums_in_units(ordered: FloatArray, steps: FloatArray) -> IntArray:
    """The sum of each column in units of 2⁻⁵², which is exact unless the row is bad."""
    total = sum_units(steps)
    if len(ordered) > _WRAPS:
        total[np.add.reduce(ordered, axis=0) > 2.0] = 2 * UNIT
    return total


_WRAPS = 2 ** (64 - PROBABILITY_BITS)
"""The sum in 64 bits of more classes than this can be near 2⁵² although the row sums to 4097."""


def refuse_bad_rows(rows: Rows, start: int, stop: int) -> None:
    """Raise the refusal of the first bad row from start to stop; of an earlier row, if its label is bad."""
    bad = np.flatnonzero(row_codes(rows.take(slice(start, stop))))
    if not bad.size:
        return
    row = start + int(bad[0])
    if rows.labels is not None and start > 0:
        rows.labels.block(0, start)  # equal-mass bins are fitted to predictions before labels are read
    raise refusal_of_row(rows, row)


def _are_distributions(ordered: FloatArray, total: IntArray, tolerance: int) -> bool:
    """Whether all columns are distributions: their largest and smallest values and sums are enough to decide.

    Sorting puts NaN first, and NaN fails every comparison.
    """
    return bool(
        np.maximum.reduce(ordered[0]) <= 1.0
        and np.minimum.reduce(ordered[-1]) >= 0.0
        and np.maximum.reduce(total) <= UNIT + tolerance
        and np.minimum.reduce(total) >= UNIT - tolerance
    )


def _prediction_codes(rows: Rows, start: int, stop: int) -> Codes:
    """The codes of rows start to stop by their predictions alone, by the same sums as in the engines."""
    with np.errstate(all="ignore"):
        upwards = np.sort(rows.block(start, stop), axis=1)
        ordered = np.ascontiguousarray(upwards.T[::-1], dtype=np.float64)
        total, tolerance = _sums_in_units(ordered, ordered + 1.0), rows.form.sum_tolerance_units
        if _are_distributions(ordered, total, tolerance):
            return np.zeros(stop - start, np.uint8)
        inside = (ordered[0] <= 1.0) & (ordered[-1] >= 0.0)
        whole = (total >= UNIT - tolerance) & (total <= UNIT + tolerance)
        if rows.from_logits:
            return _first_fault(stop - start, {RowCode.BAD_LOGITS: np.asarray(inside & whole)})
        given = rows.scores(start, stop)
        finite = np.asarray(np.isfinite(given).all(axis=1))
        if rows.normalize:
            kept = {
                RowCode.OUTSIDE_RANGE: (given >= 0).all(axis=1),
                RowCode.CANNOT_BE_NORMALIZED: inside & whole,
            }
        else:
            kept = {RowCode.OUTSIDE_RANGE: inside, RowCode.SUM_NOT_1: whole}
    return _first_fault(stop - start, {RowCode.NOT_FINITE: finite, **kept})


def _first_fault(n_rows: int, passed: dict[RowCode, NDArray[np.bool_]]) -> Codes:
    """For each row the first code whose check it did not pass."""
    codes = np.zeros(n_rows, np.uint8)
    for code, of_rows in reversed(passed.items()):
        codes[~of_rows] = code
    return codes


def refusal_of_row(rows: Rows, row: int) -> Refusal:
    """The refusal of a bad row, with its place and value and what to do about it.

    Rows of a file are counted otherwise: `refusal_of_row(rows, k).with_facts(source="preds.csv", row=18)`.
    """
    code = RowCode(row_codes(rows.take(slice(row, row + 1)))[0])
    if code == RowCode.LABEL_OUT_OF_RANGE:
        assert rows.labels is not None
        return rows.labels.refusal(row)
    if code == RowCode.BAD_WEIGHT:
        assert rows.sample_weight is not None
        return weight_refusal(rows.sample_weight, row)
    values = rows.scores(row, row + 1)[0]
    given = values if len(rows.y_prob.shape) == 2 else values[1:]
    column, remedy = None, ""
    if code in (RowCode.SUM_NOT_1, RowCode.CANNOT_BE_NORMALIZED):
        with np.errstate(over="ignore"):
            value = float(given.sum())
    else:
        worst = int(np.argmax(_faulty_values(given, code, np.inf if rows.normalize else 1.0)))
        value, column = float(given[worst]), worst if len(given) > 1 else None
    place = f"in row {row}" + ("" if column is None else f", class {column}")
    if code == RowCode.BAD_LOGITS:
        cause = f"`y_prob` has the logit {value} {place}"
        remedy = "logits are finite, or -inf for a class that is ruled out, but not for all classes of a row"
    elif code == RowCode.SUM_NOT_1:
        cause = f"`y_prob` sums to {value:.9g} {place}, not to 1 within {rows.sum_tolerance:g}"
        remedy = "pass `from_logits=True` for logits, or `normalize=True` to divide each row by its sum"
    elif code == RowCode.CANNOT_BE_NORMALIZED:
        cause = f"`y_prob` sums to {value} {place}, which cannot be normalised"
    else:
        cause = f"`y_prob` is {value} {place}"
        least = "of at least 0" if rows.normalize else "from 0 to 1" + _hint(given)
        remedy = f"probabilities are finite numbers {least}"
    return InvalidValueError(
        code.refusal_code, cause, remedy, argument="y_prob", row=row, class_index=column, value=value
    )


def _faulty_values(given: FloatArray, code: RowCode, highest: float) -> NDArray[np.bool_]:
    """Which values of a row are the reason for its code."""
    if code == RowCode.NOT_FINITE:
        return ~np.isfinite(given)
    if code == RowCode.BAD_LOGITS:
        return np.asarray(np.isnan(given) | (given == np.inf))
    assert code == RowCode.OUTSIDE_RANGE, code
    return np.asarray((given < 0) | (given > highest))


def _hint(given: FloatArray) -> str:
    """What would make finite values acceptable that are not between 0 and 1."""
    if not np.isfinite(given).all():
        return ""
    if (given > -1e-6).all() and (given < 1 + 1e-6).all():
        return "; this looks like rounding: clip `y_prob` to [0, 1] first"
    if (given >= 0).all() and (given <= 100).all():
        if len(given) == 1:
            return "; divide `y_prob` by 100 if these are percentages, or pass `from_logits=True` for logits"
        if abs(given.sum() - 100) <= 100 * SUM_TOLERANCE:
            return "; these are percentages, which sum to 100: divide `y_prob` by 100"
        if abs(given.sum() - 100) <= 1:
            return (
                "; these look like rounded percentages: pass `normalize=True` to divide each row by its sum"
            )
    scores = ", or `normalize=True` for scores" if (given >= 0).all() else ""
    return f"; pass `from_logits=True` for logits{scores}"
