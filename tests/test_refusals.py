"""Refusals are values: every template can be rendered in both vocabularies, and no code reads a message.

The source is read as syntax trees, so that a new refusal is covered without a test of its own.
"""

import ast
import pickle
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple

import pytest

import trueness as tn
from trueness.cli.vocabulary import COMMAND
from trueness.files import SKIPPED
from trueness.refusals import (
    PYTHON,
    InvalidTypeError,
    InvalidValueError,
    MissingLibraryError,
    Refusal,
    refusal_of,
)
from trueness.rows import RowCode

SOURCE = Path(tn.__file__).parent
KINDS = ("InvalidValueError", "InvalidTypeError", "MissingLibraryError", "Refusal")
ALWAYS = {"place", "argument"}
"""Names that every template may use."""
ADDED_LATER = {"value", "row", "class_index", "source"}
"""Facts that `with_facts` adds to the refusal of a row."""


class Call(NamedTuple):
    """A call that makes a refusal."""

    place: str
    templates: list[str]
    facts: set[str]
    has_further_facts: bool
    """Whether facts are passed as `**facts`, which the syntax does not show."""


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE), ast.parse(path.read_text(encoding="utf-8"))


def text_of(node: ast.expr | None) -> str | None:
    """A literal, or literals that are added; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return "".join(filter(None, (text_of(node.left), text_of(node.right))))
    return None


def calls() -> Iterator[Call]:
    for path, tree in trees():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Name, ast.Attribute)):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if name not in KINDS:
                continue
            texts = [text_of(argument) for argument in node.args[1:3]]
            names = {keyword.arg for keyword in node.keywords}
            further = None in names or any(isinstance(argument, ast.Starred) for argument in node.args)
            facts = {name for name in names if name is not None}
            yield Call(f"{path}:{node.lineno}", [text for text in texts if text], facts, further)


CALLS = list(calls())


def placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


def test_the_source_has_refusals() -> None:
    """The tests below would pass for a scan that finds nothing."""
    assert len(CALLS) > 100
    assert sum(len(call.templates) for call in CALLS) > 150


def test_both_vocabularies_have_the_same_terms() -> None:
    assert set(PYTHON) == set(COMMAND)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.place)
def test_every_placeholder_is_a_fact_or_a_term(call: Call) -> None:
    known = call.facts | ALWAYS | set(PYTHON) | ADDED_LATER
    for template in call.templates:
        missing = placeholders(template) - known
        assert call.has_further_facts or not missing, (template, missing)


def test_no_option_of_the_command_is_written_in_a_template() -> None:
    """Options are terms, so that users of Dask and Spark read Python's names."""
    outside = [call for call in CALLS if not call.place.startswith(("cli", "reproduction"))]
    spelled = [call.place for call in outside for text in call.templates if "--" in text]
    assert spelled == []


READING = ("startswith", "endswith", "replace", "partition", "rpartition", "removeprefix", "find", "index")


def names_of_errors(tree: ast.Module) -> set[str]:
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}


def is_text_of_error(node: ast.expr, errors: set[str]) -> bool:
    """`str(error)`, `error.cause`, `error.remedy` or `error.args[…]`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("str", "repr"):
        return any(isinstance(argument, ast.Name) and argument.id in errors for argument in node.args)
    if isinstance(node, ast.Attribute) and node.attr in ("cause", "remedy"):
        return isinstance(node.value, ast.Name) and node.value.id in errors
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "args"
    ):
        return isinstance(node.value.value, ast.Name) and node.value.value.id in errors
    return False


def readings(tree: ast.Module) -> Iterator[ast.AST]:
    """Places where the text of an error is searched, cut or compared."""
    errors = names_of_errors(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            on_text = node.func.attr in READING and is_text_of_error(node.func.value, errors)
            is_pattern = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
            if on_text or (is_pattern and any(is_text_of_error(argument, errors) for argument in node.args)):
                yield node
        elif isinstance(node, ast.Compare) and any(
            is_text_of_error(side, errors) for side in (node.left, *node.comparators)
        ):
            yield node


def test_no_code_reads_the_text_of_an_error() -> None:
    found = [f"{path}:{node.lineno}" for path, tree in trees() for node in readings(tree)]  # type: ignore[attr-defined]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "str(error).startswith('y')",
        "'x' in str(error)",
        "re.search('x', str(error))",
        "error.cause.replace('a', 'b')",
        "str(error).partition('; ')",
        "error.args[0] == 'x'",
    ],
)
def test_the_scan_finds_readings(line: str) -> None:
    tree = ast.parse(f"try:\n    f()\nexcept ValueError as error:\n    {line}\n")
    assert len(list(readings(tree))) == 1


def test_every_skipped_row_has_a_label() -> None:
    codes = {code.refusal_code for code in RowCode if code != RowCode.GOOD}
    assert codes <= set(SKIPPED)


@pytest.mark.parametrize("kind", [InvalidValueError, InvalidTypeError, MissingLibraryError])
def test_a_refusal_reaches_another_process_whole(kind: type[Refusal]) -> None:
    facts: dict[str, Any] = {"value": float("inf"), "row": 3, "source": "a {b}.csv", "column": "{x}"}
    error = kind("not-finite", "column {column!q} is {value}", "{skip_rows}", **facts)
    for copy in (pickle.loads(pickle.dumps(error)), refusal_of(error.to_json())):
        assert type(copy) is kind
        assert (copy.code, copy.facts, copy.args) == (error.code, facts, error.args)
        assert copy.render(COMMAND) == error.render(COMMAND)
    assert str(error) == "a {b}.csv, row 3: column '{x}' is inf; remove such rows first"


def test_text_of_a_user_is_quoted_and_shortened() -> None:
    error = InvalidValueError("x", "{column!q} and {other!t}", column="a\x1b" * 50, other="label")
    assert error.render(COMMAND)[0] == repr("a\x1b" * 30 + "…") + " and --label"
