"""Files as one stream of batches: a thread reads the next batch while the previous one is summed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any, Protocol, TypeVar

from trueness.files._bad_rows import without_bad_rows
from trueness.files._separate_labels import LabelledReader, SeparateLabels
from trueness.files.batches import Batch, RowOptions, batch_of
from trueness.files.columns import choose, recheck
from trueness.files.paths import is_read_once
from trueness.files.request import Choice, Request
from trueness.formats import InputFile, Reader, ReadOptions, formats, kind_of, open_reader
from trueness.formats.fields import MAX_CLASSES, Field
from trueness.refusals import InvalidValueError, quote
from trueness.rows.class_columns import Columns

BATCH_VALUES = 2**21
"""Probabilities in a batch, 16 MB: enough to outweigh the fixed cost of a batch, few enough to hold several."""

LONGEST_WAIT = 0.3
"""Seconds for a thread to end: after Ctrl-C the command must not wait for a pipe without a writer."""

Item = TypeVar("Item")


class RowSource(Protocol):
    """What is summed: rows in batches, and what their columns are."""

    @property
    def choice(self) -> Choice:
        """The columns."""

    @property
    def n_classes(self) -> int:
        """The number of classes, or the largest number of options."""

    @property
    def rereadable(self) -> bool:
        """Whether the rows can be read twice."""

    def batches(self) -> Iterator[Batch]:
        """All rows."""


class Source:
    """Rows of several files.

    The columns are chosen in the first file; those of the others are matched to them by name. `choice` and `n_classes`
    are those of `first_file`, if another worker reads it; `first` are the columns of another model, to match by name.
    `n_threads` decode the columns of a file, where its format allows it.
    """

    def __init__(
        self,
        inputs: Sequence[InputFile],
        request: Request,
        options: RowOptions,
        *,
        label_file: str | None = None,
        choice: Choice | None = None,
        n_classes: int | None = None,
        first: Columns | None = None,
        first_file: str | None = None,
        n_threads: int | None = None,
        remarks: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.inputs, self.options = list(inputs), options
        self.request = replace(request, percent=options.scale == "percent")
        self.label_file, self._n_threads, self._remarks = label_file, n_threads, remarks
        self._layouts: set[str] = set()
        self._labels: SeparateLabels | None = None
        self._labels = self._separate_labels()
        self._begun: dict[str, Reader] = {}
        if choice is None:
            with self._reader_of(self.inputs[0]) as reader:
                fields = self._fields(reader, self.inputs[0])
            choice = choose(fields, self.request, self.inputs[0].name, first=first)
        self.choice, self._first_file = choice, first_file or self.inputs[0].name
        self.n_classes = n_classes or self._count_classes()

    def _separate_labels(self) -> SeparateLabels | None:
        """The labels of another file; None if there is none, or if the format of the predictions reads it."""
        if self.label_file is None:
            _refuse_key_alone(self.request)
            return None
        _check_label_file(self.label_file, self.inputs, self.request)
        if self.request.key is None and _are_arrays(self.label_file, self.inputs[0]):
            return None
        labels = SeparateLabels(self.label_file, self.request, self._read_options(self.label_file))
        self.request = replace(self.request, label=labels.name)
        self._remarks(labels.description)
        return labels

    @property
    def rereadable(self) -> bool:
        """Whether the rows can be read again."""
        return not any(input.read_once for input in self.inputs)

    def batches(self) -> Iterator[Batch]:
        """All batches, in order, read ahead on a thread."""
        return read_ahead(self.read())

    def read(self) -> Iterator[Batch]:
        """The same batches, each read when it is asked for."""
        for number, input in enumerate(self.inputs):
            with self._reader_of(input, to_its_end=True) as reader:
                yield from self._batches_in(reader, number)
        if self._labels is not None and self._labels.n_unused:
            self._remarks(f"{self._labels.n_unused} labels of {self._labels.file} have no prediction")

    def _batches_in(self, reader: Reader, number: int) -> Iterator[Batch]:
        input = self.inputs[number]
        recheck(self.choice, self.request, self._fields(reader, input), input.name, self._first_file)
        rows = max(1, BATCH_VALUES // self.n_classes)
        wanted = self.choice.wanted
        for name in (*wanted.numbers, *wanted.labels):
            if name not in reader.fields:
                raise InvalidValueError(
                    "missing-column",
                    f"column {quote(name)} is in the names of folders and not in {input.name}",
                    "labels, probabilities and weights are columns of files; folders give "
                    "groups and conditions",
                )
        inside = wanted._replace(
            texts=tuple(name for name in wanted.texts if name in reader.fields),
            others=tuple(name for name in wanted.others if name in reader.fields),
        )
        first_row, any_row = 1, False
        for chunk in reader.chunks(inside, rows):
            any_row = any_row or chunk.n_rows > 0
            if chunk.n_rows or chunk.unreadable:
                batch = batch_of(
                    chunk,
                    self.choice,
                    self.n_classes,
                    input=input,
                    first_row=first_row,
                    options=self.options,
                    files_before=number,
                )
                yield without_bad_rows(batch) if self.options.tolerant else batch
            first_row += chunk.n_rows
        if not any_row:
            self._remarks(f"{input.name} holds no rows")

    def _fields(self, reader: Reader, input: InputFile) -> Mapping[str, Field]:
        return {**{name: Field("folder") for name in input.partition}, **reader.fields}

    @contextmanager
    def _reader_of(self, input: InputFile, *, to_its_end: bool = False) -> Iterator[Reader]:
        """A reader of the file; the same one again if the file can be read only once."""
        reader = self._begun.pop(input.path, None) or self._open(input)
        if input.read_once and not to_its_end:
            self._begun[input.path] = reader
            yield reader
            return
        try:
            yield reader
        finally:
            reader.close()

    def _open(self, input: InputFile) -> Reader:
        reader = open_reader(input, self._read_options(input.name))
        if self._labels is None:
            return reader
        try:
            return LabelledReader(reader, self._labels, input.name)
        except BaseException:
            reader.close()
            raise

    def _read_options(self, file: str) -> ReadOptions:
        request = self.request
        return ReadOptions(
            self.options.tolerant,
            request.header,
            request.percent,
            self.label_file,
            self._n_threads,
            request.layout,
            partial(self._note_layout, file),
            unlabelled=self._labels is not None,
        )

    def _note_layout(self, file: str, found: str) -> None:
        """Remark on a detected layout, once."""
        if found not in self._layouts:
            self._layouts.add(found)
            self._remarks(f"{file}: {found}")

    def _count_classes(self) -> int:
        known = self.choice.known_classes
        if known is not None:
            return known
        for input in self.inputs:
            name = self.choice.probs[0]
            with self._reader_of(input) as reader:
                field = reader.fields.get(name)
                width = None if field is None else field.width or reader.first_width(name)
            if width is not None:
                self.choice, n_classes = self.choice.with_width(_checked_width(width, name, input.name))
                return n_classes
        raise InvalidValueError("no-rows", "the files hold no rows", "check how they were written")


def _refuse_key_alone(request: Request) -> None:
    if request.key is not None:
        cause = "`key` joins the labels of `label_file`, which is missing"
        remedy = "name the file of the labels"
        raise InvalidValueError("bad-argument", cause, remedy, argument="key")


def _check_label_file(label_file: str, inputs: Sequence[InputFile], request: Request) -> None:
    if len(inputs) != 1 and request.key is None:
        cause = (
            "`label_file` without `key` can only be used with a single file of predictions, "
            f"got {len(inputs)}"
        )
        raise InvalidValueError("bad-argument", cause, "join them by a key", argument="label_file")
    if is_read_once(label_file):
        cause = f"{quote(label_file)} (`label_file`) is not a file"
        remedy = "save the labels as a file"
        raise InvalidValueError("read-once", cause, remedy, argument="label_file")


def _are_arrays(label_file: str, input: InputFile) -> bool:
    """Whether both files have a format that holds one array."""
    kind = kind_of(label_file)
    names = [input.kind.format, None if kind is None else kind.format]
    return all(name is not None and formats()[name].without_labels for name in names)


def _checked_width(width: int, name: str, file: str) -> int:
    if not 1 <= width <= MAX_CLASSES:
        cause = f"column {quote(name)} of {file} has {width} numbers in a row"
        remedy = f"a row has 2 to {MAX_CLASSES} classes, or the probability of class 1"
        raise InvalidValueError("wrong-shape", cause, remedy)
    return width


def read_ahead(items: Iterator[Item], most: int = 1) -> Iterator[Item]:
    """The same items, made on another thread, at most `most` ahead; an error is raised in place of its item."""
    ahead = _Ahead(items, most)
    try:
        yield from ahead.items()
    finally:
        ahead.stop()


class _Ahead:
    """A thread that makes items, and their queue."""

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
        except BaseException as error:  # raised again by the thread that takes the items
            self._put(None, error)

    def _put(self, item: Any, error: BaseException | None) -> None:
        while not self._stopped.is_set():
            with suppress(Full):
                self._waiting.put((item, error), timeout=0.1)
                return

    def items(self) -> Iterator[Any]:
        """The items in order."""
        while True:
            try:
                # With a timeout, because on some systems Ctrl-C does not interrupt an endless wait.
                item, error = self._waiting.get(timeout=0.5)
            except Empty:
                continue
            if error is not None:
                raise error
            if item is None:
                return
            yield item

    def stop(self) -> None:
        """End the thread after its current item; a thread that waits for input is abandoned."""
        self._stopped.set()
        self._thread.join(timeout=LONGEST_WAIT)
