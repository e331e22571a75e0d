"""The shipped example and `trueness demo`."""

from pathlib import Path

import numpy as np

import trueness as tn
from trueness import demo
from trueness.cli import main
from trueness.old_report import tables_in


def test_the_example_is_what_its_script_promises():
    digits = demo.load_digits()
    assert np.bincount(digits.y_true).sum() == 1797
    for y_prob in digits.y_prob.values():
        assert y_prob.shape == (1797, 10)
        assert y_prob.dtype == np.float32
        assert np.abs(y_prob.sum(axis=1, dtype=np.float64) - 1).max() <= 1e-5


def test_the_answer_shows_the_numbers_of_the_library():
    digits = demo.load_digits()
    lines = demo.answer().splitlines()
    for name, y_prob in digits.y_prob.items():
        line, sentence = [line for line in lines if line.startswith(name)][:2]
        numbers = line.removeprefix(name).split()
        result = tn.assess(digits.y_true, y_prob, rng=demo.SEED)
        accuracy = np.mean(y_prob.argmax(axis=1) == digits.y_true)
        assert result.cwece_total is not None
        assert numbers[:6] == [
            f"{tn.vce(digits.y_true, y_prob):.4f}",
            f"{result.vce.debiased:.4f}",
            f"{result.net.debiased:+.4f}",
            f"{result.ece.debiased:.4f}",
            f"{result.rce.debiased:.4f}",
            f"{result.cwece_total.debiased:.4f}",
        ]
        assert numbers[7] == f"{accuracy:.4f}"
        assert sentence == f"{name}: {result.verdict}"


def test_each_model_has_its_word():
    assessments = demo.compare_models(demo.load_digits()).assessments
    assert assessments["naive_Bayes"].verdict.kind == "over-confident"
    assert assessments["random_forest"].verdict.kind == "under-confident"


def test_an_empty_bin_has_its_line_without_numbers():
    lines = demo.bin_lines(tn.tabulate([0, 0, 1], [[1.0, 0.0]] * 3)).splitlines()
    assert len(lines) == 11
    assert lines[1].split()[:4] == ["[0.00,", "0.10]", "3", "0.000"]
    assert "+" in lines[1]
    assert lines[2].split() == ["(0.10,", "0.20]", "0"]


def test_the_command_prints_the_answer_and_writes_the_report(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(demo.answer() + "\n")
    path = Path(printed.rstrip("\n").rpartition(": ")[2])
    assert path == tmp_path / demo.REPORT
    (table, _) = tables_in(path)
    digits = demo.load_digits()
    assert table == tn.tabulate(digits.y_true, digits.y_prob["random_forest"])


def test_a_terminal_without_unicode_gets_plain_characters():
    text = demo.answer(ascii_only=True)
    assert text.isascii()
    assert len(text) == len(demo.answer())


def test_the_citation_names_this_version():
    citation = Path(__file__).parents[2].joinpath("CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {tn.__version__}" in citation.splitlines()
