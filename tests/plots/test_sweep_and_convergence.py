"""VCE against the number of bins and of rows, checked by what was drawn."""

from pathlib import Path

import numpy as np
import pytest
from artists import band_of, over_confident_rows

import trueness as tn
from trueness.plots import ConvergenceDisplay, SweepDisplay


class TestAgainstBinsAndRows:
    def test_a_sweep_over_the_number_of_bins(self):
        fine = tn.tabulate(*over_confident_rows(), bins=tn.EqualWidth(4000))
        sweep = tn.sweep_bins(fine, [20, 5, 10], rng=0)
        ax = sweep.plot().ax_
        drawn = {line.get_label(): line.get_data() for line in ax.lines}
        x, y = drawn["plug-in"]
        assert x.tolist() == [5, 10, 20]
        np.testing.assert_array_equal(y, sweep.value[[1, 2, 0]])
        np.testing.assert_array_equal(drawn["debiased"][1], sweep.debiased[[1, 2, 0]])
        np.testing.assert_array_equal(
            drawn["noise floor: plug-in of a calibrated model"][1], sweep.noise_floor[[1, 2, 0]]
        )
        assert band_of(ax)[5] == (sweep.low[1], sweep.high[1])
        assert SweepDisplay.from_sweep(sweep).data is sweep

    def test_convergence_from_saved_tables(self, tmp_path):
        paths = []
        for n_rows in (300, 3000, 1000):
            paths.append(tmp_path / f"{n_rows}.json")
            tn.tabulate(*tn.simulate.calibrated(n_rows, [1, 1, 1], rng=n_rows)).save(paths[-1])
        display = ConvergenceDisplay.from_tables(map(str, paths), rng=0)
        r = display.data
        assert r.n_rows.tolist() == [300, 1000, 3000]
        expected = [
            tn.assess_table(tn.CalibrationTable.load(path), rng=0).vce for path in sorted(paths, key=_size)
        ]
        np.testing.assert_array_equal(r.value, [it.value for it in expected])
        np.testing.assert_array_equal(r.debiased, [it.debiased for it in expected])
        zero = [line for line in display.ax_.lines if line.get_label() == "debiased: 0"]
        assert len(zero[0].get_xdata()) == np.count_nonzero(r.debiased == 0)
        # The noise floor falls as 1/√N.
        slope = np.polyfit(np.log(r.n_rows), np.log(r.noise_floor), 1)[0]
        assert -0.6 < slope < -0.4

    def test_tables_can_be_summed_up_one_after_the_other(self):
        y_true, y_prob = over_confident_rows(900)
        parts = [tn.tabulate(y_true[k::3], y_prob[k::3]) for k in range(3)]
        r = ConvergenceDisplay.from_tables(parts, cumulative=True, rng=0).data
        assert r.n_rows.tolist() == [300, 600, 900]
        assert r.value[-1] == pytest.approx(tn.vce(y_true, y_prob))

    def test_no_tables_and_mixed_measures_are_refused(self):
        with pytest.raises(ValueError, match="tables is empty"):
            ConvergenceDisplay.from_tables([])
        y_true, y_prob = over_confident_rows(300)
        mixed = [tn.tabulate(y_true, y_prob, variation=name) for name in ("entropy", "margin")]
        with pytest.raises(ValueError, match="different variation measures: entropy, margin"):
            ConvergenceDisplay.from_tables(mixed)


def _size(path: Path) -> int:
    return int(path.stem)
