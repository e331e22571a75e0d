"""Saved tables are exact, versioned and never a pickle."""

import json
import os
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from saved import TABLES, Y_PROB, Y_TRUE

import trueness as tn


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table.json"


class TestRoundTrip:
    @pytest.mark.parametrize("name", TABLES)
    def test_loaded_is_saved(self, path: Path, name: str) -> None:
        TABLES[name].save(path)
        loaded = tn.CalibrationTable.load(path)
        assert loaded == TABLES[name]
        assert loaded.spec == TABLES[name].spec
        assert loaded + TABLES[name] == TABLES[name] + TABLES[name]

    @pytest.mark.parametrize("name", TABLES)
    def test_dictionaries_are_plain_json(self, name: str) -> None:
        text = json.dumps(TABLES[name].to_dict(), allow_nan=False)
        assert tn.CalibrationTable.from_dict(json.loads(text)) == TABLES[name]

    def test_path_as_text(self, path: Path) -> None:
        TABLES["first"].save(str(path))
        assert tn.CalibrationTable.load(str(path)) == TABLES["first"]

    def test_several_tables_in_one_file(self, path: Path) -> None:
        tables = [TABLES["first"], TABLES["confidence"], TABLES["weighted"]]
        tn.CalibrationTable.save_all(tables, path)
        assert tn.CalibrationTable.load_all(path) == tables
        assert tn.CalibrationTable.load(path) == tables[0]
        tn.CalibrationTable.save_all(iter(tables), path)
        assert tn.CalibrationTable.load_all(path) == tables

    def test_an_empty_list_of_tables_is_refused(self, path: Path) -> None:
        with pytest.raises(ValueError, match="no table"):
            tn.CalibrationTable.save_all([], path)
        assert not path.exists()

    def test_sums_beyond_the_integers_of_floats_stay_exact(self, path: Path) -> None:
        """Doubling 40 times: 40 x 2^40 rows, the size the format promises room for; still to the last bit."""
        table = TABLES["split"]
        for _ in range(40):
            table = table + table
        assert table.n_rows == 40 * 2**40
        table.save(path)
        assert tn.CalibrationTable.load(path) == table

    def test_a_user_s_measure_must_be_passed(self, path: Path) -> None:
        mine = tn.Variation("mine", lambda x: 1 - x[..., 0], range=lambda c: (0, 1 - 1 / c))
        table = tn.tabulate(Y_TRUE, Y_PROB, variation=mine)
        table.save(path)
        with pytest.raises(ValueError, match=r"'mine'.*variation="):
            tn.CalibrationTable.load(path)
        with pytest.raises(ValueError, match=r"'mine'.*'yours'"):
            tn.CalibrationTable.load(path, variation=tn.Variation("yours", lambda x: x[..., 0]))
        loaded = tn.CalibrationTable.load(path, variation=mine)
        assert loaded == table
        np.testing.assert_array_equal(loaded.gap, table.gap)

    def test_a_user_s_measure_with_a_named_one(self, path: Path) -> None:
        """A file holds the table by variation and the one by confidence; variation= stands for the first alone."""
        mine = tn.Variation("mine", lambda x: 1 - x[..., 0], range=lambda c: (0, 1 - 1 / c))
        tables = [tn.tabulate(Y_TRUE, Y_PROB, variation=mine), TABLES["confidence"]]
        tn.CalibrationTable.save_all(tables, path)
        assert tn.CalibrationTable.load_all(path, variation=mine) == tables
        assert tn.CalibrationTable.load(path, variation=mine) == tables[0]

    @pytest.mark.parametrize("given", ["mine", "entropy", len, 3], ids=repr)
    def test_a_measure_is_given_as_an_object(self, path: Path, given: Any) -> None:
        TABLES["first"].save(path)
        for read in (tn.CalibrationTable.load, tn.CalibrationTable.load_all):
            with pytest.raises(TypeError, match=r"variation must be.*Variation"):
                read(path, variation=given)
        with pytest.raises(TypeError, match=r"variation must be.*Variation"):
            tn.CalibrationTable.from_dict(TABLES["first"].to_dict(), variation=given)

    @pytest.mark.parametrize("name", ["entropy", "confidence"])
    @pytest.mark.parametrize(("dtype", "bins"), [("float16", 10), ("float16", 100), ("float32", 1000)])
    def test_rows_that_lie_above_their_edge_by_rounding(self, name: str, dtype: str, bins: int) -> None:
        """Confidences that are an edge plus all that still counts as on it: more than their right edge in the mean."""
        eps = float(np.finfo(dtype).eps)
        top = np.linspace(0.5, 1, 101)[:-1] * (1 + 0.9 * eps)
        rows = np.stack([top, 1 - top], axis=1).astype(dtype)
        table = tn.tabulate(np.zeros(100, int), rows, variation=name, bins=bins)
        assert tn.CalibrationTable.from_dict(table.to_dict()) == table

    @pytest.mark.parametrize("weight", [None, [0.5, 2.0]], ids=["plain", "weighted"])
    @pytest.mark.parametrize("logit", [-30.0, -800.0, -1e4, -1e6])
    def test_logits_below_the_logarithm_of_any_float(self, logit: float, weight: Any) -> None:
        table = tn.tabulate([1, 0], [[0.0, logit], [0.0, -1.0]], from_logits=True, sample_weight=weight)
        assert tn.CalibrationTable.from_dict(table.to_dict()) == table

    @pytest.mark.parametrize(
        "edges",
        [[-3, -1, 0.2, 0.5, 2, 7], [1e-8, 0.5, 1 - 1e-8], [0, 0, 1], [0, 1e-5, 1]],
        ids=str,
    )
    def test_edges_beyond_the_range_or_just_within(self, edges: list[float]) -> None:
        rows = np.array([[1.0, 0, 0], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0], [0.98, 0.01, 0.01]])
        table = tn.tabulate([0, 0, 0, 1], rows, bins=tn.Edges(edges))
        assert tn.CalibrationTable.from_dict(table.to_dict()) == table


class TestTheFile:
    def test_it_is_json_with_a_schema_number(self, path: Path) -> None:
        TABLES["first"].save(path)
        content = json.loads(path.read_text(encoding="utf-8"))
        assert content["schema"] == 5
        spec = content["tables"][0]["spec"]
        assert (spec["n_classes"], spec["variation"], spec["ties"]) == (3, "entropy", "first")
        assert spec["edges"] == [0, 0.25, 0.5, 0.75, 1]

    def test_its_numbers_are_exact_integers(self, path: Path) -> None:
        """Within 2^53, so that readers which know only floats (JavaScript, jq) lose nothing."""
        TABLES["split"].save(path)
        sums = json.loads(path.read_text(encoding="utf-8"))["tables"][0]["sums"]

        def leaves(value: Any) -> list[Any]:
            if isinstance(value, dict):
                value = list(value.values())
            return [leaf for v in value for leaf in leaves(v)] if isinstance(value, list) else [value]

        assert all(type(leaf) is int and abs(leaf) <= 2**53 for leaf in leaves(sums))

    def test_nothing_is_left_behind_when_writing_fails(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        TABLES["first"].save(path)

        def fail(*_: Any) -> None:
            raise OSError("disk full")

        for name in ("replace", "rename", "link"):
            monkeypatch.setattr(os, name, fail)
        with pytest.raises(OSError, match="disk full"):
            TABLES["split"].save(path)
        monkeypatch.undo()
        assert os.listdir(path.parent) == [path.name]
        assert tn.CalibrationTable.load(path) == TABLES["first"]

    def test_a_file_is_replaced_as_a_whole(self, path: Path) -> None:
        TABLES["fine"].save(path)
        TABLES["first"].save(path)
        assert tn.CalibrationTable.load(path) == TABLES["first"]
        assert os.listdir(path.parent) == [path.name]

    def test_its_permissions_are_those_of_any_new_file(self, path: Path) -> None:
        plain = path.with_name("plain")
        plain.write_text("")
        TABLES["first"].save(path)
        assert path.stat().st_mode == plain.stat().st_mode

    def test_the_permissions_of_the_process_are_left_alone(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The umask belongs to all threads: to read it by setting it would let others' files be open to all."""

        def refuse(*_: Any) -> None:
            raise AssertionError("os.umask was called")

        monkeypatch.setattr(os, "umask", refuse)
        TABLES["first"].save(path)
        assert tn.CalibrationTable.load(path) == TABLES["first"]

    def test_a_missing_folder(self, tmp_path: Path) -> None:
        target = tmp_path / "new" / "folder" / "table.json"
        TABLES["first"].save(target)
        assert tn.CalibrationTable.load(target) == TABLES["first"]
        with pytest.raises(FileNotFoundError, match=r"table\.json"):
            tn.CalibrationTable.load(tmp_path / "table.json")

    def test_a_folder_or_a_file_in_the_way(self, tmp_path: Path) -> None:
        (tmp_path / "folder").mkdir()
        (tmp_path / "file").touch()
        for target in ("folder", "file/table.json", "new/", "x" * 300):
            with pytest.raises(OSError, match=re.escape(f"{tmp_path}/{target}")):
                TABLES["first"].save(f"{tmp_path}/{target}")
        assert sorted(os.listdir(tmp_path)) == ["file", "folder"]

    def test_a_name_as_long_as_names_can_be(self, tmp_path: Path) -> None:
        for length in (250, 255):
            path = tmp_path / ("x" * (length - 5) + ".json")
            TABLES["first"].save(path)
            assert tn.CalibrationTable.load(path) == TABLES["first"]

    @pytest.mark.parametrize("there", [True, False], ids=["there", "dangling"])
    def test_a_link_is_written_through(self, tmp_path: Path, there: bool) -> None:
        (tmp_path / "elsewhere").mkdir()
        target, second = tmp_path / "elsewhere" / "target.json", tmp_path / "second.json"
        if there:
            TABLES["split"].save(target)
        link = tmp_path / "link.json"
        link.symlink_to("second.json")
        second.symlink_to("elsewhere/target.json")
        TABLES["first"].save(link)
        assert link.is_symlink()
        assert second.is_symlink()
        assert not target.is_symlink()
        assert tn.CalibrationTable.load(target) == tn.CalibrationTable.load(link) == TABLES["first"]
        assert sorted(os.listdir(tmp_path)) == ["elsewhere", "link.json", "second.json"]
        assert os.listdir(tmp_path / "elsewhere") == ["target.json"]

    def test_a_pipe_is_written_to(self, tmp_path: Path) -> None:
        """/dev/stdout and the like: they are written to and not replaced."""
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            TABLES["first"].save(pipe)
            content = json.loads(os.read(reader, 1 << 16))
        finally:
            os.close(reader)
        assert pipe.is_fifo()
        assert tn.CalibrationTable.from_dict(content["tables"][0]) == TABLES["first"]

    @pytest.mark.parametrize("protocol", [0, 4])
    def test_a_pickle_is_refused_and_not_run(self, path: Path, protocol: int) -> None:
        trap = path.with_name("trap")

        class Trap:
            def __reduce__(self) -> Any:
                return (os.mkdir, (str(trap),))

        path.write_bytes(pickle.dumps(Trap(), protocol=protocol))
        with pytest.raises(ValueError, match=r"table\.json"):
            tn.CalibrationTable.load(path)
        assert not trap.exists()


ROWS = (
    np.array([[8, 0, 0], [0, 8, 0], [1, 7, 0], [4, 2, 2], [2, 4, 2], [2, 2, 4], [4, 2, 2], [4, 2.5, 1.5]]) / 8
)
LABELS = [0, 2, 0, 0, 0, 2, 1, 2]


class TestEightRows:
    """The numbers below are written out, not computed."""

    def test_by_entropy_with_ties_split(self) -> None:
        table = tn.tabulate(LABELS, ROWS, bins=4, ties="split")
        assert (table.n_rows, table.n_classes, table.n_bins) == (8, 3, 4)
        assert (table.spec.variation.name, table.spec.ties, table.spec.weighted) == (
            "entropy",
            "split",
            False,
        )
        assert table.edges.tolist() == [0, 0.25, 0.5, 0.75, 1]
        assert table.count.tolist() == [2, 1, 0, 5]
        assert table.ordered_sum.tolist() == [[2, 0, 0], [0.875, 0.125, 0], [0, 0, 0], [2.5, 1.3125, 1.1875]]
        assert table.rank_count.tolist() == [[1, 0.5, 0.5], [0, 1, 0], [0, 0, 0], [2, 1, 2]]
        assert (table.tied_rows, table.impossible_rows) == (3, 1)
        assert table.accuracy == 3 / 8
        np.testing.assert_allclose(table.variation_sum, [0, 0.342950980198, 0, 4.717598680133], atol=5e-13)
        assert table.log_score_sum == pytest.approx(-2.352719014356, abs=5e-13)
        assert table.log_score_variance == pytest.approx(1.034604419871, abs=2e-12)
        assert tn.variation_calibration_error(table) == pytest.approx(0.288470170301, abs=5e-13)
        assert tn.uncertainty_calibration_error(table) == pytest.approx(0.421830962492, abs=5e-13)
        # TV: (2/8)(1/2) + (1/8)(7/8) + (5/8)(.4 - .2375); W1: the cumulative differences over 2.
        assert tn.ranked_calibration_error(table) == pytest.approx(0.3359375, abs=1e-15)
        assert tn.ranked_calibration_error(table, "w1") == pytest.approx(0.23046875, abs=1e-15)

    def test_by_confidence(self) -> None:
        table = tn.tabulate(LABELS, ROWS, bins=4, ties="split", variation="confidence")
        assert table.edges.tolist() == [1 / 3, 0.5, 2 / 3, 5 / 6, 1]
        assert table.count.tolist() == [5, 0, 0, 3]
        # (5/8)|.5 - .4| + (3/8)|.875 + 1 + 1 - 1|/3
        assert tn.expected_calibration_error(table) == 0.296875

    def test_weighted_with_equal_mass(self) -> None:
        """Weights 1 to 8; V in order has weights 3, 3, 8, 22: a third of 36 is reached at the third value."""
        table = tn.tabulate(LABELS, ROWS, bins=tn.EqualMass(3), sample_weight=np.arange(1, 9))
        assert table.spec.weighted
        assert table.count.tolist() == [14, 22]
        assert table.row_count.tolist() == [4, 4]
        assert table.weight_square_sum.tolist() == [78, 126]
        assert table.ordered_sum.tolist() == [[9.625, 2.875, 1.5], [11, 5.5, 5.5]]
        assert table.rank_count.tolist() == [[1, 3, 10], [10, 12, 0]]
        # H(8, 5, 3 of 16) / ln 3
        assert table.edges == pytest.approx([0, 0.932020158704, 1], abs=1e-12)
