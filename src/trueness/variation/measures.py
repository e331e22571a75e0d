"""The variation measures: formulas, what is known about each, and the list of all.

To add a measure, write its formula here and put it in the list below, with its facts.

Wilcox (1973) also lists RanVR (smallest over largest probability) and Kaiser's B. Both are 0 as soon as a single rank
was never observed, whatever the other ranks are, so they are not useful on rank frequencies and are left out.

References: Wilcox 1973, "Indices of qualitative variation and political measurement"; Bilson et al. 2025,
"A metrological framework for uncertainty evaluation in machine learning classification models"; Kvålseth 1988.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness.variation.definition import Variation
from trueness.variation.expectation import entropy_variance, expected_entropy

_TINY = np.finfo(np.float64).tiny


def entropy(x: FloatArray) -> FloatArray:
    """ℋ(p) = -Σ p log_C p, with 0·log 0 = 0 (the paper, section 2.1)."""
    return np.asarray((0.0 - np.add.reduce(x * log_or_finite(x), axis=-1)) / math.log(x.shape[-1]))


def log_or_finite(x: FloatArray, out: FloatArray | None = None) -> FloatArray:
    """ln x, or a finite number where x = 0, so that x·ln x is 0 there without a warning."""
    positive = np.empty_like(x) if out is None else out
    np.maximum(x, _TINY, out=positive)
    np.log(positive, out=positive)
    return positive


def confidence(x: FloatArray) -> FloatArray:
    """The first entry x₁ of the ordered vector, which ECE compares (conf and acc in the paper's section 2.2)."""
    return x[..., 0]


def max_probability(x: FloatArray) -> FloatArray:
    """max x, the literal definition of confidence in the paper; differs from x₁ on rank frequencies only."""
    return np.asarray(np.max(x, axis=-1))


def wilcox_variation_ratio(x: FloatArray) -> FloatArray:
    """C(1 - max p)/(C - 1): WVR, ModVR, DM."""
    c = x.shape[-1]
    return np.asarray(c / (c - 1) * (1.0 - np.max(x, axis=-1)))


def iqv(x: FloatArray) -> FloatArray:
    """C/(C - 1)·(1 - Σp²): index of qualitative variation, VarNC, VA."""
    c = x.shape[-1]
    return np.asarray(c / (c - 1) * (1.0 - np.sum(x * x, axis=-1)))


def average_deviation(x: FloatArray) -> FloatArray:
    """1 - C/(2(C - 1))·Σ|p - 1/C|: AvDev, ADA."""
    c = x.shape[-1]
    return np.asarray(1.0 - c / (2 * (c - 1)) * np.sum(np.abs(x - 1 / c), axis=-1))


def mean_difference(x: FloatArray) -> FloatArray:
    """1 - Σ_{i<j}|p_i - p_j|/(C - 1): MNDif, MDA.

    In increasing order x₀ ≤ … the k-th is the larger of a pair k times and the smaller C - 1 - k times.
    """
    c = x.shape[-1]
    times = 2.0 * np.arange(c) - (c - 1)
    return np.asarray(1.0 - np.sum(np.sort(x, axis=-1) * times, axis=-1) / (c - 1))


def standard_deviation(x: FloatArray) -> FloatArray:
    """1 - √(1 - IQV): StDev, CNV; 1 - IQV = C/(C - 1)·Σ(p - 1/C)², which keeps its digits near uniform."""
    c = x.shape[-1]
    return np.asarray(1.0 - np.sqrt(c / (c - 1) * np.sum((x - 1 / c) ** 2, axis=-1)))


def mode_deviation(x: FloatArray) -> FloatArray:
    """1 - √(Σ(max p - p)²/(C - 1)): SDM, Kvålseth 1988."""
    from_mode = np.max(x, axis=-1, keepdims=True) - x
    return np.asarray(1.0 - np.sqrt(np.sum(from_mode**2, axis=-1) / (x.shape[-1] - 1)))


def margin(x: FloatArray) -> FloatArray:
    """1 - (x₁ - x₂): the first two ranks only; above 1 if rank 2 was observed more often than rank 1."""
    return np.asarray(1.0 - (x[..., 0] - x[..., 1]))


def _entropy_variance(count: IntArray, probability: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The variance of the entropy to base C."""
    variance, error = entropy_variance(count, probability)
    return variance / math.log(probability.shape[-1]) ** 2, error


def _half_ratio(n_classes: int) -> float:
    return n_classes / (2 * (n_classes - 1))


def _ratio(n_classes: int) -> float:
    return n_classes / (n_classes - 1)


def _root_ratio(n_classes: int) -> float:
    return math.sqrt(n_classes / (2 * (n_classes - 1)))


def _mode_ratio(n_classes: int) -> float:
    """½·(Σd + max d)/(‖d‖₂·√(C - 1)) with d = max p - p, largest at d ∝ (2, 1, …, 1)."""
    return math.sqrt((n_classes + 2) / (n_classes - 1)) / 2


def _top_range(n_classes: int) -> tuple[float, float]:
    return 1.0 / n_classes, 1.0


_MEASURES = (
    Variation(
        "entropy",
        entropy,
        symmetric=True,
        expectation=expected_entropy,
        kernel="entropy",
        variance=_entropy_variance,
    ),
    Variation(
        "confidence",
        confidence,
        _top_range,
        grows_with_dispersion=False,
        lipschitz=0.5,
        symmetric=False,
        linear=True,
        kernel="confidence",
    ),
    Variation(
        "max_probability",
        max_probability,
        _top_range,
        grows_with_dispersion=False,
        lipschitz=0.5,
        symmetric=True,
        kernel="confidence",  # the same on sorted rows
    ),
    Variation("wilcox_variation_ratio", wilcox_variation_ratio, lipschitz=_half_ratio, symmetric=True),
    Variation("iqv", iqv, lipschitz=_ratio, symmetric=True),
    Variation("average_deviation", average_deviation, lipschitz=_half_ratio, symmetric=True),
    Variation("mean_difference", mean_difference, lipschitz=1.0, symmetric=True),
    Variation("standard_deviation", standard_deviation, lipschitz=_root_ratio, symmetric=True),
    Variation("mode_deviation", mode_deviation, lipschitz=_mode_ratio, symmetric=True),
    # Linear too, but not declared so: assessments by margin would get other simulated numbers than before.
    Variation("margin", margin, lipschitz=1.0, symmetric=False),
)

variations: Mapping[str, Variation] = MappingProxyType({measure.name: measure for measure in _MEASURES})
"""The measures that have a name; `renyi(α)` and `tsallis(α)` make more."""

ENTROPY, CONFIDENCE = variations["entropy"], variations["confidence"]
