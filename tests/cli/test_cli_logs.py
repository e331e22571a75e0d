"""Evaluation logs through the command: the expected answers of the examples, messages, options, gates, outputs."""

import json
from pathlib import Path
from typing import Any

import pytest
from logs import EXPECTED, HELM, HLE, LABELS, LOGS, OPENAI, lm_eval_line, samples, write_lines

import trueness as tn
from trueness import language
from trueness.cli import main

STATED = ("--stated-confidence", "confidence", "--correct", "grade")
PLAIN = LOGS / "plain"


def assess(folder: Path, *arguments: Any, code: int = 0) -> dict[str, Any]:
    """The JSON of an assessment."""
    out = folder / "out.json"
    assert main(["assess", *map(str, arguments), "--resamples", "99", "--json", str(out)]) == code
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def refusal(capsys: Any, *arguments: Any) -> str:
    capsys.readouterr()
    assert main(["assess", *map(str, arguments)]) == 2
    text: str = capsys.readouterr().err
    return text


RANKS = {
    "lm-eval/samples_ex_arc --normalise-by none": (samples("ex_arc"),),
    "lm-eval/samples_ex_arc --normalise-by char": (samples("ex_arc"), "--normalise-by", "char"),
    "lm-eval/samples_ex_arc --normalise-by byte": (samples("ex_arc"), "--normalise-by", "byte"),
    "lm-eval/samples_ex_arc_dummy": (samples("ex_arc_dummy"),),
    "lm-eval/samples_ex_arc_mi --normalise-by none": (samples("ex_arc_mi"), "--format", "lm-eval"),
    "lm-eval/samples_ex_mmlu_anatomy": (samples("ex_mmlu_anatomy"),),
    "lm-eval/samples_ex_mmlu_law": (samples("ex_mmlu_law"),),
    "lm-eval/samples_ex_mmlu_*.jsonl (both, without the appended file)": (
        LOGS / "lm-eval" / "samples_ex_mmlu_*_2026*.jsonl",
    ),
    "plain/ragged.jsonl": (PLAIN / "ragged.jsonl", "--ragged"),
    "plain/next_token.jsonl": (PLAIN / "next_token.jsonl",),
}  # fmt: skip


@pytest.mark.parametrize("name", RANKS)
def test_expected_answers_of_ranks(tmp_path: Path, name: str) -> None:
    found, expected = assess(tmp_path, *RANKS[name]), EXPECTED[name]
    assert found["n_rows"] == expected["n_rows"]
    assert found["accuracy"] == pytest.approx(expected["accuracy"], abs=1e-10)
    for key in ("vce", "net", "rce", "rce_w1", "ece"):
        assert found[key]["value"] == pytest.approx(expected[key], abs=1e-10), key
    assert found["log_score_z"]["value"] == pytest.approx(expected["log_score_z"], abs=1e-10)
    if "uce" in expected:
        assert found["uce"]["value"] == pytest.approx(expected["uce"], abs=1e-10)
    if "options" in expected:
        assert found["options"] == expected["options"]


EVENTS = {
    "inspect/stated.eval": (LOGS / "inspect" / "stated.eval",),
    "inspect/stated.json": (LOGS / "inspect" / "stated.json.gz",),
    "helm/…/per_instance_stats.json": (HELM,),
}


@pytest.mark.parametrize("name", EVENTS)
def test_expected_answers_of_events(tmp_path: Path, name: str) -> None:
    found, expected = assess(tmp_path, *EVENTS[name]), EXPECTED[name]
    reading = language.read(EVENTS[name][0])
    assert isinstance(reading, language.Statements)
    result = tn.assess_event(
        reading.event,
        reading.stated,
        what="right",
        default_confidence=reading.default_confidence,
        resamples=99,
    )
    assert isinstance(result, tn.EventAssessment)
    assert result.to_dict()["ece"] == found["ece"]
    values = {
        "n_rows": result.n_rows,
        "ece": result.ece.value,
        "net": result.net.value,
        "rms": result.rms.value,
        "max": result.max_gap,
        "brier": result.brier_score,
        "reliability": result.brier_parts.reliability,
        "resolution": result.brier_parts.resolution,
        "uncertainty": result.brier_parts.uncertainty,
        "brier_z": result.brier_z.value,
        "impossible_rows": result.impossible_rows,
    }
    assert values == pytest.approx({key: expected[key] for key in values}, abs=1e-10)


def test_expected_answers_of_votes(tmp_path: Path) -> None:
    found = assess(tmp_path, PLAIN / "votes.csv", "--votes", "A,B,C,D", "--label", "answer")
    expected = EXPECTED["plain/votes.csv (shares)"]
    for key in ("vce", "net", "rce", "rce_w1", "ece"):
        assert found[key]["value"] == pytest.approx(expected[key], abs=1e-10), key


class TestMessages:
    def test_format_task_labels_and_options(self, tmp_path: Path, capsys: Any) -> None:
        assess(tmp_path, samples("ex_arc"))
        assert capsys.readouterr().err.splitlines()[:3] == [
            "format lm-eval: lines with doc_id, arguments and filtered_resps",
            "task ex_arc from the file's name; labels: target is an index (agrees with acc in 40 rows)",
            "40 rows, options 3: 2, 4: 36, 5: 2; log-likelihoods as they are (--normalise-by none)",
        ]

    def test_rows_of_one_question(self, tmp_path: Path, capsys: Any) -> None:
        found = assess(tmp_path, LOGS / "inspect" / "letters.eval")
        assert found["n_clusters"] == 20
        text = capsys.readouterr().err
        assert "40 rows of 20 questions" in text
        assert "--missing zero" in text

    def test_the_other_reading_of_missing_options(self, tmp_path: Path, capsys: Any) -> None:
        cap = assess(tmp_path, LOGS / "inspect" / "letters.eval")
        line = next(line for line in capsys.readouterr().err.splitlines() if "--missing zero" in line)
        zero = assess(tmp_path, LOGS / "inspect" / "letters.eval", "--missing", "zero")
        assert f"VCE {cap['vce']['value']:.4f} → {zero['vce']['value']:.4f}" in line

    def test_left_out(self, tmp_path: Path, capsys: Any) -> None:
        assess(tmp_path, OPENAI, "--label-file", LABELS, "--label", "answer", "--on-bad-rows", "skip")
        assert "left out 4:\n  request failed: 2\n" in capsys.readouterr().err

    def test_hle(self, tmp_path: Path, capsys: Any) -> None:
        found = assess(tmp_path, HLE)
        assert "HLE's own calibration error: 24\n" in capsys.readouterr().err
        assert "full-confidence" in {warning["code"] for warning in found["warnings"]}


class TestGroups:
    def test_several_tasks_are_groups(self, tmp_path: Path) -> None:
        both = [samples("ex_mmlu_anatomy"), samples("ex_mmlu_law")]
        for more in ((), ("--groups", "task")):
            found = assess(tmp_path, *both, *more)
            assert [group["name"] for group in found["groups"]] == ["ex_mmlu_anatomy", "ex_mmlu_law"]

    @pytest.mark.parametrize(
        ("arguments", "names"),
        [
            ((samples("ex_arc"), "--groups", "doc.subject"), ["earth", "life"]),
            ((LOGS / "inspect" / "letters.eval", "--groups", "metadata.subject"), ["history", "physics"]),
            ((PLAIN / "stated.csv", *STATED, "--percent", "--groups", "topic"), ["art", "science"]),
        ],
    )
    def test_by_a_field(self, tmp_path: Path, arguments: Any, names: list[str]) -> None:
        assert [group["name"] for group in assess(tmp_path, *arguments)["groups"]] == names

    def test_helm_has_no_other_groups(self, capsys: Any) -> None:
        assert "--groups" in refusal(capsys, HELM, "--groups", "subject")


class TestRefused:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((samples("ex_gen"),), "generated text, not log-likelihoods"),
            ((samples("ex_multi"),), "several right answers (target '[0, 2]')"),
            (
                (LOGS / "lm-eval" / "samples_ex_mmlu_law_appended_twice.jsonl",),
                "doc_id 0 twice, in rows 1 and 31",
            ),
            ((samples("ex_arc"), "--normalise-by", "token"), "does not say how many tokens an option has"),
            (
                (samples("ex_arc"), "--normalise-by", "unconditional"),
                "no unconditional likelihoods in the file",
            ),
            (
                (LOGS / "simple-evals" / "simpleqa_example_allresults.json",),
                "does not say which answers were right",
            ),
            ((PLAIN / "stated.csv", *STATED), "pass --percent"),
            ((PLAIN / "ragged.jsonl",), "pass --ragged"),
            ((OPENAI, "--label-file", LABELS, "--label", "answer"), 'the answer begins with "The"'),
            ((OPENAI,), "--label-file is missing"),
            ((PLAIN / "stated.csv", "--correct", "grade"), "--stated-confidence names no column"),
            ((PLAIN / "stated.csv", "--stated-confidence", "confidence"), "--correct names no column"),
            ((PLAIN / "votes.csv", "--votes", "A,B,C,D"), "--votes needs the columns"),
            ((samples("ex_arc"), HLE), "the files have different formats"),
        ],
    )
    def test_with_the_words_of_the_command(self, capsys: Any, arguments: Any, words: str) -> None:
        assert words in refusal(capsys, *arguments)

    @pytest.mark.parametrize(
        ("path", "option"),
        [
            (samples("ex_arc"), ("--letters",)),
            (samples("ex_arc"), ("--probs", "p")),
            (samples("ex_arc"), ("--ragged",)),
            (samples("ex_arc"), ("--where", "a > 1")),
            (LOGS / "inspect" / "stated.eval", ("--normalise-by", "none")),
            (LOGS / "inspect" / "stated.eval", ("--variation", "iqv")),
            (HELM, ("--scorer", "x")),
            (HLE, ("--perturbation", "x")),
            (HLE, ("--percent",)),
            (PLAIN / "ragged.jsonl", ("--missing", "cap")),
        ],
    )
    def test_options_that_do_not_go_with_the_format(self, capsys: Any, path: Path, option: Any) -> None:
        assert f"trueness assess: {option[0]} " in refusal(capsys, path, *option)


class TestGate:
    def test_scores_have_no_gate(self, capsys: Any) -> None:
        for gate in (("--fail-above", "0.1"), ("--fail-below-p", "0.01")):
            text = refusal(capsys, samples("ex_arc"), "--normalise-by", "char", *gate)
            assert "scores per character, not probabilities" in text

    def test_stated_confidence(self, tmp_path: Path, capsys: Any) -> None:
        assess(tmp_path, HLE, "--fail-above", "0.1", code=1)
        assert "debiased ECE 0.46" in capsys.readouterr().err
        assess(tmp_path, HLE, "--fail-above", "ece=0.9,net=0.9")
        assess(tmp_path, HLE, "--fail-above", "net=0.4", code=1)
        assess(tmp_path, HLE, "--fail-above", "net=0.44", "--lower-end")
        assess(tmp_path, HLE, "--fail-below-p", "0.01", code=1)
        assert "use ece or net" in refusal(capsys, HLE, "--fail-above", "rce=0.1")


class TestCautions:
    def codes(self, folder: Path, *arguments: Any) -> set[str]:
        return {warning["code"] for warning in assess(folder, *arguments)["warnings"]}

    def test_scores(self, tmp_path: Path) -> None:
        assert "scores" in self.codes(tmp_path, samples("ex_arc"), "--normalise-by", "byte")
        assert "scores" not in self.codes(tmp_path, samples("ex_arc"))

    def test_loose(self, tmp_path: Path) -> None:
        assert "loose" in self.codes(tmp_path, LOGS / "inspect" / "letters.eval")

    def test_prefix(self, tmp_path: Path) -> None:
        lines = [lm_eval_line(k, target=str(k % 3), options=(" 1", " 10", " 2")) for k in range(12)]
        found = assess(tmp_path, write_lines(tmp_path / "x.jsonl", lines), "--target", "index")
        assert any(
            warning["code"] == "prefix" and "in 12 rows of 12" in warning["message"]
            for warning in found["warnings"]
        )


class TestTabulate:
    def test_a_folder_of_tables_one_for_each_value_of_a_field(self, tmp_path: Path) -> None:
        log, folder = samples("ex_arc"), tmp_path / "tables"
        assert main(["tabulate", str(log), "--by", "acc", "-o", f"{folder}/"]) == 0
        files = sorted(folder.iterdir())
        assert [file.name for file in files] == ["0.json", "1.json"]
        assert sum(tn.OptionTables.load(file).n_rows for file in files) == assess(tmp_path, log)["n_rows"]

    def test_tasks_are_groups_and_tables_add(self, tmp_path: Path) -> None:
        pattern = str(LOGS / "lm-eval" / "samples_ex_mmlu_*_2026*.jsonl")
        files = [tmp_path / name for name in ("one.json", "other.json", "twice.json")]
        for file in files[:2]:
            assert main(["tabulate", pattern, "--grid", "-o", str(file)]) == 0
            assert len(json.loads(file.read_text())["groups"]) == 2
        assert main(["merge", *map(str, files[:2]), "-o", str(files[2])]) == 0
        assert assess(tmp_path, files[2])["n_rows"] == 2 * assess(tmp_path, pattern)["n_rows"]

    @pytest.mark.parametrize(
        "arguments",
        [(HLE,), (PLAIN / "stated.csv", *STATED, "--percent")],
        ids=["hle", "stated"],
    )
    def test_what_has_no_options_is_refused_with_a_remedy(
        self, tmp_path: Path, capsys: Any, arguments: tuple[Any, ...]
    ) -> None:
        out = tmp_path / "table.json"
        assert main(["tabulate", *map(str, arguments), "-o", str(out)]) == 2
        text = capsys.readouterr().err
        assert "has no probabilities of options" in text
        assert f"trueness assess {arguments[0]}" in text
        assert not out.exists()

    def test_options_of_logs_are_refused_for_predictions(self, tmp_path: Path, capsys: Any) -> None:
        rows = write_lines(tmp_path / "rows.jsonl", [{"y_true": 0, "y_prob": [0.5, 0.5]}])
        out = tmp_path / "table.json"
        assert main(["tabulate", str(rows), "--normalise-by", "char", "-o", str(out)]) == 2
        assert "these files are predictions" in capsys.readouterr().err
