"""The values that are required and aimed at, beside those observed; and one page of all of them.

Every script puts such a table on its page. ``python benchmarks/required.py``, the last step of ``make bench``, collects
the tables of all pages into ``benchmarks/results/required.md``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from measuring import figure, markdown

RESULTS = Path(__file__).parent / "results"
PAGES = ("latest.md", "clusters.md", "torch_metric.md", "cluster.md")
HEADER = ("work", "needed", "aim", "seen", "reached")
TITLE = "Required, aimed at, observed"


@dataclass(frozen=True, slots=True)
class Target:
    """One line of the table; without `needed` or `aim` there is no such limit."""

    work: str
    seen: float
    needed: float | None = None
    aim: float | None = None
    at_most: bool = False
    unit: str = "×"

    @property
    def reached(self) -> bool:
        """Whether the required value was reached."""
        return self._meets(self.needed)

    def _meets(self, limit: float | None) -> bool:
        if limit is None:
            return True
        return self.seen <= limit if self.at_most else self.seen >= limit

    def cells(self) -> tuple[str, ...]:
        """The line of a table."""
        sign = "≤" if self.at_most else "≥"
        limits = ("" if x is None else f"{sign} {x:g} {self.unit}" for x in (self.needed, self.aim))
        seen = f"{self.seen:.2g}" if abs(self.seen) < 0.1 else figure(self.seen)
        return (self.work, *limits, f"{seen} {self.unit}", self._verdict())

    def _verdict(self) -> str:
        if self.needed is None:
            return ""
        if not self.reached:
            return "**no**"
        return "yes, and the aim" if self.aim is not None and self._meets(self.aim) else "yes"


def required_markdown(lines: Iterable[Target]) -> str:
    """The table of these targets."""
    return markdown(HEADER, (line.cells() for line in lines))


def lines_of(page: str) -> list[list[str]]:
    """The cells of the lines of all such tables on a page."""
    found: list[list[str]] = []
    inside = False
    for line in page.splitlines():
        cells = [cell.strip() for cell in line[1:-1].split("|")] if line.startswith("|") else []
        inside = bool(cells) and (inside or tuple(cells) == HEADER)
        if inside and tuple(cells) != HEADER and cells[0] != "---":
            found.append(cells)
    return found


def main() -> None:
    """Print and write the table of all pages; fail with ``--strict`` if a required value was not reached."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--strict", action="store_true", help="fail if a required value was not reached")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the pages")
    options = parser.parse_args()
    lines, missing = [], []
    for name in PAGES:
        page = options.results / name
        found = lines_of(page.read_text(encoding="utf-8")) if page.exists() else []
        lines += [(*cells, f"`{name}`") for cells in found]
        missing += [] if found else [name]
    text = f"# {TITLE}\n\n{markdown((*HEADER, 'page'), lines)}\n"
    if missing:
        text += f"\nNot measured yet: {', '.join(missing)}.\n"
    print(text)
    (options.results / "required.md").write_text(text, encoding="utf-8")
    if options.strict and any("**no**" in line for line in lines):
        sys.exit("a required value was not reached")


if __name__ == "__main__":
    main()
