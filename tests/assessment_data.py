"""The rows that the tests of assessments share, and what is assessed of them."""

from __future__ import annotations

import inference_oracle as exact
import numpy as np
import pytest

import trueness as tn

Y_TRUE, TRUTH = tn.simulate.calibrated(1200, [1.0] * 4, rng=1)
Y_PROB = tn.simulate.sharpen(TRUTH, 1.3)
SITE = np.array(["north", "south", "east"])[np.random.default_rng(2).choice(3, 1200, p=[0.5, 0.4, 0.1])]
RESULT = tn.assess(Y_TRUE, Y_PROB, rng=3)
CLASS_TABLE = tn.tabulate_events(Y_TRUE, Y_PROB)
EF = tn.EqualMass(10)
ENGINES = ["portable", pytest.param("compiled", marks=pytest.mark.compiled)]


def codes(result: tn.Assessment) -> set[str]:
    return {caution.code for caution in result.warnings}


def combined(result: tn.Assessment) -> float:
    """The Cauchy combination of all the evidence, from its definition."""
    weights = [2.0 if finding.key == "cumulative_log_score" else 1.0 for finding in result.evidence]
    return exact.cauchy_combination([finding.p_value for finding in result.evidence], weights)
