"""For Hugging Face: `compute_metrics` of a `Trainer`, and a metric with the methods of the library `evaluate`.

    from trueness.adapters.huggingface import compute_metrics
    trainer = Trainer(model, arguments, eval_dataset=rows, compute_metrics=compute_metrics)

No library of Hugging Face is imported: the objects are used by their attributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from trueness._arguments import boolean
from trueness._random import Seed
from trueness.adapters._assess_options import require_assess_options
from trueness.assessment import assess, assess_table
from trueness.bins import Bins, as_bins, confidence_bins_for
from trueness.ranking import DEFAULT_TIES
from trueness.refusals import InvalidTypeError, InvalidValueError, nearest
from trueness.rows.containers import contents_of
from trueness.rows.validation import all_rows_ignored
from trueness.streaming import Accumulator
from trueness.table import Tables
from trueness.variation import Variation

__all__ = ["CalibrationModule", "ComputeMetrics", "compute_metrics"]

IGNORED = -100
"""The label of positions that do not count, in Hugging Face's models."""


class ComputeMetrics:
    """A function for `Trainer(compute_metrics=...)`: logits and labels to the numbers of `result.flat()`.

    Logits have the shape (rows, classes), or (sequences, positions, classes) for token classification and language
    models; the positions of a sequence are then a cluster. Positions with the label -100 are left out.

    >>> logits, labels = np.array([[2.0, 0.0], [0.5, 1.0], [9.0, 9.0]]), np.array([0, 1, -100])
    >>> ComputeMetrics(["accuracy", "n_rows"])((logits, labels))
    {'accuracy': 1.0, 'n_rows': 2.0}

    Parameters
    ----------
    names : list of str
        Which of the numbers to return, such as ["vce", "vce_low", "vce_high", "p_value"]; all of them by default.
    shift : bool
        Whether the prediction at a position is for the label at the next one, as in causal language models.
    from_logits : bool
        Whether predictions are logits, as those of a `Trainer` are unless `preprocess_logits_for_metrics` changes them.
    ignore_index : int
        The label of positions that are left out.
    options
        Options of `trueness.assess`, such as `bins`, `resamples`, `rng`, `by_class` and, for vocabularies, `top_k`.
    """

    def __init__(
        self,
        names: Sequence[str] | None = None,
        *,
        shift: bool = False,
        from_logits: bool = True,
        ignore_index: int = IGNORED,
        **options: Any,
    ) -> None:
        require_assess_options(options, but=["class_axis"], besides=["shift"])
        self._names, self._shift = _names_of(names), boolean("shift", shift)
        self._options = {"from_logits": from_logits, "ignore_index": ignore_index, **options}

    def __call__(self, eval_pred: Any) -> dict[str, float]:
        """The numbers of an `EvalPrediction`, or of a pair of predictions and labels."""
        predictions, labels = _predictions_and_labels(eval_pred)
        if self._shift:
            _refuse_other_shapes(predictions, labels)
            predictions, labels = predictions[:, :-1], labels[:, 1:]
        result = assess(labels, predictions, class_axis=-1, **self._options)
        return _chosen(result.flat(), self._names)


class CalibrationModule:
    """A metric with the methods of Hugging Face's `evaluate`: `add`, `add_batch` and `compute`.

    Batches are added to tables, so memory does not grow with the rows, and the numbers are those of all rows at once.

    >>> metric = CalibrationModule(["accuracy", "n_rows"])
    >>> metric.add_batch(predictions=[[0.9, 0.1], [0.4, 0.6]], references=[0, 1])
    >>> metric.add(prediction=[0.3, 0.7], reference=0)
    >>> metric.compute()
    {'accuracy': 0.6666666666666666, 'n_rows': 3.0}

    Parameters
    ----------
    names : list of str
        Which of the numbers to return, as in `ComputeMetrics`.
    ignore_index : int
        The label of rows that are left out.
    variation, bins, confidence_bins, by_class, ties, from_logits, normalize, level, tolerance, resamples, rng
        As in `trueness.assess`; `bins` cannot be of equal mass.
    """

    def __init__(
        self,
        names: Sequence[str] | None = None,
        *,
        variation: str | Variation = "entropy",
        bins: int | Bins = 10,
        confidence_bins: int | Bins | None = None,
        by_class: bool = True,
        ties: str = DEFAULT_TIES,
        from_logits: bool = False,
        normalize: bool = False,
        ignore_index: int = IGNORED,
        level: float = 0.95,
        tolerance: float | Mapping[str, float] | None = None,
        resamples: int = 999,
        rng: Seed = 0,
    ) -> None:
        self._names, self._ignore_index = _names_of(names), ignore_index
        self._rows: dict[str, Any] = {
            "variation": variation,
            "bins": bins,
            "confidence_bins": confidence_bins_for(as_bins(bins), confidence_bins),
            "by_class": by_class,
            "ties": ties,
            "from_logits": from_logits,
            "normalize": normalize,
        }
        self._inference: dict[str, Any] = {
            "level": level,
            "tolerance": tolerance,
            "resamples": resamples,
            "rng": rng,
        }
        self._stream: Accumulator | None = None
        self._n_ignored = 0

    @property
    def tables(self) -> Tables:
        """The tables of all rows so far."""
        if self._stream is None and self._n_ignored:
            raise all_rows_ignored(self._n_ignored)
        if self._stream is None:
            raise InvalidValueError("no-rows", "no rows were added", "call add_batch first")
        return self._stream.tables

    def add(self, *, prediction: Any, reference: Any) -> None:
        """Add one row."""
        self.add_batch(predictions=[prediction], references=[reference])

    def add_batch(self, *, predictions: Any, references: Any) -> None:
        """Add rows: probabilities, (rows, classes) or those of class 1, (rows,), and labels, (rows,)."""
        given, labels = contents_of(predictions, "predictions"), _array(references, "references")
        if labels.ndim == 1 and labels.dtype.kind in "iu" and len(labels) == given.shape[0]:
            kept = np.flatnonzero(labels != self._ignore_index)
            n_ignored = len(labels) - len(kept)
            given, labels = replace(given.take(kept), n_ignored=n_ignored), labels[kept]
            if len(kept) == 0:
                self._n_ignored += n_ignored
                return
        stream = self._stream
        if stream is None:
            n_classes = given.shape[1] if len(given.shape) == 2 and given.shape[1] > 1 else 2
            stream = Accumulator(n_classes, **self._rows)
        stream.update(labels, given)
        self._stream = stream  # not before: a batch that is refused leaves no trace

    def compute(self, *, predictions: Any = None, references: Any = None) -> dict[str, float]:
        """The numbers of all rows, with those that are passed here; the next batch then starts anew."""
        if predictions is not None:
            self.add_batch(predictions=predictions, references=references)
        result = assess_table(self.tables, **self._inference)
        self._stream, self._n_ignored = None, 0
        return _chosen(result.flat(), self._names)


def _predictions_and_labels(eval_pred: Any) -> tuple[Any, Any]:
    """Logits and labels as arrays. Models that return more than logits give a tuple, with the logits first."""
    predictions = getattr(eval_pred, "predictions", None)
    labels = getattr(eval_pred, "label_ids", None)
    if predictions is None:
        predictions, labels = _pair_of(eval_pred)
    if isinstance(predictions, tuple):
        predictions = predictions[0]
    if isinstance(labels, (tuple, dict)):
        raise InvalidTypeError(
            "wrong-type",
            "the labels are a {type}, such as those of question answering",
            "pass the logits and labels of one of them to trueness.assess",
            argument="label_ids",
            type=type(labels).__name__,
        )
    return _array(predictions, "predictions"), _array(labels, "label_ids")


def _pair_of(eval_pred: Any) -> tuple[Any, Any]:
    """The first two of a pair, or of the three that a Trainer passes with its inputs."""
    if not isinstance(eval_pred, (tuple, list)) or len(eval_pred) < 2:
        raise InvalidTypeError(
            "wrong-type",
            "{argument} must be an EvalPrediction or a pair of predictions and labels, got {type}",
            argument="eval_pred",
            type=type(eval_pred).__name__,
        )
    return eval_pred[0], eval_pred[1]


def _refuse_other_shapes(predictions: Any, labels: Any) -> None:
    """Refuse rows without positions, which cannot be shifted."""
    if predictions.ndim != 3 or labels.ndim != 2:
        raise InvalidValueError(
            "wrong-shape",
            "the predictions have the shape {of_predictions}, and the labels {of_labels}; a shift needs (sequences, "
            "positions, classes) and (sequences, positions)",
            "leave out {argument} for models that are not causal language models",
            argument="shift",
            of_predictions=predictions.shape,
            of_labels=labels.shape,
        )


def _names_of(names: Any) -> list[str] | None:
    if names is None:
        return None
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InvalidTypeError(
            "wrong-type",
            "{argument} must be a list of names such as ['vce', 'p_value'], got {value!r}",
            argument="names",
            value=names,
        )
    return list(names)


def _array(value: Any, argument: str) -> Any:
    """An array or tensor as a NumPy array."""
    data = contents_of(value, argument).data
    if data is None:
        raise InvalidTypeError(
            "wrong-type", "{argument} must be an array, got a data frame", argument=argument
        )
    return data


def _chosen(numbers: dict[str, float], names: Sequence[str] | None) -> dict[str, float]:
    """The numbers with these names; all of them if None."""
    for name in names or ():
        if name not in numbers:
            raise InvalidValueError(
                "unknown-name",
                "{name!q} is not among the numbers of this result",
                "{hint}",
                argument="names",
                name=name,
                hint=nearest(name, list(numbers)),
            )
    return numbers if names is None else {name: numbers[name] for name in names}


compute_metrics = ComputeMetrics()
"""All numbers of `trueness.assess` with its defaults, for `Trainer(compute_metrics=compute_metrics)`."""
