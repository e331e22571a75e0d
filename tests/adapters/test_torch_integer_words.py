"""Integer words added up are the tables added up."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import trueness as tn
from trueness.adapters._integer_words import sums_of, width, words_of
from trueness.table import TableSpec
from trueness.table.exact_sums import ExactSum


@given(
    st.integers(0, 2**36), st.integers(0, 2**52 - 1), st.integers(1, 50), st.sampled_from(["first", "split"])
)
def test_words_added_up_are_the_tables_added_up(whole: int, fraction: int, times: int, ties: str) -> None:
    """Plain sums of words, without carrying, against sums that carry: also where fractions overflow many times."""
    spec = TableSpec(2, tn.variations["entropy"], tn.Edges([0, 0.5, 1]), ties)

    def filled(shape: tuple[int, ...], bits: int) -> ExactSum:
        return ExactSum(np.full(shape, whole), np.full(shape, fraction & ((1 << bits) - 1)), bits)

    zeros = tn.CalibrationTable.empty(spec).sums
    rank = (
        filled((2, 2), 52) if ties == "split" else ExactSum(np.full((2, 2), whole), np.zeros((2, 2), int), 52)
    )
    sums = type(zeros)(
        rows=np.full(2, whole),
        tied_rows=np.array(3),
        impossible_rows=np.array(5),
        ordered=filled((2, 2), 52),
        rank=rank,
        variation=filled((2,), 52),
        log_score=ExactSum(np.array(-whole), np.array(fraction & (2**40 - 1)), 40),
        log_score_variance=filled((), 40),
        true_probability=filled((), 52),
        square=filled((), 52),
        log_likelihood=ExactSum(np.array(-whole), np.array(fraction & (2**40 - 1)), 40),
    )
    words, totals = words_of(sums, spec, 4)
    assert words.shape == (2, width(spec))
    together = sum([sums] * (times - 1), sums) if times > 1 else sums
    few = whole < 2**30  # beyond, the repeated sum itself would leave what a table can hold
    if few:
        assert sums_of(words * times, totals * times, spec).same(together)
    assert sums_of(words, totals, spec).same(sums)
