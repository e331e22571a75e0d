"""Decompositions beside other libraries, on random rows."""

import numpy as np
import pytest
from event_rows import B_OUTCOMES, B_PROBS

import trueness as tn


def rows(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.beta(0.7, 1.0, n_rows)
    odds = (p / (1 - p)) ** 0.8
    return (rng.random(n_rows) < odds / (1 + odds)).astype(int), p


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")  # theirs
@pytest.mark.parametrize("score", ["brier", "log"])
def test_corp_against_model_diagnostics(score) -> None:
    from model_diagnostics.scoring import LogLoss, SquaredError, decompose

    function = SquaredError() if score == "brier" else LogLoss()
    for y, p, near in ((np.array(B_OUTCOMES), np.array(B_PROBS), 1e-6), (*rows(5000, 0), 0.02)):
        theirs = decompose(y, p, scoring_function=function)
        found = tn.corp_decomposition(tn.tabulate_events(y, p), score=score, resamples=9)
        assert found.score == pytest.approx(theirs["score"][0], rel=1e-11)
        assert found.uncertainty == pytest.approx(theirs["uncertainty"][0], rel=1e-11)
        # Cells of the event grid hold several rows, whose own order is not used: a smaller miscalibration, by 2 %.
        assert found.miscalibration == pytest.approx(theirs["miscalibration"][0], rel=near)


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")  # theirs
@pytest.mark.parametrize("seed", range(3))
def test_smooth_error_against_relplot(seed: int) -> None:
    import relplot

    y, p = rows(2000, seed)
    # It halves the width ten times and evaluates on coarser meshes: within .0011.
    assert tn.smece(y, p) == pytest.approx(relplot.smECE(f=p, y=y), abs=0.0011)


@pytest.mark.reproduction
def test_best_temperature_against_scipy() -> None:
    from scipy.optimize import minimize_scalar

    y, p = tn.simulate.calibrated(2000, [0.3] * 10, rng=1)
    sharp = tn.simulate.sharpen(p, 1.4)
    logs = np.maximum(np.log(sharp), -69)

    def loss(a: float) -> float:
        top = (a * logs).max(axis=1)
        return float(
            (top + np.log(np.exp(a * logs - top[:, None]).sum(axis=1)) - a * logs[range(2000), y]).mean()
        )

    theirs = minimize_scalar(loss, bounds=(0.25, 4), method="bounded", options={"xatol": 1e-9})
    found = tn.temperature_profile(y, sharp).fit()
    assert found.exponent == pytest.approx(theirs.x, abs=1e-6)
    assert found.refinement == pytest.approx(theirs.fun, abs=1e-8)
