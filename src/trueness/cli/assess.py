"""Assess the calibration of a model, from predictions or from saved tables.

Prints the variation calibration error (VCE) with its noise floor, p-value and interval, the signed gap, ECE, RCE, the
log-score test, accuracy, Brier score and log-loss, a verdict on all the evidence, and warnings.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from trueness._printing import STANDARD_OUTPUT
from trueness.cli import _gate, _inputs
from trueness.cli._outputs import write_text_to, written

if TYPE_CHECKING:
    from trueness.assessment import Assessment
    from trueness.files import GroupedTables, Input
    from trueness.table import CalibrationTable

EXAMPLES = """\
examples:
  trueness assess preds.parquet
  trueness assess preds.csv --label y_true --probs 'p_*' --equal-mass 10 --json result.json
  trueness assess shard-*.parquet --fail-below-p 0.0001 --fail-above vce=.2,ece=.1
  trueness assess preds.parquet --tolerance 0.02
  trueness assess preds.parquet --report report.html
  trueness assess all.json
  trueness assess report.html
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Files, columns, bins, inference, gate, and where results go."""
    _inputs.add_files(
        parser,
        "predictions (files, globs, folders; - for standard input), or saved tables (.json, or a report)",
    )
    _inputs.add_groups(parser, "also assess the rows of each value of this column")
    group = parser.add_argument_group(
        "where results go", "One of them may be - for standard output; the text is then not printed."
    )
    group.add_argument("--json", metavar="FILE", help="the answer for machines")
    group.add_argument(
        "--report", metavar="HTML", help="the answer as one web page, with pictures and the tables in it"
    )
    group.add_argument("--table-out", metavar="JSON", help="the tables, to be merged or assessed again")
    _inputs.add_rows(parser)
    _inputs.add_tables(parser)
    _gate.add_inference(parser)
    _gate.add_tolerance(parser)
    _gate.add_gate(parser)
    _inputs.add_checkpoint(parser)


def run(arguments: argparse.Namespace) -> int:
    """Read, sum, assess, print, and judge."""
    from trueness.cli._running import remove_checkpoint
    from trueness.cli._saved import are_tables, saved_paths
    from trueness.files import check_outputs

    saved = are_tables(arguments.files)
    paths = saved_paths(arguments.files) if saved else []
    inputs = [] if saved else _inputs.inputs_of(arguments)
    check_outputs(
        [*_outputs(arguments), arguments.checkpoint],
        [*paths, *_inputs.paths_read(arguments, inputs)],
    )
    _gate.resamples_of(arguments)  # refused before files are read
    tables = _saved_tables(arguments, paths) if saved else _summed_tables(arguments, inputs)
    result = assessed(tables, arguments)
    failures = _gate.failures_of(result, arguments)
    _write(result, tables, arguments)
    remove_checkpoint(arguments)
    return _gate.exit_code(failures)


def _summed_tables(arguments: argparse.Namespace, inputs: list[Input]) -> GroupedTables:
    from trueness.cli._running import finished, run_over

    return finished(run_over(arguments, inputs).tables, arguments)


def _saved_tables(arguments: argparse.Namespace, paths: list[str]) -> GroupedTables:
    """Tables of files, in the bins that were asked for; those of a grid in bins in any case."""
    from trueness.bins import EqualWidth
    from trueness.cli._running import tell_masses
    from trueness.cli._saved import are_reports, refuse_options_of_rows, refuse_other_groups
    from trueness.files import merge_files

    refuse_options_of_rows(arguments)
    tables = _tables_of_report(paths) if are_reports(paths) else merge_files(paths)
    refuse_other_groups(arguments.by, tables)
    bins, cells = _inputs.bins_of(arguments), tables.whole.by_variation.n_bins
    if bins is None and cells > 100:
        bins = EqualWidth(_inputs.DEFAULT_BINS)
        _inputs.note(f"{bins.n_bins} bins of equal width, from a grid; --equal-mass or --bins chooses others")
    if bins is not None or arguments.confidence_bins is not None:
        tables = tables.coarsened(bins or tables.whole.by_variation.bins, arguments.confidence_bins)
    if arguments.equal_mass is not None:
        tell_masses(tables, f"from the {cells} bins of the tables")
    return tables


def _tables_of_report(paths: list[str]) -> GroupedTables:
    """The tables inside a report: those of all rows; of its groups some may be missing, and they do not add up."""
    from trueness.files import GroupedTables, InputError
    from trueness.report import read
    from trueness.table import Tables

    if len(paths) > 1:
        raise InputError("a report is read by itself", "name one, or tables saved with --table-out")
    saved = read(paths[0])
    if saved.groups:
        _inputs.note(
            f"the report's {len(saved.groups)} groups are left out; all its rows are assessed together"
        )
    return GroupedTables(None, {None: Tables.of(saved.tables[:2])})


def _command_line() -> str:
    import shlex
    import sys

    return shlex.join(["trueness", *sys.argv[1:]])


def assessed(tables: GroupedTables, arguments: argparse.Namespace) -> Assessment:
    """The assessment of tables, with their groups."""
    from trueness.assessment import assess_table

    whole = tables.whole
    groups = {
        str(name): (of.by_variation, _by_confidence(of.stored))
        for name, of in tables.groups.items()
        if tables.by is not None
    }
    return assess_table(
        whole.by_variation,
        confidence_table=_by_confidence(whole.stored),
        level=arguments.level,
        tolerance=_gate.tolerance_of(arguments),
        resamples=_gate.resamples_of(arguments),
        p_resolution=_gate.resolution_of(arguments),
        rng=arguments.seed,
        groups=groups or None,
    )


def _by_confidence(tables: list[CalibrationTable]) -> CalibrationTable | None:
    """The table that ECE is read off."""
    return next((table for table in tables if table.spec.variation.name == "confidence"), None)


def _outputs(arguments: argparse.Namespace) -> list[str | None]:
    return [arguments.table_out, arguments.report, arguments.json]


def _write(result: Assessment, tables: GroupedTables, arguments: argparse.Namespace) -> None:
    """Write what was asked for, and print the text unless standard output holds something else."""
    import json

    from trueness.files import save_tables

    if arguments.table_out is not None:
        with written(arguments.table_out) as target:
            save_tables(tables, target)
    if arguments.report is not None:
        with written(arguments.report) as target:
            result.write_html(target, made_by=_command_line())
    if arguments.json is not None:
        write_text_to(arguments.json, json.dumps(result.to_dict(), allow_nan=False, indent=1) + "\n")
    if STANDARD_OUTPUT not in _outputs(arguments):
        print(result)
