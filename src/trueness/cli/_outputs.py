"""Outputs: result files, standard output, and notes on standard error."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

from trueness._printing import STANDARD_OUTPUT, visible

if TYPE_CHECKING:
    from trueness._cells import Tabular
    from trueness.plots.picture_file import Plotted


@contextmanager
def output_path(path: str, ending: str = "") -> Iterator[str]:
    """The path to write to; for standard output a temporary file with this ending, copied when it is complete."""
    if path != STANDARD_OUTPUT:
        yield path
        return
    with TemporaryDirectory(prefix="trueness-") as folder:
        complete = os.path.join(folder, f"result{ending}")
        yield complete
        sys.stdout.flush()
        with open(complete, "rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def write_json(path: str, content: dict[str, Any]) -> None:
    """Write JSON atomically to a file, or to standard output."""
    import json

    from trueness.atomic_files import write_text

    with output_path(path) as target:
        write_text(target, json.dumps(content, allow_nan=False, indent=1) + "\n")


def write_cell_tables(result: Tabular, arguments: argparse.Namespace, of: str) -> None:
    """Write the files of `--csv`, `--markdown` and `--latex` that were requested."""
    from trueness.atomic_files import write_text

    makers = {"csv": result.to_csv, "markdown": result.to_markdown, "latex": result.to_latex}
    for name, make in makers.items():
        path = getattr(arguments, name)
        if path is not None:
            with output_path(path) as target:
                write_text(target, make(of))


def refuse_plot(path: str | None) -> None:
    """Refuse a file that cannot hold a picture, before the rows are read."""
    if path is not None:
        from trueness.plots.picture_file import refuse_other_ending

        refuse_other_ending(path)


def write_plot(result: Plotted, path: str | None) -> None:
    """Write the picture of `--plot`, if it was requested."""
    if path is not None:
        from trueness.plots.picture_file import write_picture

        write_picture(result, path)


class Reported(Protocol):
    """A result that writes a report."""

    def write_html(self, path: str, *, made_by: str | None = None) -> None:
        """Write the report."""
        ...


def write_report(result: Reported, path: str | None) -> None:
    """Write the report of `--report` with the command that made it, if it was requested."""
    if path is not None:
        with output_path(path) as target:
            result.write_html(target, made_by=_command_line())


def _command_line() -> str:
    import shlex

    return shlex.join(["trueness", *sys.argv[1:]])


def cell_paths(arguments: argparse.Namespace) -> list[str | None]:
    """The files of `--csv`, `--markdown` and `--latex`; None where one was not requested."""
    return [arguments.csv, arguments.markdown, arguments.latex]


def print_summary(path: str, text: str) -> None:
    """Print one line about a written file; on standard error if standard output holds the result."""
    if path == STANDARD_OUTPUT:
        print_note(f"standard output: {text}")
    else:
        print(f"{path}: {text}")


def print_note(text: str) -> None:
    """Print information on standard error, so that results can be piped."""
    print(visible(text), file=sys.stderr)
