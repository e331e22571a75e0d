"""Several models on rows in partitions: what each worker does, and the comparison of all rows.

Independent rows are resampled by their position among all rows. Unless rows have clusters, the rows of the partitions
are therefore counted first, so that each worker knows the position of its first row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias, TypedDict

from trueness._version import __version__
from trueness.assessment import Comparison
from trueness.assessment.comparison import BinsOfModels, Comparer
from trueness.bins import Bins
from trueness.files import Batch, Choice, Position, Request, RowOptions, pair_batches, refusal_of_batches
from trueness.files.remote import Remote, local_source
from trueness.files.source import PositionedBatch
from trueness.partitions.files import FilePiece, file_pieces, files_of
from trueness.partitions.options import plan_of, request_of, require_known, row_options_of
from trueness.partitions.work import Work
from trueness.refusals import InvalidTypeError, InvalidValueError, Refusal
from trueness.rows.class_columns import Columns
from trueness.variation import Variation

BatchesOfModels: TypeAlias = Mapping[str, Iterable[Batch]]
"""For each model the batches of a partition."""

FilesOfModels: TypeAlias = Mapping[str, list[Remote]]
"""For each model its files: the same list if all models are in the same files."""

ChooseColumns: TypeAlias = Callable[[Request, Columns | None], tuple[Choice, int]]
"""The columns that a request means, matched to those of the first model, and the number of classes."""


class CompareOptions(TypedDict, total=False):
    """What `compare` of every adapter takes beside the data, its columns, and the options of inference."""

    sample_weight: Any
    groups: Any
    by: Any
    clusters: Any
    classes: Any
    variation: str | Variation
    bins: int | Bins | BinsOfModels
    """As in `Comparer`: bins of equal mass are edges that were found before, for each model."""
    confidence_bins: int | Bins
    by_class: bool
    """Whether to compare the errors of classes too; by default yes."""
    ties: str
    from_logits: bool
    normalize: bool
    """The others are as in `Options`."""


class CompareRequest(NamedTuple):
    """What was asked for, beside the data."""

    label: Any
    probs: Any
    """For each model its columns."""
    options: CompareOptions
    inference: Mapping[str, Any]
    """Level, tolerance, resamples and so on, as in `Comparer`."""


@dataclass(frozen=True, slots=True)
class SumsOfPart:
    """The sums of some rows, and the version of trueness that made them."""

    comparer: Comparer
    library: str = __version__

    def __add__(self, other: SumsOfPart) -> SumsOfPart:
        for part in (self, other):
            if part.library != __version__:
                raise InvalidValueError(
                    "different-tables",
                    "a worker has trueness {theirs}, here it is {ours}",
                    "install the same version of trueness on all machines",
                    theirs=part.library,
                    ours=__version__,
                )
        return SumsOfPart(self.comparer + other.comparer)


@dataclass(frozen=True, slots=True)
class CompareWork:
    """What every worker does with its rows."""

    works: Mapping[str, Work]
    """The columns of each model."""
    empty: SumsOfPart
    """The sums of no rows, with all settings."""

    @classmethod
    def of(cls, asked: CompareRequest, choose: Mapping[str, ChooseColumns]) -> CompareWork:
        """The work of a request; `choose` finds the columns of each model."""
        options = asked.options
        require_known(options, CompareOptions)
        columns = {key: value for key, value in options.items() if key not in _NOT_OF_TABLES}
        works = _works(asked.label, asked.probs, columns, choose)
        first = next(iter(works.values()))
        comparer = Comparer(
            first.n_classes,
            models=list(works),
            variation=options.get("variation", "entropy"),
            bins=options.get("bins", 10),
            confidence_bins=options.get("confidence_bins"),
            by_class=options.get("by_class", True),
            ties=options.get("ties", "first"),
            weighted=first.choice.weight is not None,
            from_logits=first.options.scale == "logits",
            normalize=first.options.normalize,
            **asked.inference,
        )
        return cls(works, SumsOfPart(comparer))

    @property
    def needs_positions(self) -> bool:
        """Whether the position of each row must be known: not if rows come in clusters, which have names."""
        return next(iter(self.works.values())).choice.clusters is None

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return next(iter(self.works.values())).n_classes

    @property
    def column_names(self) -> list[str]:
        """The columns of all models, each once."""
        names = (name for work in self.works.values() for name in work.choice.wanted.names)
        return list(dict.fromkeys(names))

    def count(self, batches: BatchesOfModels) -> int:
        """The number of rows of a partition."""
        return sum(len(batch) for batch in next(iter(batches.values())))

    def sum(self, batches: BatchesOfModels, first_row: int = 0) -> SumsOfPart:
        """The sums of a partition whose first row has this position."""
        comparer = self.empty.comparer.starting_at(first_row)
        placed = {name: _with_positions(of_model) for name, of_model in batches.items()}
        for _, found in pair_batches(placed):
            add_batches(comparer, found)
        return replace(self.empty, comparer=comparer)

    def finish(self, sums: SumsOfPart) -> Comparison:
        """The comparison of all rows."""
        total = self.empty + sums
        if total.comparer.n_rows == 0:
            raise InvalidValueError("no-rows", "the data have no rows", "check the input")
        return total.comparer.result()


def add_batches(comparer: Comparer, batches: Mapping[str, Batch]) -> None:
    """Add the same rows of all models; a refusal names the file and the row."""
    lead = next(iter(batches.values()))
    try:
        comparer.update(
            lead.y_true,
            {name: batch.y_prob for name, batch in batches.items()},
            sample_weight=lead.weight,
            groups=None if lead.groups is None else lead.groups.of_rows,
            clusters=None if lead.clusters is None else lead.clusters.of_rows,
        )
    except Refusal as error:
        raise refusal_of_batches(list(batches.values()), error) from error


_NOT_OF_TABLES = ("variation", "bins", "confidence_bins", "by_class", "ties")


def first_rows(counts: Sequence[int]) -> list[int]:
    """The position of the first row of each partition, from the number of rows of each.

    >>> first_rows([3, 0, 5])
    [0, 3, 3]
    """
    return [0, *accumulate(counts)][: len(counts)]


def models_of(probs: Any) -> dict[str, Any]:
    """The columns of each model by its name; a refusal unless there are two or more."""
    if not isinstance(probs, Mapping) or len(probs) < 2:
        raise InvalidTypeError(
            "wrong-type",
            "{argument} must be a mapping of two or more models, {example}",
            argument="probs",
            value=type(probs).__name__,
            example='{"old": "old_*", "new": "new_*"}',
        )
    return {str(name): columns for name, columns in probs.items()}


def work_of_frame(asked: CompareRequest, choose: ChooseColumns) -> CompareWork:
    """The work for a data frame with the columns of all models."""
    return CompareWork.of(asked, dict.fromkeys(models_of(asked.probs), choose))


def work_of_models(
    data: Any, asked: CompareRequest, storage_options: Mapping[str, Any] | None
) -> tuple[CompareWork, FilesOfModels]:
    """The work for files, with the columns of the first ones, and the files of each model."""
    files, columns = _files_of_models(data, asked.probs, storage_options)
    rows = row_options_of(asked.options)
    choose = {name: _choose_in_files(of_model, rows) for name, of_model in files.items()}
    return CompareWork.of(asked._replace(probs=columns), choose), files


def _files_of_models(
    data: Any, probs: Any, storage_options: Mapping[str, Any] | None
) -> tuple[FilesOfModels, dict[str, Any]]:
    """The files of each model, and its columns; all models are in the same files unless `data` is a mapping."""
    if not isinstance(data, Mapping):
        columns = models_of(probs)
        return dict.fromkeys(columns, files_of(data, storage_options)), columns
    by_model = {str(name): files_of(paths, storage_options) for name, paths in data.items()}
    columns = models_of(probs if isinstance(probs, Mapping) else dict.fromkeys(by_model, probs))
    numbers = {name: len(files) for name, files in by_model.items()}
    if set(columns) != set(by_model) or len(set(numbers.values())) > 1:
        raise InvalidValueError(
            "wrong-length",
            "the models {models} have {numbers} files",
            "each model of probs needs files, as many as the others: the k-th files must have the same rows",
            argument="data",
            models=", ".join(by_model),
            numbers=", ".join(map(str, numbers.values())),
        )
    return by_model, {name: columns[name] for name in by_model}


def pieces_of_models(files: FilesOfModels, slots: int) -> list[dict[str, FilePiece]]:
    """The files in pieces, each of which has the same rows of all models."""
    first, *others = files.values()
    if all(other is first for other in others):
        return [dict.fromkeys(files, piece) for piece in file_pieces(first, slots)]
    return [
        {name: FilePiece([file], files[name][0].input.path) for name, file in zip(files, some, strict=True)}
        for some in zip(*files.values(), strict=True)
    ]


def _choose_in_files(files: Sequence[Remote], rows: RowOptions) -> ChooseColumns:
    """The choice of columns in the first of some files."""

    def choose(request: Request, first: Columns | None) -> tuple[Choice, int]:
        with local_source(files[0], request, rows, first=first) as source:
            return source.choice, source.n_classes

    return choose


def _works(label: Any, probs: Any, options: Any, choose: Mapping[str, ChooseColumns]) -> dict[str, Work]:
    """The work of each model. Weights, groups and clusters are those of the first."""
    rows, plan = row_options_of(options), plan_of(options, for_assessment=False)
    works: dict[str, Work] = {}
    for name, columns in models_of(probs).items():
        request = request_of(label, columns, options)
        if works:
            request = replace(request, weight=None, by=None, clusters=None)
        first = next((work.choice.columns for work in works.values() if work.choice.columns), None)
        choice, n_classes = choose[name](request, first)
        works[name] = Work.of(request, rows, plan, choice, n_classes)
    refuse_other_classes({name: work.n_classes for name, work in works.items()})
    return works


def refuse_other_classes(classes: Mapping[str, int]) -> None:
    """Refuse models with different numbers of classes."""
    if len(set(classes.values())) > 1:
        raise InvalidValueError(
            "classes-differ",
            "the models have different numbers of classes: {classes}",
            "compare models of the same task",
            classes=", ".join(f"{name} {number}" for name, number in classes.items()),
        )


def _with_positions(batches: Iterable[Batch]) -> Iterator[PositionedBatch]:
    return (PositionedBatch(batch, Position()) for batch in batches)
