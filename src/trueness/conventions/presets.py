"""The registry: one entry for each library, with the file in which its definition was read.

Each number was compared with the library itself where it can be installed (`tests/conventions/`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from trueness.conventions import assignments, readings, totals
from trueness.conventions.definition import Convention, Defect
from trueness.conventions.smooth import smooth_error

_OVER_UNIT = "0 to 1"
_NONE = "none"
_BELOW = (
    "a value on an edge belongs to the bin below, and one that is above it by rounding only to the bin above"
)
_FLOAT64 = "the dtype of the rows; agrees to 1e-12 for float64 rows, 1e-6 for float32 rows"

_EXTRA_BIN = Defect(
    "a value of exactly 1 is counted in a further bin of its own",
    "https://github.com/Lightning-AI/torchmetrics/issues/3510",
)

_ALL = (
    Convention(
        name="torchmetrics",
        library="torchmetrics",
        version="1.9.0",
        source="torchmetrics/functional/classification/calibration_error.py",
        computes="ECE of the top label; of class 1 if one probability per row is given",
        bins="{n} bins of equal width",
        edges="a value on an edge belongs to the bin above; 1 has a bin of its own",
        range=_OVER_UNIT,
        dropped=_NONE,
        arithmetic="float32 for the top label, the dtype of the rows for class 1; agrees to 1e-6 and 1e-12, edges to "
        "the bit",
        read=readings.float32_top_label,
        assign=assignments.closed_left,
        total=totals.in_own_dtype,
        default_bins=15,
        norms=("l1", "l2", "max"),
        rest="rounding, and the order of additions",
        defects=(_EXTRA_BIN,),
    ),
    Convention(
        name="netcal",
        library="netcal",
        version="1.4.0",
        source="netcal/metrics/Miscalibration.py",
        computes="ECE of class 1 of two classes, else of the top label; norm max is its MCE",
        bins="{n} bins of equal width",
        edges="a value on an edge belongs to the bin above",
        range=_OVER_UNIT,
        dropped=_NONE,
        arithmetic=_FLOAT64,
        read=readings.clipped_class_1_of_two,
        assign=assignments.closed_left_and_last,
        total=totals.means_at_rounded_edges,
        norms=("l1", "max"),
        rest="means between edges that are rounded to the dtype of the rows, and the order of additions",
        defects=(
            Defect(
                "the task is inferred from the labels: more than two classes with labels of at most two are an error",
            ),
            Defect(
                "float32 rows on an edge: the counts are taken between float64 edges, the means between float32 edges",
            ),
        ),
        least_labels=3,
    ),
    Convention(
        name="scikit-learn",
        library="scikit-learn",
        version="1.9.1",
        source="sklearn/calibration.py, calibration_curve with strategy='uniform'",
        computes="the curve of class 1 of two classes, else of the top label, and its mean gap weighted by rows",
        bins="{n} bins of equal width",
        edges=_BELOW,
        range=_OVER_UNIT,
        dropped=_NONE,
        arithmetic="float64; the curve agrees to the bit",
        read=readings.class_1_of_two,
        assign=assignments.closed_right,
        total=totals.in_float64,
        default_bins=5,
        rest="rounding, and the order of additions",
        defects=(
            Defect(
                "calibration_curve returns neither the counts nor the edges, so its ECE needs the rows",
                "https://github.com/scikit-learn/scikit-learn/issues/18268",
            ),
        ),
    ),
    Convention(
        name="scikit-learn-quantile",
        library="scikit-learn",
        version="1.9.1",
        source="sklearn/calibration.py, calibration_curve with strategy='quantile'",
        computes="the curve of class 1 of two classes, else of the top label, and its mean gap weighted by rows",
        bins="{n} bins between percentiles of the rows",
        edges=_BELOW,
        range="the range of the rows",
        dropped=_NONE,
        arithmetic="float64; the curve agrees to the bit",
        read=readings.class_1_of_two,
        assign=assignments.at_quantiles,
        total=totals.in_float64,
        default_bins=5,
        rest="rounding, and the order of additions",
    ),
    Convention(
        name="uncertainty-calibration",
        library="uncertainty-calibration",
        version="0.1.4",
        source="calibration/utils.py, get_ece",
        computes="ECE of the top label; of class 1 if one probability per row is given",
        bins="{n} bins of equal width",
        edges=_BELOW,
        range=_OVER_UNIT,
        dropped=_NONE,
        arithmetic=_FLOAT64,
        read=readings.class_1_of_one_column,
        assign=assignments.closed_right_at_quotients,
        total=totals.in_float64,
        default_bins=15,
        rest="rounding, and the order of additions",
    ),
    Convention(
        name="uncertainty-calibration-equal-mass",
        library="uncertainty-calibration",
        version="0.1.4",
        source="calibration/utils.py, get_ece_em",
        computes="ECE of the top label; of class 1 if one probability per row is given",
        bins="{n} bins of equal mass, equal values together",
        edges="half-way between neighbouring rows; a value on an edge belongs to the bin below",
        range=_OVER_UNIT,
        dropped=_NONE,
        arithmetic=_FLOAT64,
        read=readings.class_1_of_one_column,
        assign=assignments.equal_mass,
        total=totals.in_float64,
        default_bins=15,
        rest="rounding, and the order of additions",
    ),
    Convention(
        name="helm",
        library="HELM",
        version="main, commit 00abf6a",
        source="src/helm/benchmark/metrics/basic_metrics.py, compute_calibration_metrics (ece_10_bin)",
        computes="ECE of the top label, by get_ece_em of uncertainty-calibration",
        bins="{n} bins of equal mass, equal values together",
        edges="half-way between neighbouring rows; a value on an edge belongs to the bin below",
        range=_OVER_UNIT,
        dropped=_NONE,
        arithmetic=_FLOAT64,
        read=readings.untied_top_label,
        assign=assignments.equal_mass,
        total=totals.in_float64,
        fixed_bins=True,
        rest="rounding, and the order of additions",
        defects=(
            Defect(
                "a row whose largest probability is shared counts as wrong: its exact match is a fraction, which is "
                "rounded down",
            ),
        ),
    ),
    Convention(
        name="hle",
        library="Humanity's Last Exam",
        version="main, read in public copies of the file",
        source="hle_eval/run_judge_results.py, calib_err with p='2' and beta=100",
        computes="root of the mean squared gap of the top label; of class 1 if one probability per row is given",
        bins="bins of {n} rows in the order of confidence",
        edges="equal values are split as NumPy's default sort leaves them",
        range="the range of the rows",
        dropped="the last bin, which has the 100 to 199 most confident rows; they stay in the denominator",
        arithmetic=_FLOAT64 + "; published as a percentage without decimals",
        read=readings.class_1_of_one_column,
        assign=assignments.hundreds,
        total=totals.in_float64,
        default_bins=100,
        fixed_bins=True,
        norms=("l2",),
        least_rows=100,
        rest="rounding, and the order of additions",
        defects=(
            Defect(
                "the last bin is left out on purpose, also if it is full; with 100 to 199 rows the result is 0, "
                "with fewer an error",
                "https://github.com/centerforaisafety/hle/issues/4",
            ),
            Defect("the order of equal confidences, and so the result, may depend on the processor"),
        ),
    ),
    Convention(
        name="laves-uce",
        library="the UCE authors' script",
        version="commit 4ff7337",
        source="mlaves/bayesian-temperature-scaling, ece.py (uceloss) and utils.py (nentr)",
        computes="UCE: the gap between the error rate and the mean entropy to the base C",
        bins="{n} bins of equal width",
        edges=_BELOW,
        range=_OVER_UNIT,
        dropped="rows of entropy exactly 0, or above 1 by rounding; they stay in the denominator",
        arithmetic="float32 for shares and error rates, the dtype of the rows for entropies; agrees to 1e-6",
        read=readings.entropy,
        assign=assignments.open_at_zero,
        total=totals.bin_means_in_own_dtype,
        default_bins=15,
        metric="uce",
        rest="rounding, and the order of additions",
        defects=(
            Defect("certain rows (entropy 0) are in no bin, so errors of a certain model do not count"),
        ),
    ),
    Convention(
        name="probmetrics",
        library="probmetrics",
        version="1.3.0",
        source="probmetrics/metrics.py, CalibrationError",
        computes="ECE of class 1 of two classes, else of the top label, by torchmetrics",
        bins="{n} bins of equal width",
        edges="as torchmetrics, of probabilities moved into [1e-7, 1 - 1e-7] and divided by their sums",
        range=_OVER_UNIT,
        dropped=_NONE + "; columns of classes without a label are left out (refused here)",
        arithmetic="as torchmetrics, the result in float32; agrees to 1e-6, except that a row may lie on the other "
        "side of an edge where the sum of its probabilities is rounded otherwise",
        read=readings.clamped,
        assign=assignments.closed_left,
        total=totals.rounded_to_float32,
        default_bins=15,
        norms=("l1", "l2", "max"),
        rest="rounding, and the order of additions",
        needs_every_label=True,
    ),
    Convention(
        name="mapie",
        library="MAPIE",
        version="1.6.0",
        source="mapie/metrics/calibration.py, top_label_ece with split_strategy='uniform'",
        computes="the mean over predicted classes of the ECE of the rows with that prediction",
        bins="{fewer} bins of equal width, and one for 0 alone, for num_bins={n}",
        edges=_BELOW,
        range=_OVER_UNIT,
        dropped=_NONE,
        arithmetic=_FLOAT64,
        read=readings.top_label,
        assign=assignments.one_bin_fewer,
        total=totals.mean_over_top_labels,
        default_bins=50,
        least_bins=2,
        rest="the mean over predicted classes, each with the same weight, instead of the mean over rows",
        defects=(
            Defect("num_bins edges make num_bins - 1 bins"),
            Defect("a class that is predicted for a single row has the same weight as all others"),
        ),
    ),
    Convention(
        name="relplot",
        library="relplot",
        version="1.0.3",
        source="relplot/metrics.py, smECE, and relplot/kernels.py",
        computes="the smooth calibration error of the top label; of class 1 if one probability per row is given",
        bins="no bins",
        edges="none",
        range=_OVER_UNIT,
        dropped=_NONE,
        arithmetic=_FLOAT64,
        read=readings.class_1_of_one_column,
        assign=assignments.one_bin,
        total=smooth_error,
        default_bins=None,
        fixed_bins=True,
        rest="a Gaussian kernel on a grid instead of bins",
        defects=(
            Defect(
                "rows of exactly 0 or 1 have half the weight of others: the grid is reflected without its end points",
            ),
        ),
    ),
)

CONVENTIONS: Mapping[str, Convention] = MappingProxyType({entry.name: entry for entry in _ALL})
"""All conventions, by name."""
