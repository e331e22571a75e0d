"""How the command spells the terms that the templates of refusals name."""

from collections.abc import Mapping

COMMAND: Mapping[str, str] = {
    "y_true": "the label",
    "y_prob": "the prediction",
    "sample_weight": "the weight",
    "label": "--label",
    "probs": "--probs",
    "weight": "--sample-weight",
    "groups": "--groups",
    "by": "--groups",
    "classes": "--classes",
    "classes_names": "--classes cat,dog",
    "classes_columns": "--classes columns",
    "classes_index": "--classes index",
    "where": "--where",
    "row_filters": "--where, --on-bad-rows",
    "label_file": "--label-file",
    "bins": "--bins",
    "confidence_bins": "--confidence-bins",
    "by_class": "--no-by-class",
    "equal_mass": "--equal-mass",
    "exact": "--exact",
    "grid": "--grid",
    "engine": "--engine",
    "from_logits": "--from-logits",
    "normalize": "--normalize",
    "divide_by_100": "pass --percent",
    "skip_rows": "skip such rows with --on-bad-rows skip",
    "no_header": "pass --no-header, which names the columns 1, 2, 3, …: --no-header --label 11 --probs 1-10",
    "choose_format": "pass --format with one of",
    "or_pass_format": ", or pass --format if its ending is wrong",
    "format_csv": "pass --format csv",
    "format_tsv": "pass --format tsv",
    "name_label_file": "name an NPY file with them: --label-file labels.npy",
}
"""A test compares its terms with those of `trueness.refusals.PYTHON`."""
