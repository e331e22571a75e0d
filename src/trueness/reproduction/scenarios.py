"""Scenarios, sample sizes and repeats, and the cells they define."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from trueness.refusals import InvalidValueError

PAPER_SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
"""The numbers of rows of the paper's section 3."""

DEFAULT_REPEATS: Mapping[int, int] = {10_000: 100, 100_000: 30, 1_000_000: 10, 10_000_000: 1}
"""Enough for a mean and a standard deviation at the smaller sizes, with about as many rows at each size."""

MOST_CLASSES = 200
"""The theory needs a covariance matrix of all ranks for each bin."""

MAX_ALPHA = 1e6
"""Beyond it all rows agree to three digits."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Predictions from Dirichlet(α), perfectly calibrated.

    >>> Scenario((10.0, 1.0, 1.0)).label
    '10,1,1'
    """

    alpha: tuple[float, ...]

    @property
    def n_classes(self) -> int:
        """C, the number of entries of α."""
        return len(self.alpha)

    @property
    def label(self) -> str:
        """α as written on the command line and in results.csv."""
        return ",".join(f"{value:.12g}" for value in self.alpha)

    @property
    def title(self) -> str:
        """A short title for a panel of a figure."""
        if len(set(self.alpha)) == 1:
            return f"C = {self.n_classes}, all α = {self.alpha[0]:g}"
        shown = self.alpha if self.n_classes <= 5 else (*self.alpha[:2], self.alpha[-1])
        parts = [f"{value:g}" for value in shown]
        if len(shown) < self.n_classes:
            parts.insert(2, "…")
        return f"C = {self.n_classes}, α = ({', '.join(parts)})"

    @property
    def name(self) -> str:
        """A file name: short for any number of classes, and different for each α."""
        return f"c{self.n_classes}-{sha256(self.label.encode()).hexdigest()[:8]}"


def skewed_scenario(n_classes: int, first: float) -> Scenario:
    """α = (first, 1, …, 1).

    >>> skewed_scenario(3, 10).label
    '10,1,1'
    """
    return Scenario((float(first), *[1.0] * (n_classes - 1)))


PAPER_SCENARIOS = tuple(skewed_scenario(n_classes, first) for n_classes in (3, 10) for first in (1, 10))
"""Three and ten classes, with all α = 1 and with the first α = 10 (the paper, section 3)."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One scenario at one size with one seed: the rows of `simulate.calibrated(n_rows, alpha, seed)`."""

    scenario: Scenario
    n_rows: int
    seed: int

    @property
    def name(self) -> str:
        """A file name."""
        return f"{self.scenario.name}-n{self.n_rows}-s{self.seed}"


def sizes_up_to(max_rows: float) -> tuple[int, ...]:
    """The sample sizes of the paper up to `max_rows`.

    >>> sizes_up_to(1e5)
    (10000, 100000)
    """
    sizes = tuple(size for size in PAPER_SIZES if size <= max_rows)
    if not sizes:
        cause = f"max_rows must be at least {PAPER_SIZES[0]}, the smallest sample size, got {max_rows:g}"
        raise InvalidValueError("bad-argument", cause, argument="max_rows", value=max_rows)
    return sizes


def grid(
    scenarios: Sequence[Scenario], sizes: Sequence[int], seed: int, repeats: int | None = None
) -> list[Cell]:
    """All cells, those of the first seed first; the k-th repeat has the seed `seed` + k.

    >>> [cell.seed for cell in grid([skewed_scenario(3, 1)], [10_000], seed=5, repeats=3)]
    [5, 6, 7]
    """
    cells = [
        Cell(scenario, size, seed + repeat)
        for scenario in scenarios
        for size in sizes
        for repeat in range(DEFAULT_REPEATS[size] if repeats is None else repeats)
    ]
    return sorted(cells, key=lambda cell: cell.seed != seed)  # a stable sort: otherwise the order stays


def parse_alpha(text: str, n_classes: int | None = None) -> Scenario:
    """Parse Dirichlet parameters separated by commas; with `n_classes`, one number holds for every class.

    >>> parse_alpha("2,1,1").label, parse_alpha("0.5", n_classes=3).label
    ('2,1,1', '0.5,0.5,0.5')
    """
    try:
        alpha = tuple(float(part) for part in text.split(","))
    except ValueError:
        cause = f"alpha must be numbers separated by commas, such as 2,1,1, got {text!r}"
        raise _refuse_alpha(text, cause) from None
    if len(alpha) == 1 and n_classes is not None:
        alpha *= n_classes
    if n_classes is not None and len(alpha) != n_classes:
        raise _refuse_alpha(text, f"alpha has {len(alpha)} numbers, but there are {n_classes} classes")
    if len(alpha) > MOST_CLASSES:
        raise _refuse_alpha(text, f"theory is computed for up to {MOST_CLASSES} classes, got {len(alpha)}")
    if len(alpha) < 2 or not all(0 < value <= MAX_ALPHA for value in alpha):
        raise _refuse_alpha(
            text,
            f"alpha must be one number above 0 and up to {MAX_ALPHA:g} for each of two or more classes, "
            f"got {text!r}",
        )
    return Scenario(alpha)


def _refuse_alpha(text: str, cause: str) -> InvalidValueError:
    return InvalidValueError("bad-argument", cause, argument="alpha", value=text)
