"""Rows whose answers are known, and the answers, each made once."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from trueness.answers.assessment import Assessment, assess

FLAT = [1.0, 1.0, 1.0]


Given = dict[str, Any]


def rows(n: int, alpha: list[float], power: float = 1.0, seed: int = 1, **more: Any) -> Given:
    """Dirichlet rows that state their probabilities to a power."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(alpha, n)
    y = np.minimum((p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1), len(alpha) - 1)
    stated = (p / p.max(axis=1, keepdims=True)) ** power
    return {"y_true": y, "y_prob": stated / stated.sum(axis=1, keepdims=True), **more}


def sharpened_part(given: dict[str, Any], part: Any, power: float = 3.0) -> dict[str, Any]:
    """The rows with one part of them sharpened."""
    p = given["y_prob"].copy()
    p[part] = p[part] ** power / (p[part] ** power).sum(axis=1, keepdims=True)
    return {**given, "y_prob": p}


def grouped(n: int, names: list[str], wrong: set[str]) -> dict[str, Any]:
    """Groups of n rows each, of which some are sharpened."""
    group = np.repeat(names, n)
    given = rows(n * len(names), FLAT, seed=3)
    return {**sharpened_part(given, np.isin(group, list(wrong))), "groups": group}


def shifted() -> dict[str, Any]:
    """The labels are drawn from other class frequencies than stated."""
    given, rng = rows(3000, FLAT), np.random.default_rng(2)
    p = given["y_prob"] * [3, 1, 0.5]
    level = rng.random((3000, 1)) * p.sum(axis=1, keepdims=True)
    return {**given, "y_true": (p.cumsum(axis=1) < level).sum(axis=1)}


def one_hot(wrong: int) -> dict[str, Any]:
    """500 predictions of 0 and 1, some of them wrong."""
    y = np.arange(500) % 3
    stated = np.where(np.arange(500) < wrong, (y + 1) % 3, y)
    return {"y_true": y, "y_prob": np.eye(3)[stated]}


def opposite() -> dict[str, Any]:
    """Sharpened where certain, flattened elsewhere."""
    given = rows(4000, FLAT)
    certain = given["y_prob"].max(axis=1) > 0.65
    return sharpened_part(sharpened_part(given, certain, 2.0), ~certain, 0.2)


def by_predicted_class() -> dict[str, Any]:
    """Ten classes: sharpened where class 3 is predicted, flattened where class 7 is."""
    given = rows(8000, [0.7] * 10)
    first = given["y_prob"].argmax(axis=1)
    return sharpened_part(sharpened_part(given, first == 3, 2.5), first == 7, 0.4)


def impossible() -> dict[str, Any]:
    """50 of 1000 rows state 0 for the class that comes true."""
    given = rows(1000, FLAT)
    given["y_prob"][:50] = np.eye(3)[(given["y_true"][:50] + 1) % 3]
    return given


def clustered(n_clusters: int, size: int, power: float = 1.0, **more: Any) -> dict[str, Any]:
    """Independent rows that are said to be in clusters."""
    which = np.repeat([f"p{k}" for k in range(n_clusters)], size)
    return {**rows(n_clusters * size, FLAT, power), "clusters": which, **more}


def exchanged() -> dict[str, Any]:
    given = rows(800, [0.3] * 3)
    return {**given, "y_prob": given["y_prob"][:, [1, 2, 0]]}


def lower_ranks() -> dict[str, Any]:
    """The second and the third most probable class are exchanged."""
    given = rows(4000, [1.0] * 5)
    p, order = given["y_prob"], np.argsort(-given["y_prob"], axis=1)
    exchanged = p.copy()
    for mine, other in ((1, 2), (2, 1)):
        place = np.arange(4000), order[:, mine]
        exchanged[place] = p[np.arange(4000), order[:, other]]
    return {**given, "y_prob": exchanged}


def options() -> dict[str, Any]:
    made = [rows(300, [1.0] * k, 2.0) for k in (4, 10)]
    return {key: [row for its in made for row in its[key].tolist()] for key in made[0]}


MAKERS: dict[str, tuple[Any, str]] = {
    "sharpened": (lambda: rows(2000, FLAT, 1.5), "over-confident"),
    "flattened": (lambda: rows(2000, FLAT, 0.6), "under-confident"),
    "two classes": (lambda: rows(2000, [1.0, 1.0], 2.0), "over-confident"),
    "calibrated": (lambda: rows(500, FLAT, seed=2), "no-evidence"),
    "few rows": (lambda: rows(5, FLAT), "cannot-tell"),
    "few clusters": (lambda: clustered(7, 100), "cannot-tell"),
    "clusters": (lambda: clustered(30, 60, 1.6), "over-confident"),
    "exchanged": (exchanged, "order"),
    "lower ranks": (lower_ranks, "order"),
    "shifted": (shifted, "class-frequency"),
    "by predicted class": (by_predicted_class, "by-class"),
    "opposite": (opposite, "varies"),
    "one-hot, wrong": (lambda: one_hot(40), "over-confident"),
    "one-hot, right": (lambda: one_hot(0), "no-evidence"),
    "impossible": (impossible, "over-confident"),
    "options": (options, "over-confident"),
    "one group": (lambda: grouped(200, [f"s{k}" for k in range(8)], {"s5"}), "over-confident"),
    "most groups": (lambda: grouped(200, ["a", "b", "c"], {"a", "b", "c"}), "over-confident"),
}
"""Rows by name, and the kind of the answer to them."""


@cache
def answered(name: str) -> Assessment:
    """The assessment of these rows."""
    return assess(**MAKERS[name][0]())
