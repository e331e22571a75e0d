"""What few clusters do to p-values and intervals of differences whose noise is a bootstrap of the clusters.

K clusters estimate the standard deviation of a mean with K - 1 degrees of freedom, and a bootstrap has √((K - 1)/K) of
it. So replicates are too narrow by a factor that none of them shows, and where they give the normal p-value, that of
Student's distribution is right (Cameron, Gelbach and Miller 2008). Of five equal clusters a p-value of .05 becomes .15,
of fifty .057.

Clusters of different sizes count as (Σn)²/Σn² of equal ones, as the degrees of freedom of Satterthwaite do.

References
----------
Cameron, A. C., Gelbach, J. B. and Miller, D. L. (2008). Bootstrap-based improvements for inference with clustered
errors. Review of Economics and Statistics 90, 414-427.
"""

from __future__ import annotations

import math

from trueness.inference.normal import normal_quantile
from trueness.inference.student import student_quantile, student_tail

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


def widening_of_clusters(level: float, n_clusters: float) -> float:
    """By how much an interval from a bootstrap of so many effective clusters must be wider.

    >>> round(widening_of_clusters(0.95, 5), 2), round(widening_of_clusters(0.95, 50), 3)
    (1.58, 1.036)
    """
    if math.isinf(n_clusters):
        return 1.0
    n = max(n_clusters, LEAST_EFFECTIVE)
    return student_quantile(level, n - 1) / normal_quantile(level) * math.sqrt(n / (n - 1))
