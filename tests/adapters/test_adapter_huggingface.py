"""`compute_metrics` of a Trainer, and a metric with the methods of `evaluate`: the numbers of `trueness.assess`."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import trueness as tn
from trueness.adapters.huggingface import CalibrationModule, ComputeMetrics, compute_metrics


class Pair(NamedTuple):
    """As the `EvalPrediction` of transformers: attributes, and a pair."""

    predictions: Any
    label_ids: Any


def logits_of(shape: tuple[int, ...], n_classes: int = 4) -> tuple[Any, Any]:
    generator = np.random.default_rng(3)
    logits = generator.normal(0, 2, (*shape, n_classes)).astype(np.float32)
    labels = generator.integers(0, n_classes, shape)
    labels[generator.random(shape) < 0.3] = -100
    return logits, labels


def rows_that_count(logits: Any, labels: Any) -> tuple[Any, Any]:
    """The rows without those that are ignored, in plain loops."""
    kept = [index for index in np.ndindex(labels.shape) if labels[index] != -100]
    return np.array([labels[index] for index in kept]), np.array([logits[index] for index in kept])


@pytest.mark.parametrize("kind", [Pair, lambda *pair: pair], ids=["attributes", "tuple"])
def test_rows_and_classes(kind: Any) -> None:
    logits, labels = logits_of((500,))
    expected = tn.assess(*rows_that_count(logits, labels), from_logits=True)
    assert compute_metrics(kind(logits, labels)) == expected.flat()
    assert 300 < expected.n_rows < 400


def test_a_sequence_is_a_cluster() -> None:
    logits, labels = logits_of((60, 9))
    sequence = [index[0] for index in np.ndindex(labels.shape) if labels[index] != -100]
    expected = tn.assess(*rows_that_count(logits, labels), clusters=sequence, from_logits=True)
    assert compute_metrics(Pair(logits, labels)) == expected.flat()
    assert ComputeMetrics(clusters=False)(Pair(logits, labels)) != expected.flat()


def test_a_language_model_predicts_the_next_position() -> None:
    logits, labels = logits_of((60, 9))
    shifted = compute_metrics(Pair(logits[:, :-1].copy(), labels[:, 1:].copy()))
    assert ComputeMetrics(shift=True)(Pair(logits, labels)) == shifted


def test_logits_are_the_first_of_several_outputs() -> None:
    logits, labels = logits_of((300,))
    assert compute_metrics(Pair((logits, np.zeros((300, 7))), labels)) == compute_metrics((logits, labels))


def test_options_and_names() -> None:
    logits, labels = logits_of((300,))
    chosen = ComputeMetrics(["vce", "ece_high"], bins=5, resamples=99, rng=1)((logits, labels))
    expected = tn.assess(*rows_that_count(logits, labels), from_logits=True, bins=5, resamples=99, rng=1)
    assert chosen == {"vce": expected.vce.value, "ece_high": expected.ece.interval.high}
    with pytest.raises(tn.Refusal, match="did you mean 'vce_low'"):
        ComputeMetrics(["vce_lo"])((logits, labels))


def test_labels_of_question_answering_are_refused() -> None:
    logits, labels = logits_of((30,))
    with pytest.raises(tn.Refusal, match="the labels are a tuple") as refused:
        compute_metrics(Pair(logits, (labels, labels)))
    assert refused.value.code == "wrong-type"


@pytest.mark.parametrize("n_classes", [2, 4])
def test_batches_give_the_numbers_of_all_rows(n_classes: int) -> None:
    logits, labels = logits_of((500,), n_classes)
    module = CalibrationModule(from_logits=True, resamples=99, bins=7)
    for start in range(0, 490, 70):
        module.add_batch(predictions=logits[start : start + 70], references=labels[start : start + 70])
    for row in range(490, 500):
        module.add(prediction=logits[row], reference=labels[row])
    kept = rows_that_count(logits, labels)
    expected = tn.assess(*kept, from_logits=True, resamples=99, bins=7)
    assert module.tables.by_variation == expected.table
    assert module.compute() == expected.flat()
    assert module.compute(predictions=logits, references=labels) == expected.flat()


@pytest.mark.parametrize(
    "options",
    [
        {"bins": tn.Edges([0, 0.5, 1.0, np.log(4)])},
        {"bins": tn.Edges([0, 0.5, 1.0, np.log(4)]), "confidence_bins": 15},
        {"bins": 5, "variation": "confidence"},
    ],
    ids=["edges", "edges and confidence bins", "by confidence"],
)
def test_bins_are_those_of_assess(options: dict[str, Any]) -> None:
    """Edges of the measure are not those of the confidence, for ECE."""
    logits, labels = logits_of((500,))
    module = CalibrationModule(from_logits=True, resamples=99, **options)
    expected = tn.assess(*rows_that_count(logits, labels), from_logits=True, resamples=99, **options)
    assert module.compute(predictions=logits, references=labels) == expected.flat()


@pytest.mark.parametrize("eval_pred", [5, (np.zeros((3, 2)),), {"predictions": 1}, None], ids=repr)
def test_other_than_a_pair_is_refused(eval_pred: Any) -> None:
    with pytest.raises(
        tn.Refusal, match="must be an EvalPrediction or a pair of predictions and labels, got"
    ):
        compute_metrics(eval_pred)


def test_rows_without_positions_are_not_shifted() -> None:
    logits, labels = logits_of((60, 9))
    for wrong in ((logits[0], labels[0]), (logits, labels.ravel())):
        with pytest.raises(tn.Refusal, match="leave out shift for models that are not causal"):
            ComputeMetrics(shift=True)(wrong)


def test_misspelt_options_and_names_are_refused_before_the_model_runs() -> None:
    with pytest.raises(tn.Refusal, match="unexpected argument 'resample'; did you mean 'resamples'"):
        ComputeMetrics(resample=99)
    with pytest.raises(tn.Refusal, match="unexpected argument 'shifted'; did you mean 'shift'"):
        ComputeMetrics(shifted=True)
    for made in (ComputeMetrics, CalibrationModule):
        with pytest.raises(tn.Refusal, match=r"names must be a list of names such as \['vce', 'p_value'\]"):
            made("vce")


def test_a_refused_batch_leaves_no_trace() -> None:
    """Not even its number of classes."""
    module = CalibrationModule(["n_rows"])
    with pytest.raises(tn.Refusal, match="labels"):
        module.add_batch(predictions=[[0.5, 0.5]], references=[0, 1])
    module.add_batch(predictions=[[0.5, 0.3, 0.2]], references=[2])
    assert module.compute() == {"n_rows": 1.0}


def test_the_probability_of_class_1() -> None:
    y_true, y_prob = tn.simulate.calibrated(300, [1, 1], rng=0)
    found = CalibrationModule(resamples=99).compute(predictions=y_prob[:, 1].tolist(), references=y_true)
    assert found == tn.assess(y_true, y_prob[:, 1], resamples=99).flat()


def test_no_rows_and_bad_rows() -> None:
    module = CalibrationModule()
    with pytest.raises(tn.Refusal, match="no rows were added"):
        module.compute()
    module.add_batch(predictions=[[0.5, 0.5]], references=[-100])
    with pytest.raises(tn.Refusal, match="the only row has the label of ignore_index"):
        module.compute()
    with pytest.raises(tn.Refusal, match="sum"):
        module.add_batch(predictions=[[0.5, 0.6]], references=[0])


@pytest.mark.transformers
class TestTransformers:
    def test_the_real_class(self) -> None:
        from transformers import EvalPrediction

        logits, labels = logits_of((60, 9))
        expected = compute_metrics(Pair(logits, labels))
        assert compute_metrics(EvalPrediction(predictions=logits, label_ids=labels)) == expected
        with_inputs = EvalPrediction(predictions=logits, label_ids=labels, inputs=np.zeros((60, 9)))
        assert compute_metrics(with_inputs) == expected

    def test_a_trainer_evaluates(self, tmp_path: Path) -> None:
        """Sequences of different lengths, which the Trainer pads by -100; the names are with its prefix."""
        import torch
        from transformers import Trainer, TrainingArguments

        generator = np.random.default_rng(0)
        rows = []
        for length in generator.integers(3, 9, 20):
            labels = generator.integers(0, 4, length)
            labels[0] = -100
            rows.append({"features": generator.normal(size=(length, 4)), "labels": labels})

        class Tagger(torch.nn.Module):
            def forward(self, features: Any, labels: Any) -> dict[str, Any]:
                return {"loss": features.sum(), "logits": 3 * features}

        def collate(batch: list[Any]) -> dict[str, Any]:
            pad = torch.nn.utils.rnn.pad_sequence
            features = [torch.tensor(row["features"]) for row in batch]
            labels = [torch.tensor(row["labels"]) for row in batch]
            return {
                "features": pad(features, batch_first=True),
                "labels": pad(labels, batch_first=True, padding_value=-100),
            }

        arguments = TrainingArguments(
            output_dir=str(tmp_path),
            report_to="none",
            use_cpu=True,
            disable_tqdm=True,
            per_device_eval_batch_size=3,
            label_names=["labels"],
        )
        trainer = Trainer(
            Tagger(), arguments, eval_dataset=rows, data_collator=collate, compute_metrics=compute_metrics
        )
        found = trainer.evaluate()
        flat = {
            "y": np.concatenate([row["labels"][1:] for row in rows]),
            "logits": np.concatenate([3 * row["features"][1:] for row in rows]),
            "who": np.concatenate([np.full(len(row["labels"]) - 1, k) for k, row in enumerate(rows)]),
        }
        expected = tn.assess(flat["y"], flat["logits"], clusters=flat["who"], from_logits=True).flat("eval_")
        assert {name: found[name] for name in expected} == expected


def test_all_rows_are_ignored() -> None:
    module = CalibrationModule(["n_rows"])
    for _ in range(2):
        module.add_batch(predictions=[[0.9, 0.1], [0.4, 0.6]], references=[-100, -100])
    with pytest.raises(tn.Refusal, match="all 4 rows have the label of ignore_index"):
        module.compute()
    assert module.compute(predictions=[[0.9, 0.1]], references=[0]) == {"n_rows": 1.0}
    with pytest.raises(tn.Refusal, match="no rows were added"):
        module.compute()
