"""The reliability diagram in characters, for terminals."""

from __future__ import annotations

from typing import NamedTuple

from trueness.plots.reliability.data import Reliability

WIDTH, HEIGHT = 61, 21
"""Size of the square, in characters."""


class Characters(NamedTuple):
    """The characters of a diagram."""

    point: str
    small: str
    band: str
    diagonal: str
    corner: str
    across: str
    up: str


UNICODE = Characters("●", "○", "░", "·", "└", "─", "│")
ASCII = Characters("O", "o", ":", ".", "+", "-", "|")


def reliability_text(r: Reliability, *, ascii_only: bool = False) -> str:
    """The diagram as lines of text: points, the band of a calibrated model, and the diagonal.

    >>> import trueness as tn
    >>> from trueness.plots.reliability import reliability_of
    >>> result = tn.assess(*tn.simulate.calibrated(500, [1, 1, 1], rng=0), bins=2, rng=0)
    >>> reliability_text(reliability_of(result), ascii_only=True).count("O")  # two bins, and the legend
    3
    """
    draw = ASCII if ascii_only else UNICODE
    low, high = r.view

    def place(value: float, cells: int) -> int:
        return min(max(round((value - low) / (high - low) * (cells - 1)), 0), cells - 1)

    def line(value: float) -> int:
        return HEIGHT - 1 - place(value, HEIGHT)

    canvas = [[" "] * WIDTH for _ in range(HEIGHT)]
    for at in range(WIDTH):
        canvas[line(low + (high - low) * at / (WIDTH - 1))][at] = draw.diagonal
    for x, bottom, top in zip(r.x, r.low, r.high, strict=True):
        _shade(canvas, place(x, WIDTH), range(line(top), line(bottom) + 1), draw.band)
    for x, y, small in zip(r.x, r.y, r.bins.small, strict=True):
        canvas[line(y)][place(x, WIDTH)] = draw.small if small else draw.point
    return "\n".join(_add_frame(r, canvas, draw))


def _shade(canvas: list[list[str]], at: int, lines: range, character: str) -> None:
    """Fill three columns around a bin, where they are empty."""
    for row in lines:
        for beside in range(max(at - 1, 0), min(at + 2, WIDTH)):
            if canvas[row][beside] == " ":
                canvas[row][beside] = character


def _add_frame(r: Reliability, canvas: list[list[str]], draw: Characters) -> list[str]:
    low, high = r.view
    step = (HEIGHT - 1) // 4
    lines = [f"y axis: {r.y_label}; {r.summary}"]
    for row, line in enumerate(canvas):
        share = (HEIGHT - 1 - row) / (HEIGHT - 1)
        number = f"{low + share * (high - low):.2f}" if row % step == 0 else ""
        lines.append(f"{number:>5} {draw.up}{''.join(line)}".rstrip())
    lines.append(f"{'':5} {draw.corner}{draw.across * WIDTH}")
    ticks = [low + share * (high - low) for share in (0, 0.25, 0.5, 0.75, 1)]
    lines.append(" " * 5 + "".join(f"{tick:<15.2f}" for tick in ticks).rstrip())
    lines.append(
        f"      x axis: {r.x_label}; {draw.point} a bin, {draw.small} a bin with few rows, "
        f"{draw.band} range expected for a calibrated model"
    )
    return lines
