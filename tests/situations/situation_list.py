"""Forty situations and more: how rows are made, and what a good statistician concludes.

Expectations are words: `kind=` the conclusions that are right, `p=` "low" (at most .05), "high", or
"none" if none can be given; `T=` whether a temperature is advised ("yes", "no", or the range in
which it is named); `named=` the groups that are found wrong; `says=`, `never=` patterns of the
answer, `advice=` of its advice; `own`, `zero`, `classes` further checks; `runs=` for calibrated
rows, of which too many must not be rejected. Bars separate cases.

A word that ends in "!" is what today's answer gets wrong, and must fail until it is corrected: in
`assess` by the issue on inference, elsewhere by the one on events. "text!" and "direction!" are
checks that all situations have.

Every recipe of rows is called without its generator, and then with it: `rows(100, [1, 1, 1])(rng)`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from statistics import NormalDist
from typing import Any

import numpy as np

Array = np.ndarray
Rng = np.random.Generator
Given = dict[str, Any]
Change = Callable[[Array], Array]
Recipe = Callable[[Rng], Given]


def recipe(make: Callable[..., Given]) -> Callable[..., Recipe]:
    """The function without its generator, which is given last."""
    return wraps(make)(lambda *given, **more: lambda rng: make(rng, *given, **more))


def normalise(p: Array) -> Array:
    """Rows that sum to 1."""
    return p / p.sum(axis=1, keepdims=True)


def power(exponent: float) -> Change:
    """Sharpened by an exponent above 1, flattened by one below."""
    return lambda p: normalise((p / p.max(axis=1, keepdims=True)) ** exponent)


def times(*factors: float) -> Change:
    """Other frequencies of the classes."""
    return lambda p: normalise(p * np.array(factors))


def logit(p: Array, slope: float = 1.0, shift: Any = 0.0) -> Array:
    """Probabilities with other log-odds."""
    return 1 / (1 + ((1 - p) / p) ** slope * np.exp(-shift))


def labels(rng: Rng, p: Array, level: Array | None = None) -> Array:
    """One class for each row, from its probabilities; `level` are the uniform variates."""
    drawn = rng.random(len(p)) if level is None else level
    return np.minimum((p.cumsum(axis=1) < drawn[:, None]).sum(axis=1), p.shape[1] - 1)


def even(p: Array) -> Array:
    """Labels as frequent as stated, class by class and along confidence: no test may find anything."""
    level = np.empty(len(p))
    level[np.lexsort((p.max(axis=1), p.argmax(axis=1)))] = (np.arange(len(p)) * 0.6180339887 + 0.5) % 1
    return labels(np.random.default_rng(), p, level)


@recipe
def rows(
    rng: Rng,
    n: int,
    alpha: list[float],
    stated: Change | None = None,
    *,
    true: Change | None = None,
    clusters: int = 0,
    fair: bool = False,
    **more: Any,
) -> Given:
    """Dirichlet rows; `stated` changes what is said, `true` what the labels are drawn from."""
    p = rng.dirichlet(alpha, n)
    if clusters:
        more["clusters"] = np.arange(n) * clusters // n
    y = even(p) if fair else labels(rng, true(p) if true else p)
    return {"y_true": y, "y_prob": stated(p) if stated else p, **more}


@recipe
def fixed(rng: Rng, y_true: Any, y_prob: Any, **more: Any) -> Given:
    """Rows without any chance."""
    return {"y_true": np.asarray(y_true), "y_prob": np.asarray(y_prob), **more}


@recipe
def weighted(rng: Rng, n: int, *stated: Change) -> Given:
    return {**rows(n, [1, 1, 1], *stated)(rng), "sample_weight": rng.lognormal(0, 1, n)}


@recipe
def with_logits(rng: Rng, given: Recipe) -> Given:
    found = given(rng)
    p = found["y_prob"]
    return {**found, "y_prob": np.log(p) + rng.normal(size=(len(p), 1)), "from_logits": True}


@recipe
def with_names(rng: Rng, given: Recipe) -> Given:
    found = given(rng)
    names = [f"c{k}" for k in range(found["y_prob"].shape[1])]
    return {**found, "y_true": np.array(names)[found["y_true"]], "classes": names}


@recipe
def parts(rng: Rng, n: int, alpha: list[float], part: Change, exponents: list[float]) -> Given:
    """Calibrated rows that are sharpened differently in the parts of a division."""
    p = rng.dirichlet(alpha, n)
    stated = np.choose(part(p)[:, None], [power(exponent)(p) for exponent in exponents])
    return {"y_true": labels(rng, p), "y_prob": stated}


@recipe
def one_hot(rng: Rng, wrong: float) -> Given:
    y = rng.integers(0, 3, 1000)
    stated = np.where(rng.random(1000) < wrong, (y + 1) % 3, y)
    return {"y_true": y, "y_prob": np.eye(3)[stated]}


@recipe
def rounded(rng: Rng) -> Given:
    """Multiples of a tenth: many rows are tied, and many hold a 0."""
    p = rng.multinomial(10, [0.5, 0.3, 0.2], 1000) / 10
    return {"y_true": even(p), "y_prob": p}


@recipe
def impossible(rng: Rng) -> Given:
    """100 rows of 1000 say 0 of the class that came true."""
    found = rows(1000, [1, 1, 1])(rng)
    found["y_prob"][:100] = np.eye(3)[(found["y_true"][:100] + 1) % 3]
    return found


@recipe
def annotators(rng: Rng, exponent: float) -> Given:
    """Shares of classes as labels: half the annotators agree on one, half answer as stated."""
    p = rng.dirichlet([1, 1, 1], 1000)
    return {
        "y_true": (np.eye(3)[even(p)] + p) / 2,
        "y_prob": power(exponent)(p),
        "soft_labels": True,
    }


@recipe
def options(rng: Rng, exponent: float) -> Given:
    """Questions with four or ten options."""
    made = [rows(600, [1] * k, power(exponent), fair=True)(rng) for k in (4, 10)]
    y, p = ([row for some in made for row in some[name].tolist()] for name in ("y_true", "y_prob"))
    return {"y_true": y, "y_prob": p}


@recipe
def answers(rng: Rng) -> Given:
    """20 questions, each answered twice alike, more often right than stated."""
    p = rng.dirichlet([6, 1, 1, 1], 20)
    y = np.where(np.arange(20) < 16, p.argmax(axis=1), p.argmin(axis=1))
    return {
        "y_true": np.tile(y, 2),
        "y_prob": np.tile(p, (2, 1)),
        "clusters": np.tile(np.arange(20), 2),
    }


@recipe
def events(rng: Rng, p: Callable[[Rng], Array], true: Change | None = None) -> Given:
    """An event with these probabilities, which happens with them or with others."""
    stated = p(rng)
    happens = rng.random(stated.shape) < (true(stated) if true else stated)
    return {"y_true": happens.astype(int), "y_prob": stated}


@recipe
def multi_label(rng: Rng, n: int) -> Given:
    """Five events that do not exclude one another; the fourth is more frequent than stated."""
    p, shift = rng.beta(1, 4, (n, 5)), np.array([0, 0, 0, 1, 0])
    names = ["cough", "fever", "rash", "fatigue", "nausea"]
    return {
        "y_true": (rng.random(p.shape) < logit(p, shift=shift)) * 1,
        "y_prob": p,
        "classes": names,
    }


@recipe
def copied(rng: Rng, sizes: list[int], alpha: list[float]) -> Given:
    """Calibrated rows that are repeated: a cluster for each."""
    which, p = np.repeat(np.arange(len(sizes)), sizes), rng.dirichlet(alpha, len(sizes))
    return {"y_true": labels(rng, p)[which], "y_prob": p[which], "clusters": which}


@recipe
def copula(rng: Rng, clusters: int, size: int, alpha: list[float]) -> Given:
    """Calibrated rows whose outcomes depend on one another within clusters."""
    which = np.repeat(np.arange(clusters), size)
    p = rng.dirichlet(alpha, len(which))
    z = np.sqrt(0.3) * rng.standard_normal(clusters)[which]
    z += np.sqrt(0.7) * rng.standard_normal(len(which))
    level = np.array([NormalDist().cdf(value) for value in z])
    return {"y_true": labels(rng, p, level), "y_prob": p, "clusters": which}


@recipe
def patients(rng: Rng, count: int, size: int, prevalence: float, classes: bool = False) -> Given:
    """A rare outcome that all rows of a patient share, with a risk that differs between patients."""
    which = np.repeat(np.arange(count), size)
    risk = np.clip(rng.gamma(2, prevalence / 2, count), 1e-4, 0.9)
    y, p = (rng.random(count) < risk).astype(int)[which], risk[which]
    return {
        "y_true": y,
        "y_prob": np.stack([1 - p, p], axis=1) if classes else p,
        "clusters": which,
    }


@recipe
def grouped(rng: Rng, n: int, count: int, wrong: range, name: Callable[[int], tuple[str, ...]]) -> Given:
    """Groups of n rows each, of which some are sharpened; their names have a column or several."""
    group, found = np.repeat(np.arange(count), n), rows(n * count, [1, 1, 1])(rng)
    p, names = found["y_prob"], np.array([name(k) for k in range(count)])[group]
    found["y_prob"] = np.where(np.isin(group, wrong)[:, None], power(3.0)(p), p)
    columns = {f"column{k}": list(names[:, k]) for k in range(names.shape[1])}
    return {**found, "groups": columns if len(columns) > 1 else names[:, 0]}


@recipe
def models(rng: Rng, n: int, old: float, new: float, **more: Any) -> Given:
    """Two models: calibrated rows to the power of two exponents."""
    found = rows(n, [1, 1, 1], **more)(rng)
    p = found.pop("y_prob")
    return {**found, "y_probs": {"old": power(old)(p), "new": power(new)(p)}}


@recipe
def days(rng: Rng, count: int, since: int = 99, order: str = "whole", regions: tuple[str, ...] = ()) -> Given:
    """Looks of 200 rows, sharpened from one day on: "whole", in two "parts", or labels "late".

    With regions each has its rows, and the last one alone is sharpened.
    """
    looks = []
    for day in range(1, count + 1):
        name, bad = f"2026-03-{day:02d}", power(2.0) if day >= since else None
        made = [rows(200, [1, 1, 1], stated)(rng) for stated in (*[None] * len(regions[1:]), bad)]
        given = [(some["y_true"], some["y_prob"]) for some in made]
        if order == "whole":
            looks.append((name, dict(zip(regions, given, strict=True)) if regions else given[0]))
        else:
            ((y, p),) = given
            looks += [
                (name, (y[:100], p[:100])),
                (name + " b" * (order == "late"), (y[100:], p[100:])),
            ]
    if order == "late":  # the second half of a day comes after the first half of the next
        looks[1:-1] = [looks[k + 1 if k % 2 else k - 1] for k in range(1, len(looks) - 1)]
    return {"looks": looks}


FEW = "kind=cannot-tell! runs=60"
FAIR = "kind=no-evidence|cannot-tell runs=40"
QUIET = "kind=no-evidence|cannot-tell"
NONE = "kind=no-evidence p=high"
TOO_FEW_CLUSTERS = "kind=cannot-tell! p=none!"
OVER, UNDER = "kind=over-confident p=low", "kind=under-confident p=low"
ORDER, FREQUENCY = "kind=order p=low T=no", "p=low kind=class-frequency"
FLAT, SPARSE, TENTHS = [1, 1, 1], [0.1] * 10, [0.5] * 10
ZERO_OR_ONE = np.arange(1000) % 3 % 2


def beta(a: float, b: float, n: int) -> Callable[[Rng], Any]:
    return lambda rng: rng.beta(a, b, n)


def first(before: int, last: int, ends: tuple[str, ...] = ("",)) -> str:
    """An alarm on one of these days, by name."""
    return "kind=" + "|".join(f"2026-03-{k:02d}{end}" for k in range(before, last + 1) for end in ends)


def predicts(p: Any) -> Any:
    """1 where class 3 of ten is predicted, 2 where class 7 is."""
    return (p.argmax(axis=1) == 3) + 2 * (p.argmax(axis=1) == 7)


def site(k: int) -> tuple[str, ...]:
    return (f"site-{k}",)


def cell(k: int) -> tuple[str, ...]:
    return f"h{k // 8}", f"s{k % 8}"


SITUATIONS: dict[str, dict[str, tuple[Recipe, str]]] = {
    "assess": {
        "1 row": (rows(1, SPARSE), "kind=cannot-tell runs=60 p!"),
        "2 rows": (rows(2, SPARSE), f"{FEW} p!"),
        "5 rows": (rows(5, SPARSE), FEW),
        "10 rows": (rows(10, FLAT), FEW),
        "calibrated": (rows(300, FLAT), FAIR),
        "calibrated, nearly certain": (rows(500, [0.05] * 3), FAIR),
        "calibrated, hardly certain": (rows(300, [20] * 4), FAIR),
        "calibrated, rare class": (rows(1000, [0.05, 4.95]), FAIR),
        "calibrated, weights": (weighted(300), FAIR),
        "calibrated, a thousand classes": (rows(1000, [0.05] * 1000, fair=True), NONE),
        "calibrated, ties": (rounded(), NONE),
        "calibrated, soft labels": (annotators(1.0), NONE),
        "calibrated, four and ten options": (options(1.0), NONE),
        "one-hot, always right": (one_hot(0.0), QUIET),
        "one class, as stated": (fixed([0] * 100, [[0.999, 0.001]] * 100), QUIET),
        "20 copied clusters": (copied([20] * 20, [1, 1]), f"{FAIR} runs=80 p! direction!"),
        "30 copied clusters": (copied([20] * 30, [1, 1]), FAIR),
        "50 copied clusters": (copied([20] * 50, FLAT), FAIR),
        "40 unequal clusters": (
            copied([1, 2, 4, 8, 16, 32, 64, 200] * 5, FLAT),
            f"{FAIR} runs=80 p!",
        ),
        "20 clusters by a copula": (copula(20, 20, [1, 1]), FAIR),
        "rare and shared": (patients(50, 20, 0.02, classes=True), f"{FAIR} p! text! direction!"),
        "20 questions twice": (answers(), f"{QUIET} never=[Oo]ver-confident"),
        "7 clusters": (rows(700, FLAT, power(2), clusters=7), TOO_FEW_CLUSTERS),
        "12 clusters, flattened": (rows(1200, FLAT, power(0.6), clusters=12), UNDER),
        "30 clusters, sharpened": (rows(3000, SPARSE, power(1.3), clusters=30), f"{OVER} own!"),
        "sharpened": (rows(4000, FLAT, power(1.5)), f"{OVER} T=1.35..1.65!"),
        "sharpened, two classes": (rows(4000, [1, 1], power(2)), f"{OVER} T=1.75..2.25!"),
        "sharpened, a thousand classes": (rows(2000, [0.05] * 1000, power(1.5)), f"{OVER} T=yes"),
        "sharpened, weights": (weighted(2000, power(1.7)), f"{OVER} T=yes"),
        "sharpened, soft labels": (annotators(2.0), f"{OVER} T=yes"),
        "sharpened, four and ten options": (options(2.0), f"{OVER} T=yes"),
        "sharpened, logits": (with_logits(rows(2000, FLAT, power(1.7))), f"{OVER} T=yes"),
        "flattened": (rows(4000, FLAT, power(0.6)), f"{UNDER} T=yes"),
        "exchanged, two classes": (rows(1000, [0.3] * 2, lambda p: p[:, ::-1]), f"{ORDER} text!"),
        "exchanged, three classes": (rows(1000, [0.3] * 3, lambda p: p[:, [1, 2, 0]]), ORDER),
        "exchanged, ten classes": (rows(1000, [0.3] * 10, lambda p: p[:, ::-1]), ORDER),
        "one-hot, often wrong": (one_hot(0.1), f"{OVER} T=no! text!"),
        "impossible rows": (
            impossible(),
            r"kind=over-confident|varies|order T=no! says=\b100\srows",
        ),
        "one class, too seldom": (
            fixed([0] * 500, [[0.9, 0.1]] * 500),
            f"{FREQUENCY}|under-confident",
        ),
        "label shift": (rows(3000, FLAT, true=times(3, 1, 0.5)), f"{FREQUENCY} T=no"),
        "rare class": (rows(5000, [4.95, 0.05], true=times(1, 4)), f"{FREQUENCY} T=no"),
        "one class of ten": (
            with_names(rows(5000, TENTHS, true=times(*[1] * 6, 2.5, 1, 1, 1))),
            rf"{FREQUENCY} T=no says=\bc6\b",
        ),
        "where two classes of ten are predicted": (
            with_names(parts(8000, TENTHS, predicts, [1, 2.5, 0.4])),
            r"kind=by-class|class-frequency p=low T=no says=\bc[37]\b",
        ),
        "opposite in two halves": (
            parts(4000, FLAT, lambda p: (p.max(axis=1) > 0.65) * 1, [0.2, 2]),
            "kind=varies p=low T=no",
        ),
        "one of twelve sites": (
            grouped(400, 12, range(7, 8), site),
            "p=low named=site-7 says=site-7! advice=site-7!",
        ),
        "8 of 96 groups": (
            grouped(120, 96, range(40, 48), cell),
            r"p=low says=\bh5\b! advice=\bh5\b! named="
            + "|".join(f"column0=h5,column1=s{k}" for k in range(8)),
        ),
    },
    "assess_event": {
        "5 rows": (fixed([1, 0, 0, 1, 1], [0.9, 0.2, 0.3, 0.6, 0.8]), "kind=cannot-tell! p=high"),
        "always 5 %, right": (fixed([1, *[0] * 19] * 50, [0.05] * 1000), NONE),
        "always 5 %, wrong": (fixed([1, *[0] * 9] * 100, [0.05] * 1000), FREQUENCY),
        "0 or 1, always right": (fixed(ZERO_OR_ONE, ZERO_OR_ONE * 1.0), QUIET),
        "0 or 1, often wrong": (
            fixed(np.roll(ZERO_OR_ONE, 1), ZERO_OR_ONE * 1.0),
            "kind=over-confident|order p=low text!",
        ),
        "calibrated, 1 %": (events(beta(0.5, 49.5, 1000)), f"{QUIET} runs=20"),
        "rare and shared": (patients(50, 20, 0.02), f"{QUIET} runs=20 p!"),
        "as two classes": (events(beta(2, 2, 300), lambda p: logit(p, 0.75)), "classes! runs=20"),
        "too often": (
            events(beta(2, 38, 4000), lambda p: p / 2),
            f"{FREQUENCY} says=often|high|over-pred",
        ),
        "too seldom": (
            events(beta(1, 99, 6000), lambda p: 2.5 * p),
            f"{FREQUENCY} says=seldom|low|under-pred",
        ),
        "too extreme": (events(beta(0.5, 0.5, 4000), lambda p: logit(p, 0.5)), OVER),
        "not extreme enough": (events(beta(4, 4, 4000), lambda p: logit(p, 2)), UNDER),
        "7 clusters": (
            fixed([1, 1, 0] * 70, [0.2] * 210, clusters=np.arange(210) // 30),
            TOO_FEW_CLUSTERS,
        ),
    },
    "assess_labels": {"one of five": (multi_label(1500), "p=low named=fatigue says=fatigue")},
    "compare": {
        "same predictions": (models(500, 1.5, 1.5), "kind=cannot-tell zero"),
        "better": (models(3000, 2.0, 1.0), "kind=new p=low"),
        "worse": (models(3000, 1.0, 0.4), "kind=old p=low"),
        "opposite errors": (
            models(600, 1.45, 0.6, fair=True),
            "kind=neither|cannot-tell never=is\\sbetter",
        ),
        "hardly different": (models(300, 1.03, 0.97, fair=True), "kind=cannot-tell p=high"),
        "7 clusters": (models(700, 2.0, 1.0, clusters=7), TOO_FEW_CLUSTERS),
    },
    "monitor": {
        "30 stable days": (days(30), "kind=no-alarm"),
        "worse from day 10": (
            days(20, 10),
            first(10, 14) + r" says=(?=.*over-conf)(?=.*2026-03-(09|10|11))",
        ),
        "worse from day 6, labels late": (days(15, 6, "late"), first(6, 12, ("", "b"))),
        "days in two parts": (days(15, 6, "parts"), first(6, 12) + "! text!"),
        "one of two regions": (
            days(20, 6, regions=("north", "south")),
            first(6, 15) + " named=south",
        ),
    },
}
