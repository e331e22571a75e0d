"""A monitor as plain JSON: what it says, without the tables."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from trueness._version import __version__

if TYPE_CHECKING:
    from trueness.monitoring.monitor import Monitor

SCHEMA = 1
"""Of `to_dict`."""

_SETTINGS = ("alpha", "tolerance", "max_cluster", "max_weight", "dependence", "average_run", "restarted")


def to_dict(monitor: Monitor) -> dict[str, Any]:
    """Alarm, evidence, looks, trend, groups, settings and warnings; numbers that are not finite are null."""
    from trueness.monitoring.text import sentence

    settings = {name: getattr(monitor.settings, name) for name in _SETTINGS}
    reference = monitor.settings.reference
    settings["reference_rows"] = (
        None if reference is None else sum(each.n_rows for each in reference.values())
    )
    content: dict[str, Any] = finite(
        {
            "schema": SCHEMA,
            "kind": "monitor",
            "trueness": __version__,
            "verdict": sentence(monitor),
            "alarm": None if monitor.alarm is None else asdict(monitor.alarm),
            "e_value": monitor.e_value,
            "log_e_value": monitor.log_e_value,
            "p_value": monitor.p_value,
            "n_looks": len(monitor.looks),
            "n_rows": monitor.n_rows,
            "settings": settings,
            "looks": [asdict(look) for look in monitor.looks],
            "trend": [asdict(point) for point in monitor.trend()],
            "groups": [asdict(group) for group in monitor.groups],
            "warnings": [asdict(caution) for caution in monitor.warnings],
        }
    )
    return content


def finite(value: Any) -> Any:
    """The value with numbers that are not finite replaced by None."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
