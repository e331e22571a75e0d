"""Reliability diagrams: predicted against observed, bin by bin, for VCE, ECE and UCE."""

from dataclasses import replace
from functools import partial

from trueness.plots.picture import BINS, Picture
from trueness.plots.reliability.data import Reliability, reliability_of
from trueness.plots.reliability.display import ReliabilityDisplay
from trueness.plots.reliability.svg import reliability_chart
from trueness.plots.reliability.text import reliability_text

__all__ = ["Reliability", "ReliabilityDisplay", "reliability_chart", "reliability_of", "reliability_text"]


def _variation_caption(r: Reliability) -> str:
    return (
        "Each point is a bin of predictions, its area the number of rows; hollow points have too few rows for a "
        "conclusion. On the dashed line the outcomes vary as much as predicted; a model with points "
        f"{r.over_confident} it is over-confident. The grey band shows how far noise alone would move the points of a "
        f"calibrated model. Bottom: {r.rows_label}."
    )


VCE = Picture(
    key="reliability-vce",
    title="Predicted against observed variation",
    caption=_variation_caption,
    section=BINS,
    data=partial(reliability_of, metric="vce"),
    svg=reliability_chart,
    display=ReliabilityDisplay,
)
ECE = replace(
    VCE,
    key="reliability-ece",
    title="Accuracy against confidence",
    caption="The same for the top class alone: its mean confidence, and how often it is the true class.",
    data=partial(reliability_of, metric="ece"),
    applies=lambda result: result.ece is not None,
)
UCE = replace(
    VCE,
    key="reliability-uce",
    title="Error rate against entropy (UCE)",
    caption="A calibrated model follows the blue curve, not the diagonal.",
    data=partial(reliability_of, metric="uce"),
    applies=lambda result: result.uce is not None,
)

PICTURES = (VCE, ECE, UCE)
