"""Draw the figures of ``docs/background/theory.md`` from simulation: bounds, the limit law, undetected errors.

Run it with ``python scripts/draw_theory.py`` (needs the extra `plots`; it takes about a minute).
"""

import math
from pathlib import Path

import numpy as np

from trueness.old_metrics import variation_calibration_error
from trueness.old_table import CalibrationTable
from trueness.plots import theory as pictures
from trueness.plots.paper import save
from trueness.reproduction.cells import N_BINS, batches, tabulate_cells
from trueness.reproduction.scenarios import Cell, skewed_scenario
from trueness.reproduction.theory import bin_moments, limit_terms, variation_limit
from trueness.tabulation.engines import available_cores
from trueness.variation import variations

DESTINATION = Path(__file__).parents[1] / "docs" / "background" / "pictures"
SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000)
LAW_ROWS, LAW_REPEATS, LAW_DRAWS = 10_000, 6_000, 2_000_000


def entropy_bound(n_classes: int, n_rows: int) -> float:
    """Theorem 3."""
    noise = math.sqrt(N_BINS * largest_varentropy(n_classes) / n_rows)
    return (noise + N_BINS * (n_classes - 1) / n_rows) / math.log(n_classes)


def lipschitz_bound(measure: str, n_classes: int, n_rows: int) -> float:
    """Theorem 2."""
    return variations[measure].lipschitz_for(n_classes) * math.sqrt(N_BINS * (n_classes - 1) / n_rows)


def largest_varentropy(n_classes: int) -> float:
    """The largest variance of ln p under p: one probability x, the others equal (docs/background/theory.md)."""
    x = np.linspace(1e-6, 1 - 1e-6, 1_000_001)
    spread = np.log(x) - np.log((1 - x) / (n_classes - 1))
    return float((x * (1 - x) * spread**2).max())


def tables(n_classes: int, n_rows: int, repeats: int) -> list[dict[str, CalibrationTable]]:
    """The equal-width tables of so many calibrated data sets, by measure."""
    cells = [Cell(skewed_scenario(n_classes, 1), n_rows, seed) for seed in range(repeats)]
    done = [
        tabulate_cells(batch, ("entropy", "iqv"), n_threads=available_cores()).cells
        for batch in batches(cells)
    ]
    return [
        {measure: table for (measure, binning), table in one.tables.items() if binning == "width"}
        for batch in done
        for one in batch
    ]


def bound_panel(n_classes: int) -> pictures.BoundPanel:
    """Entropy by Theorem 3 and IQV by Theorem 2, at all sizes."""
    print(f"bounds, {n_classes} classes")
    scenario = skewed_scenario(n_classes, 1)
    moments = bin_moments(scenario, ("entropy", "iqv"), available_cores())
    by_size = [tables(n_classes, size, max(10, min(300, 2_000_000 // size))) for size in SIZES]
    curves = []
    for measure, label in (("entropy", "entropy"), ("iqv", "IQV")):
        a = variation_limit(moments[measure, "width"], variations[measure]).a
        means = [
            float(np.mean([variation_calibration_error(one[measure]) for one in runs])) for runs in by_size
        ]
        if measure == "entropy":
            name, bounds = "Theorem 3", [entropy_bound(n_classes, size) for size in SIZES]
        else:
            name, bounds = "Theorem 2", [lipschitz_bound(measure, n_classes, size) for size in SIZES]
        assert all(mean <= bound for mean, bound in zip(means, bounds, strict=True))
        limits = [a / math.sqrt(size) for size in SIZES]
        curves.append(pictures.BoundCurve(label, f"{label}: {name}", means, bounds, limits))
    return pictures.BoundPanel(scenario.title, SIZES, curves)


def limit_panels() -> list[pictures.LimitPanel]:
    """The limit law of √N·VCE with ten bins and with one, where it is a half-normal distribution."""
    print("limit law")
    runs = [one["entropy"] for one in tables(3, LAW_ROWS, LAW_REPEATS)]
    moments = bin_moments(skewed_scenario(3, 1), ("entropy",), available_cores())["entropy", "width"]
    one_bin = type(moments)(
        weight=np.array([1.0]),
        ordered=(moments.weight @ moments.ordered)[None],
        covariance=np.einsum("m,mij->ij", moments.weight, moments.covariance)[None],
        gap=moments.gap.sum(keepdims=True),
        square=moments.square,
    )
    rng, found = np.random.default_rng(0), []
    for n_bins, of_bins in ((N_BINS, moments), (1, one_bin)):
        simulated = [
            math.sqrt(LAW_ROWS) * variation_calibration_error(table.coarsen(n_bins)) for table in runs
        ]
        terms = limit_terms(of_bins, variations["entropy"])
        limit = sum(term * np.abs(rng.standard_normal(LAW_DRAWS)) for term in terms)
        title = f"C = 3, all α = 1, N = 10⁴, {n_bins} bin{'s' if n_bins > 1 else ''}"
        found.append(pictures.LimitPanel(title, np.array(simulated), limit))
    return found


def blind_spots() -> pictures.BlindSpots:
    """Two examples of the theory page, the curve of equal entropy through one, and random pairs below the bound."""
    entropy = variations["entropy"]
    predicted, observed = (0.6, 0.3, 0.1), (0.4653, 0.4648, 0.0699)
    assert abs(entropy(predicted) - entropy(observed)) < 2e-4
    first, second = np.meshgrid(np.linspace(0.001, 0.998, 1500), np.linspace(0.001, 0.998, 1500))
    inside = first + second < 0.999
    value = np.full(first.shape, np.nan)
    vectors = np.stack([first[inside], second[inside], 1 - first[inside] - second[inside]], axis=1)
    value[inside] = entropy(vectors)
    curve = _level_curve(first, second, value, entropy(predicted))

    rng = np.random.default_rng(0)
    q = -np.sort(-rng.dirichlet([0.4] * 3, 6000), axis=1)
    r = rng.dirichlet([0.4] * 3, 6000)
    distance = np.abs(q - r).sum(axis=1) / 2
    gap = np.abs(entropy(q) - entropy(r))
    x = np.linspace(0.0005, 0.9995, 400)
    bound = (x * math.log(2) - x * np.log(x) - (1 - x) * np.log(1 - x)) / math.log(3)
    assert np.all(gap <= np.interp(distance, x, bound) + 1e-3)
    return pictures.BlindSpots(
        ((0.9, 0.1), (0.1, 0.9)), curve, (predicted, observed), (distance, gap), (x, bound)
    )


def _level_curve(
    first: np.ndarray, second: np.ndarray, value: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Points of a closed level curve around the uniform vector, in the order of their angle."""
    crossing = np.diff(np.sign(value - level), axis=1)
    rows, columns = np.nonzero(np.abs(np.nan_to_num(crossing)) > 0)
    x, y = first[rows, columns], second[rows, columns]
    order = np.argsort(np.arctan2(y - 1 / 3, x - 1 / 3))
    return np.append(x[order], x[order[0]]), np.append(y[order], y[order[0]])


def main() -> None:
    """Draw all figures."""
    DESTINATION.mkdir(exist_ok=True)
    save(pictures.blind_spot_panels(blind_spots()), DESTINATION / "theory-blind-spots", ("png",))
    save(pictures.limit_panels(limit_panels()), DESTINATION / "theory-limit-law", ("png",))
    save(pictures.bound_panels([bound_panel(3), bound_panel(10)]), DESTINATION / "theory-bounds", ("png",))
    print("largest varentropy:", {c: round(largest_varentropy(c), 4) for c in (3, 10, 100)})


if __name__ == "__main__":
    main()
