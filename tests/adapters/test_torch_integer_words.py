"""Integer words added up are the tables added up."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import trueness as tn
from trueness.adapters import _event_words
from trueness.adapters._integer_words import n_totals, sums_of, width, words_of
from trueness.bins import class_grid, event_grid
from trueness.table import EventSpec, EventSums, TableSpec
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

    def signed(shape: tuple[int, ...], bits: int) -> ExactSum:
        return ExactSum(np.full(shape, -whole), np.full(shape, fraction & ((1 << bits) - 1)), bits)

    sums = type(zeros)(
        rows=np.full(2, whole),
        tied_rows=np.array(3),
        impossible_rows=np.array(5),
        ordered=filled((2, 2), 52),
        rank=rank,
        variation=filled((2,), 52),
        log_score=signed((2,), 40),
        log_score_variance=filled((2,), 40),
        true_probability=filled((), 52),
        square=filled((), 52),
        log_likelihood=signed((), 40),
        brier_residual=signed((2,), 52),
        brier_residual_variance=filled((2,), 52),
        predicted_rows=np.full(2, whole),
        predicted_scores=signed((2, 2), 40),
        predicted_brier=signed((2, 2), 52),
    )
    words, totals = words_of(sums, spec)
    assert words.shape == (2, width(spec))
    assert totals.shape == (n_totals(spec),)
    together = sum([sums] * (times - 1), sums) if times > 1 else sums
    few = whole < 2**30  # beyond, the repeated sum itself would leave what a table can hold
    if few:
        assert sums_of(words * times, totals * times, spec).same(together)
    assert sums_of(words, totals, spec).same(sums)


@given(
    st.integers(0, 2**30),
    st.integers(0, 2**52 - 1),
    st.integers(1, 50),
    st.sampled_from([("first", (0, 1)), ("split", (0, 1)), ("first", ("top",)), ("split", ("top", 2))]),
    st.booleans(),
)
def test_words_of_events_added_up_are_the_tables_added_up(
    whole: int, fraction: int, times: int, of_events: tuple[str, tuple[int | str, ...]], fine: bool
) -> None:
    ties, events = of_events
    spec = EventSpec(3, events, event_grid() if fine else class_grid(), ties)
    layout = _event_words.EventLayout.of(spec)
    shared = layout.has_shares
    assert shared == (ties == "split" and "top" in events)

    def filled(value: ExactSum, sign: int = 1) -> ExactSum:
        part = fraction & ((1 << value.bits) - 1)
        return ExactSum(
            np.full_like(value.whole, sign * whole), np.full_like(value.fraction, part), value.bits
        )

    zeros = EventSums.zeros(spec)
    content = {
        name: np.full_like(value, whole) if isinstance(value, np.ndarray) else filled(value)
        for name, value in zeros.items()
    }
    if not shared:
        content["observed"] = ExactSum.of_counts(np.full(spec.shape, whole), 52)
    if fine:
        content["log_likelihood"] = filled(zeros.log_likelihood, -1)
    sums = EventSums(**content)
    words = _event_words.words_of(sums, layout)
    assert words.shape == (len(events), layout.width)
    assert _event_words.sums_of(words, layout).same(sums)
    assert _event_words.sums_of(words * times, layout).same(sum([sums] * (times - 1), sums))
