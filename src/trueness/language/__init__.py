"""Evaluation logs of language models as arrays: options, lists of tokens, stated confidences, votes."""
