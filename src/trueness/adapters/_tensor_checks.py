"""Checks of the tensors that a metric is updated with: type, device, dtype, shape."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from trueness.refusals import InvalidTypeError, InvalidValueError


def wrong_shapes(preds: Tensor, target: Tensor, remedy: str, **facts: Any) -> InvalidValueError:
    """The refusal of tensors whose shapes do not fit."""
    return InvalidValueError(
        "wrong-shape",
        "preds has shape {preds} and target {target}",
        remedy,
        argument="preds",
        preds=tuple(preds.shape),
        target=tuple(target.shape),
        **facts,
    )


def check_tensors(preds: Any, target: Any, device: Any) -> None:
    """Refuse what is not a tensor, is on another device or has the wrong dtype."""
    for argument, tensor in (("preds", preds), ("target", target)):
        if not isinstance(tensor, Tensor):
            raise InvalidTypeError(
                "wrong-type",
                "{argument} must be a tensor, got {type}",
                argument=argument,
                type=type(tensor).__name__,
            )
        if tensor.device != device:
            raise InvalidValueError(
                "device-memory",
                "{argument} is on {device}, the metric on {own}: call metric.to({device!r})",
                argument=argument,
                device=str(tensor.device),
                own=str(device),
            )
    if not preds.dtype.is_floating_point:
        raise _wrong_dtype("preds", preds, "predictions must be floating-point (the order is preds, target)")
    if target.dtype.is_floating_point or target.dtype.is_complex:
        raise _wrong_dtype("target", target, "targets must be class indices, of an integer dtype")


def _wrong_dtype(argument: str, tensor: Tensor, remedy: str) -> InvalidTypeError:
    return InvalidTypeError(
        "wrong-type", "{argument} has dtype {dtype}", remedy, argument=argument, dtype=str(tensor.dtype)
    )
