"""Write the outputs of libraries that need torch into ``docs/moving/results``: the site is built without torch.

Each file has examples as in a Python session, and the versions of the libraries in its first line. The examples are
run and their outputs written below them. A test runs them again (`tests/docs/test_moving_pages.py`).

python scripts/make_moving_results.py     # needs torch, torchmetrics and netcal (make everything)
"""

import contextlib
import doctest
import io
from importlib.metadata import version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "docs" / "moving" / "results"
LIBRARIES = {"torchmetrics": ("torchmetrics", "torch"), "netcal": ("netcal",)}


def output_of(example: doctest.Example, names: dict[str, Any]) -> str:
    """What an example prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example.source, "example", "single"), names)
    return printed.getvalue()


def session(text: str) -> str:
    """The examples of a text, each with its output."""
    names: dict[str, Any] = {"__name__": "__main__"}
    lines = []
    for example in doctest.DocTestParser().get_examples(text):
        first, *others = example.source.splitlines()
        lines += [f">>> {first}", *(f"... {line}" for line in others)]
        lines += output_of(example, names).splitlines()
    return "\n".join(lines)


def version_line(name: str) -> str:
    """The versions of the libraries that a file calls."""
    return ", ".join(f"{library} {version(library).split('+')[0]}" for library in LIBRARIES[name])


def write(name: str) -> None:
    """Write a file again."""
    path = FOLDER / f"{name}.txt"
    path.write_text(f"{version_line(name)}\n\n{session(path.read_text('utf-8'))}\n", encoding="utf-8")
    print(path.name)


if __name__ == "__main__":
    for library in LIBRARIES:
        write(library)
