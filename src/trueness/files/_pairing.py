"""The predictions of several models for the same rows, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from trueness.bins import Edges, EqualMass
from trueness.files._bad_rows import has_bad_rows, no_rows_left, refusal
from trueness.files.batches import Batch
from trueness.files.source import RowSource
from trueness.files.summing import Plan, batch_tables
from trueness.old_table import Tables, empty_table
from trueness.refusals import InvalidValueError, Refusal


def pair_batches(batches: Mapping[str, Iterator[Batch]]) -> Iterator[dict[str, Batch]]:
    """Batches of equal length, one of each model, with the same labels."""
    streams = {name: _Stream(of_model) for name, of_model in batches.items()}
    lead, *others = streams
    while True:
        lengths = {name: stream.available() for name, stream in streams.items()}
        ended = [name for name, length in lengths.items() if length == 0]
        if len(ended) == len(lengths):
            return
        if ended:
            longer = next(name for name, length in lengths.items() if length)
            cause = f"{ended[0]} has fewer rows than {longer}: {streams[ended[0]].done}"
            raise InvalidValueError("wrong-length", cause, "compare predictions for the same rows")
        rows = min(lengths.values())
        taken = {name: stream.take(rows) for name, stream in streams.items()}
        for name in others:
            _require_same_labels(taken[lead], taken[name])
        yield taken


class _Stream:
    """The batches of a model, taken in parts of any length."""

    def __init__(self, batches: Iterator[Batch]) -> None:
        self._batches = batches
        self._held: Batch | None = None
        self.done = 0

    def available(self) -> int:
        """The number of rows that can be taken; 0 at the end."""
        while self._held is None or len(self._held) == 0:
            self._held = next(self._batches, None)
            if self._held is None:
                return 0
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
    raise InvalidValueError(
        "different-labels",
        f"{first.file}, row {int(first.numbers[row])} has class {first.y_true[row]}, but "
        f"{other.file}, row {int(other.numbers[row])} has {other.y_true[row]}",
        "models are compared on the same rows in the same order: sort both files in the same way",
    )


def refusal_of_batches(batches: Sequence[Batch], error: Refusal) -> Refusal:
    """The refusal of the first of the batches that has a bad row."""
    for batch in batches:
        if has_bad_rows(batch):
            return refusal(batch, error)
    return refusal(batches[0], error)


def equal_mass_edges(source: RowSource, variation: str, bins: EqualMass) -> tuple[Edges, Edges]:
    """Edges by the measure and by confidence, from a pass over the source in which rows are summed on a grid."""
    if not source.rereadable:
        cause = "bins of equal mass take two passes here, and standard input or a pipe can be read only once"
        raise InvalidValueError("read-once", cause, "save it as a file, or use `bins`")
    plan = Plan.of(variation, bins, options=source.choice.ragged)
    specs = plan.specs(source.n_classes, weighted=False)
    total = Tables.of([empty_table(spec) for spec in specs])
    skipped = Counter[str]()
    for batch in source.batches():
        skipped += batch.skipped
        rows = replace(batch, weight=None, groups=None, clusters=None)
        total = sum(batch_tables(rows, specs, plan.engine, plan.n_threads).values(), total)
    if total.n_rows == 0:
        raise no_rows_left(skipped, filtered=False)
    made = total.coarsen(bins)
    by_confidence = made.by_confidence
    assert by_confidence is not None
    return made.by_variation.bins, by_confidence.bins
