"""The study of scripts/study.py with `trueness.inference` in place of `assess`, on the same rows.

python scripts/study_inference.py size --only copies --results build/inference
python scripts/study.py versus power build/inference
"""

import sys
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import speak
import study

from trueness.inference import calibration_tests, debiasing, estimates, noise
from trueness.inference.sample import Sample
from trueness.today import read, tabulate_rows

LEVEL = 0.95


class Judged(NamedTuple):
    """What `assess` will answer: the sample, its draws and streams."""

    sample: Sample
    draws: noise.RankDraws
    streams: noise.Streams


def assess(y_true: Any, y_prob: Any, *, resamples: int, rng: int, **given: Any) -> Judged:
    sample, streams = Sample.of(tabulate_rows(read(y_true, y_prob, **given))), noise.Streams(rng)
    return Judged(sample, noise.draw_ranks(sample, resamples, streams), streams)


def p_value(it: Judged) -> float | None:
    return calibration_tests.calibration_tests(*it).p_value


def intervals(it: Judged) -> dict[str, Any]:
    sample, draws, streams = it
    gaps = debiasing.variation_gaps(sample, draws, streams)
    drawn = noise.draw_top_errors(sample, float(sample.rank_effects()[1][0]), draws.size, streams)
    found = {
        "vce": estimates.variation_error(sample, gaps, LEVEL),
        "net": estimates.net_gap(sample, gaps, LEVEL),
        "ece": estimates.top_error(sample, drawn, LEVEL),
        "confidence": estimates.confidence_gap(sample, LEVEL),
    }
    if sample.classes is not None:
        classes = zip(sample.class_index, estimates.class_gaps(sample, LEVEL), strict=True)
        found |= {f"class {c}": gap for c, gap in classes}
    return {
        name: (each.value if each.debiased is None else each.debiased, each.low, each.high)
        for name, each in found.items()
        if each.low is not None
    }


for name, verb in {"assess": assess, "p_value": p_value, "intervals": intervals}.items():
    setattr(speak, name, verb)

if __name__ == "__main__":
    study.main(sys.argv[1:])
