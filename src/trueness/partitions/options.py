"""The options that the adapters share, and what they ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from trueness._arguments import boolean, require_known_names
from trueness.bins import Bins
from trueness.files import Choice, Plan, Request, RowOptions
from trueness.files.columns import choose
from trueness.formats.fields import Field
from trueness.ranking import DEFAULT_TIES
from trueness.refusals import InvalidTypeError
from trueness.rows.class_columns import Columns, text_of
from trueness.rows.labels import class_names
from trueness.variation import Variation


class Options(TypedDict, total=False):
    """What `tabulate` and `assess` of every adapter take beside the data and its columns."""

    sample_weight: Any
    """Column of weights."""
    groups: Any
    """Column of groups, for a table or an assessment of each of its values; several columns, in a list or separated by
    commas, for each combination of their values."""
    clusters: Any
    """Column of the names of clusters: which rows belong together. A cluster may be spread over partitions."""
    classes: Any
    """Names of the classes, if labels are names that the columns do not have; or "columns", or "index"."""
    variation: str | Variation
    bins: int | Bins
    confidence_bins: int | Bins
    """Bins of the confidence table, from which `assess` computes ECE; by default as `bins`."""
    by_class: bool
    """Whether to make the event table of all classes too: by default in `assess`, and not in `tabulate`, which then
    returns `Tables` instead of a `CalibrationTable`."""
    ragged: bool
    """Whether rows have options of their own: one list column, whose rows may have different lengths."""
    ties: str
    from_logits: bool
    normalize: bool
    soft_labels: bool
    """Whether `label` names the shares of the classes: a list column, or one column per class, such as "s_*"."""
    engine: str
    """As in `trueness.tabulate`."""


def require_known(options: Mapping[str, Any], kind: Any = Options) -> None:
    """Refuse an option that is none of this kind."""
    require_known_names(options, list(kind.__annotations__))


def request_of(label: Any, probs: str | Sequence[str] | None, options: Options) -> Request:
    """The columns that are asked for."""
    weight = options.get("sample_weight")
    clusters = options.get("clusters")
    for term, value in (("label", label), ("weight", weight), ("clusters", clusters)):
        if value is not None and not isinstance(value, str):
            cause = f"`{term}` must be the name of a column, got {type(value).__name__}"
            raise InvalidTypeError("wrong-type", cause, argument=term)
    names = probs if probs is None or isinstance(probs, str) else tuple(probs)
    return Request(
        label,
        names,
        weight,
        _group_columns(options),
        (),
        clusters,
        classes=class_names_of(options),
        ragged=boolean("ragged", options.get("ragged", False)),
        soft_labels=boolean("soft_labels", options.get("soft_labels", False)),
    )


def _group_columns(options: Options) -> str | tuple[str, ...] | None:
    groups = options.get("groups")
    if groups is None or isinstance(groups, str):
        return groups
    if not isinstance(groups, (list, tuple)) or not all(isinstance(name, str) for name in groups):
        cause = f"`groups` must be the name of a column, or a list of names, got {type(groups).__name__}"
        raise InvalidTypeError("wrong-type", cause, argument="groups")
    return tuple(groups) or None


def class_names_of(options: Options) -> str | tuple[str, ...] | None:
    """Names of the classes, or how they are found."""
    classes = options.get("classes")
    if classes is None or isinstance(classes, str):
        return classes
    return tuple(text_of(name) for name in class_names(classes) or ())


def row_options_of(options: Mapping[str, object]) -> RowOptions:
    """The scale of the numbers."""
    scale = "logits" if boolean("from_logits", options.get("from_logits", False)) else "probabilities"
    soft = boolean("soft_labels", options.get("soft_labels", False))
    return RowOptions(scale, boolean("normalize", options.get("normalize", False)), soft_labels=soft)


def plan_of(options: Options, *, for_assessment: bool) -> Plan:
    """The tables that are asked for; an assessment needs that by confidence, and by default has that by class."""
    return Plan.of(
        options.get("variation", "entropy"),
        options.get("bins", 10),
        options.get("confidence_bins"),
        options.get("ties", DEFAULT_TIES),
        with_confidence=for_assessment,
        by_class=options.get("by_class", for_assessment),
        options=boolean("ragged", options.get("ragged", False)),
        engine=options.get("engine", "auto"),
    )


def choice_of(fields: Mapping[str, Field], request: Request, first: Columns | None = None) -> Choice:
    """The columns of a data frame that a request means; `first` are those of another model, to be matched by name."""
    return choose(fields, request, "the data frame", first=first)
