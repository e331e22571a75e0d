"""`compare` on Dask: the result of one process, whatever the partitions, from frames and from files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from partitioned import GROUP, MODELS, N_ROWS, WEIGHT, both_models, collection, one_process_comparison, whole

import trueness as tn
from trueness.adapters import dask as adapter

pytestmark = pytest.mark.dask


def compare(data: Any, probs: Any = MODELS, **options: Any) -> dict[str, Any]:
    return adapter.compare(data, "y", probs, resamples=99, rng=5, **options).to_dict()


@pytest.mark.parametrize("npartitions", [1, 3, 11])
def test_any_partitioning_gives_the_comparison_of_one_process(npartitions: int) -> None:
    assert compare(collection(npartitions, both_models())) == one_process_comparison()


def test_on_workers_and_by_groups(client: Any) -> None:
    rows = collection(4, both_models())
    assert compare(rows, client=client, groups="g") == one_process_comparison(groups=GROUP)


def test_clusters_in_any_order_of_rows() -> None:
    who = np.array([f"patient {k}" for k in np.arange(N_ROWS) % 90])
    mixed = both_models(who=who).sample(frac=1.0, random_state=3)
    assert compare(collection(5, mixed), clusters="who") == one_process_comparison(clusters=who)


def test_every_row_a_cluster_of_its_own_needs_no_order() -> None:
    """A column that identifies each row stands for its position: the order of rows does not matter then."""
    key = np.arange(N_ROWS)
    mixed = both_models(key=key).sample(frac=1.0, random_state=3)
    assert compare(collection(5, mixed), clusters="key") == one_process_comparison(clusters=key)


def test_files_with_the_columns_of_both_models(model_shards: Path) -> None:
    assert compare(str(model_shards / "both-*.parquet")) == one_process_comparison()


def test_files_of_each_model(model_shards: Path) -> None:
    files = {"plain": str(model_shards / "plain-*.csv"), "sharp": [str(model_shards / "sharp-*.parquet")]}
    who = np.arange(N_ROWS) % 90
    assert compare(files, clusters="who") == one_process_comparison(clusters=who)
    assert compare(files, groups="g") == one_process_comparison(groups=GROUP)


def test_options_of_tables() -> None:
    rows = collection(3, both_models())
    options: dict[str, Any] = {"bins": 7, "confidence_bins": 5, "ties": "split", "variation": "margin"}
    assert compare(rows, **options) == one_process_comparison(**options)
    edges = {name: (tn.EqualWidth(4).resolve(0, 1),) * 2 for name in MODELS}
    assert compare(rows, bins=edges) == one_process_comparison(bins=4, confidence_bins=edges["plain"][1])
    weighted = adapter.compare(rows, "y", MODELS, sample_weight="w", resamples=99, rng=5)
    want = one_process_comparison(sample_weight=WEIGHT)
    assert weighted.pairs[0].vce.difference == pytest.approx(want["pairs"][0]["vce"]["difference"])


class TestRefusals:
    def test_a_bad_row(self) -> None:
        spoiled = both_models()
        spoiled.loc[1234, "s_3"] = 7.0
        with pytest.raises(ValueError, match=r"partition 1, row \d+: .*7"):
            compare(collection(3, spoiled))

    def test_one_model(self) -> None:
        with pytest.raises(TypeError, match="two or more models"):
            compare(collection(2, both_models()), {"plain": "p_*"})
        with pytest.raises(TypeError, match="two or more models"):
            compare(collection(2, both_models()), "p_*")

    def test_other_classes(self) -> None:
        with pytest.raises(ValueError, match="different numbers of classes: plain 11, sharp 2"):
            compare(collection(2, both_models()), {"plain": "p_*", "sharp": "s_0"})

    def test_bins_that_depend_on_all_rows(self) -> None:
        with pytest.raises(ValueError, match="EqualMass"):
            compare(collection(2, both_models()), bins=tn.EqualMass(5))

    def test_an_option_of_tabulate(self) -> None:
        with pytest.raises(TypeError, match="exact"):
            compare(collection(2, both_models()), exact=True)

    def test_data_in_memory(self) -> None:
        with pytest.raises(TypeError, match=r"trueness\.compare"):
            compare(whole())

    def test_files_that_do_not_match(self, model_shards: Path) -> None:
        files = {"plain": str(model_shards / "plain-*.csv"), "sharp": str(model_shards / "sharp-a.parquet")}
        with pytest.raises(ValueError, match="3, 1 files"):
            compare(files)
        other = {"plain": str(model_shards / "plain-a.csv"), "sharp": str(model_shards / "sharp-b.parquet")}
        with pytest.raises(ValueError, match="row"):
            compare(other)

    def test_no_rows(self) -> None:
        with pytest.raises(ValueError, match="no rows"):
            compare(collection(1, both_models()[:0]))
