"""Bins over the range of a variation measure, and the one rule for values that lie on an edge.

Bins are right-closed, the lowest edge belongs to the first bin, and a value within rounding of an edge is on it. The
paper's bins ((m-1)/M, m/M] leave out V = 0, where a one-hot classifier puts all its rows; here every row has a bin.

`edges` has bins between given edges, `kinds` bins of equal width and the choice by an argument, `equal_mass` bins that
hold the same number of rows, `row_variation` the loop over rows, `probability_grid` the cells of events.
"""

from trueness.bins.edges import EQUAL_MASS_SNAP, Edges
from trueness.bins.equal_mass import EqualMass
from trueness.bins.kinds import Bins, EqualWidth, as_bins, confidence_bins_for, group_starts
from trueness.bins.probability_grid import ProbabilityGrid, class_grid, event_grid
from trueness.bins.row_variation import measure_rows

__all__ = [
    "EQUAL_MASS_SNAP",
    "Bins",
    "Edges",
    "EqualMass",
    "EqualWidth",
    "ProbabilityGrid",
    "as_bins",
    "class_grid",
    "confidence_bins_for",
    "event_grid",
    "group_starts",
    "measure_rows",
]
