"""Draw ``docs/idea.svg``: how a row becomes a rank and a bin becomes a gap, with real numbers of the shipped example.

Blue is predicted and orange observed, everywhere. Run it with ``python scripts/draw_idea.py``; it needs
only the package.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from trueness.demo import load_digits
from trueness.tabulation import tabulate
from trueness.variation import variations

DESTINATION = Path(__file__).parents[1] / "docs" / "idea.svg"
MODEL = "naive_Bayes"
PREDICTED, OBSERVED, QUIET, INK = "#0072B2", "#C04F00", "#52606d", "#1f2933"
WIDTH, HEIGHT, BASE, TALLEST = 960, 318, 206, 128
"""The picture's size, the y of the bars' feet, and the height of a bar of probability 1."""


def bar(x: float, width: float, height: float, colour: str) -> str:
    """One bar standing on the base line."""
    pixels = max(TALLEST * height, 1.0)
    return (
        f'<rect x="{x:.1f}" y="{BASE - pixels:.1f}" width="{width}" height="{pixels:.1f}" fill="{colour}"/>'
    )


def text(x: float, y: float, words: object, size: int = 13, colour: str = INK) -> str:
    """One line of text, centred on x."""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="middle">{words}</text>'


def row_panel(left: float, heights: Iterable[float], marks: Iterable[object], true: int) -> list[str]:
    """A panel of one row's probabilities, with a mark under each; that of the true class is ringed."""
    parts = []
    for place, (height, mark) in enumerate(zip(heights, marks, strict=True)):
        x = left + 24 * place
        parts += [bar(x, 18, height, PREDICTED), text(x + 9, BASE + 18, mark, 12, INK)]
        if height >= 0.05:
            parts.append(text(x + 9, BASE - TALLEST * height - 5, f"{height:.2f}", 11, PREDICTED))
        if place == true:
            ring = f'<circle cx="{x + 9:.1f}" cy="{BASE + 14}" r="10" fill="none" stroke="{OBSERVED}"'
            parts.append(f'{ring} stroke-width="2.5"/>')
    return parts


def bin_panel(left: float, predicted: Iterable[float], observed: Iterable[float]) -> list[str]:
    """A panel of paired bars: the mean ordered prediction of a bin, and the observed frequencies of the ranks."""
    parts = []
    for rank, (q, r) in enumerate(zip(predicted, observed, strict=True)):
        x = left + 29 * rank
        parts += [
            bar(x, 12, q, PREDICTED),
            bar(x + 12, 12, r, OBSERVED),
            text(x + 12, BASE + 18, rank + 1, 12),
        ]
    return parts


def main() -> None:
    """Draw the bin with the most rows above entropy 0.2, and a row in it whose true class has rank 2."""
    digits = load_digits()
    y_true, y_prob = digits.y_true, digits.y_prob[MODEL].astype(np.float64)
    table = tabulate(y_true, y_prob)
    inner = 2 + int(np.argmax(table.count[2:]))
    low, high = table.edges[inner : inner + 2]

    order = np.argsort(-y_prob, axis=1, kind="stable")
    ordered = np.take_along_axis(y_prob, order, axis=1)
    ranks = np.argmax(order == y_true[:, None], axis=1)
    entropy = np.asarray(variations["entropy"](ordered))
    candidates = (ranks == 1) & (entropy > low) & (entropy <= high)
    row = int(np.argmax(candidates * ordered[:, 2]))

    rank, count = ranks[row] + 1, table.count[inner]
    predicted, observed = table.predicted_variation[inner], table.observed_variation[inner]
    parts = [
        text(140, 34, "1. A prediction", 15),
        *row_panel(22, y_prob[row], range(10), int(y_true[row])),
        text(140, BASE + 44, f"the true class is {y_true[row]}", 13, OBSERVED),
        text(444, 34, "2. Sorted: the true class has a rank", 15),
        *row_panel(326, ordered[row], range(1, 11), int(ranks[row])),
        text(444, BASE + 44, f"the true class has rank {rank}", 13, OBSERVED),
        text(444, BASE + 64, f"entropy {entropy[row]:.2f} puts the row into bin {low:.1f} to {high:.1f}"),
        text(788, 34, f"3. All {count} rows of bin {low:.1f} to {high:.1f}", 15),
        *bin_panel(642, table.mean_ordered[inner], table.rank_frequency[inner]),
        text(808, 80, f"entropy of the mean prediction {predicted:.3f}", 13, PREDICTED),
        text(808, 100, f"entropy of the observed ranks {observed:.3f}", 13, OBSERVED),
        text(808, 120, f"gap {observed - predicted:+.3f}: over-confident"),
        text(788, BASE + 44, "rank", 13, QUIET),
        text(WIDTH / 2, 304, "VCE is the mean of |gap| over the bins, weighted by their rows", 15),
    ]
    label = (
        "A prediction is sorted, the true class has a rank, the entropy chooses the bin, and in each bin the entropy "
        "of the mean ordered prediction is compared with the entropy of the observed ranks."
    )
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}" font-family="sans-serif"'
    body = "\n".join([f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>', *parts])
    DESTINATION.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n{body}\n</svg>\n', encoding="utf-8"
    )
    print(f"{DESTINATION.name}: row {row}, bin {inner + 1}")


if __name__ == "__main__":
    main()
