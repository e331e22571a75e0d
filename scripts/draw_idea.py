"""Draw ``docs/idea.svg``: how a row becomes a rank and a bin becomes a gap, with real numbers of the shipped example.

Run it with ``python scripts/draw_idea.py``; it needs nothing but the package.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from trueness.demo import load_digits
from trueness.tabulation import tabulate

DESTINATION = Path(__file__).parents[1] / "docs" / "idea.svg"
MODEL = "naive_Bayes"
PREDICTED, OBSERVED, QUIET, INK = "#0072B2", "#D55E00", "#52606d", "#1f2933"
BASE, TALLEST = 206, 128
"""The y of the bars' feet, and the height of a bar of probability 1."""


def bar(x: float, width: float, height: float, colour: str) -> str:
    """One bar standing on the base line."""
    pixels = max(TALLEST * height, 1.0)
    return (
        f'<rect x="{x:.1f}" y="{BASE - pixels:.1f}" width="{width}" height="{pixels:.1f}" fill="{colour}"/>'
    )


def text(x: float, y: float, words: object, size: int = 13, colour: str = INK) -> str:
    """One line of text, centred on x."""
    return f'<text x="{x:.1f}" y="{y}" font-size="{size}" fill="{colour}" text-anchor="middle">{words}</text>'


def bars_panel(
    left: float, title: str, heights: Iterable[float], marks: Iterable[object], chosen: int
) -> list[str]:
    """A panel of single bars, one of them emphasised, with a mark under each."""
    parts = [text(left + 120, 40, title, 15)]
    for place, (height, mark) in enumerate(zip(heights, marks, strict=True)):
        x, colour = left + 24 * place, OBSERVED if place == chosen else PREDICTED
        parts += [
            bar(x, 18, height, colour),
            text(x + 9, BASE + 16, mark, 12, colour if place == chosen else INK),
        ]
    return parts


def bin_panel(left: float, predicted: np.ndarray, observed: np.ndarray) -> list[str]:
    """A panel of paired bars: what a bin's rows predicted on average, and what came true."""
    parts = [text(left + 145, 40, "3. All rows of a bin together", 15)]
    for rank, (q, r) in enumerate(zip(predicted, observed, strict=True)):
        x = left + 29 * rank
        parts += [
            bar(x, 12, q, PREDICTED),
            bar(x + 12, 12, r, OBSERVED),
            text(x + 12, BASE + 16, rank + 1, 12),
        ]
    return parts


def main() -> None:
    """Choose a telling row and the fullest bin that is neither certain nor wild, and draw them."""
    digits = load_digits()
    y_true, y_prob = digits.y_true, digits.y_prob[MODEL]
    table = tabulate(y_true, y_prob)
    ranks = (y_prob > y_prob[np.arange(len(y_true)), y_true][:, None]).sum(axis=1)
    spread = np.sort(y_prob, axis=1)
    row = int(np.argmax((ranks == 1) * spread[:, -3]))
    order = np.argsort(-y_prob[row], kind="stable")
    inner = 2 + int(np.argmax(table.count[2:]))
    predicted, observed = table.predicted_variation[inner], table.observed_variation[inner]
    parts = [
        *bars_panel(20, "1. A prediction", y_prob[row], range(10), int(y_true[row])),
        text(140, BASE + 36, f"class (true class: {y_true[row]})", 12, QUIET),
        *bars_panel(
            310, "2. Sorted: the true class has a rank", y_prob[row][order], range(1, 11), int(ranks[row])
        ),
        text(430, BASE + 36, f"rank (true class at rank {ranks[row] + 1})", 12, QUIET),
        *bin_panel(620, table.mean_ordered[inner], table.rank_frequency[inner]),
        text(765, BASE + 36, "rank", 12, QUIET),
        text(765, 84, f"entropy of the mean prediction {predicted:.3f}", 13, PREDICTED),
        text(765, 104, f"entropy of the ranks that came true {observed:.3f}", 13, OBSERVED),
        text(765, 124, f"gap {observed - predicted:+.3f}: over-confident", 13),
        text(480, 276, "VCE is the mean of |gap| over the bins, weighted by their rows", 15),
    ]
    label = "A prediction is sorted, the true class has a rank, and in each bin the variation of the mean ordered "
    label += "prediction is compared with the variation of the observed ranks."
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 940 300" role="img" aria-label="{label}"'
    body = "\n".join(['<rect width="940" height="300" fill="#ffffff"/>', *parts])
    DESTINATION.write_text(f'{head} font-family="sans-serif">\n{body}\n</svg>\n', encoding="utf-8")
    print(f"{DESTINATION.name}: row {row}, bin {inner + 1}")


if __name__ == "__main__":
    main()
