"""A verdict before the size of the error is considered."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Case:
    """What is wrong, how, and what to do; without whether it matters in practice."""

    kind: str
    direction: str | None
    headline: str
    sentence: str
    advice: str
