"""Files as one stream of batches, read ahead on a thread of its own while the batch before is summed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any, NamedTuple, TypeVar

from trueness.files._batches import Batch, RowOptions, batch_of
from trueness.files._columns import choose, recheck
from trueness.files._errors import InputError, shown
from trueness.files._fields import MAX_CLASSES, Field, Reader, TextOptions
from trueness.files._paths import Input, is_read_once
from trueness.files._request import Choice, Request
from trueness.files._screen import screened
from trueness.rows.class_columns import Columns

BATCH_VALUES = 2**21
"""Probabilities in a batch, 16 MB of them: long enough for what each batch costs, short enough to hold several."""

LONGEST_WAIT = 0.3
"""Seconds for a thread to end: after Ctrl-C the command must not wait for a pipe that nobody writes to."""

Item = TypeVar("Item")


class Position(NamedTuple):
    """How far a run has come: files that are done, and batches that are done of the next one."""

    file: int = 0
    batch: int = 0


BEGINNING = Position()


class Placed(NamedTuple):
    """A batch, and where the run is when it has been summed."""

    batch: Batch
    position: Position


class Source:
    """Rows of several files.

    The columns are chosen in the first file; those of the others are matched to them by name. `choice` and `n_classes`
    are those of `first_file`, if that is read elsewhere; `first` are the columns of another model, to be matched by
    name.
    """

    def __init__(
        self,
        inputs: Sequence[Input],
        request: Request,
        options: RowOptions,
        *,
        label_file: str | None = None,
        choice: Choice | None = None,
        n_classes: int | None = None,
        first: Columns | None = None,
        first_file: str | None = None,
        remarks: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.inputs, self.options = list(inputs), options
        self.request = replace(request, percent=options.scale == "percent")
        self.label_file, self._remarks = label_file, remarks
        if label_file is not None and (len(self.inputs) != 1 or self.inputs[0].kind.format != "npy"):
            raise InputError("--label-file goes with a single NPY file", "other formats hold their labels")
        if label_file is not None and is_read_once(label_file):
            raise InputError(f"{shown(label_file)} (--label-file) is not a file", "save the labels as a file")
        self._begun: dict[str, Reader] = {}
        if choice is None:
            with self._opened(self.inputs[0]) as reader:
                fields = self._fields(reader, self.inputs[0])
            choice = choose(fields, self.request, self.inputs[0].name, first=first)
        self.choice, self._first_file = choice, first_file or self.inputs[0].name
        self.n_classes = n_classes or self._count_classes()

    @property
    def rereadable(self) -> bool:
        """Whether the rows can be read a second time."""
        return not any(input.read_once for input in self.inputs)

    def batches(self, start: Position = BEGINNING) -> Iterator[Placed]:
        """All batches from a position on, in order, read ahead."""
        return read_ahead(self._batches(start))

    def _batches(self, start: Position) -> Iterator[Placed]:
        for number in range(start.file, len(self.inputs)):
            yield from self._batches_of(number, start.batch if number == start.file else 0)

    def _batches_of(self, number: int, done: int) -> Iterator[Placed]:
        """The batches of a file after those that are done; the last position is the next file's beginning."""
        with self._opened(self.inputs[number], to_its_end=True) as reader:
            yield from self._batches_in(reader, number, done)

    def _batches_in(self, reader: Reader, number: int, done: int) -> Iterator[Placed]:
        input = self.inputs[number]
        recheck(self.choice, self.request, self._fields(reader, input), input.name, self._first_file)
        rows = max(1, BATCH_VALUES // self.n_classes)
        wanted = self.choice.wanted
        for name in (*wanted.numbers, wanted.label):
            if name not in reader.fields:
                raise InputError(
                    f"column {shown(name)} is in the names of folders and not in {input.name}",
                    "labels, probabilities and weights are columns of files; folders give groups and conditions",
                )
        inside = wanted._replace(
            texts=tuple(name for name in wanted.texts if name in reader.fields),
            others=tuple(name for name in wanted.others if name in reader.fields),
        )
        first_row, any_row = 1, False
        for index, chunk in enumerate(reader.chunks(inside, rows)):
            any_row = any_row or chunk.n_rows > 0
            if index >= done and (chunk.n_rows or chunk.unreadable):
                batch = batch_of(
                    chunk,
                    self.choice,
                    self.n_classes,
                    input=input,
                    first_row=first_row,
                    options=self.options,
                )
                batch = screened(batch) if self.options.tolerant else batch
                yield Placed(batch, Position(number, index + 1))
            first_row += chunk.n_rows
        if not any_row:
            self._remarks(f"{input.name} holds no rows")

    def _fields(self, reader: Reader, input: Input) -> Mapping[str, Field]:
        return {**{name: Field("folder") for name in input.partition}, **reader.fields}

    @contextmanager
    def _opened(self, input: Input, *, to_its_end: bool = False) -> Iterator[Reader]:
        """A reader of the file; the one that has begun to read it if that can be done only once."""
        reader = self._begun.pop(input.path, None) or self._open(input)
        if input.read_once and not to_its_end:
            self._begun[input.path] = reader
            yield reader
            return
        try:
            yield reader
        finally:
            reader.close()

    def _open(self, input: Input) -> Reader:
        request = self.request
        text = TextOptions(self.options.tolerant, header=request.header, percent=request.percent)
        return open_reader(input, self.label_file, text)

    def _count_classes(self) -> int:
        known = self.choice.known_classes
        if known is not None:
            return known
        for input in self.inputs:
            name = self.choice.probs[0]
            with self._opened(input) as reader:
                field = reader.fields.get(name)
                width = None if field is None else field.width or reader.first_width(name)
            if width is not None:
                self.choice, n_classes = self.choice.with_width(_checked_width(width, name, input.name))
                return n_classes
        raise InputError("the files hold no rows", "check how they were written")


def _checked_width(width: int, name: str, file: str) -> int:
    if not 1 <= width <= MAX_CLASSES:
        raise InputError(
            f"column {shown(name)} of {file} has {width} numbers in a row",
            f"a row has 2 to {MAX_CLASSES} classes, or the probability of class 1",
        )
    return width


def open_reader(input: Input, label_file: str | None, text: TextOptions) -> Reader:
    """The reader of a file's format."""
    if input.kind.format in ("npy", "npz"):
        from trueness.files._numpy_files import NumpyReader

        npz = input.kind.format == "npz"
        return NumpyReader.of_npz(input.path) if npz else NumpyReader.of_npy(input.path, label_file)
    if input.kind.format in ("parquet", "arrow"):
        from trueness.files._parquet import ArrowReader, ParquetReader

        return ParquetReader(input.path) if input.kind.format == "parquet" else ArrowReader(input.path)
    from trueness.files._text import open_text

    return open_text(input, text)


def read_ahead(items: Iterator[Item], most: int = 1) -> Iterator[Item]:
    """The same items, made on another thread, at most so many ahead; its error comes where the item would have."""
    ahead = _Ahead(items, most)
    try:
        yield from ahead.taken()
    finally:
        ahead.stop()


class _Ahead:
    """A thread that makes items, and the queue they wait in."""

    def __init__(self, items: Iterator[Any], most: int) -> None:
        self._items, self._stopped = items, Event()
        self._waiting: Queue[tuple[Any, BaseException | None]] = Queue(maxsize=most)
        self._thread = Thread(target=self._make, daemon=True)
        self._thread.start()

    def _make(self) -> None:
        try:
            for item in self._items:
                self._put(item, None)
                if self._stopped.is_set():
                    return
            self._put(None, None)
        except BaseException as error:  # carried over to the thread that asks
            self._put(None, error)

    def _put(self, item: Any, error: BaseException | None) -> None:
        while not self._stopped.is_set():
            with suppress(Full):
                self._waiting.put((item, error), timeout=0.1)
                return

    def taken(self) -> Iterator[Any]:
        """The items as they come."""
        while True:
            try:
                item, error = self._waiting.get(
                    timeout=0.5
                )  # a wait without end would not hear Ctrl-C everywhere
            except Empty:
                continue
            if error is not None:
                raise error
            if item is None:
                return
            yield item

    def stop(self) -> None:
        """End the thread after the item it is at; one that waits for input that does not come is left behind."""
        self._stopped.set()
        self._thread.join(timeout=LONGEST_WAIT)
