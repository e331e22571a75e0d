"""Labels in a file of their own, joined to the rows of predictions by their order or by a key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness.files._coding import encode_column, missing_values
from trueness.files._column_search import detect_label, missing_column
from trueness.files.request import Request
from trueness.formats import InputFile, Reader, ReadOptions, endings_text, kind_of, open_reader
from trueness.formats.arrow import pyarrow
from trueness.formats.fields import Chunk, Field, Wanted
from trueness.refusals import InvalidValueError, quote

READ_ROWS = 2**18

_PLAIN = ("text", "integer", "number")

LABEL = "y_true"
"""The name of labels that have none of their own: in NPY files, and in text without a header."""


class SeparateLabels:
    """All labels of a file, held in memory, and the key of each if they are joined by a key."""

    def __init__(self, path: str, request: Request, options: ReadOptions) -> None:
        self.file, self.key = path, request.key
        reader = open_reader(
            _input_of(path), options._replace(tolerant=False, percent=False, unlabelled=True)
        )
        try:
            column = _label_column(reader.fields, request, path)
            self.field = reader.fields[column]
            texts = _plain_columns(reader.fields, column) if self.key is None else (self.key,)
            chunks = list(reader.chunks(Wanted((), column, texts), READ_ROWS))
        finally:
            reader.close()
        self.name = column if request.header and not _is_array(path) else LABEL
        self._labels = _joined([chunk.columns[column] for chunk in chunks])
        self._n_rows = sum(chunk.n_rows for chunk in chunks)
        self._used = np.zeros(self._n_rows, bool)
        self._places: dict[str, int] = {}
        self.identifiers: dict[str, list[str]] = {}
        if self.key is None and request.header:
            columns = {name: _joined([chunk.columns[name] for chunk in chunks]) for name in texts}
            self.identifiers = _identifiers(columns)
        if self.key is not None:
            self._places = self._places_of(_joined([chunk.columns[self.key] for chunk in chunks]), self.key)

    def _places_of(self, keys: Any, key: str) -> dict[str, int]:
        """The row of each key; keys must be different and none may be missing."""
        names, codes = encode_column(keys, key, "key")
        _refuse_missing_keys(keys, key, self.file, 1)
        order = np.argsort(codes, kind="stable")
        repeated = np.flatnonzero(codes[order][1:] == codes[order][:-1])
        if len(repeated):
            row = int(order[repeated + 1].min())
            raise InvalidValueError(
                "duplicate-key",
                f"column {quote(key)} (`key`) has the value {quote(names[codes[row]])} a second time",
                "keys of labels must be different",
                source=self.file,
                row=row + 1,
                argument="key",
                value=names[codes[row]],
            )
        return {names[code]: row for row, code in enumerate(codes.tolist())}

    @property
    def description(self) -> str:
        """Where the labels come from, for the user."""
        how = "in the order of the rows" if self.key is None else f"joined by {self.key!r}"
        return f"labels from column {self.name!r} of {self.file}, {how}"

    @property
    def n_unused(self) -> int:
        """The number of labels that no row has had so far."""
        return int(np.count_nonzero(~self._used))

    def in_order(self, start: int, chunk: Chunk, file: str) -> Any:
        """The labels of consecutive rows."""
        if chunk.unreadable:
            cause = (
                f"{file} has rows that cannot be read, so that the labels of the rows after "
                "them are not known"
            )
            raise InvalidValueError("unreadable-row", cause, "fix them, or join them by a key")
        end = start + chunk.n_rows
        if end > self._n_rows:
            raise self._other_length(file, f"more than {self._n_rows}")
        self._used[start:end] = True
        for name in self.identifiers.keys() & chunk.columns.keys():
            self._require_same_rows(name, chunk.columns[name], start, file)
        return self._labels[start:end]

    def _require_same_rows(self, name: str, column: Any, start: int, file: str) -> None:
        """Refuse rows in another order, as a column shows that both files have and that identifies the labels."""
        names, codes = encode_column(column, name, "key")
        found = [names[code] for code in codes.tolist()]
        if any("." in text for text in found):  # numbers, which may be written in several ways
            return
        expected = self.identifiers[name][start : start + len(found)]
        row = next(
            (row for row, pair in enumerate(zip(found, expected, strict=True)) if len({*pair}) > 1), None
        )
        if row is not None:
            cause = (
                f"column {quote(name)} is {quote(found[row])}, but {quote(expected[row])} in "
                f"{self.file}, so that the labels are in another order"
            )
            remedy = "join them by a key"
            raise InvalidValueError(
                "rows-differ", cause, remedy, source=file, row=start + row + 1, value=found[row]
            )

    def require_end(self, n_rows: int, file: str) -> None:
        """Refuse labels that are left over after the last row."""
        if self.key is None and n_rows != self._n_rows:
            raise self._other_length(file, n_rows)

    def _other_length(self, file: str, found: Any) -> InvalidValueError:
        cause = f"`label_file` {quote(self.file)} has {self._n_rows} labels, but {file} has {found} rows"
        remedy = "each row needs one label, or join them by a key"
        return InvalidValueError("lengths-differ", cause, remedy, argument="label_file")

    def by_key(self, keys: Any, start: int, file: str) -> Any:
        """The labels of rows with these keys; each key must have one."""
        assert self.key is not None
        _refuse_missing_keys(keys, self.key, file, start + 1)
        names, codes = encode_column(keys, self.key, "key")
        of_names = np.array([self._places.get(name, -1) for name in names], np.int64)
        places: NDArray[np.int64] = of_names[codes]
        if (places < 0).any():
            row = int(np.argmax(places < 0))
            raise InvalidValueError(
                "unknown-key",
                f"{quote(names[codes[row]])} is not in column {quote(self.key)} of {self.file}, the labels",
                "each row needs a label",
                source=file,
                row=start + row + 1,
                argument="key",
                value=names[codes[row]],
            )
        self._used[places] = True
        return self._labels[places] if isinstance(self._labels, np.ndarray) else self._labels.take(places)


class LabelledReader:
    """An open file of predictions together with their labels from another file."""

    def __init__(self, reader: Reader, labels: SeparateLabels, name: str) -> None:
        self._reader, self._labels, self._name = reader, labels, name
        if labels.key is not None and labels.key not in reader.fields:
            raise missing_column(labels.key, reader.fields, name, "key")

    @property
    def fields(self) -> Mapping[str, Field]:
        """The columns by name; the label of the other file takes the place of a column with its name."""
        return {**self._reader.fields, self._labels.name: self._labels.field}

    def first_width(self, name: str) -> int | None:
        """The number of values in the first row of a list column."""
        return self._reader.first_width(name)

    def chunks(self, wanted: Wanted, rows: int) -> Iterator[Chunk]:
        """The rows with their labels, about this many at a time."""
        label, start = self._labels.name, 0
        for chunk in self._reader.chunks(self._inside(wanted), rows):
            labels = self._labels_of(chunk, start)
            start += chunk.n_rows
            yield replace(chunk, columns={**chunk.columns, label: labels})
        self._labels.require_end(start, self._name)

    def _inside(self, wanted: Wanted) -> Wanted:
        """The columns to read from the file of predictions: the key, but not the label."""
        key, label = self._labels.key, self._labels.name
        shared = self._labels.identifiers.keys() & self._reader.fields.keys()
        shared = {name for name in shared if self._reader.fields[name].kind in _PLAIN} - {*wanted.numbers}
        texts = (*wanted.texts, *(sorted(shared) if key is None else (key,)))
        return wanted._replace(
            label=None,
            texts=tuple(name for name in texts if name != label),
            others=tuple(name for name in wanted.others if name != label),
        )

    def _labels_of(self, chunk: Chunk, start: int) -> Any:
        if self._labels.key is None:
            return self._labels.in_order(start, chunk, self._name)
        return self._labels.by_key(chunk.columns[self._labels.key], start, self._name)

    def close(self) -> None:
        """Close the file of predictions."""
        self._reader.close()


def _input_of(path: str) -> InputFile:
    kind = kind_of(path)
    if kind is None:
        cause = f"the format of {quote(path)} (`label_file`) is not known by its ending"
        remedy = f"use one of {endings_text()}"
        raise InvalidValueError("unknown-format", cause, remedy, argument="label_file")
    return InputFile(path, kind)


def _is_array(path: str) -> bool:
    kind = kind_of(path)
    return kind is not None and kind.format == "npy"


def _label_column(fields: Mapping[str, Field], request: Request, file: str) -> str:
    """The column of the labels: the one asked for, the only one beside the key, or the one named like labels."""
    if request.key is not None and request.key not in fields:
        raise missing_column(request.key, fields, file, "key")
    if request.label is not None:
        if request.label not in fields:
            raise missing_column(request.label, fields, file, "label")
        return request.label
    others = [name for name in fields if name != request.key]
    return others[0] if len(others) == 1 else detect_label(fields, file)


def _plain_columns(fields: Mapping[str, Field], label: str) -> tuple[str, ...]:
    """The columns beside the label that may identify rows."""
    return tuple(name for name, field in fields.items() if name != label and field.kind in _PLAIN)


def _identifiers(columns: Mapping[str, Any]) -> dict[str, list[str]]:
    """The columns whose values are all different, as text; without numbers that are not whole."""
    found = {}
    for name, column in columns.items():
        names, codes = encode_column(column, name, "key")
        if len(names) == len(codes) and not any("." in text for text in names):
            found[name] = [names[code] for code in codes.tolist()]
    return found


def _refuse_missing_keys(keys: Any, key: str, file: str, first_row: int) -> None:
    missing = missing_values(keys)
    if missing is not None and missing.any():
        raise InvalidValueError(
            "missing-value",
            f"column {quote(key)} (`key`) has no value",
            "each row needs a key",
            source=file,
            row=first_row + int(np.argmax(missing)),
            argument="key",
        )


def _joined(parts: list[Any]) -> Any:
    """The parts of a column as one array."""
    if not parts:
        return np.zeros(0)
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    pa = pyarrow()
    arrays = [array for part in parts for array in getattr(part, "chunks", (part,))]
    if not arrays:
        return parts[0]
    whole = pa.chunked_array(arrays).unify_dictionaries().combine_chunks()
    return whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole
