"""Cumulative differences of an event: without bins of width, what is seen does not depend on them.

Rows are ordered by their probability. The line at t is Σ(y - p)/N over the rows up to the share t:
flat where the model is calibrated, rising where the event happens more often than predicted, and
its slope is the difference there (Tygert 2020; Arrieta-Ibarra et al. 2022). In a table rows of one
fine cell of the probability are one step.
"""

from __future__ import annotations

import numpy as np

from trueness.arguments import Settings
from trueness.charts.chart import Axis, Chart, Mark
from trueness.formatting import counted, number, shortened
from trueness.inference.sample import Events, Sample
from trueness.refusals import InvalidValueError, nearest
from trueness.table import Table

MOST_POINTS = 400
"""Steps that are drawn; more are joined evenly."""


def cumulative_chart(
    table: Table, of: int | str | None = None, settings: Settings | None = None
) -> Chart:
    """The differences of a class, by its name or index, or of the top label being right.

    At the ends of the line each chart says the total. The band is where the line of a calibrated
    model is at each place with the probability `level`; it is not one for the entire line.
    """
    sample, level = Sample.of(table), (settings or Settings()).level
    cells, effect, name = _event(sample, of)
    kept = cells.rows[0] > 0
    n, expected, observed, square = (each[0, kept] for each in cells)
    p = np.clip(expected / n, 0.0, 1.0)
    total = float(n.sum())
    share, line = np.cumsum(n) / total, np.cumsum(observed - expected) / total
    sd = np.sqrt(effect * np.cumsum(square * p * (1 - p))) / total
    if len(share) > MOST_POINTS:
        wanted = np.searchsorted(share, np.linspace(0, 1, MOST_POINTS)).clip(0, len(share) - 1)
        some = np.unique([*wanted.tolist(), len(share) - 1])
        share, line, sd, p = (each[some] for each in (share, line, sd, p))
    x = np.append(0.0, share)
    y, reach = np.append(0.0, line), np.append(0.0, sample.quantile(level) * sd)
    most = 1.1 * max(float(np.abs(y).max()), float(reach.max()), 1e-6)
    zero = Mark("rule", np.empty(0), np.zeros(1), "ink", words=("as predicted",))
    seen, told = counted(float(observed.sum()), "row"), number(float(expected.sum()))
    final = f"{seen} observed, {told} expected"
    words = tuple(
        f"the {100 * a:.3g} % of rows with probabilities up to {number(b)}:\n"
        f"observed − expected is {number(c, sign=True)} of all rows"
        for a, b, c in zip(share.tolist(), p.tolist(), line.tolist(), strict=True)
    )
    every = np.unique(np.linspace(0, len(share) - 1, 12).round().astype(np.int64))
    band = (f"{100 * level:g} % of calibrated models, at each place",)
    marks = (
        Mark("band", x, -reach, "band", None, reach, band),
        zero,
        Mark("line", x, y, "observed", words=(final,)),
        Mark("points", share[every], line[every], "observed", words=tuple(words[k] for k in every)),
    )
    across = Axis("share of rows, lowest probability first", (0.0, 1.0))
    up = Axis("observed − expected", (-most, most))
    return Chart(f"Cumulative differences of {name}", across, up, marks)


def _event(sample: Sample, of: int | str | None) -> tuple[Events, float, str]:
    """The cells of an event with its design effect and name."""
    if of is None:
        if sample.top is None:
            raise InvalidValueError("wrong-table", "this table has no bins of confidence")
        return sample.top, float(sample.rank_effects()[1][0]), "the top label"
    names = [sample.class_names[k] for k in sample.class_index]
    if sample.classes is None or of not in (*names, *sample.class_index):
        remedy = nearest(str(of), names)
        raise InvalidValueError("unknown-name", f"there is no class {of!r} of its own", remedy)
    k = names.index(of) if isinstance(of, str) else sample.class_index.index(of)
    event = Events(*(each[k : k + 1] for each in sample.classes))
    return event, float(sample.class_effects()[k]), f"class {shortened(names[k], 40)}"
