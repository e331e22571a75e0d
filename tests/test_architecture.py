"""Rules for the source: a name with an underscore is imported inside its package only, and modules are short."""

import ast
from collections.abc import Iterator
from pathlib import Path

import trueness

SOURCE = Path(trueness.__file__).parent


def modules() -> Iterator[tuple[str, str, ast.Module]]:
    """Name, package and syntax tree of every module."""
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        package = ".".join(parts[:-1])
        name = package if parts[-1] == "__init__" else ".".join(parts)
        yield name, package, ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.Module) -> Iterator[str]:
    """The dotted names of everything of trueness that a module imports, also inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def private_owner(name: str) -> str | None:
    """The package that a private module or name belongs to; None if every part of the name is public."""
    parts = name.split(".")
    for place, part in enumerate(parts):
        if part.startswith("_") and not part.startswith("__"):
            return ".".join(parts[:place])
    return None


def test_a_name_with_an_underscore_is_imported_inside_its_package_only() -> None:
    broken = [
        f"{name} imports {other}"
        for name, package, tree in modules()
        for other in imported(tree)
        if other.startswith("trueness")
        and (owner := private_owner(other)) is not None
        and package != owner
        and not package.startswith(f"{owner}.")
    ]
    assert broken == []


def test_the_rule_finds_a_broken_import() -> None:
    tree = ast.parse("def f():\n    from trueness.files._text import x\n")
    assert [private_owner(other) for other in imported(tree)] == ["trueness.files"]
    assert private_owner("trueness.__version__") is None


def test_modules_have_fewer_than_400_lines() -> None:
    long = [
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if len(path.read_text(encoding="utf-8").splitlines()) > 400
    ]
    assert long == []
