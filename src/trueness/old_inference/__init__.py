"""Statistical inference from a table alone: noise floors, p-values, debiased values, intervals.

`null` simulates the ranks of a calibrated model, `_bias` estimates the bias of 𝒱, `normal` removes noise from a sum of
absolute values, `estimates` puts them together. `bootstrap_weights` and `replicates` are the bootstrap over rows or
clusters, `binomial` the distribution of a single rank's frequency, `corrections` and `combination` deal with several
p-values. Users call the functions of `trueness.old_assessment`.
"""
