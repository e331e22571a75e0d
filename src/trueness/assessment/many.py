"""Several models on several data sets: one table, and the differences within each data set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueness._cells import Marked, Rows, Tabular, markdown_text
from trueness._random import Seed
from trueness.assessment._assess import assess
from trueness.assessment._comparison_result import Comparison
from trueness.assessment._result import Assessment
from trueness.assessment._result_cells import debiased_cells, difference_cells, score_cells
from trueness.assessment.comparison import compare
from trueness.assessment.reported import REPORTED
from trueness.bins import Bins
from trueness.refusals import InvalidTypeError, InvalidValueError
from trueness.variation import Variation


@dataclass(frozen=True, slots=True, eq=False)
class AssessedModels(Tabular):
    """Models × data sets, returned by `assess_many`. Print it for the table; `to_frame()` has one row for each cell."""

    assessments: Mapping[tuple[str, str], Assessment]
    """By model and data set."""
    comparisons: Mapping[str, Comparison]
    """By data set, for those with two models or more; p-values are corrected over its pairs of models, by Holm."""
    metric: str
    """The metric of the printed table."""

    tables_of_cells = ("models", "differences")

    @property
    def models(self) -> list[str]:
        """The names of the models, in order."""
        return list(dict.fromkeys(model for model, _ in self.assessments))

    @property
    def data_sets(self) -> list[str]:
        """The names of the data sets, in order."""
        return list(dict.fromkeys(data_set for _, data_set in self.assessments))

    def best(self, data_set: str) -> list[str]:
        """The models with the smallest debiased value on a data set, in size; empty if there is only one model."""
        sizes = {
            model: abs(estimate.debiased)
            for (model, name), result in self.assessments.items()
            if name == data_set and (estimate := result.estimates[self.metric]) is not None
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
        return [
            {
                "model": model,
                "data_set": data_set,
                "n_rows": result.n_rows,
                **debiased_cells(result),
                **score_cells(result),
                "p_value": result.p_value,
                "best": model in self.best(data_set),
            }
            for (model, data_set), result in self.assessments.items()
        ]

    def _printed_cells(self, of: str) -> Rows:
        """The metric by model and data set, with its interval, the best of each data set marked."""
        if of == "differences":
            return Tabular._printed_cells(self, of)
        best = {data_set: self.best(data_set) for data_set in self.data_sets}
        return [
            {"model": model, **{name: self._cell(model, name, best[name]) for name in self.data_sets}}
            for model in self.models
        ]

    def _cell(self, model: str, data_set: str, best: list[str]) -> Marked | None:
        result = self.assessments.get((model, data_set))
        estimate = None if result is None else result.estimates[self.metric]
        if estimate is None:
            return None
        sign, interval = REPORTED[self.metric].sign, estimate.interval
        text = f"{estimate.debiased:{sign}.4f} [{interval.low:{sign}.4f}, {interval.high:{sign}.4f}]"
        return Marked(text, model in best)

    def __str__(self) -> str:
        level = next(iter(self.assessments.values())).level
        title = (
            f"debiased {REPORTED[self.metric].label} with {100 * level:g} % intervals; bold: smallest in size"
        )
        verdicts = [f"{name}: {each.verdict}" for name, each in self.comparisons.items()]
        return "\n".join([title, "", markdown_text(self._printed_cells("models")), *verdicts])

    __repr__ = __str__


def assess_many(
    predictions: Mapping[tuple[str, str], tuple[Any, Any]],
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
    predictions : mapping from (model, data set) to (y_true, y_prob)
        A model may be missing on a data set. Models of one data set must have the same rows in the same order.
    metric : str
        The metric of the printed table, by the key of `Assessment.estimates`.
    variation, bins, confidence_bins, level, resamples, rng, ties, from_logits, normalize
        As in `assess`.

    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(2000, [1, 1, 1], rng=0)
    >>> sharp = tn.simulate.sharpen(y_prob, 1.5)
    >>> found = tn.assess_many({("good", "test"): (y_true, y_prob), ("sharp", "test"): (y_true, sharp)})
    >>> found.best("test")
    ['good']
    """
    if metric not in REPORTED:
        raise InvalidValueError(
            "unknown-metric",
            "{argument} must be one of {names}, got {value!r}",
            "leave it out for vce",
            argument="metric",
            names=", ".join(REPORTED),
            value=metric,
        )
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
    by_data_set: dict[str, dict[str, tuple[Any, Any]]] = {}
    for (model, data_set), pair in predictions.items():
        by_data_set.setdefault(data_set, {})[model] = pair
    for data_set, models in by_data_set.items():
        _refuse_other_labels(data_set, models)
    comparisons = {
        data_set: compare(
            next(iter(models.values()))[0], {name: y_prob for name, (_, y_prob) in models.items()}, **shared
        )
        for data_set, models in by_data_set.items()
        if len(models) > 1
    }
    assessments = {key: assess(*pair, **shared) for key, pair in predictions.items()}
    return AssessedModels(assessments, comparisons, metric)


def _refuse_keys(predictions: Mapping[Any, Any]) -> None:
    """Refuse anything but pairs of names with pairs of labels and predictions."""
    for key, pair in predictions.items():
        named = isinstance(key, tuple) and len(key) == 2 and all(isinstance(name, str) for name in key)
        if not named or not isinstance(pair, tuple) or len(pair) != 2:
            raise InvalidTypeError(
                "wrong-type",
                "predictions must map (model, data set) to (y_true, y_prob), got the key {value!r}",
                "such as {{('model', 'test'): (y_true, y_prob)}}",
                argument="predictions",
                value=key,
            )
    if not predictions:
        raise InvalidValueError(
            "too-few-models", "predictions is empty", "name at least one model", argument="predictions"
        )


def _refuse_other_labels(data_set: str, models: Mapping[str, tuple[Any, Any]]) -> None:
    """Refuse models of one data set whose labels differ: their rows are not the same."""
    first, *others = models
    labels = np.asarray(models[first][0])
    for other in others:
        if not np.array_equal(labels, np.asarray(models[other][0])):
            raise InvalidValueError(
                "rows-differ",
                "the labels of {other!q} and {first!q} differ on the data set {data_set!q}",
                "models of one data set need the same rows in the same order",
                argument="predictions",
                first=first,
                other=other,
                data_set=data_set,
            )
