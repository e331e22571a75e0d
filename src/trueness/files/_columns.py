"""Which columns are the labels and the probabilities: as asked for, or detected where only one reading is possible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from trueness.files._column_search import (
    asked_probs,
    found_label,
    found_probs,
    free_fields,
    holds_numbers,
    in_words,
    series,
)
from trueness.files._errors import InputError, nearest, shown
from trueness.files._fields import MAX_CLASSES, Field
from trueness.files._request import Choice, Request, split
from trueness.rows.class_columns import (
    COLUMNS,
    INDEX,
    ColumnError,
    Columns,
    arrange,
    by_text,
    columns_of,
    mapping,
)


def choose(
    fields: Mapping[str, Field], request: Request, file: str, *, first: Columns | None = None
) -> Choice:
    """The columns of this file that the request means; `first` are those of another model, to be matched by name."""
    label = request.label or found_label(fields, file)
    _require(fields, label, file, "--label")
    if request.weight is not None:
        _require(fields, request.weight, file, "--weight")
    by = _asked_groups(fields, request.by, file)
    for condition in request.where:
        _require(fields, condition.column, file, "--where")
    named = {label, request.weight, *by}
    columns = asked_probs(fields, request, named, file) if request.probs else None
    columns = columns or found_probs(fields, request, named, file)
    is_list = len(columns.names) == 1 and fields[columns.names[0]].kind == "list"
    _refuse_two_roles(label, columns.names, request.weight, by)
    _require_numbers(fields, columns.names, is_list, file, percent=request.percent)
    found = [] if request.label else [f"labels from column {shown(label)}"]
    chosen = Choice(label, columns.names, is_list, request.weight, by, request.where)
    if len(columns.names) == 1:
        found.append(in_words(columns.names, is_list))
        index_of = _names_of_two(columns, request, is_list)
        return replace(chosen, index_of=index_of, found=tuple(found))
    columns, index_of = _by_class(columns, fields[label], request, first)
    names = None if index_of is None else _class_labels(columns, request, index_of)
    found.append(f"classes {mapping(columns.names, names)}")
    return replace(
        chosen,
        probs=columns.names,
        index_of=index_of,
        columns=columns if request.header else None,
        found=tuple(found),
    )


def _refuse_two_roles(label: str, probs: Sequence[str], weight: str | None, by: Sequence[str]) -> None:
    """Labels and groups are not probabilities, and groups are not weights."""
    pairs = [(name, "--probs", "--label") for name in probs if name == label]
    pairs += [(name, "--probs", "--by") for name in probs if name in by]
    pairs += [(name, "--weight", "--by") for name in by if name == weight]
    for name, one, other in pairs:
        raise InputError(
            f"column {shown(name)} is named for both {one} and {other}", "name another column for one"
        )


def _by_class(
    columns: Columns, label: Field, request: Request, first: Columns | None
) -> tuple[Columns, dict[str, int] | None]:
    """The columns in the order of the classes, and what labels that are names mean."""
    classes = _listed(request.classes, len(columns.names))
    if not request.header:  # columns that are only numbered: their numbers say nothing about classes
        return columns, {name: i for i, name in enumerate(classes)} if isinstance(classes, tuple) else None
    try:
        found = arrange(
            columns,
            classes,
            names_as_labels=label.kind == "text",
            listed_in_order=_is_listed(request.probs),
            first=first,
        )
    except ColumnError as error:
        raise InputError(*map(_in_options, (error.cause, error.remedy))) from error
    return columns.take(found.places), None if found.index_of is None else by_text(found.index_of)


def _in_options(text: str) -> str:
    """A message in the words of the command's options."""
    text = re.sub(r"classes='(\w+)'", r"--classes \1", text)
    return re.sub(r"^classes \(", "--classes (", text)


def _listed(classes: str | tuple[str, ...] | None, n_columns: int) -> str | tuple[str, ...] | None:
    """The names in a list of classes, which must be as many as the columns; anything else as it is."""
    if classes is None or classes in (COLUMNS, INDEX):
        return classes
    names = split(classes)
    expected = max(2, n_columns)
    if len(names) != expected:
        raise InputError(
            f"--classes lists {len(names)} classes, but there are {expected} columns of probabilities",
            "list one name for each column",
        )
    _refuse_repeated(names)
    return names


def _refuse_repeated(names: Sequence[str]) -> None:
    if len(set(names)) != len(names):
        raise InputError("--classes lists a name twice", "list one name for each class")


def _is_listed(probs: str | tuple[str, ...] | None) -> bool:
    """Whether columns are named one by one, in an order that the user chose."""
    return probs is not None and not (isinstance(probs, str) and "*" in probs and "," not in probs)


def _class_labels(columns: Columns, request: Request, index_of: Mapping[str, int]) -> tuple[str, ...]:
    """What each class is called, for the line that shows the mapping."""
    listed = request.classes is not None and request.classes not in (COLUMNS, INDEX)
    return tuple(index_of) if listed else columns.endings


def _names_of_two(columns: Columns, request: Request, is_list: bool) -> dict[str, int] | None:
    """The listed names of classes whose probabilities are in one column: a list, or those of class 1."""
    asked = request.classes
    if asked is None or asked == INDEX:
        return None
    if asked == COLUMNS:
        raise InputError(
            "a single column of probabilities does not name the classes", "list them: --classes cat,dog"
        )
    names = split(asked)
    _refuse_repeated(names)
    if not is_list:
        _listed(asked, 2)
        own = {columns.names[0], *columns_of(columns.names).endings}
        if names[0] in own:
            raise InputError(
                f"column {shown(columns.names[0])} is the probability of class 1, which --classes calls "
                f"{shown(names[1])}",
                f"list the classes the other way round: --classes {names[1]},{names[0]}",
            )
    return {name: index for index, name in enumerate(names)}


def recheck(choice: Choice, request: Request, fields: Mapping[str, Field], file: str, first: str) -> None:
    """Refuse another file whose columns are not those that were chosen in the first one."""
    for name, option in _named(choice):
        if name not in fields:
            raise InputError(
                f"{file} has no column {shown(name)}, which {first} has ({option})",
                f"files of one run have the same columns; {nearest(name, list(fields))}",
            )
    if choice.is_list != (fields[choice.probs[0]].kind == "list"):
        raise InputError(
            f"column {shown(choice.probs[0])} is a list in only one of {first} and {file}",
            "assess files of different layout one by one",
        )
    _require_numbers(fields, choice.probs, choice.is_list, file, percent=request.percent)
    extra = [] if choice.is_list else _further_probs(choice, request, fields, file)
    if extra:
        raise InputError(
            f"{file} has the probability column {shown(extra[0])}, which is missing in {first}",
            "files of one run have the same classes; name the columns one by one to choose",
        )


def _further_probs(choice: Choice, request: Request, fields: Mapping[str, Field], file: str) -> list[str]:
    """Columns that would be read as probabilities in this file, but are not among those of the first."""
    named = {choice.label, choice.weight, *choice.by}
    if request.probs is not None:
        found = [asked_probs(fields, request, named, file).names]
    else:
        found = [
            names
            for names in series(free_fields(fields, named), request.percent)
            if {*choice.probs} <= {*names}
        ]
    return [name for names in found for name in names if name not in choice.probs]


def _named(choice: Choice) -> Iterable[tuple[str, str]]:
    yield choice.label, "labels"
    yield from ((name, "probabilities") for name in choice.probs)
    if choice.weight is not None:
        yield choice.weight, "weights"
    yield from ((name, "groups") for name in choice.by)
    yield from ((condition.column, "a condition") for condition in choice.where)


def _require(fields: Mapping[str, Field], name: str, file: str, option: str) -> None:
    if name not in fields:
        raise InputError(f"{file} has no column {shown(name)} ({option})", nearest(name, list(fields)))


def _asked_groups(
    fields: Mapping[str, Field], by: str | tuple[str, ...] | None, file: str
) -> tuple[str, ...]:
    """The columns of groups; a name with a comma in it may be one of them."""
    if by is None:
        return ()
    names: list[str] = []
    for part in (by,) if isinstance(by, str) else by:
        names += [part] if part in fields else split(part)
    for name in names:
        _require(fields, name, file, "--by")
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
            held = {"list": "lists", "text": "text"}.get(fields[name].kind, "no numbers")
            raise InputError(
                f"column {shown(name)} of {file} holds {held}, not probabilities",
                "name the columns with --probs 'p_*', --probs a,b,c or one list column",
            )
    if len(probs) > MAX_CLASSES:
        raise InputError(
            f"{file} has {len(probs)} probability columns", f"at most {MAX_CLASSES} classes can be read"
        )
