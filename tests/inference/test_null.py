"""Simulated tables of a calibrated model, against labels drawn anew for each row."""

import math
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.old_inference.null import NullBins, multinomial_frequencies, p_value, resample

EF = tn.EqualMass(10)


def redrawn(y_prob: np.ndarray, table: tn.CalibrationTable, draws: int, seed: int) -> np.ndarray:
    """r̄ of the filled bins for labels drawn anew from each row's own prediction, (draws, F, C)."""
    measure = table.spec.variation
    ordered = -np.sort(-y_prob, axis=1)
    n_rows, n_classes = ordered.shape
    filled = np.flatnonzero(table.row_count)
    place = np.array([sum(v > e + 1e-9 for e in table.edges[1:-1]) for v in measure(ordered)])
    assert (np.bincount(place, minlength=table.n_bins) == table.row_count).all()
    place = np.searchsorted(filled, place)
    levels = np.cumsum(ordered, axis=1)
    levels = (levels / levels[:, -1:] + np.arange(n_rows)[:, None]).ravel()
    rng = np.random.default_rng(seed)
    counts = np.zeros((draws, len(filled), n_classes))
    for k in range(draws):
        at = np.searchsorted(levels, rng.random(n_rows) + np.arange(n_rows), side="right")
        rank = np.minimum(at - np.arange(n_rows) * n_classes, n_classes - 1)
        np.add.at(counts[k], (place, rank), 1.0)
    return counts / table.row_count[filled][:, None]


@pytest.mark.parametrize("bins", [10, EF], ids=["EW", "EF"])
@pytest.mark.parametrize("n_classes", [3, 10, 100])
def test_the_null_is_that_of_redrawn_labels(n_classes: int, bins: Any) -> None:
    """Quantiles of VCE, net, RCE (TV, W1) and ECE within 2 % of label resampling, plus the error of both quantiles.

    A quantile at a of R draws has the standard error √(a(1-a)/R)/f with the density f there, taken from the
    neighbouring quantiles; five of √2 of them are allowed. The study has the 2 % with 20000 draws.
    """
    draws, n_rows = 2000, 500
    y_true, y_prob = tn.simulate.calibrated(n_rows, [1.0] * n_classes, rng=n_classes)
    for measure in ("entropy", "confidence"):
        table = tn.tabulate(y_true, y_prob, variation=measure, bins=bins)
        filled = NullBins.of(table)
        ours = resample(filled, multinomial_frequencies(filled, draws, [7]), draws)
        r = redrawn(y_prob, table, draws, seed=8)
        theirs_v = table.spec.variation.of(r)
        p, w = table.predicted_variation[filled.index], filled.weight
        apart = r - filled.predicted
        pairs = {
            "vce": (np.abs(ours.variation - p) @ w, np.abs(theirs_v - p) @ w),
            "net": ((ours.variation - p) @ w, (theirs_v - p) @ w),
        }
        if measure == "entropy":
            ahead = np.abs(np.cumsum(apart, axis=2)[:, :, :-1]).sum(axis=2) / (n_classes - 1)
            pairs["tv"] = (ours.tv @ w, np.abs(apart).sum(axis=2) / 2 @ w)
            pairs["w1"] = (ours.w1 @ w, ahead @ w)
        for name, (mine, theirs) in pairs.items():
            both = np.concatenate([mine, theirs])
            for a in (0.5, 0.9, 0.95, 0.99):
                h = min(0.05, (1 - a) / 2)
                low, high = np.quantile(both, [a - h, a + h])
                error = math.sqrt(2 * a * (1 - a) / draws) * (high - low) / (2 * h)
                # The net has both signs: 2 % of its spread about the middle, not of a value near zero.
                size = abs(np.quantile(theirs, a)) if name != "net" else 2 * float(np.std(theirs))
                difference = np.quantile(mine, a) - np.quantile(theirs, a)
                lattice = np.ptp(both) / 50 if name == "vce" and measure == "confidence" else 0.0
                assert abs(difference) <= 0.02 * size + 5 * error + lattice, (name, a)


class TestDraws:
    TABLE = tn.tabulate(*tn.simulate.calibrated(300, [1.0] * 8, rng=1))

    def test_batches_do_not_change_the_draws(self, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = tn.assess_table(self.TABLE, rng=5)
        monkeypatch.setattr("trueness.old_inference.null.BATCH_VALUES", 100)
        assert tn.assess_table(self.TABLE, rng=5) == whole

    def test_threads_do_not_change_the_draws(self, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = tn.assess_table(self.TABLE, rng=5)
        monkeypatch.setattr("trueness.old_inference.null.MANY_VALUES", 1)
        assert tn.assess_table(self.TABLE, rng=5) == whole

    def test_an_empty_bin_does_not_change_the_others(self) -> None:
        """Each filled bin has its own stream, counted among the filled ones."""
        y_true, y_prob = tn.simulate.calibrated(400, [5.0] * 3, rng=3)
        wide = tn.tabulate(y_true, y_prob, bins=tn.Edges([0, 0.5, 0.9, 1]))
        more = tn.tabulate(y_true, y_prob, bins=tn.Edges([0, 0.01, 0.5, 0.9, 1]))
        assert more.row_count[0] == 0
        assert tn.assess_table(wide, rng=1).vce.interval == tn.assess_table(more, rng=1).vce.interval

    def test_p_value_counts_itself_and_rounding(self) -> None:
        null = np.array([0.1, 0.2, 0.2, 0.3])
        assert p_value(null, 0.2 + 1e-13) == 4 / 5
        assert p_value(null, 0.31) == 1 / 5
        assert p_value(null, 0.0) == 1.0

    def test_the_same_seed_gives_the_same_numbers(self) -> None:
        assert tn.assess_table(self.TABLE, rng=5) == tn.assess_table(self.TABLE, rng=5)
        assert tn.assess_table(self.TABLE, rng=5) != tn.assess_table(self.TABLE, rng=6)
        fresh = tn.assess_table(self.TABLE, rng=None)
        assert tn.assess_table(self.TABLE, rng=fresh.seed) == fresh
        assert tn.assess_table(self.TABLE, rng=None).seed != fresh.seed
