"""Write the sorting networks of the compiled engine, as macros: python scripts/make_networks.py"""

from __future__ import annotations

from pathlib import Path

from trueness.ranking import comparators

HEADER = Path(__file__).resolve().parents[1] / "src/trueness/tabulation/compiled/source/networks.h"
SIZES = range(2, 17)


def networks() -> str:
    """The content of networks.h: for each size a macro that applies another one to each pair in turn."""
    lines = [
        "/* Batcher's odd-even merge sort of 2 to 16 numbers (Knuth, The Art of Computer Programming 3, 5.2.2, M).",
        " *",
        " * Made by scripts/make_networks.py. */",
    ]
    for n in SIZES:
        pairs = [f"X({upper}, {lower})" for upper, lower in comparators(n)]
        rows = [" ".join(pairs[k : k + 8]) for k in range(0, len(pairs), 8)]
        lines += [f"#define NETWORK_{n}(X) \\", " \\\n".join(f"    {row}" for row in rows)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    HEADER.write_text(networks())
