"""The classes of a model, each as an event: which of them are wrong, and how.

`assessment` tests the gap and the spread of every class, `errors` estimates the calibration error of classes and its
mean over them, `results` holds what they return.
"""
