"""Clipped likelihood ratios: the best stakes against every law within the tolerance (section 2, equations 2 and 3).

Huber's least favourable pairs: u/f is clipped to [c_b, c_b + ν], with one ν for all bins, such that clipping moves as
much mass up as down, τ_b in bin b, and Σ share_b·τ_b = δ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trueness._arrays import FloatArray
from trueness.monitoring.roots import bracketed_root

_MOST_ROUNDS = 200
_ROUNDING = 2.0**-50


class Piece(NamedTuple):
    """U, F, U', F' at which equation 3 takes its maximum and its minimum for some τ, (…,) each.

    Between two changes of the outcomes that are clipped, c + ν = U/(F + τ) and c = U'/(F' - τ).
    """

    u_top: FloatArray
    f_top: FloatArray
    u_bottom: FloatArray
    f_bottom: FloatArray

    def mass(self, nu: FloatArray) -> FloatArray:
        """τ with U/(F + τ) - U'/(F' - τ) = ν: the smaller root of a quadratic; 0 where even τ = 0 spans less.

        τ < F', also after rounding: where U' is tiny, nearly all of F' is moved.
        """
        b = nu * (self.f_bottom - self.f_top) + self.u_top + self.u_bottom
        c = self.u_top * self.f_bottom - self.u_bottom * self.f_top - nu * self.f_top * self.f_bottom
        root = 2 * c / (b + np.sqrt(np.maximum(b * b - 4 * nu * c, 0.0)))
        return np.asarray(np.clip(root, 0.0, self.f_bottom * (1 - 2.0**-52)))


@dataclass(frozen=True)
class SortedRatios:
    """Masses of u and f cumulated over the outcomes in the order of u/f, from the top and from the bottom, (…, C)."""

    u_top: FloatArray
    f_top: FloatArray
    u_bottom: FloatArray
    f_bottom: FloatArray

    @classmethod
    def of(cls, u: FloatArray, f: FloatArray) -> SortedRatios:
        """The cumulated masses of laws u and f."""
        order = np.argsort(u / f, axis=-1)
        up_u, up_f = (np.take_along_axis(x, order, axis=-1) for x in (u, np.broadcast_to(f, u.shape)))
        ordered = (up_u[..., ::-1], up_f[..., ::-1], up_u, up_f)
        return cls(*(np.cumsum(x, axis=-1) for x in ordered))

    def piece(self, mass: FloatArray) -> Piece:
        """The piece of equation 3 that holds at τ."""
        tau = mass[..., None]
        left = self.f_bottom - tau
        rising = np.divide(self.u_bottom, left, out=np.full(left.shape, np.inf), where=left > 0)
        falling = self.u_top / (self.f_top + tau)
        # Of pieces that are equal up to rounding, the first: it is the one that holds to the left of τ.
        top = np.argmax(falling >= falling.max(axis=-1, keepdims=True) * (1 - _ROUNDING), axis=-1)[..., None]
        bottom = np.argmax(rising <= rising.min(axis=-1, keepdims=True) * (1 + _ROUNDING), axis=-1)[..., None]
        columns = ((self.u_top, top), (self.f_top, top), (self.u_bottom, bottom), (self.f_bottom, bottom))
        return Piece(*(np.take_along_axis(x, at, axis=-1)[..., 0] for x, at in columns))

    def levels(self, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
        """c and c + ν for the moved mass τ (equation 3)."""
        piece = self.piece(mass)
        return piece.u_bottom / (piece.f_bottom - mass), piece.u_top / (piece.f_top + mass)


def levels_over_bins(
    u: FloatArray, f: FloatArray, share: FloatArray, tolerance: float
) -> tuple[FloatArray, FloatArray]:
    """c_b and c_b + ν of all bins together, (…, M), with Σ share_b·τ_b = δ; u must not be within the tolerance.

    Every piece of equation 3 is a lower bound of the width at all τ, and so the ν that a set of pieces gives is a lower
    bound of ν. Taking the pieces at its τ, in turns, raises it until it is exact: when the pieces stay the same.
    """
    ratios = SortedRatios.of(u, f)
    mass = np.zeros(share.shape)
    for _ in range(_MOST_ROUNDS):
        piece = ratios.piece(mass)
        previous = mass
        nu = _width(piece, share, tolerance)[..., None]
        mass = np.where(share > 0, piece.mass(nu), 0.0)
        if np.abs(mass - previous).max(initial=0.0) <= 1e-14:
            break
    low, high = ratios.levels(mass)
    piece = ratios.piece(mass)
    # F' - τ has lost its digits where nearly all of F' is moved; c is then not small, and follows from ν.
    lost = (piece.f_bottom - mass < 1e-8 * piece.f_bottom) & (high > nu)
    return np.where(lost, high - nu, low), high


def _width(piece: Piece, share: FloatArray, tolerance: float) -> FloatArray:
    """ν with Σ share·τ(ν) = δ for these pieces; 0 where even ν = 0 moves less."""

    def missing(nu: FloatArray) -> FloatArray:
        return np.asarray(tolerance - (share * piece.mass(nu[..., None])).sum(axis=-1))

    span = piece.u_top / piece.f_top - piece.u_bottom / piece.f_bottom
    widest = np.where(share > 0, span, 0.0).max(axis=-1)
    at_zero = missing(np.zeros(widest.shape))
    found = at_zero < 0
    target = np.where(found, 0.0, at_zero)
    ends = (at_zero - target, np.full(widest.shape, tolerance))
    root = bracketed_root(lambda nu: missing(nu) - target, np.zeros(widest.shape), widest, ends)
    return np.where(found, root, 0.0)
