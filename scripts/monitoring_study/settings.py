"""Settings of the study: streams, monitors, and the range in which each measured number must lie."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from monitoring_study import streams
from monitoring_study.streams import Fault, calibrated, sharpened


@dataclass(frozen=True)
class Setting:
    """A stream, a monitor, the number of looks and runs, and what must hold."""

    name: str
    n_classes: int
    n_rows: int
    fault: Fault
    n_looks: int
    runs: int
    must: str
    after: int = 0
    alpha: float = 0.05
    tolerance: float = 0.0
    copies: int = 1
    max_cluster: int = 1
    dirichlet: list[float] | None = None
    classes: bool = False
    """Whether class tables are watched too."""
    reference: tuple[Fault, int] | None = None
    """The fault of a reference and its number of rows."""
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)
    """The range in which each measured number must lie."""


def settings() -> list[Setting]:
    """The simulated lines of section 12, and those of classes."""
    return [*_lines(), *_class_lines()]


def _lines() -> list[Setting]:
    def alarms(most: float) -> dict[str, Any]:
        return {"limits": {"alarms": (0.0, most)}}

    def delay(median: tuple[float, float], ninety: tuple[float, float]) -> dict[str, Any]:
        return {"limits": {"median": median, "90 %": ninety}}

    sharp = sharpened
    copies = {"copies": 10, "max_cluster": 10}
    at_115, at_13 = sharp(1.15), sharp(1.3)
    return [
        Setting(
            "C = 3, 100 rows, calibrated, 60 looks", 3, 100, calibrated, 60, 1000, "≤ .071", **alarms(0.071)
        ),
        Setting(
            "C = 10, 100 rows, calibrated, 60 looks", 10, 100, calibrated, 60, 1000, "≤ .071", **alarms(0.071)
        ),
        Setting(
            "C = 3, 100 rows, calibrated, 365 looks", 3, 100, calibrated, 365, 500, "≤ .079", **alarms(0.079)
        ),
        Setting(
            "C = 3, 1000 rows, sharpened 1.15", 3, 1000, at_115, 10, 200, "2–3 / 4–5", **delay((2, 3), (4, 5))
        ),
        Setting(
            "C = 3, 100 rows, sharpened 1.3", 3, 100, at_13, 30, 200, "5–6 / 9–13", **delay((5, 6), (9, 13))
        ),
        Setting(
            "C = 3, 1000 rows, sharpened 1.05",
            3,
            1000,
            sharp(1.05),
            60,
            200,
            "14–20 / 26–38",
            **delay((14, 20), (26, 38)),
        ),
        Setting(
            "C = 10, 100 rows, sharpened 1.3", 10, 100, at_13, 10, 200, "2 / 3–4", **delay((2, 2), (3, 4))
        ),
        Setting(
            "C = 10, 100 rows, flattened 0.8",
            10,
            100,
            sharp(0.8),
            15,
            200,
            "3–4 / 5–6",
            **delay((3, 4), (5, 6)),
        ),
        Setting(
            "C = 2, 1000 rows, sharpened 1.15", 2, 1000, at_115, 15, 200, "3–4 / 5–7", **delay((3, 4), (5, 7))
        ),
        Setting(
            "C = 10, 100 rows, top two swapped in 10 %",
            10,
            100,
            streams.swapped(0.1),
            40,
            200,
            "10–12 / 18–23",
            **delay((10, 12), (18, 23)),
        ),
        Setting(
            "C = 3, 1000 rows, 1.15 after 100 looks",
            3,
            1000,
            at_115,
            120,
            100,
            "5–6 / 7–9, began ≥ .78",
            after=100,
            limits={"median": (5, 6), "90 %": (7, 9), "began": (0.78, 1.0), "early": (0.0, 0.115)},
        ),
        Setting(
            "C = 3, 1000 rows, sharpened 1.3, δ = .02",
            3,
            1000,
            at_13,
            15,
            100,
            "3–4 / 5–6",
            tolerance=0.02,
            **delay((3, 4), (5, 6)),
        ),
        Setting(
            "C = 3, 1000 rows, RCE = δ = .02",
            3,
            1000,
            sharp(1.1048),
            60,
            150,
            "≤ .103",
            tolerance=0.02,
            **alarms(0.103),
        ),
        Setting(
            "100 clusters × 10 copies, calibrated, max_cluster 10",
            3,
            1000,
            calibrated,
            60,
            200,
            "≤ .096",
            **copies,
            **alarms(0.096),
        ),
        Setting(
            "100 clusters × 10 copies, calibrated, max_cluster 1",
            3,
            1000,
            calibrated,
            60,
            60,
            "> .95",
            copies=10,
            limits={"alarms": (0.95, 1.0)},
        ),
        Setting(
            "100 clusters × 10 copies, sharpened 1.3, max_cluster 10",
            3,
            1000,
            at_13,
            30,
            100,
            "5–7",
            **copies,
            limits={"median": (5, 7)},
        ),
        Setting(
            "reference 20 000 rows at 1.15, stream at 1.15",
            3,
            1000,
            at_115,
            60,
            200,
            "≤ .096",
            reference=(at_115, 20_000),
            **alarms(0.096),
        ),
        Setting(
            "reference 20 000 rows at 1.15, stream at 1.3",
            3,
            1000,
            at_13,
            30,
            100,
            "4–7 / 8–14",
            reference=(at_115, 20_000),
            **delay((4, 7), (8, 14)),
        ),
    ]


def _class_lines() -> list[Setting]:
    shift, timid, alike = streams.label_shift, streams.class_temperature, [1.0] * 10
    seen: dict[str, Any] = {"must": "seen", "limits": {"alarms": (1, 1)}}

    def line(name: str, fault: Fault, n_looks: int, runs: int, must: str = "", **more: Any) -> Setting:
        """Ten classes that are alike, watched by class, 1000 rows a look, unless said otherwise."""
        usual: dict[str, Any] = {"n_rows": 1000, "classes": True, "dirichlet": alike}
        return Setting(name, n_classes=10, fault=fault, n_looks=n_looks, runs=runs, must=must, **usual | more)

    def quiet(name: str, **more: Any) -> Setting:
        """A calibrated stream of 100 rows a look."""
        limits = {"alarms": (0, 0.083)}
        return line(name, calibrated, 60, 400, "≤ .083", n_rows=100, limits=limits, **more)

    return [
        quiet("classes alike, 100 rows, calibrated, 60 looks"),
        quiet("classes unlike, 100 rows, calibrated, 60 looks", dirichlet=None),
        line("classes alike, one 5 points more frequent", shift(0.05), 15, 100, **seen),
        line("the same, ranks alone", shift(0.05), 60, 40, "not seen", classes=False),
        line("classes alike, one 5 points more frequent, 100 rows", shift(0.05), 60, 100, n_rows=100),
        line("classes alike, one 5 points less frequent", shift(-0.05), 15, 100, **seen),
        line("classes alike, one 2 points more frequent", shift(0.02), 60, 60),
        line(
            "classes alike, one 5 points more frequent, δ = .02", shift(0.05), 30, 60, tolerance=0.02, **seen
        ),
        line(
            "classes alike, one 1 point more frequent, δ = .02",
            shift(0.01),
            60,
            60,
            "≤ .13",
            tolerance=0.02,
            limits={"alarms": (0, 0.13)},
        ),
        line("classes alike, odds of one to the power 1.3", timid(1.3), 20, 60),
        line("classes alike, odds of one to the power 0.75", timid(0.75), 20, 60),
        line("classes alike, sharpened 1.15, with class tables", sharpened(1.15), 20, 100),
        line("classes alike, sharpened 1.15, ranks alone", sharpened(1.15), 20, 100, classes=False),
        line("5 points after 100 calibrated looks", shift(0.05), 115, 30, after=100),
    ]
