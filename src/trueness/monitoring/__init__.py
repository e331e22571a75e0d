"""Watching a model over time, from saved tables: alarms that hold however often one looks."""

from trueness.monitoring.monitor import Monitor
from trueness.monitoring.results import Alarm, GroupEvidence, Look, TrendPoint

__all__ = ["Alarm", "GroupEvidence", "Look", "Monitor", "TrendPoint"]
