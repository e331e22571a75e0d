"""Sections 2 to 4 of the monitoring specification in plain loops and bisections, slow and literal."""

import math
from collections.abc import Callable

Vector = list[float]
SIZES = [0.0025 * 2**i for i in range(7)]


def normalised(values: Vector) -> Vector:
    return [value / sum(values) for value in values]


def flat(p: Vector, s: float) -> Vector:
    return normalised([x ** math.exp(-s) for x in p])


def sharp(p: Vector, s: float) -> Vector:
    return normalised([(x / max(p)) ** math.exp(s) for x in p])


def top_down(p: Vector, s: float) -> Vector:
    return normalised([p[0] * math.exp(-s), *p[1:]])


def top_up(p: Vector, s: float) -> Vector:
    return normalised([p[0] * math.exp(s), *p[1:]])


def noise(p: Vector, s: float) -> Vector:
    v = 1 - math.exp(-s)
    return [(1 - v) * x + v / len(p) for x in p]


def swap12(p: Vector, s: float) -> Vector:
    v = 1 - math.exp(-s)
    return [p[0] - v * (p[0] - p[1]), p[1] + v * (p[0] - p[1]), *p[2:]]


def swap23(p: Vector, s: float) -> Vector:
    v = 1 - math.exp(-s)
    return [p[0], p[1] - v * (p[1] - p[2]), p[2] + v * (p[1] - p[2]), *p[3:]]


def directions(C: int) -> list[tuple[Callable[[Vector, float], Vector], float]]:
    rest = 1 / 8 if C == 2 else 1 / 12
    found = [
        (flat, 1 / 4),
        (sharp, 1 / 4),
        (top_down, 1 / 8),
        (top_up, 1 / 8),
        (noise, rest),
        (swap12, rest),
    ]
    return found if C == 2 else [*found, (swap23, rest)]


def tv(a: Vector, b: Vector) -> float:
    return sum(abs(x - y) for x, y in zip(a, b, strict=True)) / 2


def bisect(rising: Callable[[float], float], low: float, high: float) -> float:
    """The root of an increasing function."""
    for _ in range(60):
        middle = (low + high) / 2
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def strength(reached: Callable[[float], float], size: float) -> float | None:
    return None if reached(16.0) < size else bisect(lambda s: reached(s) - size, 0.0, 16.0)


def moved_up(u: Vector, f: Vector, level: float) -> float:
    return sum(max(a / level - b, 0.0) for a, b in zip(u, f, strict=True))


def moved_down(u: Vector, f: Vector, level: float) -> float:
    return sum(max(b - a / level, 0.0) for a, b in zip(u, f, strict=True))


def lower_level(u: Vector, f: Vector, nu: float) -> float:
    """c at which clipping to [c, c + ν] moves as much mass up as down."""
    ratios = [a / b for a, b in zip(u, f, strict=True)]
    if max(ratios) - min(ratios) <= nu:
        return min(ratios)
    return bisect(
        lambda c: moved_down(u, f, c) - moved_up(u, f, c + nu),
        max(min(ratios), 1e-300),
        max(ratios) - nu,
    )


def common_levels(
    us: list[Vector], fs: list[Vector], shares: Vector, delta: float
) -> list[tuple[float, float]]:
    """Equation 2: [c_b, c_b + ν] with one ν for all bins and Σ share·τ = δ."""

    def moved(nu: float) -> float:
        return sum(
            share * moved_down(u, f, lower_level(u, f, nu))
            for u, f, share in zip(us, fs, shares, strict=True)
        )

    widest = max(max(a / b for a, b in zip(u, f, strict=True)) for u, f in zip(us, fs, strict=True))
    nu = bisect(lambda nu: delta - moved(nu), 0.0, widest)
    lows = [lower_level(u, f, nu) for u, f in zip(us, fs, strict=True)]
    return [(low, low + nu) for low in lows]


def log_stake(u: Vector, f: Vector, R: Vector, levels: tuple[float, float] | None) -> float:
    total = 0.0
    for a, b, count in zip(u, f, R, strict=True):
        x = a / b
        if levels is not None:
            x = min(max(x, levels[0]), levels[1])
        total += count * math.log(x) if count else 0.0
    return total


def log_components(Q: list[Vector], R: list[Vector], delta: float) -> list[tuple[float, float]]:
    """(weight, ln e) of each component: by direction, size and place."""
    M, C = len(Q), len(Q[0])
    counts = [sum(line) for line in R]
    shares = [n / sum(counts) for n in counts]
    filled = [b for b in range(M) if counts[b]]
    fs = {b: [max(x, 1e-9) for x in normalised(Q[b])] for b in filled}
    ps = {b: normalised(fs[b]) for b in filled}
    found = []
    for direction, weight in directions(C):
        for size in SIZES:
            found.append((weight / 7 * 3 / 4, _all_bins(direction, size, filled, fs, ps, R, shares, delta)))
            for b in range(M):
                value = 0.0
                if b in filled:
                    value = _one_bin(direction, size, fs[b], ps[b], R[b], delta / shares[b])
                found.append((weight / 7 / (4 * M), value))
    return found


def _all_bins(direction, size, filled, fs, ps, R, shares, delta):  # type: ignore[no-untyped-def]
    s = strength(lambda s: sum(shares[b] * tv(direction(ps[b], s), ps[b]) for b in filled), delta + size)
    if s is None:
        return 0.0
    us = {b: direction(ps[b], s) for b in filled}
    if delta == 0:
        return sum(log_stake(us[b], fs[b], R[b], None) for b in filled)
    if sum(shares[b] * tv(us[b], fs[b]) for b in filled) <= delta:
        return 0.0
    levels = common_levels(
        [us[b] for b in filled], [fs[b] for b in filled], [shares[b] for b in filled], delta
    )
    return sum(log_stake(us[b], fs[b], R[b], pair) for b, pair in zip(filled, levels, strict=True))


def _one_bin(direction, size, f, p, R, delta):  # type: ignore[no-untyped-def]
    s = strength(lambda s: tv(direction(p, s), p), delta + size)
    if s is None:
        return 0.0
    u = direction(p, s)
    return log_stake(u, f, R, None if delta == 0 else common_levels([u], [f], [1.0], delta)[0])


def log_e_values(looks: list[tuple[list[Vector], list[Vector]]], delta: float) -> list[float]:
    """ln E after each look (equation 4)."""
    A: list[float] = []
    r, found = 1.0, []
    for t, (Q, R) in enumerate(looks, 1):
        components = log_components(Q, R, delta)
        A = A or [0.0] * len(components)
        r_t = 1 / (2 * math.sqrt(t))
        A = [math.exp(log_e) * (a + r - r_t) for a, (_, log_e) in zip(A, components, strict=True)]
        r = r_t
        found.append(math.log(r + sum(v * a for a, (v, _) in zip(A, components, strict=True))))
    return found
