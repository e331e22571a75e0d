"""Rows of all kinds as tables: in groups, in clusters, with options, weights or soft labels."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from trueness.table import Table
from trueness.today import Rows, TableOptions, read, tabulate_rows

OPTIONS = TableOptions(bins=5, confidence_bins=4)
KINDS = ["plain", "groups", "clusters", "groups clusters", "rows", "options", "options clusters"]
KINDS += ["weights", "weights clusters", "soft", "logits"]


def rows_of(kind: str, seed: int, n: int = 30, c: int = 3, some: slice = slice(None)) -> Rows:
    """Rows of a kind, of which a seed determines everything; all of them, or some."""
    rng = np.random.default_rng(seed)
    p = rng.multinomial(16, rng.dirichlet(np.ones(c), n)) / 16
    y: Any = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(0, c - 1)
    how: dict[str, Any] = {}
    if "groups" in kind:
        how["groups"] = {"ward": rng.choice(list("abc"), n)[some]}
    if "clusters" in kind:
        how["clusters"] = rng.integers(9, size=n)[some]
    if kind == "rows":
        how["clusters"] = "rows"
    if "weights" in kind:
        how["sample_weight"] = (1 + rng.integers(5, size=n)[some]) / 4
    if "options" in kind:
        which = rng.integers(2, c + 1, n)
        p = np.where(np.arange(c) < which[:, None], p + 1 / 16, 0.0)[some]
        return read((y % which)[some], p, n_options=which[some], normalize=True, **how)
    if kind == "soft":
        how["soft_labels"], y = True, (np.eye(c)[y] + p) / 2
    if kind == "logits":
        how["from_logits"], p = True, rng.integers(-40, 40, (n, c)) / 4
    return read(y[some], p[some], **how)


def table_of(kind: str, seed: int) -> Table:
    """The table of such rows, in bins that do not depend on them."""
    return tabulate_rows(rows_of(kind, seed), OPTIONS)


kinds = st.sampled_from(KINDS)
seeds = st.integers(0, 2**32 - 1)
