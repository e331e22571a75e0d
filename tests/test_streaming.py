"""An Accumulator among threads, processes and wrong hands."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import trueness as tn

Y_TRUE, Y_PROB = tn.simulate.calibrated(4000, [1, 1, 1], rng=5)


def test_threads_may_share_a_stream() -> None:
    stream = tn.Accumulator(n_classes=3)
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(stream.update, Y_TRUE, Y_PROB) for _ in range(40)]:
            done.result()
    assert stream.table == sum([tn.tabulate(Y_TRUE, Y_PROB)] * 40)


def test_a_stream_travels_between_processes() -> None:
    stream = tn.Accumulator(n_classes=3, ties="split")
    stream.update(Y_TRUE, Y_PROB)
    twin = pickle.loads(pickle.dumps(stream))
    twin.update(Y_TRUE[:10], Y_PROB[:10])
    assert twin.n_rows == 4010
    assert stream.n_rows == 4000


@pytest.mark.parametrize("option", ["from_logits", "normalize", "weighted"])
@pytest.mark.parametrize("value", ["False", "no", 1, None])
def test_yes_or_no_is_not_guessed(option: str, value: object) -> None:
    with pytest.raises(TypeError, match=rf"{option} must be True or False"):
        tn.Accumulator(3, **{option: value})
    if option != "weighted":
        with pytest.raises(TypeError, match=rf"{option} must be True or False"):
            tn.vce(Y_TRUE, Y_PROB, **{option: value})


def test_a_table_is_no_stream() -> None:
    with pytest.raises(TypeError, match=r"merge takes an Accumulator.*\+"):
        tn.Accumulator(3).merge(tn.tabulate(Y_TRUE, Y_PROB))


def test_classes_may_be_any_iterable_in_order() -> None:
    names = np.array(["a", "b", "c"])
    stream = tn.Accumulator(3, classes=(name for name in "abc"))
    for _ in range(2):
        stream.update(names[Y_TRUE], Y_PROB)
    assert stream.table == sum([tn.tabulate(Y_TRUE, Y_PROB)] * 2)


class TestLogitsThatUnderflow:
    """exp(-800) underflows in float64, but its rank and its logarithm are known."""

    @pytest.mark.parametrize("engine", ["portable", pytest.param("compiled", marks=pytest.mark.compiled)])
    def test_rank_and_log_score(self, engine: str) -> None:
        table = tn.tabulate([2], [[0.0, -900.0, -800.0]], from_logits=True, engine=engine)
        assert (table.impossible_rows, table.tied_rows) == (0, 0)
        assert table.rank_count.sum(axis=0).tolist() == [0, 1, 0]
        assert table.log_score_sum == -800.0

    @pytest.mark.parametrize("engine", ["portable", pytest.param("compiled", marks=pytest.mark.compiled)])
    def test_minus_infinity_is_impossible(self, engine: str) -> None:
        table = tn.tabulate([2], [[0.0, -900.0, -np.inf]], from_logits=True, engine=engine)
        assert (table.impossible_rows, table.log_score_sum) == (1, 0.0)
        assert table.rank_count.sum(axis=0).tolist() == [0, 0, 1]


@pytest.mark.torch
def test_signs_that_torch_keeps_beside_the_memory() -> None:
    import torch

    logits = torch.log(torch.tensor(Y_PROB))
    turned = torch.view_as_complex(torch.stack([logits * 0, -logits], -1)).conj().imag
    assert turned.is_neg()
    assert tn.tabulate(Y_TRUE, turned, from_logits=True) == tn.tabulate(Y_TRUE, logits, from_logits=True)
