"""Batches become tables: groups, weights, scales, bins and engines."""

from pathlib import Path
from typing import Any

import numpy as np
import predictions as same
import pytest
from close_tables import assert_close
from reading import BY_CLASS, EXPECTED, all_tables, refused, summed, tables

import trueness as tn
from trueness.cli import main
from trueness.files import Plan, Request, RowOptions, Source, find_inputs, load_tables, sum_source
from trueness.refusals import Refusal


class TestGroupsAndWeights:
    def test_weights_that_are_0_in_a_whole_batch(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("trueness.files.source.BATCH_VALUES", 3 * 100)
        weight = np.where(np.arange(same.N_ROWS) < 500, 0.0, same.WEIGHT)
        np.savez(tmp_path / "x.npz", y_true=same.Y_TRUE, y_prob=same.Y_PROB, w=weight)
        got = all_tables(tmp_path, tmp_path / "x.npz", "--sample-weight", "w")
        assert_close(got.by_variation, tn.tabulate(same.Y_TRUE, same.Y_PROB, sample_weight=weight))
        expected = tn.tabulate_events(same.Y_TRUE, same.Y_PROB, sample_weight=weight)
        assert got.by_class is not None
        assert_close(got.by_class, expected)

    def test_combinations_of_columns_are_groups(self, parquet: Path) -> None:
        old = np.where(same.AGE >= 60, "60", "20")
        columns = same.wide() | {"decade": old}
        path = same.written(parquet, columns)
        made = []
        for options in (
            ["--groups", "hospital", "--groups", "decade"],
            ["--groups", "hospital,decade"],
            ["--groups", "hospital, decade"],
        ):
            out = str(parquet.with_name("by.json"))
            assert main(["tabulate", str(path), *same.WIDE, *options, "-o", out]) == 0
            made.append(load_tables(out))
        assert made[0].by == "hospital,decade"
        assert all(other == made[0] for other in made)
        assert len(made[0].groups) == 8
        for site in np.unique(same.HOSPITAL).tolist():
            for decade in ("20", "60"):
                mine = (site == same.HOSPITAL) & (decade == old)
                name = f"hospital={site}, decade={decade}".replace("a,b", "a\\,b")
                assert made[0].groups[name].by_variation == tn.tabulate(same.Y_TRUE[mine], same.Y_PROB[mine])
        assert main(["assess", out, "--groups", "hospital", "--groups", "decade"]) == 0
        assert main(["assess", out, "--groups", "hospital, decade"]) == 0
        assert main(["assess", out, "--groups", "hospital"]) == 2

    def test_groups_that_differ_by_a_nul_stay_two(self, tmp_path: Path) -> None:
        names = np.array(["a", "a\0", "a\0\0"], object)[np.arange(same.N_ROWS) % 3]
        path = same.written(
            tmp_path / "x.parquet", {"y": same.Y_TRUE, "p": list(same.Y_PROB), "g": names.tolist()}
        )
        out = str(tmp_path / "by.json")
        assert main(["tabulate", str(path), "--groups", "g", "-o", out]) == 0
        groups = load_tables(out).groups
        assert {name: of.n_rows for name, of in groups.items()} == {"a": 1000, "a\0": 1000, "a\0\0": 1000}


class TestScales:
    def test_percentages_in_lists_and_narrow_numbers(self, tmp_path: Path) -> None:
        percent = (same.Y_PROB * 100).astype(np.float32)
        np.savez(tmp_path / "x.npz", y_true=same.Y_TRUE, y_prob=percent)
        expected = tn.tabulate(same.Y_TRUE, percent / np.float32(100))
        assert tables(tmp_path, tmp_path / "x.npz", "--percent")[0] == expected
        whole = np.array([[85, 15], [20, 80]])
        np.savez(tmp_path / "x.npz", y_true=[0, 1], y_prob=whole)
        assert tables(tmp_path, tmp_path / "x.npz", "--percent")[0] == tn.tabulate([0, 1], whole / 100)
        np.savez(tmp_path / "x.npz", y_true=[0, 1], y_prob=whole[:, 1])
        assert tables(tmp_path, tmp_path / "x.npz", "--percent")[0] == tn.tabulate([0, 1], whole[:, 1] / 100)

    @pytest.mark.parametrize("columns", [False, True])
    def test_logarithms_are_not_normalised(self, tmp_path: Path, columns: bool, capsys: Any) -> None:
        with np.errstate(divide="ignore"):
            logs = np.log(same.Y_PROB)
        arrays = {f"p_{c}": logs[:, c] for c in range(3)} if columns else {"logprobs": logs}
        np.savez(tmp_path / "x.npz", y_true=same.Y_TRUE, **arrays)
        got = tables(tmp_path, tmp_path / "x.npz", "--logprobs")
        assert got[0] == tn.tabulate(same.Y_TRUE, np.exp(logs))
        np.savez(tmp_path / "x.npz", y_true=same.Y_TRUE, logprobs=logs + 0.1)
        assert main(["tabulate", str(tmp_path / "x.npz"), "--logprobs", "-o", str(tmp_path / "t.json")]) == 2
        assert "row 1:" in capsys.readouterr().err


class TestBins:
    def test_one_pass_through_a_grid(self, parquet: Path, capsys: Any) -> None:
        got = tables(parquet.parent, parquet, *same.WIDE, "--equal-mass", 7)
        fine = tn.tabulate(same.Y_TRUE, same.Y_PROB, bins=tn.EqualWidth(4000))
        assert got[0] == fine.coarsen(tn.EqualMass(7))
        assert "from a grid of 4000 cells, in one pass: 14." in capsys.readouterr().err

    def test_grids_merge_and_groups_share_bins(self, parquet: Path) -> None:
        assert tables(parquet.parent, parquet, *same.WIDE, "--grid", 500)[0] == tn.tabulate(
            same.Y_TRUE, same.Y_PROB, bins=tn.EqualWidth(500)
        )
        out = str(parquet.with_name("by.json"))
        assert (
            main(
                ["tabulate", str(parquet), *same.WIDE, "--groups", "hospital", "--equal-mass", "5", "-o", out]
            )
            == 0
        )
        assert len({str(of.by_variation.bins) for of in load_tables(out).groups.values()}) == 1


@pytest.mark.parametrize("engine", ["auto", "portable", "compiled"])
def test_neither_batches_nor_the_engine_change_a_bit(
    parquet: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = Request(probs="p_*", classes="index")

    def summed() -> Any:
        source = Source(find_inputs([str(parquet)]).files, request, RowOptions())
        return sum_source(source, Plan.of(engine=engine, by_class=True)).tables.whole

    whole = summed()
    assert [whole.by_variation, whole.by_confidence, whole.by_class] == [*EXPECTED, BY_CLASS]
    monkeypatch.setattr("trueness.files.source.BATCH_VALUES", 3 * 101)
    assert summed() == whole


def test_too_many_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trueness.files.summing.GROUP_BYTES", 2**18)
    np.savez(tmp_path / "x.npz", y_true=np.zeros(1000), y_prob=np.full((1000, 2), 0.5), id=np.arange(1000))
    assert "'id' (--groups) has more than 12 values" in refused(tmp_path / "x.npz", by="id").cause


def test_groups_whose_tables_by_class_take_too_much(tmp_path: Path) -> None:
    """2²⁸ bytes hold the event tables of 1570 groups (161 kB, two of 8 kB and 2 kB each), but ten bins of many more."""
    ids = np.arange(1700)
    np.savez(tmp_path / "x.npz", y_true=np.zeros(1700), y_prob=np.full((1700, 2), 0.5), id=ids)
    found = refused(tmp_path / "x.npz", by="id", plan=Plan.of(by_class=True))
    assert found.code == "too-many-groups"
    assert "whose tables by class would take more than 256 MB" in found.cause
    assert found.remedy == "use --no-by-class, or fewer groups"
    assert summed(tmp_path / "x.npz", by="id", plan=Plan.of()).tables.n_rows == 1700
    with pytest.raises(Refusal, match="use `by_class=False`, or fewer groups"):
        summed(tmp_path / "x.npz", by="id", plan=Plan.of(by_class=True))


def test_a_group_in_each_row_is_refused_before_it_is_summed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def summed(*_: Any) -> None:
        raise AssertionError("summed")

    np.savez(
        tmp_path / "x.npz",
        y_true=np.zeros(20_000, int),
        y_prob=np.full((20_000, 2), 0.5),
        id=np.arange(20_000),
    )
    monkeypatch.setattr("trueness.files.summing.batch_tables", summed)
    with pytest.raises(Refusal, match=r"'id' \(`groups`\) has more than 1\d{4} values"):
        sum_source(
            Source(find_inputs([str(tmp_path / "x.npz")]).files, Request(by="id"), RowOptions()), Plan()
        )


def test_control_characters_in_names_of_groups_are_escaped(tmp_path: Path, capsys: Any) -> None:
    """Control characters, a turned direction of writing, half a surrogate pair: printed by their codes."""
    y_true, y_prob = tn.simulate.calibrated(900, [5, 1, 1], rng=0)
    sites = np.array(["a\x1b[31m", "b\u202e", "c\udc80"])[np.arange(900) % 3]
    path = tmp_path / "x.npz"
    np.savez(path, y_true=y_true, y_prob=y_prob, site=sites)
    outputs = ["--json", str(tmp_path / "a.json"), "--report", str(tmp_path / "a.html")]
    assert main(["assess", str(path), "--groups", "site", *outputs]) == 0
    printed = capsys.readouterr().out
    for code in (r"a\x1b[31m ", r"b\u202e ", r"c\udc80 "):
        assert code in printed
    assert all(letter.isprintable() or letter == "\n" for letter in printed)
    assert main(["compare", str(path), str(path), "--names", "a,b", "--groups", "site"]) == 0
    printed = capsys.readouterr().out
    assert all(letter.isprintable() or letter == "\n" for letter in printed)
    assert r"c\udc80, 300 rows" in printed


class TestRefusedBins:
    def test_bins_too_narrow_for_the_dtype(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "x.npz", y_true=[0], y_prob=np.array([[0.5, 0.5]], np.float16))
        assert "too narrow" in refused(tmp_path / "x.npz", plan=Plan.of(bins=tn.EqualWidth(4000))).cause
