"""Refusals are values: a code and facts for programs, and a message in the terms of Python or of the command."""

import pickle
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.cli._errors import as_options
from trueness.refusals import InvalidValueError

ROWS: list[tuple[Any, dict[str, Any], str, int | None]] = [
    ([0.5, np.nan], {}, "not-finite", 1),
    ([1.5, -0.5], {}, "outside-range", 0),
    ([60.0, 40.0], {}, "outside-range", 0),
    ([60.0, 39.5], {}, "outside-range", 0),
    ([1 + 1e-9, 0.0], {}, "outside-range", 0),
    ([0.5, 0.4], {}, "sum-not-1", None),
    ([0.0, 0.0], {"normalize": True}, "cannot-be-normalized", None),
    ([np.inf, 0.0], {"from_logits": True}, "bad-logits", 0),
]


def refusal_of(*arguments: Any, **options: Any) -> tn.Refusal:
    with pytest.raises(tn.Refusal) as caught:
        tn.tabulate(*arguments, **options)
    return caught.value


@pytest.mark.parametrize(("row", "options", "code", "class_index"), ROWS)
def test_the_command_has_its_own_terms(row: list[float], options: Any, code: str, class_index: Any) -> None:
    refusal = refusal_of([0, 1], [[0.5, 0.5], row], **options)
    of_command = as_options(str(refusal))
    assert not any(term in of_command for term in ("y_prob", "=True", "`"))
    of_file = refusal.with_facts(source="a.csv", row=7)
    assert str(of_file).startswith("a.csv, row 7: `y_prob`")
    assert " in row" not in str(of_file)


def test_labels_and_weights() -> None:
    refusal = refusal_of([0, 5], [[0.5, 0.5], [0.5, 0.5]])
    assert (refusal.code, refusal.argument, refusal.row, refusal.value) == (
        "label-out-of-range",
        "y_true",
        1,
        5,
    )
    refusal = refusal_of([0, 1], [[0.5, 0.5], [0.5, 0.5]], sample_weight=[1, -2])
    assert (refusal.code, refusal.row, refusal.value) == ("bad-weight", 1, -2.0)


def test_braces_in_a_value_are_not_a_template() -> None:
    refusal = refusal_of(["{row}", "b"], [[0.5, 0.5], [0.5, 0.5]], classes=["a", "b"])
    assert "`y_true` is '{row}' in row 0" in str(refusal)


def test_a_file_without_a_row() -> None:
    refusal = InvalidValueError("damaged-file", "this table is damaged").with_facts(source="a.json, table 2")
    assert str(refusal) == "a.json, table 2: this table is damaged"


def test_copies_keep_the_facts() -> None:
    refusal = refusal_of([0], [[0.5, 0.4]])
    again = pickle.loads(pickle.dumps(refusal))
    assert (str(again), again.code, again.row) == (str(refusal), "sum-not-1", 0)
