"""Checks of the tensors that a metric is updated with (type, device, dtype, shape), and their rows."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from trueness.adapters._metric_input import MetricInput
from trueness.refusals import InvalidTypeError, InvalidValueError


def wrong_shapes(preds: Tensor, target: Tensor, remedy: str) -> InvalidValueError:
    """The refusal of tensors whose shapes do not fit."""
    cause = f"preds has shape {tuple(preds.shape)} and target {tuple(target.shape)}"
    return InvalidValueError("wrong-shape", cause, remedy, argument="preds")


def check_tensors(preds: Any, target: Any, device: Any, *, soft_labels: bool = False) -> None:
    """Refuse what is not a tensor, is on another device or has the wrong dtype."""
    for argument, tensor in (("preds", preds), ("target", target)):
        if not isinstance(tensor, Tensor):
            cause = f"`{argument}` must be a tensor, got {type(tensor).__name__}"
            raise InvalidTypeError("wrong-type", cause, argument=argument)
        if tensor.device != device:
            cause = (
                f"`{argument}` is on {tensor.device}, the metric on {device}: call "
                f"metric.to({tensor.device!r})"
            )
            raise InvalidValueError("device-memory", cause, argument=argument)
    if not preds.dtype.is_floating_point:
        raise _wrong_dtype("preds", preds, "predictions must be floating-point (the order is preds, target)")
    if soft_labels:
        if not target.dtype.is_floating_point:
            raise _wrong_dtype("target", target, "soft labels are shares of the classes, of a floating dtype")
    elif target.dtype.is_floating_point or target.dtype.is_complex:
        raise _wrong_dtype("target", target, "targets must be class indices, of an integer dtype")


def _wrong_dtype(argument: str, tensor: Tensor, remedy: str) -> InvalidTypeError:
    cause = f"`{argument}` has dtype {tensor.dtype}"
    return InvalidTypeError("wrong-type", cause, remedy, argument=argument)


def rows_and_labels(preds: Tensor, target: Tensor, input: MetricInput, task: str) -> tuple[Tensor, Tensor]:
    """Predictions as (n, C) and labels as (n,), or soft ones as (n, C); only shapes are checked here."""
    if input.soft_labels:
        return _rows_and_shares(preds, target, input, task)
    if task == "binary":
        if preds.shape != target.shape:
            raise wrong_shapes(
                preds,
                target,
                "with task='binary' both must have one entry per row: the probability of class 1, and the class",
            )
        of_class_1 = preds.detach().reshape(-1).double()
        rest = torch.zeros_like(of_class_1) if input.from_logits else 1.0 - of_class_1
        return torch.stack([rest, of_class_1], dim=1), target.reshape(-1).long()
    n_classes, axis = input.n_classes, input.class_axis
    fits = -preds.ndim <= axis < preds.ndim and preds.ndim > 1 and preds.shape[axis] == n_classes
    rest = preds.shape[: axis % preds.ndim] + preds.shape[axis % preds.ndim + 1 :] if fits else None
    if target.shape != rest:
        raise wrong_shapes(
            preds,
            target,
            f"with num_classes={n_classes} and class_axis={axis} axis {axis} of preds must have length "
            f"{n_classes}, and target the shape without it: (N, {n_classes}, ...) and (N, ...) with "
            "class_axis=1; or both shapes must be equal with task='binary'",
        )
    if preds.ndim == 2 and axis % 2 == 1:
        return preds.detach(), target.long()
    return preds.detach().movedim(axis, -1).reshape(-1, n_classes), target.reshape(-1).long()


def _rows_and_shares(preds: Tensor, target: Tensor, input: MetricInput, task: str) -> tuple[Tensor, Tensor]:
    """Predictions and soft labels, both of the same shape, as (n, C)."""
    axis, n_classes = input.class_axis, input.n_classes
    inside = preds.ndim >= 2 and -preds.ndim <= axis < preds.ndim
    by_class = inside and preds.shape[axis] == n_classes
    if preds.shape != target.shape or not (task == "binary" or by_class):
        raise wrong_shapes(preds, target, "soft labels have the shape of the predictions")
    if task == "binary":
        share, of_class_1 = target.detach().reshape(-1).double(), preds.detach().reshape(-1).double()
        rest = torch.zeros_like(of_class_1) if input.from_logits else 1.0 - of_class_1
        return torch.stack([rest, of_class_1], dim=1), torch.stack([1.0 - share, share], dim=1)
    rows, shares = (each.detach().movedim(axis, -1).reshape(-1, n_classes) for each in (preds, target))
    return rows, shares.double()
