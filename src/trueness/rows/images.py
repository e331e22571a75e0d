"""Arrays of more than two dimensions, such as images (N, C, H, W) and sequences (B, T, C), as rows.

Nothing is copied as a whole: rows are read block by block, so that a memory map is read in blocks too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._arguments import whole_number
from trueness._arrays import IntArray
from trueness.refusals import InvalidTypeError, InvalidValueError
from trueness.rows.clusters import ClustersOfRows, clusters_of_rows
from trueness.rows.containers import Contents, contents_of
from trueness.rows.groups import names_of


class PixelArray:
    """The classes of an array along one of its axes as columns: what `Rows` reads of an array, (rows, classes)."""

    ndim = 2

    def __init__(self, array: NDArray[Any], axis: int, kept: IntArray | None = None) -> None:
        shape = array.shape
        self.blocks = array.reshape(math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :]))
        """(what comes before the axis of the classes, classes, what comes after it)."""
        self.kept = kept
        self.dtype, self.itemsize = array.dtype, array.itemsize
        n_first, n_classes, n_last = self.blocks.shape
        self.shape = (n_first * n_last if kept is None else len(kept)), n_classes
        self.strides = n_classes * self.itemsize, self.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | IntArray) -> NDArray[Any]:
        if not isinstance(rows, slice):
            return self.take(rows)
        start, stop, step = rows.indices(len(self))
        if self.kept is not None or step != 1:
            return self.take(np.arange(start, stop, step))
        if self.blocks.shape[2] == 1:  # the classes are the last axis
            return self.blocks[start:stop, :, 0]
        found = np.empty((stop - start, self.shape[1]), self.dtype)
        done, n_last = 0, self.blocks.shape[2]
        while start + done < stop:
            block, first = divmod(start + done, n_last)
            more = min(n_last - first, stop - start - done)
            found[done : done + more] = self.blocks[block, :, first : first + more].T
            done += more
        return found

    def take(self, rows: IntArray, axis: int = 0, **_: Any) -> NDArray[Any]:
        """Some of the rows, (rows, classes)."""
        assert axis == 0
        block, place = np.divmod(rows if self.kept is None else self.kept[rows], self.blocks.shape[2])
        return np.asarray(self.blocks[block, :, place])


class ImageCounts(NamedTuple):
    """How many images there were, with how many rows, and what became of them; counts of batches add."""

    n_images: int = 0
    n_rows: int = 0
    """Also those that were left out."""
    n_ignored: int = 0
    by_default: bool = False
    """Whether rows that share the first index are one cluster because nothing else was said."""

    def plus(self, other: ImageCounts) -> ImageCounts:
        """The counts of both batches together."""
        return ImageCounts(
            self.n_images + other.n_images,
            self.n_rows + other.n_rows,
            self.n_ignored + other.n_ignored,
            self.by_default or other.by_default,
        )


@dataclass(frozen=True, slots=True)
class Pixels:
    """Labels and predictions of such an array as rows, without those that are ignored."""

    y_true: NDArray[Any]
    y_prob: Contents
    n_first: int
    """The length of the first axis."""
    per_first: int
    """Rows that share the first index."""
    kept: IntArray | None
    """The numbers of the rows that are not ignored; None if all are kept."""
    n_ignored: int

    @property
    def many_dimensions(self) -> bool:
        """Whether several rows share the first index."""
        return self.per_first > 1

    def counts(self, *, by_default: bool) -> ImageCounts:
        """How many images and rows there are."""
        return ImageCounts(self.n_first, self.n_first * self.per_first, self.n_ignored, by_default)

    def spread(self, argument: str, values: Any) -> Any:
        """One value for each row, from one for each row or for each first index."""
        if values is None:
            return None
        contents = contents_of(values, argument)
        data = contents.data
        if data is None or data.size not in (self.n_first, self.n_first * self.per_first):
            cause = f"`{argument}` has shape {contents.shape}"
            remedy = (
                f"one value for each row, or for each of the {self.n_first} images (the first "
                "index) is needed"
            )
            raise InvalidValueError("wrong-shape", cause, remedy, argument=argument)
        flat = data.reshape(-1)
        flat = np.repeat(flat, self.per_first) if self.many_dimensions and flat.size == self.n_first else flat
        return flat if self.kept is None else flat[self.kept]

    def names_of_clusters(self, clusters: Any) -> Any:
        """A name for each row, by default the first index; None if rows are independent."""
        if clusters is False or (clusters is None and not self.many_dimensions):
            return None
        return self.spread("clusters", np.arange(self.n_first) if clusters is None else clusters)

    def clusters(self, clusters: Any) -> ClustersOfRows | None:
        """The cluster of each row: by default rows that share the first index; None if rows are independent."""
        if clusters is False or (clusters is None and not self.many_dimensions):
            return None
        names = np.arange(self.n_first) if clusters is None else clusters
        contents = contents_of(names, "clusters")
        if contents.shape[:1] == (self.n_first,) and math.prod(contents.shape) == self.n_first:
            found = clusters_of_rows(names_of("clusters", names, self.n_first), self.n_first)
            codes = np.repeat(found.codes, self.per_first)
            codes = codes if self.kept is None else codes[self.kept]
            present, new = np.unique(codes, return_inverse=True)
            if len(present) == len(found.names):
                return replace_codes(found, codes)
            kept_names = tuple(found.names[k] for k in present.tolist())
            return ClustersOfRows(found.identities[present], kept_names, new)
        return clusters_of_rows(self.spread("clusters", names), len(self.y_true))


def replace_codes(found: ClustersOfRows, codes: IntArray) -> ClustersOfRows:
    """The same clusters of other rows."""
    return found._replace(codes=codes)


def pixels_of(y_true: Any, y_prob: Any, class_axis: Any, ignore_index: Any) -> Pixels | None:
    """An array of more than two dimensions as rows; None for other input, if no option is given.

    Without `class_axis` the axis of the classes is the one without which predictions have the shape of the labels.
    """
    given = contents_of(y_prob, "y_prob")
    if class_axis is None and ignore_index is None and len(given.shape) <= 2:
        return None
    if given.data is None:
        argument = "class_axis" if ignore_index is None else "ignore_index"
        cause = f"`{argument}` applies to arrays, and `y_prob` is a data frame"
        raise InvalidTypeError("wrong-type", cause, "leave it out", argument=argument)
    array, truth = given.data, _labels(y_true)
    axis = _class_axis(class_axis, array.shape, truth.shape)
    rest = array.shape if axis is None else array.shape[:axis] + array.shape[axis + 1 :]
    if truth.shape != rest:
        cause = f"`y_true` has shape {truth.shape}, and `y_prob` without its axis of classes {rest}"
        remedy = "labels must have the shape of the predictions without the axis of the classes"
        raise InvalidValueError("wrong-shape", cause, remedy, argument="y_true")
    labels, kept = truth.reshape(-1), None
    if ignore_index is not None:
        kept = np.flatnonzero(labels != _ignored_label(ignore_index))
        labels = labels[kept]
    data: Any = (
        (array.reshape(-1) if kept is None else array.reshape(-1)[kept])
        if axis is None
        else PixelArray(array, axis, kept)
    )
    n_first = rest[0] if rest else 1
    return Pixels(
        labels,
        replace(given, data=data, n_ignored=None if ignore_index is None else math.prod(rest) - len(labels)),
        n_first,
        math.prod(rest[1:]),
        kept,
        math.prod(rest) - len(labels),
    )


def _ignored_label(ignore_index: Any) -> int:
    if isinstance(ignore_index, bool) or not isinstance(ignore_index, (int, np.integer)):
        cause = f"`ignore_index` must be an integer, got {ignore_index!r}"
        raise InvalidValueError("bad-argument", cause, argument="ignore_index", value=ignore_index)
    return int(ignore_index)


def _labels(y_true: Any) -> NDArray[Any]:
    contents = contents_of(y_true, "y_true")
    if contents.data is None:
        cause = "`y_true` is a data frame, and `y_prob` an array of images"
        raise InvalidTypeError("wrong-type", cause, "pass an array", argument="y_true")
    return contents.data


def _class_axis(class_axis: Any, shape: tuple[int, ...], labels: tuple[int, ...]) -> int | None:
    """The axis of the classes; None if there is none, and y_prob is the probability of class 1 of two."""
    if class_axis is not None:
        axis = whole_number("class_axis", class_axis, -len(shape), len(shape) - 1)
        return axis % len(shape)
    if shape == labels:
        return None
    fitting = [k for k in range(len(shape)) if shape[:k] + shape[k + 1 :] == labels]
    if len(fitting) == 1 or (fitting and len(shape) == 2):
        return fitting[-1]
    problem = (
        "no axis of the first gives the second"
        if not fitting
        else "more than one axis may be that of classes"
    )
    cause = f"`y_prob` has shape {shape} and `y_true` {labels}: {problem}"
    remedy = "pass `class_axis=`, 1 for (images, classes, height, width)"
    raise InvalidValueError("wrong-shape", cause, remedy, argument="class_axis")
