"""Log-likelihoods of options as a distribution over the options."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trueness._arrays import FloatArray
from trueness.language.results import PROBABILITIES


class Normalisation(NamedTuple):
    """What is done to summed log-likelihoods before their softmax is taken."""

    scale: str
    text: str
    """What the command prints."""


NORMALISATIONS = {
    "none": Normalisation(PROBABILITIES, "log-likelihoods as they are"),
    "unconditional": Normalisation(
        PROBABILITIES,
        "log-likelihoods minus those without the context: the options' own frequencies divided out",
    ),
    "char": Normalisation("scores per character", "scores per character, not probabilities"),
    "byte": Normalisation("scores per byte", "scores per byte, not probabilities"),
    "token": Normalisation("scores per token", "scores per token, not probabilities"),
}


def softmax(scores: Any) -> FloatArray:
    """The softmax over the last axis; -inf is probability 0.

    >>> softmax([-2.0, -4.5]).round(6).tolist()
    [0.924142, 0.075858]
    """
    scores = np.asarray(scores, np.float64)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def scores_of(
    loglikelihood: FloatArray, divisor: FloatArray | None = None, unconditional: FloatArray | None = None
) -> FloatArray:
    """ℓ, ℓ divided by the length of the options, or ℓ minus the log-likelihood without the context."""
    if divisor is not None:
        return np.asarray(loglikelihood / divisor)
    return loglikelihood if unconditional is None else np.asarray(loglikelihood - unconditional)
