"""Results as plain numbers, lists, strings and dicts, for JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

SCHEMA = 2
"""Of `to_dict`. Since 2 the verdict is an object, and there are scores, evidence and tolerance."""


def plain(value: Any) -> Any:
    """The value as numbers, lists, strings and dicts; NaN and infinities, which JSON lacks, are None."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(part) for part in (value.tolist() if isinstance(value, np.ndarray) else value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value
