"""The sums of clusters as a value: it adds by cluster in any order and split, is coarsened, saved and loaded."""

import json
import pickle
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trueness as tn
from trueness.old_table import clusters as module
from trueness.old_table import packed_numbers
from trueness.old_table.clusters import Clusters, ClusterTables
from trueness.old_table.grouped_file import load_tables, save_tables
from trueness.old_table.plan import TablePlan
from trueness.old_table.tables import GroupedTables, Tables
from trueness.refusals import InvalidValueError
from trueness.rows import Rows
from trueness.rows.clusters import clusters_of_rows
from trueness.tabulation.clusters import tabulate_clusters

N = 600
Y_TRUE, Y_PROB = tn.simulate.calibrated(N, [1.0] * 3, rng=4)
NAMES = np.random.default_rng(5).integers(0, 60, N)


def tables_of(
    which: Any = slice(None), *, names: Any = NAMES, bins: Any = 10, by_class: bool = True
) -> Tables:
    rows = Rows.of(Y_TRUE[which], Y_PROB[which])
    specs = TablePlan.of(bins=bins, by_class=by_class).specs(3, weighted=False)
    return tabulate_clusters(rows, specs, clusters_of_rows(names[which], rows.n_rows))


def clusters_in(tables: Tables) -> ClusterTables:
    assert tables.clusters is not None
    return tables.clusters


class TestAddition:
    @settings(max_examples=12)
    @given(st.lists(st.integers(0, 3), min_size=N, max_size=N), st.randoms(use_true_random=False))
    def test_any_split_and_order(self, part_of: list[int], shuffle: Any) -> None:
        parts = [np.flatnonzero(np.array(part_of) == k) for k in range(4)]
        some = [tables_of(part) for part in parts if len(part)]
        shuffle.shuffle(some)
        assert reduce(add, some) == tables_of()

    @settings(max_examples=12)
    @given(st.lists(st.integers(0, 3), min_size=N, max_size=N))
    def test_any_split_into_blocks(self, part_of: list[int]) -> None:
        """Single rows as clusters, more than may be kept apart: whichever part is dealt into blocks first."""
        parts = [np.flatnonzero(np.array(part_of) == k) for k in range(4)]
        names = np.arange(N)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "unit_limit", lambda _, **__: 100)
            whole = tables_of(names=names)
            assert clusters_in(whole).clusters.n_blocks == 64
            assert clusters_in(whole).n_clusters == N
            assert reduce(add, [tables_of(part, names=names) for part in parts if len(part)]) == whole

    def test_fewer_blocks_are_unions_of_more(self) -> None:
        identities = np.sort(np.random.default_rng(0).integers(0, 2**63, 500).astype(np.uint64))
        many, few = (Clusters(identities, None, n) for n in (64, 16))
        assert many + few == few + many == few
        assert np.array_equal(many.places_in(few)[many.units_of(identities)], few.units_of(identities))

    def test_with_and_without_clusters(self) -> None:
        plain = Tables.of([*tables_of()])
        for pair in ((plain, tables_of()), (tables_of(), plain)):
            with pytest.raises(InvalidValueError, match="clusters"):
                reduce(add, pair)

    def test_single_rows_do_not_add_to_named_clusters(self) -> None:
        rows, _ = Clusters.of_single_rows(np.arange(5), clusters_in(tables_of()).specs)
        with pytest.raises(InvalidValueError, match="every batch"):
            rows + clusters_in(tables_of()).clusters

    def test_equality(self) -> None:
        assert tables_of() == tables_of()
        assert tables_of() != tables_of(names=NAMES + 1)
        other = NAMES.copy()
        other[0] = 61
        assert clusters_in(tables_of()) != clusters_in(tables_of(names=other))
        assert clusters_in(tables_of()) != 3


class TestBins:
    def test_coarsening_is_tabulating_there(self) -> None:
        fine = tables_of(bins=tn.EqualWidth(400))
        assert fine.coarsen(10) == tables_of()
        mass = fine.coarsen(tn.EqualMass(4))
        assert mass.clusters is not None
        assert [sums.spec for sums in mass.clusters.of_tables[:2]] == [table.spec for table in mass][:2]
        assert Tables.of_file(mass.parts) == mass

    def test_totals_of_units(self) -> None:
        sums = clusters_in(tables_of())
        rows = sums.of_tables[0].unit_totals(sums.clusters.n_units).rows
        assert sums.clusters.names is not None
        assert dict(zip(map(int, sums.clusters.names), rows.tolist(), strict=True)) == {
            k: int(n) for k, n in enumerate(np.bincount(NAMES))
        }


class TestFiles:
    def test_saved_and_loaded(self, tmp_path: Path) -> None:
        tables = tables_of()
        tables.save(tmp_path / "tables.json")
        assert Tables.load(tmp_path / "tables.json") == tables
        assert pickle.loads(pickle.dumps(tables)) == tables

    def test_a_table_alone_warns_that_it_leaves_them_out(self, tmp_path: Path) -> None:
        tables = tables_of()
        tables.save(tmp_path / "t.json")
        with pytest.warns(UserWarning, match=r"holds clusters.*Tables\.load"):
            assert tn.CalibrationTable.load(tmp_path / "t.json") == tables.by_variation
        with pytest.warns(UserWarning, match="holds clusters"):
            assert tn.CalibrationTable.load_all(tmp_path / "t.json") == tables.calibration_tables

    def test_blocks_saved_and_loaded(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "unit_limit", lambda _, **__: 40)
        tables = tables_of()
        assert clusters_in(tables).clusters.n_blocks == 32
        tables.save(tmp_path / "tables.json")
        assert Tables.load(tmp_path / "tables.json") == tables

    def test_by_group(self, tmp_path: Path) -> None:
        halves = {"a": tables_of(slice(0, 300)), "b": tables_of(slice(300, None))}
        save_tables(GroupedTables("half", halves), str(tmp_path / "tables.json"))
        loaded = load_tables(str(tmp_path / "tables.json"))
        assert loaded.groups == halves
        assert loaded.whole == tables_of()

    @pytest.mark.parametrize(
        "tamper",
        [
            lambda it: it["clusters"].update(names=None),
            lambda it: it["clusters"].update(n_blocks=16),
            lambda it: it["clusters"]["names"].reverse(),
            lambda it: it["clusters"]["names"].append(3),
            lambda it: it["clusters"].pop("names"),
            lambda it: it["tables"].pop(),
            lambda it: it.update(tables=[]),
            lambda it: it["tables"][0]["cells"].reverse(),
            lambda it: it["tables"][0]["cells"].__setitem__(-1, 10**6),
            lambda it: it["tables"][0]["sums"]["rows"].__setitem__(0, 0),
            lambda it: it["tables"][0]["sums"]["rank"]["whole"][0].reverse(),
            lambda it: it["tables"][0]["sums"]["log_score"]["fraction"].__setitem__(0, 1),
            lambda it: it["tables"][2]["sums"]["predicted"]["fraction"].__setitem__(0, 1),
            lambda it: it["tables"][0].update(events=it["tables"][2]["events"]),
        ],
    )
    def test_a_tampered_file_is_refused(
        self, tamper: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(packed_numbers, "FEWEST", 2**40)  # all numbers are written out
        path = tmp_path / "tables.json"
        tables_of().save(path)
        assert Tables.load(path) == tables_of()
        content = json.loads(path.read_text())
        tamper(content["tables"][-1])
        path.write_text(json.dumps(content))
        with pytest.raises(InvalidValueError):
            Tables.load(path)
