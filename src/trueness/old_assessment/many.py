"""Several models on several data sets: one table, and the differences within each data set."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from trueness._cells import Marked, Rows, Tabular, markdown_text
from trueness._printing import plural
from trueness._random import Seed
from trueness.bins import Bins
from trueness.old_assessment._assess import assess
from trueness.old_assessment._comparison_result import Comparison
from trueness.old_assessment._result import Assessment
from trueness.old_assessment._result_cells import debiased_cells, difference_cells, score_cells
from trueness.old_assessment._seeds import SeedsAssessment, SeedsComparison, assess_runs, summarise
from trueness.old_assessment._settings import Settings
from trueness.old_assessment.comparison import compare
from trueness.old_assessment.reported import REPORTED
from trueness.old_inference.results import Estimate
from trueness.old_table.plan import TablePlan
from trueness.refusals import InvalidTypeError, InvalidValueError, quote
from trueness.variation import Variation


@dataclass(frozen=True, slots=True, eq=False)
class AssessedModels(Tabular):
    """Models × data sets, returned by `assess_many`. Print it for the table; `to_frame()` has one row for each cell.

    With several seeds of a model, a cell is the mean over its runs. Its interval is that of the mean over all seeds
    that training could have had and over all rows: it counts the variance between seeds and within (sampling error).
    """

    assessments: Mapping[tuple[str, ...], Assessment]
    """By the keys that were passed: model and data set, and the seed if there is one."""
    comparisons: Mapping[str, Comparison | SeedsComparison]
    """By data set, for those with two models or more; p-values are corrected over its pairs of models, by Holm."""
    metric: str
    """The metric of the printed table."""
    seeds: Mapping[tuple[str, str], SeedsAssessment] = field(default_factory=dict)
    """By model and data set, of the data sets with seeds: means over the runs, spread between and within them."""

    tables_of_cells = ("models", "differences", "runs")

    @property
    def cells(self) -> dict[tuple[str, str], Assessment | SeedsAssessment]:
        """The assessment of each model on each data set, or the means over its seeds."""
        found: dict[tuple[str, str], Assessment | SeedsAssessment] = {}
        for key, result in self.assessments.items():
            name = (key[0], key[1])
            found.setdefault(name, self.seeds.get(name, result))
        return found

    @property
    def models(self) -> list[str]:
        """The names of the models, in order."""
        return list(dict.fromkeys(model for model, _ in self.cells))

    @property
    def data_sets(self) -> list[str]:
        """The names of the data sets, in order."""
        return list(dict.fromkeys(data_set for _, data_set in self.cells))

    def best(self, data_set: str) -> list[str]:
        """The models with the smallest debiased value on a data set, in size; empty if there is only one model."""
        sizes = {
            model: abs(value)
            for (model, name), result in self.cells.items()
            if name == data_set and (value := _value(result, self.metric)) is not None
        }
        return (
            [model for model, size in sizes.items() if size == min(sizes.values())] if len(sizes) > 1 else []
        )

    def _cells(self, of: str) -> Rows:
        if of == "differences":
            return [
                {"data_set": data_set, **row}
                for data_set, comparison in self.comparisons.items()
                for row in difference_cells(comparison)
            ]
        if of == "runs":
            return [
                {
                    "model": key[0],
                    "data_set": key[1],
                    "seed": key[2] if len(key) > 2 else None,
                    **_one_run(result),
                }
                for key, result in self.assessments.items()
            ]
        return [
            {
                "model": model,
                "data_set": data_set,
                **(
                    _of_seeds(result)
                    if self.seeds or isinstance(result, SeedsAssessment)
                    else _one_run(result)
                ),
                "best": model in self.best(data_set),
            }
            for (model, data_set), result in self.cells.items()
        ]

    def _printed_cells(self, of: str) -> Rows:
        """The metric by model and data set, with its interval, the best of each data set marked."""
        if of != "models":
            return Tabular._printed_cells(self, of)
        best = {data_set: self.best(data_set) for data_set in self.data_sets}
        return [
            {"model": model, **{name: self._cell(model, name, best[name]) for name in self.data_sets}}
            for model in self.models
        ]

    def _cell(self, model: str, data_set: str, best: list[str]) -> Marked | None:
        result = self.cells.get((model, data_set))
        estimate = None if result is None else result.estimates[self.metric]
        if estimate is None:
            return None
        sign, interval = REPORTED[self.metric].sign, estimate.interval
        ends = f"[{interval.low:{sign}.4f}, {interval.high:{sign}.4f}]"
        if isinstance(estimate, Estimate):
            return Marked(f"{estimate.debiased:{sign}.4f} {ends}", model in best)
        n_runs = plural(len(result.runs), "seed") if isinstance(result, SeedsAssessment) else ""
        spread = f"sd {estimate.between_sd:.4f} between, {estimate.within_sd:.4f} within"
        if math.isnan(estimate.between_sd):
            spread = f"sd {estimate.within_sd:.4f} within"
        return Marked(f"{estimate.mean:{sign}.4f} {ends} ({n_runs}, {spread})", model in best)

    def __str__(self) -> str:
        level = next(iter(self.assessments.values())).level
        title = (
            f"debiased {REPORTED[self.metric].label} with {100 * level:g} % intervals; bold: smallest in size"
        )
        notes = [SEEDS_NOTE] if self.seeds else []
        verdicts = [f"{name}: {each.verdict}" for name, each in self.comparisons.items()]
        return "\n".join([title, *notes, "", markdown_text(self._printed_cells("models")), *verdicts])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The table as a notebook displays it."""
        from trueness import old_report as report

        return report.cells_fragment(str(self).partition("\n\n")[0], self._printed_cells("models"))


SEEDS_NOTE = (
    "with seeds: mean over the runs; the interval is that of the mean over further seeds and further rows, from the "
    "variance between seeds and within;\nbetween: how much seeds differ, without sampling error; within: sampling "
    "error of one run"
)


def _value(result: Assessment | SeedsAssessment, metric: str) -> float | None:
    """The debiased value of a metric, or its mean over the seeds."""
    estimate = result.estimates[metric]
    if estimate is None:
        return None
    return estimate.debiased if isinstance(estimate, Estimate) else estimate.mean


def _one_run(result: Assessment) -> dict[str, Any]:
    return {
        "n_rows": result.n_rows,
        **debiased_cells(result),
        **score_cells(result),
        "p_value": result.p_value,
    }


def _of_seeds(result: Assessment | SeedsAssessment) -> dict[str, Any]:
    """The means over the seeds, each with its interval and both spreads; of one run, without that between seeds."""
    if isinstance(result, Assessment):
        return _of_seeds(SeedsAssessment.of_one(result))
    cells: dict[str, Any] = {"n_rows": result.n_rows, "n_seeds": len(result.runs)}
    for key, estimate in result.estimates.items():
        cells |= dict.fromkeys((key, *(f"{key}_{name}" for name in _SPREADS)))
        if estimate is not None:
            low, high = estimate.interval.low, estimate.interval.high
            numbers = (estimate.mean, low, high, estimate.between_sd, estimate.within_sd)
            cells |= dict(zip((key, *(f"{key}_{name}" for name in _SPREADS)), numbers, strict=True))
    scores = {name: result.mean_of(name) for name in ("accuracy", "brier_score", "log_loss")}
    return {**cells, **scores, "p_value": result.p_value}


_SPREADS = ("low", "high", "between_sd", "within_sd")


def assess_many(
    predictions: Mapping[tuple[str, str] | tuple[str, str, Any], tuple[Any, Any]],
    *,
    metric: str = "vce",
    variation: str | Variation = "entropy",
    bins: int | Bins = 10,
    confidence_bins: int | Bins | None = None,
    level: float = 0.95,
    resamples: int = 999,
    rng: Seed = 0,
    ties: str = "first",
    from_logits: bool = False,
    normalize: bool = False,
) -> AssessedModels:
    """Assess several models on several data sets, and compare the models within each data set.

    Parameters
    ----------
    predictions : mapping from (model, data set) or (model, data set, seed) to (y_true, y_prob)
        A model may be missing on a data set. Models and seeds of one data set must have the same rows in the same
        order. With seeds, the models are compared by the means over all their runs; a model with one run counts as
        one without a spread between seeds.
    metric : str
        The metric of the printed table, by the key of `Assessment.estimates`.
    variation, bins, confidence_bins, level, resamples, rng, ties, from_logits, normalize
        As in `assess`.

    Examples
    --------
    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(2000, [1, 1, 1], rng=0)
    >>> sharp = tn.simulate.sharpen(y_prob, 1.5)
    >>> found = tn.assess_many({("good", "test"): (y_true, y_prob), ("sharp", "test"): (y_true, sharp)})
    >>> found.best("test")
    ['good']

    Two seeds of a model:

    >>> runs = {("net", "test", k): (y_true, tn.simulate.sharpen(y_prob, 1.3 + 0.2 * k)) for k in range(2)}
    >>> found = tn.assess_many(runs).seeds["net", "test"].estimates["vce"]
    >>> found.between_sd > found.within_sd
    True
    """
    if metric not in REPORTED:
        names = ", ".join(REPORTED)
        cause = f"metric must be one of {names}, got {metric!r}"
        remedy = "leave it out for vce"
        raise InvalidValueError("unknown-metric", cause, remedy, argument="metric", value=metric)
    _refuse_keys(predictions)
    shared: dict[str, Any] = {
        "variation": variation,
        "bins": bins,
        "confidence_bins": confidence_bins,
        "level": level,
        "resamples": resamples,
        "rng": rng,
        "ties": ties,
        "from_logits": from_logits,
        "normalize": normalize,
    }
    by_data_set: dict[str, Runs] = {}
    for key, pair in predictions.items():
        by_data_set.setdefault(key[1], {})[tuple(map(str, key))] = pair
    found = {}
    for data_set, runs in by_data_set.items():
        _refuse_other_labels(data_set, runs)
        seeded = any(len(key) > 2 for key in runs)
        found[data_set] = _with_seeds(runs, **shared) if seeded else _without_seeds(runs, **shared)
    assessments = {key: it for of_data in found.values() for key, it in of_data.assessments.items()}
    return AssessedModels(
        assessments={key: assessments[key] for key in (tuple(map(str, key)) for key in predictions)},
        comparisons={name: it.comparison for name, it in found.items() if it.comparison is not None},
        metric=metric,
        seeds={(model, name): mean for name, it in found.items() for model, mean in it.means.items()},
    )


Runs: TypeAlias = dict[tuple[str, ...], tuple[Any, Any]]
"""The labels and predictions of the runs on one data set, by model, data set and seed."""


class OfDataSet(NamedTuple):
    """What was found on one data set."""

    assessments: dict[tuple[str, ...], Assessment]
    comparison: Comparison | SeedsComparison | None
    means: dict[str, SeedsAssessment]


def _without_seeds(runs: Runs, **options: Any) -> OfDataSet:
    """One run of each model, as `assess` and `compare` see it."""
    assessments = {key: assess(*pair, **options) for key, pair in runs.items()}
    if len(runs) == 1:
        return OfDataSet(assessments, None, {})
    y_true = next(iter(runs.values()))[0]
    models = {key[0]: y_prob for key, (_, y_prob) in runs.items()}
    return OfDataSet(assessments, compare(y_true, models, **options), {})


def _with_seeds(runs: Runs, **options: Any) -> OfDataSet:
    """Several runs of a model: the mean of each model, and the differences of the means."""
    settings = Settings.of(options["level"], options["resamples"], options["rng"])
    plan = TablePlan.of(
        *(options[name] for name in ("variation", "bins", "confidence_bins", "ties")), by_class=True
    )
    y_true = next(iter(runs.values()))[0]
    y_probs = {(key[0], "".join(key[2:])): y_prob for key, (_, y_prob) in runs.items()}
    how = {name: options[name] for name in ("from_logits", "normalize")}
    found = assess_runs(y_true, y_probs, settings, plan, **how)
    means, comparison = summarise(found, settings.level)
    assessments = {key: run.result for key, run in zip(runs, found.values(), strict=True)}
    return OfDataSet(assessments, comparison if comparison.pairs else None, means)


def _refuse_keys(predictions: Any) -> None:
    """Refuse anything but names of models and data sets, with seeds, to pairs of labels and predictions."""
    if not isinstance(predictions, Mapping):
        raise _wrong_predictions(type(predictions).__name__)
    for key, pair in predictions.items():
        named = (
            isinstance(key, tuple) and len(key) in (2, 3) and all(isinstance(name, str) for name in key[:2])
        )
        if not named:
            raise _wrong_predictions(f"the key {key!r}", key)
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise _wrong_predictions(f"{type(pair).__name__} for the key {key!r}", key)
    if not predictions:
        raise InvalidValueError(
            "too-few-models", "predictions is empty", "name at least one model", argument="predictions"
        )
    _refuse_mixed_keys(predictions)


def _wrong_predictions(got: str, value: Any = None) -> InvalidTypeError:
    cause = (
        f"predictions must map (model, data set) or (model, data set, seed) to (y_true, y_prob), got {got}"
    )
    remedy = "such as {('model', 'test'): (y_true, y_prob)}"
    return InvalidTypeError("wrong-type", cause, remedy, argument="predictions", value=value)


def _refuse_mixed_keys(predictions: Mapping[Any, Any]) -> None:
    """Refuse runs of one model on one data set that cannot be told apart, such as one with a seed and one without."""
    seen: dict[tuple[str, ...], Any] = {}
    for key in predictions:
        names = tuple(map(str, key))
        clash = next((other for other in seen if _are_the_same(names, other)), None)
        if clash is not None:
            raise InvalidValueError(
                "duplicate-name",
                f"predictions has {key!r} and {seen[clash]!r}, two runs of the same name or "
                "one without a seed",
                "give each run of a model a seed of its own",
                argument="predictions",
                value=key,
            )
        seen[names] = key


def _are_the_same(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two keys name the same run, or one of two runs of a model has no seed."""
    return one == other or (one[:2] == other[:2] and 2 in (len(one), len(other)))


def _refuse_other_labels(data_set: str, runs: Mapping[tuple[str, ...], tuple[Any, Any]]) -> None:
    """Refuse runs on one data set whose labels differ: their rows are not the same."""
    first, *others = runs
    labels = np.asarray(runs[first][0])
    for other in others:
        if not np.array_equal(labels, np.asarray(runs[other][0])):
            cause = (
                f"the labels of {quote(_name_of(other))} and {quote(_name_of(first))} differ "
                f"on the data set {quote(data_set)}"
            )
            remedy = "models of one data set need the same rows in the same order"
            raise InvalidValueError("rows-differ", cause, remedy, argument="predictions")


def _name_of(key: tuple[str, ...]) -> str:
    return key[0] if len(key) == 2 else f"{key[0]}, seed {key[2]}"
