"""The picture of a result as a file: PNG, SVG or PDF, without pyplot and its windows."""

from __future__ import annotations

import os
from typing import Any, Protocol

from trueness.atomic_files import atomic_file
from trueness.plots._display import Display, refuse_missing_matplotlib
from trueness.refusals import InvalidValueError, quote

ENDINGS = (".png", ".svg", ".pdf")
DOTS_PER_INCH = 200


class Plotted(Protocol):
    """A result that draws itself on axes."""

    def plot(self, ax: Any = None) -> Display[Any]:
        """Draw on axes."""
        ...


def refuse_other_ending(path: str) -> None:
    """Refuse a file whose ending is not that of a picture."""
    if os.path.splitext(path)[1].lower() not in ENDINGS:
        endings = ", ".join(ENDINGS)
        cause = f"pictures cannot be written to {quote(path)}"
        raise InvalidValueError("unknown-format", cause, f"name a file that ends in {endings}")


def write_picture(result: Plotted, path: str) -> None:
    """Draw a result and write the picture in the format of the file's ending, atomically."""
    refuse_other_ending(path)
    with refuse_missing_matplotlib():
        from matplotlib.figure import Figure

        figure = Figure(layout="constrained")
    display = result.plot(ax=figure.subplots())
    figure.set_size_inches(display.size)
    with atomic_file(path) as beside:
        figure.savefig(beside, format=os.path.splitext(path)[1][1:].lower(), dpi=DOTS_PER_INCH)
