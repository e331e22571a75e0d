"""Which column of probabilities belongs to which class, in files, data frames, Dask and Spark.

1. Columns whose endings are all whole numbers are ordered by number (p_2 before p_10), others keep their order.
2. Class names that are exactly the endings of the columns, or exactly their names, are matched to them by name.
3. Class names of which only some match are refused. If none matches, they name the columns in their order.
4. Further files, batches and models are matched to the first one by name in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from trueness.refusals import InvalidValueError

PROB_PREFIXES = ("p_", "prob_", "probs_", "proba_", "y_prob_", "probability_")

COLUMNS, INDEX = "columns", "index"
"""Values of `classes` other than a list: labels are the endings of the columns, or count the columns from 0."""

BOOLEANS: dict[Hashable, int] = {"false": 0, "False": 0, "FALSE": 0, "true": 1, "True": 1, "TRUE": 1}
"""The class of labels that are true or false, in the spellings that software uses."""

SHOWN_CLASSES, SHOWN_ENDS = 20, 3

_SEPARATORS = "_-.:/ "


class Columns(NamedTuple):
    """Columns of probabilities, in the order of the classes."""

    names: tuple[str, ...]
    endings: tuple[str, ...]
    """The names without their common parts, such as "cat" and "dog" of p_cat and p_dog."""

    def take(self, places: Sequence[int]) -> Columns:
        """The columns in another order."""
        return Columns(tuple(self.names[i] for i in places), tuple(self.endings[i] for i in places))

    @property
    def numbers(self) -> list[int] | None:
        """The endings as numbers; None unless all are different whole numbers, or true and false.

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
        """The positions of the columns ordered by number, or as they are if they are not numbered."""
        numbers = self.numbers
        places = range(len(self.names))
        return tuple(places) if numbers is None else tuple(sorted(places, key=numbers.__getitem__))


def columns_of(names: Sequence[str], pattern: str | None = None) -> Columns:
    """Columns with their endings: the text matched by the star of a pattern, or the names without their common parts.

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
    """The length of the common beginning of all names, up to a separator or to numbers."""
    if len(names) < 2:
        return 0
    shared = _shared_letters(names).rstrip("0123456789")
    if _whole_numbers([name[len(shared) :] for name in names]):
        return len(shared)
    return 1 + max(shared.rfind(separator) for separator in _SEPARATORS)


def _whole_numbers(texts: Sequence[str]) -> list[int]:
    """The texts as numbers; empty unless all of them are whole numbers."""
    return [int(text) for text in texts] if all(re.fullmatch("[0-9]+", text) for text in texts) else []


def _without_shared_letters(texts: Sequence[str]) -> list[str]:
    """The texts without their common beginning and end; numbers are not cut."""
    start = len(_shared_letters(texts).rstrip("0123456789"))
    rest = [text[start:][::-1] for text in texts]
    end = len(_shared_letters(rest).rstrip("0123456789"))
    return [text[end:][::-1] for text in rest]


def _shared_letters(names: Sequence[str]) -> str:
    """The common beginning of all names, which is that of the first and the last in order."""
    first, last = min(names), max(names)
    unlike = (place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return first[: next(unlike, len(first))]


def match_names(wanted: Sequence[str], columns: Columns, what: str) -> tuple[int, ...] | None:
    """For each wanted class the position of its column; None if no name matches, a refusal if only some do."""
    for have in (columns.names, columns.endings):
        place_of = {_key(name): place for place, name in enumerate(have)}
        if len(wanted) == len(have) and {_key(name) for name in wanted} == set(place_of):
            return tuple(place_of[_key(name)] for name in wanted)
    loosely = {name.strip().casefold() for name in (*columns.names, *columns.endings)}
    if not any(name.strip().casefold() in loosely for name in wanted):
        return None
    unmatched = next((name for name in wanted if name not in {*columns.names, *columns.endings}), wanted[-1])
    cause = (
        f"{what} ({first_names(wanted)}) and the columns here ({first_names(columns.names)}) match only "
        f"partly: no match for {unmatched!r}"
    )
    remedy = "use the same names in both, or in neither"
    raise InvalidValueError("unmatched-columns", cause, remedy, argument="classes")


def _key(name: str) -> str:
    return name.lower() if name in BOOLEANS else name


def match_columns(first: Columns, columns: Columns, what: str) -> tuple[int, ...] | None:
    """For each column of the first file, batch or model the position of its column here; None if no name matches."""
    if sorted(first.names) == sorted(columns.names):
        return tuple(columns.names.index(name) for name in first.names)
    return match_names(first.endings, columns, what)


def label_names(columns: Columns) -> dict[Hashable, int]:
    """Class index by name, for labels that are the ending or the whole name of a column."""
    index_of: dict[Hashable, int] = {}
    for names in (columns.endings, columns.names):
        for index, name in enumerate(names):
            if index_of.setdefault(name, index) != index:
                cause = (
                    f"the label {name!r} may mean the column {columns.names[index]!r} or "
                    f"{columns.names[index_of[name]]!r}"
                )
                remedy = "list the classes in the order of the columns"
                raise InvalidValueError("ambiguous-columns", cause, remedy, argument="classes")
    numbers = columns.numbers
    if numbers is None:
        return index_of
    index_of |= {number: index for index, number in enumerate(numbers)}
    return (BOOLEANS if numbers == list(range(len(numbers))) else {}) | index_of


def require_index(columns: Columns) -> None:
    """Refuse columns p_1 … p_C with labels that are numbers: label 1 may mean the first or the second of them."""
    numbers = columns.numbers
    if numbers is None or numbers == list(range(len(numbers))):
        return
    first, last = columns.endings[0], columns.endings[-1]
    cause = f"labels are numbers and the columns end in {first} to {last}, so label 1 is ambiguous"
    remedy = (
        f"pass `classes='columns'` if label {first} means the column that ends in {first}, or "
        "`classes='index'` if labels count the columns from 0"
    )
    raise InvalidValueError("ambiguous-columns", cause, remedy, argument="classes")


class Arrangement(NamedTuple):
    """The order of the columns by class, and the classes that labels stand for."""

    places: tuple[int, ...]
    index_of: dict[Hashable, int] | None
    """Class index by name; None if labels are class indices."""


def arrange(
    columns: Columns, classes: Any, *, names_as_labels: bool, listed_in_order: bool, first: Columns | None
) -> Arrangement:
    """The columns (in the order of rule 1) in the order of the classes.

    `classes` is a list of names, "columns", "index" or None. With `listed_in_order` the user named the columns one by
    one, so that labels which are numbers count them. `first` are the columns to which others are matched.
    """
    named = isinstance(classes, Sequence) and not isinstance(classes, str)
    places = match_names([text_of(name) for name in classes], columns, "`classes`") if named else None
    if places is None and first is not None:
        places = match_columns(first, columns, "columns seen before")
    if places is None:
        places = tuple(range(len(columns.names)))
    if named:
        return Arrangement(places, {name: index for index, name in enumerate(classes)})
    if classes == COLUMNS or (classes is None and names_as_labels):
        return Arrangement(places, label_names(columns.take(places)))
    if classes is None and not listed_in_order:
        require_index(columns.take(places))
    return Arrangement(places, None)


def text_of(name: Any) -> str:
    """The name of a class as text: 7.0 is "7"."""
    return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)


def mapping(names: Sequence[str], classes: Sequence[str] | None = None) -> str:
    """The column of each class, on one line; of many classes the first and the last few.

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


def first_names(names: Sequence[str], most: int = 6) -> str:
    """The first few names, quoted."""
    return ", ".join(map(repr, names[:most])) + (", …" if len(names) > most else "")


def names_of_classes(
    index_of: Mapping[Any, int] | None, columns: Columns | None, n_classes: int
) -> tuple[str, ...] | None:
    """The names of the classes: those that were listed, else the endings of the columns; None if only numbered.

    `index_of` is the class index of labels that are names. It lists the classes if it has one name for each; otherwise
    it has several spellings of each name, such as "cat" and "p_cat".

    >>> names_of_classes({"no": 0, "yes": 1}, None, 2), names_of_classes(None, columns_of(["p_0", "p_1"]), 2)
    (('no', 'yes'), None)
    """
    if index_of is not None and sorted(index_of.values()) == list(range(n_classes)):
        found = tuple(text_of(name) for name in sorted(index_of, key=index_of.__getitem__))
    elif columns is not None and len(columns.endings) == n_classes:
        found = columns.endings
    else:
        return None
    return None if found == tuple(map(str, range(n_classes))) else found


def by_text(index_of: Mapping[Hashable, int]) -> dict[str, int]:
    """The same mapping with names as text, as in files."""
    return {text_of(name): index for name, index in index_of.items()}
