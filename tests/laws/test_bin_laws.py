"""Laws of the bins: every row has one, equal values share it, and merging bins loses nothing."""

from typing import Any

import numpy as np
import oracle
import pytest
import speak
from hypothesis import assume, given
from hypothesis import strategies as st
from law_rows import MEASURES, Data, cut, data, made, options
from speak import add, sums_of, tabulate


def edges(table: Any) -> list[float]:
    return list(sums_of(table)["edges"])


def counts(table: Any) -> list[int]:
    return list(sums_of(table)["rows"])


@given(data(), options())
def test_every_row_has_a_bin(rows: Data, how: dict[str, Any]) -> None:
    found = sums_of(tabulate(*rows, **how))
    assert sum(found["rows"]) == len(rows.y_true)
    assert [sum(ranks) for ranks in found["rank"]] == [n * oracle.UNIT for n in found["rows"]]
    total = float(sum(map(sum, found["ordered"])) / oracle.UNIT)
    assert total == pytest.approx(float(rows.y_prob.astype(np.float64).sum()), rel=1e-12)


@given(data(max_rows=200), st.sampled_from(MEASURES), st.integers(1, 12))
def test_equal_mass_keeps_equal_values_together(rows: Data, name: str, m: int) -> None:
    """Each distinct V is in one bin, every bin holds rows, and there are at most min(M, N)."""
    table = tabulate(*rows, variation=name, bins=speak.EqualMass(m))
    assert min(counts(table)) > 0
    assert len(counts(table)) <= min(m, len(rows.y_true))
    assert (edges(table)[0], edges(table)[-1]) == oracle.range_of(name, rows.y_prob.shape[1])
    keys = [tuple(row) for row in np.sort(rows.y_prob, axis=1).tolist()]
    for key in set(keys):
        chosen = [i for i, k in enumerate(keys) if k == key]
        alone = rows.y_true[chosen], rows.y_prob[chosen]
        assert np.count_nonzero(counts(tabulate(*alone, variation=name, bins=table.bins))) == 1


@given(st.integers(0, 2**32 - 1), st.integers(1, 300), st.integers(1, 20))
def test_equal_mass_without_ties_has_equal_sizes(seed: int, n: int, m: int) -> None:
    """Bin k ends at the ceil(kN/M)-th value: sizes are the differences, where they differ."""
    rows = made(seed, n, 3, "smooth")
    ends = sorted({-(-k * n // m) for k in range(m + 1)})
    assert counts(tabulate(*rows, bins=speak.EqualMass(m))) == np.diff(ends).tolist()


@given(data(max_rows=150), st.sampled_from(MEASURES), st.integers(1, 12))
def test_fitted_edges_give_the_same_table(rows: Data, name: str, m: int) -> None:
    """Also of parts of the rows, which then add up."""
    direct = tabulate(*rows, variation=name, bins=speak.EqualMass(m))
    assert tabulate(*rows, variation=name, bins=direct.bins) == direct
    half = len(rows.y_true) // 2
    assume(half)
    parts = [tabulate(*piece, variation=name, bins=direct.bins) for piece in cut(rows, [half])]
    assert add(parts) == direct


@given(data(max_rows=150), st.sampled_from(MEASURES), st.sampled_from([1, 2, 5, 10, 20]))
def test_fine_bins_coarsen_to_equal_width(rows: Data, name: str, m: int) -> None:
    fine = tabulate(*rows, variation=name, bins=speak.EqualWidth(200))
    assert fine.coarsen(m) == tabulate(*rows, variation=name, bins=m)
    assert fine.coarsen(speak.EqualWidth(m)) == fine.coarsen(m)


@pytest.mark.parametrize("n_classes", [2, 3, 5, 7, 10, 13, 100])
def test_fine_bins_of_confidence_coarsen_to_equal_width(n_classes: int) -> None:
    """The range begins at 1/C, so that edges of one place need not be the same float on both."""
    rows = made(n_classes, 300, n_classes, "sharp")
    fine = tabulate(*rows, variation="confidence", bins=speak.EqualWidth(4000))
    for m in (m for m in range(1, 101) if 4000 % m == 0):
        assert fine.coarsen(m) == tabulate(*rows, variation="confidence", bins=m), m


@given(data(), options(), st.sampled_from([None, 1, 4, 10]), st.booleans())
def test_coarsening_to_its_own_bins_changes_nothing(
    rows: Data, how: dict[str, Any], mass: int | None, weighted: bool
) -> None:
    how = how | ({"bins": speak.EqualMass(mass)} if mass else {})
    weight = np.linspace(0.5, 2, len(rows.y_true)) if weighted else None
    table = tabulate(*rows, sample_weight=weight, **how)
    assert table.coarsen(table.bins) == table


@given(
    data(),
    options(),
    st.sampled_from([None, 1, 4, 10]),
    st.integers(1, 10),
    st.integers(0, 2**32 - 1),
)
def test_coarsening_keeps_every_row(
    rows: Data, how: dict[str, Any], mass: int | None, m: int, seed: int
) -> None:
    """Into equal mass, and into any of its own edges: the sums of all bins keep their bits."""
    how = how | ({"bins": speak.EqualMass(mass)} if mass else {})
    table = tabulate(*rows, **how)
    own = np.array(edges(table))
    kept = np.random.default_rng(seed).random(len(own) - 2) < 0.5
    some = speak.Edges([own[0], *own[1:-1][kept], own[-1]])
    whole = table.coarsen(speak.Edges([own[0], own[-1]]))
    for coarse in (table.coarsen(speak.EqualMass(m)), table.coarsen(some)):
        assert sum(counts(coarse)) == table.n_rows == coarse.n_rows
        assert coarse.coarsen(whole.bins) == whole


@given(data(max_rows=300), st.integers(1, 10))
def test_fine_bins_coarsen_to_equal_mass(rows: Data, m: int) -> None:
    """Right edge k is that of the bin in which the cumulative count reaches kN/M."""
    fine = tabulate(*rows, bins=speak.EqualWidth(400))
    coarse = fine.coarsen(speak.EqualMass(m))
    reached = np.cumsum(counts(fine))
    n = len(rows.y_true)
    ends = sorted({int(np.argmax(reached * m >= k * n)) for k in range(1, m + 1)})
    assert counts(coarse) == np.diff([0, *(reached[e] for e in ends)]).tolist()
    assert set(edges(coarse)) <= set(edges(fine))
    assert tabulate(*rows, bins=coarse.bins) == coarse


@given(data(), options(), st.sampled_from([1, 4, 10]))
def test_coarsening_commutes_with_plus(rows: Data, how: dict[str, Any], m: int) -> None:
    how = how | {"bins": speak.EqualWidth(100)}
    a, b = (tabulate(*part, **how) for part in (cut(rows, [len(rows.y_true) // 2]) * 2)[:2])
    for bins in (1, 10, speak.Edges(edges(a)[:: 100 // m])):
        assert (a + b).coarsen(bins) == a.coarsen(bins) + b.coarsen(bins)


@pytest.mark.parametrize("n_bins", [1, 5, 10, 15, 60])
def test_bins_of_classes_are_those_of_all_parts(n_bins: int) -> None:
    rows = made(n_bins, 400, 4, "decimals")
    whole = [np.array(x) for x in speak.class_bins(*rows, n_bins)]
    parts = [speak.class_bins(*part, n_bins) for part in cut(rows, [7, 150])]
    for k, total in enumerate(whole):
        assert sum(np.array(part[k]) for part in parts) == pytest.approx(total, abs=1e-12)
    assert whole[0].sum(axis=1).tolist() == [400] * 4
    assert whole[2].sum(axis=1).tolist() == np.bincount(rows.y_true, minlength=4).tolist()
    assert whole[1].sum() == pytest.approx(400, abs=1e-9)
