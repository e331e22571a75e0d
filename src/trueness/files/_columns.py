"""Which columns are the labels and the probabilities: as asked for, or found where only one reading is possible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from trueness.files._errors import InputError, nearest, shown
from trueness.files._fields import MAX_CLASSES, Field, Wanted
from trueness.files._folders import natural_key
from trueness.files._where import Condition

LABEL_NAMES = (
    "y_true",
    "label",
    "labels",
    "y",
    "target",
    "truth",
    "true_label",
    "ground_truth",
    "true_class",
)
PROB_PREFIXES = ("p_", "prob_", "probs_", "proba_", "y_prob_", "probability_")
LIST_NAMES = (
    "y_prob",
    "predictions",
    "probs",
    "prob",
    "proba",
    "probabilities",
    "p",
    "logits",
    "logprobs",
    "y_pred",
)

FROM_COLUMNS, AS_INDEX = "columns", "index"


@dataclass(frozen=True, slots=True)
class Request:
    """What the user said about columns; None where nothing was said."""

    label: str | None = None
    probs: str | tuple[str, ...] | None = None
    """A name, a glob such as p_*, or a list of names with commas; or these names and globs one by one."""
    weight: str | None = None
    by: str | None = None
    where: tuple[Condition, ...] = ()
    classes: str | tuple[str, ...] | None = None
    """Names of the classes in the order of the columns, with commas or one by one; or "columns", or "index"."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The columns that are read."""

    label: str
    probs: tuple[str, ...]
    is_list: bool
    """Whether the one column of `probs` holds all classes of a row."""
    weight: str | None
    by: str | None
    where: tuple[Condition, ...]
    classes: tuple[str, ...] | None
    """Names that labels are looked up in; None if labels are class indices."""
    found: tuple[str, ...] = ()
    """What was not asked for but found, in words."""

    @property
    def wanted(self) -> Wanted:
        """The columns by what they are for."""
        weight = () if self.weight is None else (self.weight,)
        by = () if self.by is None else (self.by,)
        return Wanted((*self.probs, *weight), self.label, by, tuple(c.column for c in self.where))

    @property
    def known_classes(self) -> int | None:
        """The number of classes, where the columns alone say it."""
        if self.is_list:
            return None if self.classes is None else len(self.classes)
        return max(2, len(self.probs))  # a single column is the probability of class 1


def choose(fields: Mapping[str, Field], request: Request, file: str) -> Choice:
    """The columns of this file that the request means."""
    label = request.label or _found_label(fields, file)
    _require(fields, label, file, "--label")
    for name, option in ((request.weight, "--weight"), (request.by, "--by")):
        if name is not None:
            _require(fields, name, file, option)
    for condition in request.where:
        _require(fields, condition.column, file, "--where")
    named = {label, request.weight, request.by}
    probs = _asked_probs(fields, request.probs, named, file) if request.probs else None
    probs = probs or _found_probs(fields, named, file)
    is_list = len(probs) == 1 and fields[probs[0]].kind == "list"
    _require_numbers(fields, probs, is_list, file)
    found = [] if request.label else [f"labels from column {shown(label)}"]
    found += [] if request.probs else [_in_words(probs, is_list)]
    classes = _classes(fields[label], request, probs, is_list, found)
    return Choice(label, probs, is_list, request.weight, request.by, request.where, classes, tuple(found))


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
    _require_numbers(fields, choice.probs, choice.is_list, file)
    if request.probs is not None and not choice.is_list:
        named = {choice.label, choice.weight, choice.by}
        extra = [
            name for name in _asked_probs(fields, request.probs, named, file) if name not in choice.probs
        ]
        if extra:
            raise InputError(
                f"{file} has the probability column {shown(extra[0])}, which {first} has not",
                "files of one run have the same classes; name the columns one by one to choose",
            )


def _named(choice: Choice) -> Iterable[tuple[str, str]]:
    yield choice.label, "labels"
    yield from ((name, "probabilities") for name in choice.probs)
    if choice.weight is not None:
        yield choice.weight, "weights"
    if choice.by is not None:
        yield choice.by, "groups"
    yield from ((condition.column, "a condition") for condition in choice.where)


def _require(fields: Mapping[str, Field], name: str, file: str, option: str) -> None:
    if name not in fields:
        raise InputError(f"{file} has no column {shown(name)} ({option})", nearest(name, list(fields)))


def _require_numbers(fields: Mapping[str, Field], probs: Sequence[str], is_list: bool, file: str) -> None:
    if is_list:
        return
    for name in probs:
        if (problem := fields[name].problem) is not None:
            raise problem
        if not fields[name].numeric:
            held = {"list": "lists", "text": "text"}.get(fields[name].kind, "no numbers")
            raise InputError(
                f"column {shown(name)} of {file} holds {held}, not probabilities",
                "name the columns with --probs 'p_*', --probs a,b,c or one list column",
            )
    if len(probs) > MAX_CLASSES:
        raise InputError(
            f"{file} has {len(probs)} probability columns", f"at most {MAX_CLASSES} classes can be read"
        )


def _found_label(fields: Mapping[str, Field], file: str) -> str:
    names = [name for name, field in fields.items() if name.lower() in LABEL_NAMES and field.kind != "folder"]
    if len(names) == 1:
        return names[0]
    cause = (
        f"{file} has several columns that may be the labels: {', '.join(map(shown, names))}"
        if names
        else f"no column of {file} has a name that labels usually have"
    )
    columns = ", ".join(shown(name) for name in list(fields)[:12])
    raise InputError(cause, f"say which with --label; its columns begin with {columns}")


def _asked_probs(
    fields: Mapping[str, Field], asked: str | tuple[str, ...], named: set[str | None], file: str
) -> tuple[str, ...]:
    """Columns meant by a name, a list of names or a glob; a glob's in natural order, a list's as written."""
    if isinstance(asked, str) and asked in fields:
        return (asked,)
    probs: list[str] = []
    for part in asked.split(",") if isinstance(asked, str) else asked:
        if part in fields:
            probs.append(part)
            continue
        matches = [name for name in fields if fnmatchcase(name, part) and name not in named]
        if not matches:
            raise InputError(f"{file} has no column {shown(part)} (--probs)", nearest(part, list(fields)))
        probs += sorted(matches, key=natural_key)
    repeats = [name for name in probs if probs.count(name) > 1] if len(probs) < 10_000 else []
    if repeats:
        raise InputError(f"--probs names the column {shown(repeats[0])} twice", "name each class once")
    return tuple(probs)


def _found_probs(fields: Mapping[str, Field], named: set[str | None], file: str) -> tuple[str, ...]:
    """The one reading of the columns as probabilities; an error if there is none, or more than one."""
    free = {name: field for name, field in fields.items() if name not in named}
    readings: list[tuple[str, ...]] = [(name,) for name, field in free.items() if field.kind == "list"]
    readings += _series(free)
    if not readings:
        readings = [(name,) for name, field in free.items() if field.numeric and name.lower() in LIST_NAMES]
    if len(readings) == 1:
        return readings[0]
    for name, field in free.items():
        if not readings and name.lower() in LIST_NAMES and field.problem is not None:
            raise field.problem
    cause = (
        f"{file} can be read in several ways: {'; '.join(_in_words(r, len(r) == 1) for r in readings[:4])}"
        if readings
        else f"no columns of {file} look like probabilities"
    )
    raise InputError(cause, "say which with --probs, such as --probs 'p_*', --probs a,b,c or a list column")


def _series(fields: Mapping[str, Field]) -> Iterable[tuple[str, ...]]:
    """Columns of numbers that are named alike: a usual prefix with anything after it, or any prefix with numbers."""
    groups: dict[str, list[str]] = {}
    for name, field in fields.items():
        if not field.numeric:
            continue
        usual = [prefix for prefix in PROB_PREFIXES if name.lower().startswith(prefix)]
        numbered = re.fullmatch(r"(.*?)[0-9]+", name)
        prefix = name[: len(usual[0])] if usual else numbered[1] if numbered else None
        if prefix is not None:
            groups.setdefault(prefix, []).append(name)
    return (tuple(sorted(names, key=natural_key)) for names in groups.values() if len(names) > 1)


def _in_words(probs: Sequence[str], is_list: bool) -> str:
    if len(probs) == 1:
        return f"{'probabilities' if is_list else 'probability of class 1'} from column {shown(probs[0])}"
    middle = ", " if len(probs) == 2 else ", …, "
    return f"probabilities from {len(probs)} columns {shown(probs[0])}{middle}{shown(probs[-1])}"


def _classes(
    label: Field, request: Request, probs: Sequence[str], is_list: bool, found: list[str]
) -> tuple[str, ...] | None:
    """The names that labels are looked up in; None if they count classes from 0."""
    asked = request.classes
    if asked == AS_INDEX:
        return None
    if asked is not None and asked != FROM_COLUMNS:
        return _listed_classes(asked, probs, is_list)
    endings = None if len(probs) == 1 else class_names(probs, request.probs)
    if asked == FROM_COLUMNS:
        if endings is None:
            raise InputError(
                "a single column of probabilities does not name the classes", "list them: --classes cat,dog"
            )
        return endings
    if label.kind == "text":
        if endings is None:
            raise InputError("labels are names", "list them in the order of the classes: --classes cat,dog")
        found.append(f"classes {', '.join(map(shown, endings[:6]))}{' …' if len(endings) > 6 else ''}")
        return endings
    _refuse_other_numbers(endings)
    return None


def _listed_classes(asked: str | tuple[str, ...], probs: Sequence[str], is_list: bool) -> tuple[str, ...]:
    names = tuple(asked.split(",")) if isinstance(asked, str) else asked
    expected = None if is_list else max(2, len(probs))
    if expected is not None and len(names) != expected:
        raise InputError(
            f"--classes lists {len(names)} classes, but there are {expected} columns of probabilities",
            "list one name for each column, in the order of the columns",
        )
    if len(set(names)) != len(names):
        raise InputError("--classes lists a name twice", "list one name for each class")
    return names


def class_names(probs: Sequence[str], asked: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """What is left of the columns' names without what they begin with, or what a glob's star stood for.

    >>> class_names(["p_cat", "p_dog"], None), class_names(["cat", "dog"], "cat,dog")
    (('cat', 'dog'), ('cat', 'dog'))
    """
    if isinstance(asked, str) and asked.count("*") == 1 and "," not in asked:
        before, after = asked.split("*")
        return tuple(name[len(before) : len(name) - len(after)] for name in probs)
    if asked is not None:
        return tuple(probs)
    usual = [p for p in PROB_PREFIXES if all(name.lower().startswith(p) for name in probs)]
    if usual:
        return tuple(name[len(usual[0]) :] for name in probs)
    return tuple(re.sub(r"^.*?([0-9]+)$", r"\1", name) for name in probs)


def _refuse_other_numbers(endings: tuple[str, ...] | None) -> None:
    """Columns p_1 … p_C with labels that are numbers: whether label 1 is the first must not be guessed."""
    if endings is None or not all(ending.isdecimal() for ending in endings):
        return
    if [int(ending) for ending in endings] != list(range(len(endings))):
        first, last = endings[0], endings[-1]
        raise InputError(
            f"labels are numbers and the columns end in {first} to {last}, so that label 1 may mean two columns",
            f"pass --classes columns if label {first} means the column that ends in {first}, or --classes index if "
            "labels count the columns from 0",
        )
