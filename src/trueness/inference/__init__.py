"""What a number means, from the table alone: noise floors, p-values, debiased values, intervals.

`_null` draws the ranks of a calibrated model, `_expectation` and `_tilt` know the bias of 𝒱, `_folded` frees a sum of
absolute values of noise, `_estimates` puts them together; `_poisson` and `_replicates` are the bootstrap over rows or
clusters, `_corrections` is for looking more than once. What users call is in `trueness.assessment`.
"""
