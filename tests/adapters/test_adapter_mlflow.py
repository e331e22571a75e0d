"""MLflow's own client reads back what was logged to a store on disk."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueness as tn


def test_without_mlflow_the_refusal_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from trueness.adapters.mlflow import calibration_metric

    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(tn.Refusal, match=r"pip install 'trueness\[mlflow\]'") as refused:
        calibration_metric()
    assert refused.value.code == "missing-library"


def test_other_than_results_are_refused() -> None:
    from trueness.adapters.mlflow import log_assessment

    with pytest.raises(tn.Refusal, match=r"result must be a result of trueness, .* got dict"):
        log_assessment({"vce": 0.1})


def test_a_misspelt_option_is_refused_before_the_model_runs() -> None:
    from trueness.adapters.mlflow import calibration_metric

    with pytest.raises(tn.Refusal, match="unexpected argument 'resample'; did you mean 'resamples'"):
        calibration_metric(resample=99)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One store for all tests: creating the tables of the database takes seconds."""
    return f"sqlite:///{tmp_path_factory.mktemp('mlflow')}/store.db"


@pytest.fixture
def client(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of a store on disk, with an experiment of its own."""
    monkeypatch.chdir(tmp_path)
    import mlflow

    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(database)
    found = mlflow.MlflowClient()
    where = (tmp_path / "artifacts").as_uri()
    mlflow.set_experiment(experiment_id=found.create_experiment(tmp_path.name, artifact_location=where))
    yield found
    while mlflow.active_run():
        mlflow.end_run()
    mlflow.set_tracking_uri(before)


def simulated(n_classes: int = 3) -> tuple[Any, Any]:
    y_true, y_prob = tn.simulate.calibrated(600, np.ones(n_classes), rng=2)
    return y_true, tn.simulate.sharpen(y_prob, 1.5)


def logged(client: Any, run: Any) -> dict[str, float]:
    metrics: dict[str, float] = client.get_run(run.info.run_id).data.metrics
    return metrics


def artifacts(client: Any, run: Any, folder: str) -> list[str]:
    return [Path(item.path).name for item in client.list_artifacts(run.info.run_id, folder)]


def read(client: Any, run: Any, path: str) -> str:
    return Path(client.download_artifacts(run.info.run_id, path)).read_text(encoding="utf-8")


@pytest.mark.mlflow
def test_metrics_tables_and_report_are_read_back(client: Any) -> None:
    import mlflow

    from trueness.adapters.mlflow import log_assessment

    y_true, y_prob = simulated()
    result = tn.assess(y_true, y_prob, groups=np.array(["St. Mary", "a/b"])[y_true % 2], resamples=99)
    with mlflow.start_run() as run:
        log_assessment(result)
    assert logged(client, run) == result.flat()
    assert logged(client, run)["vce_high"] == result.vce.interval.high
    names = artifacts(client, run, "calibration")
    assert sorted(names) == ["bins.csv", "groups.csv", "metrics.csv", "report.html", "result.json"]
    assert json.loads(read(client, run, "calibration/result.json")) == result.to_dict()
    for of in ("metrics", "bins", "groups"):
        assert read(client, run, f"calibration/{of}.csv") == result.to_csv(of)
    from trueness.report import tables_in

    page = client.download_artifacts(run.info.run_id, "calibration/report.html")
    assert tables_in(page)[0] == result.table


@pytest.mark.mlflow
def test_steps_prefix_and_another_run(client: Any) -> None:
    import mlflow

    from trueness.adapters.mlflow import log_assessment

    y_true, y_prob = simulated()
    with mlflow.start_run() as run:
        pass
    for epoch, temperature in enumerate((2.0, 1.0)):
        result = tn.assess(y_true, tn.simulate.sharpen(y_prob, temperature), resamples=99)
        log_assessment(result, prefix="validation/", step=epoch, run_id=run.info.run_id, report=False)
    history = client.get_metric_history(run.info.run_id, "validation/vce")
    assert [entry.step for entry in history] == [0, 1]
    assert history[1].value == result.vce.value < history[0].value
    assert logged(client, run) == result.flat("validation/")
    assert sorted(artifacts(client, run, "calibration")) == ["step-0", "step-1"]
    assert sorted(artifacts(client, run, "calibration/step-1")) == ["bins.csv", "metrics.csv", "result.json"]


@pytest.mark.mlflow
@pytest.mark.parametrize("kind", ["event", "events", "comparison", "votes"])
def test_every_kind_of_result(client: Any, kind: str) -> None:
    import mlflow

    from trueness.adapters.mlflow import log_assessment

    y, p = simulated(2)
    result: Any = {
        "event": lambda: tn.assess_event(y, p[:, 1], resamples=99),
        "events": lambda: tn.assess_event(np.eye(2, dtype=int)[y], p, multilabel=True, resamples=99),
        "comparison": lambda: tn.compare(y, {"a": p, "b": p[:, ::-1]}, resamples=99),
        "votes": lambda: tn.assess_votes(y, np.round(8 * p).astype(int) + 1, resamples=99),
    }[kind]()
    with mlflow.start_run() as run:
        log_assessment(result)
    assert logged(client, run) == result.flat()
    assert json.loads(read(client, run, "calibration/result.json")) == result.to_dict()
    assert ("report.html" in artifacts(client, run, "calibration")) == hasattr(result, "write_html")


@pytest.mark.mlflow
def test_more_metrics_than_one_call_takes(client: Any) -> None:
    import mlflow

    from trueness.adapters.mlflow import MOST_AT_ONCE, log_assessment

    y_true, y_prob = simulated()
    result = tn.assess(y_true, y_prob, groups=np.arange(600) % 15, min_group_size=20, resamples=39)
    assert len(result.flat()) > MOST_AT_ONCE
    with mlflow.start_run() as run:
        log_assessment(result, report=False)
    assert logged(client, run) == result.flat()


@pytest.mark.mlflow
def test_a_store_of_files(tmp_path: Path, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The older store keeps each metric as a file, so that no name may be a folder of another."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    import mlflow

    from trueness.adapters.mlflow import log_assessment

    y_true, y_prob = simulated()
    result = tn.assess(y_true, y_prob, groups=y_true % 2, resamples=39)
    other = mlflow.MlflowClient(tracking_uri=(tmp_path / "files").as_uri())
    mlflow.set_tracking_uri((tmp_path / "files").as_uri())
    mlflow.set_experiment("files")
    with mlflow.start_run() as run:
        log_assessment(result, report=False)
    assert logged(other, run) == result.flat()


@pytest.mark.mlflow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_metric_of_evaluate(client: Any, n_classes: int) -> None:
    import mlflow
    import pandas as pd

    from trueness.adapters.mlflow import calibration_metric

    y_true, y_prob = simulated(n_classes)
    given = list(y_prob) if n_classes > 2 else y_prob[:, 1]
    rows = pd.DataFrame({"y": y_true, "p": given})
    with mlflow.start_run() as run:
        found = mlflow.models.evaluate(
            data=rows, targets="y", predictions="p", extra_metrics=[calibration_metric(resamples=99)]
        )
    expected = tn.assess(y_true, y_prob if n_classes > 2 else y_prob[:, 1], resamples=99).flat("calibration/")
    assert found.metrics == expected
    assert logged(client, run) == expected
