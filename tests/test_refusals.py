"""Refusals are values: the command spells arguments in backticks as options, and no code reads a message.

The source is read as syntax trees, so that a new refusal is covered without a test of its own.
"""

import ast
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trueness as tn
from trueness.cli._errors import OF_COMMAND, as_options
from trueness.files import SKIPPED
from trueness.refusals import InvalidTypeError, InvalidValueError, MissingLibraryError, Refusal, quote
from trueness.rows import RowCode

SOURCE = Path(tn.__file__).parent
KINDS = ("InvalidValueError", "InvalidTypeError", "MissingLibraryError", "Refusal")


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE), ast.parse(path.read_text(encoding="utf-8"))


def calls(tree: ast.AST) -> list[ast.Call]:
    """The calls that make a refusal."""
    named = (
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    )
    return [node for node in named if isinstance(node.func, ast.Name) and node.func.id in KINDS]


def texts(tree: ast.AST) -> Iterator[str]:
    """All literals; an f-string is its text with `{}` for each field."""
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value


def texts_of_refusals() -> Iterator[tuple[str, str]]:
    """The texts of statements that make a refusal, and of the assignments of its cause and remedy."""
    for path, tree in trees():
        for node in ast.walk(tree) if calls(tree) else ():
            names = [name.id for name in getattr(node, "targets", ()) if isinstance(name, ast.Name)]
            if {*names} & {"cause", "remedy"} or (isinstance(node, (ast.Raise, ast.Return)) and calls(node)):
                yield from ((str(path), text) for text in texts(node))


def test_every_phrase_of_the_command_occurs_in_a_refusal() -> None:
    """One that is written otherwise would be printed in Python's words."""
    library = [text for path, tree in trees() if path.parts[0] != "cli" for text in texts(tree)]
    found = {words for words in OF_COMMAND for text in library if words in text}
    assert found == OF_COMMAND.keys()


def test_refusals_of_the_library_do_not_name_options_of_the_command() -> None:
    """Users of Dask and Spark read Python's names."""
    found = [
        (path, text) for path, text in texts_of_refusals() if not path.startswith(("cli", "reproduction"))
    ]
    assert len(found) > 500
    spelled = [(path, text) for path, text in found if "--" in text.replace("with --no-header", "")]
    assert spelled == []


@pytest.mark.parametrize(
    ("python", "command"),
    [
        ("pass `from_logits=True`", "pass --from-logits"),
        ("`by_class=False` or `normalise_by='byte'`", "--no-by-class or --normalise-by byte"),
        ("say `answer_at='Answer:'`", "say --answer-at 'Answer:'"),
        ("pass `class_axis=`, 1 for images", "pass --class-axis, 1 for images"),
        ("`sample_weight` is nan", "the weight is nan"),
        ("column 'w' (`sample_weight`)", "column 'w' (--sample-weight)"),
        ("divide `y_prob` by 100", "pass --percent"),
        ("a ` b `C` `x y`", "a ` b `C` `x y`"),
    ],
)
def test_the_command_spells_arguments_as_its_options(python: str, command: str) -> None:
    assert as_options(python) == command


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
    facts: dict[str, Any] = {"value": float("inf"), "row": 3, "source": "a {b}.csv", "argument": "probs"}
    error = kind("not-finite", "column '{x}' is inf", "remove such rows first", **facts)
    for copy in (pickle.loads(pickle.dumps(error)), Refusal.of_dict(error.to_dict())):
        assert type(copy) is kind
        assert vars(copy) == vars(error)
        assert (copy.cause, copy.remedy, copy.args) == (error.cause, error.remedy, error.args)
    assert str(error) == "a {b}.csv, row 3: column '{x}' is inf; remove such rows first"


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"row": 5}, "p is 2 in row 5, class 1, not in row 30"),
        ({"source": "a.csv", "row": 18}, "a.csv, row 18: p is 2 in class 1, not in row 30"),
        ({"source": "block 2", "row": None}, "block 2: p is 2 in class 1, not in row 30"),
        ({"argument": "probs", "remedy": "fix it"}, "p is 2 in row 3, class 1, not in row 30; fix it"),
    ],
)
def test_another_place_replaces_that_in_the_text(facts: dict[str, Any], text: str) -> None:
    error = InvalidValueError(
        "outside-range", "p is 2 in row 3, class 1, not in row 30", row=3, class_index=1
    )
    moved = error.with_facts(**facts)
    assert str(moved) == text
    assert {name: getattr(moved, name) for name in facts} == facts
    assert (moved.code, moved.class_index) == ("outside-range", 1)


def test_text_of_a_user_is_quoted_and_shortened() -> None:
    assert quote("a\x1b" * 50) == repr("a\x1b" * 30 + "…")
