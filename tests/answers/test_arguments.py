"""Settings and seeds are checked when they are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from trueness.arguments import Settings, root_seed, whole_number
from trueness.refusals import Refusal


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"level": 1.0}, "bad-argument"),
        ({"level": True}, "bad-argument"),
        ({"level": "0.9"}, "bad-argument"),
        ({"resamples": 0}, "bad-argument"),
        ({"resamples": 18}, "too-few-resamples"),
        ({"resamples": 99, "level": 0.999}, "too-few-resamples"),
        ({"resamples": 99.0}, "bad-argument"),
        ({"seed": -1}, "bad-argument"),
        ({"min_group_size": 0}, "bad-argument"),
        ({"tolerance": -0.1}, "bad-argument"),
        ({"tolerance": float("nan")}, "bad-argument"),
        ({"tolerance": {}}, "bad-argument"),
        ({"tolerance": {"vec": 0.1}}, "unknown-metric"),
        ({"tolerance": {"vce": 3}}, "bad-argument"),
    ],
)
def test_refused(changes: dict[str, Any], code: str) -> None:
    with pytest.raises(Refusal) as error:
        Settings(**changes)
    assert error.value.code == code
    assert error.value.argument == next(iter(changes))


def test_nearest_name() -> None:
    with pytest.raises(Refusal, match="did you mean 'vce'"):
        Settings(tolerance={"vec": 0.1})


def test_limits() -> None:
    assert Settings().limits == {}
    assert Settings(tolerance=0.02).limits == {"vce": 0.02, "gap": 0.02}
    assert Settings(tolerance={"ece": 1}).limits == {"ece": 1.0}


def test_the_level_is_reached() -> None:
    assert Settings(level=0.9).largest_p >= 0.1
    assert Settings(resamples=19).resamples == 19


def test_seeds() -> None:
    assert root_seed(np.int64(3)) == 3
    assert root_seed(np.random.default_rng(1)) == root_seed(np.random.default_rng(1))
    assert root_seed(None) != root_seed(None)
    for wrong in (-1, 1.5, "1", True):
        with pytest.raises(Refusal):
            root_seed(wrong)  # type: ignore[arg-type]


def test_single_arguments() -> None:
    assert whole_number("bins", np.int32(4), 1) == 4
    with pytest.raises(Refusal, match="at most 5"):
        whole_number("bins", 6, 1, 5)
