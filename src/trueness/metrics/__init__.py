"""Metrics as plain functions of rows or of a table: each returns a number.

`gaps` has the equations, `calibration_errors` the functions that users call.
"""

from trueness.metrics.calibration_errors import cwece, ecd, ece, rce, uce, vce

__all__ = ["cwece", "ecd", "ece", "rce", "uce", "vce"]
