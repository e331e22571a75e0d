"""Order statistics by radix selection: those of sorting, however the values are stored and cut."""

import io
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import trueness as tn
from trueness.bins.equal_mass import EqualMass
from trueness.bins.selection import (
    Keys,
    Prefixes,
    count_digits,
    count_sorted_digits,
    first_to_reach,
    from_sort_keys,
    order_statistics,
    sort_keys,
)
from trueness.files import exact_edges

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
lists = arrays(
    np.float64, st.integers(1, 40), elements=finite | st.sampled_from([0.0, -0.0, 1.0, 0.1, 1e-320])
)


def by_partitions(values: np.ndarray, n_parts: int, prefixes: Prefixes) -> np.ndarray:
    parts = [np.sort(part) for part in np.array_split(sort_keys(values), n_parts)]
    return sum((count_sorted_digits([part], prefixes) for part in parts), np.zeros((), np.int64))


def by_blocks(values: np.ndarray, n_parts: int, prefixes: Prefixes) -> np.ndarray:
    return count_digits(np.array_split(sort_keys(values), n_parts), prefixes)


def by_files(values: np.ndarray, _: int, prefixes: Prefixes) -> np.ndarray:
    return exact_edges._count_digits(io.BytesIO(sort_keys(values).tobytes()), prefixes)


@given(lists)
def test_keys_sort_as_values_do_and_give_them_back(values: np.ndarray) -> None:
    keys = sort_keys(values)
    np.testing.assert_array_equal(from_sort_keys(np.sort(keys)), np.sort(values))
    assert from_sort_keys(sort_keys(np.array([-0.0])))[0].tobytes() == np.float64(0.0).tobytes()


@pytest.mark.parametrize("digit_bits", [8, 16])
@pytest.mark.parametrize("count", [by_partitions, by_blocks, by_files])
@given(values=lists, n_bins=st.integers(1, 7), n_parts=st.integers(1, 5))
def test_all_ways_give_what_partition_gives(
    count: object, digit_bits: int, values: np.ndarray, n_bins: int, n_parts: int
) -> None:
    bins = EqualMass(n_bins)
    counts = partial(count, values, n_parts)  # type: ignore[call-overload]
    found = order_statistics(bins.nth(len(values)), 1, counts, digit_bits)[0]
    np.testing.assert_array_equal(found, bins.right_ends(values.copy()))
    np.testing.assert_array_equal(found, np.sort(values)[bins.nth(len(values))])


def test_several_lists_are_searched_in_the_same_rounds() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, 1000))
    keys: list[Keys] = [np.sort(sort_keys(some)) for some in values]
    rounds = []

    def count(prefixes: Prefixes) -> np.ndarray:
        rounds.append(len(prefixes.lists))
        return count_sorted_digits(keys, prefixes)

    nth = EqualMass(5).nth(1000)
    np.testing.assert_array_equal(order_statistics(nth, 3, count, 8), np.sort(values)[:, nth])
    assert len(rounds) == 8
    assert rounds[0] == 3  # one prefix for each list at first
    assert max(rounds) <= 15


def test_right_ends_with_equal_weights_are_those_without() -> None:
    values = np.random.default_rng(1).random(997)
    for n_bins in (1, 3, 10):
        weighted = EqualMass(n_bins).right_ends(values.copy(), np.full(997, 0.3))
        np.testing.assert_array_equal(weighted, EqualMass(n_bins).right_ends(values.copy()))


def test_first_to_reach_counts_a_share_that_is_met_exactly() -> None:
    assert first_to_reach(np.full(10, 0.1), np.arange(1, 6), 5).tolist() == [1, 3, 5, 7, 9]


@pytest.mark.parametrize("variation", ["entropy", "confidence", "margin"])
def test_a_pass_over_files_gives_the_edges_of_fit(variation: str) -> None:
    _, y_prob = tn.simulate.calibrated(3000, [0.5] * 4, rng=2)
    measure = tn.variations[variation]
    file = io.BytesIO(sort_keys(measure.of_rows(np.sort(y_prob, axis=1)[:, ::-1], 1e-5)).tobytes())
    ends = order_statistics(
        EqualMass(7).nth(3000), 1, partial(exact_edges._count_digits, file), exact_edges.DIGIT_BITS
    )
    edges = EqualMass(7).edges_at(ends[0], *measure.range_for(4))
    assert edges == EqualMass(7).fit(y_prob, variation=variation)
