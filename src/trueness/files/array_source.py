"""Rows in memory as a source of batches, so that they are summed, grouped and saved as those of files are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray
from trueness.files.batches import Batch, RowOptions
from trueness.files.request import Choice
from trueness.rows.groups import EncodedNames
from trueness.rows.lists import Lists

BATCH_ROWS = 2**18


@dataclass(frozen=True, slots=True, eq=False)
class ArraySource:
    """Rows with options of their own, in memory."""

    name: str
    """The file in messages."""
    y_true: IntArray
    y_prob: FloatArray
    n_options: IntArray
    by: str | None = None
    """The name of the groups, if there are any."""
    groups: EncodedNames | None = None
    clusters: EncodedNames | None = None

    @property
    def rereadable(self) -> bool:
        """Whether the rows can be read twice: always."""
        return True

    @property
    def choice(self) -> Choice:
        """The columns, as those of a file would be named."""
        return Choice("y_true", ("y_prob",), is_list=True, by=() if self.by is None else (self.by,))

    @property
    def n_classes(self) -> int:
        """The largest number of options."""
        return int(self.n_options.max())

    def batches(self) -> Iterator[Batch]:
        """The rows, a quarter of a million at a time."""
        for first in range(0, len(self.y_true), BATCH_ROWS):
            yield self._batch(np.arange(first, min(len(self.y_true), first + BATCH_ROWS)))

    def _batch(self, which: NDArray[np.intp]) -> Batch:
        return Batch(
            self.name,
            which + 1,
            self.y_true[which],
            Lists(self.y_prob[which], self.n_options[which]),
            groups=_part(self.groups, which),
            clusters=_part(self.clusters, which),
            options=RowOptions(),
            share=float(which[-1] + 1) / len(self.y_true),
        )


def _part(names: EncodedNames | None, which: NDArray[np.intp]) -> EncodedNames | None:
    return None if names is None else names._replace(codes=names.codes[which])
