"""`assess_votes`: several answers to each question, compared with what a calibrated model would score with as many.

Shares of few votes are not the model's distribution: they are too sharp, so that even a calibrated model has a VCE far
above 0. If the truth behaves as one more answer of the model, it is exchangeable with the votes, which gives an exact
test of every metric.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from trueness import old_metrics as metrics
from trueness._arrays import FloatArray, IntArray
from trueness._cells import Rows as CellRows
from trueness._cells import Tabular
from trueness._printing import p_sentence, p_text, plural
from trueness._random import Seed
from trueness._version import __version__
from trueness.bins import Bins, Edges, EqualMass
from trueness.old_assessment._flat import Flat
from trueness.old_assessment._settings import Settings
from trueness.old_assessment._to_json import SCHEMA, plain
from trueness.old_assessment.reported import REPORTED
from trueness.old_assessment.verdict import Verdict, significance_limit
from trueness.old_inference.corrections import holm
from trueness.old_inference.results import Reference
from trueness.old_table import CalibrationTable, TablePlan, TableSpec
from trueness.old_table.bin_cells import bin_cells
from trueness.refusals import InvalidValueError
from trueness.rows import Rows
from trueness.rows.vote_counts import votes_of
from trueness.tabulation import tabulate_rows
from trueness.variation import ENTROPY

_STREAM = 11

METRICS = ("vce", "net", "ece", "rce", "rce_w1")
"""The metrics that are reported, in their order."""

EVIDENCE = ("vce", "net", "rce")


@dataclass(frozen=True, slots=True, eq=False)
class VoteAssessment(Tabular, Flat):
    """The calibration of shares of votes, beside what a calibrated model with as many votes would score.

    Returned by `assess_votes`. Print it to read it; `to_dict()` is for programs.
    """

    metrics: Mapping[str, Reference]
    """Each metric of the shares, its mean for a calibrated model with as many votes, and the exact p-value."""
    held_out_vce: float
    """VCE of the ranks of the label against those of held-out votes: about 0 for a calibrated model."""
    table: CalibrationTable
    """The shares of votes by entropy, with ties split."""
    n_votes: tuple[int, int]
    """The smallest and largest number of votes of a row."""
    level: float
    resamples: int
    seed: int

    @property
    def vce(self) -> Reference:
        """Variation calibration error of the shares."""
        return self.metrics["vce"]

    @property
    def net(self) -> Reference:
        """Net gap of the shares."""
        return self.metrics["net"]

    @property
    def ece(self) -> Reference:
        """Expected calibration error of the shares, in bins over [0, 1]."""
        return self.metrics["ece"]

    @property
    def rce(self) -> Reference:
        """Ranked calibration error of the shares, total variation."""
        return self.metrics["rce"]

    @property
    def n_rows(self) -> int:
        """The number of questions."""
        return self.table.n_rows

    @property
    def accuracy(self) -> float:
        """The share of rows in which most votes are right; ties count in part."""
        return self.table.accuracy

    @property
    def p_value(self) -> float:
        """The smallest p-value of VCE, net gap and RCE after Holm's correction."""
        return min(holm([self.metrics[key].p_value for key in EVIDENCE]))

    @property
    def verdict(self) -> Verdict:
        """The conclusion; `str(result.verdict)` is one sentence."""
        p, vce = self.p_value, self.vce
        numbers = (
            f"VCE {vce.value:.4f}, a calibrated model with {self.votes_text} would get {vce.calibrated_value:.4f}, "
            f"{p_sentence(p)}"
        )
        if not p <= significance_limit(self.level):
            headline = "No evidence of miscalibration at this sample size"
            return Verdict("none", None, p, None, headline, numbers, "Collect more questions or votes.")
        over = self.net.value > self.net.calibrated_value
        name = "over" if over else "under"
        advice = "The votes agree too much." if over else "The votes agree too little."
        headline = f"{name.title()}-confident"
        return Verdict(f"{name}-confident", name, p, None, headline, numbers, advice)

    @property
    def votes_text(self) -> str:
        """The number of votes of each row."""
        least, most = self.n_votes
        return plural(least, "vote") if least == most else f"{least} to {most} votes"

    def __str__(self) -> str:
        table = self.table
        head = (
            f"{plural(self.n_rows, 'row')}, {table.n_classes} options, {self.votes_text} each, "
            f"{plural(table.n_bins, 'bin')} of entropy; {self.resamples} resamples, seed {self.seed}"
        )
        lines = [head, "", f"{'':10}{'value':>9}{'calibrated':>12}{'p':>8}"]
        for key, it in self.metrics.items():
            sign = REPORTED[key].sign
            lines.append(
                f"{REPORTED[key].label:10}{it.value:{sign}9.4f}{it.calibrated_value:{sign}12.4f}{p_text(it.p_value):>8}"
            )
        lines += [
            f"calibrated: the mean of a calibrated model with {self.votes_text}; it is not 0",
            f"against held-out votes VCE is {self.held_out_vce:.4f}, accuracy {self.accuracy:.4f}",
            "",
            str(self.verdict),
            self.verdict.advice,
        ]
        return "\n".join(lines)

    __repr__ = __str__

    tables_of_cells = ("metrics", "bins")

    def _cells(self, of: str) -> CellRows:
        if of == "bins":
            return bin_cells(self.table)
        return [
            {
                "metric": REPORTED[key].label,
                "value": it.value,
                "calibrated": it.calibrated_value,
                "p_value": it.p_value,
            }
            for key, it in self.metrics.items()
        ]

    def _numbers(self) -> dict[str, Any]:
        """What `to_dict` and `flat` have in common."""
        found: dict[str, Any] = {name: getattr(self, name) for name in ("p_value", "n_rows", "accuracy")}
        return found | dict(self.metrics) | {"held_out_vce": self.held_out_vce}

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and strings."""
        verdict = self.verdict
        return {
            "schema": SCHEMA,
            "kind": "vote-assessment",
            "trueness": __version__,
            "verdict": plain(verdict) | {"text": str(verdict)},
            "n_classes": self.table.n_classes,
            "n_votes": list(self.n_votes),
            **plain(self._numbers()),
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            "tables": [self.table.to_dict()],
        }


def assess_votes(
    y_true: Any,
    votes: Any,
    *,
    bins: int | Bins = 10,
    level: float = 0.95,
    resamples: int = 999,
    rng: Seed = 0,
) -> VoteAssessment:
    """Assess several answers to each question: shares of votes, and whether they agree with the truth as they should.

    The truth of a calibrated model behaves as one more of its answers. So label and votes of a row are exchangeable: in
    each resample the label is put among the votes, and one of these is taken out at random as the label. The p-value is
    the share of resamples whose metric is at least as far from the mean of all, (k + 1)/(R + 1), and exact.

    Parameters
    ----------
    y_true : labels, shape (rows,)
        The index of the right option of each question.
    votes : counts, shape (rows, options)
        How many answers are for each option; at least two in each row.
    bins : int or EqualWidth, Edges
        The bins of the entropy of the shares; ECE has as many bins of equal width over [0, 1].
    level, resamples, rng
        As in `assess`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([1, 1, 1], 300)
    >>> votes = rng.multinomial(5, p)
    >>> y_true = [rng.choice(3, p=row) for row in p]
    >>> result = assess_votes(y_true, votes)
    >>> result.vce.value > 0.2, result.verdict.kind
    (True, 'none')
    """
    settings = Settings.of(level, resamples, rng)
    labels, counts = votes_of(y_true, votes)
    specs = _specs(counts.shape[1], bins)
    stream = np.random.default_rng([settings.seed, _STREAM])
    value, tables = _values(labels, counts, specs)
    drawn = np.array(
        [_values(*exchanged(labels, counts, stream), specs)[0] for _ in range(settings.resamples)]
    )
    of_metrics = {
        key: _reference(float(value[k]), np.append(drawn[:, k], value[k])) for k, key in enumerate(METRICS)
    }
    n = counts.sum(axis=1)
    return VoteAssessment(
        metrics=of_metrics,
        held_out_vce=held_out_vce(labels, counts, specs[0].bins),
        table=tables[0],
        n_votes=(int(n.min()), int(n.max())),
        level=settings.level,
        resamples=settings.resamples,
        seed=settings.seed,
    )


def _specs(n_options: int, bins: int | Bins) -> list[TableSpec]:
    """Tables by entropy, and by confidence over [0, 1], with ties split."""
    plan = TablePlan.of("entropy", bins, ties="split")
    if isinstance(plan.bins, EqualMass):
        cause = "EqualMass bins depend on the votes, which are exchanged in every resample"
        remedy = "pass a number of bins, or Edges"
        raise InvalidValueError("bad-argument", cause, remedy, argument="bins", value=plan.bins)
    first, second = plan.calibration_specs(n_options, weighted=False)
    edges = np.linspace(0.0, 1.0, second.bins.n_bins + 1)
    return [first, TableSpec(n_options, second.variation, Edges(edges), "split")]


_READERS: dict[str, Callable[[CalibrationTable], float]] = {
    "vce": metrics.variation_calibration_error,
    "net": lambda table: metrics.signed_parts(table).net,
    "ece": metrics.expected_calibration_error,
    "rce": metrics.ranked_calibration_error,
    "rce_w1": partial(metrics.ranked_calibration_error, distance="w1"),
}


def _values(
    labels: IntArray, counts: IntArray, specs: list[TableSpec]
) -> tuple[FloatArray, list[CalibrationTable]]:
    """The metrics of the shares of votes, (metrics,), and the tables by entropy and by confidence."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    tables = tabulate_rows(Rows.of_arrays(labels, shares), specs)
    by_entropy, by_confidence = tables
    values = [_READERS[key](by_confidence if key == "ece" else by_entropy) for key in METRICS]
    return np.array(values), tables


def exchanged(labels: IntArray, counts: IntArray, stream: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Labels and votes in which the label was put among the votes, and one of these taken out at random."""
    rows = np.arange(len(labels))
    pooled = counts.copy()
    pooled[rows, labels] += 1
    place = stream.integers(pooled.sum(axis=1))
    taken = (np.cumsum(pooled, axis=1) <= place[:, None]).sum(axis=1)
    pooled[rows, taken] -= 1
    return taken, pooled


def _reference(value: float, everything: FloatArray) -> Reference:
    """A value beside the mean of all, its own included, and the share of resamples that are as far from it."""
    mean = float(everything.mean())
    apart = np.abs(everything - mean)
    return Reference(value, mean, float(np.count_nonzero(apart >= apart[-1] - 1e-12) / len(everything)))


def held_out_vce(labels: IntArray, counts: IntArray, bins: Edges) -> float:
    """VCE of the ranks of the label against those of each vote, among the options ordered by the other votes.

    Every vote j of a row has the weight 1/n; bins are of the entropy of the other n - 1 votes, and ties are shared.
    """
    n, n_options = counts.sum(axis=1), counts.shape[1]
    spec = TableSpec(n_options, ENTROPY, bins, "split", weighted=True)
    row, option = np.nonzero(counts)
    others = counts[row]
    others[np.arange(len(row)), option] -= 1
    shares, weight = others / (n[row] - 1)[:, None], counts[row, option] / n[row]
    of_votes, of_labels = (
        tabulate_rows(Rows.of_arrays(truth, shares, weight), [spec])[0] for truth in (option, labels[row])
    )
    gap = of_labels.observed_variation - of_votes.observed_variation
    filled = of_votes.row_count > 0
    share = of_votes.count[filled] / of_votes.count.sum()
    return float(share @ np.abs(gap[filled]))
