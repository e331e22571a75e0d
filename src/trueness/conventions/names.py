"""From the name of a convention to its entry."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from trueness._arguments import require_choice
from trueness.bins import Bins
from trueness.conventions.definition import Convention
from trueness.conventions.presets import CONVENTIONS
from trueness.refusals import InvalidValueError

_NOTHING: Mapping[str, bool] = MappingProxyType({})


def as_convention(
    convention: str | Convention, metric: str | None = None, given: Mapping[str, bool] = _NOTHING
) -> Convention:
    """The entry of that name; refused if it is unknown, or computes another metric than the one named.

    `given` are arguments that no other library has, and whether each was passed, which is refused.
    """
    if not isinstance(convention, Convention):
        require_choice("convention", convention, tuple(CONVENTIONS))
        convention = CONVENTIONS[convention]
    if metric is not None and convention.metric != metric:
        cause = f"convention {convention.name!r} computes {convention.metric}, not {metric}"
        remedy = f"use trueness.{convention.metric}"
        raise InvalidValueError("wrong-metric", cause, remedy, argument="convention", value=convention.name)
    for argument in (name for name, passed in given.items() if passed):
        cause = f"`{argument}` does not apply to convention {convention.name!r}"
        raise InvalidValueError(
            "conflicting-arguments", cause, "leave it out", argument=argument, value=convention.name
        )
    return convention


OWN_ARGUMENTS = ("ties", "sample_weight", "n_options")
"""Arguments of metrics that no other library has."""


def value_by_convention(
    convention: str | Convention,
    metric: str,
    own: tuple[bool, ...],
    rows: tuple[Any, ...],
    *,
    bins: int | Bins | None,
    norm: str,
) -> float:
    """The number of another library; `own` says which of OWN_ARGUMENTS were passed.

    `rows` are y_true, y_prob, from_logits, normalize and classes.
    """
    entry = as_convention(convention, metric, dict(zip(OWN_ARGUMENTS, own, strict=True)))
    y_true, y_prob, *options = rows
    given = dict(zip(("from_logits", "normalize", "classes"), options, strict=True))
    return entry.compute(y_true, y_prob, bins=bins, norm=norm, **given).value
