"""Stores the sums and numbers of all inputs: `python tests/golden/store_golden.py`.

Each sum is compared with plain loops of the paper first, and what these could not confirm is listed.
"""

import gzip
import json
import math
import re
import sys
from bisect import bisect_left
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("", "oracles")]

import event_oracle
import oracle
from golden import CELLS, FILE, INPUTS, content, rows_of

COUNTS = {"rows", "mass", "weight", "weight_square", "tied_rows", "impossible_rows"}
LOGS = {"log_score", "log_score_variance", "log_likelihood", "predicted_scores"}
SOFT = {"rows", "mass", "weight", "weight_square", "ordered", "predicted", "variation", "square"}
LOGITS = SOFT | {"rank", "observed", "true_probability"}


def from_loops(name: str, of: dict[str, str], edges: list[float]) -> dict[str, Any]:
    """The sums of a part in units, from plain loops; with a soft label those that no label changes."""
    y, p, how = rows_of(name)
    kind, _, dtype, variation, bins, ties, _ = name.split(",")
    rows = [[float(x) for x in row] for row in getattr(p, "rows", p)]
    w = [Fraction(x) for x in how.get("sample_weight", [1] * len(rows))]
    which = [i for i, row in enumerate(rows) if w[i] and len(row) == int(of["options"])]
    for column in {"group", "cluster"} & of.keys():
        which = [i for i in which if str(how[column + "s"][i]) == of[column]]
    rows = [oracle.softmax(rows[i]) if kind == "logits" else rows[i] for i in which]
    labels, w = [0 if "soft_labels" in how else int(y[i]) for i in which], [w[i] for i in which]
    if of["view"] == "class":
        return of_classes(labels, rows, w, oracle.EPS[dtype])
    measure, *order = ("confidence" if of["view"] == "top" else variation).split()
    (width, *size), tenths = bins.split(), oracle.equal_width(10, 0.0, 1.0)
    whole = size and (width == "width" or len(which) == len(y))
    way = (width, int(*size)) if whole else ("edges", edges)
    if of["view"] == "top":
        way = ("edges", tenths) if kind == "options" else ("width", 10)
    V = getattr(oracle, measure)(float(*order)) if order else measure
    table = oracle.tabulate(labels, rows, measure=V, bins=way, ties=ties, dtype=dtype, weights=w)
    if of["view"] == "top":
        firsts = {key: [row[0] for row in table[key]] for key in ("ordered", "rank")}
        errors = {f"ece {norm}": oracle.error(table, "ece", norm) for norm in ("l1", "l2", "max")}
        return firsts | {"mass": table["count"], "errors": errors}
    by_bin, by_class = (
        np.zeros((len(table["count"]), 2), object),
        np.zeros((len(rows[0]), 2), object),
    )
    for row, label, weight, m in zip(rows, labels, w, table["bin"], strict=True):
        possible = row[label] > 0
        score = math.log(row[label]) + oracle.entropy_nats(row) if possible else 0.0
        both = [weight * oracle.integer(x, oracle.LOG_UNIT) for x in (score, oracle.varentropy_nats(row))]
        by_bin[m] += both
        by_class[row.index(max(row))] += both
    found = table | {"rows": table["row_count"], "weight": table["count"]}
    found |= {"log_score": by_bin[:, 0], "log_score_variance": by_bin[:, 1]}
    stays = slice(None) if table["impossible_rows"] == 0 and "sample_weight" not in how else 0
    errors = {f"vce {norm}": oracle.error(table, "vce", norm) for norm in ("l1", "l2", "max")}
    errors |= {f"rce {distance}": oracle.error(table, distance) for distance in ("tv", "w1")}
    if "sample_weight" not in how:
        errors[f"brier_score options={of['options']} view=bin"] = oracle.brier_score(labels, rows)
        errors[f"log_loss options={of['options']} view=bin"] = oracle.log_loss(labels, rows)
    return found | {"predicted_scores": by_class[:, stays], "errors": errors}


def of_classes(labels: Any, rows: Any, weights: Any, eps: float) -> dict[str, Any]:
    """The sums of classes; of two classes those of the second."""
    found = np.zeros((3, len(rows[0]), len(CELLS) - 1), object)
    for y, row, w in zip(labels, rows, weights, strict=True):
        for c, x in enumerate(row):
            end = event_oracle.CLASS_EDGES[event_oracle.cell_of(x, "class", eps) + 1]
            counts = 1, oracle.integer(x), oracle.UNIT * (y == c)
            found[:, c, bisect_left(CELLS, float(end)) - 1] += [w * count for count in counts]
    found = found[:, len(rows[0]) == 2 :]
    return dict(zip(("mass", "predicted", "observed"), found.tolist(), strict=True))


def unconfirmed(name: str, stored: dict[str, Any]) -> set[str]:
    """The sums that the loops do not have; refused if one differs."""
    missing, edges = set(), []
    for label, part in stored["sums"].items():
        of = dict(word.split("=") for word in label.split())
        edges = stored["numbers"].get(f"edges {label}", edges)
        found = from_loops(name, of, edges)
        known = SOFT if "soft" in name else LOGITS if "logits" in name else found.keys()
        missing |= part.keys() - known
        if label.startswith("options=") and not {"options", "soft", "logits"} & set(re.split(r"\W", name)):
            for number, theirs in found.get("errors", {}).items():
                ours = np.array(stored["numbers"][number], float)
                assert np.allclose(ours, theirs, rtol=1e-12, atol=1e-12), (name, number)
        for key in part.keys() & known:
            theirs = found[key]
            if "at" in of and of["view"] == "class":
                theirs = np.array(theirs, object).sum(axis=1)
            if "at" in of:
                theirs = theirs[int(of["at"])]
            if "weights" in name or "logits" in name or key in LOGS | {"variation"}:
                unit = 1.0 if key in COUNTS else 2.0**40 if key in LOGS else 2.0**52
                ours = np.array(part[key], float) / (1.0 if "weights" in name else unit)
                close = np.allclose(ours, np.array(theirs, float) / unit, rtol=1e-12, atol=2e-10)
            else:
                close = np.array_equal(part[key], theirs)
            assert close, (name, label, key, part[key], theirs)
    return missing


if __name__ == "__main__":
    stored = {name: content(name, "portable") for name in INPUTS}
    for name, of in stored.items():
        if missing := unconfirmed(name, of):
            sys.stdout.write(f"{name}: not confirmed: {', '.join(sorted(missing))}\n")
    text = json.dumps(stored, separators=(",", ":"), sort_keys=True)
    FILE.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
