"""The inputs of `inputs.csv` as rows, and those of their sums and numbers that stay.

Rows are ratios of small whole numbers and multiples of 1/8, which every processor rounds in one way.
The sums have labels: `group=a options=3 view=bin` has those of each bin, `view=top` those of each bin
of confidence, `view=class` those of each of `CELLS`, and `group=a cluster=6 options=3 view=bin at=2`
those of one bin (of confidence, or of one class over all cells) of a cluster.
"""

import gzip
import json
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import speak

FILE = Path(__file__).with_name("golden.json.gz")
INPUTS = FILE.with_name("inputs.csv").read_text().splitlines()[1:]
CELLS = [0.0, *(2.0**-j for j in (17, 13, 10, 7)), *(k / 10 for k in range(1, 10))]
CELLS += [*(1 - 2.0**-j for j in (7, 10, 13, 17)), 1.0]
NUMBERS = {"edges", "accuracy", "brier_score", "log_loss"}
EDGES = [0.0, 0.125, 0.5, 0.75, 1.0]


@cache
def stored() -> Any:
    """What `store_golden.py` stored, by input."""
    return json.loads(gzip.decompress(FILE.read_bytes()))


def mixed(n: int, m: int, below: int) -> np.ndarray:
    """Whole numbers that look random, the same everywhere."""
    i, j = np.mgrid[1 : n + 1, 1 : m + 1].astype(np.uint64)
    x = (i * np.uint64(0x9E3779B97F4A7C15)) ^ (j * np.uint64(0xC2B2AE3D27D4EB4F))
    x = (x ^ (x >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return ((x ^ (x >> np.uint64(32))) % np.uint64(below)).astype(np.int64)


def parts_of(kind: str, n: int, c: int) -> np.ndarray:
    """Whole numbers to which the probabilities of each row are in proportion."""
    some, first = 1 + mixed(n, c, 30), np.arange(c) == 0
    if kind in ("decimals", "tenths"):
        parts = mixed(n, 8 if kind == "decimals" else 10, c)
        return np.array([np.bincount(row, minlength=c) for row in parts])
    if "one-hot" in kind:
        certain = np.eye(c, dtype=np.int64)[mixed(n, 1, c)[:, 0]]
        return np.where(np.arange(n)[:, None] % 2 * (kind != "one-hot"), some, certain)
    if kind == "uniform":
        return np.ones((n, c), np.int64)
    if kind == "powers":  # 2**-k and its complement, on edges of the cells of classes
        return np.where(np.arange(c) < c - 1, 1, 2 ** (1 + mixed(n, 1, 24)) - c + 1)
    if kind == "tiny":
        return np.where(some > 20, 2 ** mixed(n, c, 34), 0) + first
    return some if kind in ("smooth", "options") else some**4 * (some > 9) + first


def rows_of(name: str) -> tuple[Any, Any, dict[str, Any]]:
    """Labels, probabilities and options of an input."""
    kind, classes, dtype, variation, bins, ties, more = name.split(",")
    c, (measure, *order), (width, *size) = int(classes), variation.split(), bins.split()
    n = max(5, min(150, 1200 // c))
    h = mixed(n, 8, 2**20)
    parts = parts_of(kind, n, c)
    p = parts / parts.sum(axis=1, keepdims=True)
    if kind == "logits":
        p = (mixed(n, c, 257) - 128) / 8 * np.array([1, 1, 8, 64])[np.arange(n) % 4, None]
        p[3::19, -1] = -np.inf
    y = np.where(h[:, 0] % 3, p.argmax(axis=1), h[:, 1] % c)
    if kind == "impossible":
        y = np.where(h[:, 2] % 4, y, p.argmin(axis=1))
    elif "one-hot" not in kind:
        y = np.where(p[np.arange(n), y] > 0, y, p.argmax(axis=1))
    how = {"ties": ties, "variation": getattr(speak, measure)(float(*order)) if order else measure}
    equal = speak.EqualMass if width == "mass" else speak.EqualWidth
    how["bins"] = equal(int(*size)) if size else speak.Edges(EDGES)
    offered = {
        "weights": ("sample_weight", h[:, 3] % 17 / 8),
        "groups": ("groups", np.array(list("abc"))[h[:, 4] % 3]),
        "clusters": ("clusters", h[:, 5] % 7),
        "logits": ("from_logits", True),
        "soft": ("soft_labels", True),
    }
    how |= dict(offered[word] for word in more.split())
    if kind == "options":
        which = 2 + h[:, 6] % (c - 1)
        lists = [row[:k] / row[:k].sum() for row, k in zip(parts, which, strict=True)]
        return [int(k) for k in y % which], [row.tolist() for row in lists], how
    if "soft" in more:
        shares = mixed(n, c, 4) * (h[:, 7:] % 3 > 0) + np.eye(c, dtype=np.int64)[y]
        y = shares / shares.sum(axis=1, keepdims=True)
    if dtype == "bfloat16":  # float32 of which the lower half is zero, as a tensor
        p = (p.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        device = {"__dlpack__": p.__dlpack__, "__dlpack_device__": p.__dlpack_device__}
        return y, SimpleNamespace(dtype=dtype, rows=p, float=lambda: p, **device), how
    return y, p.astype(dtype), how


def content(name: str, engine: str) -> dict[str, Any]:
    """The sums and numbers of an input that stay."""
    y, p, how = rows_of(name)
    parts = speak.sums(y, p, CELLS, engine=engine, **how)
    # The variance of scores is known to be wrong with impossible rows and with weights.
    wrong = "weights" in name or any(part.get("impossible_rows") for part in parts.values())
    # Powers depend on the processor, in the last digits of V.
    close = NUMBERS | ({"variation"} if "renyi" in name or "tsallis" in name else set())
    numbers = {
        f"{number} {label}": part[number]
        for label, part in parts.items()
        for number in close & part.keys()
        if "view=bin" in label
    }
    how = {word: how[word] for word in how if word not in ("groups", "clusters")}
    rows = {word: how[word] for word in how if word not in ("variation", "bins")}
    table = speak.tabulate(y, p, engine=engine, **how)
    for norm in ("l1", "l2", "max"):
        numbers[f"vce {norm}"] = [speak.vce(y, p, norm=norm, **how), speak.vce_of(table, norm=norm)]
        numbers[f"ece {norm}"] = speak.ece(y, p, norm=norm, **rows)
    for distance in ("tv", "w1"):
        of_rows = speak.rce(y, p, distance=distance, **how)
        numbers[f"rce {distance}"] = [of_rows, speak.rce_of(table, distance)]
    numbers["uce"] = speak.uce(y, p, **rows)
    if not isinstance(p, list):
        numbers["cwece"] = speak.cwece(y, p, **{word: rows[word] for word in rows if word != "ties"})
    if name.startswith("decimals,2") and not wrong:
        numbers["skce"] = speak.skce(y, p, "biased", bandwidth=1.0)
        corp = speak.corp_parts(y, p[:, 1])
        in_bins = speak.brier_parts(y, p[:, 1], speak.EqualWidth(10))
        for part in ("miscalibration", "discrimination", "uncertainty"):
            numbers[f"corp {part}"] = corp[part]
        for part in ("reliability", "resolution", "uncertainty"):
            numbers[f"brier {part}"] = in_bins[part]
    gone = {"ranks"} | close | ({"log_score_variance"} if wrong else set())
    sums = {label: kept(label, part, gone) for label, part in parts.items()}
    return {"sums": sums, "numbers": numbers}


def kept(label: str, part: dict[str, Any], gone: set[str]) -> dict[str, Any]:
    """The sums of a part that stay; those by confidence and of classes are of rows, or of their weight."""
    mass = {"mass": part.get("weight", part["rows"])}
    if "view=top" in label:
        return mass | {key: np.array(part[key], object)[..., 0].tolist() for key in ("ordered", "rank")}
    if "view=class" in label:
        return mass | {key: part[key] for key in ("predicted", "observed")}
    if "log_score_variance" in gone and "predicted_scores" in part:
        part["predicted_scores"] = [score for score, _ in part["predicted_scores"]]
    return {key: part[key] for key in part.keys() - gone}


def unlike(stored: Any, found: Any, close: float | None, where: str = "") -> list[str]:
    """Where two contents differ: at all, or by more than `close`, relative and absolute."""
    if isinstance(stored, dict) and stored.keys() == found.keys():
        return [at for key in stored for at in unlike(stored[key], found[key], close, f"{where} {key}")]
    if isinstance(stored, dict) or close is None:
        return [] if stored == found else [where]
    a, b = np.array(stored, float), np.array(found, float)
    return [] if a.shape == b.shape and np.allclose(b, a, rtol=close, atol=close) else [where]
