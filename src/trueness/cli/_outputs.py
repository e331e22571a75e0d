"""Where results go: to files, or with - to standard output, which then holds that result and nothing else."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from trueness._printing import STANDARD_OUTPUT
from trueness.cli._inputs import note

TO_STANDARD_OUTPUT = "- for standard output"
"""What the help says of every option that names an output file."""


@contextmanager
def written(path: str, ending: str = "") -> Iterator[str]:
    """The path to write to; for standard output a temporary file with this ending, printed when it is complete."""
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


def write_text_to(path: str, text: str) -> None:
    """Write a text to a file, whole or not at all, or to standard output."""
    from trueness._atomic_write import write_text

    with written(path) as target:
        write_text(target, text)


def print_summary(path: str, text: str) -> None:
    """What was written, in a line; on standard error if standard output holds the result."""
    if path == STANDARD_OUTPUT:
        note(f"standard output: {text}")
    else:
        print(f"{path}: {text}")
