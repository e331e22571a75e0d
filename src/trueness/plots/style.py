"""Colours that all pictures share.

They are Okabe and Ito's, which colour-blind readers can distinguish. Blue is predicted and orange observed, everywhere;
in a map of gaps orange is "more often than predicted" and blue "less often".
"""

PREDICTED, OBSERVED = "#0072B2", "#D55E00"
INK, QUIET, FAINT, PAPER = "#1f2933", "#616e7c", "#d9dee3", "#ffffff"
BAND = "#9fb3c8"
"""Colour of the band expected for a calibrated model."""

COLOURS = (OBSERVED, PREDICTED, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""Of several models in one picture, in their order; further ones begin again."""


def marker_areas(shares: list[float], smallest: float, largest: float) -> list[float]:
    """Areas of markers: linear in the share of the rows, and none too small to be visible.

    >>> marker_areas([0.5, 0.25, 0.0], 10, 110)
    [110.0, 60.0, 10.0]
    """
    most = max(shares, default=0.0) or 1.0
    return [smallest + (largest - smallest) * share / most for share in shares]
