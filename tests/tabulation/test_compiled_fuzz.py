"""Any rows: the compiled engine gives the table or the refusal of the portable one, and the sums of the rule."""

from typing import Any

import numpy as np
import pytest
import rule_oracle
from hypothesis import given, settings
from hypothesis import strategies as st

import trueness as tn
from trueness.rows import RowCode, Rows, row_codes

pytestmark = pytest.mark.usefixtures("compiled")

PARTS = [
    0.0,
    -0.0,
    1.0,
    0.5,
    0.25,
    1 / 3,
    0.1,
    0.3,
    1e-3,
    1e-17,
    2.0**-52,
    2.0**-53,
    1e-300,
    2.0**-1022,
    5e-324,
]
BAD = [np.nan, -np.nan, np.inf, -np.inf, -1e-300, -1e-9, -0.5, 1 + 2.0**-52, 1.5, 2.0, 1e308, -1e308]
LOGITS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    36.7,
    -36.7,
    -707.0,
    -708.4,
    -745.2,
    -746.0,
    -1e3,
    1e3,
    -1e300,
    1.7e308,
    -np.inf,
]
BAD_LOGITS = [np.nan, np.inf]

N_CLASSES = st.one_of(st.integers(2, 18), st.sampled_from([31, 32, 33, 48, 64, 65, 130]))
OPTIONS = st.fixed_dictionaries(
    {
        "variation": st.sampled_from(["entropy", "confidence"]),
        "ties": st.sampled_from(["first", "split"]),
        "bins": st.sampled_from([1, 10, 33, 100, tn.EqualMass(3), tn.EqualMass(40)]),
        "n_threads": st.sampled_from([1, 2]),
    }
)


def laid_out(y_prob: Any, layout: str) -> Any:
    """The same rows elsewhere in memory."""
    if layout == "columns":
        return np.asfortranarray(y_prob)
    if layout == "backwards":
        return np.ascontiguousarray(y_prob[::-1, ::-1])[::-1, ::-1]
    if layout == "wide":
        wide = np.full((len(y_prob), 2 * y_prob.shape[1] + 1), np.nan, y_prob.dtype)
        wide[:, 1::2] = y_prob
        return wide[:, 1::2]
    if layout == "misaligned":
        memory = np.zeros(y_prob.nbytes + 1, np.uint8)
        made = np.frombuffer(memory.data, y_prob.dtype, y_prob.size, offset=1).reshape(y_prob.shape)
        made[:] = y_prob
        return made
    return y_prob


@st.composite
def values(draw: Any, alphabet: list[float], bad: list[float]) -> Any:
    """Rows of nasty numbers, of which a few may be bad, and labels."""
    n_rows, n_classes = draw(st.integers(1, 40)), draw(N_CLASSES)
    chosen = draw(st.binary(min_size=n_rows * n_classes, max_size=n_rows * n_classes))
    made = np.array(alphabet)[np.frombuffer(chosen, np.uint8) % len(alphabet)].reshape(n_rows, n_classes)
    for row, column, value in draw(
        st.lists(st.tuples(st.integers(0, 39), st.integers(0, 129), st.sampled_from(bad)), max_size=2)
        if draw(st.booleans())
        else st.just([])
    ):
        made[row % n_rows, column % n_classes] = value
    labels = (
        np.frombuffer(draw(st.binary(min_size=n_rows, max_size=n_rows)), np.uint8).astype(int) % n_classes
    )
    return labels, made


@st.composite
def probabilities(draw: Any) -> Any:
    """As above; most rows are made distributions by their first class or by division."""
    labels, made = draw(values(PARTS, BAD))
    repair = draw(st.sampled_from(["first", "divide", "both", "none"]))
    rows = np.arange(len(made))
    with np.errstate(all="ignore"):
        total = made.sum(axis=1)
        divided = made / np.where((total > 0) & (total < 1e300), total, 1.0)[:, None]
        completed = made.copy()
        completed[:, 1:] *= np.where(made[:, 1:].sum(axis=1) > 1, 2.0**-10, 1.0)[:, None]
        completed[:, 0] = 1 - completed[:, 1:].sum(axis=1)
        made = {
            "none": made,
            "divide": divided,
            "first": completed,
            "both": np.where((rows % 2 > 0)[:, None], divided, completed),
        }[repair]
        made = made.astype(draw(st.sampled_from(["f8", "f4", "f2"])))
    return labels, laid_out(
        made, draw(st.sampled_from(["rows", "columns", "backwards", "wide", "misaligned"]))
    )


def outcome(engine: str, labels: Any, given: Any, **how: Any) -> Any:
    try:
        return tn.tabulate(labels, given, engine=engine, **how)
    except ValueError as error:
        return str(error)


@settings(max_examples=400)
@given(probabilities(), OPTIONS)
def test_probabilities(rows: Any, how: dict[str, Any]) -> None:
    assert outcome("compiled", *rows, **how) == outcome("portable", *rows, **how)


@settings(max_examples=150)
@given(values(LOGITS, BAD_LOGITS), OPTIONS, st.sampled_from(["f8", "f4"]))
def test_logits(rows: Any, how: dict[str, Any], dtype: str) -> None:
    labels, z = rows
    with np.errstate(over="ignore"):
        z = z.astype(dtype)
    how |= {"from_logits": True}
    assert outcome("compiled", labels, z, **how) == outcome("portable", labels, z, **how)


@settings(max_examples=300)
@given(probabilities())
def test_the_sums_of_single_rows_are_those_of_the_rule(rows: Any) -> None:
    labels, given = rows
    good = np.flatnonzero(row_codes(Rows.of_arrays(labels, given)) == RowCode.GOOD)
    for row in good[:3]:
        label, p = int(labels[row]), given[row].astype(float).tolist()
        expected = rule_oracle.scalar_row(p, label, len(p))
        sums = tn.tabulate([label], given[row : row + 1], bins=1, engine="compiled").sums
        found = [
            sums.log_score.total().units,
            sums.log_likelihood.units,
            sums.log_score_variance.total().units,
            sums.true_probability.units,
            sums.square.units,
            int(sums.impossible_rows),
            int(sums.tied_rows),
        ]
        assert found == [
            expected.log_score,
            expected.log_likelihood,
            expected.variance,
            expected.true_probability,
            expected.square,
            expected.impossible,
            expected.equal > 1,
        ]
        assert np.flatnonzero(sums.rank.value[0]).tolist() == [expected.more + expected.before]
        ordered = (sums.ordered.whole[0] << 52) + sums.ordered.fraction[0]
        assert ordered.tolist() == sorted(map(rule_oracle.units, p), reverse=True)
        for name, value in (("entropy", expected.variation), ("confidence", expected.confidence)):
            made = tn.tabulate([label], given[row : row + 1], variation=name, bins=1, engine="compiled")
            assert float(made.sums.variation.value[0]) == rule_oracle.units(value) / rule_oracle.UNIT
