"""Bad rows of a batch: skipped and counted by code, or refused with the file and the row's number in it.

Files of which no row is left are refused too.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trueness.files.batches import IGNORED, Batch
from trueness.refusals import InvalidValueError, Refusal
from trueness.rows import OptionRows, RowCode, Rows, count_codes, refusal_of_row, row_codes
from trueness.rows.lists import Lists
from trueness.rows.validation import all_rows_ignored

_FOR_LOGPROBS = (
    "logarithms of probabilities are at most 0, and their exponentials sum to 1: "
    "for other numbers pass `from_logits=True`"
)


def without_bad_rows(batch: Batch) -> Batch:
    """The good rows; the others are counted by code."""
    if len(batch) == 0:
        return batch
    codes = _codes(_rows(batch))
    if not codes.any():
        return batch
    counts = zip(RowCode, count_codes(codes).tolist(), strict=True)
    bad = {code.refusal_code: count for code, count in counts if code != RowCode.GOOD and count}
    return replace(batch.take(codes == RowCode.GOOD), skipped=batch.skipped + Counter(bad))


def has_bad_rows(batch: Batch) -> bool:
    """Whether a row of the batch is bad."""
    return bool(_codes(_rows(batch)).any())


def refusal(batch: Batch, error: Refusal) -> Refusal:
    """The refusal of the first bad row by its number in the file; if none is bad, the error with the rows' numbers."""
    rows = _rows(batch)
    codes = _codes(rows)
    if not codes.any():
        return error.with_facts(source=f"{batch.file}, rows {batch.numbers[0]} to {batch.numbers[-1]}")
    row = int(np.argmax(codes != RowCode.GOOD))
    found = rows.refusal_of_row(row) if isinstance(rows, OptionRows) else refusal_of_row(rows, row)
    cause, remedy = found.cause, found.remedy or "fix the row"
    if batch.options.scale == "logprobs" and found.argument == "y_prob":
        # Validation reads the exponentials.
        cause, remedy = cause.replace("`y_prob`", "exp of the prediction"), _FOR_LOGPROBS
    remedy += ", or remove such rows first"
    return found.with_facts(cause=cause, remedy=remedy, source=batch.file, row=int(batch.numbers[row]))


def no_rows_left(skipped: Counter[str], *, filtered: bool) -> InvalidValueError:
    """The refusal of files without rows: why these were skipped, by code, and whether there was a condition."""
    if skipped.keys() == {IGNORED}:
        return all_rows_ignored(skipped[IGNORED])
    cause = "no rows are left" if filtered or skipped else "the files hold no rows"
    remedy = "check the conditions and how the files were written"
    return InvalidValueError("no-rows", cause, remedy)


def _codes(rows: Rows | OptionRows) -> NDArray[np.uint8]:
    return rows.codes() if isinstance(rows, OptionRows) else row_codes(rows)


def _rows(batch: Batch) -> Rows | OptionRows:
    """The rows of a batch without a check of their values."""
    from_logits, normalize = batch.options.scale == "logits", batch.options.normalize
    if isinstance(batch.y_prob, Lists):
        return OptionRows(batch.y_prob, batch.y_true, batch.weight, from_logits, normalize)
    return Rows.of_arrays(
        batch.y_true,
        batch.y_prob,
        batch.weight,
        from_logits=from_logits,
        normalize=normalize,
        soft_labels=batch.options.soft_labels,
        may_ignore=batch.may_ignore,
    )
