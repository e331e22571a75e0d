"""Refusals: input that cannot be used, as a value that is raised as an exception.

A refusal says what is wrong (`code` for programs, `cause` for people), where (`argument`, `row`, `class_index`), the
`value`, and what to do (`remedy`). Cause and remedy are templates: a name in braces is a fact of the refusal, or a term
of a vocabulary, which says how Python or the command spells an argument. `{column!q}` quotes and shortens a fact that
comes from a file or a user, `{other!t}` renders a fact that names a term. `str(error)` uses Python's terms; the command
calls `render` with its own. Code never parses a message: it uses `code` and the facts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any, Self

PYTHON: Mapping[str, str] = {
    "y_true": "y_true",
    "y_prob": "y_prob",
    "sample_weight": "sample_weight",
    "label": "label",
    "probs": "probs",
    "weight": "sample_weight",
    "groups": "groups",
    "compare_with_rest": "compare each with the rest: compare_groups('rest')",
    "clusters": "clusters",
    "classes": "classes",
    "classes_names": "classes=['cat', 'dog']",
    "classes_columns": "classes='columns'",
    "classes_index": "classes='index'",
    "where": "where",
    "row_filters": "the conditions",
    "label_file": "label_file",
    "class_axis": "class_axis",
    "pass_class_axis": "pass class_axis=, 1 for (images, classes, height, width)",
    "ignore_index": "ignore_index",
    "leave_out_label": "to leave out rows with this label call assess, compare or tabulate with ignore_index=",
    "bins": "bins",
    "confidence_bins": "confidence_bins",
    "by_class": "by_class=False",
    "label_dir": "name the folder of labels, such as labelsTr",
    "equal_mass": "bins=EqualMass(10)",
    "ragged": "ragged=True",
    "grid": "EqualWidth(4000)",
    "engine": "engine",
    "max_cluster": "max_cluster",
    "max_weight": "max_weight",
    "average_run": "average_run",
    "dependence": "dependence",
    "dependence_look": "dependence='look'",
    "alpha": "alpha",
    "tolerance": "tolerance",
    "reference": "reference",
    "class_bins": "class_bins",
    "variation": "variation",
    "ties": "ties",
    "n_threads": "n_threads",
    "engine_compiled": "engine='compiled'",
    "engine_portable": "engine='portable'",
    "from_logits": "from_logits=True",
    "normalize": "normalize=True",
    "divide_by_100": "divide y_prob by 100",
    "skip_rows": "remove such rows first",
    "no_header": "write a header, or use the command with --no-header",
    "choose_format": "the ending must be that of one of",
    "or_pass_format": "",
    "pass_delimiter": "write it with commas",
    "pass_decimal": "write decimals with a point",
    "pass_encoding": "create the file again in UTF-8",
    "pass_sheet": "save it with one sheet",
    "pass_key": "join them by a key",
    "name_label_file": "save both as NPZ",
    "normalise_by": "normalise_by",
    "normalise_none": "normalise_by='none'",
    "normalise_char": "normalise_by='char'",
    "normalise_byte": "normalise_by='byte'",
    "target_index": "target='index'",
    "target_text": "target='text'",
    "filter": "filter",
    "options": "options",
    "answer_at": "answer_at='Answer:'",
    "labels": "labels",
    "key": "key",
    "scorer": "scorer",
    "partial": "partial=True",
    "perturbation": "perturbation",
    "reading_stated": "reading='stated'",
    "reading_letters": "reading='letters'",
    "reading_votes": "reading='votes'",
    "stated_columns": "read them with pandas or csv and call assess_event(correct, confidence)",
    "percent": "percent=True",
}
"""How Python spells the terms that templates name. The command's are in `trueness.cli.vocabulary`."""


class Refusal(Exception):  # noqa: N818  the word of the vocabulary; its subclasses end in Error
    """Input that was refused. Raised as `InvalidValueError`, `InvalidTypeError` or `MissingLibraryError`.

    >>> error = InvalidValueError("not-finite", "{y_prob} is {value}{place}", "pass numbers", row=3, value=math.nan)
    >>> str(error)
    'y_prob is nan in row 3; pass numbers'
    >>> error.code, error.row
    ('not-finite', 3)
    """

    def __init__(self, code: str, cause: str, remedy: str = "", **facts: Any) -> None:
        super().__init__(code, cause, remedy)
        self.code = code
        self.facts = facts

    @property
    def argument(self) -> str | None:
        """The argument, column or file that is refused."""
        return self.facts.get("argument")

    @property
    def row(self) -> int | None:
        """The first bad row: counted from 0 in arrays, from 1 in files."""
        return self.facts.get("row")

    @property
    def class_index(self) -> int | None:
        """The class of the bad value, counted from 0."""
        return self.facts.get("class_index")

    @property
    def value(self) -> Any:
        """The value that is refused."""
        return self.facts.get("value")

    @property
    def cause(self) -> str:
        """What is wrong, in Python's terms."""
        return self.render(PYTHON)[0]

    @property
    def remedy(self) -> str:
        """What to do about it, in Python's terms; empty if the cause says it."""
        return self.render(PYTHON)[1]

    def render(self, vocabulary: Mapping[str, str]) -> tuple[str, str]:
        """Cause and remedy in the terms of a vocabulary."""
        argument = (
            vocabulary.get(str(self.argument), str(self.argument))
            .removesuffix("=True")
            .removesuffix("=False")
        )
        terms = {**vocabulary, "place": self._place(), **self.facts, "argument": argument}
        _, cause, remedy = self.args
        formatter = _Formatter(vocabulary)
        return self._source() + formatter.vformat(cause, (), terms), formatter.vformat(remedy, (), terms)

    def _source(self) -> str:
        """The file and the row in it, as the beginning of a sentence; empty unless the file is known."""
        if "source" not in self.facts:
            return ""
        return (
            f"{self.facts['source']}: " if self.row is None else f"{self.facts['source']}, row {self.row}: "
        )

    def _place(self) -> str:
        """The row and the class, as the end of a clause; the row of a file is named before the cause instead."""
        row = None if "source" in self.facts else self.row
        parts = [f"row {row}"] if row is not None else []
        parts += [f"class {self.class_index}"] if self.class_index is not None else []
        return f" in {', '.join(parts)}" if parts else ""

    def __str__(self) -> str:
        return "; ".join(part for part in self.render(PYTHON) if part)

    def with_facts(self, remedy: str | None = None, **facts: Any) -> Self:
        """The same refusal with further facts, such as the file and row it is about, or another remedy."""
        code, cause, old = self.args
        return type(self)(code, cause, old if remedy is None else remedy, **(self.facts | facts))

    def to_json(self) -> str:
        """The refusal as text, so that another process can raise it again: see `refusal_of`."""
        import json  # not on top: `trueness --help` loads this module

        code, cause, remedy = self.args
        facts = {name: _transportable(value) for name, value in self.facts.items()}
        return json.dumps([type(self).__name__, code, cause, remedy, facts])

    def to_dict(self, vocabulary: Mapping[str, str] = PYTHON) -> dict[str, Any]:
        """As plain numbers and strings, for JSON."""
        cause, remedy = self.render(vocabulary)
        return {
            "kind": "refusal",
            "code": self.code,
            "argument": self.argument,
            "source": self.facts.get("source"),
            "row": self.row,
            "class_index": self.class_index,
            "value": _plain(self.value),
            "cause": cause,
            "remedy": remedy,
        }


class InvalidValueError(Refusal, ValueError):
    """A value that cannot be used."""


class InvalidTypeError(Refusal, TypeError):
    """A value of a type that cannot be used."""


class MissingLibraryError(Refusal, ImportError):
    """An optional library that is needed and not installed."""


def refusal_of(text: str) -> Refusal:
    """The refusal that `Refusal.to_json` wrote.

    >>> refusal_of(InvalidValueError("no-rows", "{file!q} has no rows", file="a.csv").to_json())
    InvalidValueError('no-rows', '{file!q} has no rows', '')
    """
    import json

    name, code, cause, remedy, facts = json.loads(text)
    kinds = {kind.__name__: kind for kind in (InvalidValueError, InvalidTypeError, MissingLibraryError)}
    return kinds[name](code, cause, remedy, **facts)


def quote(value: Any, most: int = 60) -> str:
    r"""A value of a file or a user as it may be printed: text in quotes, without control characters, and not too long.

    >>> quote("a\x1b[31m"), quote(3.5)
    ("'a\\x1b[31m'", '3.5')
    >>> len(quote("b" * 100))
    63
    """
    text = str(value)
    return repr(text if len(text) <= most else text[:most] + "…") if isinstance(value, str) else text[:most]


def nearest(name: str, known: Sequence[str]) -> str:
    """A remedy: the known name that was probably meant, or all of them if they are few and none is near.

    >>> nearest("labels", ["label", "weight"]), nearest("z", ["label", "weight"])
    ("did you mean 'label'?", "available: 'label', 'weight'")
    >>> nearest("Y", ["y", "p_0"])
    "did you mean 'y'?"
    """
    from difflib import get_close_matches

    lower = {other.lower(): other for other in reversed(known)}
    near = [lower[letters] for letters in get_close_matches(name.lower(), list(lower), n=1)]
    if near:
        return f"did you mean {quote(near[0])}?"
    listed = ", ".join(quote(other) for other in known[:12])
    return f"available: {listed}" + (f" and {len(known) - 12} more" if len(known) > 12 else "")


def reason_of(error: BaseException, most: int = 200) -> str:
    """What another library says about a failure, on one line and not too long; its type if it says nothing."""
    return " ".join(str(error).split())[:most] or type(error).__name__


class _Formatter(Formatter):
    """Templates with two more conversions: `!q` quotes a value, `!t` looks a term up in the vocabulary."""

    def __init__(self, vocabulary: Mapping[str, str]) -> None:
        self._vocabulary = vocabulary

    def convert_field(self, value: Any, conversion: Any) -> Any:
        if conversion == "q":
            return quote(value)
        if conversion == "t":
            return self._vocabulary.get(value, value)
        return super().convert_field(value, conversion)


def _transportable(value: Any) -> Any:
    """The value as JSON of Python can hold it: numbers stay numbers, infinite ones too."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else str(value)


def _plain(value: Any) -> Any:
    """The value as JSON can hold it: a number or a boolean as it is, anything else as text."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else str(value)
