"""For MLflow: log a result with its intervals, tables and report, and a metric for `mlflow.models.evaluate`.

    from trueness.adapters.mlflow import log_assessment
    with mlflow.start_run():
        log_assessment(tn.assess(y_true, y_prob))

The names of the metrics are those of `result.flat()`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from trueness._cells import Tabular
from trueness.adapters._assess_options import require_assess_options
from trueness.assessment import assess
from trueness.refusals import InvalidTypeError, MissingLibraryError

__all__ = ["calibration_metric", "log_assessment"]

MOST_AT_ONCE = 1000
"""Metrics that MLflow takes in one call."""


class Loggable(Protocol):
    """What is logged: an assessment of rows, events or votes, a comparison or a recalibration."""

    def flat(self, prefix: str = "") -> dict[str, float]: ...

    def to_dict(self) -> dict[str, Any]: ...


def log_assessment(
    result: Loggable,
    *,
    prefix: str = "",
    step: int | None = None,
    run_id: str | None = None,
    artifact_path: str = "calibration",
    report: bool = True,
) -> None:
    """Log a result to an MLflow run: its numbers as metrics, its JSON, tables and report as artifacts.

    Parameters
    ----------
    result : Assessment, EventAssessment, EventAssessments, VoteAssessment, Comparison or Recalibration
        The metrics are those of `result.flat(prefix)`: `vce`, `vce_low`, `vce_high`, `vce_p_value` and so on.
    prefix : str
        Is put before each metric, such as "validation/".
    step : int
        The step of the metrics, such as the epoch.
    run_id : str
        The run; by default the active one, and a new one if none is active.
    artifact_path : str
        The folder of the artifacts: `result.json`, one CSV file for each table of the result (`metrics.csv`,
        `bins.csv`, `groups.csv`), and `report.html`. With `step`, they are in a folder of that step.
    report : bool
        Whether to write the HTML report; it is the largest of the files.
    """
    if not hasattr(result, "flat"):
        raise InvalidTypeError(
            "wrong-type",
            "{argument} must be a result of trueness, such as that of assess or compare, got {type}",
            argument="result",
            type=type(result).__name__,
        )
    mlflow = _mlflow()
    for some in _in_parts(result.flat(prefix)):
        mlflow.log_metrics(some, step=step, run_id=run_id)
    folder = artifact_path if step is None else f"{artifact_path}/step-{step}"
    mlflow.log_dict(result.to_dict(), f"{folder}/result.json", run_id=run_id)
    for name, text in _tables_of(result).items():
        mlflow.log_text(text, f"{folder}/{name}.csv", run_id=run_id)
    if report and hasattr(result, "write_html"):
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "report.html"
            result.write_html(path)
            mlflow.log_artifact(str(path), folder, run_id=run_id)


def calibration_metric(name: str = "calibration", **options: Any) -> Any:
    """A metric for `extra_metrics` of `mlflow.models.evaluate`, with all numbers of `trueness.assess`.

    The predictions must be probabilities: a column with a list for each row, or with the probability of class 1. The
    numbers are named `NAME/vce`, `NAME/vce_low` and so on.

    Parameters
    ----------
    name : str
        The name of the metric.
    options
        Options of `trueness.assess`, such as `bins`, `classes` and `rng`.
    """
    require_assess_options(options)
    mlflow = _mlflow()
    from mlflow.metrics import MetricValue

    # MLflow passes arguments by these names.
    def evaluate(predictions: Any, targets: Any) -> Any:
        result = assess(targets, predictions, **options)
        return MetricValue(aggregate_results=result.flat())

    return mlflow.models.make_metric(eval_fn=evaluate, greater_is_better=False, name=name)


def _tables_of(result: object) -> dict[str, str]:
    """The tables of a result that have rows, as CSV, by name."""
    if not isinstance(result, Tabular):
        return {}
    found = {name: result.to_csv(name) for name in result.tables_of_cells}
    return {name: text for name, text in found.items() if text.strip()}


def _in_parts(metrics: Mapping[str, float]) -> Iterator[dict[str, float]]:
    """The metrics, as many at a time as MLflow takes."""
    left = iter(metrics.items())
    while part := dict(islice(left, MOST_AT_ONCE)):
        yield part


def _mlflow() -> Any:
    """The module mlflow, or a refusal that says how to install it."""
    try:
        import mlflow
        import mlflow.models
    except ImportError:
        raise MissingLibraryError(
            "missing-library",
            "this needs MLflow, which is not installed",
            "pip install 'trueness[mlflow]'",
            library="mlflow",
        ) from None
    return mlflow
