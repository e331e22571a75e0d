"""How tensors of rows are read, what they are summed into, and for which reasons rows are skipped."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor

from trueness._arguments import boolean, require_choice, whole_number
from trueness._arrays import FloatArray
from trueness.adapters._event_words import EventLayout
from trueness.bins import Bins, event_grid
from trueness.old_table import EventSpec, SingleSpec, TablePlan, TableSpec, event_index
from trueness.ranking import TIES
from trueness.refusals import InvalidValueError
from trueness.rows import RowCode
from trueness.variation import Variation

N_REASONS = 4
"""Reasons for which rows are skipped, each with a count in the state of a metric."""

TASKS = ("multiclass", "binary")

MOST_DIMENSIONS = 63
"""The last axis that a tensor may have."""

LAYOUT = 2
"""The version of the words of the states: those of other versions cannot be loaded."""


class MetricInput(NamedTuple):
    """How rows are read, and what they are summed into: tables of the same rows."""

    n_classes: int
    calibration_specs: tuple[TableSpec, ...] = ()
    """The spec of the table by variation, and that of the table by confidence if there is one."""
    event_spec: EventSpec | None = None
    """The spec of the table of events, if there is one."""
    event_layout: EventLayout | None = None
    """That of the words of these events."""
    ties: str = "first"
    from_logits: bool = False
    ignore_index: int | None = None
    class_axis: int = 1
    """The axis of the classes in predictions."""
    soft_labels: bool = False
    """Whether targets are shares of the classes."""

    @classmethod
    def of(
        cls,
        n_classes: int,
        bins: int | Bins = 10,
        variation: str | Variation = "entropy",
        ties: str = "first",
        *,
        confidence_bins: int | Bins | None = None,
        by_class: bool = False,
        from_logits: bool = False,
        ignore_index: int | None = None,
        class_axis: int = 1,
        soft_labels: bool = False,
    ) -> Self:
        """The input that the arguments of a metric of calibration tables describe."""
        soft = boolean("soft_labels", soft_labels)
        if soft and ignore_index is not None:
            cause = f"soft labels are shares, of which none can be ignore_index={ignore_index!r}"
            remedy = "leave out ignore_index"
            raise InvalidValueError(
                "bad-argument", cause, remedy, argument="ignore_index", value=ignore_index
            )
        second = confidence_bins is not None
        plan = TablePlan.of(variation, bins, confidence_bins, ties, with_confidence=second, by_class=by_class)
        if second and plan.confidence_bins is None:
            cause = (
                "confidence_bins must be None with variation='confidence': `table` is binned "
                "by confidence already"
            )
            raise InvalidValueError("bad-argument", cause, argument="confidence_bins")
        specs = tuple(plan.calibration_specs(n_classes, weighted=False))
        events = EventSpec.by_class(n_classes, ties) if plan.by_class else None
        layout = None if events is None else EventLayout.of(events, soft=soft)
        read = _checked(from_logits, ignore_index, class_axis)
        return cls(n_classes, specs, events, layout, ties, *read, soft)

    @classmethod
    def of_classes(
        cls,
        n_classes: int,
        *,
        from_logits: bool = False,
        ignore_index: int | None = None,
        class_axis: int = 1,
    ) -> Self:
        """The input of a metric of the event table of all classes."""
        spec = EventSpec.by_class(n_classes)
        read = _checked(from_logits, ignore_index, class_axis)
        return cls(n_classes, (), spec, EventLayout.of(spec), spec.ties, *read)

    @classmethod
    def of_event(
        cls,
        n_classes: int,
        event: Any,
        ties: str = "first",
        *,
        from_logits: bool = False,
        ignore_index: int | None = None,
        class_axis: int = 1,
    ) -> Self:
        """The input of a metric of a single event: a class, or "top"."""
        require_choice("ties", ties, TIES)
        index = event_index(event, n_classes, None, "event")
        spec = EventSpec(n_classes, (index,), event_grid(), ties)
        read = _checked(from_logits, ignore_index, class_axis)
        return cls(n_classes, (), spec, EventLayout.of(spec), ties, *read)

    @property
    def specs(self) -> list[SingleSpec]:
        """The spec of each table, that of events last."""
        return [*self.calibration_specs, *([] if self.event_spec is None else [self.event_spec])]

    @property
    def n_bins(self) -> list[int]:
        """The number of bins of each calibration table."""
        return [spec.bins.n_bins for spec in self.calibration_specs]

    @property
    def reasons(self) -> tuple[RowCode, ...]:
        """The codes of the rows that are counted as skipped, in the order of the state."""
        first = RowCode.BAD_LOGITS if self.from_logits else RowCode.NOT_FINITE
        return (first, RowCode.OUTSIDE_RANGE, RowCode.SUM_NOT_1, RowCode.LABEL_OUT_OF_RANGE)

    def thresholds(self, eps: float) -> list[FloatArray]:
        """Where the bins or cells of each table end; an error if bins are too narrow for rows rounded to `eps`."""
        ends = [spec.thresholds(eps) for spec in self.calibration_specs]
        return ends if self.event_spec is None else [*ends, self.event_spec.grid.thresholds(eps)]

    def fingerprint(self) -> Tensor:
        """Eight bytes that differ between sums that must not be added."""
        parts: list[object] = [LAYOUT, self.n_classes, self.ties, self.from_logits, self.ignore_index]
        for spec in self.calibration_specs:
            parts += [spec.variation.name, spec.bins.edges, spec.bins.snap]
        if self.soft_labels:
            parts.append("soft labels")
        if self.event_spec is not None:
            parts += [self.event_spec.events, self.event_spec.grid.edges]
        digest = blake2b(repr(tuple(parts)).encode(), digest_size=8).digest()
        return torch.tensor(list(digest), dtype=torch.int64)

    def refusal(self, n_bad: Sequence[int], n_good: int) -> InvalidValueError:
        """The refusal of the bad rows: how many there are for each reason, and what to do."""
        words = {
            RowCode.NOT_FINITE: "probabilities that are not finite",
            RowCode.BAD_LOGITS: "logits that are not finite (a logit may be -inf, but not all logits of a row)",
            RowCode.OUTSIDE_RANGE: "probabilities outside [0, 1] (for logits pass from_logits=True)",
            RowCode.SUM_NOT_1: "a sum other than 1 (for logits pass from_logits=True; or divide each row by its sum)",
            RowCode.LABEL_OUT_OF_RANGE: f"a label out of range (labels must be 0 to {self.n_classes - 1}"
            + (
                "; to leave out rows with another label, such as 255 or -100, pass it as ignore_index)"
                if self.ignore_index is None
                else f", or {self.ignore_index}, which is ignore_index)"
            ),
        }
        count_of = {code: n for code, n in zip(self.reasons, n_bad, strict=True) if n}
        listed = "; ".join(f"{n} {'has' if n == 1 else 'have'} {words[code]}" for code, n in count_of.items())
        cause = (
            f"{sum(n_bad)} of {sum(n_bad) + n_good} rows is invalid: {listed}"
            if sum(n_bad) == 1
            else f"{sum(n_bad)} of {sum(n_bad) + n_good} rows are invalid: {listed}"
        )
        return InvalidValueError("bad-rows", cause, "call reset() to start again")


def _checked(from_logits: Any, ignore_index: Any, class_axis: Any) -> tuple[bool, int | None, int]:
    """How rows are read; refused if one of them is of the wrong type."""
    if ignore_index is not None and not isinstance(ignore_index, int):
        cause = f"ignore_index must be None or an integer, got {ignore_index!r}"
        raise InvalidValueError("bad-argument", cause, argument="ignore_index", value=ignore_index)
    axis = whole_number("class_axis", class_axis, -MOST_DIMENSIONS, MOST_DIMENSIONS)
    return boolean("from_logits", from_logits), ignore_index, axis


def n_classes_of(num_classes: int | None, task: str) -> int:
    """The number of classes of a metric with these arguments."""
    require_choice("task", task, TASKS)
    if task == "binary":
        if num_classes not in (None, 2):
            raise InvalidValueError(
                "bad-argument",
                "num_classes must be 2 or None with task='binary', which has two classes, got "
                f"{num_classes!r}",
                argument="num_classes",
                value=num_classes,
            )
        return 2
    if num_classes is None:
        raise InvalidValueError(
            "bad-argument", "num_classes is needed unless task='binary'", argument="num_classes"
        )
    return whole_number("num_classes", num_classes, 2)
