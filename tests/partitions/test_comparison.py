"""What workers return of several models: it adds up, and only between the same versions."""

import pickle

import numpy as np
import pytest

import trueness as tn
from trueness.partitions.comparison import SumsOfPart, first_rows, models_of

Y_TRUE, Y_PROB = tn.simulate.calibrated(300, [1.0] * 3, rng=1)


def part(start: int, stop: int) -> SumsOfPart:
    comparer = tn.Comparer(3, models=["a", "b"], resamples=99).starting_at(start)
    comparer.update(Y_TRUE[start:stop], {"a": Y_PROB[start:stop], "b": Y_PROB[start:stop, ::-1]})
    return SumsOfPart(comparer)


def test_parts_add_up_after_they_were_sent() -> None:
    parts = [pickle.loads(pickle.dumps(part(start, start + 100))) for start in (200, 0, 100)]
    total = parts[0] + parts[1] + parts[2]
    want = tn.compare(Y_TRUE, {"a": Y_PROB, "b": Y_PROB[:, ::-1]}, resamples=99)
    assert total.comparer.result().to_dict() == want.to_dict()


def test_another_version_is_refused() -> None:
    old = SumsOfPart(part(0, 50).comparer, library="0.0.1")
    for pair in ((old, part(50, 90)), (part(50, 90), old)):
        with pytest.raises(ValueError, match=r"a worker has trueness 0\.0\.1"):
            pair[0] + pair[1]


@pytest.mark.parametrize("counts", [[], [4], [3, 0, 5], [0, 0, 2]])
def test_first_rows(counts: list[int]) -> None:
    assert first_rows(counts) == [sum(counts[:k]) for k in range(len(counts))]


def test_names_of_models_are_text() -> None:
    assert models_of({1: "a_*", "b": "b_*"}) == {"1": "a_*", "b": "b_*"}
    with pytest.raises(TypeError, match="two or more models"):
        models_of(np.arange(3))
