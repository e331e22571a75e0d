"""Warnings about what was read from a log: they are added to those of the assessment."""

from __future__ import annotations

from trueness._printing import plural
from trueness.language.results import PROBABILITIES, Options, Reading, Statements
from trueness.old_assessment import Caution

OFF_OPTION, LOOSE = 0.1, 0.02
"""The mean probability on other tokens, and the mean unknown share, above which there is a warning."""


def cautions_of(reading: Reading) -> tuple[Caution, ...]:
    """The warnings about a reading: scores that are no probabilities, options that overlap, tokens not listed."""
    found = []
    if isinstance(reading, (Options, Statements)) and reading.scale != PROBABILITIES:
        found.append(_scores(reading.scale))
    if isinstance(reading, Options):
        found += _about_options(reading)
    return tuple(found)


def _scores(scale: str) -> Caution:
    unit = scale.removeprefix("scores ")
    return Caution(
        "scores",
        f"softmax of log-likelihoods {unit} is no probability of anything: its calibration is that of an arbitrary "
        "temperature",
        "take log-likelihoods as they are (normalise by none)",
    )


def _about_options(reading: Options) -> list[Caution]:
    found = []
    if reading.prefix_rows and reading.scale == PROBABILITIES:
        found.append(
            Caution(
                "prefix",
                f"in {plural(reading.prefix_rows, 'row')} of {len(reading.y_true)} the text of one option is the "
                "beginning of another's, so that the two do not exclude each other",
                "their softmax is not a probability; let the model answer with letters",
            )
        )
    if reading.off_option is not None and (off := float(reading.off_option.mean())) > OFF_OPTION:
        found.append(
            Caution(
                "off-option",
                f"on average {100 * off:.0f} % of the probability is on tokens that are none of the options",
                "ask the model for the letter alone",
            )
        )
    if reading.unknown_share is not None and (unknown := float(reading.unknown_share.mean())) > LOOSE:
        found.append(
            Caution(
                "loose",
                f"on average up to {100 * unknown:.1f} % of the answer's distribution is not listed",
                "ask for more top_logprobs",
            )
        )
    return found
