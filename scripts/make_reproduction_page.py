"""Write ``docs/background/reproduction.md`` and its pictures from runs of ``trueness reproduce``.

trueness reproduce --out runs/paper
trueness reproduce --out runs/beyond --more-metrics --miscalibrated
python scripts/make_reproduction_page.py runs/paper runs/beyond
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from PIL import Image

FOLDER = Path(__file__).parents[1] / "docs" / "background"
PICTURES = {"paper": ("figure1", "figure2", "figure3"), "beyond": ("beyond-width", "beyond-mass", "twins")}


def page(paper: dict[str, Any], beyond: dict[str, Any], verdict: str) -> str:
    """The text of the page."""
    made, timing = paper["made_with"], paper["timing"]
    low, high = paper["equal_frequency_shares"]
    further = [one for one in beyond["verdicts"] if one["metric"] not in {"vce", "ece", "uce"}]
    farthest = max(further, key=lambda one: abs(one["distance"]))
    table, slopes = (part.strip() for part in verdict.split("\n\n")[1:3])
    agreeing = sum(one["holds"] for one in paper["verdicts"])
    return f"""# The paper's section 3, reproduced

`trueness reproduce` repeats the experiments of Thompson & Desai (2026): predictions from a Dirichlet distribution with labels
drawn from them, so that they are perfectly calibrated; 3 and 10 classes, equal weights and one class of ten times the
weight, 10⁴ to 10⁷ rows, ten bins of equal width or of equal frequency. Every mean is compared with
[the theory](theory.md): mean floor + a/√N, standard deviation b/√N.

**{agreeing} of {len(paper["verdicts"])} means agree with theory.** VCE and ECE fall as 1/√N; UCE stays at its floor.

The run: trueness {made["trueness"]}, NumPy {made["numpy"]}, Python {made["python"]}, {made["engine"]} engine, on
{made["processor"]} ({made["system"]}), {paper["settings"]["n_threads"]} threads, first seed {paper["settings"]["seed"]}. On average
{paper["busy_threads"]:.2f} of them were busy. The grid with one seed (44.4 million rows) took {timing["seconds"]:.1f} s, drawing its Dirichlet rows only
{timing["drawing_seconds"]:.1f} s: {timing["ratio"]:.2f} times as long.

All values are in [results.csv](reproduction/results.csv) and [results.json](reproduction/results.json). A line can be checked with two calls: its rows are those of
`tn.simulate.calibrated(n_rows, alpha, rng=seed)`.

## Figure 1: equal-width bins

![Metric against number of rows in four scenarios, equal-width bins. VCE and ECE fall along the theory lines, UCE is level.](reproduction/figure1.png)

Points are means over the runs of a size (100, 30, 10 and 1), with the observed standard deviation; lines and bands are theory,
not fits.

## Figure 2: reliability diagrams

![Reliability diagrams of ECE, UCE and VCE for three classes, equal weights and ten million rows. ECE and VCE lie on the diagonal, UCE far below it.](reproduction/figure2.png)

The size of a point is the share of rows in its bin.

## Figure 3: equal-frequency bins

![The same as Figure 1 with equal-frequency bins.](reproduction/figure3.png)

The bins hold {100 * low:.2f} % to {100 * high:.2f} % of the rows each: exactly a tenth up to 2²⁰ rows, beyond it the edges are those of the first
2²⁰ rows ([ADR 10](../adr/0010-the-reproduction.md)).

## Which metric detects what

![Metrics of miscalibrated predictions divided by those of calibrated ones, against the number of rows, for three faults in four scenarios.](reproduction/twins.png)

The same labels, with predictions distorted in three ways: sharpened (p ∝ π^1.5), tail flattened (all but the largest probability
half-way to their mean), ranks 2 and 3 swapped. The figure shows each metric divided by its value on the calibrated rows. A
metric that detects a fault grows with √N; one that does not stays at 1. ECE does not detect the tail, VCE does; only RCE
detects swapped ranks. UCE does not grow with N for any of them, and for sharpened, over-confident predictions it is *lower*
than for the calibrated ones.

## Further measures

![VCE by WVR, IQV, confidence and entropy, and RCE, against the number of rows, equal-width bins.](reproduction/beyond-width.png)

![The same with equal-frequency bins.](reproduction/beyond-mass.png)

With `--more-metrics`: {sum(one["holds"] for one in further)} of {len(further)} further means agree with constants computed by Theorem 4; the farthest is
{farthest["metric"]} at {abs(farthest["distance"]):.1f} standard deviations of its mean (allowed: {farthest["limit"]:.1f}).

## Comparison with theory

`observed` is the mean over the runs, `distance` is (observed − expected) in standard deviations of that mean. The limit is 5, for
a single run 5.5, plus an allowance for second-order terms (1.5·a/N) that matters at small N.

{table}

## Slopes of ln(mean) against ln(N)

{slopes}
"""


def main() -> None:
    """Copy the figures and results, and write the page."""
    runs = {name: Path(path) for name, path in zip(("paper", "beyond"), sys.argv[1:], strict=True)}
    contents = {
        name: json.loads((path / "results.json").read_text(encoding="utf-8")) for name, path in runs.items()
    }
    target = FOLDER / "reproduction"
    target.mkdir(exist_ok=True)
    for name, pictures in PICTURES.items():
        for picture in pictures:
            # A palette of 128 colours is enough for lines and bands, and a third of the size.
            image = Image.open(runs[name] / f"{picture}.png").convert("RGB").quantize(128)
            image.save(target / f"{picture}.png", optimize=True)
    for name in ("results.csv", "results.json"):
        shutil.copy(runs["paper"] / name, target / name)
    verdict = (runs["paper"] / "verdict.md").read_text(encoding="utf-8")
    (FOLDER / "reproduction.md").write_text(
        page(contents["paper"], contents["beyond"], verdict), encoding="utf-8"
    )
    print(FOLDER / "reproduction.md")


if __name__ == "__main__":
    main()
