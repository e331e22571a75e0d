"""What makes a saved table wrong: sums that no rows have, although the checksum is right.

A table that passes has metrics that are finite and in their range, and can be printed and added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness import exact_sums
from trueness.exact_sums import LOG_SCORE_BITS, IntArray
from trueness.refusals import InvalidValueError
from trueness.spec import Spec

_VIEWS = {"bin": "", "top_bin": "top_", "cell": "class_"}
"""For each axis of bins, how the names of the sums begin that count the rows in them."""


def damaged(problem: object) -> InvalidValueError:
    """The refusal of a table that was changed, or that nobody saved."""
    return InvalidValueError("damaged-file", f"this table is damaged: {problem}")


def require_spec(spec: Spec) -> None:
    """Refuse a spec of which some field is not of its kind, or does not go with the others."""
    n, names, classes = spec.n_classes, spec.class_names, spec.classes
    is_class = range(n) if type(n) is int else ()
    rules = {
        "n_classes": n is None or (type(n) is int and n >= 2),
        "bins": (spec.bins is None) == (spec.variation is None) and (spec.bins or spec.top_bins),
        "classes": type(classes) is tuple
        and all(type(k) is int and k in is_class for k in classes),
        "class_bins": len({*classes}) == len(classes)
        and bool(classes) == (spec.class_bins is not None),
        "ties": spec.ties in ("first", "split"),
        "weighted": {type(it) for it in (spec.weighted, spec.scores, spec.by_prediction)} == {bool},
        "class_names": names is None
        or (len(names) == n and {type(name) for name in names} == {str}),
    }
    for name, holds in rules.items():
        if not holds:
            raise damaged(f"its {name} cannot be those of a table")


def groups_of_parts(code: IntArray, options: IntArray, unit: NDArray[np.uint64]) -> IntArray:
    """The number of each part's group and number of options; parts must be in order, and differ."""
    if (code < 0).any() or (options < 2).any():
        raise damaged("its parts are out of range")
    steps = np.diff(code), np.diff(options)
    starts = (steps[0] > 0) | (steps[0] == 0) & (steps[1] > 0)
    stays = (steps[0] == 0) & (steps[1] == 0) & (unit[1:] > unit[:-1])
    if not (starts | stays).all():
        raise damaged("its parts are not in order, or not distinct")
    return np.cumsum(np.append(False, starts))[: len(code)]


def require_names(names: Sequence[Any], group: Sequence[Any], by: Any) -> None:
    """Refuse names of groups that are not those of the parts, in order, or not values of `by`."""
    kinds = {type(name) for name in (*names, by)}
    if kinds - {str} and (kinds != {type(None)} or len(names) > 1):
        raise damaged("groups must have names and be values of a column")
    if names != sorted(set(group), key=str):
        raise damaged("it has other groups than its parts")


def require_clusters(clusters: tuple[Any, ...] | None, unit: NDArray[np.uint64]) -> None:
    """Refuse identities, names and number of blocks that are not those of the units."""
    if clusters is None:
        if unit.any():
            raise damaged("it has units but no clusters")
        return
    identities, names, n_blocks = clusters
    if (identities[1:] <= identities[:-1]).any():
        raise damaged("its clusters are not in order, or not distinct")
    if n_blocks is None:
        known = isinstance(names, list) and {type(name) for name in names} <= {str}
        if not known or len(names) != len(identities) or not np.isin(unit, identities).all():
            raise damaged("its clusters are not its units")
        return
    is_power = type(n_blocks) is int and 0 < n_blocks <= 2**63 and not n_blocks & (n_blocks - 1)
    if names is not None or not is_power or (unit >= np.uint64(n_blocks)).any():
        raise damaged("its units are not blocks of its clusters")


def require_sums(
    spec: Spec, arrays: Mapping[str, NDArray[Any]], of_group: IntArray, n_options: int
) -> None:
    """Refuse sums that no rows have: of bins that do not add up, or of more than rows can add."""
    mass = "weight" if spec.weighted else "rows"
    total: dict[tuple[str, str], NDArray[Any]] = {}
    for kind in {"rows", mass}:
        n = 1.0 * arrays[kind if spec.bins is not None else f"top_{kind}"].sum(axis=-1)
        of_groups = exact_sums.add_alike(n, 0, of_group, len(arrays["square"]))
        total |= {("part", kind): n, ("group", kind): of_groups}
    for name, its in spec.fields():
        each, axes = exact_sums.value(arrays[name], its.bits), (..., *[None] * len(its.dims))
        kind = "rows" if its.counts else mass
        whole, low, high = total[its.axis, kind], 0.0, 1.0  # the least and most that a row adds
        held, exact, rules = whole[axes], its.bits > 0 and not spec.is_float(its), []
        for dim in its.dims:
            if dim in _VIEWS:
                held = np.asarray(arrays[_VIEWS[dim] + kind], float)
                if len(held) != len(whole):
                    held = exact_sums.add_alike(held, 0, of_group, len(whole))
        if "rank" in its.dims:  # the sum of a row's probabilities may be off by some rounding
            near = 1e-9 if name == "ranks" else 0.02
            rules += [np.isclose(each.sum(axis=-1), held, near, 0)]
            held = held[..., None]
        if name.endswith(("rows", "weight")) and its.dims:
            rules += [np.isclose(each.sum(axis=-1), whole[axes[:-1]], 1e-9, 0)]
        if name.endswith("weight"):
            rules += [(each >= 1e-140) == (arrays[name.replace("weight", "rows")] > 0)]
        if name == "variation" and spec.variation is not None:
            low, high = spec.variation.range_for(n_options or 2)
        if its.bits == LOG_SCORE_BITS:  # ln p is not below -2²²
            low, high = -(2.0**23), 0.0 if name == "log_likelihood" else 2.0**23
        if name.endswith(("_square", "_variance")):
            low, high = 0.0, 2.0**23
            held = whole[axes] ** 2 if spec.weighted else held
        slack = 1e-9 * max(-low, high) * held
        rules += [each >= low * held - slack, each <= high * held + slack]
        rules += [np.abs(each) < (2.0**60 if exact else 1e300)]
        if exact:
            rules += [arrays[name][..., 1] >= 0, arrays[name][..., 1] >> its.bits == 0]
        if not all(np.all(rule) for rule in rules):
            raise damaged(f"{name} is not a sum of rows")
