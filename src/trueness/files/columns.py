"""Which columns are the labels and the probabilities: those asked for, or detected where unambiguous."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from trueness.files._column_search import (
    description,
    detect_label,
    detect_probs,
    free_fields,
    holds_numbers,
    missing_column,
    requested_probs,
    series,
)
from trueness.files.request import Choice, Request, split
from trueness.formats.fields import MAX_CLASSES, Field
from trueness.refusals import InvalidValueError, nearest, quote
from trueness.rows.class_columns import COLUMNS, INDEX, Columns, arrange, by_text, columns_of, mapping


def choose(
    fields: Mapping[str, Field], request: Request, file: str, *, first: Columns | None = None
) -> Choice:
    """The columns of this file that the request means; `first` are those of another model, to be matched by name."""
    shares = _share_columns(fields, request, file) if request.soft_labels else None
    label = shares.names[0] if shares else request.label or detect_label(fields, file)
    _require(fields, label, file, "label")
    if request.weight is not None:
        _require_readable(fields, request.weight, file, "sample_weight")
    by = _requested_groups(fields, request.by, file)
    if request.clusters is not None:
        _require(fields, request.clusters, file, "clusters")
    for condition in request.where:
        _require(fields, condition.column, file, "where")
    named = {label, request.weight, request.clusters, request.key, *by, *(shares.names if shares else ())}
    _refuse_numbered(fields, request, by, named, file)
    columns = _probs(fields, request, named, file)
    is_list = len(columns.names) == 1 and fields[columns.names[0]].kind == "list"
    for name in shares.names if shares else (label,):
        _refuse_two_roles(name, columns.names, request.weight, by)
    if request.clusters is not None and request.clusters in {label, request.weight, *columns.names}:
        other = {label: "label", request.weight: "sample_weight"}.get(request.clusters, "probs")
        raise _two_roles(request.clusters, other, "clusters")
    if request.ragged:
        _require_list(columns.names, is_list, request, file)
    _require_numbers(fields, columns.names, is_list, file, percent=request.percent)
    found = [] if request.label else [f"labels from column {quote(label)}"]
    chosen = Choice(label, columns.names, is_list, request.weight, by, request.where, request.clusters)
    chosen = replace(chosen, ragged=request.ragged)
    if len(columns.names) == 1:
        found.append(description(columns.names, is_list))
        index_of = _names_of_two(columns, request, is_list)
        return _with_shares(replace(chosen, index_of=index_of, found=tuple(found)), shares, columns)
    columns, index_of = _by_class(columns, fields[label], request, first)
    names = None if index_of is None else _class_labels(columns, request, index_of)
    found.append(f"classes {mapping(columns.names, names)}")
    chosen = replace(
        chosen,
        probs=columns.names,
        index_of=index_of,
        columns=columns if request.header else None,
        found=tuple(found),
    )
    return _with_shares(chosen, shares, columns if request.header else None)


def _probs(fields: Mapping[str, Field], request: Request, named: set[str | None], file: str) -> Columns:
    """The columns of probabilities that were asked for, or those that are detected."""
    find = requested_probs if request.probs else detect_probs
    return find(fields, request, named, file)


def _refuse_numbered(
    fields: Mapping[str, Field], request: Request, by: Sequence[str], named: set[str | None], file: str
) -> None:
    """Refuse one of the numbered columns of probabilities, such as p_0 of p_*, as clusters, groups or weights.

    One of p_id, p_cat and p_dog may be the clusters, so columns without numbers are not refused here.
    """
    if _is_listed(request.probs):
        return
    groups = [("groups", name) for name in by]
    for argument, name in (("clusters", request.clusters), ("sample_weight", request.weight), *groups):
        found = None if name is None else _numbered_with(name, fields, request, named, file)
        if found is not None:
            raise InvalidValueError(
                "named-twice",
                f"the column of `{argument}`, {quote(name)}, is one of the {len(found.names)} "
                f"probability columns {quote(found.names[0])} to {quote(found.names[-1])}",
                "name another column; or list those that hold probabilities in `probs`, separated by commas",
                argument=argument,
            )


def _numbered_with(
    name: str, fields: Mapping[str, Field], request: Request, named: set[str | None], file: str
) -> Columns | None:
    """The numbered columns of probabilities, if this column would be one of them without its other use."""
    if not holds_numbers(fields[name], request.percent):
        return None
    try:
        found = _probs(fields, request, named - {name}, file)
    except InvalidValueError:
        return None
    numbered = len(found.names) > 1 and found.numbers is not None
    return found if numbered and name in found.names else None


def _share_columns(fields: Mapping[str, Field], request: Request, file: str) -> Columns:
    """The columns of soft labels: a list column, one column per class, or that of class 1."""
    label = request.label or detect_label(fields, file)
    return requested_probs(fields, replace(request, probs=label), set(), file)


def _with_shares(choice: Choice, shares: Columns | None, probs: Columns | None) -> Choice:
    """The choice with the columns of soft labels in the order of the classes, matched by their endings."""
    if shares is None:
        return choice
    if len(shares.names) == 1:
        return replace(choice, shares=shares.names)
    expected = None if choice.is_list else max(2, len(choice.probs))
    if expected is not None and len(shares.names) != expected:
        cause = f"`label` names {len(shares.names)} columns of shares, but there are {expected} classes"
        remedy = "name one column for each class, or one list column"
        raise InvalidValueError("wrong-number-of-classes", cause, remedy, argument="label")
    if probs is None or choice.is_list or len(choice.probs) == 1:
        return replace(choice, shares=shares.names)
    place = dict(zip(shares.endings, shares.names, strict=True))
    if {*place} != {*probs.endings}:
        raise InvalidValueError(
            "different-columns",
            f"the columns of `label` end in {quote(shares.endings[0])}, …, those of `probs` in "
            f"{quote(probs.endings[0])}, …",
            "name the columns of shares like those of probabilities, such as s_0, s_1 beside p_0, p_1",
            argument="label",
        )
    return replace(choice, shares=tuple(place[ending] for ending in probs.endings))


def _require_list(probs: Sequence[str], is_list: bool, request: Request, file: str) -> None:
    """Refuse options of rows that are not in one list column, and names for them."""
    if not is_list:
        cause = f"`ragged=True` needs one list column, and {file} has {description(probs, is_list)}"
        remedy = "write the options of each row as a list, or leave it out"
        raise InvalidValueError("wrong-type", cause, remedy, argument="ragged")
    if request.classes is not None:
        cause = "`classes` cannot be used with `ragged=True`"
        remedy = "labels are the index of the option, from 0"
        raise InvalidValueError("bad-argument", cause, remedy, argument="classes")


def _refuse_two_roles(label: str, probs: Sequence[str], weight: str | None, by: Sequence[str]) -> None:
    """Refuse a column that is both labels or groups and probabilities, or both groups and weights."""
    pairs = [(name, "probs", "label") for name in probs if name == label]
    pairs += [(name, "probs", "groups") for name in probs if name in by]
    pairs += [(name, "sample_weight", "groups") for name in by if name == weight]
    for name, one, other in pairs:
        raise _two_roles(name, one, other)


def _two_roles(name: str, one: str, other: str) -> InvalidValueError:
    """The refusal of a column that is used for two things."""
    cause = f"column {quote(name)} is used for both `{one}` and `{other}`"
    remedy = "name another column for one of them"
    return InvalidValueError("named-twice", cause, remedy, argument=one)


def _by_class(
    columns: Columns, label: Field, request: Request, first: Columns | None
) -> tuple[Columns, dict[str, int] | None]:
    """The columns in the order of the classes, and the class index of labels that are names."""
    classes = _class_names(request.classes, len(columns.names))
    if not request.header:  # columns that are numbered by place: their numbers are not those of classes
        return columns, {name: i for i, name in enumerate(classes)} if isinstance(classes, tuple) else None
    found = arrange(
        columns,
        classes,
        names_as_labels=label.kind == "text",
        listed_in_order=_is_listed(request.probs),
        first=first,
    )
    return columns.take(found.places), None if found.index_of is None else by_text(found.index_of)


def _class_names(classes: str | tuple[str, ...] | None, n_columns: int) -> str | tuple[str, ...] | None:
    """The names in a list of classes, which must be as many as the columns; other values unchanged."""
    if classes is None or classes in (COLUMNS, INDEX):
        return classes
    names = split(classes)
    expected = max(2, n_columns)
    if len(names) != expected:
        cause = f"`classes` lists {len(names)} classes, but there are {expected} columns of probabilities"
        remedy = "list one name for each column"
        raise InvalidValueError("wrong-number-of-classes", cause, remedy, argument="classes")
    _refuse_repeated(names)
    return names


def _refuse_repeated(names: Sequence[str]) -> None:
    if len(set(names)) != len(names):
        cause = "`classes` lists a name twice"
        remedy = "list one name for each class"
        raise InvalidValueError("named-twice", cause, remedy, argument="classes")


def _is_listed(probs: str | tuple[str, ...] | None) -> bool:
    """Whether the user listed the columns one by one."""
    return probs is not None and not (isinstance(probs, str) and "*" in probs and "," not in probs)


def _class_labels(columns: Columns, request: Request, index_of: Mapping[str, int]) -> tuple[str, ...]:
    """The name of each class, for the line that describes the choice."""
    listed = request.classes is not None and request.classes not in (COLUMNS, INDEX)
    return tuple(index_of) if listed else columns.endings


def _names_of_two(columns: Columns, request: Request, is_list: bool) -> dict[str, int] | None:
    """The listed names of the classes, if their probabilities are in one column: a list, or those of class 1."""
    asked = request.classes
    if asked is None or asked == INDEX:
        return None
    if asked == COLUMNS:
        cause = "a single column of probabilities does not name the classes"
        remedy = "list them: `classes=['cat', 'dog']`"
        raise InvalidValueError("wrong-number-of-classes", cause, remedy, argument="classes")
    names = split(asked)
    _refuse_repeated(names)
    if not is_list:
        _class_names(asked, 2)
        own = {columns.names[0], *columns_of(columns.names).endings}
        if names[0] in own:
            cause = (
                f"column {quote(columns.names[0])} is the probability of class 1, which "
                f"`classes` calls {quote(names[1])}"
            )
            remedy = f"list the classes in the other order: {quote(names[1])}, {quote(names[0])}"
            raise InvalidValueError("wrong-order", cause, remedy, argument="classes")
    return {name: index for index, name in enumerate(names)}


def recheck(choice: Choice, request: Request, fields: Mapping[str, Field], file: str, first: str) -> None:
    """Refuse another file whose columns are not those that were chosen in the first one."""
    for name, purpose in _named_columns(choice):
        if name not in fields:
            cause = f"{file} has no column {quote(name)}, which {first} has ({purpose})"
            remedy = f"files of one run must have the same columns; {nearest(name, list(fields))}"
            raise InvalidValueError("missing-column", cause, remedy)
    if choice.is_list != (fields[choice.probs[0]].kind == "list"):
        cause = f"column {quote(choice.probs[0])} is a list in only one of {first} and {file}"
        remedy = "assess files of different layout one by one"
        raise InvalidValueError("different-columns", cause, remedy)
    _require_numbers(fields, choice.probs, choice.is_list, file, percent=request.percent)
    extra = [] if choice.is_list else _further_probs(choice, request, fields, file)
    if extra:
        raise InvalidValueError(
            "different-columns",
            f"{file} has the probability column {quote(extra[0])}, which is missing in {first}",
            "files of one run must have the same classes; list the columns one by one to choose",
        )


def _further_probs(choice: Choice, request: Request, fields: Mapping[str, Field], file: str) -> list[str]:
    """Columns that would be read as probabilities in this file, but are missing in the first."""
    named = {choice.label, choice.weight, choice.clusters, request.key, *choice.by, *choice.shares}
    if request.probs is not None:
        found = [requested_probs(fields, request, named, file).names]
    else:
        found = [
            names
            for names in series(free_fields(fields, named), request.percent)
            if {*choice.probs} <= {*names}
        ]
    return [name for names in found for name in names if name not in choice.probs]


def _named_columns(choice: Choice) -> Iterable[tuple[str, str]]:
    yield from ((name, "labels") for name in choice.shares or (choice.label,))
    yield from ((name, "probabilities") for name in choice.probs)
    if choice.weight is not None:
        yield choice.weight, "weights"
    yield from ((name, "groups") for name in choice.by)
    if choice.clusters is not None:
        yield choice.clusters, "clusters"
    yield from ((condition.column, "a condition") for condition in choice.where)


def _require_readable(fields: Mapping[str, Field], name: str, file: str, argument: str) -> None:
    """Refuse a column that is missing, or whose numbers cannot be read."""
    _require(fields, name, file, argument)
    if (problem := fields[name].problem) is not None:
        raise problem


def _require(fields: Mapping[str, Field], name: str, file: str, argument: str) -> None:
    if name not in fields:
        raise missing_column(name, fields, file, argument)


def _requested_groups(
    fields: Mapping[str, Field], by: str | tuple[str, ...] | None, file: str
) -> tuple[str, ...]:
    """The columns of groups; the name of a column may contain a comma."""
    if by is None:
        return ()
    names: list[str] = []
    for part in (by,) if isinstance(by, str) else by:
        names += [part] if part in fields else split(part)
    for name in names:
        _require(fields, name, file, "groups")
    return tuple(dict.fromkeys(names))


def _require_numbers(
    fields: Mapping[str, Field], probs: Sequence[str], is_list: bool, file: str, *, percent: bool
) -> None:
    if is_list:
        return
    for name in probs:
        if (problem := fields[name].problem) is not None:
            raise problem
        if not holds_numbers(fields[name], percent):
            found = {"list": "lists", "text": "text"}.get(fields[name].kind, "no numbers")
            cause = f"column {quote(name)} of {file} holds {found}, not probabilities"
            remedy = "name the columns in `probs`: 'p_*', a list of names, or one list column"
            raise InvalidValueError("wrong-type", cause, remedy, argument="probs")
    if len(probs) > MAX_CLASSES:
        cause = f"{file} has {len(probs)} probability columns"
        remedy = f"at most {MAX_CLASSES} classes can be read"
        raise InvalidValueError("too-many-classes", cause, remedy)
