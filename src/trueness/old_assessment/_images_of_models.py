"""Arrays of images as rows of several models: the same pixels of each, and the image of each pixel as its cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from trueness.rows.images import ImageCounts, pixels_of


class RowsOfModels(NamedTuple):
    """What `Comparer` takes: one entry for each row."""

    y_true: Any
    y_probs: Mapping[str, Any]
    sample_weight: Any
    groups: Any
    clusters: Any
    counts: ImageCounts
    """How many images and rows there were, if the predictions are arrays of images."""


def rows_of_models(
    y_true: Any,
    y_probs: Mapping[str, Any],
    *,
    sample_weight: Any = None,
    groups: Any = None,
    clusters: Any = None,
    class_axis: int | None = None,
    ignore_index: int | None = None,
    n_before: int = 0,
    options: bool = False,
) -> RowsOfModels:
    """The rows of arrays of images, and other input as it is; `n_before` images came in earlier batches.

    Rows with `options` of their own are not images.
    """
    pixels = {
        name: None if options else pixels_of(y_true, y_prob, class_axis, ignore_index)
        for name, y_prob in y_probs.items()
    }
    first = next(iter(pixels.values()))
    if first is None:
        named = None if clusters is False else clusters
        return RowsOfModels(y_true, y_probs, sample_weight, groups, named, ImageCounts())
    by_default = clusters is None and first.many_dimensions
    return RowsOfModels(
        first.y_true,
        {name: y_probs[name] if own is None else own.y_prob for name, own in pixels.items()},
        first.spread("sample_weight", sample_weight),
        first.spread("groups", groups),
        first.names_of_clusters(n_before + np.arange(first.n_first) if by_default else clusters),
        first.counts(by_default=by_default),
    )
