"""Several models on the same rows of a query: their columns, and the comparison of all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias, TypedDict

from trueness.bins import Bins
from trueness.files import Batch, Choice, Request, pair_batches, refusal_of_batches
from trueness.old_assessment import Comparison
from trueness.old_assessment.comparison import BinsOfModels, Comparer
from trueness.partitions.options import plan_of, request_of, require_known, row_options_of
from trueness.partitions.work import Work
from trueness.refusals import InvalidTypeError, InvalidValueError, Refusal
from trueness.rows.class_columns import Columns
from trueness.variation import Variation

ChooseColumns: TypeAlias = Callable[[Request, Columns | None], tuple[Choice, int]]
"""The columns that a request means, matched to those of the first model, and the number of classes."""


class CompareOptions(TypedDict, total=False):
    """What `compare` of every adapter takes beside the data, its columns, and the options of inference."""

    sample_weight: Any
    groups: Any
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
class CompareWork:
    """The columns of each model, and the settings of the comparison."""

    works: Mapping[str, Work]
    """The columns of each model."""
    empty: Comparer
    """The sums of no rows, with all settings."""

    @classmethod
    def of(cls, asked: CompareRequest, choose: ChooseColumns) -> CompareWork:
        """The work of a request."""
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
        return cls(works, comparer)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return next(iter(self.works.values())).n_classes

    @property
    def column_names(self) -> list[str]:
        """The columns of all models, each once."""
        names = (name for work in self.works.values() for name in work.choice.wanted.names)
        return list(dict.fromkeys(names))

    def compare(self, batches: Mapping[str, Iterable[Batch]]) -> Comparison:
        """The comparison of all rows, given the batches of each model."""
        comparer = self.empty.starting_at(0)
        for found in pair_batches({name: iter(of_model) for name, of_model in batches.items()}):
            add_batches(comparer, found)
        if comparer.n_rows == 0:
            raise InvalidValueError("no-rows", "the data have no rows", "check the input")
        return comparer.result()


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


def models_of(probs: Any) -> dict[str, Any]:
    """The columns of each model by its name; a refusal unless there are two or more."""
    if not isinstance(probs, Mapping) or len(probs) < 2:
        cause = '`probs` must be a mapping of two or more models, {"old": "old_*", "new": "new_*"}'
        raise InvalidTypeError("wrong-type", cause, argument="probs", value=type(probs).__name__)
    return {str(name): columns for name, columns in probs.items()}


def _works(label: Any, probs: Any, options: Any, choose: ChooseColumns) -> dict[str, Work]:
    """The work of each model. Weights, groups and clusters are those of the first."""
    rows, plan = row_options_of(options), plan_of(options, for_assessment=False)
    works: dict[str, Work] = {}
    for name, columns in models_of(probs).items():
        request = request_of(label, columns, options)
        if works:
            request = replace(request, weight=None, by=None, clusters=None)
        first = next((work.choice.columns for work in works.values() if work.choice.columns), None)
        choice, n_classes = choose(request, first)
        works[name] = Work.of(request, rows, plan, choice, n_classes)
    refuse_other_classes({name: work.n_classes for name, work in works.items()})
    return works


def refuse_other_classes(classes: Mapping[str, int]) -> None:
    """Refuse models with different numbers of classes."""
    if len(set(classes.values())) > 1:
        listed = ", ".join(f"{name} {number}" for name, number in classes.items())
        cause = f"the models have different numbers of classes: {listed}"
        raise InvalidValueError("classes-differ", cause, "compare models of the same task")
