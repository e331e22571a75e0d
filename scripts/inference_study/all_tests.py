"""The p-values of all tests of the same rows: those of ranks, of the log-score and of classes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import trueness as tn
from trueness.assessment._assess import specs_of
from trueness.assessment.reported import total_variation, wasserstein
from trueness.inference._bias import Bias
from trueness.inference.classwise.assessment import assess_classes
from trueness.inference.corrections import benjamini_hochberg
from trueness.inference.estimates import Null, ResampledTable, log_score_test
from trueness.inference.events.cells import EventCells
from trueness.inference.null import NullBins, multinomial_frequencies, p_value, resample
from trueness.inference.scores.cumulative import cumulative_score
from trueness.inference.scores.misses import Misses
from trueness.inference.scores.predicted_class import by_predicted_class
from trueness.rows import Rows
from trueness.table.plan import TablePlan
from trueness.tabulation.passes import tabulate_rows

TESTS = (
    "VCE, centred",
    "net gap",
    "ECE",
    "RCE",
    "RCE W1",
    "log-score, safe",
    "classes, BH",
    "Q, safe",
    "cumulative, safe",
    "log-score Z",
    "Q",
    "cumulative",
    "class gap, BH",
    "class spread, BH",
    "classwise ECE",
    "Brier Z",
    "Q of Brier",
    "cumulative Brier",
)
"""In the order of the columns of `p_values`; RCE W1 is NaN for two classes, where it equals RCE."""

_TAILS = np.array([2.0**-j for j in (7, 8, 9, 10, 13, 17)])
_SNAP = 1 + 2.0**-22
CELL_EDGES = np.sort(np.concatenate([np.arange(1, 60) / 60 * _SNAP, _TAILS, 1 - _TAILS]))
BIN_EDGES = np.arange(1, 10) / 10 * _SNAP


def p_values(y_true: np.ndarray, y_prob: np.ndarray, bins: Any, resamples: int, seed: int) -> list[float]:
    """The p-value of each of `TESTS`."""
    n_classes = y_prob.shape[1]
    by_variation, by_confidence = _tables(y_true, y_prob, bins)
    resampled = _without_bias(by_variation, resamples, [seed, 0])
    classes = [1] if n_classes == 2 else list(range(n_classes))
    cells, class_bins = (
        [_events(y_prob[:, c], y_true == c, edges) for c in classes] for edges in (CELL_EDGES, BIN_EDGES)
    )
    by_class = assess_classes(cells, class_bins, n_classes, level=0.95, resamples=resamples, seed=seed)
    log, brier = _scores(y_true, y_prob)
    predicted, place = y_prob.argmax(axis=1), _places(by_variation, y_prob)
    count = resampled.bins.count
    ranks = (count * resampled.bins.log_score, [resampled.null.log_score * count])
    q, brier_q = (
        _by_class(predicted, *score, n_classes, cells if score is log else None) for score in (log, brier)
    )
    cumulated, brier_cumulated = (
        cumulative_score(
            *(np.bincount(place, each, by_variation.n_bins) for each in score),
            resamples,
            seed,
            ranks=ranks if score is log else None,
        )
        for score in (log, brier)
    )
    log_score = log_score_test(by_variation, resampled)
    return [
        *_of_ranks(resampled, _without_bias(by_confidence, resamples, [seed, 1])),
        log_score.safe_p_value,
        by_class.evidence_p_value,
        q.safe_p_value,
        cumulated.safe_p_value,
        log_score.p_value,
        q.p_value,
        cumulated.p_value,
        _smallest([each.gap.p_value for each in by_class.classes]),
        _smallest([each.spread.p_value for each in by_class.classes]),
        by_class.mean.p_value,
        math.erfc(abs(brier[0].sum()) / math.sqrt(2 * brier[1].sum())),
        brier_q.p_value,
        brier_cumulated.p_value,
    ]


def _tables(
    y_true: np.ndarray, y_prob: np.ndarray, bins: Any
) -> tuple[tn.CalibrationTable, tn.CalibrationTable]:
    """The tables that `assess` makes."""
    rows = Rows.of(y_true, y_prob)
    by_variation, by_confidence = tabulate_rows(
        rows, specs_of(rows, TablePlan.of("entropy", bins, None, "first")), "auto", 1
    )
    return by_variation, by_confidence


def _without_bias(table: tn.CalibrationTable, resamples: int, seed: list[int]) -> ResampledTable:
    """The resamples of a table, without the estimate of the bias, which no p-value depends on."""
    bins = NullBins.of(table)
    null = resample(bins, multinomial_frequencies(bins, resamples, [*seed, 0]), resamples)
    return ResampledTable(
        bins=bins,
        n_bins=table.n_bins,
        predicted=table.predicted_variation[bins.index],
        observed=table.observed_variation[bins.index],
        nulls=(Null(null, bins.expected_variation(null.variation)),),
        around=null,
        bias=Bias(np.zeros(len(bins.count)), 0.0, 1.0),
        log_score_variance=table.log_score_variance,
    )


def _of_ranks(by_variation: ResampledTable, by_confidence: ResampledTable) -> list[float]:
    """Centred VCE, centred net gap, ECE, and both distances of RCE."""
    v, c = by_variation, by_confidence
    w, expected = v.bins.weight, v.expected
    apart = v.bins.observed - v.bins.predicted
    tv, w1 = total_variation(apart), wasserstein(apart)
    return [
        p_value(np.abs(v.null.variation - expected) @ w, float(w @ np.abs(v.observed - expected))),
        p_value(np.abs((v.null.variation - expected) @ w), abs(float(w @ (v.observed - expected)))),
        p_value(
            np.abs(c.null.variation - c.predicted) @ c.bins.weight,
            float(c.bins.weight @ np.abs(c.observed - c.predicted)),
        ),
        p_value(v.null.tv @ w, float(w @ tv)),
        p_value(v.null.w1 @ w, float(w @ w1)) if v.bins.n_classes > 2 else math.nan,
    ]


def _places(table: tn.CalibrationTable, y_prob: np.ndarray) -> np.ndarray:
    """The bin of each row."""
    variation = tn.variations["entropy"](-np.sort(-y_prob, axis=1))
    return np.clip(np.searchsorted(table.edges[1:-1] * (1 + 1e-12), variation), 0, table.n_bins - 1)


def _events(p: np.ndarray, y: np.ndarray, edges: np.ndarray) -> EventCells:
    """The sums of one class in cells."""
    place, size = np.searchsorted(edges, p, side="left"), len(edges) + 1
    n, expected, observed = (np.bincount(place, weight, size) for weight in (np.ones(len(p)), p, y))
    filled = n > 0
    return EventCells(n[filled], expected[filled], observed[filled], n[filled])


def _scores(y_true: np.ndarray, y_prob: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The log-score and the Brier score of each row less their expectation, with their variances."""
    logs = np.log(np.maximum(y_prob, 1e-300))
    entropy, square = -(y_prob * logs).sum(axis=1), (y_prob**2).sum(axis=1)
    true = np.arange(len(y_true)), y_true
    return [
        (logs[true] + entropy, np.maximum((y_prob * logs**2).sum(axis=1) - entropy**2, 0.0)),
        (y_prob[true] - square, np.maximum((y_prob**3).sum(axis=1) - square**2, 0.0)),
    ]


def _by_class(
    predicted: np.ndarray,
    score: np.ndarray,
    variance: np.ndarray,
    n_classes: int,
    cells: list[EventCells] | None,
) -> Any:
    rows = np.bincount(predicted, minlength=n_classes)
    sums = (np.bincount(predicted, each, n_classes) for each in (score, variance))
    return by_predicted_class(rows, *sums, misses=None if cells is None else Misses.of(cells, n_classes))


def _smallest(p: list[float]) -> float:
    return min(benjamini_hochberg([each for each in p if not math.isnan(each)]), default=math.nan)
