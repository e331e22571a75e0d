"""What inference reads off a table, and how many independent rows the rows are worth.

Rows of one cluster are alike, weighted rows count unequally, and a soft label is worth several
single ones. All of this enters every test and interval as one number, the design effect D (Kish
1965): N rows are worth N/D independent ones. With e = r - q, the residual of the ranks of a row,
X_u its sum over cluster u of n_u rows, and ē its mean over all rows,

    D = Σ_u ‖X_u - n_u·ē‖² / Σ_i ‖e_i - ē‖²   times   K/(K - 1) · d/(d - 2)

with K = (Σn_u)²/Σn_u² effective clusters and d = max(K - 1, 3), kept within 1 and D_max = Σn_u²/N,
at which all rows of a cluster are one. It is centred, since a clear error is not clumping. A sum
with the variance v that has sums x_u in the clusters has D_j = Σ_u x_u²/v if that is larger.

Rare outcomes that a cluster shares, such as the disease of a patient in all of her images, look
independent until they happen. So classes seen in fewer than 10 clusters are *rare*: together they
have an effect D_B of their own, D_max if they were seen in fewer than 10 pairs of class and
cluster, and a sum to whose variance they contribute the share h has at least (1 - h)·D + h·D_B.
If the predicted class is wrong in rows of fewer than 10 clusters, every effect is D_max.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness.exact_sums import FloatArray, IntArray
from trueness.inference.distributions import student_quantile
from trueness.refusals import InvalidValueError
from trueness.table import EventBins, RankBins, Table
from trueness.variation import Variation

FEWEST_CLUSTERS = 10  # effective ones, for a p-value or an interval
FEWEST_ROWS = 30  # effective ones, for an interval


class Events(NamedTuple):
    """Events in cells of their probability, (K, G) each: single classes, or the top label."""

    rows: FloatArray
    """Number of rows, or the sum of their weights."""
    predicted: FloatArray
    observed: FloatArray
    square: FloatArray
    """Σw², the number of rows if they have no weights."""

    @property
    def mean(self) -> FloatArray:
        """p̄, 0 in empty cells."""
        none = np.zeros(self.rows.shape)
        return np.clip(np.divide(self.predicted, self.rows, out=none, where=self.rows > 0), 0, 1)

    @property
    def variance(self) -> FloatArray:
        """The variance of the observed number of each event if it is calibrated, (K,)."""
        return np.asarray((self.square * self.mean * (1 - self.mean)).sum(axis=1))


class Predicted(NamedTuple):
    """Rows by the class that they predict, (C,) each."""

    rows: FloatArray
    score: FloatArray  # Σ(ln p_y + H)
    variance: FloatArray  # of the score if the model is calibrated, Σw²·VE
    misses: FloatArray  # Σ(1 - q₁): how often the prediction is expected to be wrong


class Units(NamedTuple):
    """The same sums by cluster, or by block of clusters."""

    ranks: RankBins  # (U, S, M, …)
    score: FloatArray  # Σ(ln p_y + H) by bin, (U, M)
    top: EventBins | None  # (U, 1, G)
    classes: FloatArray  # observed less expected number of each event, (U, K)
    seen: NDArray[np.bool_]  # whether each class was observed, (U, C)
    predicted: FloatArray  # Σ(ln p_y + H) by predicted class, (U, C)
    loss: FloatArray  # -Σ ln p_y, (U,)


class Totals(NamedTuple):
    """Plain numbers of all rows."""

    n_rows: int
    mass: float  # the number of rows, or the sum of their weights
    accuracy: float
    confidence: float
    brier: float
    log_loss: float
    impossible: int  # rows whose true class had probability 0: the log-loss is infinite
    square: float  # mean of ‖p‖²


class Stratum(NamedTuple):
    """The F bins that have rows with one number of options."""

    bins: IntArray  # which of the M bins, (F,)
    weight: FloatArray  # number of rows, or the sum of their weights, (F,)
    rows: FloatArray  # effective rows (Σw)²/Σw², as if these were independent, (F,)
    share: FloatArray  # of the bin's weight, (F,)
    predicted: FloatArray  # q̄, (F, C)
    observed: FloatArray  # r̄, (F, C)


class Design(NamedTuple):
    """How much less independent rows are than their number says."""

    clusters: float = math.inf  # K, the effective number; infinite if rows are independent
    clustering: float = 1.0  # D of clusters
    most: float = 1.0  # D_max
    soft: float = 1.0  # 1/f, f single labels are worth a soft one (see `soft_effect`)
    rare: tuple[int, ...] = ()  # the rare classes, as events of `Sample.classes`
    rare_effect: float = 1.0  # D_B

    @property
    def effect(self) -> float:
        """D of the ranks."""
        return self.clustering * self.soft


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """All that inference knows: sums of one group of rows, with their design."""

    ranks: RankBins
    """Sums by bin of variation, (S, M, …)."""
    variation: Variation
    strata: tuple[Stratum, ...]
    """The filled bins of each number of options, as means."""
    score: FloatArray
    """Σ(ln p_y + H) by bin, (M,), without impossible rows."""
    score_variance: FloatArray
    """Its variance if the model is calibrated, Σw²·VE of the same rows, (M,)."""
    top: Events | None
    """The event that the predicted class is right, K = 1."""
    classes: Events | None
    """Each class; of two only the second, whose mirror image the first is."""
    class_index: tuple[int, ...]
    """Which classes these are."""
    class_names: tuple[str, ...]
    """The names of all classes, or their numbers."""
    predicted: Predicted | None
    units: Units | None
    """None if rows are independent."""
    totals: Totals
    row_weight: float
    """Σw²/Σw, the weight of one effective row; 1 without weights."""
    design: Design

    @classmethod
    def of(cls, table: Table, *, group: str | None = None, options: int | None = None) -> Sample:
        """The sums of a table, of one of its groups, or of rows with one number of options."""
        if group is not None or options is not None:
            table = table.select(group=group, options=options)
        if not table.n_rows:
            raise InvalidValueError("no-rows", "a table without rows cannot be assessed")
        spec, ranks, mass = table.spec, table.rank_bins(), float(table.mass().sum())
        row_weight, square = 1.0, ranks.rows
        if spec.weighted:
            of_each = (table.select(options=c).value("weight_square") for c in ranks.options)
            square = np.stack(list(of_each))
            row_weight = float(square.sum()) / mass

        def events(its: EventBins, square: str) -> Events:
            own = table.value(square).reshape(its.rows.shape) if spec.weighted else its.rows
            return Events(*its, own)

        top = events(table.top_bins(), "top_weight_square") if spec.top_bins else None
        classes = events(table.class_bins(), "class_weight_square") if spec.classes else None
        of = (f"predicted_{name}" for name in ("rows", "score", "score_variance", "misses"))
        predicted = Predicted(*map(table.value, of)) if spec.n_classes is not None else None
        plain = (table.accuracy, table.confidence, table.brier_score, table.log_loss)
        norm = float(table.value("square")) / mass
        totals = Totals(table.n_rows, mass, *plain, table.impossible_rows, norm)
        is_soft = float(table.value("label_spread")) > 0
        design = Design(soft=soft_effect(ranks, totals) if is_soft else 1.0)
        units = None
        if table.clusters is not None:
            units = _units(table, classes is not None)
            if len(table.clusters.identities):  # else rows are independent, dealt into blocks
                apart = float(table.value("residual_square")) if spec.weighted else None
                design = design_of(units, totals, row_weight, classes, design.soft, apart)
        return cls(
            ranks=ranks,
            variation=table.measure,
            strata=_strata(ranks, square),
            score=table.value("log_score"),
            score_variance=table.value("log_score_variance").clip(0.0),
            top=top,
            classes=classes,
            class_index=spec.classes,
            class_names=spec.class_names or tuple(map(str, range(table.n_classes))),
            predicted=predicted,
            units=units,
            totals=totals,
            row_weight=row_weight,
            design=design,
        )

    @property
    def n_effective(self) -> float:
        """The number of independent rows that these are worth."""
        return self.totals.mass / (self.row_weight * self.design.effect)

    @property
    def is_plain(self) -> bool:
        """Whether rows are independent, unweighted, and have single labels."""
        return math.isinf(self.design.clusters) and self.row_weight == self.design.soft == 1.0

    def without_p_value(self) -> str | None:
        """Why no test would hold: too few clusters; None if they are enough."""
        return shortage(self.design.clusters, FEWEST_CLUSTERS, "effective clusters")

    def without_interval(self) -> str | None:
        """Why no interval would hold: too few clusters or rows; None if they are enough."""
        rows = shortage(self.n_effective, FEWEST_ROWS, "effective rows")
        return self.without_p_value() or rows

    def quantile(self, level: float) -> float:
        """Standard errors to each side of an interval: normal, with clusters Student's."""
        return student_quantile(level, max(self.design.clusters - 1, 3.0))

    # Design effects of statistics

    def effect(
        self,
        sums: FloatArray | None = None,
        variance: FloatArray | float = 0.0,
        rare: FloatArray | float = 0.0,
    ) -> FloatArray:
        """The design effects of clusters: D, or max(D, D_j) of statistics with these sums by unit.

        `variance` is that of their totals if rows were independent, and `rare` the shares h of it.
        """
        it, d = self.design, max(self.design.clusters - 1, 3.0)
        least = it.clustering + np.asarray(rare) * max(it.rare_effect - it.clustering, 0.0)
        if sums is None or math.isinf(it.clusters):
            return least + np.zeros(np.shape(variance))
        own = (sums**2).sum(axis=0) / np.maximum(variance, 1e-300) * (d / (d - 2))
        return np.asarray(np.maximum(least, np.minimum(own, it.most)))

    def score_effect(self) -> float:
        """That of Σ(ln p_y + H)."""
        sums = None if self.units is None else self.units.score.sum(axis=1)
        return float(self.effect(sums, self.score_variance.sum(), self._rare_in_score))

    def variation_effect(self) -> float:
        """That of gaps of variation, in which rare classes count as much as in the score."""
        return float(self.effect(rare=self._rare_in_score)) * self.design.soft

    def predicted_effect(self, terms: FloatArray) -> FloatArray:
        """Those of the scores of predicted classes, added up by `terms`, (C, T)."""
        assert self.predicted is not None
        rare, variance = np.full(len(terms), self._rare_in_score), self.predicted.variance
        rare[[self.class_index[k] for k in self.design.rare]] = 1.0
        sums = None if self.units is None else self.units.predicted @ terms
        return self.effect(sums, variance @ terms, (rare * variance) @ terms / (variance @ terms))

    @property
    def _rare_in_score(self) -> float:
        """h of the score: Σp(ln p + H)² of the rare classes over the variance, H the mean."""
        rare = list(self.design.rare)
        if not rare or self.classes is None or self.units is None or self._is_one_event:
            return float(bool(rare))
        p = np.maximum(self.classes.mean[rare], 1e-300)
        entropy = float(self.score.sum() + self.units.loss.sum()) / self.totals.mass
        part = (self.classes.square[rare] * p * (np.log(p) + entropy) ** 2).sum()
        return min(1.0, float(part) / max(float(self.score_variance.sum()), 1e-300))

    def rank_effects(self) -> tuple[FloatArray, FloatArray]:
        """The variance of how often the true class is in the top k, Σw²·Q(1 - Q); its D_k.

        h ≤ E_B·max(Q, 1 - Q)²/v; D_max if it was, or was not, in the top k in under 10 clusters.
        """
        variance = np.zeros(self.ranks.predicted.shape[-1] - 1)
        for stratum in self.strata:
            q = np.clip(np.cumsum(stratum.predicted, axis=1)[:, :-1], 0.0, 1.0)
            variance[: q.shape[1]] += stratum.weight**2 / stratum.rows @ (q * (1 - q))
        units, rare = self.units, np.zeros(len(variance))
        if units is None or math.isinf(self.design.clusters):
            return variance, self.effect(None, variance) * self.design.soft
        if self.design.rare and self.classes is not None:
            expected = self.row_weight * float(self.classes.predicted[list(self.design.rare)].sum())
            q = np.cumsum(self.ranks.predicted.sum(axis=(0, 1)))[:-1] / self.totals.mass
            rare = expected * np.maximum(q, 1 - q) ** 2 / np.maximum(variance, 1e-300)
            rare = np.minimum(rare + self._is_one_event, 1.0)
        residual = (units.ranks.observed - units.ranks.predicted).sum(axis=(1, 2))
        sums = np.cumsum(residual, axis=1)[:, :-1]
        among = np.cumsum(units.ranks.observed.sum(axis=(1, 2)), axis=1)
        seen = np.stack([among[:, :-1], among[:, -1:] - among[:, :-1]]) > 1e-9
        few = seen.sum(axis=1).min(axis=0) < FEWEST_CLUSTERS
        effect = np.where(few, self.design.most, self.effect(sums, variance, rare))
        return variance, effect * self.design.soft

    def class_effects(self) -> FloatArray:
        """Those of the number of each event of `classes`, (K,); h is 1 of rare classes, else 0."""
        assert self.classes is not None
        share = np.isin(np.arange(len(self.classes.rows)), list(self.design.rare)).astype(
            np.float64
        )
        sums = None if self.units is None else self.units.classes
        return self.effect(sums, self.classes.variance, share) * self.design.soft

    @property
    def _is_one_event(self) -> bool:
        """Whether there are two classes, which are one event: both are rare, or none is."""
        return self.ranks.options == (2,)


def shortage(found: float, needed: int, of: str) -> str | None:
    """How many there are and how many are needed; None if they are enough."""
    words = f"{min(round(found, 1), needed - 0.1):g} {of}; at least {needed} are needed"
    return words if found < needed else None


def _strata(ranks: RankBins, square: FloatArray) -> tuple[Stratum, ...]:
    found, total = [], ranks.rows.sum(axis=0)
    for s, c in enumerate(ranks.options):
        at = np.flatnonzero(ranks.rows[s] > 0)
        weight, q, r = (each[s, at] for each in ranks[:3])
        q, r = q[:, :c] / q.sum(axis=1, keepdims=True), r[:, :c] / weight[:, None]
        found.append(Stratum(at, weight, weight**2 / square[s, at], weight / total[at], q, r))
    return tuple(found)


def _units(table: Table, by_class: bool) -> Units:
    ranks, none = table.rank_bins("unit"), np.zeros((len(table.units), 0))
    expected = table.value("class_predicted_total", "unit") if by_class else none
    observed = table.value("class_observed_total", "unit") if by_class else none
    seen = observed > 1e-9
    if ranks.options == (2,) and by_class:
        seen = np.hstack([observed < ranks.rows.sum(axis=(1, 2))[:, None] - 1e-9, seen])
    return Units(
        ranks=ranks,
        score=table.value("log_score", "unit"),
        top=table.top_bins("unit") if table.spec.top_bins else None,
        classes=observed - expected,
        seen=seen,
        predicted=table.value("predicted_score", "unit") if table.spec.n_classes else none,
        loss=-table.value("log_likelihood", "unit"),
    )


def soft_effect(ranks: RankBins, totals: Totals) -> float:
    """1/f = Σ‖e - ē‖²/Σ(1 - ‖p‖²): how much less soft labels vary than single ones would.

    Calibrated means E[s | p] = p. How much a soft label s varies is not known: as much as a single
    one, or less, as the mean of several votes does. The sums of the table tell.
    """
    mean = (ranks.observed - ranks.predicted).sum(axis=(0, 1)) / totals.mass
    single = 1 - totals.square
    return max((totals.brier - float(mean @ mean)) / single, 1e-6) if single > 0 else 1.0


def design_of(
    units: Units,
    totals: Totals,
    row_weight: float,
    classes: Events | None,
    soft: float = 1.0,
    square: float | None = None,
) -> Design:
    """The design of rows in clusters, by the rules at the top of this module.

    `square` is Σw²‖e‖² of weighted rows.
    """
    n = units.ranks.rows.sum(axis=(1, 2))
    clusters = float(n.sum() ** 2 / (n**2).sum())
    most = max(float((n**2).sum()) / (totals.mass * row_weight), 1.0)
    d = max(clusters - 1, 3.0)
    residual = (units.ranks.observed - units.ranks.predicted).sum(axis=(1, 2))
    mean = residual.sum(axis=0) / totals.mass
    apart = float(((residual - n[:, None] * mean) ** 2).sum()) * clusters / max(clusters - 1, 1e-9)
    square = row_weight * totals.mass * totals.brier if square is None else square
    within = max(square - row_weight * totals.mass * float(mean @ mean), 1e-9)
    effect = min(max(apart / within, 1.0), most)
    effect = min(effect * d / (d - 2), most) if effect > 1 else 1.0
    seen, rare_effect = units.seen.sum(axis=0), most
    rare = np.flatnonzero(seen < FEWEST_CLUSTERS)
    if len(rare) and classes is not None:
        pairs, sides = int(seen[rare].sum()), 1
        if len(seen) == 2:
            rare, pairs, sides = np.zeros(1, np.int64), int(seen.min()), 2
        if pairs >= FEWEST_CLUSTERS:
            own = (units.classes[:, rare] ** 2).sum() / max(classes.variance[rare].sum(), 1e-300)
            rare_effect = min(max(float(own) * d / (d - 2), effect), most)
        # h of all ranks, whose variance is Σ(1 - ‖p‖²): Σp(1 - 2p + ‖p‖²) of the rare classes.
        p = classes.mean[rare]
        part = sides * float((classes.square[rare] * p * (1 - 2 * p + totals.square)).sum())
        share = part / max(row_weight * totals.mass * (1 - totals.square), 1e-300)
        effect += min(1.0, share) * (rare_effect - effect)
    wrong = (units.ranks.observed[..., 1:] > 1e-9).any(axis=(1, 2, 3))
    effect = most if wrong.sum() < FEWEST_CLUSTERS else effect
    return Design(clusters, effect, most, soft, tuple(rare.tolist()), rare_effect)
