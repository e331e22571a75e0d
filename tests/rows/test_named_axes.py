"""Arrays of xarray: dimensions are matched by name, whatever their order; the oracle is the plain array."""

from typing import Any

import numpy as np
import pytest

import trueness as tn

pytestmark = pytest.mark.xarray

DIMS = ("image", "class", "y", "x")


def arrays() -> tuple[Any, Any]:
    """Labels (12, 4, 5) and predictions (12, 3, 4, 5)."""
    labels, flat = tn.simulate.calibrated(240, [2, 1, 1], rng=4)
    return labels.reshape(12, 4, 5), np.moveaxis(flat.reshape(12, 4, 5, 3), -1, 1)


def named() -> tuple[Any, Any]:
    import xarray as xr

    labels, probs = arrays()
    coords = {"image": [f"case {k}" for k in range(12)], "x": np.arange(5) / 2}
    return xr.DataArray(labels, dims=("image", "y", "x"), coords=coords), xr.DataArray(
        probs, dims=DIMS, coords=coords
    )


ORDERS = [DIMS, ("class", "image", "y", "x"), ("x", "y", "class", "image"), ("image", "y", "x", "class")]


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
@pytest.mark.parametrize("class_axis", ["class", None])
def test_the_order_of_dimensions_does_not_matter(order: tuple[str, ...], class_axis: str | None) -> None:
    y_true, y_prob = named()
    expected = tn.tabulate(*arrays(), class_axis=1)
    assert tn.tabulate(y_true, y_prob.transpose(*order), class_axis=class_axis) == expected
    assert tn.tabulate(y_true.transpose("x", "image", "y"), y_prob.transpose(*order)) == expected


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_a_dimension_as_clusters(order: tuple[str, ...]) -> None:
    y_true, y_prob = named()
    names = [f"case {k}" for k in range(12)]
    expected = tn.assess(*arrays(), class_axis=1, clusters=names, resamples=99)
    assert expected.n_clusters == 12
    found = tn.assess(y_true, y_prob.transpose(*order), class_axis="class", clusters="image", resamples=99)
    assert found == expected


def test_clusters_weights_and_groups_by_dimension() -> None:
    import xarray as xr

    (labels, probs), (y_true, y_prob) = arrays(), named()
    columns = np.broadcast_to(np.arange(5), labels.shape)
    how: dict[str, Any] = {"class_axis": 1, "resamples": 99}
    expected = tn.assess(labels, probs, clusters=columns, groups=columns % 2, min_group_size=20, **how)
    how["class_axis"] = "class"
    groups = xr.DataArray(np.arange(5) % 2, dims="x", coords={"x": np.arange(5) / 2})
    plain = y_prob.drop_vars("x")
    found = tn.assess(y_true, plain, clusters="x", groups=groups, min_group_size=20, **how)
    assert found == expected
    weight = xr.DataArray(np.arange(20.0).reshape(5, 4) + 1, dims=("x", "y"))
    spread = np.broadcast_to(np.asarray(weight).T, labels.shape)
    assert tn.tabulate(y_true, y_prob, sample_weight=weight).isclose(
        tn.tabulate(labels, probs, class_axis=1, sample_weight=spread)
    )


def test_labels_without_names_and_ignored_labels() -> None:
    (labels, probs), (_, y_prob) = arrays(), named()
    expected = tn.tabulate(labels, probs, class_axis=1, ignore_index=2)
    assert tn.tabulate(labels, y_prob, class_axis="class", ignore_index=2) == expected
    assert tn.tabulate(labels, y_prob, class_axis=1, ignore_index=2) == expected


def test_rows_and_classes() -> None:
    import xarray as xr

    labels, probs = tn.simulate.calibrated(50, [1, 1, 1], rng=0)
    y_true, y_prob = xr.DataArray(labels, dims="row"), xr.DataArray(probs, dims=("row", "class"))
    expected = tn.tabulate(labels, probs)
    for given in (y_prob, y_prob.T):
        assert tn.tabulate(y_true, given, class_axis="class") == expected
        assert tn.tabulate(y_true, given) == expected
    assert tn.tabulate(labels, y_prob) == expected
    binary = y_prob.isel({"class": 1})
    assert tn.tabulate(labels == 1, binary) == tn.tabulate(labels == 1, probs[:, 1])


def test_comparisons_match_by_name() -> None:
    (labels, probs), (y_true, y_prob) = arrays(), named()
    models = {"a": probs, "b": probs[:, ::-1]}
    expected = tn.compare(labels, models, class_axis=1, resamples=99)
    both = {"a": y_prob, "b": y_prob.isel({"class": [2, 1, 0]}).transpose(*ORDERS[2])}
    assert tn.compare(y_true, both, class_axis="class", resamples=99).to_dict() == expected.to_dict()
    with pytest.raises(tn.Refusal, match="the dimensions of the models are in different orders"):
        tn.compare(np.zeros((2, 2, 2), int), _two_orders(), class_axis="class", resamples=99)


def _two_orders() -> dict[str, Any]:
    _, y_prob = named()
    small = y_prob.isel(image=slice(2), y=slice(2), x=slice(2))
    return {"a": small, "b": small.transpose("x", "class", "y", "image")}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"class_axis": "channel"}, "unknown-name"),
        ({"clusters": "patient"}, "unknown-name"),
        ({"other": True}, "different-indexes"),
        ({"groups": "other"}, "unknown-name"),
    ],
    ids=["axis", "clusters", "coordinates", "groups"],
)
def test_what_does_not_match_is_refused(change: dict[str, Any], code: str) -> None:
    import xarray as xr

    y_true, y_prob = named()
    if change.pop("other", False):
        y_true = y_true.assign_coords(image=[f"case {k}" for k in range(11, -1, -1)])
    if "groups" in change:
        change["groups"] = xr.DataArray(np.zeros(7), dims="time")
    with pytest.raises(tn.Refusal) as refused:
        tn.assess(y_true, y_prob, resamples=99, **{"class_axis": "class", **change})
    assert refused.value.code == code
    with pytest.raises(tn.Refusal, match="have no names") as refused:
        tn.tabulate(*arrays(), class_axis="class")
    assert refused.value.argument == "class_axis"


@pytest.mark.parametrize("wrong", [4, -5, 1.5, True])
def test_another_axis_than_there_is_is_refused_as_of_plain_arrays(wrong: Any) -> None:
    for y_true, y_prob in (arrays(), named()):
        with pytest.raises(tn.Refusal, match="class_axis must be") as refused:
            tn.tabulate(y_true, y_prob, class_axis=wrong)
        assert refused.value.argument == "class_axis"


def test_one_hot_labels_in_another_order_are_refused() -> None:
    import xarray as xr

    y_prob = xr.DataArray(np.eye(3), dims=("row", "class"))
    with pytest.raises(tn.Refusal, match="transpose one of them"):
        tn.tabulate(y_prob.T, y_prob)
    assert tn.tabulate(y_prob, y_prob).n_rows == 3
