"""Which rows of a batch the border would refuse, and why: all of them at once.

The border stops at the first. To leave bad rows out, or to say where in the file the first one is, all must be known;
`tests/test_files_bad_rows.py` makes both judge alike.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from trueness.files._batches import Batch, BoolArray
from trueness.files._errors import InputError
from trueness.rows import Rows

NOT_FINITE, OUTSIDE = "probabilities that are not finite", "probabilities outside 0 to 1"
SUM, LOGITS = "probabilities that do not sum to 1", "logits that make no distribution"
LABEL, WEIGHT = "label out of range", "weight that is negative or not finite"

_OPTIONS = {
    "divide y_prob by 100": "pass --percent",
    "from_logits=True": "--logits",
    "normalize=True": "--normalize",
    "sample_weight": "the weight",
    "y_true": "the label",
    "y_prob": "the prediction",
}


_OF_LOGARITHMS = (
    "logarithms of probabilities are at most 0, and their exponentials sum to 1: "
    "for other numbers pass from_logits=True"
)


def screened(batch: Batch) -> Batch:
    """The rows that the border takes; the others are counted by reason."""
    if len(batch) == 0:
        return batch
    reasons = bad_rows(batch)
    if not reasons:
        return batch
    bad = np.logical_or.reduce(list(reasons.values()))
    skipped, left = Counter(batch.skipped), np.ones(len(batch), bool)
    for reason, rows in reasons.items():
        skipped[reason] += int(np.count_nonzero(rows & left))
        left &= ~rows
    return replace(batch.take(~bad), skipped=+skipped)


def bad_rows(batch: Batch) -> dict[str, BoolArray]:
    """For each reason the rows that are bad for it; none if all are good."""
    rows = Rows.of_predictions(
        batch.y_prob, from_logits=batch.options.scale == "logits", normalize=batch.options.normalize
    )
    masks: dict[str, BoolArray] = {}
    for start, stop in rows.spans():
        for reason, bad in _bad_predictions(rows, start, stop).items():
            masks.setdefault(reason, np.zeros(rows.n_rows, bool))[start:stop] = bad
    labels = batch.y_true
    with np.errstate(invalid="ignore"):
        masks[LABEL] = ~((labels >= 0) & (labels < rows.n_classes) & (labels == np.floor(labels)))
    if batch.weight is not None:
        # The border's own range, in which squares neither vanish nor overflow.
        usable = (batch.weight == 0) | ((batch.weight >= 1e-140) & (batch.weight <= 1e140))
        masks[WEIGHT] = ~usable
    return {reason: mask for reason, mask in masks.items() if mask.any()}


def _bad_predictions(rows: Rows, start: int, stop: int) -> dict[str, BoolArray]:
    """By reason, for rows start to stop; the comparisons are those of `Rows.sums_of_distributions`."""
    with np.errstate(all="ignore"):
        block = rows.block(start, stop)[: stop - start].astype(np.float64)
        raw = rows.scores(start, stop)
        finite = np.isfinite(raw).all(axis=1)
        # In the order in which the engines add: downwards.
        ordered = np.sort(block, axis=1)[:, ::-1]
        total = np.add.reduce(np.ascontiguousarray(ordered.T), axis=0)
        inside = (ordered[:, 0] <= 1.0) & (ordered[:, -1] >= 0.0)
        whole = np.abs(total - 1.0) <= rows.sum_tolerance
    if rows.from_logits:
        return {LOGITS: ~(inside & whole)}
    return {NOT_FINITE: ~finite, OUTSIDE: finite & ~inside, SUM: finite & inside & ~whole}


def refusal(batch: Batch, error: Exception) -> InputError:
    """What the border refused, with the row's number in its file."""
    reasons = bad_rows(batch)
    if not reasons:
        last = batch.numbers[-1]
        return _in_words(f"{batch.file}, rows {batch.numbers[0]} to {last}", str(error), batch.options.scale)
    row = int(np.argmax(np.logical_or.reduce(list(reasons.values()))))
    message = _refused_alone(batch, row) or str(error)
    return _in_words(f"{batch.file}, row {batch.numbers[row]}", message, batch.options.scale)


def _refused_alone(batch: Batch, row: int) -> str | None:
    """What the border says about this row alone, without its place in the batch."""
    from trueness.bins import EqualWidth
    from trueness.table import TableSpec
    from trueness.tabulation import tabulate_rows
    from trueness.variation import CONFIDENCE

    alone = batch.take(np.array([row]))
    if alone.weight is not None:
        bad: Any = ~((alone.weight == 0) | ((alone.weight >= 1e-140) & (alone.weight <= 1e140)))
        alone = alone if bad.any() else replace(alone, weight=None)
    try:
        rows = alone.rows()
        spec = TableSpec(rows.n_classes, CONFIDENCE, EqualWidth(1).resolve(1 / rows.n_classes, 1.0))
        tabulate_rows(rows, [spec], "portable")
    except (ValueError, TypeError) as error:
        return str(error).replace(" in row 0, class", " in class").replace(" in row 0", "")
    return None


def _in_words(place: str, message: str, scale: str) -> InputError:
    """The border's message as cause and remedy, in the words of the command's options."""
    if scale == "logprobs" and message.startswith("y_prob"):
        # The border saw their exponentials, and knows nothing of the option.
        told = message.partition("; ")[0].removeprefix("y_prob")
        message = f"exp of the prediction{told}; {_OF_LOGARITHMS}"
    for word, option in _OPTIONS.items():
        message = message.replace(word, option)
    cause, _, remedy = message.partition("; ")
    skip = "leave such rows out with --on-bad-rows skip"
    return InputError(f"{place}: {cause}", f"{remedy}, or {skip}" if remedy else f"mend the row, or {skip}")
