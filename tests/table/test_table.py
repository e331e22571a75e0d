"""Laws of the one table: adding, regrouping and coarsening commute, and nothing is lost."""

import sys
import tracemalloc
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds_of_rows import KINDS, OPTIONS, kinds, rows_of, seeds, table_of

import trueness as tn
from trueness import today
from trueness.spec import FIELDS
from trueness.table import MOST_CLUSTER_BYTES, Parts, Table
from trueness.today import TableOptions, read, tabulate_rows


def same(a: Table, b: Table) -> bool:
    """Equal to the bit; weighted sums to the rounding of their order."""
    if not a.spec.weighted:
        return a == b
    alike = a.spec == b.spec and a.parts.is_same(b.parts)
    return alike and all(np.allclose(a.sums[name], b.sums[name], 1e-12, 1e-12) for name in a.sums)


class TestAdding:
    @given(kinds, seeds, seeds, seeds)
    def test_it_is_associative_and_commutative(
        self, kind: str, one: int, two: int, three: int
    ) -> None:
        a, b, c = (table_of(kind, seed) for seed in (one, two, three))
        assert same(a + b, b + a)
        assert same((a + b) + c, a + (b + c))
        assert same(Table.sum([c, a, b]), sum([a, b, c]))

    @given(kinds, seeds)
    def test_the_empty_table_is_its_identity(self, kind: str, seed: int) -> None:
        a = table_of(kind, seed)
        empty = Table.empty(a.spec, clusters=a.clusters is not None, by=a.by)
        assert same(a + empty, a)
        assert same(empty + a, a)
        assert (empty + empty).n_rows == 0

    @given(kinds, seeds, st.lists(st.integers(1, 39), max_size=4))
    def test_the_parts_of_rows_add_to_the_whole(
        self, kind: str, seed: int, cuts: list[int]
    ) -> None:
        """The same rows, cut anywhere; single rows are in blocks by their position."""
        if kind == "rows":
            kind = "plain"
        n, whole = 40, rows_of(kind, seed, 40)
        spec = tabulate_rows(whole, OPTIONS).spec
        tables = [
            tabulate_rows(rows_of(kind, seed, n, some=slice(start, stop)), spec)
            for start, stop in pairwise([0, *sorted(set(cuts)), n])
        ]
        assert same(Table.sum(tables), tabulate_rows(whole, spec))

    def test_other_options_are_refused_by_name(self) -> None:
        table = table_of("plain", 0)
        rows = rows_of("plain", 0)
        others = {
            "bins differs": tabulate_rows(rows, TableOptions(bins=6, confidence_bins=4)),
            "variation differs": tabulate_rows(rows, TableOptions("iqv", 5, 4)),
            "ties differs": tabulate_rows(
                rows, TableOptions(bins=5, confidence_bins=4, ties="split")
            ),
            "weighted differs": table_of("weights", 0),
            "n_classes differs": tabulate_rows(rows_of("plain", 0, c=4), OPTIONS),
            "clusters, and the other has not": table_of("clusters", 0),
            "groups by": table_of("groups", 0),
            "class_bins differs": tabulate_rows(rows, OPTIONS).coarsen(class_bins=10),
        }
        for text, other in others.items():
            with pytest.raises(tn.Refusal, match=text) as refused:
                table + other
            assert refused.value.code == "different-tables"

    def test_single_rows_are_no_clusters_among_others(self) -> None:
        """The sum would count the names alone, and take dependent rows for independent ones."""
        rows, named = table_of("rows", 0), table_of("clusters", 0)
        assert rows + Table.empty(named.spec, clusters=True) == rows
        for pair in ((rows, named), (named, rows)):
            with pytest.raises(tn.Refusal, match="clusters of one are its rows"):
                Table.sum(pair)

    def test_many_tables_take_linear_time(self) -> None:
        """Ten times as many tables take ten times as many calls, and as much memory; no more."""
        tables = [table_of("groups clusters", seed) for seed in range(10)]
        cost = []
        for n in (1000, 10_000):
            calls = [0]
            tracemalloc.start()
            sys.setprofile(lambda *_, calls=calls: calls.__setitem__(0, calls[0] + 1))
            Table.sum(tables * (n // 10))
            sys.setprofile(None)
            cost.append((calls[0], tracemalloc.get_traced_memory()[1]))
            tracemalloc.stop()
        (calls, memory), (more_calls, more_memory) = cost
        assert more_calls <= 10.5 * calls
        assert more_memory <= 10.5 * memory


class TestRows:
    @given(kinds, seeds)
    def test_both_engines_have_the_same_sums(self, kind: str, seed: int) -> None:
        rows = rows_of(kind, seed)
        assert tabulate_rows(rows, OPTIONS, engine="portable") == tabulate_rows(rows, OPTIONS)

    def test_many_groups(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Small ones are not a pass each, and more than fit into the memory are refused."""
        y, p = tn.simulate.calibrated(40_000, [1, 1], rng=0)
        with monkeypatch.context() as patch:
            patch.delattr(today, "_of_units")
            table = tabulate_rows(read(y, p, groups=np.arange(40_000) // 2))
        assert len(table.group_names) == 20_000
        assert table.over("group") == tabulate_rows(read(y, p))
        p = np.full((40_000, 10), 0.1)
        with pytest.raises(tn.Refusal, match="sums of 40,000 groups would take"):
            tabulate_rows(read(y, p, groups=np.arange(40_000)))

    def test_scores_of_soft_labels_do_not_overflow(self) -> None:
        """The squared score of one row would have more than 64 bits."""
        labels, logits = [[0.5, 0.5], [0.1, 0.9]], [[0.0, -9000.0], [30_000.0, 0.0]]
        table = tabulate_rows(read(labels, logits, from_logits=True, soft_labels=True))
        assert table.value("log_score_variance").sum() == 2 * 2.0**22

    def test_the_same_event_twice_counts_once(self) -> None:
        rows = rows_of("plain", 0)
        assert tabulate_rows(rows, TableOptions(events=(2, 2))).spec.classes == (2,)

    def test_sums_that_a_table_lacks_are_refused(self) -> None:
        table = tabulate_rows(rows_of("plain", 0), TableOptions(by_class=False))
        with pytest.raises(tn.Refusal, match="no sums `class_rows`"):
            table.class_bins()


class TestRegrouping:
    @given(kinds, seeds, seeds, st.sampled_from([("group",), ("unit",), ("group", "unit")]))
    def test_over_commutes_with_adding(self, kind: str, one: int, other: int, labels: Any) -> None:
        a, b = table_of(kind, one), table_of(kind, other)
        assert same(a.over(*labels) + b.over(*labels), (a + b).over(*labels))

    @given(st.sampled_from(["groups", "groups clusters"]), seeds, seeds)
    def test_select_commutes_with_adding(self, kind: str, one: int, other: int) -> None:
        a, b = table_of(kind, one), table_of(kind, other)
        for name in {*a.group_names} & {*b.group_names}:
            assert a.select(group=name) + b.select(group=name) == (a + b).select(group=name)
        for n in a.options:
            assert a.select(options=n) + b.select(options=n) == (a + b).select(options=n)

    @given(kinds, seeds)
    def test_groups_add_to_all_rows(self, kind: str, seed: int) -> None:
        table = table_of(kind, seed)
        parts = [table.select(group=name) for name in table.group_names if name is not None]
        assert not parts or same(Table.sum(parts), table)
        assert table.regroup(table.parts) == table

    @given(kinds, seeds)
    def test_groups_and_clusters_change_no_number_of_all_rows(self, kind: str, seed: int) -> None:
        table = table_of(kind, seed)
        plain = table.over("group", "unit")
        for name in table.sums:
            assert table.value(name) == pytest.approx(plain.value(name), rel=1e-12)
        for number in ("n_rows", "accuracy", "confidence", "brier_score", "log_loss"):
            assert getattr(table, number) == pytest.approx(getattr(plain, number), rel=1e-12)
        bins = table.rank_bins("unit") if table.clusters else table.rank_bins("group")
        for of_each, of_all in zip(bins[:3], plain.rank_bins()[:3], strict=True):
            assert of_each.sum(axis=0) == pytest.approx(of_all, rel=1e-12)

    def test_parts_of_one_group_stay_together(self) -> None:
        table = table_of("groups clusters", 1)
        labels = Parts(
            tuple("x" if k % 2 else "y" for k in range(len(table.parts.group))), *table.parts[1:]
        )
        with pytest.raises(tn.Refusal, match="must stay together"):
            table.regroup(labels)
        with pytest.raises(tn.Refusal, match="no group 'd'"):
            table.select(group="d")
        with pytest.raises(tn.Refusal, match="one of 'group', 'unit'"):
            table.over("units")


class TestCoarsening:
    @given(kinds, seeds, seeds)
    def test_it_commutes_with_adding(self, kind: str, one: int, other: int) -> None:
        a, b = (
            tabulate_rows(rows_of(kind, seed), TableOptions(bins=12, confidence_bins=12))
            for seed in (one, other)
        )
        coarser = {"bins": 4, "top_bins": 3, "class_bins": 20}
        assert same(a.coarsen(**coarser) + b.coarsen(**coarser), (a + b).coarsen(**coarser))

    @given(st.sampled_from([kind for kind in KINDS if kind != "rows"]), seeds)
    def test_it_is_the_table_in_these_bins(self, kind: str, seed: int) -> None:
        rows = rows_of(kind, seed)
        fine = tabulate_rows(rows, TableOptions(bins=12, confidence_bins=12))
        assert same(
            fine.coarsen(4, 3), tabulate_rows(rows, TableOptions(bins=4, confidence_bins=3))
        )

    def test_bins_that_are_not_nested_are_refused(self) -> None:
        with pytest.raises(tn.Refusal, match="not an edge"):
            table_of("plain", 0).coarsen(3)
        with pytest.raises(tn.Refusal, match="depends on the class"):
            table_of("plain", 0).coarsen(class_bins=tn.EqualMass(4))

    def test_equal_mass_is_found_from_the_counts(self) -> None:
        table = tabulate_rows(rows_of("plain", 3, 400), TableOptions(bins=tn.EqualWidth(400)))
        counts = table.coarsen(tn.EqualMass(4)).value("rows")
        assert counts.sum() == 400
        assert np.all(np.abs(counts - 100) <= 25)


class TestClusters:
    def many(self, n_clusters: int, c: int, n: int) -> Table:
        rng = np.random.default_rng(0)
        p = rng.dirichlet(np.full(c, 0.3), n).astype(np.float32)
        y, clusters = rng.integers(c, size=n), np.arange(n) % n_clusters
        return tabulate_rows(read(y, p, clusters=clusters, normalize=True))

    @pytest.mark.parametrize(
        ("n_clusters", "c", "units"), [(100_000, 10, 2048), (4096, 100, 2048), (256, 1000, 256)]
    )
    def test_many_fit_into_the_memory(self, n_clusters: int, c: int, units: int) -> None:
        table = self.many(n_clusters, c, n_clusters)
        of_parts = sum(it.nbytes for name, it in table.sums.items() if FIELDS[name].axis == "part")
        assert of_parts <= MOST_CLUSTER_BYTES
        assert len(table.units) <= units
        clusters = table.clusters
        assert clusters is not None
        assert len(clusters.identities) == n_clusters
        dealt = n_clusters > units
        assert (clusters.n_blocks == units) if dealt else (clusters.n_blocks is None)
        assert (f"{n_clusters:,} clusters" + (f" in {units} blocks" if dealt else "")) in repr(
            table
        )

    def test_clusters_that_were_dealt_stay_together(self) -> None:
        """Adding two batches deals clusters as if they had been one."""
        rng = np.random.default_rng(1)
        p, y = rng.dirichlet(np.ones(2), 12_000), rng.integers(2, size=12_000)
        names = np.arange(12_000) % 6000
        batches = [
            tabulate_rows(read(y[some], p[some], clusters=names[some]))
            for some in (slice(0, 3000), slice(3000, 9000), slice(9000, None))
        ]
        assert Table.sum(batches) == tabulate_rows(read(y, p, clusters=names))

    def test_memory_of_single_numbers_stays_small(self) -> None:
        table = table_of("clusters", 0)
        tracemalloc.start()
        for _ in range(100):
            table = table + table_of("clusters", 0)
        assert tracemalloc.get_traced_memory()[0] < 2**22
        tracemalloc.stop()


def test_what_is_printed() -> None:
    lines = repr(table_of("groups clusters", 0)).splitlines()
    assert lines[0].startswith(
        "Table: 30 rows, 3 classes, 3 groups by ward, 9 clusters, 5 bins of entropy"
    )
    assert len(lines) == 7
    assert all(len(line) <= 100 for line in lines)
    assert "up to 3 classes" in repr(table_of("options", 0))
