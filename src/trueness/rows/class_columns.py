"""Which column of probabilities belongs to which class: one rule for files, data frames, Dask and Spark.

1. Columns whose endings are all whole numbers are taken by number (p_2 before p_10), others in the order they have.
2. Class names that are exactly the endings of the columns, or exactly their names, are matched to them by name.
3. Class names of which only some match are refused. Those of which none matches count the columns in their order.
4. Further files, batches and models are matched to the first one by name in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from trueness.refusals import InvalidValueError

PROB_PREFIXES = ("p_", "prob_", "probs_", "proba_", "y_prob_", "probability_")

COLUMNS, INDEX = "columns", "index"
"""What `classes` may be instead of a list: labels are the endings of the columns, or count the columns from 0."""

BOOLEANS: dict[Hashable, int] = {"false": 0, "False": 0, "FALSE": 0, "true": 1, "True": 1, "TRUE": 1}
"""Labels that are true or false mean class 1 or 0, however software writes them."""

SHOWN_CLASSES, SHOWN_ENDS = 20, 3

_SEPARATORS = "_-.:/ "


class Columns(NamedTuple):
    """Columns of probabilities, in the order of the classes."""

    names: tuple[str, ...]
    endings: tuple[str, ...]
    """The names without what they have in common, such as "cat" of p_cat and p_dog."""

    def taken(self, places: Sequence[int]) -> Columns:
        """The columns in another order."""
        return Columns(tuple(self.names[i] for i in places), tuple(self.endings[i] for i in places))

    @property
    def numbers(self) -> list[int] | None:
        """The endings as numbers, if all are different whole numbers, or true and false.

        >>> columns_of(["p_10", "p_2"], "p*").numbers, columns_of(["p_low", "p_high"]).numbers
        ([10, 2], None)
        """
        if all(ending.lower() in BOOLEANS for ending in self.endings):
            found = [BOOLEANS[ending.lower()] for ending in self.endings]
        else:
            found = _whole_numbers(self.endings) or _whole_numbers(_without_shared_letters(self.endings))
        return found if len(set(found)) == len(self.endings) else None

    @property
    def order(self) -> tuple[int, ...]:
        """The places of the columns by number, or as they are if they are not numbered."""
        numbers = self.numbers
        places = range(len(self.names))
        return tuple(places) if numbers is None else tuple(sorted(places, key=numbers.__getitem__))


def columns_of(names: Sequence[str], pattern: str | None = None) -> Columns:
    """Columns with their endings: what the star of a pattern stands for, or the names without their common parts.

    >>> columns_of(["p_cat", "p_dog"]).endings, columns_of(["a2_x", "a10_x"], "a*_x").endings
    (('cat', 'dog'), ('2', '10'))
    >>> columns_of(["class10", "class11"]).endings, columns_of(["cat", "cow"]).endings
    (('10', '11'), ('cat', 'cow'))
    """
    if pattern is not None and pattern.count("*") == 1:
        before, after = map(len, pattern.split("*"))
        return Columns(tuple(names), tuple(name[before : len(name) - after] for name in names))
    usual = [len(p) for p in PROB_PREFIXES if all(name.lower().startswith(p) for name in names)]
    start = usual[0] if usual else _shared_beginning(names)
    endings = [name[start:] for name in names]
    if len(names) > 1:
        shared = _shared_letters([ending[::-1] for ending in endings])[::-1]
        cut = next((place for place, letter in enumerate(shared) if letter in _SEPARATORS), len(shared))
        endings = [ending[: len(ending) - (len(shared) - cut)] for ending in endings]
    usable = all(endings) and len(set(endings)) == len(endings)
    return Columns(tuple(names), tuple(endings if usable else names))


def _shared_beginning(names: Sequence[str]) -> int:
    """How many letters all names begin with, up to a separator or to numbers."""
    if len(names) < 2:
        return 0
    shared = _shared_letters(names).rstrip("0123456789")
    if _whole_numbers([name[len(shared) :] for name in names]):
        return len(shared)
    return 1 + max(shared.rfind(separator) for separator in _SEPARATORS)


def _whole_numbers(texts: Sequence[str]) -> list[int]:
    """The numbers that the texts are; none unless all of them are."""
    return [int(text) for text in texts] if all(re.fullmatch("[0-9]+", text) for text in texts) else []


def _without_shared_letters(texts: Sequence[str]) -> list[str]:
    """What is between the letters that all texts begin with and those that all end with; numbers stay whole."""
    start = len(_shared_letters(texts).rstrip("0123456789"))
    rest = [text[start:][::-1] for text in texts]
    end = len(_shared_letters(rest).rstrip("0123456789"))
    return [text[end:][::-1] for text in rest]


def _shared_letters(names: Sequence[str]) -> str:
    """What all names begin with: what the first and the last in order do."""
    first, last = min(names), max(names)
    unlike = (place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return first[: next(unlike, len(first))]


def matched(wanted: Sequence[str], columns: Columns, what: str) -> tuple[int, ...] | None:
    """For each wanted class the place of its column by name; None if no name matches, an error if only some do."""
    for have in (columns.names, columns.endings):
        place_of = {_key(name): place for place, name in enumerate(have)}
        if len(wanted) == len(have) and {_key(name) for name in wanted} == set(place_of):
            return tuple(place_of[_key(name)] for name in wanted)
    loosely = {name.strip().casefold() for name in (*columns.names, *columns.endings)}
    if not any(name.strip().casefold() in loosely for name in wanted):
        return None
    unmatched = next((name for name in wanted if name not in {*columns.names, *columns.endings}), wanted[-1])
    raise InvalidValueError(
        "unmatched-columns",
        "{what!t} ({wanted}) and the columns here ({columns}) match only in part: {unmatched!r} is none of them",
        "name the same classes in both, or in none",
        argument="classes",
        what=what,
        wanted=listed(wanted),
        columns=listed(columns.names),
        unmatched=unmatched,
    )


def _key(name: str) -> str:
    return name.lower() if name in BOOLEANS else name


def matched_to(first: Columns, columns: Columns, what: str) -> tuple[int, ...] | None:
    """For each column of the first file, batch or model the place of the same column here; None if no name matches."""
    if sorted(first.names) == sorted(columns.names):
        return tuple(columns.names.index(name) for name in first.names)
    return matched(first.endings, columns, what)


def label_names(columns: Columns) -> dict[Hashable, int]:
    """What labels that are names mean: the ending or the whole name of a column."""
    index_of: dict[Hashable, int] = {}
    for names in (columns.endings, columns.names):
        for index, name in enumerate(names):
            if index_of.setdefault(name, index) != index:
                raise InvalidValueError(
                    "ambiguous-columns",
                    "the label {label!r} may mean the column {second!r} or {first!r}",
                    "list the classes in the order of the columns",
                    argument="classes",
                    label=name,
                    second=columns.names[index],
                    first=columns.names[index_of[name]],
                )
    numbers = columns.numbers
    if numbers is None:
        return index_of
    index_of |= {number: index for index, number in enumerate(numbers)}
    return (BOOLEANS if numbers == list(range(len(numbers))) else {}) | index_of


def require_index(columns: Columns) -> None:
    """Refuse columns p_1 … p_C beside labels that are numbers: label 1 may mean the first or the second of them."""
    numbers = columns.numbers
    if numbers is None or numbers == list(range(len(numbers))):
        return
    first, last = columns.endings[0], columns.endings[-1]
    raise InvalidValueError(
        "ambiguous-columns",
        "labels are numbers and the columns end in {first} to {last}, so that label 1 may mean two columns",
        "pass {classes_columns} if label {first} means the column that ends in {first}, or {classes_index} if labels "
        "count the columns from 0",
        argument="classes",
        first=first,
        last=last,
    )


class Arrangement(NamedTuple):
    """Columns put in the order of the classes, and what labels mean."""

    places: tuple[int, ...]
    index_of: dict[Hashable, int] | None
    """Class index by name; None if labels are class indices."""


def arrange(
    columns: Columns, classes: Any, *, names_as_labels: bool, listed_in_order: bool, first: Columns | None
) -> Arrangement:
    """The columns, which come in the order of rule 1, in the order of the classes.

    `classes` is a list of names, "columns", "index" or None. `listed_in_order` says that the user named the columns one
    by one, so that labels which are numbers count them. `first` are the columns that others are matched to.
    """
    named = isinstance(classes, Sequence) and not isinstance(classes, str)
    places = matched([text_of(name) for name in classes], columns, "classes") if named else None
    if places is None and first is not None:
        places = matched_to(first, columns, "columns seen before")
    if places is None:
        places = tuple(range(len(columns.names)))
    if named:
        return Arrangement(places, {name: index for index, name in enumerate(classes)})
    if classes == COLUMNS or (classes is None and names_as_labels):
        return Arrangement(places, label_names(columns.taken(places)))
    if classes is None and not listed_in_order:
        require_index(columns.taken(places))
    return Arrangement(places, None)


def text_of(name: Any) -> str:
    """A class's name as text: 7.0 is 7."""
    return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)


def mapping(names: Sequence[str], classes: Sequence[str] | None = None) -> str:
    """Which class is read from which column, in a line; of many classes the ends.

    >>> mapping(["p_low", "p_high"]), mapping(["p 1", "p 2"], ["a", "b"])
    ('0=p_low 1=p_high', "a='p 1' b='p 2'")
    """
    of = range(len(names)) if classes is None else classes
    pairs = [f"{_plain(str(label))}={_plain(name)}" for label, name in zip(of, names, strict=True)]
    if len(pairs) <= SHOWN_CLASSES:
        return " ".join(pairs)
    return " ".join([*pairs[:SHOWN_ENDS], "…", *pairs[-SHOWN_ENDS:]])


def _plain(name: str) -> str:
    return name if re.fullmatch(r"[\w.+-]+", name) and len(name) <= 60 else repr(name[:60])


def listed(names: Sequence[str], most: int = 6) -> str:
    """The first few names."""
    return ", ".join(map(repr, names[:most])) + (", …" if len(names) > most else "")


def by_text(index_of: Mapping[Hashable, int]) -> dict[str, int]:
    """The same names as text, as files have them."""
    return {text_of(name): index for name, index in index_of.items()}
