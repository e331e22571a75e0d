"""Rows with different numbers of options: a prediction over its own options for each row.

Lists of different lengths, list columns, and arrays (rows, options) with `n_options` and zeros beyond it. They are
handed to the engines as ordinary rows of each number of options.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._arguments import boolean, whole_number
from trueness._arrays import FloatArray, IntArray
from trueness.refusals import InvalidTypeError, InvalidValueError, Refusal
from trueness.rows._rows import Rows
from trueness.rows.containers import contents_of, refuse_none, refuse_other_index
from trueness.rows.lists import Lists, lists_of
from trueness.rows.row_checks import Codes, RowCode, refusal_of_row, row_codes
from trueness.rows.validation import weights_of

CHUNK_VALUES = 2**22
"""The most values (32 megabytes) that are put in the order of their numbers of options at a time."""


class RowsOfOptions(NamedTuple):
    """The rows with one number of options."""

    n_options: int
    which: IntArray
    """Their numbers among all rows."""
    rows: Rows


@dataclass(frozen=True, slots=True, eq=False)
class OptionRows:
    """Predictions over the options of each row, with labels and weights if there are any."""

    y_prob: Lists
    labels: NDArray[Any] | None
    sample_weight: FloatArray | None
    from_logits: bool = False
    normalize: bool = False
    index: Any = None
    """The row labels of the first pandas object whose index does not only count the rows."""

    class_names: None = None
    columns_of_classes: None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.y_prob.lengths)

    @property
    def n_options(self) -> IntArray:
        """The number of options of each row, (rows,)."""
        return self.y_prob.lengths

    @property
    def n_classes(self) -> int:
        """The largest number of options."""
        return int(self.n_options.max(initial=2))

    def take(self, which: NDArray[np.intp] | slice) -> OptionRows:
        """Some of the rows, in the given order; messages about them count from there."""
        labels = None if self.labels is None else self.labels[which]
        weight = None if self.sample_weight is None else self.sample_weight[which]
        return replace(self, y_prob=self.y_prob.take(which), labels=labels, sample_weight=weight)

    def chunks(self) -> Iterator[tuple[int, OptionRows]]:
        """The first row and the rows of runs of at most `CHUNK_VALUES` values."""
        step = max(1, CHUNK_VALUES // self.n_classes)
        if self.n_rows <= step:
            yield 0, self
            return
        for start in range(0, self.n_rows, step):
            yield start, self.take(slice(start, min(start + step, self.n_rows)))

    def parts(self) -> Iterator[RowsOfOptions]:
        """The rows of each number of options, increasing."""
        for c, which in runs_of(self.n_options):
            yield RowsOfOptions(c, which, self._part(c, which))

    def _part(self, n_options: int, which: IntArray) -> Rows:
        rows = Rows.of_arrays(
            None if self.labels is None else self.labels[which],
            self.y_prob.matrix(which, n_options),
            None if self.sample_weight is None else self.sample_weight[which],
            from_logits=self.from_logits,
            normalize=self.normalize,
        )
        return replace(rows, y_prob=replace(rows.y_prob, eps=self.y_prob.eps))

    def codes(self) -> Codes:
        """The `RowCode` of each row, (rows,)."""
        codes = np.zeros(self.n_rows, np.uint8)
        for _, which, rows in self.parts():
            codes[which] = row_codes(rows)
        return codes

    def refusal_of_row(self, row: int) -> Refusal:
        """The refusal of a bad row."""
        (part,) = self.take(slice(row, row + 1)).parts()
        return refusal_of_row(part.rows, 0).with_facts(row=row)

    def refuse_bad_rows(self) -> None:
        """Raise the refusal of the first bad row, if there is one."""
        bad = np.flatnonzero(self.codes() != RowCode.GOOD)
        if bad.size:
            raise self.refusal_of_row(int(bad[0]))


def runs_of(n_options: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Each number of options, increasing, with the rows that have it."""
    narrow = n_options.astype(np.uint16) if int(n_options.max(initial=0)) < 2**16 else n_options
    order = np.argsort(narrow, kind="stable")  # by radix if narrow
    present, first = np.unique(narrow[order], return_index=True)
    for c, start, stop in zip(present.tolist(), first, [*first[1:], len(order)], strict=True):
        yield c, order[start:stop]


def option_rows_of(
    y_true: Any,
    y_prob: Any,
    sample_weight: Any = None,
    *,
    n_options: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    wanted: bool = False,
) -> OptionRows | None:
    """Rows with different numbers of options, from what a user passed; None if all have the same and none is given.

    `y_true` may be None, for predictions without labels. If rows with options of their own are `wanted`, all may have
    the same number.
    """
    if n_options is None and not wanted and isinstance(y_prob, np.ndarray) and y_prob.dtype != object:
        return None  # at once, for short inputs
    from_logits, normalize = boolean("from_logits", from_logits), boolean("normalize", normalize)
    lists = lists_of(y_prob, n_options, from_logits=from_logits, wanted=wanted)
    if lists is None:
        return None
    if classes is not None:
        cause = "`classes` cannot be used with different numbers of options"
        remedy = "labels are the index of the option, from 0; leave it out"
        raise InvalidValueError("bad-argument", cause, remedy, argument="classes")
    if normalize and from_logits:
        cause = "`from_logits=True` already makes rows sum to 1"
        remedy = "leave out `normalize=True`"
        raise InvalidValueError("bad-argument", cause, remedy, argument="normalize")
    return rows_of_lists(y_true, lists, sample_weight, from_logits, normalize)


def rows_with_options(y_true: Any, y_prob: Any, sample_weight: Any = None, **how: Any) -> OptionRows:
    """`option_rows_of` where rows are known to have options of their own."""
    rows = option_rows_of(y_true, y_prob, sample_weight, wanted=True, **how)
    assert rows is not None
    return rows


def classes_or_options(n_classes: Any, options: bool) -> int:
    """The number of classes; 2 if rows have options of their own, for which none is given."""
    if options and n_classes is not None:
        cause = f"rows with options of their own have no common number of classes, got {n_classes}"
        remedy = "leave out n_classes, or options=True"
        raise InvalidValueError("bad-argument", cause, remedy, argument="n_classes", value=n_classes)
    if n_classes is None and not options:
        cause = "n_classes is needed, unless rows have options of their own"
        remedy = "pass n_classes, or options=True"
        raise InvalidTypeError("wrong-type", cause, remedy, argument="n_classes")
    return 2 if options else whole_number("n_classes", n_classes, 2)


def refuse_other_options(options: Mapping[str, IntArray]) -> None:
    """Refuse models that have different numbers of options in a row."""
    first, *others = options
    for name in others:
        if len(options[name]) != len(options[first]):
            continue  # refused as another number of rows
        differs = np.flatnonzero(options[name] != options[first])
        if differs.size:
            row = int(differs[0])
            raise InvalidValueError(
                "wrong-length",
                f"the predictions of {name!r} have {int(options[name][row])} options in row "
                f"{row}, those of {first!r} {int(options[first][row])}",
                "models are compared on the same options",
                argument="y_probs",
                row=row,
                value=int(options[name][row]),
            )


def refuse_n_options(n_options: Any) -> None:
    """Refuse numbers of options where all rows have the same classes."""
    if n_options is not None:
        cause = "n_options is for rows with options of their own"
        remedy = "make it with options=True"
        raise InvalidValueError("bad-argument", cause, remedy, argument="n_options")


def rows_of_lists(
    y_true: Any, lists: Lists, sample_weight: Any, from_logits: bool, normalize: bool
) -> OptionRows:
    """Rows of lists, whose lengths are known to be at least 2."""
    n_rows, index, weight, labels = len(lists.lengths), lists.index, None, None
    if sample_weight is not None:
        weights = contents_of(sample_weight, "sample_weight")
        refuse_other_index("sample_weight", weights.index, "y_prob", index)
        weight, index = weights_of(weights, n_rows), weights.index if index is None else index
    if y_true is not None:
        truth = contents_of(y_true, "y_true").flat
        other = "sample_weight" if lists.index is None else "y_prob"
        refuse_other_index("y_true", truth.index, other, index)
        labels = _labels_of(truth.data, n_rows)
        index = truth.index if truth.index is not None else index
    return OptionRows(lists, labels, weight, from_logits, normalize, index)


def _labels_of(data: NDArray[Any] | None, n_rows: int) -> NDArray[Any]:
    """One index of an option for each row."""
    if data is None or data.shape != (n_rows,):
        shape = "of a data frame" if data is None else data.shape
        cause = f"`y_true` has shape {shape}"
        remedy = f"one index of an option for each of {n_rows} rows is needed"
        raise InvalidValueError("wrong-shape", cause, remedy, argument="y_true")
    if data.dtype.kind == "O":
        refuse_none(data, "y_true")
    if data.dtype.kind not in "iufb":
        cause = f"`y_true` has dtype {data.dtype}"
        remedy = "rows with different numbers of options need the index of the true option, from 0"
        raise InvalidTypeError("wrong-type", cause, remedy, argument="y_true")
    return data


def refuse_soft_options(ragged: OptionRows | None, soft_labels: Any) -> None:
    """Refuse soft labels of rows with options of their own."""
    if ragged is not None and boolean("soft_labels", soft_labels):
        cause = "soft labels cannot be used with different numbers of options"
        remedy = "pass the index of the right option of each row"
        raise InvalidValueError("bad-argument", cause, remedy, argument="soft_labels")
