"""Decompositions beside other libraries, on random rows."""

import numpy as np
import pytest
import speak

B_PROBS = [0.02, 0.07, 0.13, 0.24, 0.36, 0.41, 0.58, 0.66, 0.83, 0.97]
B_OUTCOMES = [0, 0, 1, 0, 0, 1, 0, 1, 1, 1]


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
        found = speak.corp_parts(y, p, score=score)
        assert found["score"] == pytest.approx(theirs["score"][0], rel=1e-11)
        assert found["uncertainty"] == pytest.approx(theirs["uncertainty"][0], rel=1e-11)
        # Cells hold several rows, whose own order is not used: a smaller miscalibration, by 2 %.
        assert found["miscalibration"] == pytest.approx(theirs["miscalibration"][0], rel=near)


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")  # theirs
@pytest.mark.parametrize("seed", range(3))
def test_smooth_error_against_relplot(seed: int) -> None:
    import relplot

    y, p = rows(2000, seed)
    # It halves the width ten times and evaluates on coarser meshes: within .0011.
    assert speak.smece(y, p) == pytest.approx(relplot.smECE(f=p, y=y), abs=0.0011)
