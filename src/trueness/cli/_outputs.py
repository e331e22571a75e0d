"""Outputs: result files, standard output, and notes on standard error."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any

from trueness._printing import STANDARD_OUTPUT, visible


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

    from trueness._atomic_write import write_text

    with output_path(path) as target:
        write_text(target, json.dumps(content, allow_nan=False, indent=1) + "\n")


def print_summary(path: str, text: str) -> None:
    """Print one line about a written file; on standard error if standard output holds the result."""
    if path == STANDARD_OUTPUT:
        print_note(f"standard output: {text}")
    else:
        print(f"{path}: {text}")


def print_note(text: str) -> None:
    """Print information on standard error, so that results can be piped."""
    print(visible(text), file=sys.stderr)
