"""Noise floors and debiased values of an assessment, against exact enumeration of all outcomes.

Tolerances come from the Monte-Carlo error: a mean of R draws has the standard error sd/sqrt(R).
With five of them a correct implementation fails in one of two million runs.
"""

import math
from collections.abc import Callable

import inference_oracle as exact
import oracle
import pytest
import speak

R = 9999


def labels(counts: tuple[int, ...]) -> list[int]:
    """Labels of rows in the order of their classes, with so many true classes at each rank."""
    return [rank for rank, n in enumerate(counts) for _ in range(n)]


NUMBERS: dict[str, Callable[[oracle.Row, oracle.Row], float]] = {
    "vce": lambda r, q: abs(oracle.entropy(r) - oracle.entropy(q)),
    "ece": lambda r, q: abs(q[0] - r[0]),
    "rce": oracle.total_variation,
}


@pytest.mark.parametrize(
    ("q", "counts"),
    [
        ([0.9, 0.1], (9, 1)),
        ([0.9, 0.1], (5, 5)),
        ([0.5, 0.3, 0.2], (3, 4, 2)),
        ([0.7, 0.15, 0.1, 0.05], (3, 1, 2, 1)),
    ],
)
def test_values_and_noise_floors_of_equal_rows(q: list[float], counts: tuple[int, ...]) -> None:
    """E0[d(r-bar, q-bar)], r-bar from Multinomial(n, q)/n: section 4 of the statistics."""
    n = sum(counts)
    result = speak.assess(labels(counts), [q] * n, resamples=R, rng=11)
    for name, number in NUMBERS.items():
        estimate = getattr(result, name)
        law = exact.null_law(n, q, lambda r, number=number: number(r, q))
        assert estimate.value == pytest.approx(number([k / n for k in counts], q), abs=1e-12)
        error = 5 * exact.sd(law) / math.sqrt(R)
        assert estimate.noise_floor == pytest.approx(exact.mean(law), abs=error), name


def test_noise_floors_of_several_bins() -> None:
    """Bins are independent: the floor is the mean of theirs by w_m, its error that of the sum."""
    q = [[0.95, 0.05], [0.8, 0.2], [0.6, 0.4]]
    sizes = (12, 8, 20)
    rows = [row for row, n in zip(q, sizes, strict=True) for _ in range(n)]
    y = labels((11, 1)) + labels((5, 3)) + labels((11, 9))
    result = speak.assess(y, rows, resamples=R, rng=3)
    for name, number in NUMBERS.items():
        laws = [
            exact.null_law(n, row, lambda r, row=row, number=number: number(r, row))
            for row, n in zip(q, sizes, strict=True)
        ]
        floor = math.fsum(n / 40 * exact.mean(law) for n, law in zip(sizes, laws, strict=True))
        spread = math.hypot(*(n / 40 * exact.sd(law) for n, law in zip(sizes, laws, strict=True)))
        found = getattr(result, name).noise_floor
        assert found == pytest.approx(floor, abs=5 * spread / math.sqrt(R)), name


@pytest.mark.parametrize("right", [9, 7, 5])
def test_debiased_value_of_one_bin(right: int) -> None:
    """t·T with FN(t·g, s) = T = |g|: g the gap less the bias at the fitted exponent of the rows.

    s is the larger sd of H at q-bar and at (n·r-bar + q-bar)/(n + 1); drawn ones are off by
    1/sqrt(2R), .7 %, and the value moves by less than s times five of that.
    """
    q, r = [0.9, 0.1], [right / 10, 1 - right / 10]
    beta = exact.most_likely_beta([(10, q, r)])
    g = oracle.entropy(r) + exact.bias(10, q, beta) - oracle.entropy(q)
    mixed = [(10 * a + b) / 11 for a, b in zip(r, q, strict=True)]
    s = max(exact.sd(exact.null_law(10, x, oracle.entropy)) for x in (q, mixed))
    expected = exact.debiased([1.0], [g], [s], abs(g))
    result = speak.assess(labels((right, 10 - right)), [q] * 10, resamples=R, rng=15)
    assert result.vce.debiased == pytest.approx(expected, abs=5 * s / math.sqrt(2 * R))
