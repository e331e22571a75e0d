"""What the picture of cumulative differences shows: observed less predicted, added up in order of the probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trueness._arrays import FloatArray
from trueness._printing import p_sentence
from trueness.old_inference.events.cumulative import largest_quantile
from trueness.old_inference.events.of_table import event_cells

if TYPE_CHECKING:
    from trueness.old_assessment import EventAssessment

X_LABEL, Y_LABEL = "share of the rows, by increasing probability", "observed − predicted, cumulated"

MOST_POINTS, MARKS = 400, 20


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """F_j = Σ(Σy - Σp)/N over the cells up to j, against the share of the rows in them."""

    name: str
    share: FloatArray
    """The share of the rows up to each cell, (F + 1,), from 0 to 1."""
    path: FloatArray
    """F after each cell, (F + 1,), from 0."""
    probability: FloatArray
    """The mean probability of each cell, (F + 1,); that of the first is given twice."""
    reach: float
    """Half the width of the band that a calibrated event leaves with probability 1 - level; NaN without noise."""
    level: float
    summary: str
    """KS and Kuiper with their p-values."""

    @property
    def marked(self) -> list[int]:
        """Places of about twenty cells, evenly spread over the rows, and that of the largest difference."""
        targets = np.linspace(0, 1, MARKS + 1)[1:]
        found = np.minimum(np.searchsorted(self.share, targets - 1e-12), len(self.share) - 1)
        return sorted({*found.tolist(), int(np.argmax(np.abs(self.path)))} - {0})

    @property
    def y_limit(self) -> float:
        """The largest distance from 0 that is shown."""
        reach = 0.0 if np.isnan(self.reach) else self.reach
        return 1.12 * max(float(np.abs(self.path).max()), reach) or 1.0

    @property
    def drawn(self) -> list[int]:
        """Places of the cells through which the line is drawn."""
        if len(self.share) <= MOST_POINTS:
            return list(range(len(self.share)))
        return sorted({*np.linspace(0, len(self.share) - 1, MOST_POINTS).round().astype(int), *self.marked})

    def describe(self, k: int) -> str:
        """The numbers at one cell in words."""
        return (
            f"rows with a probability up to {self.probability[k]:.4g}, {100 * self.share[k]:.3g} % of all\n"
            f"observed − predicted: {self.path[k]:+.5f}".replace("-", "−")
        )


def differences_of(event: EventAssessment) -> Differences:
    """The cumulative differences of an event; the band is that of Brownian motion."""
    (cells,) = event_cells(event.table)
    found = event.cumulative
    p = cells.mean_predicted
    tests = (("KS", found.ks), ("Kuiper", found.kuiper))
    return Differences(
        name=event.label_in_sentence,
        share=np.concatenate([[0.0], np.cumsum(cells.count) / cells.total]),
        path=np.concatenate([[0.0], found.path]),
        probability=np.concatenate([p[:1], p]),
        reach=largest_quantile(event.level) * found.sd if found.sd > 0 else np.nan,
        level=event.level,
        summary=", ".join(
            f"{name} {test.value:.4f}" + (f" ({p_sentence(test.p_value)})" if test.reason is None else "")
            for name, test in tests
        ),
    )
