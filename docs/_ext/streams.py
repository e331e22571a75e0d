"""Printed output of a cell in one block, as it was printed.

The output of a command arrives in chunks of 100 characters. myst-nb merges them as if each were a line, and so breaks
lines where chunks end.
"""

from typing import Any

from myst_nb.core import render
from nbformat import NotebookNode
from sphinx.application import Sphinx


def merge_streams(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """The outputs with all chunks of standard output, and all of standard error, in the place of the first."""
    merged: list[NotebookNode] = []
    first: dict[str, NotebookNode] = {}
    for output in outputs:
        name = output.get("name") if output["output_type"] == "stream" else None
        if name in first:
            first[name]["text"] += output["text"]
            continue
        merged.append(NotebookNode(output))
        if name is not None:
            first[name] = merged[-1]
    return merged


def setup(app: Sphinx) -> dict[str, Any]:
    """Replace myst-nb's function, which `nb_merge_streams` calls."""
    render.coalesce_streams = merge_streams
    return {"parallel_read_safe": True, "parallel_write_safe": True}
