"""`assess_top`: lists, complete rows that are cut, tables, groups and clusters; size and direction."""

import html
import json
import math
from pathlib import Path

import numpy as np
import pytest
from top_rows import complete_rows, lists_of, zipf_rows

import trueness as tn
from trueness.inference.estimates import ResampledTable, log_score_draws
from trueness.inference.null import NullBins
from trueness.plots.ranks.data import ranks_of
from trueness.report import tables_in
from trueness.table import GroupedTables, Tables
from trueness.table.grouped_file import load_tables, save_tables

Y_TRUE, Y_PROB = complete_rows(1500, 30, seed=8, sharpen=1.4)
RANK, PROB = lists_of(Y_TRUE, Y_PROB, 5)
RESULT = tn.assess_top(RANK, PROB, n_classes=30)
CUTS = {"first": slice(0, 600), "second": slice(600, 1500)}


class TestSameResult:
    def test_from_tables(self) -> None:
        table, by_confidence = (
            tn.tabulate_top(RANK, PROB, n_classes=30, variation=of) for of in ("entropy", "confidence")
        )
        assert tn.assess_table(table, confidence_table=by_confidence) == RESULT

    def test_from_saved_tables(self, tmp_path: Path) -> None:
        RESULT.tables.save(tmp_path / "tables.json")
        assert tn.assess_table(Tables.load(tmp_path / "tables.json")) == RESULT

    def test_from_saved_tables_with_clusters(self, tmp_path: Path) -> None:
        result = tn.assess_top(RANK, PROB, n_classes=30, clusters=np.arange(1500) // 3)
        result.tables.save(tmp_path / "clusters.json")
        assert tn.assess_table(Tables.load(tmp_path / "clusters.json")) == result
        assert '"schema": 5' in (tmp_path / "clusters.json").read_text()

    def test_from_saved_groups(self, tmp_path: Path) -> None:
        parts = {name: tn.assess_top(RANK[cut], PROB[cut], n_classes=30).tables for name, cut in CUTS.items()}
        path = str(tmp_path / "groups.json")
        save_tables(GroupedTables("half", parts), path)
        assert load_tables(path).whole.stored == RESULT.tables.stored
        assert '"schema": 4' in (tmp_path / "groups.json").read_text()

    def test_complete_rows_that_are_cut(self) -> None:
        result = tn.assess(Y_TRUE, Y_PROB, top_k=5, ties="split")
        assert result.vce.value == pytest.approx(RESULT.vce.value, abs=1e-12)
        assert result.rce.value == pytest.approx(RESULT.rce.value, abs=1e-12)
        assert result.classes is None

    def test_json(self) -> None:
        content = json.loads(json.dumps(RESULT.to_dict()))
        assert content["top_k"] == 5
        assert content["tail_bounds"]["vce"] == list(RESULT.tail_bounds.vce)
        assert content["uce_reason"] == "not defined for the k largest classes"

    def test_page(self) -> None:
        page = str(RESULT)
        assert "the 5 largest of 30 classes and the rest" in page
        low, high = RESULT.tail_bounds.vce
        assert f"whatever the tails are: VCE [{low:.4f}, {high:.4f}]" in page
        assert "even-tail" in [caution.code for caution in RESULT.warnings]


def test_report(tmp_path: Path) -> None:
    RESULT.write_html(tmp_path / "top.html")
    page = (tmp_path / "top.html").read_text()
    assert "the 5 largest of 30 classes and the rest" in page
    assert "Whatever these tails are" in page
    assert "beyond rank 5: predicted" in page
    assert f"trueness.assess_top(rank, prob, n_classes=30, variation={'entropy'!r}" in html.unescape(page)
    assert tables_in(tmp_path / "top.html")[0] == RESULT.table


@pytest.mark.parametrize("k", [1, 5, 20, 29])
def test_rank_pictures_name_what_is_beyond(k: int) -> None:
    ranks = ranks_of(tn.assess_top(*lists_of(Y_TRUE, Y_PROB, k), n_classes=30, resamples=99))
    assert ranks.labels[-1] == "beyond"
    assert len(ranks.labels) == k + 1
    assert ranks.observed[-1] == pytest.approx(np.mean(lists_of(Y_TRUE, Y_PROB, k)[0] == k))


def test_over_confidence_is_called_over_confidence() -> None:
    assert RESULT.verdict.kind == "over-confident"
    assert RESULT.net.debiased > 0.05


def test_the_mean_under_calibration_is_exact() -> None:
    """E₀[𝒱(r̄*)] = (E[H of k + 1 cells] + q̄_+ ln L)/ln V, against a simulation of the same bins."""
    bins = NullBins.of(RESULT.table)
    exact = bins.variation.expectation_for(bins.count, bins.predicted)
    assert exact is not None
    rng = np.random.default_rng(0)
    for m, n in enumerate(bins.count.tolist()):
        drawn = bins.variation.of(rng.multinomial(n, bins.predicted[m], 4000) / n)
        assert exact[m] == pytest.approx(drawn.mean(), abs=5 * drawn.std() / math.sqrt(4000) + 1e-12)


def test_drawn_log_scores_have_the_variance_of_the_rows() -> None:
    (drawn,) = log_score_draws(RESULT.table, ResampledTable.of(RESULT.table, 4000, [0]))
    sd = math.sqrt(RESULT.table.log_score_variance)
    assert drawn.sum(axis=1).std() == pytest.approx(sd, rel=5 / math.sqrt(8000))


def test_unknown_number_of_classes() -> None:
    result = tn.assess_top(RANK, PROB, n_classes=None, variation="confidence")
    assert "VCE" in str(result)
    assert "needs the number of classes" in str(result)
    assert result.to_dict()["vce"] is None
    assert math.isnan(result.log_score_z.value)
    assert result.tail_bounds is None
    assert result.ece.value == pytest.approx(RESULT.ece.value, abs=1e-12)
    assert "ece" in [finding.key for finding in result.evidence]


def test_groups_and_clusters() -> None:
    clusters = np.arange(1500) // 3
    result = tn.assess_top(
        RANK, PROB, n_classes=30, groups=np.where(np.arange(1500) < 700, "a", "b"), clusters=clusters
    )
    assert [group.n_rows for group in result.groups] == [700, 800]
    assert result.n_clusters == 500
    assert result.table == RESULT.table
    assert result.groups[0].assessment.tail_bounds is not None


def test_copies_of_rows_in_clusters_add_little() -> None:
    """Four copies of each row, in clusters, leave the interval of the net gap about as wide as one copy had it."""
    y_true, y_prob = complete_rows(300, 30, seed=3, sharpen=1.12)
    rank, prob = lists_of(y_true, y_prob, 5)
    once = tn.assess_top(rank, prob, n_classes=30).net.interval
    four = [np.repeat(part, 4, axis=0) for part in (rank, prob)]
    naive = tn.assess_top(*four, n_classes=30).net.interval
    clustered = tn.assess_top(*four, n_classes=30, clusters=np.repeat(np.arange(300), 4)).net.interval
    widths = [it.high - it.low for it in (once, naive, clustered)]
    assert widths[1] < 0.6 * widths[0]
    assert widths[2] == pytest.approx(widths[0], rel=0.15)


def test_compare_tables_of_the_k_largest() -> None:
    y_true, y_prob = complete_rows(1500, 30, seed=9)
    other = tn.assess_top(*lists_of(y_true, y_prob, 5), n_classes=30)
    comparison = tn.compare_tables({"sharp": RESULT.tables, "calibrated": other.tables})
    assert "calibrated is better calibrated than sharp" in str(comparison.verdict)


@pytest.mark.slow
class TestSimulations:
    @pytest.mark.parametrize("k", [5, 20])
    def test_size_and_bounds_of_calibrated_rows(self, k: int) -> None:
        """V = 1000, zipf, 2000 rows: p ≤ .05 in .01 to .11 of the runs, and the bounds hold in all."""
        hits, runs = np.zeros(4), 60
        for seed in range(runs):
            rank, prob = lists_of(*zipf_rows(2000, 1000, seed), k)
            result = tn.assess_top(rank, prob, n_classes=1000, resamples=199, rng=seed)
            z = result.log_score_z
            p = (result.vce.centred_p_value, result.net.centred_p_value, result.rce.p_value, z.drawn_p_value)
            hits += np.array(p) <= 0.05
            low, high = result.tail_bounds.vce
            assert low <= result.vce.value <= high
        # Of 60 runs at .05, fewer than 10 in all but one of a thousand repetitions.
        assert (hits <= 9).all(), hits

    def test_sharpened_rows_have_a_net_gap_above_0(self) -> None:
        """V = 1000, normal logits, a = 1.3, k = 5."""
        for seed in range(20):
            rng = np.random.default_rng(seed)
            y_true, y_prob = complete_rows(
                500, 1000, seed, scale=float(rng.choice([1.5, 2.5, 4])), sharpen=1.3
            )
            table = tn.tabulate_top(*lists_of(y_true, y_prob, 5), n_classes=1000)
            assert tn.signed_parts(table).net > 0
