"""The grids of probabilities: edges as fractions, the cells of values on and near edges, and what they merge into."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import event_oracle as oracle
import numpy as np
import pytest

import trueness as tn
from trueness.bins import ProbabilityGrid, class_grid, event_grid

GRIDS = {"class": (class_grid(), oracle.CLASS_EDGES), "event": (event_grid(), oracle.EVENT_EDGES)}
EPS = {name: float(np.finfo(name).eps) for name in ("float16", "float32", "float64")}


@pytest.mark.parametrize(("name", "n_edges"), [("class", 81), ("event", 5027)])
def test_edges_are_the_nearest_floats_of_the_fractions(name: str, n_edges: int) -> None:
    grid, edges = GRIDS[name]
    assert len(edges) == n_edges
    assert grid.edges == tuple(map(float, edges))
    assert grid.n_cells == n_edges - 1


def test_every_edge_of_the_class_grid_is_one_of_the_event_grid() -> None:
    assert set(oracle.CLASS_EDGES) <= set(oracle.EVENT_EDGES)
    assert set(class_grid().edges) <= set(event_grid().edges)


def test_cells_of_the_event_grid_are_narrow_in_odds() -> None:
    """At most 3.2 % of the odds wide from 10⁻⁹ to 1 - 10⁻⁹."""
    edges = [edge for edge in oracle.EVENT_EDGES if Fraction(1, 10**9) <= edge <= 1 - Fraction(1, 10**9)]
    odds = [edge / (1 - edge) for edge in edges]
    assert 1.03 < max(float(b / a) for a, b in pairwise(odds)) < 1.032


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_on_edges_are_in_the_cell_below(name: str, dtype: str) -> None:
    """Both dtypes round k/3600 up or down, and mean the edge; dyadic edges are exact."""
    grid, edges = GRIDS[name]
    p = np.array([float(edge) for edge in edges[1:]]).astype(dtype).astype(np.float64)
    exact = np.array([Fraction(x) == edge for x, edge in zip(p.tolist(), edges[1:], strict=True)])
    decimal = np.array([(edge * 3600).denominator == 1 for edge in edges[1:]])
    assert decimal.sum() >= 60
    found = grid.index(p, EPS[dtype])
    assert np.array_equal(found[exact | decimal], np.arange(grid.n_cells)[exact | decimal])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_bins", [10, 15, 20])
def test_decimals_on_the_edges_of_bins_are_in_the_bin_below(dtype: str, n_bins: int) -> None:
    """k/n in float32 is above or below k/n in float64; both are meant as the edge."""
    on_edges = (np.arange(1, n_bins + 1) / n_bins).astype(dtype)
    y_prob = np.stack([on_edges, 1 - on_edges], axis=1)
    labels = np.zeros(n_bins, int)
    table = tn.tabulate_events(labels, y_prob, events=0).coarsen(n_bins)
    assert table.count.tolist() == [[1] * n_bins]


@pytest.mark.parametrize("n_bins", [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60])
@pytest.mark.parametrize("name", GRIDS)
def test_both_grids_merge_into_bins_of_equal_width(name: str, n_bins: int) -> None:
    grid, _ = GRIDS[name]
    starts, bins = grid.merge(np.ones(grid.n_cells), tn.EqualWidth(n_bins))
    assert bins.edges == pytest.approx(np.arange(n_bins + 1) / n_bins, abs=1e-15)
    assert len(starts) == n_bins


@pytest.mark.parametrize("n_bins", [7, 11, 80])
def test_other_numbers_are_refused_with_those_that_can_be_used(n_bins: int) -> None:
    with pytest.raises(tn.Refusal, match="divides 60") as caught:
        class_grid().merge(np.ones(80), tn.EqualWidth(n_bins))
    assert caught.value.code == "bins-not-nested"


@pytest.mark.parametrize(
    "edges",
    [(0.0,), (0.0, 0.5), (0.1, 1.0), (0.0, 0.5, 0.5, 1.0), (0.0, 0.6, 0.5, 1.0), (0.0, float("nan"), 1.0)],
)
def test_edges_that_do_not_increase_from_0_to_1_are_refused(edges: Any) -> None:
    with pytest.raises(tn.Refusal, match="increase from 0 to 1"):
        ProbabilityGrid(edges)
