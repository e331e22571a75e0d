"""Calibration metrics for PyTorch: `torchmetrics.Metric` classes whose state is the table, as integers.

>>> import torch
>>> metric = VariationCalibrationError(num_classes=2)
>>> metric.update(torch.tensor([[0.9, 0.1]] * 10), torch.tensor([0, 1] * 5))
>>> round(metric.compute().item(), 6)
0.531004
>>> metric.table.n_rows
10

A state is a sum over rows, kept in words of whole numbers: it takes the same memory after any number of batches, and
what several processes have seen adds up to what one would have seen, to the bit.

Where the rows are decides how they are summed. Tensors in host memory go through the engines of the core, which read
them in place; tensors on a device are summed there by torch's own operations (`_device_sums`), and `update` does not
wait for it. A bad row is therefore no error in `update`: it is counted by kind and left out, and `compute` and `table`
raise.
"""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from typing import Any

import torch
from torch import Tensor
from torchmetrics import Metric

from trueness._border import require_choice, whole_number, yes_or_no
from trueness._content import TableSpec
from trueness.adapters._device_sums import MEASURES, device_sums
from trueness.adapters._host_sums import HostSums
from trueness.adapters._reading import KINDS, Reading
from trueness.adapters._words import N_TOTALS, sums_of, width
from trueness.binning import Bins, EqualMass, as_bins
from trueness.metrics import (
    DISTANCES,
    NORMS,
    expected_calibration_error,
    ranked_calibration_error,
    variation_calibration_error,
)
from trueness.ranking import TIES
from trueness.table import CalibrationTable
from trueness.variation import Variation, as_variation

__all__ = ["ExpectedCalibrationError", "RankedCalibrationError", "VariationCalibrationError"]

READ_IN_PLACE = (torch.float16, torch.float32, torch.float64)
"""What NumPy has too; others are widened first."""

CONTEXT = ("_update_count", "_to_sync", "_should_unsync", "_is_synced", "_enable_grad", "compute_on_cpu")
"""What torchmetrics changes while it computes the number of a batch."""

TASKS = ("multiclass", "binary")
ENGINES = ("auto", "host", "device")


class _TableMetric(Metric):
    """A number read off a table that batches add to.

    Parameters
    ----------
    num_classes : int
        Number of classes C; not needed for `task="binary"`.
    n_bins : int or EqualWidth, Edges, FineGrid
        A number means bins of equal width over the measure's attainable range.
    task : "multiclass" or "binary"
        Predictions (N, C, ...) with targets (N, ...), or both of one shape, with the probability of class 1.
    norm : "l1", "l2" or "max"
        How the gaps of the bins become one number.
    ties : "first" or "split"
        Of equal probabilities the lower class index ranks first, as in argmax; or they share the rank count.
    from_logits : bool
        Whether predictions are logits. It is never guessed.
    ignore_index : int
        Rows with this target are left out.
    engine : "auto", "host" or "device"
        "host" is the core's engine (compiled, if numba is there), "device" torch's operations; "auto" takes the first
        for tensors in host memory and the second for others.
    kwargs
        Of `torchmetrics.Metric`, such as `dist_sync_on_step` or `compute_on_cpu`.
    """

    is_differentiable = False
    higher_is_better = False
    full_state_update = False

    fingerprint: Tensor
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
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        for argument, value, accepted in (
            ("task", task, TASKS),
            ("norm", norm, NORMS),
            ("ties", ties, TIES),
            ("engine", engine, ENGINES),
        ):
            require_choice(argument, value, accepted)
        spec = _spec(_number_of_classes(num_classes, task), n_bins, as_variation(measure), ties)
        if ignore_index is not None and not isinstance(ignore_index, int):
            raise ValueError(f"ignore_index must be None or a whole number, got {ignore_index!r}")
        self.task, self.norm, self.engine = task, norm, engine
        self.reading = Reading(spec, yes_or_no("from_logits", from_logits), ignore_index)
        self._host = HostSums(self.reading)
        self._thresholds: dict[tuple[float, Any], Tensor] = {}
        words = torch.zeros((spec.bins.n_bins, width(spec)), dtype=torch.int64)
        self.add_state("bins", words, dist_reduce_fx="sum", persistent=True)
        totals = torch.zeros(N_TOTALS + len(KINDS), dtype=torch.int64)
        self.add_state("totals", totals, dist_reduce_fx="sum", persistent=True)
        # Tells sums of one kind from sums of another when metrics are grouped, merged or loaded. As bytes, because
        # torchmetrics compares states to rounding.
        self.add_state("fingerprint", _fingerprint(self.reading), dist_reduce_fx="max", persistent=True)

    def update(self, preds: Tensor, target: Tensor) -> None:
        """Add a batch: probabilities (N, C, ...) or, if binary, (N, ...), and targets (N, ...)."""
        rows, labels = self._rows_of(preds, target)
        if not len(rows):
            return
        eps = _rounding(preds.dtype)
        if self._on_host(rows):
            values = rows if rows.dtype in READ_IN_PLACE else rows.float()
            self._host.add(values.numpy(), labels.numpy(), eps, torch.get_num_threads())
        else:
            self._add(*device_sums(rows, labels, self.reading, eps, self._thresholds_on(rows.device, eps)))

    def forward(self, preds: Tensor, target: Tensor) -> Tensor:
        """Add a batch; the number of this batch alone, NaN if none of its rows counts.

        torchmetrics puts the batch in the place of all rows while it computes: whatever goes wrong, they come back.
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
            if self._counts(*self._rows_of(preds, target)):
                raise
        return torch.tensor(torch.nan, dtype=torch.float64, device=self.device)

    def _counts(self, rows: Tensor, labels: Tensor) -> bool:
        """Whether any row does."""
        ignored = self.reading.ignore_index
        return len(rows) > 0 and (ignored is None or bool((labels != ignored).any()))

    def _add(self, words: Tensor, totals: Tensor) -> None:
        self._bins = self._bins + words
        self._totals = self._totals + totals

    def _settle(self) -> None:
        """Put into the states what is not there yet."""
        sums = self._host.take(torch.get_num_threads())
        if sums is not None:
            self._add(*map(torch.from_numpy, sums))

    def __getstate__(self) -> dict[str, Any]:
        self._settle()
        state: dict[str, Any] = super().__getstate__()
        return state | {"_host": HostSums(self.reading)}

    # torchmetrics reads and writes states by their names, whatever it does with them, so whoever reads sees all rows.

    @property
    def bins(self) -> Tensor:
        """The words of all bins, (M, K): see `_words`."""
        self._settle()
        return self._bins

    @bins.setter
    def bins(self, words: Tensor) -> None:
        self._bins = words

    @property
    def totals(self) -> Tensor:
        """Tied and impossible rows, five sums in three words each, refused rows by kind, (21,): see `_words`."""
        self._settle()
        return self._totals

    @totals.setter
    def totals(self, words: Tensor) -> None:
        self._totals = words

    def reset(self) -> None:
        """Forget all rows."""
        self._host.forget()
        super().reset()

    @property
    def table(self) -> CalibrationTable:
        """All rows so far (of this process, unless `compute` is under way) as the core's table."""
        counts = self.totals.cpu().numpy()
        bad = {kind: int(n) for kind, n in zip(KINDS, counts[-len(KINDS) :], strict=True) if n}
        sums = sums_of(self.bins.cpu().numpy(), counts, self.reading.spec)
        if bad:
            raise ValueError(self._complaint(bad, int(sums.rows.sum())))
        return CalibrationTable(self.reading.spec, sums)

    def compute(self) -> Tensor:
        """The number, as float64; an error if a row was refused."""
        return torch.tensor(self._number(self.table), dtype=torch.float64, device=self.device)

    def _number(self, table: CalibrationTable) -> float:
        raise NotImplementedError

    def set_dtype(self, dst_type: Any) -> _TableMetric:  # noqa: ARG002
        """Nothing: sums are whole numbers whatever the dtype of predictions, and must stay so."""
        return self

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        saved = state_dict.get(f"{prefix}fingerprint")
        mine = self._defaults["fingerprint"]
        if saved is not None and not torch.equal(saved.cpu(), mine.cpu()):
            raise ValueError(
                f"the state {prefix or 'of this metric'} was saved by a metric with other classes, bins, measure or "
                "options, or by another version of trueness, and means something else: make the metric as it was"
            )
        if saved is not None:
            self._host.forget()
        super()._load_from_state_dict(state_dict, prefix, *args)

    def _reduce_states(self, incoming_state: dict[str, Any]) -> None:
        if not torch.equal(incoming_state["fingerprint"], self.fingerprint):
            raise ValueError("metrics merge only if their classes, bins, measure and options are the same")
        super()._reduce_states(incoming_state)

    def _rows_of(self, preds: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Predictions as (n, C) and labels as (n,), by looking at shapes and dtypes alone."""
        _check_tensors(preds, target, self.device)
        if self.task == "binary":
            if preds.shape != target.shape:
                raise ValueError(
                    f"preds has shape {tuple(preds.shape)} and target {tuple(target.shape)}; with task='binary' both "
                    "have one entry for each row, the probability of class 1 and the class"
                )
            of_class_1 = preds.detach().reshape(-1).double()
            rest = torch.zeros_like(of_class_1) if self.reading.from_logits else 1.0 - of_class_1
            return torch.stack([rest, of_class_1], dim=1), target.reshape(-1).long()
        n_classes = self.reading.spec.n_classes
        if preds.ndim < 2 or preds.shape[1] != n_classes or target.shape != preds.shape[:1] + preds.shape[2:]:
            raise ValueError(
                f"preds has shape {tuple(preds.shape)} and target {tuple(target.shape)}; with num_classes={n_classes} "
                f"they have shapes (N, {n_classes}, ...) and (N, ...), or the same shape with task='binary'"
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
            raise ValueError(f"engine='host' reads host memory, but preds is on {rows.device}")
        return True

    def _thresholds_on(self, device: Any, eps: float) -> Tensor:
        """Where bins end, as a tensor beside the rows: sent there once."""
        name = self.reading.spec.variation.name
        if name not in MEASURES:
            raise ValueError(
                f"the measure {name!r} is not written in torch, so that it cannot be taken on {device}; on a device "
                f"there are {', '.join(MEASURES)}"
            )
        if device.type == "mps":
            raise TypeError("this device has no float64: move the metric to the host and pass preds.cpu()")
        key = eps, device
        if key not in self._thresholds:
            self._thresholds[key] = torch.tensor(
                self.reading.thresholds(eps), dtype=torch.float64, device=device
            )
        return self._thresholds[key]

    def _complaint(self, bad: dict[str, int], n_good: int) -> str:
        remedies = {
            "outside [0, 1]": "pass from_logits=True for logits",
            "sum is not 1": "pass from_logits=True for logits, or divide each row by its sum",
            "label out of range": f"classes run from 0 to {self.reading.spec.n_classes - 1}, others need ignore_index",
        }
        if self.reading.from_logits:
            remedies["not finite"] = "-inf is a class that is ruled out, but not all classes may be"
        listed = "; ".join(
            f"{kind} in {n} ({remedies[kind]})" if kind in remedies else f"{kind} in {n}"
            for kind, n in bad.items()
        )
        total = sum(bad.values())
        return (
            f"{total} of {total + n_good} rows were refused: {listed}. reset() forgets them with all others"
        )


class VariationCalibrationError(_TableMetric):
    """VCE: how far the variation of outcomes is from the predicted one, in bins of the variation.

    `variation` is a name in `trueness.variations`, or a measure of your own, which only the host can take.

    >>> metric = VariationCalibrationError(num_classes=10, n_bins=10, variation="iqv", from_logits=True)
    >>> metric.update(torch.tensor([[10.0] + [0.0] * 9]), torch.tensor([0]))
    >>> metric.table.count
    array([1, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    """

    def __init__(
        self,
        num_classes: int | None = None,
        n_bins: int | Bins = 10,
        variation: str | Variation = "entropy",
        *,
        task: str = "multiclass",
        norm: str = "l1",
        ties: str = "first",
        from_logits: bool = False,
        ignore_index: int | None = None,
        engine: str = "auto",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            num_classes,
            n_bins,
            variation,
            task=task,
            norm=norm,
            ties=ties,
            from_logits=from_logits,
            ignore_index=ignore_index,
            engine=engine,
            **kwargs,
        )

    def _number(self, table: CalibrationTable) -> float:
        return variation_calibration_error(table, norm=self.norm)


class ExpectedCalibrationError(_TableMetric):
    """ECE: how far accuracy is from the mean confidence of the top label, in bins of confidence over [1/C, 1].

    >>> metric = ExpectedCalibrationError(task="binary")
    >>> metric.update(torch.tensor([0.9, 0.8, 0.3]), torch.tensor([1, 1, 1]))
    >>> round(metric.compute().item(), 4)
    0.3333
    """

    def __init__(
        self,
        num_classes: int | None = None,
        n_bins: int | Bins = 10,
        *,
        task: str = "multiclass",
        norm: str = "l1",
        ties: str = "first",
        from_logits: bool = False,
        ignore_index: int | None = None,
        engine: str = "auto",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            num_classes,
            n_bins,
            "confidence",
            task=task,
            norm=norm,
            ties=ties,
            from_logits=from_logits,
            ignore_index=ignore_index,
            engine=engine,
            **kwargs,
        )

    def _number(self, table: CalibrationTable) -> float:
        return expected_calibration_error(table, norm=self.norm)


class RankedCalibrationError(_TableMetric):
    """RCE: how far the frequencies of all ranks are from those predicted, in bins of the variation.

    `distance` is "tv", "w1" or "hellinger".
    """

    def __init__(
        self,
        num_classes: int | None = None,
        n_bins: int | Bins = 10,
        variation: str | Variation = "entropy",
        distance: str = "tv",
        *,
        task: str = "multiclass",
        norm: str = "l1",
        ties: str = "first",
        from_logits: bool = False,
        ignore_index: int | None = None,
        engine: str = "auto",
        **kwargs: Any,
    ) -> None:
        require_choice("distance", distance, DISTANCES)
        super().__init__(
            num_classes,
            n_bins,
            variation,
            task=task,
            norm=norm,
            ties=ties,
            from_logits=from_logits,
            ignore_index=ignore_index,
            engine=engine,
            **kwargs,
        )
        self.distance = distance

    def _number(self, table: CalibrationTable) -> float:
        return ranked_calibration_error(table, self.distance, norm=self.norm)


def _number_of_classes(num_classes: int | None, task: str) -> int:
    if task == "binary":
        if num_classes not in (None, 2):
            raise ValueError(f"task='binary' has two classes, got num_classes={num_classes!r}")
        return 2
    if num_classes is None:
        raise ValueError("num_classes is needed, unless task='binary'")
    return whole_number("num_classes", num_classes, 2)


def _spec(n_classes: int, n_bins: int | Bins, measure: Variation, ties: str) -> TableSpec:
    bins = as_bins(n_bins)
    if isinstance(bins, EqualMass):
        raise ValueError(
            "EqualMass bins depend on all rows, which a metric does not keep: pass "
            f"EqualMass({bins.n_bins}).fit(probabilities), or FineGrid() and coarsen `table` at the end"
        )
    return TableSpec(n_classes, measure, bins.resolve(*measure.range_for(n_classes)), ties)


@cache
def _rounding(dtype: Any) -> float:
    return float(torch.finfo(dtype).eps)


def _fingerprint(reading: Reading) -> Tensor:
    spec = reading.spec
    told = (
        N_TOTALS,
        spec.n_classes,
        spec.variation.name,
        spec.bins.edges,
        spec.bins.snap,
        spec.ties,
        *reading[1:],
    )
    return torch.tensor(list(blake2b(repr(told).encode(), digest_size=8).digest()), dtype=torch.int64)


def _check_tensors(preds: Any, target: Any, device: Any) -> None:
    for argument, tensor in (("preds", preds), ("target", target)):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{argument} must be a tensor, got {type(tensor).__name__}")
        if tensor.device != device:
            raise ValueError(
                f"{argument} is on {tensor.device}, the metric on {device}: move it with metric.to(...)"
            )
    if not preds.dtype.is_floating_point:
        raise TypeError(
            f"preds has dtype {preds.dtype}; predictions are floating-point (the order is preds, target)"
        )
    if target.dtype.is_floating_point or target.dtype.is_complex:
        raise TypeError(f"target has dtype {target.dtype}; targets are class indices")
