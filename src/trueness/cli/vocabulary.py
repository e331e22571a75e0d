"""How the command spells the terms that the templates of refusals name."""

from collections.abc import Mapping

COMMAND: Mapping[str, str] = {
    "y_true": "the label",
    "y_prob": "the prediction",
    "sample_weight": "the weight",
    "from_logits": "--from-logits",
    "normalize": "--normalize",
    "divide_by_100": "pass --percent",
    "skip_rows": "leave such rows out with --on-bad-rows skip",
}
"""A test compares its terms with those of `trueness.refusals.PYTHON`."""
