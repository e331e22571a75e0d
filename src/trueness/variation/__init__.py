"""Variation measures: how spread out a distribution over classes is.

A measure gets vectors in *rank order*: rows sorted downwards, the mean of such rows, or observed rank frequencies
(which need not be sorted). `confidence` and `margin` use the first ranks; all others are symmetric.

`definition` has the class with the facts that the library uses, `measures` the formulas and the list of measures,
`orders` the families with a parameter, and `names` the way from a name to its measure.
"""

from trueness.variation.definition import Variation
from trueness.variation.measures import CONFIDENCE, ENTROPY, log_or_finite, variations
from trueness.variation.names import as_variation
from trueness.variation.orders import renyi, tsallis

__all__ = [
    "CONFIDENCE",
    "ENTROPY",
    "Variation",
    "as_variation",
    "log_or_finite",
    "renyi",
    "tsallis",
    "variations",
]
