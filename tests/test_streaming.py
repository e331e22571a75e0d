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
    with pytest.raises(TypeError, match=rf"`{option}` must be True or False"):
        tn.Accumulator(3, **{option: value})
    if option != "weighted":
        with pytest.raises(TypeError, match=rf"`{option}` must be True or False"):
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


class TestSeveralTables:
    """A stream may carry the tables by confidence and by class too; those of one process are the oracle."""

    @pytest.mark.parametrize("ties", ["first", "split"])
    @pytest.mark.parametrize("engine", ["portable", "compiled"])
    def test_batches_give_the_tables_of_all_rows(self, engine: str, ties: str) -> None:
        stream = tn.Accumulator(3, confidence_bins=12, by_class=True, ties=ties, engine=engine)
        for part in np.array_split(np.arange(4000), [1, 30, 1700]):
            stream.update(Y_TRUE[part], Y_PROB[part])
        assert stream.table == tn.tabulate(Y_TRUE, Y_PROB, ties=ties)
        by_confidence = tn.tabulate(Y_TRUE, Y_PROB, variation="confidence", bins=12, ties=ties)
        by_class = tn.tabulate_events(Y_TRUE, Y_PROB, ties=ties)
        assert stream.tables.stored == [stream.table, by_confidence, by_class]
        assert stream.tables.by_class == by_class

    def test_the_assessment_of_a_stream_is_that_of_all_rows(self) -> None:
        stream = tn.Accumulator(3, confidence_bins=10, by_class=True)
        stream.update(Y_TRUE[:1000], Y_PROB[:1000])
        stream.update(Y_TRUE[1000:], Y_PROB[1000:])
        assert tn.assess_table(stream.tables, rng=0) == tn.assess(Y_TRUE, Y_PROB, rng=0)

    def test_streams_merge_if_both_have_the_tables(self) -> None:
        one, two, plain = (
            tn.Accumulator(3, by_class=True),
            tn.Accumulator(3, by_class=True),
            tn.Accumulator(3),
        )
        one.update(Y_TRUE[:100], Y_PROB[:100])
        two.update(Y_TRUE[100:], Y_PROB[100:])
        one.merge(pickle.loads(pickle.dumps(two)))
        assert one.tables.by_class == tn.tabulate_events(Y_TRUE, Y_PROB)
        with pytest.raises(ValueError, match="entropy and class cannot be added to tables by entropy"):
            one.merge(plain)
        assert one.n_rows == 4000

    def test_a_refused_batch_changes_no_table(self) -> None:
        stream = tn.Accumulator(3, by_class=True)
        stream.update(Y_TRUE, Y_PROB)
        before = stream.tables
        bad = Y_PROB.copy()
        bad[3000] = 0.9
        with pytest.raises(ValueError, match="sums to"):
            stream.update(Y_TRUE, bad)
        assert stream.tables == before

    def test_names_of_classes_are_those_of_the_first_batch_that_has_some(self) -> None:
        stream = tn.Accumulator(3, by_class=True, classes=["a", "b", "c"])
        stream.update(np.array(["a", "b", "c"])[Y_TRUE], Y_PROB)
        assert stream.tables.by_class is not None
        assert stream.tables.by_class.spec.class_names == ("a", "b", "c")

    def test_names_of_columns(self) -> None:
        import pandas as pd

        names = ["p_cat", "p_dog", "p_cow"]
        frame = pd.DataFrame(Y_PROB, columns=names)
        stream = tn.Accumulator(3, by_class=True)
        stream.update(Y_TRUE, Y_PROB)
        stream.update(Y_TRUE, frame)
        stream.update(Y_TRUE, frame[names[::-1]])  # matched by name
        stream.update(Y_TRUE, frame.set_axis(["x", "y", "z"], axis=1))  # by place: no name matches
        assert stream.tables.by_class == sum([tn.tabulate_events(Y_TRUE, Y_PROB)] * 4)
        assert stream.tables.by_class.spec.class_names == ("cat", "dog", "cow")

    def test_tables_of_events_are_streams_by_themselves(self) -> None:
        parts = np.array_split(np.arange(4000), 7)
        top = sum(tn.tabulate_events(Y_TRUE[part], Y_PROB[part], events="top") for part in parts)
        assert top == tn.tabulate_events(Y_TRUE, Y_PROB, events="top")


class TestLogitsThatUnderflow:
    """exp(-800) underflows in float64, but its rank and its logarithm are known."""

    @pytest.mark.parametrize("engine", ["portable", "compiled"])
    def test_rank_and_log_score(self, engine: str) -> None:
        table = tn.tabulate([2], [[0.0, -900.0, -800.0]], from_logits=True, engine=engine)
        assert (table.impossible_rows, table.tied_rows) == (0, 0)
        assert table.rank_count.sum(axis=0).tolist() == [0, 1, 0]
        assert table.log_score_sum == -800.0

    @pytest.mark.parametrize("engine", ["portable", "compiled"])
    def test_minus_infinity_is_impossible(self, engine: str) -> None:
        table = tn.tabulate([2], [[0.0, -900.0, -np.inf]], from_logits=True, engine=engine)
        assert (table.impossible_rows, table.log_score_sum) == (1, 0.0)
        assert table.rank_count.sum(axis=0).tolist() == [0, 0, 1]


@pytest.mark.adapters
def test_signs_that_torch_keeps_beside_the_memory() -> None:
    import torch

    logits = torch.log(torch.tensor(Y_PROB))
    turned = torch.view_as_complex(torch.stack([logits * 0, -logits], -1)).conj().imag
    assert turned.is_neg()
    assert tn.tabulate(Y_TRUE, turned, from_logits=True) == tn.tabulate(Y_TRUE, logits, from_logits=True)
