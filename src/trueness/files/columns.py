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
        _require_readable(fields, request.weight, file, "weight")
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
        other = {label: "label", request.weight: "weight"}.get(request.clusters, "probs")
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
    for argument, name in (("clusters", request.clusters), ("weight", request.weight), *groups):
        found = None if name is None else _numbered_with(name, fields, request, named, file)
        if found is not None:
            raise InvalidValueError(
                "named-twice",
                "the column of {argument}, {column!q}, is one of the {n_columns} probability columns {first!q} to "
                "{last!q}",
                "name another column; or list those that hold probabilities in {probs}, separated by commas",
                argument=argument,
                column=name,
                n_columns=len(found.names),
                first=found.names[0],
                last=found.names[-1],
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
        raise InvalidValueError(
            "wrong-number-of-classes",
            "{label} names {found} columns of shares, but there are {expected} classes",
            "name one column for each class, or one list column",
            argument="label",
            found=len(shares.names),
            expected=expected,
        )
    if probs is None or choice.is_list or len(choice.probs) == 1:
        return replace(choice, shares=shares.names)
    place = dict(zip(shares.endings, shares.names, strict=True))
    if {*place} != {*probs.endings}:
        raise InvalidValueError(
            "different-columns",
            "the columns of {label} end in {mine!q}, …, those of {probs} in {theirs!q}, …",
            "name the columns of shares like those of probabilities, such as s_0, s_1 beside p_0, p_1",
            argument="label",
            mine=shares.endings[0],
            theirs=probs.endings[0],
        )
    return replace(choice, shares=tuple(place[ending] for ending in probs.endings))


def _require_list(probs: Sequence[str], is_list: bool, request: Request, file: str) -> None:
    """Refuse options of rows that are not in one list column, and names for them."""
    if not is_list:
        raise InvalidValueError(
            "wrong-type",
            "{ragged} needs one list column, and {file} has {found}",
            "write the options of each row as a list, or leave it out",
            argument="ragged",
            file=file,
            found=description(probs, is_list),
        )
    if request.classes is not None:
        raise InvalidValueError(
            "bad-argument",
            "{classes} cannot be used with {ragged}",
            "labels are the index of the option, from 0",
            argument="classes",
        )


def _refuse_two_roles(label: str, probs: Sequence[str], weight: str | None, by: Sequence[str]) -> None:
    """Refuse a column that is both labels or groups and probabilities, or both groups and weights."""
    pairs = [(name, "probs", "label") for name in probs if name == label]
    pairs += [(name, "probs", "groups") for name in probs if name in by]
    pairs += [(name, "weight", "groups") for name in by if name == weight]
    for name, one, other in pairs:
        raise _two_roles(name, one, other)


def _two_roles(name: str, one: str, other: str) -> InvalidValueError:
    """The refusal of a column that is used for two things."""
    return InvalidValueError(
        "named-twice",
        "column {column!q} is used for both {argument} and {other!t}",
        "name another column for one of them",
        argument=one,
        column=name,
        other=other,
    )


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
        raise InvalidValueError(
            "wrong-number-of-classes",
            "{classes} lists {listed} classes, but there are {expected} columns of probabilities",
            "list one name for each column",
            argument="classes",
            listed=len(names),
            expected=expected,
        )
    _refuse_repeated(names)
    return names


def _refuse_repeated(names: Sequence[str]) -> None:
    if len(set(names)) != len(names):
        raise InvalidValueError(
            "named-twice", "{classes} lists a name twice", "list one name for each class", argument="classes"
        )


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
        raise InvalidValueError(
            "wrong-number-of-classes",
            "a single column of probabilities does not name the classes",
            "list them: {classes_names}",
            argument="classes",
        )
    names = split(asked)
    _refuse_repeated(names)
    if not is_list:
        _class_names(asked, 2)
        own = {columns.names[0], *columns_of(columns.names).endings}
        if names[0] in own:
            raise InvalidValueError(
                "wrong-order",
                "column {column!q} is the probability of class 1, which {classes} calls {second!q}",
                "list the classes in the other order: {second!q}, {first!q}",
                argument="classes",
                column=columns.names[0],
                first=names[0],
                second=names[1],
            )
    return {name: index for index, name in enumerate(names)}


def recheck(choice: Choice, request: Request, fields: Mapping[str, Field], file: str, first: str) -> None:
    """Refuse another file whose columns are not those that were chosen in the first one."""
    for name, purpose in _named_columns(choice):
        if name not in fields:
            raise InvalidValueError(
                "missing-column",
                "{file} has no column {column!q}, which {first} has ({purpose})",
                "files of one run must have the same columns; {hint}",
                file=file,
                column=name,
                first=first,
                purpose=purpose,
                hint=nearest(name, list(fields)),
            )
    if choice.is_list != (fields[choice.probs[0]].kind == "list"):
        raise InvalidValueError(
            "different-columns",
            "column {column!q} is a list in only one of {first} and {file}",
            "assess files of different layout one by one",
            column=choice.probs[0],
            first=first,
            file=file,
        )
    _require_numbers(fields, choice.probs, choice.is_list, file, percent=request.percent)
    extra = [] if choice.is_list else _further_probs(choice, request, fields, file)
    if extra:
        raise InvalidValueError(
            "different-columns",
            "{file} has the probability column {column!q}, which is missing in {first}",
            "files of one run must have the same classes; list the columns one by one to choose",
            file=file,
            column=extra[0],
            first=first,
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
            raise InvalidValueError(
                "wrong-type",
                "column {column!q} of {file} holds {found}, not probabilities",
                "name the columns in {probs}: 'p_*', a list of names, or one list column",
                argument="probs",
                column=name,
                file=file,
                found=found,
            )
    if len(probs) > MAX_CLASSES:
        raise InvalidValueError(
            "too-many-classes",
            "{file} has {found} probability columns",
            "at most {most} classes can be read",
            file=file,
            found=len(probs),
            most=MAX_CLASSES,
        )
