"""The same rows as several models saw them, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from trueness.bins import Edges, EqualMass
from trueness.files._batches import Batch
from trueness.files._errors import InputError
from trueness.files._exact import exact_edges
from trueness.files._screen import bad_rows, refusal
from trueness.files._source import Placed, Position, Source
from trueness.variation import CONFIDENCE, as_variation


def paired(sources: Mapping[str, Source]) -> Iterator[tuple[Position, dict[str, Batch]]]:
    """Batches of equal length, one of each source, whose labels are the same; a position is that of the first."""
    streams = {name: _Stream(source) for name, source in sources.items()}
    lead, *others = streams
    while True:
        lengths = {name: stream.available() for name, stream in streams.items()}
        ended = [name for name, length in lengths.items() if length == 0]
        if len(ended) == len(lengths):
            return
        if ended:
            longer = next(name for name, length in lengths.items() if length)
            raise InputError(
                f"{ended[0]} has fewer rows than {longer}, which has more than {streams[ended[0]].done}",
                "compare predictions for the same rows",
            )
        rows = min(lengths.values())
        batches = {name: stream.take(rows) for name, stream in streams.items()}
        for name in others:
            _require_same_labels(batches[lead], batches[name])
        yield streams[lead].position, batches


class _Stream:
    """The batches of a source, handed out in parts."""

    def __init__(self, source: Source) -> None:
        self._batches: Iterator[Placed] = source.batches()
        self._held: Batch | None = None
        self.position, self.done = Position(), 0

    def available(self) -> int:
        """How many rows can be taken; 0 at the end."""
        while self._held is None or len(self._held) == 0:
            placed = next(self._batches, None)
            if placed is None:
                return 0
            self._held, self.position = placed
        return len(self._held)

    def take(self, rows: int) -> Batch:
        """The next rows."""
        assert self._held is not None
        held, self.done = self._held, self.done + rows
        if rows == len(held):
            self._held = None
            return held
        places = np.arange(len(held))
        self._held = held.take(places[rows:])
        return held.take(places[:rows])


def _require_same_labels(first: Batch, other: Batch) -> None:
    unlike = first.y_true != other.y_true
    if not unlike.any():
        return
    row = int(np.argmax(unlike))
    raise InputError(
        f"{first.file}, row {first.numbers[row]} has class {first.y_true[row]}, but {other.file}, row "
        f"{other.numbers[row]} has {other.y_true[row]}",
        "models are compared on the same rows in the same order: sort both files alike",
    )


def refused_of(batches: Sequence[Batch], error: Exception) -> InputError:
    """The refusal of the first of the batches that has a bad row."""
    for batch in batches:
        if bad_rows(batch):
            return refusal(batch, error)
    return refusal(batches[0], error)


def equal_mass_edges(source: Source, variation: str, bins: EqualMass) -> tuple[Edges, Edges]:
    """Exact edges by the measure and by confidence, from a pass over the source."""
    if not source.rereadable:
        raise InputError(
            "bins of equal mass take two passes here, and standard input or a pipe can be read only once",
            "save it as a file, or take --bins",
        )
    measures = [as_variation(variation), CONFIDENCE]
    batches = (replace(placed.batch, weight=None) for placed in source.batches())
    by_measure, by_confidence = exact_edges(batches, measures, source.n_classes, bins)
    return by_measure, by_confidence
