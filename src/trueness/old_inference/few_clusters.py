"""What few clusters do to p-values and intervals of differences whose noise is a bootstrap of the clusters.

K clusters estimate the standard deviation of a mean with K - 1 degrees of freedom, and a bootstrap has √((K - 1)/K) of
it. So replicates are too narrow by a factor that none of them shows, and where they give the normal p-value, that of
Student's distribution is right (Cameron, Gelbach and Miller 2008). Of five equal clusters a p-value of .05 becomes .15,
of fifty .058.

A p-value of 10⁻⁶, the least of a bootstrap, becomes .012 of five clusters, .0012 of ten and .00013 of twenty. That few
clusters do not support a smaller one: if the signs of ten clusters are drawn, all are the same with probability .002.

Clusters of different sizes count as (Σn)²/Σn² of equal ones, as the degrees of freedom of Satterthwaite do.

References
----------
Cameron, A. C., Gelbach, J. B. and Miller, D. L. (2008). Bootstrap-based improvements for inference with clustered
errors. Review of Economics and Statistics 90, 414-427.
"""

from __future__ import annotations

import math

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_inference.normal import normal_quantile
from trueness.old_inference.student import student_quantile, student_tail

LEAST_EFFECTIVE = 2.0
"""Fewer effective clusters, as of one very large one, count as so many: intervals would have no end."""


def p_value_of_clusters(p: float, n_clusters: float) -> float:
    """The p-value of Student's distribution for a p-value that a bootstrap of so many effective clusters gave.

    >>> round(p_value_of_clusters(0.05, 5), 3), round(p_value_of_clusters(0.05, 50), 3)
    (0.154, 0.058)
    >>> p_value_of_clusters(0.05, math.inf)
    0.05
    """
    if math.isinf(n_clusters):
        return p
    n = max(n_clusters, LEAST_EFFECTIVE)
    return max(p, student_tail(normal_quantile(1 - p) * math.sqrt((n - 1) / n), n - 1))


def reach_of_clusters(noise: FloatArray, level: float, n_clusters: float) -> FloatArray:
    """How far intervals extend, from the noise of each replicate of so many effective clusters, (..., B).

    By the quantile of the noise times the ratio of Student's and the normal quantile; and at least so far that
    differences within it have a p-value of more than 1 - level.

    >>> noise = np.abs(np.random.default_rng(0).standard_normal((1, 9999)))
    >>> [reach_of_clusters(noise, 0.95, n).round(1).tolist() for n in (5, 50, math.inf)]
    [[3.1], [2.0], [2.0]]
    """
    reach = np.quantile(noise, level, axis=-1)
    if math.isinf(n_clusters):
        return reach
    n, z = max(n_clusters, LEAST_EFFECTIVE), normal_quantile(level)
    wider = student_quantile(level, n - 1) * math.sqrt(n / (n - 1))
    beyond = np.quantile(noise, math.erf(wider / math.sqrt(2)), axis=-1)
    return np.asarray(np.maximum(reach * wider / z, beyond))
