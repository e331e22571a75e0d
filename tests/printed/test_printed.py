"""Every number that is printed is the number of its definition, to the digits shown."""

from __future__ import annotations

import csv
import math
import re
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import defined
import numpy as np
import pytest
import speak
from defined import Near
from printed_text import Shown, numbers_in

GOES = """
* p;* centred p;p by resampling;RCE W1 *;classwise *;class gap *;log-score Z;cumulated
by class Q;by class Q degrees;class * slope;class * ECE;class * ECE *;class * adjusted p
more classes;effective rows
"""
GOES_OF_EVENTS_AND_PAIRS = """
event spread*;event RMS*;event largest*;event ICI*;event E[59m]*;event K*;event Spiegel*
event Hosmer*;event log-score Z*;event part *;event * p;event * calibrated;odds factor
difference net gap*;difference RCE*;difference class*;* classwise total debiased
"""
"""What goes or is known to be wrong, with the issues on inference and on events: they shrink."""

STUDIED = """
p;VCE low;VCE high;net gap low;net gap high;ECE low;ECE high;RCE low;RCE high
event gap in the large low;event gap in the large high;event ECE, debiased low;event ECE, debiased high
difference * low;difference * high;difference * adjusted p
"""
"""p-values and intervals: studies of size and coverage judge how often they are right."""

LISTED = re.split("[;\n]", (GOES + GOES_OF_EVENTS_AND_PAIRS + STUDIED).strip().replace("\n\n", "\n"))
SETTINGS = {"bins": 10, "top bins": 10, "ten": 10, "resamples": 999, "seed": 0, "level": 95}
RNG = np.random.default_rng(20261118)


def digits(model: str) -> tuple[Any, Any]:
    """The shipped predictions for scikit-learn's digits, as numbers of double precision."""
    labels, predictions = speak.load_digits()
    p = predictions[model].astype(float)
    return labels.astype(int), p / p.sum(axis=1, keepdims=True)


def simulated(n: int, classes: int, exponent: float) -> tuple[Any, Any]:
    p = RNG.dirichlet([1] * classes, n)
    y = np.minimum((p.cumsum(axis=1) < RNG.random((n, 1))).sum(axis=1), classes - 1)
    return y, p**exponent / (p**exponent).sum(axis=1, keepdims=True)


def event(n: int) -> tuple[Any, Any]:
    p = RNG.beta(1, 30, n)
    return (RNG.random(n) < 1.5 * p).astype(int), p


SETS: dict[str, tuple[str, tuple[Any, Any], dict[str, Any]]] = {
    "digits": ("assess", digits("logistic_regression"), {}),
    "impossible rows": ("assess", digits("naive_Bayes"), {}),
    "two classes": ("assess", simulated(800, 2, 1.4), {}),
    "weights": ("assess", simulated(600, 3, 1.5), {"sample_weight": RNG.lognormal(0, 1, 600)}),
    "rare event": ("assess_event", event(3000), {}),
    "two models": ("compare", digits("random_forest"), {"new": digits("logistic_regression")[1]}),
}


@cache
def definitions(name: str) -> dict[str, Any]:
    """The numbers that the text of a set may show, from their definitions."""
    verb, (y, p), more = SETS[name]
    if verb == "assess_event":
        return defined.event_numbers(y, p)
    if verb == "compare":
        models = {"old": defined.numbers(y, p), "new": defined.numbers(y, more["new"])}
        found = {f"{of} {key}": value for of, those in models.items() for key, value in those.items()}
        found |= {f"{of} VCE": those["VCE plug-in"] for of, those in models.items()}
        for key in ("VCE", "ECE"):
            old, new = (those[f"{key} debiased"] for those in models.values())
            found[f"difference {key}"] = Near(old.value - new.value, old.error + new.error)
        return found | {"rows": len(y), "classes": p.shape[1]}
    found = defined.numbers(y, p, more.get("sample_weight"))
    return found | (defined.event_numbers(y, p[:, 1]) if p.shape[1] == 2 else {})


def as_file(path: Path, y: Any, p: Any, weight: Any = None) -> str:
    """A file of rows, with all digits."""
    columns = [y, *(np.stack([1 - p, p], axis=1) if p.ndim == 1 else p).T]
    names = ["label", *(f"p_{k}" for k in range(len(columns) - 1))]
    extra = {} if weight is None else {"weight": weight}
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*names, *extra])
        writer.writerows(zip(*(column.tolist() for column in (*columns, *extra.values())), strict=True))
    return str(path)


def by_python(name: str) -> str:
    verb, (y, p), more = SETS[name]
    if verb == "compare":
        return speak.printed(speak.compare(y, {"old": p, **more}))
    return speak.printed(getattr(speak, verb)(y, p, **more))


def by_command(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    verb, (y, p), more = SETS[name]
    weight = more.get("sample_weight")
    files = [as_file(folder / "old.csv", y, p, weight)]
    files += [as_file(folder / "new.csv", y, more["new"])] if "new" in more else []
    options = {"event": 1} if verb == "assess_event" else {}
    options |= {"sample_weight": "weight"} if weight is not None else {}
    job = "event" if verb == "assess_event" else verb
    assert speak.command(speak.command_line(job, {"files": files, **options})) == 0
    return capsys.readouterr().out


def listed(name: str) -> list[str]:
    """The patterns of both lists that a name matches."""
    return [it for it in LISTED if fnmatch(name, it)]


def is_close(shown: Shown, true: Any) -> bool:
    """Whether a number is the one that is defined, to the digits shown."""
    value, error = true if isinstance(true, Near) else Near(float(true))
    if math.isinf(value):
        return math.isinf(shown.value)
    return abs(shown.value - value) <= shown.unit / 2 * (1 + 1e-6) + error + 1e-9


def wrong(name: str, text: str) -> list[str]:
    """The numbers of a text that nobody claims, or that are not what they are defined to be."""
    shown, lost = numbers_in(text)
    assert len(shown) > 40
    defined_here = {**SETTINGS, **definitions(name)}
    bare = [it.name.removeprefix("old ").removeprefix("new ") for it in shown]
    for it, plain in zip(shown, bare, strict=True):
        true = defined_here.get(it.name, SETTINGS.get(plain))
        if true is None and not listed(it.name) and not listed(plain):
            lost.append(f"{it.name} = {it.text} has no definition")
        elif true is not None and not is_close(it, true):
            lost.append(f"{it.name} = {it.text} is not {true}")
    return lost


@pytest.mark.parametrize("name", SETS)
def test_printed_by_python(name: str) -> None:
    assert wrong(name, by_python(name)) == []


@pytest.mark.parametrize("name", SETS)
def test_printed_by_command(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert wrong(name, by_command(name, tmp_path, capsys)) == []


def test_lists_hold_nothing_else() -> None:
    """A number that is gone, or that has a definition, leaves the lists."""
    unexplained = set()
    for name in SETS:
        for it in numbers_in(by_python(name))[0]:
            if it.name not in SETTINGS | definitions(name):
                unexplained |= {
                    *listed(it.name),
                    *listed(it.name.removeprefix("old ").removeprefix("new ")),
                }
    assert unexplained == set(LISTED)
