"""Logs of inspect: both layouts, traps of the archive, readings."""

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest
from logs import EXPECTED, LOGS, equal, inspect_header, inspect_sample, tokens, write_eval

from trueness.language import Options, Statements, Votes, read_inspect
from trueness.refusals import Refusal

INSPECT = LOGS / "inspect"


def log(folder: Path, *samples: Any, header: Any = None) -> Path:
    members = {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in samples}
    return write_eval(folder / "log.eval", {**members, "header.json": header or inspect_header()})


def refused(path: Path, **options: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        read_inspect(path, **options)
    return caught.value


def with_answer(*entries: Any, id: str = "q2", **more: Any) -> Any:
    return inspect_sample(id, output={"choices": [{"logprobs": {"content": list(entries)}}]}, **more)


def test_stated() -> None:
    found, expected = read_inspect(INSPECT / "stated.eval"), EXPECTED["inspect/stated.eval"]
    assert isinstance(found, Statements)
    assert len(found.event) == expected["n_rows"]
    assert found.stated.mean() == pytest.approx(expected["mean_stated"], abs=1e-10)
    assert found.event.mean() == pytest.approx(expected["frequency"], abs=1e-10)
    assert found.left_out == {"not scored": 1, "not attempted": 1}
    with_wrong = read_inspect(INSPECT / "stated.eval", not_attempted="incorrect")
    assert isinstance(with_wrong, Statements)
    assert len(with_wrong.event) == expected["n_rows"] + 1
    assert with_wrong.left_out == {"not scored": 1}


def test_votes_over_epochs(tmp_path: Path) -> None:
    answers = ["A", "B", "A", "what?"]
    samples = [
        inspect_sample("q1", k + 1, scores={"choice": {"value": "C", "answer": answer}})
        for k, answer in enumerate(answers)
    ]
    found = read_inspect(log(tmp_path, *samples), reading="votes")
    assert isinstance(found, Votes)
    assert (found.votes.tolist(), found.y_true.tolist()) == ([[2, 1, 0]], [0])
    assert found.left_out == {"answers that are none of the options": 1}
    assert refused(log(tmp_path, samples[0]), reading="votes").code == "too-few-votes"


class TestArchive:
    def test_the_last_of_two_members_with_one_name_counts(self, tmp_path: Path) -> None:
        old, new = inspect_sample(target="B"), inspect_sample(target="C")
        path = tmp_path / "log.eval"
        name = "samples/q1_epoch_1.json"
        with pytest.warns(UserWarning, match="Duplicate name"):
            write_eval(path, [(name, old), (name, new), ("header.json", inspect_header())])
        found = read_inspect(path)
        assert isinstance(found, Options)
        assert found.y_true.tolist() == [2]

    def test_ids_with_slashes_and_split_samples(self, tmp_path: Path) -> None:
        whole = inspect_sample("set/q1")
        split = inspect_sample("q2")
        metadata = split.pop("metadata")
        members = {
            "samples/set/q1_epoch_1.json": whole,
            "samples/q2_epoch_1/sample.json": split,
            "samples/q2_epoch_1/metadata.json": metadata,
            "samples/q2_epoch_1/messages.json": [],
            "summaries.json": [],
            "header.json": inspect_header(),
        }
        found = read_inspect(write_eval(tmp_path / "log.eval", members), groups="metadata.subject")
        assert found.cluster.tolist() == ["colours/q2", "colours/set/q1"]
        assert found.group.tolist() == ["colour", "colour"]

    def test_a_sample_in_two_members_is_refused(self, tmp_path: Path) -> None:
        members = {
            "samples/q1_epoch_1.json": inspect_sample(),
            "samples/q1_epoch_1/sample.json": inspect_sample(),
            "header.json": inspect_header(),
        }
        assert refused(write_eval(tmp_path / "log.eval", members), on_bad_rows="skip").code == "repeated-row"

    def test_a_log_that_crashed(self, tmp_path: Path) -> None:
        start = inspect_header()
        del start["status"]
        members = {"_journal/start.json": start, "samples/q1_epoch_1.json": inspect_sample()}
        path = write_eval(tmp_path / "log.eval", members)
        refusal = refused(path)
        assert refusal.code == "incomplete-log"
        assert "ended with status 'started' after 1 of 3 samples" in refusal.cause
        assert len(read_inspect(path, partial=True).group) == 1

    def test_a_log_that_ended_with_an_error(self, tmp_path: Path) -> None:
        path = log(tmp_path, inspect_sample(), header=inspect_header("error"))
        assert refused(path).value == "error"
        assert "pass `partial=True`" in refused(path).remedy

    def test_samples_that_failed_are_counted(self, tmp_path: Path) -> None:
        failed, invalid = inspect_sample("q2", error={"message": "x"}), inspect_sample("q3", invalidation={})
        found = read_inspect(log(tmp_path, inspect_sample(), failed, invalid))
        assert found.left_out == {"sample failed": 1, "sample invalidated": 1}

    def test_the_order_of_the_members_does_not_matter(self, tmp_path: Path) -> None:
        samples = [inspect_sample(id, epoch, target="ABC"[id % 3]) for id in (10, 9, 2) for epoch in (2, 1)]
        forwards = read_inspect(log(tmp_path, *samples))
        assert equal(forwards, read_inspect(log(tmp_path, *samples[::-1])))
        assert forwards.cluster.tolist()[:3] == ["colours/2", "colours/9", "colours/10"]

    def test_two_logs_of_the_same_samples_are_refused(self, tmp_path: Path) -> None:
        first = log(tmp_path, inspect_sample())
        second = tmp_path / "copy.eval"
        second.write_bytes(first.read_bytes())
        with pytest.raises(Refusal) as caught:
            read_inspect([first, second])
        assert caught.value.code == "repeated-row"


class TestReadings:
    STATED: ClassVar = {"judge": {"value": {"score": "C", "confidence": 80}}}

    def test_both_are_ambiguous(self, tmp_path: Path) -> None:
        path = log(tmp_path, inspect_sample(scores=self.STATED))
        assert refused(path).code == "ambiguous-reading"
        assert isinstance(read_inspect(path, reading="stated"), Statements)
        assert isinstance(read_inspect(path, reading="letters"), Options)

    def test_neither_is_refused(self, tmp_path: Path) -> None:
        path = log(tmp_path, inspect_sample(output={"choices": []}))
        assert refused(path).code == "no-probabilities"
        assert '{"score", "confidence"}' in refused(path).remedy

    @pytest.mark.parametrize(
        ("score", "right"), [("C", True), ("I", False), (1, True), (0.0, False), (True, True), (False, False)]
    )
    def test_scores(self, tmp_path: Path, score: Any, right: bool) -> None:
        scores = {"judge": {"value": {"score": score, "confidence": 80}}}
        found = read_inspect(log(tmp_path, inspect_sample(scores=scores, choices=None)))
        assert isinstance(found, Statements)
        assert (found.event.tolist(), found.stated.tolist()) == ([right], [0.8])

    @pytest.mark.parametrize(
        ("value", "code"),
        [
            ({"score": "P", "confidence": 80}, "not-right-or-wrong"),
            ({"score": 0.5, "confidence": 80}, "not-right-or-wrong"),
            ({"score": "C", "confidence": None}, "missing-confidence"),
            ({"score": "C", "confidence": 130}, "outside-range"),
        ],
    )
    def test_bad_scores(self, tmp_path: Path, value: Any, code: str) -> None:
        good = inspect_sample("q1", scores=self.STATED, choices=None)
        path = log(tmp_path, good, inspect_sample("q2", scores={"judge": {"value": value}}, choices=None))
        assert refused(path).code == code
        assert "sample 'q2', epoch 1" in refused(path).cause
        assert len(read_inspect(path, on_bad_rows="skip").group) == 1

    def test_several_scorers(self, tmp_path: Path) -> None:
        scores = {**self.STATED, "second": {"value": {"score": "I", "confidence": 60}}}
        path = log(tmp_path, inspect_sample(scores=scores, choices=None))
        assert refused(path).code == "several-scorers"
        found = read_inspect(path, scorer="second")
        assert isinstance(found, Statements)
        assert found.stated.tolist() == [0.6]

    def test_shuffled_choices_are_refused(self, tmp_path: Path) -> None:
        plan = {"steps": [{"solver": "multiple_choice", "params": {"shuffle": 42}}]}
        assert (
            refused(log(tmp_path, inspect_sample(), header=inspect_header(plan=plan))).code
            == "shuffled-choices"
        )
        scores = {
            "choice": {"value": "C", "answer": "A", "explanation": "Choices were shuffled before generating"}
        }
        assert refused(log(tmp_path, inspect_sample(scores=scores))).code == "shuffled-choices"


class TestAnswers:
    LISTED = tokens(A=0.6, B=0.3, The=0.05)

    def read(self, folder: Path, *content: Any, **options: Any) -> Any:
        return read_inspect(log(folder, inspect_sample(), with_answer(*content)), **options)

    def test_white_space_is_passed_over(self, tmp_path: Path) -> None:
        found = self.read(tmp_path, {"token": "\n"}, {"token": " B", "top_logprobs": self.LISTED})
        assert found.y_prob[1].argmax() == 0

    def test_an_answer_that_begins_otherwise_is_a_bad_row(self, tmp_path: Path) -> None:
        with pytest.raises(Refusal, match='the answer begins with "The", which is none of A, B, C'):
            self.read(tmp_path, {"token": "The", "top_logprobs": self.LISTED})

    def test_answer_at(self, tmp_path: Path) -> None:
        content = [{"token": text} for text in ("Answer", ":", " B", " no", " Answer", ":")]
        last = {"token": " A", "top_logprobs": self.LISTED}
        with pytest.raises(Refusal, match="does not contain 'Answer:'"):
            self.read(tmp_path, last, answer_at="Answer:")
        path = log(tmp_path, with_answer(*content, last, {"token": "."}))
        found = read_inspect(path, answer_at="Answer:")
        assert isinstance(found, Options)
        assert found.y_prob[0].argmax() == 0

    def test_after_reasoning_is_remarked(self, tmp_path: Path) -> None:
        content = [{"token": "so "}] * 33 + [
            {"token": "Answer:"},
            {"token": " A", "top_logprobs": self.LISTED},
        ]
        found = read_inspect(log(tmp_path, with_answer(*content)), answer_at="Answer:")
        assert any(remark.startswith("after reasoning") for remark in found.remarks)

    def test_no_option_listed_is_a_bad_row(self, tmp_path: Path) -> None:
        content = {"token": "A", "top_logprobs": tokens(x=0.5, y=0.4)}
        with pytest.raises(Refusal, match="none of A, B, C is among the 2 listed tokens"):
            self.read(tmp_path, content)

    @pytest.mark.parametrize("target", [["A", "B"], "D", "maybe", None])
    def test_targets_that_are_not_one_option_are_bad_rows(self, tmp_path: Path, target: Any) -> None:
        path = log(tmp_path, inspect_sample(), inspect_sample("q2", target=target))
        assert refused(path).code == "not-one-answer"
        assert len(read_inspect(path, on_bad_rows="skip").group) == 1

    def test_other_labels(self, tmp_path: Path) -> None:
        sample = with_answer(
            {"token": "2", "top_logprobs": tokens(**{"1": 0.3, "2": 0.6})}, target="2", choices=None
        )
        found = read_inspect(log(tmp_path, sample), options=["1", "2"])
        assert isinstance(found, Options)
        assert (found.y_true.tolist(), found.n_options.tolist()) == ([1], [2])

    def test_samples_without_log_probabilities_are_bad_rows(self, tmp_path: Path) -> None:
        path = log(tmp_path, inspect_sample(), inspect_sample("q2", output={}))
        assert refused(path).code == "no-log-probabilities"


def test_a_document_may_have_its_header_after_its_samples(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"samples": [inspect_sample()], **inspect_header()}))
    assert len(read_inspect(path).group) == 1
