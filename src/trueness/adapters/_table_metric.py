"""The base class of the torchmetrics metrics: its state is one table, or two, as integers."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.utilities.exceptions import TorchMetricsUserError

from trueness._arguments import boolean, require_choice
from trueness.adapters._device_sums import MEASURES, device_sums
from trueness.adapters._host_sums import HostSums
from trueness.adapters._integer_words import N_TOTALS, sums_of, width
from trueness.adapters._metric_input import N_REASONS, MetricInput, n_classes_of
from trueness.adapters._tensor_checks import check_tensors, wrong_shapes
from trueness.bins import Bins
from trueness.metrics import NORMS
from trueness.refusals import InvalidTypeError, InvalidValueError
from trueness.rows import RowCode
from trueness.table import CalibrationTable, Tables
from trueness.variation import Variation

READ_IN_PLACE = (torch.float16, torch.float32, torch.float64)
"""The dtypes that NumPy has too; others are converted to float32 first."""

CONTEXT = ("_update_count", "_to_sync", "_should_unsync", "_is_synced", "_enable_grad", "compute_on_cpu")
"""The attributes that torchmetrics changes in `forward`, while it computes the metric of a batch."""

TASKS = ("multiclass", "binary")
ENGINES = ("auto", "host", "device")


class TableMetric(Metric):
    """A number computed from a table to which each batch is added.

    Its arguments are described in `trueness.adapters.torch.VariationCalibrationError`.
    """

    is_differentiable = False
    higher_is_better = False
    full_state_update = False

    fingerprint: Tensor
    _computed: Tensor | None
    _bins: Tensor
    _totals: Tensor

    def __init__(
        self,
        num_classes: int | None,
        n_bins: int | Bins,
        measure: str | Variation,
        *,
        task: str,
        norm: str,
        ties: str,
        from_logits: bool,
        ignore_index: int | None,
        engine: str,
        confidence_bins: int | Bins | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        for argument, value, accepted in (
            ("task", task, TASKS),
            ("norm", norm, NORMS),
            ("engine", engine, ENGINES),
        ):
            require_choice(argument, value, accepted)
        if ignore_index is not None and not isinstance(ignore_index, int):
            raise InvalidValueError(
                "bad-argument",
                "ignore_index must be None or an integer, got {value!r}",
                argument="ignore_index",
                value=ignore_index,
            )
        self.task, self.norm, self.engine = task, norm, engine
        self.input = MetricInput.of(
            n_classes_of(num_classes, task),
            n_bins,
            measure,
            ties,
            confidence_bins=confidence_bins,
            from_logits=boolean("from_logits", from_logits),
            ignore_index=ignore_index,
        )
        self._computed_tables: Tables | None = None
        self._host = HostSums(self.input)
        self._thresholds: dict[tuple[float, Any], list[Tensor]] = {}
        words = torch.zeros((sum(self._n_bins()), width(self.input.spec)), dtype=torch.int64)
        self.add_state("bins", words, dist_reduce_fx="sum", persistent=True)
        totals = torch.zeros(N_TOTALS + N_REASONS, dtype=torch.int64)
        self.add_state("totals", totals, dist_reduce_fx="sum", persistent=True)
        # Distinguishes sums that must not be mixed when metrics are grouped, merged or loaded. Stored as bytes, because
        # torchmetrics compares states with a tolerance.
        self.add_state("fingerprint", self.input.fingerprint(), dist_reduce_fx="max", persistent=True)

    def update(self, preds: Tensor, target: Tensor) -> None:
        """Add a batch: predictions (N, C, ...) or, for a binary task, (N, ...), and targets (N, ...)."""
        rows, labels = self._rows_of(preds, target)
        if not len(rows):
            return
        eps = _rounding(preds.dtype)
        if self._on_host(rows):
            values = rows if rows.dtype in READ_IN_PLACE else rows.float()
            self._host.add(values.numpy(), labels.numpy(), eps, torch.get_num_threads())
        else:
            self._add(*device_sums(rows, labels, self.input, eps, self._thresholds_on(rows.device, eps)))

    def forward(self, preds: Tensor, target: Tensor) -> Tensor:
        """Add a batch and return the metric of this batch alone, NaN if all of its rows are ignored.

        torchmetrics replaces the states by those of the batch meanwhile. They are restored after an error too.
        """
        before, context = (self.bins, self.totals), {name: getattr(self, name) for name in CONTEXT}
        try:
            number: Tensor = super().forward(preds, target)
            return number
        except Exception:
            batch = self.bins, self.totals
            if batch[0] is not before[0]:
                for name, value in context.items():
                    setattr(self, name, value)
                self._computed = None
                self._bins, self._totals = before[0] + batch[0], before[1] + batch[1]
            if self._has_counted_rows(*self._rows_of(preds, target)):
                raise
        return torch.tensor(torch.nan, dtype=torch.float64, device=self.device)

    def _has_counted_rows(self, rows: Tensor, labels: Tensor) -> bool:
        """Whether there is a row that is not ignored."""
        ignored = self.input.ignore_index
        return len(rows) > 0 and (ignored is None or bool((labels != ignored).any()))

    def _add(self, words: Tensor, totals: Tensor) -> None:
        self._bins = self._bins + words
        self._totals = self._totals + totals

    def _flush_host_sums(self) -> None:
        """Add to the states the sums of the host engine, and the rows that it has not summed yet."""
        sums = self._host.take(torch.get_num_threads())
        if sums is not None:
            self._add(*map(torch.from_numpy, sums))

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
        """Numbers of tied and impossible rows, five sums in three words each, skipped rows by reason, (21,)."""
        self._flush_host_sums()
        return self._totals

    @totals.setter
    def totals(self, words: Tensor) -> None:
        self._totals = words

    def reset(self) -> None:
        """Remove all rows."""
        self._host.forget()
        super().reset()

    @property
    def table(self) -> CalibrationTable:
        """The table of the rows that `compute` covers: those of all processes, if there are several.

        Reading it never communicates. With several processes it is the table that the last `compute` made, so every
        process must have called `compute` since its last update; inside `sync_context` it is that of all processes too.
        """
        return self._tables().by_variation

    @property
    def confidence_table(self) -> CalibrationTable | None:
        """The same rows binned by confidence; None unless `confidence_bins` was given."""
        return _confidence_table(self._tables())

    @property
    def local_table(self) -> CalibrationTable:
        """The table of the rows of this process alone."""
        return self._local_tables().by_variation

    @property
    def local_confidence_table(self) -> CalibrationTable | None:
        """As `local_table`, binned by confidence; None unless `confidence_bins` was given."""
        return _confidence_table(self._local_tables())

    def compute(self) -> Tensor:
        """The value of the metric, as float64; an error if a row was refused."""
        try:
            self._computed_tables = self._tables_of(self.metric_state)
            number = self._number(self._computed_tables.by_variation)
        except Exception:
            # After an error torchmetrics would leave the sums of all processes in the place of this one's.
            if self._is_synced:
                self.unsync()
            raise
        return torch.tensor(number, dtype=torch.float64, device=self.device)

    def _tables(self) -> Tables:
        """The tables that `compute` used, without waiting for other processes."""
        if not self._is_synced:
            # torchmetrics caches the number as long as it is valid, and the tables are valid as long.
            if self._computed is not None and self._computed_tables is not None:
                return self._computed_tables
            if self._to_sync and self.distributed_available_fn():
                raise TorchMetricsUserError(
                    "the tables of all processes have not been added since the last update: call metric.compute() on "
                    "every process first; metric.local_table has the rows of this process alone"
                )
        return self._tables_of(self.metric_state)

    def _local_tables(self) -> Tables:
        return self._tables_of(self._cache if self._is_synced else self.metric_state)

    def _tables_of(self, states: dict[str, Tensor]) -> Tables:
        """The tables that the states stand for; an error if there were bad rows."""
        counts, words = states["totals"].cpu().numpy(), states["bins"].cpu().split(self._n_bins())
        tables = Tables.of(
            [
                CalibrationTable(spec, sums_of(of_spec.numpy(), counts, spec))
                for spec, of_spec in zip(self.input.specs, words, strict=True)
            ]
        )
        if counts[-N_REASONS:].any():
            raise self._refusal(counts[-N_REASONS:].tolist(), tables.n_rows)
        return tables

    def _n_bins(self) -> list[int]:
        """The number of bins of each table."""
        return [spec.bins.n_bins for spec in self.input.specs]

    def _number(self, table: CalibrationTable) -> float:
        raise NotImplementedError

    def set_dtype(self, dst_type: Any) -> TableMetric:  # noqa: ARG002
        """Do nothing: the sums are integers whatever the dtype of the predictions."""
        return self

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        saved = state_dict.get(f"{prefix}fingerprint")
        mine = self._defaults["fingerprint"]
        if saved is not None and not torch.equal(saved.cpu(), mine.cpu()):
            raise InvalidValueError(
                "different-state",
                "the state {state} was saved by a metric with other classes, bins, variation measure or options, or by "
                "another version of trueness: create the metric as it was when it was saved",
                state=prefix or "of this metric",
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
        """Predictions as (n, C) and labels as (n,); only shapes and dtypes are checked here."""
        check_tensors(preds, target, self.device)
        if self.task == "binary":
            if preds.shape != target.shape:
                raise wrong_shapes(
                    preds,
                    target,
                    "with task='binary' both must have one entry per row: the probability of class 1, and the class",
                )
            of_class_1 = preds.detach().reshape(-1).double()
            rest = torch.zeros_like(of_class_1) if self.input.from_logits else 1.0 - of_class_1
            return torch.stack([rest, of_class_1], dim=1), target.reshape(-1).long()
        n_classes = self.input.spec.n_classes
        if preds.ndim < 2 or preds.shape[1] != n_classes or target.shape != preds.shape[:1] + preds.shape[2:]:
            raise wrong_shapes(
                preds,
                target,
                "with num_classes={n_classes} the shapes must be (N, {n_classes}, ...) and (N, ...), or equal with "
                "task='binary'",
                n_classes=n_classes,
            )
        if preds.ndim == 2:
            return preds.detach(), target.long()
        return preds.detach().movedim(1, -1).reshape(-1, n_classes), target.reshape(-1).long()

    def _on_host(self, rows: Tensor) -> bool:
        if self.engine == "auto" and rows.device.type == "cpu":
            return not torch.compiler.is_compiling()
        if self.engine != "host":
            return False
        if rows.device.type != "cpu":
            raise InvalidValueError(
                "device-memory",
                "engine='host' reads host memory, but preds is on {device}",
                "pass preds.cpu() or engine='auto'",
                argument="preds",
                device=str(rows.device),
            )
        return True

    def _thresholds_on(self, device: Any, eps: float) -> list[Tensor]:
        """The ends of the bins of each table as tensors on the device of the rows: sent there once."""
        name = self.input.spec.variation.name
        if name not in MEASURES:
            raise InvalidValueError(
                "unsupported-measure",
                "variation={name!r} is not implemented in torch, so it cannot be used on {device}",
                "on a device use one of {measures}",
                argument="variation",
                name=name,
                device=str(device),
                measures=", ".join(MEASURES),
            )
        if device.type == "mps":
            raise InvalidTypeError(
                "device-memory",
                "this device has no float64: move the metric to the CPU and pass preds.cpu()",
                argument="preds",
            )
        key = eps, device
        if key not in self._thresholds:
            self._thresholds[key] = [
                torch.tensor(ends, dtype=torch.float64, device=device) for ends in self.input.thresholds(eps)
            ]
        return self._thresholds[key]

    def _refusal(self, n_bad: list[int], n_good: int) -> InvalidValueError:
        """The refusal of the bad rows: how many there are for each reason, and what to do."""
        last_class = self.input.spec.n_classes - 1
        words = {
            RowCode.NOT_FINITE: "probabilities that are not finite",
            RowCode.BAD_LOGITS: "logits that are not finite (a logit may be -inf, but not all logits of a row)",
            RowCode.OUTSIDE_RANGE: "probabilities outside [0, 1] (for logits pass from_logits=True)",
            RowCode.SUM_NOT_1: "a sum other than 1 (for logits pass from_logits=True; or divide each row by its sum)",
            RowCode.LABEL_OUT_OF_RANGE: f"a label out of range (labels must be 0 to {last_class}, or equal to "
            "ignore_index)",
        }
        count_of = {code: n for code, n in zip(self.input.reasons, n_bad, strict=True) if n}
        return InvalidValueError(
            "bad-rows",
            "{n_bad} of {n_rows} rows is invalid: {listed}"
            if sum(n_bad) == 1
            else "{n_bad} of {n_rows} rows are invalid: {listed}",
            "call reset() to start again",
            n_bad=sum(n_bad),
            n_rows=sum(n_bad) + n_good,
            listed="; ".join(
                f"{n} {'has' if n == 1 else 'have'} {words[code]}" for code, n in count_of.items()
            ),
            count_of={code.refusal_code: n for code, n in count_of.items()},
        )


def _confidence_table(tables: Tables) -> CalibrationTable | None:
    """The second of two tables; None if there is only one, even if that is binned by confidence."""
    return None if tables.by_confidence is tables.by_variation else tables.by_confidence


@cache
def _rounding(dtype: Any) -> float:
    return float(torch.finfo(dtype).eps)
