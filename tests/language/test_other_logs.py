"""OpenAI batch output, HELM runs, judged files of HLE, and recognition by content."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from logs import EXPECTED, HELM, HLE, LABELS, LOGS, OPENAI, lm_eval_line, samples, tokens, write_lines

from trueness.language import Options, Votes, read, read_helm, read_hle, read_openai, recognise
from trueness.refusals import Refusal


def request(name: str = "r1", answer: str = "A", listed: Any = None, **more: Any) -> dict[str, Any]:
    content = [{"token": answer, "logprob": -0.1, "top_logprobs": listed or tokens(A=0.6, B=0.3)}]
    choice = {"message": {"content": answer}, "logprobs": {"content": content}}
    body = {"choices": [choice]}
    return {"custom_id": name, "response": {"status_code": 200, "body": body}, "error": None, **more}


def with_body(name: str, body: Any) -> dict[str, Any]:
    return {"custom_id": name, "response": {"status_code": 200, "body": body}, "error": None}


TRUTH = {"r1": "A", "r2": "B"}


def read_requests(folder: Path, *lines: Any, labels: Any = None, **options: Any) -> Any:
    path = write_lines(folder / "out.jsonl", lines)
    return read_openai(path, labels or TRUTH, **{"options": ["A", "B"], **options})


def refused(call: Any, *arguments: Any, **options: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        call(*arguments, **options)
    return caught.value


class TestOpenAI:
    def test_the_example(self) -> None:
        refusal = refused(read_openai, OPENAI, LABELS, label="answer")
        assert refusal.code == "answer-not-an-option"
        assert json.loads(OPENAI.read_text().splitlines()[refusal.row - 1])["custom_id"] == "bio-008"
        found = read_openai(OPENAI, LABELS, label="answer", groups="subject", on_bad_rows="skip")
        assert isinstance(found, Options)
        assert found.left_out == {"request failed": 2, "no answer": 1, "the answer is none of the options": 1}
        assert len(found.y_true) == 40
        # Rows are joined by key: groups and keys agree.
        assert {(name[:3], group) for name, group in zip(found.cluster, found.group, strict=True)} == {
            ("bio", "biology"),
            ("geo", "geography"),
        }

    def test_joined_by_key_whatever_the_order(self, tmp_path: Path) -> None:
        found = read_requests(tmp_path, request("r2", "B"), request("r1", "A"))
        assert (found.y_true.tolist(), found.cluster.tolist()) == ([1, 0], ["r2", "r1"])

    def test_a_request_without_a_label_is_refused(self, tmp_path: Path) -> None:
        refusal = refused(read_requests, tmp_path, request("r9"), on_bad_rows="skip")
        assert (refusal.code, refusal.value) == ("missing-label", "r9")

    def test_a_label_twice_is_refused(self, tmp_path: Path) -> None:
        labels = tmp_path / "labels.csv"
        labels.write_text("custom_id,answer\nr1,A\nr1,B\n")
        refusal = refused(read_requests, tmp_path, request("r1"), labels=labels)
        assert (refusal.code, refusal.row) == ("repeated-row", 2)

    def test_a_request_twice_is_refused(self, tmp_path: Path) -> None:
        assert refused(read_requests, tmp_path, request("r1"), request("r1")).code == "repeated-row"

    def test_labels_without_a_request_are_counted(self, tmp_path: Path) -> None:
        assert "1 labels without a request" in read_requests(tmp_path, request("r1")).remarks

    @pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
    def test_files_of_labels(self, tmp_path: Path, ending: str) -> None:
        path = tmp_path / f"labels.{ending}"
        if ending == "jsonl":
            write_lines(path, [{"id": 1, "y": "A"}, {"id": 2, "y": "B"}])
        elif ending == "parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            pq.write_table(pa.table({"id": [1, 2], "y": ["A", "B"]}), path)
        else:
            comma = "," if ending == "csv" else "\t"
            path.write_text("\n".join(comma.join(row) for row in (("id", "y"), ("1", "A"), ("2", "B"))))
        found = read_requests(tmp_path, request("2", "B"), request("1"), labels=path, key="id")
        assert found.y_true.tolist() == [1, 0]

    def test_which_column_is_the_label_must_be_said(self) -> None:
        refusal = refused(read_openai, OPENAI, LABELS)
        assert refusal.code == "missing-argument"
        assert "'custom_id', 'answer', 'subject'" in refusal.cause

    def test_no_log_probabilities_at_all(self, tmp_path: Path) -> None:
        bare = with_body("r1", {"choices": [{"message": {"content": "A"}, "logprobs": None}]})
        refusal = refused(read_requests, tmp_path, bare, on_bad_rows="skip")
        assert refusal.code == "no-log-probabilities"
        assert "has no log-probabilities" in refusal.cause
        found = read_requests(tmp_path, {**bare, "custom_id": "r2"}, request("r1"), on_bad_rows="skip")
        assert found.left_out == {"no log-probabilities": 1}

    def test_completions_and_responses_read_alike(self, tmp_path: Path) -> None:
        top = {entry["token"]: entry["logprob"] for entry in tokens(A=0.6, B=0.3)}
        completion = {"choices": [{"text": "A", "logprobs": {"tokens": ["A"], "top_logprobs": [top]}}]}
        part = {
            "type": "output_text",
            "text": "A",
            "logprobs": [{"token": "A", "top_logprobs": tokens(A=0.6, B=0.3)}],
        }
        response = {"output": [{"type": "reasoning"}, {"type": "message", "content": [part]}]}
        expected = read_requests(tmp_path, request("r1")).y_prob
        for body in (completion, response):
            np.testing.assert_array_equal(read_requests(tmp_path, with_body("r1", body)).y_prob, expected)

    def test_several_answers_are_votes(self, tmp_path: Path) -> None:
        choices = [{"message": {"content": text}} for text in ("A", "B", " A", "The A")]
        line = with_body("r1", {"choices": choices})
        found = read_requests(tmp_path, line, reading="votes")
        assert isinstance(found, Votes)
        assert found.votes.tolist() == [[2, 1]]
        both = [request("r1")["response"]["body"]["choices"][0]] * 2
        assert refused(read_requests, tmp_path, with_body("r1", {"choices": both})).code == "several-answers"


def helm_entry(id: str = "id1", perturbation: str | None = None, **stats: float) -> dict[str, Any]:
    more = {} if perturbation is None else {"perturbation": {"name": perturbation}}
    found = [{"name": {"name": name}, "count": 1, "mean": mean} for name, mean in stats.items()]
    return {"instance_id": id, "train_trial_index": 0, "stats": found, **more}


def helm_run(folder: Path, *entries: Any, method: str = "multiple_choice_joint") -> Path:
    (folder / "per_instance_stats.json").write_text(json.dumps(entries))
    (folder / "run_spec.json").write_text(json.dumps({"name": "run", "adapter_spec": {"method": method}}))
    return folder


class TestHelm:
    def test_the_example(self) -> None:
        found, expected = read_helm(HELM), EXPECTED["helm/…/per_instance_stats.json"]
        assert len(found.event) == expected["n_rows"]
        assert found.stated.mean() == pytest.approx(expected["mean_stated"], abs=1e-10)
        assert found.event.mean() == pytest.approx(expected["frequency"], abs=1e-10)
        assert found.left_out == {"perturbed": expected["perturbed_left_out"]}
        assert set(found.group) == {"mmlu:subject=law,method=multiple_choice_joint,model=example"}
        assert len(read_helm(HELM, perturbation="robustness").event) == 12
        assert refused(read_helm, HELM, perturbation="fairness").code == "unknown-perturbation"

    def test_entries_of_an_instance_are_joined(self, tmp_path: Path) -> None:
        found = read_helm(helm_run(tmp_path, helm_entry(max_prob=0.7), helm_entry(exact_match=1.0)))
        assert (found.stated.tolist(), found.event.tolist()) == ([0.7], [True])

    def test_scores_per_token(self, tmp_path: Path) -> None:
        row = helm_entry(max_prob=0.7, exact_match=1.0)
        for method, scale in (
            ("multiple_choice_separate_original", "scores per token"),
            ("generation", "probabilities"),
        ):
            assert read_helm(helm_run(tmp_path, row, method=method)).scale == scale

    def test_every_probability_1_is_refused(self, tmp_path: Path) -> None:
        rows = [helm_entry(f"id{k}", max_prob=1.0, exact_match=float(k)) for k in range(2)]
        assert (
            "this model gave no log-probabilities: every max_prob is 1"
            in refused(read_helm, helm_run(tmp_path, *rows)).cause
        )

    @pytest.mark.parametrize(
        ("stats", "code"),
        [
            ({"max_prob": 0.7}, "missing-value"),
            ({"exact_match": 1.0}, "missing-value"),
            ({"max_prob": 0.7, "exact_match": 0.5}, "not-right-or-wrong"),
            ({"max_prob": 1.5, "exact_match": 1.0}, "out-of-range"),
            ({"max_prob": float("nan"), "exact_match": 1.0}, "missing-value"),
        ],
    )
    def test_bad_rows(self, tmp_path: Path, stats: Any, code: str) -> None:
        run = helm_run(tmp_path, helm_entry("id1", max_prob=0.7, exact_match=1.0), helm_entry("id2", **stats))
        assert refused(read_helm, run).code == code
        assert len(read_helm(run, on_bad_rows="skip").event) == 1


class TestHle:
    def test_the_example(self) -> None:
        found, judged = read_hle(HLE), json.loads(HLE.read_text())
        rows = [entry["judge_response"] for entry in judged.values() if entry.get("judge_response")]
        assert found.event.tolist() == [row["correct"] == "yes" for row in rows]
        np.testing.assert_allclose(found.stated, [row["confidence"] / 100 for row in rows])
        assert found.left_out == {"not judged": 2}
        assert found.default_confidence

    @pytest.mark.parametrize(
        ("judged", "code"),
        [
            ({"correct": "yes"}, "wrong-layout"),
            ({"confidence": 80}, "wrong-layout"),
            ({"correct": "yes", "confidence": "80"}, "missing-confidence"),
            ({"correct": "yes", "confidence": 101}, "outside-range"),
            ({"correct": "perhaps", "confidence": 80}, "not-right-or-wrong"),
        ],
    )
    def test_fields(self, tmp_path: Path, judged: Any, code: str) -> None:
        path = tmp_path / "judged.json"
        path.write_text(json.dumps({"q1": {"judge_response": judged}}))
        assert refused(read_hle, path).code == code

    def test_a_question_twice_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "judged.json"
        row = '{"judge_response": {"correct": "yes", "confidence": 80}}'
        path.write_text(f'{{"q1": {row}, "q1": {row}}}')
        assert refused(read_hle, path).code == "repeated-row"


class TestRecognition:
    @pytest.mark.parametrize(
        ("path", "format"),
        [
            (samples("ex_arc"), "lm-eval"),
            (LOGS / "inspect" / "letters.eval", "inspect"),
            (LOGS / "inspect" / "letters.json.gz", "inspect"),
            (OPENAI, "openai"),
            (HELM, "helm"),
            (HELM / "per_instance_stats.json", "helm"),
            (HLE, "hle"),
        ],
    )
    def test_by_content(self, path: Path, format: str) -> None:
        found = recognise(path)
        assert found is not None
        assert found.format == format

    def test_other_files_are_not_logs(self, tmp_path: Path) -> None:
        for name in ("plain/ragged.jsonl", "plain/stated.csv", "plain/next_token.jsonl", "expected.json"):
            assert recognise(LOGS / name) is None
        import trueness as tn

        tn.tabulate([0, 1], [[0.5, 0.5], [0.2, 0.8]]).save(tmp_path / "table.json")
        np.savez(tmp_path / "arrays.npz", y_true=[0])
        (tmp_path / "broken.json").write_text("{broken")
        (tmp_path / "empty.jsonl").write_text("")
        for path in tmp_path.iterdir():
            assert recognise(path) is None

    def test_the_input_of_a_batch_is_refused_by_name(self, tmp_path: Path) -> None:
        path = write_lines(
            tmp_path / "in.jsonl", [{"custom_id": "r1", "method": "POST", "url": "/v1", "body": {}}]
        )
        assert "this is the input of a batch" in refused(recognise, path).cause

    def test_a_header_after_many_judged_answers_is_not_searched(self, tmp_path: Path) -> None:
        path = tmp_path / "unjudged.json"
        judged = {"judge_response": {"correct": "no", "confidence": 10}}
        path.write_text(json.dumps({**{f"q{k}": {"response": ""} for k in range(5)}, "q5": judged}))
        found = recognise(path)
        assert found is not None
        assert found.format == "hle"

    def test_read(self, tmp_path: Path) -> None:
        found = read(write_lines(tmp_path / "x.jsonl", [lm_eval_line()]), normalise_by="char")
        assert isinstance(found, Options)
        assert found.scale == "scores per character"
        assert refused(read, LOGS / "plain" / "ragged.jsonl").code == "unknown-format"
