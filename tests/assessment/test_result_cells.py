"""Results as tables of cells: the cells are the numbers of the result, and every format holds the same cells."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness import _cells
from trueness.cli import main

Y_TRUE, Y_PROB = tn.simulate.calibrated(1500, alpha=[6, 1, 1], rng=0)
SHARP = tn.simulate.sharpen(Y_PROB, 1.4)
SITES = np.array(["a_b & c", "=1+1", "tiny"])[np.where(np.arange(1500) < 3, 2, np.arange(1500) % 2)]
RESULT = tn.assess(Y_TRUE, Y_PROB, groups=SITES, resamples=99, rng=0)
COMPARED = tn.compare(Y_TRUE, {"plain": Y_PROB, "sharp": SHARP}, groups=SITES, resamples=99, rng=0)


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_metrics_have_the_numbers_of_the_estimates() -> None:
    rows = {row["metric"]: row for row in read(RESULT.to_csv())}
    for metric in RESULT.metrics.values():
        estimate = metric.of(RESULT)
        assert estimate is not None
        row = rows[metric.label]
        assert float(row["plug_in"]) == estimate.value
        assert float(row["debiased"]) == estimate.debiased
        assert (float(row["low"]), float(row["high"])) == (estimate.interval.low, estimate.interval.high)
        assert float(row["p_value"]) == estimate.p_value


def test_bins_are_those_of_the_table() -> None:
    table = RESULT.table
    rows = read(RESULT.to_csv("bins"))
    assert [int(row["n_rows"]) for row in rows] == table.row_count.tolist()
    gaps = [float(row["gap"]) if row["gap"] else np.nan for row in rows]
    np.testing.assert_array_equal(gaps, table.gap)
    assert [row["bin"] for row in rows] == [str(number) for number in range(1, table.n_bins + 1)]


def test_groups_too_small_have_a_reason_and_no_numbers() -> None:
    rows = {row["group"]: row for row in read(RESULT.to_csv("groups"))}
    assert rows["tiny"]["vce"] == ""
    assert rows["tiny"]["reason"]
    assert float(rows["a_b & c"]["vce"]) == next(
        group.assessment.vce.debiased
        for group in RESULT.groups
        if group.name == "a_b & c" and group.assessment
    )


def test_a_name_that_a_spreadsheet_would_compute_is_text() -> None:
    assert "'=1+1" in {row["group"] for row in read(RESULT.to_csv("groups"))}


def test_differences_models_and_groups_of_a_comparison() -> None:
    (pair,) = COMPARED.pairs
    rows = read(COMPARED.to_csv())
    assert [float(row["difference"]) for row in rows] == [each.difference for each in pair.contrasts.values()]
    assert [float(row["adjusted_p_value"]) for row in rows] == [
        each.adjusted_p_value for each in pair.contrasts.values()
    ]
    models = read(COMPARED.to_csv("models"))
    assert [float(row["vce"]) for row in models] == [
        alone.vce.debiased for alone in COMPARED.assessments.values()
    ]
    assert {row["group"] for row in read(COMPARED.to_csv("groups"))} == {"a_b & c", "'=1+1"}


@pytest.mark.parametrize("of", ["metrics", "groups", "bins"])
def test_markdown_and_latex_have_the_same_rows(of: str) -> None:
    n_rows = len(read(RESULT.to_csv(of)))
    markdown = RESULT.to_markdown(of).splitlines()
    assert len(markdown) == n_rows + 2
    assert len({line.count(" | ") for line in markdown}) == 1
    latex = RESULT.to_latex(of).splitlines()
    assert len(latex) == n_rows + 6
    assert latex[1] == r"\toprule"
    assert len({line.replace(r"\&", "").count("&") for line in latex[4:-2]}) == 1


def test_a_value_and_its_interval_are_one_cell() -> None:
    vce = RESULT.vce
    expected = f"{vce.debiased:.4f} [{vce.interval.low:.4f}, {vce.interval.high:.4f}]"
    assert expected in RESULT.to_markdown()
    assert expected in RESULT.to_latex()
    assert "low" not in RESULT.to_markdown().splitlines()[0]


def test_special_characters() -> None:
    assert r"a\_b \& c" in RESULT.to_latex("groups")
    rows = [{"name": "50 % of {x}^2 ~ \\ #1 | <b>"}]
    assert r"50 \% of \{x\}\textasciicircum{}2 \textasciitilde{} \textbackslash{} \#1" in _cells.latex_text(
        rows
    )
    assert r"\|" in _cells.markdown_text(rows)
    assert "<b>" not in _cells.markdown_text(rows)


def test_without_a_library_of_frames_the_frame_is_a_dict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trueness._cells.find_spec", lambda _: None)
    found = RESULT.to_frame("bins")
    assert found["n_rows"] == RESULT.table.row_count.tolist()
    assert list(found) == list(read(RESULT.to_csv("bins"))[0])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_the_library_that_is_there(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trueness._cells.FRAMES", (library,))
    for result, tables in ((RESULT, RESULT.tables_of_cells), (COMPARED, COMPARED.tables_of_cells)):
        for of in tables:
            frame = result.to_frame(of)
            assert type(frame).__module__.startswith(library)
            assert list(frame.columns) == list(read(result.to_csv(of))[0])
            assert len(frame) == len(read(result.to_csv(of)))


def test_an_unknown_table_is_refused() -> None:
    with pytest.raises(tn.Refusal, match="metrics, groups, bins") as caught:
        RESULT.to_csv("bin")
    assert caught.value.code == "unknown-table"


class TestCommand:
    def files(self, folder: Path) -> list[str]:
        for name, y_prob in (("plain", Y_PROB), ("sharp", SHARP)):
            np.savez(folder / f"{name}.npz", y_true=Y_TRUE, y_prob=y_prob)
        return [str(folder / "plain.npz"), str(folder / "sharp.npz")]

    def test_assess_and_compare_write_all_three(self, tmp_path: Path) -> None:
        plain, sharp = self.files(tmp_path)
        for command, paths in (("assess", [plain]), ("compare", [plain, sharp])):
            out = tmp_path / "out" / command
            options = [f"--{name}={out / name}" for name in ("csv", "markdown", "latex", "json")]
            assert main([command, *paths, *options, "--resamples", "99"]) == 0
            content = json.loads((out / "json").read_text())
            rows = read((out / "csv").read_text())
            found = content["vce"] if command == "assess" else content["pairs"][0]["vce"]
            assert float(rows[0]["low"]) == found["interval"]["low"]
            assert (out / "markdown").read_text().startswith("| ")
            assert (out / "latex").read_text().startswith(r"\begin{tabular}")

    def test_standard_output_holds_the_table_alone(self, tmp_path: Path, capsys: Any) -> None:
        plain, _ = self.files(tmp_path)
        assert main(["assess", plain, "--csv", "-", "--resamples", "99"]) == 0
        assert capsys.readouterr().out.startswith("metric,plug_in,")
        assert main(["assess", plain, "--csv", "-", "--event", "1", "--resamples", "99"]) == 0
        assert capsys.readouterr().out.startswith("metric,calibrated,p_value,value,low,high\n")
