"""Tensors of rows and metrics of the torch adapter, for its tests."""

from typing import Any

import numpy as np
import pytest

import trueness as tn

torch_only = pytest.mark.adapters


def tensors(n_classes: int = 4, n_rows: int = 900, dtype: Any = None) -> Any:
    import torch

    y_true, y_prob = tn.simulate.calibrated(n_rows, np.ones(n_classes), rng=n_classes)
    return torch.tensor(tn.simulate.sharpen(y_prob, 1.4), dtype=dtype or torch.float64), torch.tensor(y_true)


def own_rows(metric: Any) -> int:
    """How many rows this process has added: in the states, or beside them while they are those of all processes."""
    states = metric._cache if metric._is_synced else metric.metric_state
    return metric._tables_of(states)[0].n_rows


def metric_of(name: str = "VariationCalibrationError", *args: Any, **options: Any) -> Any:
    from trueness.adapters import torch as adapter

    return getattr(adapter, name)(*args, **options)
