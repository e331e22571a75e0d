"""The base class of the torchmetrics metrics: its states are tables of the same rows, as integers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.utilities.exceptions import TorchMetricsUserError

from trueness._arguments import require_choice
from trueness.adapters._host_sums import HostSums
from trueness.adapters._metric_input import N_REASONS, MetricInput
from trueness.adapters._state_words import state_shapes, tables_of
from trueness.adapters._tensor_checks import check_tensors, rows_and_labels
from trueness.old_metrics import NORMS
from trueness.old_table import AnyTable
from trueness.refusals import InvalidValueError

READ_IN_PLACE = (torch.float16, torch.float32, torch.float64)
"""The dtypes that NumPy has too; others are converted to float32 first."""

CONTEXT = ("_update_count", "_to_sync", "_should_unsync", "_is_synced", "_enable_grad", "compute_on_cpu")
"""The attributes that torchmetrics changes in `forward`, while it computes the metric of a batch."""


class TableMetric(Metric):
    """A number, or several, computed from tables to which each batch is added, whose sums are the states."""

    is_differentiable = False
    higher_is_better: bool | None = False
    full_state_update = False

    fingerprint: Tensor
    _computed: Tensor | None
    _bins: Tensor
    _totals: Tensor
    _events: Tensor

    def __init__(self, input: MetricInput, *, task: str, norm: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        require_choice("norm", norm, NORMS)
        self.task, self.norm, self.input = task, norm, input
        self._computed_tables: list[AnyTable] | None = None
        self._host = HostSums(input)
        shapes = state_shapes(input)
        self._state_names = tuple(shapes)
        for name, shape in shapes.items():
            # `add_state` copies its default on all threads, which takes longer than making a second one.
            self.add_state(name, torch.empty(0, dtype=torch.int64), dist_reduce_fx="sum", persistent=True)
            self._defaults[name] = torch.zeros(shape, dtype=torch.int64)
            setattr(self, name, torch.zeros(shape, dtype=torch.int64))
        # Distinguishes sums that must not be mixed when metrics are grouped, merged or loaded. Stored as bytes, because
        # torchmetrics compares states with a tolerance.
        self.add_state("fingerprint", input.fingerprint(), dist_reduce_fx="max", persistent=True)

    def update(self, preds: Tensor, target: Tensor) -> None:
        """Add a batch: predictions (N, C, ...) or, for a binary task, (N, ...), and targets (N, ...)."""
        rows, labels = self._rows_of(preds, target)
        if not len(rows):
            return
        values = rows if rows.dtype in READ_IN_PLACE else rows.float()
        self._host.add(values.numpy(), labels.numpy(), _rounding(preds.dtype), torch.get_num_threads())

    def forward(self, preds: Tensor, target: Tensor) -> Any:
        """Add a batch and return the metric of this batch alone, NaN if all of its rows are ignored.

        torchmetrics replaces the states by those of the batch meanwhile. They are restored after an error too.
        """
        before, context = self._words(), {name: getattr(self, name) for name in CONTEXT}
        try:
            return super().forward(preds, target)
        except Exception:
            if self._words()["totals"] is not before["totals"]:
                for name, value in context.items():
                    setattr(self, name, value)
                self._computed = None
                self._add(before)
            if self._has_counted_rows(*self._rows_of(preds, target)):
                raise
        self._update_count = context["_update_count"] + 1  # a batch of ignored rows is an update too
        return self._as_tensors(self._value_of_no_rows())

    def _has_counted_rows(self, rows: Tensor, labels: Tensor) -> bool:
        """Whether there is a row that is not ignored."""
        ignored = self.input.ignore_index
        return len(rows) > 0 and (ignored is None or bool((labels != ignored).any()))

    def _words(self) -> dict[str, Tensor]:
        """The states that are sums, by name; all rows are in them."""
        return {name: getattr(self, name) for name in self._state_names}

    def _add(self, words: Mapping[str, Tensor]) -> None:
        for name, of_rows in words.items():
            setattr(self, f"_{name}", getattr(self, f"_{name}") + of_rows)

    def _flush_host_sums(self) -> None:
        """Add to the states the sums of the host engine, and the rows that it has not summed yet."""
        sums = self._host.take(torch.get_num_threads())
        if sums is not None:
            self._add({name: torch.from_numpy(words).to(self.device) for name, words in sums.items()})

    def __getstate__(self) -> dict[str, Any]:
        self._flush_host_sums()
        state: dict[str, Any] = super().__getstate__()
        return state | {"_host": HostSums(self.input)}

    # torchmetrics reads and writes states by name. As properties they include all rows, however they are read.

    @property
    def bins(self) -> Tensor:
        """The integer words of all bins, (M, K), those of the confidence table last: see `_integer_words`."""
        self._flush_host_sums()
        return self._bins

    @bins.setter
    def bins(self, words: Tensor) -> None:
        self._bins = words

    @property
    def totals(self) -> Tensor:
        """What does not depend on bins (see `_integer_words`), and, last, the number of skipped rows by reason."""
        self._flush_host_sums()
        return self._totals

    @totals.setter
    def totals(self, words: Tensor) -> None:
        self._totals = words

    @property
    def events(self) -> Tensor:
        """The integer words of all events, (K, W): see `_event_words`."""
        self._flush_host_sums()
        return self._events

    @events.setter
    def events(self, words: Tensor) -> None:
        self._events = words

    def reset(self) -> None:
        """Remove all rows."""
        self._host.forget()
        super().reset()

    def compute(self) -> Any:
        """The value of the metric, as float64 (float32 on MPS); an error if a row was refused."""
        try:
            self._computed_tables = self._tables_of(self.metric_state)
            self._refuse_only_ignored(self._computed_tables[0].n_rows)
            value = self._value(self._computed_tables)
        except Exception:
            # After an error torchmetrics would leave the sums of all processes in the place of this one's.
            if self._is_synced:
                self.unsync()
            raise
        return self._as_tensors(value)

    def _refuse_only_ignored(self, n_rows: int) -> None:
        """Refuse batches of which no row is left; how many were ignored is not counted."""
        if n_rows == 0 and self.input.ignore_index is not None and self.update_called:
            cause = f"all rows have the label of ignore_index, {self.input.ignore_index}"
            remedy = "check the targets"
            raise InvalidValueError(
                "no-rows", cause, remedy, argument="ignore_index", value=self.input.ignore_index
            )

    def _as_tensors(self, value: float | dict[str, float]) -> Any:
        """A number, or each number of a dict, as a float64 tensor."""
        if isinstance(value, dict):
            return {name: self._as_tensors(number) for name, number in value.items()}
        dtype = torch.float32 if self.device.type == "mps" else torch.float64  # which such a device lacks
        return torch.tensor(value, dtype=dtype, device=self.device)

    def _tables(self) -> list[AnyTable]:
        """The tables that `compute` used, without waiting for other processes."""
        if not self._is_synced:
            # torchmetrics caches the number as long as it is valid, and the tables are valid as long.
            if self._computed is not None and self._computed_tables is not None:
                return self._computed_tables
            if self._to_sync and self.distributed_available_fn():
                raise TorchMetricsUserError(
                    "the tables of all processes have not been added since the last update: call metric.compute() on "
                    "every process first"
                )
        return self._tables_of(self.metric_state)

    def _tables_of(self, states: dict[str, Tensor]) -> list[AnyTable]:
        """The tables that the states stand for; an error if there were bad rows."""
        words = {name: states[name].cpu().numpy() for name in self._state_names}
        skipped = words["totals"][-N_REASONS:].tolist()
        tables = tables_of(words, self.input)
        if any(skipped):
            raise self.input.refusal(skipped, tables[0].n_rows)
        return tables

    def _value(self, tables: list[AnyTable]) -> float | dict[str, float]:
        raise NotImplementedError

    def _value_of_no_rows(self) -> float | dict[str, float]:
        """What `forward` returns for a batch without rows."""
        return math.nan

    def set_dtype(self, dst_type: Any) -> TableMetric:  # noqa: ARG002
        """Do nothing: the sums are integers whatever the dtype of the predictions."""
        return self

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        saved = state_dict.get(f"{prefix}fingerprint")
        mine = self._defaults["fingerprint"]
        if saved is not None and not torch.equal(saved.cpu(), mine.cpu()):
            state = prefix or "of this metric"
            raise InvalidValueError(
                "different-state",
                f"the state {state} was saved by a metric with other classes, bins, variation "
                "measure or options, or by another version of trueness: create the metric as "
                "it was when it was saved",
            )
        if saved is not None:
            self._host.forget()
            self._computed = None  # torchmetrics would return the number of the rows before
        super()._load_from_state_dict(state_dict, prefix, *args)

    def _reduce_states(self, incoming_state: dict[str, Any]) -> None:
        if not torch.equal(incoming_state["fingerprint"], self.fingerprint):
            raise InvalidValueError(
                "different-state",
                "metrics merge only if their classes, bins, variation measure and options are the same",
            )
        super()._reduce_states(incoming_state)
        self._computed = None  # torchmetrics would return the number of the rows before

    def _rows_of(self, preds: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Predictions as (n, C) and labels as (n,), in host memory; only shapes and dtypes are checked here."""
        check_tensors(preds, target, self.device, soft_labels=self.input.soft_labels)
        return rows_and_labels(preds.detach().cpu(), target.detach().cpu(), self.input, self.task)


@cache
def _rounding(dtype: Any) -> float:
    return float(torch.finfo(dtype).eps)
