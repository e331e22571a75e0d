"""The contenders: each works on the same rows, and is left out if its library is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from measuring import Timing, Work
from portable import whole_array_formula

import trueness as tn
from trueness.rows import Rows
from trueness.tabulation import tabulate_rows

Predictions = tn.simulate.Predictions

COMPILED_TWO, COMPILED_ONE = "trueness compiled, 2 threads", "trueness compiled, 1 thread"
VCE, ECE = "trueness vce, all cores", "trueness ece, all cores"
FOUR = "trueness compiled, VCE + UCE + ECE + RCE, 2 threads"
EQUAL_MASS = "trueness compiled, EqualMass(10), 2 threads"
PORTABLE, FORMULA = "trueness portable, 1 thread", "NumPy formula"
FIFTH = "NumPy formula, on a fifth of the rows"
"""Its temporary arrays take gigabytes of new memory: fewer rows can take less time per row, and the better counts."""

TORCH_TWO, TORCH_ONE = "torchmetrics ECE, 2 threads", "torchmetrics ECE, 1 thread"
TORCH = "torchmetrics ECE, best of 1 and 2 threads"
"""On a busy machine or on few rows, two threads can be slower than one; the better time is the fair one."""

SKLEARN, NETCAL, PASS = "scikit-learn calibration_curve", "netcal ECE", "one memory pass (np.sum)"


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to work on rows.

    `prepare(data, n_bins)` converts them to its input format, outside the timing, and returns the work.
    """

    name: str
    result: str
    prepare: Callable[[Predictions, int], Work]
    library: str = "numpy"

    @property
    def installed(self) -> bool:
        """Whether its library is installed."""
        return find_spec(self.library) is not None


def _tabulating(engine: str, n_threads: int) -> Callable[[Predictions, int], Work]:
    def prepare(data: Predictions, n_bins: int) -> Work:
        return lambda: tn.tabulate(*data, bins=n_bins, engine=engine, n_threads=n_threads)

    return prepare


def _equal_mass(data: Predictions, n_bins: int) -> Work:
    return lambda: tn.tabulate(*data, bins=tn.EqualMass(n_bins), engine="compiled", n_threads=2)


def _vce(data: Predictions, n_bins: int) -> Work:
    return lambda: tn.vce(*data, bins=n_bins)


def _ece(data: Predictions, n_bins: int) -> Work:
    """Bins are over [0, 1], as the other libraries have them."""
    edges = tn.Edges(np.linspace(0.0, 1.0, n_bins + 1))
    return lambda: tn.ece(*data, bins=edges)


def four_numbers(data: Predictions, n_bins: int, n_threads: int = 2) -> tuple[float, float, float, float]:
    """VCE, UCE, ECE and RCE, from one pass over the rows into two tables.

    Both have bins over [0, 1], as the other libraries have for ECE.
    """
    rows, edges = Rows.of(*data), tn.Edges(np.linspace(0.0, 1.0, n_bins + 1))
    specs = [
        tn.TableSpec(rows.n_classes, tn.variations[name], edges, "first", weighted=False)
        for name in ("entropy", "confidence")
    ]
    by_entropy, by_confidence = tabulate_rows(rows, specs, "compiled", n_threads)
    return (
        tn.variation_calibration_error(by_entropy),
        tn.uncertainty_calibration_error(by_entropy),
        tn.expected_calibration_error(by_confidence),
        tn.ranked_calibration_error(by_entropy),
    )


def _four(data: Predictions, n_bins: int) -> Work:
    return lambda: four_numbers(data, n_bins)


def _formula(data: Predictions, n_bins: int) -> Work:
    return lambda: whole_array_formula(*data, n_bins)


def _formula_on_a_fifth(data: Predictions, n_bins: int) -> Work:
    return _formula(first(data, len(data.y_true) // 5), n_bins)


def torch_ece(data: Predictions, n_bins: int, n_threads: int) -> Work:
    """torchmetrics' ECE on tensors made beforehand, without its validation of the arguments."""
    import torch
    from torchmetrics.functional.classification import multiclass_calibration_error

    y_prob, y_true = torch.from_numpy(data.y_prob), torch.from_numpy(data.y_true.astype(np.int64))
    n_classes = data.y_prob.shape[1]

    def work() -> object:
        torch.set_num_threads(n_threads)
        return multiclass_calibration_error(
            y_prob, y_true, num_classes=n_classes, n_bins=n_bins, norm="l1", validate_args=False
        )

    return work


def _torch(n_threads: int) -> Callable[[Predictions, int], Work]:
    return lambda data, n_bins: torch_ece(data, n_bins, n_threads)


def _sklearn(data: Predictions, n_bins: int) -> Work:
    """The curve of the top label; finding that label is part of the work, as for all others."""
    from sklearn.calibration import calibration_curve

    def work() -> object:
        hit = data.y_prob.argmax(axis=1) == data.y_true
        return calibration_curve(hit, data.y_prob.max(axis=1), n_bins=n_bins)

    return work


def _netcal(data: Predictions, n_bins: int) -> Work:
    from netcal.metrics import ECE

    return lambda: ECE(bins=n_bins).measure(data.y_prob, data.y_true)


def _pass(data: Predictions, n_bins: int) -> Work:  # noqa: ARG001 - the same arguments as all others
    return lambda: np.sum(data.y_prob)


EVERYONE = (
    Contender(COMPILED_TWO, "the table", _tabulating("compiled", 2)),
    Contender(COMPILED_ONE, "the table", _tabulating("compiled", 1)),
    Contender(VCE, "VCE", _vce),
    Contender(ECE, "ECE (the maximum only)", _ece),
    Contender(FOUR, "two tables, four numbers", _four),
    Contender(EQUAL_MASS, "edges and the table", _equal_mass),
    Contender(PORTABLE, "the table", _tabulating("portable", 1)),
    Contender(FORMULA, "VCE", _formula),
    Contender(FIFTH, "VCE", _formula_on_a_fifth),
    Contender(TORCH_TWO, "ECE (the maximum only)", _torch(2), "torchmetrics"),
    Contender(TORCH_ONE, "ECE (the maximum only)", _torch(1), "torchmetrics"),
    Contender(SKLEARN, "curve of the top label", _sklearn, "sklearn"),
    Contender(NETCAL, "ECE (the maximum only)", _netcal, "netcal"),
    Contender(PASS, "a sum", _pass),
)


def prepared(data: Predictions, names: tuple[str, ...], n_bins: int = 10) -> dict[str, Work]:
    """The named contenders that are installed, ready to work on these rows."""
    chosen = (contender for contender in EVERYONE if contender.name in names and contender.installed)
    return {contender.name: contender.prepare(data, n_bins) for contender in chosen}


def first(data: Predictions, n_rows: int) -> Predictions:
    """The first rows, as views."""
    return Predictions(data.y_true[:n_rows], data.y_prob[:n_rows])


def with_best_torch(times: Mapping[str, Timing]) -> dict[str, Timing]:
    """The times, with the better one of torchmetrics added as an entry of its own."""
    found = [times[name] for name in (TORCH_TWO, TORCH_ONE) if name in times]
    return {**times, TORCH: min(found)} if found else dict(times)


def rows_of(n_rows: int, n_classes: int, dtype: str = "float64") -> Predictions:
    """Calibrated rows, uniform on the simplex."""
    y_true, y_prob = tn.simulate.calibrated(n_rows, [1.0] * n_classes, rng=0)
    return Predictions(y_true, y_prob.astype(dtype, copy=False))


def require_agreement(data: Predictions) -> None:
    """Exit unless all contenders compute the same numbers."""
    compiled, portable = (tn.tabulate(*data, engine=engine) for engine in ("compiled", "portable"))
    if compiled != portable:
        raise SystemExit("the tables of the compiled and the portable engine differ: nothing was timed")
    vce, _, ece, _ = four_numbers(data, 10)
    own = prepared(data, (VCE, ECE))
    if (own[VCE](), own[ECE]()) != (vce, ece):
        raise SystemExit("vce and ece differ from the numbers of the tables: nothing was timed")
    found = {"formula": (whole_array_formula(*data), vce)}
    others = prepared(data, (TORCH_TWO, NETCAL))
    found |= {name: (float(work()), ece) for name, work in others.items()}  # type: ignore[arg-type]
    for name, (theirs, ours) in found.items():
        # Rows within rounding of an edge may be in either bin, and torchmetrics sums in float32.
        if abs(theirs - ours) > 1e-4:
            raise SystemExit(f"{name} gives {theirs}, trueness {ours}: they do not compute the same metric")
