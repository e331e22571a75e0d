"""Results as one flat dict of floats, for experiment trackers: the one place where numbers get their flat names."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from trueness.old_assessment._to_json import plain

_LEFT_OUT = {"bias_error", "degrees", "level", "n_clusters", "resamples", "seed", "where"}
"""Numbers that were chosen, and details of how others were computed."""
_LONGEST_NAME = 80
"""Of a group, event or model: MLflow refuses names of more than 250 characters."""


class Flat:
    """A result whose numbers can be read as one flat dict."""

    __slots__ = ()

    @abstractmethod
    def _numbers(self) -> Mapping[str, Any]:
        """The numbers by name; the parts of a number that has several, such as an interval, as a mapping."""

    def _parts(self) -> Mapping[str, Mapping[str, Mapping[str, float]]]:
        """The flat numbers of groups, events or models: by kind and name."""
        return {}

    def flat(self, prefix: str = "") -> dict[str, float]:
        """All numbers as one flat dict of floats, for experiment trackers; numbers that are not finite are left out.

        `vce` is the plug-in value and `vce_noise_floor` its noise floor; `vce_debiased` is the debiased value, with its
        interval from `vce_low` to `vce_high`; `vce_p_value` is the p-value. Those of a group are
        `group/NAME/vce` and so on; in NAME, characters other than ASCII letters, digits, "-" and "_" are replaced by
        "_". The names are valid for MLflow, Weights & Biases and TensorBoard. `prefix` is put before each of them.
        """
        found = dict(_flattened("", plain(self._numbers())))
        for kind, parts in self._parts().items():
            for name, numbers in zip(safe_names(list(parts)), parts.values(), strict=True):
                found |= {f"{kind}/{name}/{key}": value for key, value in numbers.items()}
        return {f"{prefix}{name}": value for name, value in found.items()}


def _flattened(name: str, content: Any) -> Iterator[tuple[str, float]]:
    """The numbers of nested mappings: `value` has the name of the mapping it is in, and so have the ends of intervals.

    >>> dict(_flattened("", {"vce": {"value": 0.5, "interval": {"low": 0.25, "high": 1, "level": 0.95}}, "of": "top"}))
    {'vce': 0.5, 'vce_low': 0.25, 'vce_high': 1.0}
    """
    if isinstance(content, Mapping):
        for key, part in content.items():
            if key not in _LEFT_OUT:
                yield from _flattened(_joined(name, key), part)
    elif isinstance(content, (int, float)) and not isinstance(content, bool):
        yield name, float(content)


def _joined(name: str, key: str) -> str:
    return name if key in ("value", "interval") else f"{name}_{key}" if name else key


def safe_names(names: list[str]) -> list[str]:
    """Names with ASCII letters, digits, "-" and "_" alone, all different.

    >>> safe_names(["St. Mary", "St. Mary's", "St_ Mary", ""])
    ['St__Mary', 'St__Mary_s', 'St__Mary_2', '_']
    """
    found: list[str] = []
    for name in names:
        safe = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:_LONGEST_NAME] or "_"
        number, own = 1, safe
        while own in found:
            number += 1
            own = f"{safe}_{number}"
        found.append(own)
    return found
