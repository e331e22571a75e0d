"""`Monitor`: looks, alarms, late and repeated looks, cautions, merging, restarting, text."""

import datetime as dt
import math

import numpy as np
import pytest
from monitored import NO_ROWS, T1, T2, T3, ranked_table, stream, watched

import trueness as tn
from trueness.monitoring.starts import Evidence, flagged, log_sum, start_weight, unspent

OVER = stream(8, 500, exponent=1.6)


class TestLooks:
    def test_the_same_look_twice_changes_nothing(self) -> None:
        monitor = watched([T1, T2])
        before = monitor.log_e_value
        again = monitor.update(ranked_table(((0.8, 0.2), (5, 5))), at=1)
        assert again == monitor.looks[0]
        assert (monitor.log_e_value, len(monitor.looks)) == (before, 2)

    def test_late_looks_are_marked_and_counted_in_order_of_arrival(self) -> None:
        monitor = tn.Monitor(alpha=0.05, tolerance=0)
        for name, table in (("day 9", T1), ("day 10", T2), ("day 8", T1)):
            monitor.update(table, at=name)
        assert [(look.at, look.late) for look in monitor.looks] == [
            ("day 9", False),
            ("day 10", False),
            ("day 8", True),
        ]
        assert monitor.log_e_value == watched([T1, T2, T1]).log_e_value
        assert "late" in {caution.code for caution in monitor.warnings}

    def test_names_may_be_dates_and_numbers(self) -> None:
        monitor = tn.Monitor()
        assert monitor.update(T1, at=dt.date(2026, 11, 16)).at == "2026-11-16"
        assert monitor.update(T2, at=np.int64(20261117)).at == "20261117"
        assert monitor.update(T1).at == "3"

    @pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 201])
    def test_unprintable_names_are_refused(self, name: str) -> None:
        with pytest.raises(ValueError, match="at must be a printable name"):
            tn.Monitor().update(T1, at=name)

    def test_other_things_are_refused(self) -> None:
        with pytest.raises(TypeError, match="table must be a CalibrationTable"):
            tn.Monitor().update([[0.8, 0.2]], at=1)
        with pytest.raises(TypeError, match="got int"):
            tn.Monitor().update(0, at=1)

    def test_the_gap_of_a_look_is_confidence_less_accuracy(self) -> None:
        look = tn.Monitor().update(T1)
        assert look.gap == pytest.approx(0.3)
        assert math.isnan(tn.Monitor().update(NO_ROWS).gap)

    def test_the_table_is_the_sum_of_all_looks(self) -> None:
        monitor = watched([T1, T2])
        assert monitor.table == T1 + T2
        monitor.update(T1, at="again")
        assert monitor.table == T1 + T2 + T1
        assert tn.Monitor().table is None

    def test_a_fine_grid_is_watched_in_ten_bins(self) -> None:
        y_true, y_prob = tn.simulate.calibrated(500, [1, 1, 1], rng=0)
        fine = tn.tabulate(y_true, y_prob, bins=tn.EqualWidth(4000))
        monitor = watched([fine])
        assert monitor.log_e_value == watched([fine.coarsen(10)]).log_e_value
        assert monitor.table == fine
        mass = watched([fine, fine], bins=tn.EqualMass(7))
        assert mass.log_e_value == pytest.approx(watched([fine.coarsen(tn.EqualMass(7))] * 2).log_e_value)
        with pytest.raises(ValueError, match="watched in coarser ones: pass bins="):
            watched([tn.tabulate(y_true, y_prob, bins=43)])

    def test_coarser_bins_on_request(self) -> None:
        table = OVER[0]
        assert watched([table], bins=5).log_e_value == watched([table.coarsen(5)]).log_e_value


class TestAlarm:
    def test_an_alarm_stays_with_what_it_said(self) -> None:
        monitor = tn.Monitor(alpha=0.05, tolerance=0.01)
        said = None
        for k, table in enumerate([*OVER, *stream(8, 500, seed=9)]):
            monitor.update(table, at=k)
            assert said is None or monitor.alarm == said
            said = monitor.alarm
        assert said is not None
        assert said.meaning == "over-confident"
        assert said.e_value >= 20
        assert said.p_value == pytest.approx(1 / said.e_value)

    def test_when_it_began(self) -> None:
        monitor = watched(stream(20, 1000, exponent=1.5, after=12, seed=4))
        alarm = monitor.alarm
        assert alarm is not None
        assert alarm.began == "13"
        assert alarm.since is not None
        assert 1 <= int(alarm.since) <= int(alarm.at)
        assert alarm.bin is None

    def test_one_bin_is_named(self) -> None:
        """Only the first of ten bins is wrong: nine rows of ten are right where .99 was predicted."""
        wrong = [[0.995, 0.005]] * 60 + [[0.75, 0.25]] * 4000
        labels = [0] * 42 + [1] * 18 + [0] * 3000 + [1] * 1000
        alarm = watched([tn.tabulate(labels, wrong)], tolerance=0.0).alarm
        assert alarm is not None
        assert alarm.bin == 0

    def test_the_certain_statement_is_the_latest_start_that_suffices(self) -> None:
        rng = np.random.default_rng(1)
        evidence = Evidence(np.log([0.25, 0.75]))
        for _ in range(6):
            evidence.add(rng.normal(0.8, 1.0, 2))
        limit = math.log(20)
        onset = evidence.onset(6, limit)
        by_start = [
            log_sum(np.log([0.25, 0.75]) + np.sum(evidence.log_bets[k:], axis=0)).item() for k in range(6)
        ]
        assert onset.began == int(np.argmax(by_start))
        certain = [k for k in range(6) if by_start[k] + math.log(start_weight(k + 1)) >= limit]
        assert onset.since == (certain[-1] if certain else None)

    def test_weights_of_starts(self) -> None:
        assert [unspent(0), start_weight(1)] == [1.0, 0.5]
        assert sum(start_weight(k) for k in range(1, 1001)) == pytest.approx(1 - unspent(1000))

    def test_a_bet_that_lost_everything_starts_again(self) -> None:
        evidence = Evidence(np.zeros(1))
        evidence.add(np.array([-np.inf]))
        assert evidence.log_e_value == pytest.approx(math.log(0.5))
        evidence.add(np.array([10.0]))
        assert evidence.log_e_value == pytest.approx(math.log(unspent(2) + math.exp(10) * start_weight(2)))

    def test_average_run(self) -> None:
        monitor = watched(OVER, average_run=1000)
        assert monitor.alarm is not None
        assert monitor.alarm.since is None
        assert math.isnan(monitor.p_value)
        looks = np.array([0.5, -0.2])
        evidence = Evidence(np.zeros(1), counts_runs=True)
        for value in looks:
            evidence.add(np.array([value]))
        assert evidence.log_e_value == pytest.approx(math.log(math.exp(-0.2) * (math.exp(0.5) + 1)))
        assert "average-run" in {caution.code for caution in monitor.warnings}


class TestGroups:
    def test_e_bh(self) -> None:
        assert flagged(np.log([120, 30, 3]).tolist(), 0.05) == [0, 1]
        assert flagged(np.log([59, 29, 3]).tolist(), 0.05) == []
        assert flagged(np.log([3, 30, 120]).tolist(), 0.05) == [1, 2]

    def test_each_group_has_its_own_evidence(self) -> None:
        monitor = tn.Monitor(alpha=0.05, tolerance=0)
        calm = stream(8, 500, seed=7)
        for k, (wrong, right) in enumerate(zip(OVER, calm, strict=True)):
            monitor.update({"north": wrong, "south": right}, at=k)
        alone = {"north": watched(OVER), "south": watched(calm)}
        found = {group.name: group for group in monitor.groups}
        for name, each in alone.items():
            assert found[name].log_e_value == pytest.approx(each.log_e_value, rel=1e-12)
        assert monitor.log_e_value == pytest.approx(
            np.logaddexp(*(each.log_e_value for each in alone.values())) - math.log(2)
        )
        assert monitor.alarm is not None
        assert monitor.alarm.groups == ("north",)
        assert monitor.alarm.group == "north"
        assert [group.flagged for group in monitor.groups] == [True, False]
        assert "(group north)" in str(monitor)

    def test_a_group_that_appears_anew_counts_from_then(self) -> None:
        monitor = tn.Monitor(alpha=0.05, tolerance=0)
        monitor.update({"a": T1}, at=1)
        monitor.update({"a": T2, "b": T1}, at=2)
        found = {group.name: group.log_e_value for group in monitor.groups}
        assert found["b"] == pytest.approx(watched([T1]).log_e_value)
        assert found["a"] == pytest.approx(watched([T1, T2]).log_e_value)

    def test_groups_in_one_look_only_are_refused(self) -> None:
        monitor = tn.Monitor()
        monitor.update({"a": T1}, at=1)
        with pytest.raises(ValueError, match="one look has groups and another has none"):
            monitor.update(T1, at=2)


class TestClustersAndWeights:
    def test_copies_count_once_if_the_size_of_clusters_is_declared(self) -> None:
        """Ten copies of each row with max_cluster=10: the same evidence as the rows themselves."""
        y_true, y_prob = tn.simulate.calibrated(100, [1, 1, 1], rng=3)
        once = watched([tn.tabulate(y_true, y_prob)])
        copies = tn.tabulate(np.repeat(y_true, 10), np.repeat(y_prob, 10, axis=0))
        assert watched([copies], max_cluster=10).log_e_value == pytest.approx(once.log_e_value, rel=1e-9)

    def test_weights_of_one_per_cluster(self) -> None:
        y_true, y_prob = tn.simulate.calibrated(100, [1, 1, 1], rng=3)
        weights = np.full(1000, 0.1)
        copies = tn.tabulate(np.repeat(y_true, 10), np.repeat(y_prob, 10, axis=0), sample_weight=weights)
        once = watched([tn.tabulate(y_true, y_prob)])
        assert watched([copies], max_weight=1).log_e_value == pytest.approx(once.log_e_value, rel=1e-9)

    def test_weights_must_be_declared(self) -> None:
        table = tn.tabulate([0, 1, 0], [[0.8, 0.2]] * 3, sample_weight=[1, 2, 3])
        with pytest.raises(ValueError, match="this table has weights, and the monitor has no `max_weight`"):
            watched([table])
        with pytest.raises(ValueError, match="a row has a weight above `max_weight=2"):
            watched([table], max_weight=2)
        assert watched([table], max_weight=3).looks[0].n_rows == 3
        with pytest.raises(ValueError, match=r"`max_weight` is 3\.0, but this table has no weights"):
            watched([T1], max_weight=3)

    def test_one_bet_a_look(self) -> None:
        """e = 1 + c((1 - r̄)/(1 - q̄) - 1) and 1 + c(r̄/q̄ - 1), c = .1, .25, .5, 1 (section 4)."""
        monitor = watched([T1], dependence="look")
        bets = [1 + c * (0.5 / 0.2 - 1) for c in (0.1, 0.25, 0.5, 1)]
        bets += [1 + c * (0.5 / 0.8 - 1) for c in (0.1, 0.25, 0.5, 1)]
        assert monitor.e_value == pytest.approx(0.5 + 0.5 * np.mean(bets))

    def test_one_bet_a_look_with_a_tolerance_has_mean_at_most_one(self) -> None:
        """The frequency of the top label may be δ away from q̄, however rows depend on one another."""
        for shift in (-0.02, 0.02):
            law = 0.8 + shift  # all ten rows of a look share their label
            tables = [ranked_table(((0.8, 0.2), counts)) for counts in ((10, 0), (0, 10))]
            values = [watched([table], dependence="look", tolerance=0.02).e_value for table in tables]
            assert law * values[0] + (1 - law) * values[1] <= 1 + 1e-12

    def test_unsaid_clusters_are_asked_for(self) -> None:
        assert "clusters-unsaid" in {caution.code for caution in watched([T1]).warnings}
        assert "clusters-unsaid" not in {caution.code for caution in watched([T1], max_cluster=2).warnings}


class TestCautions:
    def codes(self, monitor: tn.Monitor) -> set[str]:
        return {caution.code for caution in monitor.warnings}

    def test_cumulative_tables(self) -> None:
        assert "cumulative" in self.codes(watched([T1, T1 + T2]))
        assert "cumulative" not in self.codes(watched([T1, T2]))

    def test_impossible_labels(self) -> None:
        table = tn.tabulate([0] * 40 + [1], [[1.0, 0.0]] * 41)
        assert "impossible" in self.codes(watched([table]))

    def test_small_looks(self) -> None:
        assert "small-look" in self.codes(watched([T1]))
        assert "small-look" not in self.codes(watched([T3]))

    def test_no_tolerance_with_many_rows(self) -> None:
        many = T3
        for _ in range(15):
            many = many + many
        assert many.n_rows > 10**6
        assert "no-tolerance" in self.codes(watched([many]))
        assert "no-tolerance" not in self.codes(watched([many], tolerance=0.01))


class TestMerging:
    def test_union_by_name(self) -> None:
        a, b = tn.Monitor(), tn.Monitor()
        a.update(T1, at=1)
        b.update(T1, at=1)
        b.update(T2, at=2)
        merged = a + b
        assert [look.at for look in merged.looks] == ["1", "2"]
        assert merged == b

    def test_unlike_looks_and_settings_are_refused(self) -> None:
        a, b = tn.Monitor(), tn.Monitor()
        a.update(T1, at=1)
        b.update(T2, at=1)
        with pytest.raises(ValueError, match="1 was counted already with other rows"):
            a + b
        with pytest.raises(ValueError, match=r"alpha differs: 0\.01 and 0\.05"):
            a + tn.Monitor(alpha=0.05)

    def test_the_left_order_comes_first(self) -> None:
        a, b = tn.Monitor(), tn.Monitor()
        a.update(T2, at=3)
        b.update(T1, at=1)
        b.update(T2, at=3)
        assert [(look.at, look.late) for look in (a + b).looks] == [("3", False), ("1", True)]

    def test_a_restarted_monitor_has_no_looks_and_refuses_earlier_ones(self) -> None:
        monitor = watched(OVER)
        again = monitor.restarted("9")
        assert again.alarm is None
        assert again.settings.alpha == monitor.settings.alpha
        with pytest.raises(ValueError, match="8 is before 9, where this monitor was restarted"):
            again.update(OVER[0], at=8)
        assert again.update(OVER[0], at=10).log_e_value == watched(OVER[:1]).log_e_value


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"alpha": 0}, "`alpha` must be a number above 0"),
            ({"alpha": "0.05"}, "`alpha` must be"),
            ({"alpha": float("nan")}, "`alpha` must be"),
            ({"tolerance": -0.01}, "`tolerance` must be a number from 0"),
            ({"max_cluster": 0}, "`max_cluster` must be an integer"),
            ({"max_weight": 0}, "`max_weight` must be a number above 0"),
            ({"dependence": "day"}, "`dependence` must be one of 'rows', 'look'"),
            ({"average_run": 1}, "`average_run` must be a number above 1"),
            ({"reference": T3, "dependence": "look"}, "cannot be combined"),
            ({"reference": NO_ROWS}, "`reference` has no rows"),
        ],
    )
    def test_bad_settings_are_refused(self, settings: dict[str, object], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            tn.Monitor(**settings)  # type: ignore[arg-type]


class TestText:
    def test_alarm(self) -> None:
        monitor = tn.Monitor(alpha=0.01, tolerance=0.01)
        for day, table in enumerate(OVER[:4], 1):
            monitor.update(table, at=f"2026-11-{day:02}")
        first = str(monitor).splitlines()[0]
        assert first.startswith("alarm at 2026-11-02: over-confident, E = ")
        assert "(1/α = 100); began about 2026-11-01, certainly between 2026-11-0" in first
        assert repr(monitor) == f"Monitor: {first}"

    def test_names_cannot_write_to_the_terminal(self) -> None:
        monitor = tn.Monitor()
        monitor.update({"a\x1b[31m": T3}, at=1)
        assert "\x1b" not in str(monitor)
