"""Arrays of images and sequences: the same tables as the rows one by one, from any layout and from a memory map."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.refusals import InvalidTypeError, InvalidValueError
from trueness.rows.images import PixelArray, pixels_of

N, C, H, W = 7, 4, 9, 5
Y_TRUE, Y_PROB = tn.simulate.calibrated(N * H * W, [1.0] * C, rng=0)
LABELS = Y_TRUE.reshape(N, H, W)
LAST = Y_PROB.reshape(N, H, W, C)
FIRST = np.ascontiguousarray(np.moveaxis(LAST, -1, 1))
IMAGE = np.repeat(np.arange(N), H * W)
HOW: dict[str, Any] = {"resamples": 39, "rng": 0}


def codes(result: tn.Assessment) -> set[str]:
    return {caution.code for caution in result.warnings}


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_any_axis(axis: int) -> None:
    moved = np.moveaxis(LAST, -1, axis)
    for array in (moved, np.ascontiguousarray(moved), moved.astype(np.float32)):
        flat = LAST.astype(array.dtype).reshape(-1, C)
        assert tn.tabulate(LABELS, array, class_axis=axis) == tn.tabulate(Y_TRUE, flat)


def test_blocks_of_a_pixel_array() -> None:
    pixels, flat = PixelArray(FIRST, 1), LAST.reshape(-1, C)
    for rows in (slice(0, 10), slice(40, 100), slice(44, 46), slice(0, None), slice(5, 5)):
        assert np.array_equal(pixels[rows], flat[rows])
    some = np.array([3, 200, 7])
    assert np.array_equal(pixels[some], flat[some])
    kept = PixelArray(FIRST, 1, np.arange(0, 300, 3))
    assert kept.shape == (100, C)
    assert np.array_equal(kept[slice(20, 60)], flat[::3][20:60])


def test_rows_of_an_image_are_one_cluster() -> None:
    expected = tn.assess(Y_TRUE, Y_PROB, clusters=IMAGE, **HOW)
    for array, axis in ((FIRST, 1), (LAST, -1), (LAST, None), (FIRST, None)):
        result = tn.assess(LABELS, array, class_axis=axis, **HOW)
        assert result.tables == expected.tables
        assert result.p_value == expected.p_value
        assert codes(result) - codes(expected) == {"clusters-by-first-index"}
        assert "7 clusters of 45 rows" in str(result)


def test_clusters_may_be_said_otherwise() -> None:
    independent = tn.assess(LABELS, FIRST, clusters=False, **HOW)
    assert independent == tn.assess(Y_TRUE, Y_PROB, **HOW)
    patient = np.array(["a", "b", "c", "d", "e", "a", "b"])
    by_patient = tn.assess(LABELS, FIRST, clusters=patient, **HOW)
    assert by_patient.tables == tn.assess(Y_TRUE, Y_PROB, clusters=patient[IMAGE], **HOW).tables
    assert "clusters-by-first-index" not in codes(by_patient)
    by_pixel = np.arange(N * H * W).reshape(N, H, W) // 9
    assert tn.assess(LABELS, FIRST, clusters=by_pixel, **HOW).n_clusters == 35


def test_ignored_labels() -> None:
    labels, kept = LABELS.copy(), np.ones(LABELS.shape, bool)
    labels[:, ::2], kept[:, ::2] = 255, False
    labels[3], kept[3] = 255, False  # an image without any row
    result = tn.assess(labels, FIRST, ignore_index=255, **HOW)
    rows = kept.ravel()
    assert result.tables == tn.assess(Y_TRUE[rows], Y_PROB[rows], clusters=IMAGE[rows], **HOW).tables
    assert result.n_clusters == 6
    assert "ignored-rows" in codes(result)
    flat = tn.tabulate(labels.ravel(), Y_PROB, ignore_index=255)
    assert flat == tn.tabulate(labels, FIRST, ignore_index=255) == result.table


def test_groups_and_weights_by_image_or_by_pixel() -> None:
    site = np.array(["n", "s", "n", "s", "n", "s", "n"])
    by_image = tn.assess(LABELS, FIRST, groups=site, min_group_size=10, clusters=False, **HOW)
    assert by_image == tn.assess(Y_TRUE, Y_PROB, groups=site[IMAGE], min_group_size=10, **HOW)
    weight = np.random.default_rng(0).random(LABELS.shape)
    weighted = tn.tabulate(LABELS, FIRST, sample_weight=weight)
    assert weighted == tn.tabulate(Y_TRUE, Y_PROB, sample_weight=weight.ravel())
    assert tn.tabulate(LABELS, FIRST, sample_weight=np.arange(1, 8)) == tn.tabulate(
        Y_TRUE, Y_PROB, sample_weight=(np.arange(7) + 1)[IMAGE]
    )


def test_a_memory_map(tmp_path: Path) -> None:
    np.save(tmp_path / "images.npy", FIRST)
    mapped = np.load(tmp_path / "images.npy", mmap_mode="r")
    for bins in (10, tn.EqualMass(5)):
        assert (
            tn.assess(LABELS, mapped, bins=bins, **HOW).tables
            == tn.assess(LABELS, FIRST, bins=bins, **HOW).tables
        )


def test_the_probability_of_class_1_and_logits() -> None:
    y_true, y_prob = tn.simulate.calibrated(N * H * W, [1.0, 1.0], rng=1)
    two = tn.tabulate(y_true.reshape(N, H, W), y_prob[:, 1].reshape(N, H, W))
    assert two == tn.tabulate(y_true, y_prob[:, 1])
    logits = tn.tabulate(LABELS, np.log(FIRST), class_axis=1, from_logits=True)
    assert logits == tn.tabulate(Y_TRUE, np.log(Y_PROB), from_logits=True)


@pytest.mark.parametrize(
    ("labels", "array", "axis", "cause"),
    [
        (LABELS, FIRST, 2, "`y_true` has shape"),
        (LABELS[:, :, :-1], FIRST, None, "no axis"),
        (np.zeros((4, 4, 4), int), np.zeros((4, 4, 4, 4)), None, "more than one axis"),
        (LABELS, FIRST, 4, "class_axis"),
    ],
)
def test_refused_shapes(labels: Any, array: Any, axis: Any, cause: str) -> None:
    with pytest.raises(InvalidValueError, match=cause):
        tn.assess(labels, array, class_axis=axis)


def test_refused_options() -> None:
    import pandas as pd

    with pytest.raises(InvalidTypeError, match="data frame"):
        tn.assess(Y_TRUE, pd.DataFrame(Y_PROB), ignore_index=3)
    with pytest.raises(InvalidValueError, match="7 images"):
        tn.assess(LABELS, FIRST, sample_weight=np.ones(3))
    with pytest.raises(InvalidValueError, match=r"`ignore_index` must be an integer, got 1\.5"):
        tn.assess(LABELS, FIRST, ignore_index=1.5)  # type: ignore[arg-type]
    assert pixels_of(Y_TRUE, Y_PROB, None, None) is None


def test_a_bad_pixel_is_named_by_its_row() -> None:
    bad = FIRST.copy()
    bad[2, :, 3, 1] = 0.5
    with pytest.raises(InvalidValueError, match=str(2 * H * W + 3 * W + 1)):
        tn.assess(LABELS, bad, **HOW)


@pytest.mark.parametrize("label", [255, -1, -100])
def test_a_label_that_is_usually_ignored(label: int) -> None:
    """Its refusal names `ignore_index`, unless that was given or does not apply."""
    labels = LABELS.copy()
    labels[1, 2, 3] = label
    hint = f"class indices run from 0 to 3; .* assess, compare or tabulate with `ignore_index={label}`$"
    calls: list[Callable[..., Any]] = [
        lambda **how: tn.assess(labels, FIRST, **HOW, **how),
        lambda **how: tn.compare(labels, {"a": FIRST, "b": FIRST}, **HOW, **how),
        lambda **how: tn.tabulate(labels, FIRST, **how),
        lambda **how: tn.tabulate(labels.ravel(), Y_PROB, **how),
        lambda **how: tn.tabulate(labels.ravel().astype(float), Y_PROB, **how),
    ]
    for call in calls:
        with pytest.raises(InvalidValueError, match=hint):
            call()
        with pytest.raises(InvalidValueError, match=r"class indices run from 0 to 3$"):
            call(ignore_index=7)
        call(ignore_index=label)


def test_all_rows_are_ignored() -> None:
    labels = np.full(LABELS.shape, 255)
    comparer = tn.Comparer(C, models=["a", "b"], ignore_index=255, **HOW)
    calls: list[Callable[[], Any]] = [
        lambda: tn.assess(labels, FIRST, ignore_index=255, **HOW),
        lambda: tn.compare(labels, {"a": FIRST, "b": FIRST}, ignore_index=255, **HOW),
        lambda: comparer.update(labels, {"a": FIRST, "b": FIRST}),
        lambda: tn.tabulate(labels.ravel(), Y_PROB, ignore_index=255),
        lambda: tn.tabulate(labels, FIRST[:, 0], ignore_index=255),
    ]
    for call in calls:
        with pytest.raises(
            InvalidValueError, match=r"^all 315 rows have the label of `ignore_index`;"
        ) as refused:
            call()
        assert refused.value.code == "no-rows"
    with pytest.raises(InvalidValueError, match=r"^the only row has the label of `ignore_index`;"):
        tn.tabulate([255], [[0.5, 0.5]], ignore_index=255)
    with pytest.raises(InvalidValueError, match=r"^`y_prob` has no rows$"):
        tn.tabulate(np.zeros((0, H, W), int), FIRST[:0], class_axis=1, ignore_index=255)


def test_a_data_frame_has_no_ignored_label() -> None:
    import pandas as pd

    with pytest.raises(InvalidValueError, match=r"class indices run from 0 to 3$"):
        tn.tabulate([255, *Y_TRUE[1:]], pd.DataFrame(Y_PROB))


def test_a_comparer_takes_images_in_batches() -> None:
    """Images of further batches are further clusters; the result is that of all images at once."""
    labels = LABELS.copy()
    labels[:, ::3] = 255
    sharp = np.ascontiguousarray(np.moveaxis(tn.simulate.sharpen(Y_PROB, 1.5).reshape(LAST.shape), -1, 1))
    axes: dict[str, Any] = {"class_axis": 1, "ignore_index": 255}
    whole = tn.compare(labels, {"plain": FIRST, "sharp": sharp}, **axes, **HOW)
    comparer = tn.Comparer(C, models=["plain", "sharp"], **axes, **HOW)
    for part in (slice(0, 2), slice(2, 3), slice(3, None)):
        comparer.update(labels[part], {"plain": FIRST[part], "sharp": sharp[part]})
    found = comparer.result()
    assert found.to_dict() == whole.to_dict()
    messages = [caution.message for caution in found.assessments["plain"].warnings]
    assert any("7 clusters of 45 rows" in message for message in messages)
    assert any("105 rows with the label ignore_index" in message for message in messages)
    kept = (labels != 255).ravel()
    rows = {"plain": Y_PROB[kept], "sharp": tn.simulate.sharpen(Y_PROB, 1.5)[kept]}
    expected = tn.compare(Y_TRUE[kept], rows, clusters=IMAGE[kept], **HOW)
    assert found.pairs[0].contrasts == expected.pairs[0].contrasts
