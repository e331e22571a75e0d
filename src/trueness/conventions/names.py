"""From the name of a convention to its entry."""

from __future__ import annotations

from trueness._arguments import require_choice
from trueness.conventions.definition import Convention
from trueness.conventions.presets import CONVENTIONS
from trueness.refusals import InvalidValueError


def as_convention(convention: str | Convention, metric: str | None = None) -> Convention:
    """The entry of that name; refused if it is unknown, or computes another metric than the one named."""
    if not isinstance(convention, Convention):
        require_choice("convention", convention, tuple(CONVENTIONS))
        convention = CONVENTIONS[convention]
    if metric is not None and convention.metric != metric:
        raise InvalidValueError(
            "wrong-metric",
            "convention {value!r} computes {other}, not {metric}",
            "use trueness.{other}",
            argument="convention",
            value=convention.name,
            other=convention.metric,
            metric=metric,
        )
    return convention
