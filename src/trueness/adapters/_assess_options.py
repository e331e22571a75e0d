"""The options of `trueness.assess` that an adapter passes on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from inspect import signature
from typing import Any

from trueness._arguments import require_known_names
from trueness.assessment import assess


def require_assess_options(
    options: Mapping[str, Any], *, but: Collection[str] = (), besides: Collection[str] = ()
) -> None:
    """Refuse options that `assess` does not have, before a model runs: all but some, besides those of the adapter."""
    own = {name for name, it in signature(assess).parameters.items() if it.kind is it.KEYWORD_ONLY}
    require_known_names(options, sorted(own.difference(but).union(besides)))
