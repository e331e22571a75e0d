"""The metrics of a table: the list of them, and which tables they refuse."""

import inspect

import pytest

import trueness as tn
from trueness.metrics import TABLE_METRICS
from trueness.refusals import Refusal

Y, P = tn.simulate.calibrated(300, [1.0] * 3, rng=0)


@pytest.mark.parametrize("key", TABLE_METRICS)
class TestEachMetric:
    def test_the_rows_function_gives_the_value_of_its_table(self, key: str) -> None:
        metric = TABLE_METRICS[key]
        table = tn.tabulate(Y, P, variation=metric.variation or "iqv")
        of_rows = getattr(tn, key)
        options = {} if metric.variation else {"variation": "iqv"}
        assert of_rows(Y, P, **options) == metric.read(table)
        for norm in ("l2", "max"):
            assert of_rows(Y, P, norm=norm, **options) == metric.read(table, norm=norm)

    def test_its_options_are_arguments(self, key: str) -> None:
        metric = TABLE_METRICS[key]
        assert {"norm", *metric.options} <= set(inspect.signature(metric.read).parameters)

    def test_a_table_of_another_measure_is_refused(self, key: str) -> None:
        metric, table = TABLE_METRICS[key], tn.tabulate(Y, P, variation="margin")
        if metric.variation is None:
            assert metric.read(table) >= 0
            return
        with pytest.raises(ValueError, match=f"needs a table binned by {metric.variation.name}") as caught:
            metric.read(table)
        assert isinstance(caught.value, Refusal)
        assert caught.value.code == "wrong-measure"
        assert caught.value.value == "margin"

    def test_what_is_not_a_table_is_refused(self, key: str) -> None:
        with pytest.raises(TypeError, match="table must be a CalibrationTable") as caught:
            TABLE_METRICS[key].read([])
        assert caught.value.code == "wrong-type"  # type: ignore[attr-defined]

    def test_min_count_without_max(self, key: str) -> None:
        metric = TABLE_METRICS[key]
        table = tn.tabulate(Y, P, variation=metric.variation or "entropy")
        with pytest.raises(ValueError, match="min_count is for norm='max' only"):
            metric.read(table, min_count=2)
        with pytest.raises(ValueError, match=r"no bin has min_count=1000 rows; the largest bin has \d+ rows"):
            metric.read(table, norm="max", min_count=1000)


def test_calibrated_metrics_vanish_with_unlimited_data() -> None:
    """But for UCE, which the list says."""
    y_true, y_prob = tn.simulate.calibrated(200_000, [1.0] * 3, rng=1)
    values = {
        key: m.read(tn.tabulate(y_true, y_prob, variation=m.variation or "entropy"))
        for key, m in TABLE_METRICS.items()
    }
    assert {key: value < 0.02 for key, value in values.items()} == {
        key: m.is_0_if_calibrated for key, m in TABLE_METRICS.items()
    }
