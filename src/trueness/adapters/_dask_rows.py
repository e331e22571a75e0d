"""The partitions of Dask collections and of files, and how a worker reads the rows of one partition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isnan
from typing import Any, NamedTuple

from trueness import partitions
from trueness.files import Batch, Choice, Plan, Request, RowOptions
from trueness.files.remote import Remote
from trueness.formats.arrow import field_of, pyarrow
from trueness.formats.fields import Field
from trueness.partitions import FilePiece, Options, Work
from trueness.refusals import InvalidTypeError, InvalidValueError, reason_of


class Pieces(NamedTuple):
    """All partitions; on a worker, `batches(work, *piece)` are the rows of one of them."""

    work: Work
    batches: Callable[..., Iterable[Batch]]
    pieces: list[tuple[Any, ...]]


def of_frame(frame: Any, request: Request, rows: RowOptions, plan: Plan) -> Pieces:
    """The partitions of a Dask data frame."""
    choice, n_classes = _chosen(frame, request)
    work = Work.of(request, rows, plan, choice, n_classes)
    return Pieces(work, _frame_batches, _frame_pieces(frame, choice.wanted.names))


def _chosen(frame: Any, request: Request) -> tuple[Choice, int]:
    """The columns that are asked for, and the number of classes."""
    fields = {str(name): _field(frame, place) for place, name in enumerate(frame.columns)}
    choice = partitions.choice_of(fields, request)
    n_classes = choice.known_classes
    return choice.with_width(_first_width(frame, choice)) if n_classes is None else (choice, n_classes)


def _frame_pieces(frame: Any, wanted: Sequence[str]) -> list[tuple[Any, ...]]:
    """The partitions of some columns, each with its number."""
    names = [str(name) for name in frame.columns]
    parts = frame[[frame.columns[names.index(name)] for name in wanted]].to_delayed()
    return list(zip(parts, range(len(parts)), strict=True))


def _field(frame: Any, place: int) -> Field:
    """The type of a column; whether a column of objects holds lists is found from its first row."""
    meta = frame._meta.iloc[:, place]
    if meta.dtype != object:
        return field_of(pyarrow().Schema.from_pandas(meta.to_frame("it"), preserve_index=False).field(0).type)
    first = _first_value(frame, frame.columns[place])
    return (
        Field("list") if hasattr(first, "__len__") and not isinstance(first, (str, bytes)) else Field("text")
    )


def _first_value(frame: Any, name: Any) -> Any:
    for number in range(frame.npartitions):
        head = frame[name].get_partition(number).head(1)
        if len(head):
            return head.iloc[0]
    return None


def _first_width(frame: Any, choice: Choice) -> int:
    first = _first_value(frame, choice.probs[0])
    if first is None:
        raise InvalidValueError("no-rows", "the data have no rows", "check the input")
    return len(first)


def _frame_batches(work: Work, frame: Any, number: int) -> Iterator[Batch]:
    pa, place = pyarrow(), f"partition {number}"
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, TypeError) as error:
        cause = f"{place} cannot be read: {reason_of(error)}"
        remedy = "the values of each column must have the same type"
        raise InvalidValueError("wrong-type", cause, remedy) from error
    columns = {str(name): table.column(place) for place, name in enumerate(frame.columns)}
    yield work.batch(columns, table.num_rows, place)


def of_array(y_prob: Any, label: Any, rows: RowOptions, plan: Plan, options: Options) -> Pieces:
    """The blocks of Dask arrays."""
    arrays = {"probs": y_prob, "label": label}
    further = {
        "sample_weight": options.get("sample_weight"),
        "groups": options.get("groups"),
        "clusters": options.get("clusters"),
    }
    arrays |= {name: array for name, array in further.items() if array is not None}
    for name, array in arrays.items():
        if not type(array).__module__.startswith("dask.array"):
            cause = f"beside an array of predictions, `{name}` must be a Dask array too"
            raise InvalidTypeError("wrong-type", cause, argument=name)
    classes = partitions.class_names_of(options)
    choice = Choice(
        "label",
        ("probs",),
        y_prob.ndim == 2,
        "sample_weight" if "sample_weight" in arrays else None,
        ("groups",) if "groups" in arrays else (),
        clusters="clusters" if "clusters" in arrays else None,
        index_of={name: i for i, name in enumerate(classes)} if isinstance(classes, tuple) else None,
    )
    choice, n_classes = choice.with_width(int(y_prob.shape[1])) if y_prob.ndim == 2 else (choice, 2)
    work = Work.of(Request(), rows, plan, choice, n_classes)
    lengths = {name: array.shape[0] for name, array in arrays.items() if not isnan(array.shape[0])}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
        cause = f"the arrays have different numbers of rows: {listed}"
        raise InvalidValueError("wrong-length", cause, "pass arrays of the same rows")
    blocks = [_by_rows(array, y_prob.chunks[0]).to_delayed().ravel() for array in arrays.values()]
    if len({len(some) for some in blocks}) > 1:
        cause = "the arrays have different numbers of blocks"
        remedy = "chunk them in the same way, or compute their chunk sizes"
        raise InvalidValueError("wrong-length", cause, remedy)
    order = tuple(arrays)
    return Pieces(
        work, _array_batches, [(order, n, *some) for n, some in enumerate(zip(*blocks, strict=True))]
    )


def _by_rows(array: Any, chunks: tuple[float, ...]) -> Any:
    """The array in blocks of whole rows, aligned with the predictions if all block sizes are known."""
    known = not any(isnan(size) for size in (*array.chunks[0], *chunks))
    return array.rechunk(({0: chunks} if known else {}) | ({1: -1} if array.ndim == 2 else {}))


def _array_batches(work: Work, names: Sequence[str], number: int, *blocks: Any) -> Iterator[Batch]:
    lengths = {name: len(block) for name, block in zip(names, blocks, strict=True)}
    if len(set(lengths.values())) > 1:
        cause = f"the arrays have blocks of different lengths: {lengths}"
        raise InvalidValueError("wrong-length", cause, "chunk them in the same way")
    yield work.batch(dict(zip(names, blocks, strict=True)), len(blocks[0]), f"block {number}")


def of_files(files: Sequence[Remote], request: Request, rows: RowOptions, plan: Plan, slots: int) -> Pieces:
    """The files, in pieces for this many tasks at the same time."""
    work = partitions.work_of_files(files, request, rows, plan)
    return Pieces(work, _file_batches, [(piece,) for piece in partitions.file_pieces(files, slots)])


def _file_batches(work: Work, piece: FilePiece) -> Iterator[Batch]:
    return piece.batches(work)
