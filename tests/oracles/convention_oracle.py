"""Calibration errors of other libraries in plain loops, from their published definitions."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

Pair = tuple[float, bool]
"""The predicted number of a row, and whether the event happened."""


def top_label(y_true: np.ndarray, y_prob: np.ndarray) -> list[Pair]:
    """The largest probability, and whether its first class is the true one."""
    return [(max(p), p.index(max(p)) == y) for y, p in zip(y_true.tolist(), y_prob.tolist(), strict=True)]


def class_1(y_true: np.ndarray, y_prob: np.ndarray) -> list[Pair]:
    """The probability of class 1, and whether it is the true one."""
    return [(p[1], y == 1) for y, p in zip(y_true.tolist(), y_prob.tolist(), strict=True)]


def class_1_of_two(y_true: np.ndarray, y_prob: np.ndarray) -> list[Pair]:
    """Class 1 of two classes, else the top label."""
    return class_1(y_true, y_prob) if y_prob.shape[1] == 2 else top_label(y_true, y_prob)


def error(pairs: Sequence[Pair], bin_of: Callable[[float], int | None], norm: str = "l1") -> float:
    """Σ n_m/N·|ȳ_m - p̄_m| over the bins that the function names; None is no bin."""
    bins: dict[int, list[Pair]] = {}
    for pair in pairs:
        index = bin_of(pair[0])
        if index is not None:
            bins.setdefault(index, []).append(pair)
    gaps = [(len(rows) / len(pairs), abs(mean_gap(rows))) for rows in bins.values()]
    if norm == "max":
        return max(gap for _, gap in gaps)
    total = math.fsum(weight * gap ** (2 if norm == "l2" else 1) for weight, gap in gaps)
    return math.sqrt(total) if norm == "l2" else total


def mean_gap(rows: Sequence[Pair]) -> float:
    """Mean prediction minus frequency."""
    return (math.fsum(p for p, _ in rows) - sum(y for _, y in rows)) / len(rows)


def bin_above(edges: Sequence[float]) -> Callable[[float], int]:
    """[e_k, e_{k+1}), and the last edge on its own."""
    return lambda value: sum(value >= edge for edge in edges) - 1


def bin_below(edges: Sequence[float]) -> Callable[[float], int]:
    """(e_k, e_{k+1}], the first edge with the first bin."""
    return lambda value: max(sum(value > edge for edge in edges) - 1, 0)


def torchmetrics(y_true: np.ndarray, y_prob: np.ndarray, n_bins: int, norm: str = "l1") -> float:
    """Confidences and edges in float32, closed on the left, 1 on its own."""
    pairs = [(float(np.float32(p)), y) for p, y in top_label(y_true, y_prob)]
    step = Fraction(float(np.float32(1) / np.float32(n_bins)))
    edges = [
        float(np.float32(float(k * step if k < (n_bins + 1) // 2 else 1 - (n_bins - k) * step)))
        for k in range(n_bins + 1)
    ]
    return error(pairs, bin_above(edges), norm)


def netcal(y_true: np.ndarray, y_prob: np.ndarray, n_bins: int) -> float:
    """Closed on the left, the last bin with 1; float64 rows."""
    edges = np.linspace(0, 1, n_bins + 1).tolist()
    above = bin_above(edges)
    return error(class_1_of_two(y_true, y_prob), lambda value: min(above(value), n_bins - 1))


def scikit_learn(y_true: np.ndarray, y_prob: np.ndarray, n_bins: int) -> float:
    """Closed on the right."""
    return error(class_1_of_two(y_true, y_prob), bin_below(np.linspace(0, 1, n_bins + 1).tolist()))


def uncertainty_calibration(y_true: np.ndarray, y_prob: np.ndarray, n_bins: int) -> float:
    """Closed on the right, edges k/M."""
    return error(top_label(y_true, y_prob), bin_below([k / n_bins for k in range(n_bins + 1)]))


def equal_mass(pairs: Sequence[Pair], n_bins: int) -> float:
    """Edges half-way between parts of the sorted rows, the first N mod M of them with one row more."""
    values = sorted(p for p, _ in pairs)
    size, more = divmod(len(values), n_bins)
    ends = [k * size + min(k, more) for k in range(1, n_bins)]
    edges = sorted({(values[end - 1] + values[end]) / 2 for end in ends})
    return error(pairs, lambda value: sum(value > edge for edge in edges))


def helm(y_true: np.ndarray, y_prob: np.ndarray) -> float:
    """Ten bins of equal mass; the row is right if every class with the largest probability is the true one."""
    pairs = [
        (max(p), [k for k, one in enumerate(p) if one == max(p)] == [y])
        for y, p in zip(y_true.tolist(), y_prob.tolist(), strict=True)
    ]
    return equal_mass(pairs, 10)


def humanitys_last_exam(pairs: Sequence[Pair]) -> float:
    """Bins of 100 rows by confidence; the last one, which goes to the end, does not count. No equal confidences."""
    ordered = sorted(pairs)
    bins = [ordered[100 * k : 100 * k + 100] for k in range(len(ordered) // 100 - 1)]
    return math.sqrt(math.fsum(len(rows) / len(pairs) * mean_gap(rows) ** 2 for rows in bins))


def laves_uce(y_true: np.ndarray, y_prob: np.ndarray, n_bins: int) -> float:
    """Entropy to the base C against the error rate; entropies of exactly 0 are in no bin."""
    base = math.log(y_prob.shape[1])
    pairs = [
        (abs(math.fsum(q * math.log(q + 1e-16) for q in p)) / base, p.index(max(p)) != y)
        for y, p in zip(y_true.tolist(), y_prob.tolist(), strict=True)
    ]
    below = bin_below([k / n_bins for k in range(n_bins + 1)])
    return error(pairs, lambda value: below(value) if 0 < value <= 1 else None)


def mapie(y_true: np.ndarray, y_prob: np.ndarray, n_bins: int) -> float:
    """The mean over predicted classes of the ECE in n_bins - 1 bins."""
    predicted = y_prob.argmax(axis=1)
    below = bin_below(np.linspace(0, 1, n_bins).tolist())
    errors = [
        error(top_label(y_true[predicted == label], y_prob[predicted == label]), below)
        for label in np.unique(predicted)
    ]
    return math.fsum(errors) / len(errors)
