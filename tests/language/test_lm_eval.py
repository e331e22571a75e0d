"""Samples of lm-evaluation-harness: kinds of rows, labels that agree with the file's accuracy, normalisation."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from logs import DATE, equal, lm_eval_line, samples, write_lines

from trueness.language import read_lm_eval
from trueness.language.normalisation import scores_of, softmax
from trueness.refusals import Refusal


def read(folder: Path, *lines: Any, name: str = f"samples_t_{DATE}.jsonl", **options: Any) -> Any:
    return read_lm_eval(write_lines(folder / name, lines), **options)


def refused(folder: Path, *lines: Any, **options: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        read(folder, *lines, **options)
    return caught.value


def test_L1() -> None:
    own, without = np.array([-2.0, -4.5]), np.array([-6.0, -14.0])
    texts = ["Paris", "the city of Zürich"]
    characters = np.array([len(text) for text in texts], float)
    octets = np.array([len(text.encode()) for text in texts], float)
    assert (characters.tolist(), octets.tolist()) == ([5, 18], [5, 19])
    assert softmax(own)[0] == pytest.approx(0.924141819979, abs=1e-12)
    assert softmax(scores_of(own, characters))[0] == pytest.approx(0.462570154656, abs=1e-12)
    assert softmax(scores_of(own, octets))[0] == pytest.approx(0.459300772428, abs=1e-12)
    assert softmax(scores_of(own, unconditional=without))[0] == pytest.approx(0.004070137716, abs=1e-12)


def test_L1_unconditional_halves_the_requests(tmp_path: Path) -> None:
    options = (" Paris", " the city of Zürich") * 2
    line = lm_eval_line(0, (-2, -4.5, -6, -14), "0", options, ("Where?", "Where?", "", ""))
    found = read(tmp_path, line, normalise_by="unconditional")
    assert found.n_options.tolist() == [2]
    assert found.y_prob[0, 0] == pytest.approx(0.004070137716, abs=1e-12)
    assert read(tmp_path, line).y_prob[0, 0] == pytest.approx(0.924141819979, abs=1e-12)


def test_numbers_as_text_and_as_numbers_and_old_arguments_read_alike(tmp_path: Path) -> None:
    new = lm_eval_line(0, (-1.25, -2, "-inf"))
    old = {
        **new,
        "arguments": [["Which?\nAnswer:", option] for option in (" red", " green", " blue")],
        "resps": [[[-1.25, False]], [[-2, False]], [[float("-inf"), False]]],
        "filtered_resps": [[-1.25, False], [-2, False], [float("-inf"), False]],
    }
    assert equal(read(tmp_path, new), read(tmp_path, old))
    assert read(tmp_path, old).y_prob[0, 2] == 0


def test_more_than_ten_requests_keep_their_order(tmp_path: Path) -> None:
    options = [f" option {k}x" for k in range(12)]
    line = lm_eval_line(0, [-5.0] * 11 + [-1.0], "11", options, acc=1.0)
    shuffled = {**line, "arguments": dict(sorted(line["arguments"].items()))}
    assert list(shuffled["arguments"])[2] == "gen_args_10"
    assert read(tmp_path, shuffled).y_true.tolist() == [11]


class TestLabels:
    def test_target_is_an_index(self, tmp_path: Path) -> None:
        lines = [lm_eval_line(k, target=str(k), acc=float(k == 0)) for k in range(3)]
        found = read(tmp_path, *lines)
        assert found.y_true.tolist() == [0, 1, 2]
        assert "target is an index (agrees with acc in 3 rows)" in found.remarks[0]

    def test_target_is_text(self, tmp_path: Path) -> None:
        lines = [lm_eval_line(k, target=text, acc=float(k == 0)) for k, text in enumerate(["red", "blue"])]
        found = read(tmp_path, *lines)
        assert found.y_true.tolist() == [0, 2]
        assert "target is the text of an option" in found.remarks[0]

    NUMBERS = (" 2", " 0", " 1")

    def test_the_reading_that_agrees_with_acc_is_taken(self, tmp_path: Path) -> None:
        by_index = lm_eval_line(0, target="2", options=self.NUMBERS, acc=0.0)
        assert read(tmp_path, by_index).y_true.tolist() == [2]
        by_text = lm_eval_line(0, target="2", options=self.NUMBERS, acc=1.0)
        assert read(tmp_path, by_text).y_true.tolist() == [0]

    def test_two_readings_without_acc_are_refused(self, tmp_path: Path) -> None:
        line = lm_eval_line(0, target="2", options=self.NUMBERS)
        refusal = refused(tmp_path, line)
        assert refusal.code == "ambiguous-target"
        assert "target '2' may be the third option or the option '2'" in refusal.cause
        assert refusal.remedy == "say `target='index'` or `target='text'`"
        assert read(tmp_path, line, target="index").y_true.tolist() == [2]
        assert read(tmp_path, line, target="text").y_true.tolist() == [0]

    def test_a_disagreement_with_acc_is_refused(self, tmp_path: Path) -> None:
        lines = [lm_eval_line(0, acc=1.0), lm_eval_line(1, acc=0.0)]
        refusal = refused(tmp_path, *lines)
        assert (refusal.code, refusal.row) == ("accuracy-differs", 2)
        assert "acc says wrong, but the most likely option is the target" in refusal.cause
        refusal = refused(tmp_path, lm_eval_line(0, target="1", acc=1.0))
        assert "acc says right, but the most likely option is not the target" in refusal.cause

    def test_a_target_out_of_range_is_a_bad_row(self, tmp_path: Path) -> None:
        lines = [lm_eval_line(0, acc=1.0), lm_eval_line(1, target="-100", acc=0.0)]
        refusal = refused(tmp_path, *lines)
        assert (refusal.code, refusal.row, refusal.value) == ("label-out-of-range", 2, "-100")
        found = read(tmp_path, *lines, on_bad_rows="skip")
        assert found.y_true.tolist() == [0]
        assert sum(found.left_out.values()) == 1

    def test_text_in_brackets_may_be_an_option(self, tmp_path: Path) -> None:
        line = lm_eval_line(0, (-1, -2), "[1, 2]", (" [1, 2]", " [2, 1]"), acc=1.0)
        assert read(tmp_path, line).y_true.tolist() == [0]


class TestOptionsInTheContext:
    TWO = ("because the trophy", "because the case")

    def line(self, numbers: Any = (-1, -2), **more: Any) -> Any:
        return lm_eval_line(
            0, numbers, "was big.", (" was big.",) * len(tuple(numbers)), **{"contexts": self.TWO, **more}
        )

    @pytest.mark.parametrize(("acc", "label"), [(1.0, 0), (0.0, 1)])
    def test_the_right_one_of_two_follows_from_acc(self, tmp_path: Path, acc: float, label: int) -> None:
        found = read(tmp_path, self.line(acc=acc))
        assert found.y_true.tolist() == [label]
        assert "follows from acc" in found.remarks[0]
        assert "likelihoods of one continuation after each option" in found.remarks[-1]

    def test_of_three_it_does_not(self, tmp_path: Path) -> None:
        line = self.line((-1, -2, -3), contexts=("a", "b", "c"), acc=1.0)
        assert refused(tmp_path, line, on_bad_rows="skip").code == "no-label"
        assert refused(tmp_path, self.line()).code == "no-label"

    def test_equal_likelihoods_are_a_bad_row(self, tmp_path: Path) -> None:
        bad = {**self.line((-1, -1), acc=1.0), "doc_id": 1}
        assert refused(tmp_path, self.line(acc=1.0), bad).code == "equal-likelihoods"
        assert len(read(tmp_path, self.line(acc=1.0), bad, on_bad_rows="skip").y_true) == 1


class TestLayout:
    def test_one_request_is_not_a_choice(self, tmp_path: Path) -> None:
        refusal = refused(tmp_path, lm_eval_line(0, (-1,), "0", (" red",)))
        assert "one request, not a choice" in refusal.cause

    def test_other_requests_are_refused(self, tmp_path: Path) -> None:
        line = lm_eval_line(0, contexts=("a", "b", "a"))
        assert (
            "neither options after one context nor contexts before one continuation"
            in refused(tmp_path, line).cause
        )

    @pytest.mark.parametrize("field", ["arguments", "filtered_resps"])
    def test_a_missing_field_is_refused(self, tmp_path: Path, field: str) -> None:
        assert refused(tmp_path, {**lm_eval_line(), field: None}).code == "wrong-layout"

    def test_two_files_of_one_task_are_refused(self, tmp_path: Path) -> None:
        first = write_lines(tmp_path / f"samples_t_{DATE}.jsonl", [lm_eval_line()])
        second = write_lines(tmp_path / "samples_t_2027-01-01T00-00-00.jsonl", [lm_eval_line()])
        with pytest.raises(Refusal, match="doc_id 0 twice, here and in"):
            read_lm_eval([first, second])

    def test_filters(self, tmp_path: Path) -> None:
        lines = [lm_eval_line(0, filter="a"), lm_eval_line(0, (-3, -2, -1), filter="b")]
        refusal = refused(tmp_path, *lines)
        assert refusal.code == "several-filters"
        assert "rows for the filters 'a', 'b'" in refusal.cause
        assert read(tmp_path, *lines, filter="b").y_prob[0].argmax() == 2
        assert refused(tmp_path, *lines, filter="c").code == "several-filters"

    def test_repeats_must_be_equal(self, tmp_path: Path) -> None:
        pairs = [["-1.0", "False"], ["-2.0", "False"], ["-3.0", "False"]]
        same = lm_eval_line(resps=[[pair, pair] for pair in pairs])
        assert len(read(tmp_path, same).y_true) == 1
        other = lm_eval_line(resps=[[pair, ["-9.0", "False"]] for pair in pairs])
        assert refused(tmp_path, other).code == "repeats-differ"

    @pytest.mark.parametrize("numbers", [("nan", -1, -1), ("inf", -1, -1), ("-inf", "-inf", "-inf")])
    def test_numbers_that_are_not_finite_are_bad_rows(self, tmp_path: Path, numbers: Any) -> None:
        lines = [lm_eval_line(0), lm_eval_line(1, numbers)]
        assert refused(tmp_path, *lines).code == "not-finite"
        assert len(read(tmp_path, *lines, on_bad_rows="skip").y_true) == 1

    def test_no_rows(self, tmp_path: Path) -> None:
        assert refused(tmp_path).code == "no-rows"

    def test_a_line_that_is_not_json_is_refused_with_its_number(self, tmp_path: Path) -> None:
        path = write_lines(tmp_path / "x.jsonl", [lm_eval_line()])
        path.write_text(path.read_text() + "\n{broken\n")
        with pytest.raises(Refusal) as caught:
            read_lm_eval(path)
        assert (caught.value.code, caught.value.row) == ("unreadable-row", 3)


class TestNormalisation:
    def test_the_delimiter_of_the_results_counts(self, tmp_path: Path) -> None:
        """By characters " a" and "bcd" of -2 and -2.4; with a delimiter of two spaces they are "a" and "bcd"."""
        line = lm_eval_line(0, (-2, -2.4), "1", ("  a", "  bcd"), acc=0.0, acc_norm=1.0)
        refusal_free = read(tmp_path, line, normalise_by="char").y_prob[0]
        (tmp_path / f"results_{DATE}.json").write_text(
            json.dumps({"configs": {"t": {"target_delimiter": "  "}}})
        )
        stated = read(tmp_path, line, normalise_by="char").y_prob[0]
        np.testing.assert_allclose(refusal_free, softmax([-2 / 2, -2.4 / 4]))
        np.testing.assert_allclose(stated, softmax([-2 / 1, -2.4 / 3]))

    def test_a_disagreement_with_acc_norm_is_refused(self, tmp_path: Path) -> None:
        line = lm_eval_line(0, (-2, -2.4), "1", (" a", " bcd"), acc=0.0, acc_norm=0.0)
        refusal = refused(tmp_path, line, normalise_by="char")
        assert refusal.code == "accuracy-differs"
        assert "with `normalise_by` char the row is right, acc_norm says wrong" in refusal.cause
        assert read(tmp_path, line).y_true.tolist() == [1]

    def test_one_option_that_is_the_beginning_of_another_is_counted(self, tmp_path: Path) -> None:
        found = read(tmp_path, lm_eval_line(0, options=(" 10", " 2", " 1")), lm_eval_line(1))
        assert found.prefix_rows == 1

    def test_scale(self) -> None:
        assert read_lm_eval(samples("ex_arc")).scale == "probabilities"
        assert read_lm_eval(samples("ex_arc"), normalise_by="char").scale == "scores per character"


def test_group_and_cluster(tmp_path: Path) -> None:
    found = read_lm_eval([samples("ex_mmlu_anatomy"), samples("ex_mmlu_law")])
    assert sorted(set(found.group)) == ["ex_mmlu_anatomy", "ex_mmlu_law"]
    assert found.cluster[0] == "ex_mmlu_anatomy/0"
    assert len(set(found.cluster)) == 60
    by_subject = read_lm_eval(samples("ex_arc"), groups="doc.subject")
    assert sorted(set(by_subject.group)) == ["earth", "life"]
    both = read_lm_eval(samples("ex_arc"), groups=["task", "doc.subject"])
    assert sorted(set(both.group)) == ["task=ex_arc, doc.subject=earth", "task=ex_arc, doc.subject=life"]
    with pytest.raises(Refusal, match=r"there is no 'doc\.topic'"):
        read_lm_eval(samples("ex_arc"), groups="doc.topic")


def test_the_group_of_a_file_with_another_name_is_its_name(tmp_path: Path) -> None:
    assert read(tmp_path, lm_eval_line(), name="mine.jsonl").group.tolist() == ["mine"]
