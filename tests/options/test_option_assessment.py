"""Assessments of rows with different numbers of options: inference, text, groups, clusters, comparison, monitor."""

import json
import re
from pathlib import Path
from typing import Any

import inference_oracle as exact
import numpy as np
import oracle
import pytest
from option_rows import (
    ARC,
    N_OPTIONS,
    O1_PROB,
    O2_TRUE,
    ROWS,
    TRUTHFULQA,
    Y_PROB,
    Y_TRUE,
    simulated,
)

import trueness as tn
from trueness.monitoring.families import OptionBets, RankBets
from trueness.monitoring.watched import Watched
from trueness.old_inference._bias import fitted_bias, most_likely_beta
from trueness.old_inference.option_bins import OptionBins
from trueness.old_table import OptionTables

GROUPS = np.array(["even", "odd"])[np.arange(len(ROWS)) % 2]
CLUSTERS = np.arange(len(ROWS)) // 3
RESULT = tn.assess(Y_TRUE, ROWS, rng=3, groups=GROUPS, min_group_size=50)


def tables() -> OptionTables:
    found = tn.tabulate(Y_TRUE, ROWS, bins=4)
    assert isinstance(found, OptionTables)
    return found


class TestNumbers:
    def test_o2_by_options(self) -> None:
        result = tn.assess(O2_TRUE, O1_PROB, ties="first", min_group_size=1, resamples=99)
        two, four = result.by_options
        assert (two.name, four.name) == ("2", "4")
        assert two.assessment is not None
        assert four.assessment is not None
        assert two.assessment.net.value == pytest.approx(-0.468995593589, abs=1e-12)
        assert four.assessment.net.value == pytest.approx(0.363135427592, abs=1e-12)

    def test_from_the_tables_alone_to_the_bit(self) -> None:
        groups = {group.name: group.assessment.tables for group in RESULT.groups if group.assessment}
        again = tn.assess_table(RESULT.tables, rng=3, groups=groups, min_group_size=50)
        assert again == RESULT
        alone = tn.assess_table(tn.tabulate(Y_TRUE, ROWS), rng=3)
        assert alone.ece is None
        assert alone.vce.interval == RESULT.vce.interval

    def test_equal_numbers_have_the_same_values_and_ece_over_the_unit_interval(self) -> None:
        four = N_OPTIONS == 4
        own = tn.assess(Y_TRUE[four], Y_PROB[four, :4], n_options=[4] * four.sum(), resamples=99)
        plain = tn.assess(Y_TRUE[four], Y_PROB[four, :4], ties="split", resamples=99, by_class=False)
        assert own.options == {4: 90}
        assert own.by_options == ()
        for key in ("vce", "net", "rce", "rce_w1"):
            mine, theirs = own.estimates[key], plain.estimates[key]
            assert mine is not None
            assert theirs is not None
            assert mine.value == pytest.approx(theirs.value, abs=1e-12)
            assert mine.debiased == pytest.approx(theirs.debiased, abs=0.02)
        assert own.confidence_table is not None
        assert own.confidence_table.edges.tolist() == oracle.equal_width(10, 0.0, 1.0)


class TestInference:
    """Section 2.3, against loops over the cells."""

    def test_one_beta_for_all_cells(self) -> None:
        bins = OptionBins.of(tables())
        cells = [
            (int(n), q.tolist(), r.tolist())
            for part in bins.parts
            for n, q, r in zip(part.bins.count, part.bins.predicted, part.bins.observed, strict=True)
        ]
        assert most_likely_beta(bins)[0] == pytest.approx(exact.most_likely_beta(cells), abs=1e-6)

    def test_biases_are_averaged_by_the_rows_of_the_cells(self) -> None:
        bins = OptionBins.of(tables())
        bias = fitted_bias(bins, 99, [0, 0, 2])
        total = np.zeros(4)
        for part in bins.parts:
            for k, m in enumerate(part.places.tolist()):
                n, q = int(part.bins.count[k]), part.bins.predicted[k]
                powers = np.maximum(q, 1e-3 / (n * len(q))) ** bias.beta
                tilted = (powers / powers.sum()).tolist()
                shortfall = oracle.entropy(tilted) - exact.expected_entropy(n, tilted)
                total[bins.index[m]] += part.share[k] * shortfall
        assert bias.by_bin == pytest.approx(total[bins.index], abs=1e-9)

    def test_noise_floor_and_p_values_from_draws_of_the_cells(self) -> None:
        table, resamples, seed = tables(), 199, 7
        result = tn.assess_table(table, rng=seed, resamples=resamples)
        shares, null = np.zeros(4), np.zeros((resamples, 4))
        tv = np.zeros((resamples, 4, 7))
        for c, own in table.items():
            for at, m in enumerate(np.flatnonzero(own.row_count).tolist()):
                n, q = int(own.row_count[m]), own.mean_ordered[m]
                stream = np.random.default_rng([seed, c, 0, 0, at])
                drawn = stream.multinomial(n, q / q.sum(), resamples) / n
                share = n / table.row_count[m]
                null[:, m] += share * np.array([oracle.entropy(row) for row in drawn.tolist()])
                tv[:, m, :c] += share * (drawn - q)
        shares = table.count / table.count.sum()
        floors = np.abs(null - table.predicted_variation) @ shares
        assert result.vce.noise_floor == pytest.approx(floors.mean(), abs=1e-12)
        assert result.vce.p_value == (1 + np.count_nonzero(floors >= result.vce.value - 1e-12)) / 200
        distances = np.abs(tv).sum(axis=2) / 2 @ shares
        assert result.rce.noise_floor == pytest.approx(distances.mean(), abs=1e-12)


class TestPage:
    def test_the_heading(self) -> None:
        first = str(RESULT).splitlines()[0]
        assert first == (
            "200 rows, 2 to 7 options (2: 30, 3: 60, 4: 90, 7: 20), 10 bins of entropy to each row's own base "
            "(ECE: 10 bins of confidence over [0, 1]), ties split; 999 resamples, seed 3"
        )

    def test_every_number_of_options_has_a_line(self) -> None:
        lines = str(RESULT).splitlines()
        start = next(k for k, line in enumerate(lines) if line.startswith("options "))
        assert [line.split()[:2] for line in lines[start + 1 : start + 5]] == [
            ["2", "30"],
            ["3", "60"],
            ["4", "90"],
            ["7", "20"],
        ]
        assert "fewer than 50 rows" in lines[start + 1]
        assert any(re.match(r"even +100 ", line) for line in lines)
        assert "class" not in lines[start]

    def test_numbers_of_options_are_corrected_for_their_number(self) -> None:
        assessed = [group for group in RESULT.by_options if group.assessment is not None]
        assert [group.name for group in assessed] == ["3", "4"]
        assert all(group.adjusted_p_value >= group.p_value for group in assessed)

    def test_plain_json(self) -> None:
        content = json.loads(json.dumps(RESULT.to_dict()))
        assert content["options"] == {"2": 30, "3": 60, "4": 90, "7": 20}
        assert [group["name"] for group in content["by_options"]] == ["2", "3", "4", "7"]
        assert content["tables"][0]["together"] == "options"
        assert tn.assess([0, 1], [[0.5, 0.5]] * 2, resamples=99).to_dict()["options"] is None

    def test_small_cells(self) -> None:
        y_true, y_prob, n_options = simulated(TRUTHFULQA, 0)
        result = tn.assess(y_true, y_prob, n_options=n_options, resamples=99, bins=20)
        assert "small-cells" in [w.code for w in result.warnings]
        y_true, y_prob, n_options = simulated(ARC, 0)
        codes = [w.code for w in tn.assess(y_true, y_prob, n_options=n_options, resamples=99).warnings]
        assert "small-cells" not in codes
        assert "few-rows" not in codes

    def test_one_label_with_ties_first_alone(self) -> None:
        rows, labels = [[0.5, 0.5], [0.4, 0.3, 0.3]] * 20, [0] * 40
        codes = [w.code for w in tn.assess(labels, rows, ties="first", resamples=99).warnings]
        assert "one-label" in codes
        assert "one-label" not in [w.code for w in tn.assess(labels, rows, resamples=99).warnings]

    def test_pictures_and_report(self, tmp_path: Path) -> None:
        import matplotlib.pyplot as plt

        from trueness import old_report as report
        from trueness import plots

        RESULT.plot()
        RESULT.plot_ranks()
        plots.GapDisplay.from_assessment(RESULT)
        plt.close("all")
        RESULT.write_html(tmp_path / "report.html")
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "2 to 7 options (2: 30, 3: 60, 4: 90, 7: 20)" in text
        assert "Numbers of options" in text
        saved = report.read(tmp_path / "report.html")
        assert saved.tables == RESULT.tables
        assert tn.assess_table(saved.tables, rng=saved.seed).vce.interval == RESULT.vce.interval
        assert "2 to 7 options" in RESULT._repr_html_()


class TestClustersAndComparison:
    def test_clusters_may_be_spread_over_numbers_of_options(self) -> None:
        result = tn.assess(Y_TRUE, ROWS, clusters=CLUSTERS, resamples=199, min_group_size=20)
        assert result.n_clusters == 67
        assert result.cluster_spread is not None
        assert len(result.cluster_spread.clusters) == 67
        four = next(group for group in result.by_options if group.name == "4")
        assert four.assessment is not None
        assert four.assessment.n_clusters == len(np.unique(CLUSTERS[N_OPTIONS == 4]))
        again = tn.assess_table(result.tables, resamples=199, min_group_size=20)
        assert again == result

    def test_tables_with_clusters_add_and_are_saved(self, tmp_path: Path) -> None:
        from trueness.old_table import Tables

        order = np.argsort(N_OPTIONS, kind="stable")
        parts = [
            tn.assess(
                Y_TRUE[part], Y_PROB[part], n_options=N_OPTIONS[part], clusters=CLUSTERS[part], resamples=99
            ).tables
            for part in np.split(order, [25, 110])
        ]
        whole = tn.assess(Y_TRUE, ROWS, clusters=CLUSTERS, resamples=99).tables
        together = parts[0] + parts[2] + parts[1]
        assert together == whole
        together.save(tmp_path / "tables.json")
        assert Tables.load(tmp_path / "tables.json") == whole
        fine = tn.assess(Y_TRUE, ROWS, clusters=CLUSTERS, resamples=99, bins=tn.EqualWidth(100)).tables
        assert fine.coarsen(10) == whole

    def test_models_on_the_same_options(self) -> None:
        flat = np.where(Y_PROB > 0, Y_PROB**0.3, 0.0)
        models = {"own": Y_PROB, "flat": flat / flat.sum(axis=1, keepdims=True)}
        result = tn.compare(Y_TRUE, models, n_options=N_OPTIONS, rng=1, resamples=199, groups=GROUPS)
        alone = tn.assess(Y_TRUE, ROWS, rng=1, resamples=199)
        assert result.assessments["own"].vce.debiased == alone.vce.debiased
        (pair,) = result.pairs
        assert pair.net.difference == pytest.approx(
            result.assessments["own"].net.debiased - result.assessments["flat"].net.debiased
        )
        assert "2 to 7 options" in str(result)
        comparer = tn.Comparer(models=["own", "flat"], options=True, rng=1, resamples=199)
        order = np.argsort(N_OPTIONS, kind="stable")
        for part in np.split(order, [31, 100]):
            comparer.update(
                Y_TRUE[part], {name: p[part] for name, p in models.items()}, n_options=N_OPTIONS[part]
            )
        batched = tn.compare(
            Y_TRUE[order],
            {name: p[order] for name, p in models.items()},
            n_options=N_OPTIONS[order],
            rng=1,
            resamples=199,
        )
        assert comparer.result().to_dict() == batched.to_dict()

    def test_a_model_does_not_differ_from_itself(self) -> None:
        (pair,) = tn.compare(Y_TRUE, {"a": ROWS, "b": [list(row) for row in ROWS]}, resamples=99).pairs
        assert all(contrast.difference == 0 and contrast.p_value == 1 for contrast in pair.contrasts.values())

    def test_other_options_are_refused(self) -> None:
        rows = [list(row) for row in ROWS]
        rows[9] = [*rows[9], 0.0]
        with pytest.raises(
            tn.Refusal, match=rf"'b' have {len(rows[9])} options in row 9, those of 'a' {len(ROWS[9])}"
        ):
            tn.compare(Y_TRUE, {"a": ROWS, "b": rows})

    def test_tables_of_different_rows_and_largest_numbers(self) -> None:
        few = N_OPTIONS <= 4
        one = tn.tabulate(Y_TRUE[few], Y_PROB[few], n_options=N_OPTIONS[few])
        other = tn.tabulate(Y_TRUE, ROWS)
        result = tn.compare_tables({"few": one, "all": other}, resamples=199)
        assert result.pairs[0].p_value > 0.05
        assert result.pairs[0].rce_w1.difference == pytest.approx(
            result.assessments["few"].rce_w1.debiased - result.assessments["all"].rce_w1.debiased
        )
        with pytest.raises(tn.Refusal, match="different kinds of rows"):
            tn.compare_tables({"few": one, "plain": one[4]})

    def test_groups_compared_with_the_rest(self) -> None:
        comparison = RESULT.compare_groups()
        assert [pair.first for pair in comparison.pairs] == ["even", "odd"]


class TestMonitor:
    def look(self, seed: int, power: float) -> OptionTables:
        y_true, y_prob, n_options = simulated({2: 100, 3: 200, 4: 300}, seed, power)
        found = tn.tabulate(y_true, y_prob, n_options=n_options)
        assert isinstance(found, OptionTables)
        return found

    def test_a_bet_is_the_product_over_the_numbers_of_options(self) -> None:
        table = self.look(0, 1.3)
        values = OptionBets(10, 0.01, 1.0).log_values([Watched(table)])[0]
        expected = np.zeros(len(values))
        for c, own in table.items():
            bets = RankBets(c, 10, 0.01, 1.0).log_values([Watched(own)])[0]
            expected[: len(bets)] += bets
        assert values == pytest.approx(expected, abs=1e-12)
        names = [bet.direction for bet in OptionBets(10, 0.01, 1.0).bets]
        assert [*dict.fromkeys(names)][:6] == [
            *dict.fromkeys(bet.direction for bet in RankBets(2, 10, 0.01, 1.0).bets)
        ]

    def test_an_alarm_and_the_file(self, tmp_path: Path) -> None:
        monitor = tn.Monitor()
        for day in range(4):
            monitor.update(self.look(day, 1.8), at=day)
        assert monitor.alarm is not None
        assert monitor.alarm.meaning == "over-confident"
        monitor.save(tmp_path / "state.json")
        again = tn.Monitor.load(tmp_path / "state.json")
        assert again.looks == monitor.looks
        again.update(self.look(9, 1.0), at=9)
        assert again.table == sum(self.look(day, 1.8) for day in range(4)) + self.look(9, 1.0)
        assert len(monitor.trend("net")) == 4

    def test_calibrated_looks_do_not_alarm(self) -> None:
        monitor = tn.Monitor(tolerance=0.0)
        for day in range(10):
            monitor.update(self.look(100 + day, 1.0), at=day)
        assert monitor.alarm is None

    def test_other_tables_and_a_reference_are_refused(self) -> None:
        monitor = tn.Monitor()
        monitor.update(self.look(0, 1.0), at=0)
        with pytest.raises(tn.Refusal, match="one is of different numbers of options and the other is not"):
            monitor.update(self.look(1, 1.0)[3], at=1)
        with pytest.raises(
            tn.Refusal, match="`reference` is not supported for rows with options of their own"
        ):
            tn.Monitor(reference=self.look(0, 1.0)).update(self.look(1, 1.0), at=1)

    def test_rows_gained_by_a_growing_table(self) -> None:
        from trueness.monitoring.subtraction import gained

        first, more = self.look(0, 1.0), self.look(1, 1.0)
        found = gained(Watched(first + more), Watched(first), "today")
        assert found.ranks == more
        with pytest.raises(tn.Refusal, match="does not contain the rows"):
            gained(Watched(first.only(3)), Watched(first), "today")


@pytest.mark.slow
class TestSimulation:
    """Section 12.4: rows like those of TruthfulQA, five bins."""

    @staticmethod
    def runs(n_runs: int, power: float) -> list[Any]:
        found = []
        for seed in range(n_runs):
            y_true, y_prob, n_options = simulated(TRUTHFULQA, [5, seed], power)
            found.append(
                tn.assess(y_true, y_prob, n_options=n_options, bins=5, resamples=199, min_group_size=10**6)
            )
        return found

    def test_calibrated(self) -> None:
        """200 runs: the standard error of a share of .05 is .015."""
        results = self.runs(200, 1.0)
        for key in ("vce", "net"):
            assert (
                0.01 <= np.mean([result.estimates[key].centred_p_value <= 0.05 for result in results]) <= 0.10
            )
        assert np.mean([r.net.interval.low <= 0 <= r.net.interval.high for r in results]) >= 0.90
        assert 0.01 <= np.mean([result.p_value <= 0.05 for result in results]) <= 0.10

    def test_sharpened(self) -> None:
        results = self.runs(100, 1.5)
        assert np.mean([result.vce.debiased for result in results]) == pytest.approx(0.126, abs=0.01)
        assert all(result.net.centred_p_value <= 0.05 for result in results)
