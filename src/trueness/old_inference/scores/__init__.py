"""Tests of a score against its expectation: by predicted class, and cumulated over the bins of variation.

A score is the log-score, Σ(ln p_y + H) with the variance ΣVE, or the Brier score, Σ(p_y - ‖p‖²) with the variance
Σ(Σp³ - ‖p‖⁴): both have mean 0 if the model is calibrated, and are below 0 where it is over-confident.
"""
