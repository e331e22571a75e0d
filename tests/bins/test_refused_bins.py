"""Refusals of bins carry a code and the value."""

from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.refusals import Refusal

TABLE = tn.tabulate([0, 1], [[0.7, 0.3], [0.4, 0.6]], bins=10)


@pytest.mark.parametrize(
    ("make", "code", "argument"),
    [
        (lambda: tn.Edges("abc"), "wrong-type", "edges"),
        (lambda: tn.Edges([[0, 1], [1, 2]]), "wrong-type", "edges"),
        (lambda: tn.Edges([0]), "bad-edges", "edges"),
        (lambda: tn.Edges([0, np.nan]), "bad-edges", "edges"),
        (lambda: tn.Edges([0, 0.5, 0.5, 1]), "bad-edges", "edges"),
        (lambda: tn.Edges([0, 1], snap=-1), "bad-argument", "snap"),
        (lambda: tn.vce([0], [[0.5, 0.5]], bins=tn.Edges([0, 0.5])), "bad-edges", "edges"),
        (lambda: tn.vce([0], [[0.5, 0.5]], bins=10**6 * 9), "bins-too-narrow", "bins"),
        (lambda: tn.vce([0], [[0.5, 0.5]], bins="{ten}"), "wrong-type", "bins"),
        (lambda: TABLE.coarsen(3), "bins-not-nested", "bins"),
        (lambda: TABLE.coarsen(tn.Edges([0, 0, 1])), "bins-not-nested", "bins"),
    ],
)
def test_code_and_argument(make: Any, code: str, argument: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        make()
    refusal = caught.value
    assert isinstance(refusal, Refusal)
    assert (refusal.code, refusal.argument) == (code, argument)
    assert refusal.value is not None
    assert str(refusal)
