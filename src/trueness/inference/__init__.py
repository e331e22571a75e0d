"""What a table says beyond its numbers: noise, debiased values, intervals, design effects, tests.

Read in this order: `sample`, `noise`, `debiasing`, `estimates`, `binomial`, `calibration_tests`.
Everything is computed from the sums of one table; only `sample` knows what a table is.
"""
