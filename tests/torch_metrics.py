"""Tensors of rows and metrics of the torch adapter, for its tests."""

from typing import Any

import numpy as np
import pytest

import trueness as tn

torch_only = pytest.mark.torch


def tensors(n_classes: int = 4, n_rows: int = 900, dtype: Any = None) -> Any:
    import torch

    y_true, y_prob = tn.simulate.calibrated(n_rows, np.ones(n_classes), rng=n_classes)
    return torch.tensor(tn.simulate.sharpen(y_prob, 1.4), dtype=dtype or torch.float64), torch.tensor(y_true)


def metric_of(name: str = "VariationCalibrationError", *args: Any, **options: Any) -> Any:
    from trueness.adapters import torch as adapter

    return getattr(adapter, name)(*args, **options)
