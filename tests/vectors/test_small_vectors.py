"""Small vectors of classes, events, scores, the simplex, options and looks, by exact arithmetic.

Those of the family of metrics (T: eight rows of three classes; B: ten rows of an event) hold to
twelve digits, those of rows with options of their own to 1e-12.
"""

import math
from typing import Any

import numpy as np
import pytest
import speak

T_PROBS = [
    (0.70, 0.20, 0.10),
    (0.62, 0.27, 0.11),
    (0.55, 0.33, 0.12),
    (0.13, 0.72, 0.15),
    (0.08, 0.63, 0.29),
    (0.21, 0.41, 0.38),
    (0.24, 0.17, 0.59),
    (0.03, 0.09, 0.88),
]
T_LABELS = [0, 0, 1, 1, 2, 1, 2, 2]
B_PROBS = [0.02, 0.07, 0.13, 0.24, 0.36, 0.41, 0.58, 0.66, 0.83, 0.97]
B_OUTCOMES = [0, 0, 1, 0, 0, 1, 0, 1, 1, 1]


def exactly(value: Any) -> Any:
    """Equal to twelve digits."""
    return pytest.approx(value, rel=2e-12, abs=1e-12)


class TestClassesOfT:
    def test_cells(self) -> None:
        """Five bins; .20 of class 1 is on an edge, and in the first bin."""
        rows, predicted, observed = (np.asarray(it) for it in speak.class_bins(T_LABELS, T_PROBS, 5))
        assert rows.tolist() == [[3, 2, 1, 2, 0], [3, 2, 1, 2, 0], [4, 2, 1, 0, 1]]
        assert predicted.sum(axis=1).tolist() == exactly([2.56, 2.82, 2.62])
        assert observed.sum(axis=1).tolist() == [2, 3, 3]

    @pytest.mark.parametrize(
        ("c", "l1", "l2"),
        [(0, 0.24, 0.285952356171), (1, 0.225, 0.264547569761), (2, 0.1675, 0.191882125275)],
    )
    def test_error_of_one_class(self, c: int, l1: float, l2: float) -> None:
        """As an event of two classes: the class, and all others."""
        y = [int(label == c) for label in T_LABELS]
        p = [(1 - row[c], row[c]) for row in T_PROBS]
        assert speak.cwece(y, p, bins=5) == exactly(l1)
        assert speak.cwece(y, p, bins=5, norm="l2") == exactly(l2)

    @pytest.mark.parametrize(
        ("weights", "value"),
        [(None, 0.210833333333), ("expected", 0.21096875), ("observed", 0.2071875)],
    )
    def test_error_of_all_classes(self, weights: str | None, value: float) -> None:
        assert speak.cwece(T_LABELS, T_PROBS, bins=5, weights=weights) == exactly(value)

    def test_the_largest_gaps(self) -> None:
        """The mean over the classes of .55 in (.4, .6], 1 - .41 there, and 1 - .59 there."""
        found = speak.cwece(T_LABELS, T_PROBS, bins=5, norm="max")
        assert found == exactly((0.55 + 0.59 + 0.41) / 3)


class TestScoresOfT:
    ENTROPY_BINS = (0, 0.78, 1)

    def test_log_score(self) -> None:
        """Sum of ln p_y + H, and of its variance, in one bin and in two."""
        table = speak.tabulate(T_LABELS, T_PROBS, bins=speak.Edges(self.ENTROPY_BINS))
        found = speak.sums_of(table)
        score, variance = (
            np.array(found[name], float) / 2**40 for name in ("log_score", "log_score_variance")
        )
        # Eight rows, each rounded to 2^-40.
        near = {"abs": 8 * 2.0**-40}
        assert score.tolist() == pytest.approx([0.823780850740, 0.851890879784], **near)
        assert variance.tolist() == pytest.approx([2.114256592991, 0.926647757027], **near)
        z = score.sum() / math.sqrt(variance.sum())
        assert z == pytest.approx(0.960920731030, abs=1e-11)

    def test_brier_parts_in_entropy_bins(self) -> None:
        found = speak.brier_parts(T_LABELS, T_PROBS, speak.Edges(self.ENTROPY_BINS))
        assert found["score"] == exactly(0.371875)
        parts = found["reliability"], found["resolution"], found["uncertainty"]
        assert parts == exactly((0.0407125, 0, 0.375))
        assert (found["within_variance"], found["within_covariance"]) == exactly((0.0130375, 0.056875))
        assert found["corrected_reliability"] == exactly(-0.0842875)

    def test_log_loss(self) -> None:
        table = speak.tabulate(T_LABELS, T_PROBS)
        assert speak.sums_of(table)["log_loss"] == pytest.approx(0.632102003157, abs=1e-11)


class TestEventB:
    NUMBERS = speak.event_numbers(B_OUTCOMES, B_PROBS)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("z", (0.510371041830, 0.609791540515)),
            ("ks", (0.638850849990, 0.938038695269)),
            ("kuiper", (0.712564409604, 0.999003857837)),
            ("brier_score", 0.17793),
            ("log_loss", 0.524512109364),
        ],
    )
    def test_statistics(self, name: str, value: Any) -> None:
        """Spiegelhalter's Z; the largest cumulative difference and range, standardised; p-values."""
        assert self.NUMBERS[name] == exactly(value)

    @pytest.mark.parametrize(
        ("name", "value", "error"),
        [
            ("intercept", 0.399621130390, 0.822731025553),
            ("slope", 0.832537946284, 0.564877438655),
        ],
    )
    def test_logistic_fit(self, name: str, value: float, error: float) -> None:
        """Cox (1958); the interval is that of Wald, at 95 %."""
        reach = 1.959963984540054 * error
        expected = (value, error, value - reach, value + reach)
        assert self.NUMBERS[name] == pytest.approx(expected, rel=5e-12, abs=5e-12)

    def test_intercept_at_slope_1(self) -> None:
        assert self.NUMBERS["shift"][0] == exactly(0.482938382416)

    def test_hosmer_lemeshow_of_groups_of_one_row(self) -> None:
        """Ten groups of ten rows: the sum of (y - p)²/(p(1 - p)), chi-square with ten degrees."""
        pairs = zip(B_OUTCOMES, B_PROBS, strict=True)
        value = math.fsum((y - p) ** 2 / (p * (1 - p)) for y, p in pairs)
        tail = math.exp(-value / 2) * sum((value / 2) ** k / math.factorial(k) for k in range(5))
        assert self.NUMBERS["hosmer"] == exactly((value, tail))

    def test_calibration_error(self) -> None:
        """Ten bins, .02 and .07 in one: (.09+.87+.24+.36+.59+.58+.34+.17+.03)/10."""
        assert self.NUMBERS["ece"] == exactly(0.327)

    def test_brier_parts_in_five_bins_of_two(self) -> None:
        found = speak.brier_parts(B_OUTCOMES, B_PROBS, speak.EqualMass(5))
        assert found["score"] == exactly(0.17793)
        parts = found["reliability"], found["resolution"], found["uncertainty"]
        assert parts == exactly((0.027775, 0.1, 0.25))
        assert (found["within_variance"], found["within_covariance"]) == exactly((0.002155, 0.002))
        assert found["corrected_reliability"] == exactly(-0.122225)

    def test_isotonic_parts(self) -> None:
        found = speak.corp_parts(B_OUTCOMES, B_PROBS)
        assert found["curve"] == exactly(np.array([0, 0, 1 / 3, 1 / 3, 1 / 3, 0.5, 0.5, 1, 1, 1]))
        parts = found["miscalibration"], found["discrimination"], found["uncertainty"]
        assert parts == exactly((0.061263333333, 0.133333333333, 0.25))
        log = speak.corp_parts(B_OUTCOMES, B_PROBS, score="log")
        assert log["score"] == exactly(0.524512109364)
        parts = log["miscalibration"], log["discrimination"], log["uncertainty"]
        assert parts == exactly((0.194928422763, 0.363563493960, 0.693147180560))

    def test_smooth_error(self) -> None:
        """As published for ten digits, met to 1e-6."""
        assert speak.smece(B_OUTCOMES, B_PROBS) == pytest.approx(0.0962528, abs=1e-6)


CORNERS = [[1.0, 0.0], [0.0, 1.0]]


class TestKernelError:
    @pytest.mark.parametrize(
        ("estimator", "block", "expected"),
        [
            ("biased", 2, 0.020451423239),
            ("unbiased", 2, -0.029751944870),
            ("block", 2, -0.021947011393),
            ("block", 4, -0.053293931582),
        ],
    )
    def test_of_T(self, estimator: str, block: int, expected: float) -> None:
        """The bandwidth is the median of the distances of all pairs, .465."""
        found = speak.skce(T_LABELS, T_PROBS, estimator, block=block)
        assert found == pytest.approx(expected, abs=5.1e-13, rel=0)
        chosen = speak.skce(T_LABELS, T_PROBS, estimator, block=block, bandwidth=0.465)
        assert chosen == pytest.approx(found, rel=1e-12)

    @pytest.mark.parametrize(
        ("labels", "biased", "unbiased"),
        [
            ([0, 1], 0.0, 0.0),
            ([0, 0], 0.5, 0.0),
            ([1, 0], 1 - math.exp(-1), -2 * math.exp(-1)),
            ([1, 1], 0.5, 0.0),
        ],
    )
    def test_the_two_dimensional_example_of_CalibrationErrors_jl(
        self, labels: list[int], biased: float, unbiased: float
    ) -> None:
        """Both kernels are exp(-1) at these two points."""
        near = {"abs": 1e-15}
        for estimator, value in (("biased", biased), ("unbiased", unbiased)):
            found = speak.skce(labels, CORNERS, estimator, bandwidth=1.0)
            assert found == pytest.approx(value, **near)
        found = speak.skce(labels * 10, CORNERS * 10, "block", bandwidth=1.0)
        assert found == pytest.approx(unbiased, **near)


O1_PROB = [[0.9, 0.1]] * 10 + [[0.85, 0.06, 0.05, 0.04]] * 10
O1_TRUE = [0] * 7 + [1] * 3 + [0] * 6 + [1] * 2 + [2, 3]
O3_PROB, O3_TRUE = [[1.0, 0.0, 0.0], [0.4, 0.3, 0.2, 0.1]], [2, 0]

OPTIONS: dict[str, tuple[Any, Any, dict[str, float]]] = {
    "O1": (
        O1_TRUE,
        O1_PROB,
        {"vce": 0.387715366617, "rce": 0.225, "w1": 0.17, "ece": 0.225, "uce": 0.095667731612},
    ),
    "O2": ([0] * 10 + O1_TRUE[10:], O1_PROB, {"vce": 0.052930082998, "rce": 0.075}),
    "O3, ties split": (O3_TRUE, O3_PROB, {"vce": 0.777074712953, "rce": 0.8, "w1": 0.541666666667}),
}


@pytest.mark.parametrize("vector", OPTIONS)
def test_rows_with_options_of_their_own(vector: str) -> None:
    """In O2 the gaps of two and of four options have opposite signs and cancel inside a bin."""
    y, p, expected = OPTIONS[vector]
    ties = "split" if "split" in vector else "first"
    for name, value in expected.items():
        how = {"distance": "w1"} if name == "w1" else {}
        number = getattr(speak, {"w1": "rce"}.get(name, name))
        assert number(y, p, ties=ties, **how) == pytest.approx(value, abs=1e-12), name


def test_rows_padded_with_zeros_would_have_another_number() -> None:
    padded = [[*row, *[0.0] * (4 - len(row))] for row in O1_PROB]
    assert speak.vce(O1_TRUE, np.array(padded)) == pytest.approx(0.284641540207, abs=1e-12)


def look(*blocks: tuple[tuple[float, ...], tuple[int, ...]]) -> tuple[list[int], list[Any]]:
    """Rows with these ordered predictions and counts of the rank of the true class."""
    y = [rank for _, counts in blocks for rank, n in enumerate(counts) for _ in range(n)]
    return y, [p for p, counts in blocks for _ in range(sum(counts))]


T1 = look(((0.8, 0.2), (5, 5)))
T2 = look(((0.95, 0.05), (6, 2)), ((0.6, 0.4), (5, 7)))
T3 = look(((0.9, 0.08, 0.02), (20, 6, 4)), ((0.6, 0.3, 0.1), (8, 7, 5)))


@pytest.mark.parametrize(
    ("looks", "tolerance", "expected"),
    [
        ([T1, T2], 0.0, [0.247640454795, 1.376838960025]),
        ([T1, T2], 0.02, [0.180854860770, 0.614253193669]),
        ([T3], 0.0, [5.010399899029]),
    ],
)
def test_evidence_of_a_monitor(looks: list[Any], tolerance: float, expected: list[float]) -> None:
    """ln E after each look, two bins of entropy (section 12 of the monitoring specification)."""
    assert speak.evidence(looks, 2, tolerance) == pytest.approx(expected, abs=2e-12)
