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
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness.exact_sums import FloatArray, IntArray
from trueness.inference.distributions import student_quantile
from trueness.table import EventBins, RankBins, Table
from trueness.variation import Variation

FEWEST_CLUSTERS = 10
"""Effective clusters for a p-value or an interval, and clusters in which a class that is not rare
was seen."""

FEWEST_ROWS = 30
"""Effective rows for an interval."""


class Predicted(NamedTuple):
    """Rows by the class that they predict, (C,) each."""

    rows: FloatArray
    score: FloatArray
    """Σ(ln p_y + H)."""
    variance: FloatArray
    """Its variance if the model is calibrated, Σw²·VE."""
    misses: FloatArray
    """Σ(1 - q₁): how often the prediction is expected to be wrong."""


class Units(NamedTuple):
    """The same sums by cluster, or by block of clusters: (U, …) each."""

    ranks: RankBins
    score: FloatArray
    """(U, M)."""
    top: EventBins | None
    """(U, 1, G)."""
    classes: FloatArray
    """Observed less expected number of each class, (U, K)."""
    seen: NDArray[np.bool_]
    """Whether each class was observed, (U, C)."""
    predicted: FloatArray
    """Σ(ln p_y + H) by predicted class, (U, C); (U, 0) if that was not summed."""
    loss: FloatArray
    """-Σ ln p_y, (U,)."""

    @property
    def rows(self) -> FloatArray:
        """The rows of each, or their weight, (U,)."""
        return np.asarray(self.ranks.rows.sum(axis=(-2, -1)))

    @property
    def residual(self) -> FloatArray:
        """X_u = Σ(r - q) by rank, (U, C)."""
        return np.asarray((self.ranks.observed - self.ranks.predicted).sum(axis=(1, 2)))


class Totals(NamedTuple):
    """Plain numbers of all rows."""

    n_rows: int
    mass: float
    """The number of rows, or the sum of their weights."""
    accuracy: float
    confidence: float
    brier: float
    log_loss: float
    """Infinite if a true class had probability 0."""
    impossible: int
    """How many rows had such a class."""
    square: float
    """Mean of ‖p‖²."""


class Stratum(NamedTuple):
    """The bins of rows with one number of options, F of which have such rows."""

    bins: IntArray
    """Which of the M bins, (F,)."""
    weight: FloatArray
    """Rows, or their weight, (F,)."""
    rows: FloatArray
    """Effective rows (Σw)²/Σw², as if these were independent, (F,)."""
    share: FloatArray
    """Share of the bin's weight, (F,)."""
    predicted: FloatArray
    """q̄, (F, C)."""
    observed: FloatArray
    """r̄, (F, C)."""


class Design(NamedTuple):
    """How much less independent rows are than their number says."""

    clusters: float = math.inf
    """K, the effective number of clusters; infinite if rows are independent."""
    clustering: float = 1.0
    """D of clusters."""
    most: float = 1.0
    """D_max."""
    soft: float = 1.0
    """1/f, f the number of single labels that a soft one is worth (see `soft_effect`)."""
    rare: tuple[int, ...] = ()
    """The rare classes."""
    rare_effect: float = 1.0
    """D_B."""
    few_wrong: bool = False
    """Whether the predicted class is wrong in rows of fewer than 10 clusters: all effects are
    D_max."""

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
    effective_rows: FloatArray
    """(Σw)²/Σw² of each bin, (S, M), not yet divided by the design effect."""
    score: FloatArray
    """Σ(ln p_y + H) by bin, (M,), without impossible rows."""
    score_variance: FloatArray
    """Its variance if the model is calibrated, Σw²·VE of the same rows, (M,)."""
    top: EventBins | None
    """The event that the predicted class is right, by its probability, (1, G)."""
    top_square: FloatArray | None
    """Σw² in the same cells; rows, if they have no weights."""
    classes: EventBins | None
    """Each class in cells of its probability, (K, G); of two classes only the second."""
    class_square: FloatArray | None
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
    @property
    def n_effective(self) -> float:
        """The number of independent rows that these are worth."""
        return self.totals.mass / (self.row_weight * self.design.effect)

    @property
    def independent(self) -> bool:
        """Whether rows are independent, unweighted, and have single labels."""
        return self.units is None and self.row_weight == 1.0 and self.design.soft == 1.0

    @property
    def strata(self) -> tuple[Stratum, ...]:
        """The filled bins of each number of options, as means."""
        found, total = [], self.ranks.rows.sum(axis=0)
        for s, c in enumerate(self.ranks.options):
            bins = np.flatnonzero(self.ranks.rows[s] > 0)
            weight = self.ranks.rows[s, bins]
            predicted = self.ranks.predicted[s, bins, :c]
            predicted = predicted / predicted.sum(axis=1, keepdims=True)
            observed = self.ranks.observed[s, bins, :c] / weight[:, None]
            rows, share = self.effective_rows[s, bins], weight / total[bins]
            found.append(Stratum(bins, weight, rows, share, predicted, observed))
        return tuple(found)

    def quantile(self, level: float) -> float:
        """Standard errors to both sides of an interval: normal, or Student's if rows have clusters."""
        return student_quantile(level, max(self.design.clusters - 1, 3.0))

    def without_interval(self) -> str | None:
        """Why no interval would hold; None if it does."""
        if self.design.clusters < FEWEST_CLUSTERS:
            return f"{self.design.clusters:.0f} effective clusters; at least {FEWEST_CLUSTERS} are needed"
        if self.n_effective < FEWEST_ROWS:
            return f"{self.n_effective:.0f} effective rows; at least {FEWEST_ROWS} are needed"
        return None

    def effect(
        self, sums: FloatArray | None = None, variance: float | FloatArray = 0.0, rare: float | FloatArray = 0.0
    ) -> FloatArray:
        """The design effects of clusters: D, or max(D, D_j) of statistics with these sums by unit.

        `sums` are (U, …), `variance` what their totals would have if rows were independent, and
        `rare` the shares h of it that come from rare classes.
        """
        it = self.design
        least = it.clustering + np.asarray(rare) * max(it.rare_effect - it.clustering, 0.0)
        if sums is None or self.units is None:
            return np.asarray(least)
        if it.few_wrong:
            return np.full(sums.shape[1:], it.most)
        d = max(it.clusters - 1, 3.0)
        own = (sums**2).sum(axis=0) / np.maximum(variance, 1e-300) * (d / (d - 2))
        return np.maximum(least, np.minimum(own, it.most))

    # Shares of rare classes in the variance of statistics, needed to a factor of two

    def rare_in_score(self) -> float:
        """h of the log-score: Σp(ln p + H)² of the rare classes, with H its mean over the rows."""
        if not self.design.rare or self.classes is None:
            return 0.0
        if self.is_one_event:
            return 1.0
        its = [each[list(self.design.rare)] for each in self.classes]
        p = np.divide(its[1], its[0], out=np.ones(its[0].shape), where=its[1] > 0)
        entropy = -float(sum((s.weight[:, None] * _p_log_p(s.predicted)).sum() for s in self.strata))
        part = (its[1] * (np.log(p) + entropy / self.totals.mass) ** 2).sum() * self.row_weight
        return min(1.0, float(part) / max(float(self.score_variance.sum()), 1e-300))

    def rare_in_ranks(self, variance: FloatArray) -> FloatArray:
        """h of "the true class is among the top k", whose variances are given, (C - 1,)."""
        if not self.design.rare or self.classes is None:
            return np.zeros(len(variance))
        if self.is_one_event:
            return np.ones(len(variance))
        expected = float(self.classes.predicted[list(self.design.rare)].sum()) * self.row_weight
        among = np.cumsum(self.ranks.predicted.sum(axis=(0, 1)))[:-1] / self.totals.mass
        return np.minimum(1.0, expected * np.maximum(among, 1 - among) ** 2 / np.maximum(variance, 1e-300))

    def rare_in_classes(self) -> FloatArray:
        """h of the number of each class, (K,)."""
        assert self.classes is not None
        rare = list(self.design.rare)
        if not rare or self.is_one_event:
            return np.full(len(self.classes.rows), float(bool(rare)))
        n, total, _ = self.classes
        p = np.divide(total, n, out=np.zeros(n.shape), where=n > 0)
        own, square = (n * p * (1 - p) ** 2).sum(axis=1), (n * p**2).sum(axis=1)
        is_rare = np.isin(np.arange(len(n)), rare)
        others = total[rare].sum() - np.where(is_rare, total.sum(axis=1), 0.0)
        part = np.where(is_rare, own, 0.0) + others * square / self.totals.mass
        return np.asarray(np.minimum(1.0, part / np.maximum((n * p * (1 - p)).sum(axis=1), 1e-300)))

    @property
    def is_one_event(self) -> bool:
        """Whether there are two classes, which are one event: both are rare, or none is."""
        return self.ranks.options == (2,)

    @classmethod
    def of(cls, table: Table, *, group: str | None = None, options: int | None = None) -> Sample:
        """The sums of a table, of one of its groups, or of rows with one number of options."""
        if group is not None or options is not None:
            table = table.select(group=group, options=options)
        spec = table.spec
        names = {name for name, _ in spec.fields()}
        ranks, mass = table.rank_bins(), float(table.mass().sum())
        top = table.top_bins() if spec.top_bins is not None else None
        classes = table.class_bins() if spec.classes else None
        predicted, row_weight = None, 1.0
        rows, top_square, class_square = ranks.rows, top and top.rows, classes and classes.rows
        if spec.weighted:
            every = [table.select(options=c).value("weight_square") for c in ranks.options]
            square = np.stack(every)
            row_weight = float(square.sum()) / mass
            rows = np.divide(rows**2, square, out=np.zeros(rows.shape), where=square > 0)
            top_square = table.value("top_weight_square")[None] if top else None
            class_square = table.value("class_weight_square") if classes else None
        if "predicted_rows" in names:
            of = ("rows", "score", "score_variance", "misses")
            predicted = Predicted(*(table.value(f"predicted_{each}") for each in of))
        totals = Totals(
            n_rows=table.n_rows,
            mass=mass,
            accuracy=table.accuracy,
            confidence=table.confidence,
            brier=table.brier_score,
            log_loss=table.log_loss,
            impossible=table.impossible_rows,
            square=float(table.value("square")) / mass,
        )
        spread = float(table.value("label_spread")) if "label_spread" in names else 0.0
        design = Design(soft=soft_effect(ranks, totals) if spread > 0 else 1.0)
        units = None
        if table.clusters is not None:
            units = _units(table, top, classes, predicted)
            design = design_of(units, totals, row_weight, classes, design.soft)
        return cls(
            ranks=ranks,
            variation=table.measure,
            effective_rows=rows,
            score=table.value("log_score"),
            score_variance=table.value("log_score_variance"),
            top=top,
            top_square=top_square,
            classes=classes,
            class_square=class_square,
            class_index=spec.classes,
            class_names=spec.class_names or tuple(map(str, range(table.n_classes))),
            predicted=predicted,
            units=units,
            totals=totals,
            row_weight=row_weight,
            design=design,
        )


def _units(
    table: Table, top: EventBins | None, classes: EventBins | None, predicted: Predicted | None
) -> Units:
    """The sums of a table by unit."""
    ranks = table.rank_bins("unit")
    rows = ranks.rows.sum(axis=(1, 2))
    expected = observed = by_label = np.zeros((len(rows), 0))
    if classes is not None:
        expected = table.value("class_predicted_total", "unit")
        observed = table.value("class_observed_total", "unit")
    seen = observed > 1e-9
    if ranks.options == (2,) and classes is not None:
        seen = np.hstack([observed < rows[:, None] - 1e-9, seen])
    if predicted is not None:
        by_label = table.value("predicted_score", "unit")
    return Units(
        ranks=ranks,
        score=table.value("log_score", "unit"),
        top=table.top_bins("unit") if top is not None else None,
        classes=observed - expected,
        seen=seen,
        predicted=by_label,
        loss=-table.value("log_likelihood", "unit"),
    )


def _p_log_p(p: FloatArray) -> FloatArray:
    return np.asarray(p * np.log(np.where(p > 0, p, 1.0)))


def soft_effect(ranks: RankBins, totals: Totals) -> float:
    """1/f = Σ‖e - ē‖²/Σ(1 - ‖p‖²): how much less soft labels vary than single ones would.

    Calibrated means E[s | p] = p. How much a soft label s varies is not known: as much as a single
    one, or less, as the mean of several votes does. The sums of the table tell.
    """
    mean = (ranks.observed - ranks.predicted).sum(axis=(-3, -2)) / totals.mass
    single = 1 - totals.square
    varies = totals.brier - float(mean @ mean)
    return max(varies / single, 1e-6) if single > 0 else 1.0


def design_of(
    units: Units, totals: Totals, row_weight: float, classes: EventBins | None, soft: float = 1.0
) -> Design:
    """The design of rows in clusters, by the rules at the top of this module."""
    n, residual = units.rows, units.residual
    clusters = float(n.sum() ** 2 / (n**2).sum())
    most = max(float((n**2).sum()) / (totals.mass * row_weight), 1.0)
    d = max(clusters - 1, 3.0)
    wider = d / (d - 2)
    mean = residual.sum(axis=0) / totals.mass
    apart = float(((residual - n[:, None] * mean) ** 2).sum())
    within = row_weight * totals.mass * (totals.brier - float(mean @ mean))
    common = apart / max(within, 1e-9 * totals.mass) * clusters / max(clusters - 1, 1e-9)
    common = min(max(common, 1.0), most)
    common = min(common * wider, most) if common > 1 else 1.0
    seen = units.seen.sum(axis=0)
    rare = np.flatnonzero(seen < FEWEST_CLUSTERS)
    rare_effect = 1.0
    if len(rare) and classes is not None:
        if len(seen) == 2:
            rare, pairs, event = np.arange(2), seen.min(), np.zeros(1, np.intp)
        else:
            pairs, event = seen[rare].sum(), rare
        p = np.divide(classes.predicted, classes.rows, out=np.zeros(classes.rows.shape), where=classes.rows > 0)
        p, expected = p[event], classes.predicted[event]
        rare_effect = most
        if pairs >= FEWEST_CLUSTERS:
            varies = row_weight * float((expected * (1 - p)).sum())
            own = float((units.classes[:, event] ** 2).sum()) / max(varies, 1e-300) * wider
            rare_effect = min(max(own, common), most)
        # Share of the variance of all ranks, Σ‖e‖²: Σp(1 - 2p + ‖p‖²) of the rare classes.
        part = float((expected * (1 - 2 * p + totals.square)).sum()) * (len(rare) / len(event))
        share = min(1.0, part / max(totals.mass * (1 - totals.square), 1e-300))
        common += share * (rare_effect - common)
    wrong = units.ranks.observed[..., 1:].sum(axis=(1, 2, 3)) > 0
    few_wrong = int(wrong.sum()) < FEWEST_CLUSTERS
    common = most if few_wrong else common
    return Design(clusters, common, most, soft, tuple(rare.tolist()), rare_effect, few_wrong)
