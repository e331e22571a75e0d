"""The confusion matrix beside its expectation: which confusions are more frequent than the predictions say."""

from trueness.plots.confusion.display import ConfusionDisplay

__all__ = ["ConfusionDisplay"]
