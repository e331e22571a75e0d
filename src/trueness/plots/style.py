"""Colours and words that all pictures share.

Colours are Okabe and Ito's, which stay apart for colour-blind eyes. Blue is what was predicted and orange what came
true, everywhere; in a map of gaps orange is "more often than predicted" and blue "less often".
"""

PREDICTED, OBSERVED = "#0072B2", "#D55E00"
INK, QUIET, FAINT, PAPER = "#1f2933", "#616e7c", "#d9dee3", "#ffffff"
BAND = "#9fb3c8"
"""Where a calibrated model would be."""

LARGEST_GAP = 6.0
"""Standardised gaps beyond this many standard deviations have the strongest colour."""


def marker_areas(shares: list[float], smallest: float, largest: float) -> list[float]:
    """Areas of markers in proportion to the rows they stand for, none too small to be seen.

    >>> marker_areas([0.5, 0.25, 0.0], 10, 110)
    [110.0, 60.0, 10.0]
    """
    most = max(shares, default=0.0) or 1.0
    return [smallest + (largest - smallest) * share / most for share in shares]
