"""What a cell prints, in one piece.

A kernel sends its output in parts, as they come. myst-nb strips each part before it joins them, and where a part
begins with the end of a line, a line is left empty; how often depends on the speed of the machine.
"""

from copy import copy
from typing import Any

from myst_nb.core import render
from sphinx.application import Sphinx


def joined_streams(outputs: list[Any]) -> list[Any]:
    """The outputs of a cell, with all parts of standard output, and of standard error, in the first of them."""
    first: dict[str, Any] = {}
    kept = []
    for output in outputs:
        name = output["name"] if output["output_type"] == "stream" else None
        if name in first:
            first[name]["text"] += output["text"]
            continue
        kept.append(copy(output))
        if name is not None:
            first[name] = kept[-1]
    return kept


def setup(_: Sphinx) -> dict[str, Any]:
    """Replace the function of myst-nb."""
    render.coalesce_streams = joined_streams
    return {"parallel_read_safe": True, "parallel_write_safe": True}
