"""Assess the calibration of a model, from predictions or from saved tables.

Prints the variation calibration error (VCE) with its noise floor, p-value and interval, the net gap, ECE, RCE, the
log-score test, accuracy, Brier score and log-loss, a verdict on all the evidence, and warnings.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from trueness._printing import STANDARD_OUTPUT
from trueness.cli import _gate, _options, _sources
from trueness.cli._images import cautions_of, inputs_of
from trueness.cli._inference import p_resolution_of, refuse_inference_options, resamples_of, tolerance_of
from trueness.cli._language_options import add_language_options
from trueness.cli._outputs import (
    cell_paths,
    output_path,
    print_note,
    refuse_plot,
    write_cell_tables,
    write_json,
    write_plot,
    write_report,
)
from trueness.refusals import InvalidValueError

if TYPE_CHECKING:
    from trueness.cli._language import Log
    from trueness.files import GroupedTables, InputFile
    from trueness.old_assessment import Assessment, Caution, EventAssessment
    from trueness.refusals import Refusal

EXAMPLES = """\
examples:
  trueness assess preds.parquet
  trueness assess preds.csv --label y_true --probs 'p_*' --equal-mass 10 --json result.json
  trueness assess shard-*.parquet --fail-below-p 0.0001 --fail-above vce=.2,ece=.1
  trueness assess preds.parquet --tolerance 0.02
  trueness assess preds.parquet --report report.html
  trueness assess preds.parquet --groups hospital --compare-groups --report report.html
  trueness assess preds.parquet --event top
  trueness assess all.json
  trueness assess report.html
  trueness assess samples_arc_*.jsonl --normalise-by none --groups task
  trueness assess run.eval --groups metadata.subject
  trueness assess batch_output.jsonl --label-file labels.csv --label answer --on-bad-rows skip
  trueness assess answers.csv --stated-confidence confidence --percent --correct grade
  trueness assess next_token.jsonl
"""

GRID_FROM = 100
"""Saved tables with more bins than this are a grid, and are merged into bins."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add files, columns, bins, inference, gate and outputs."""
    _options.add_files(
        parser,
        "predictions (files, globs or folders; - for standard input), or saved tables (.json, or a report)",
    )
    _options.add_options(
        parser,
        "--groups",
        help="also assess each group of rows with the same value of this column; for combinations of columns write "
        "region,sex or repeat the option",
    )
    parser.add_argument(
        "--compare-groups",
        action="store_true",
        help="also compare each group with all other rows",
    )
    _options.add_options(parser, "--clusters", *_options.IMAGES)
    parser.add_argument(
        "--event",
        metavar="CLASS",
        help="assess the probability of one class (name or index), or of the top label (top), over 0 to 1, instead of "
        "all classes",
    )
    group = parser.add_argument_group(
        "output", "One file may be - for standard output, which then replaces the printed text."
    )
    _options.add_json(group)
    _options.add_report(group)
    group.add_argument(
        "--table-out", metavar="JSON", help="save the tables, to merge or to assess them again"
    )
    _options.add_plot(group, "the reliability diagram")
    _options.add_cell_tables(group, "the metrics, or the groups of --groups,")
    _options.add_column_options(parser)
    add_language_options(parser)
    _options.add_soft_labels(parser)
    _options.add_table_options(parser)
    _options.add_options(parser, "--class-bins")
    _options.add_inference_options(parser, "--tolerance")
    _gate.add_gate_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Read, sum, assess, write, and apply the gate."""
    from trueness.cli._language import find_log
    from trueness.cli._saved_tables import are_tables, saved_paths
    from trueness.files import check_outputs

    log = find_log(arguments)
    if log is not None:
        return _run_log(arguments, log)
    saved = are_tables(arguments.files)
    paths = saved_paths(arguments.files) if saved else []
    inputs = [] if saved else inputs_of(arguments)
    check_outputs(_outputs(arguments), [*paths, *_sources.paths_read(arguments, inputs)])
    refuse_plot(arguments.plot)
    refuse_inference_options(arguments)
    if arguments.compare_groups and not (arguments.groups or saved):
        cause = "--compare-groups compares the groups of --groups, which is missing"
        remedy = "add --groups COLUMN"
        raise InvalidValueError("bad-argument", cause, remedy, argument="--compare-groups")
    if arguments.event is not None:
        return _run_event(arguments, inputs, paths)
    tables, notes = (_saved_tables(arguments, paths), ()) if saved else _summed_tables(arguments, inputs)
    result = _with_notes(_assess(tables, arguments), notes)
    if arguments.compare_groups:
        result = result.with_compared_groups()
    failures = _gate.failures_of(result, arguments)
    _write(result, tables, arguments)
    return _gate.exit_code(failures)


def _run_log(arguments: argparse.Namespace, log: Log) -> int:
    """The same for evaluation logs of language models."""
    from trueness.cli._language import read_log
    from trueness.cli._language_assess import assess_reading
    from trueness.files import check_outputs

    check_outputs(_outputs(arguments), [*log.paths, arguments.label_file])
    refuse_plot(arguments.plot)
    refuse_inference_options(arguments)
    reading = read_log(arguments, log)
    result, tables, failures = assess_reading(arguments, reading, log.paths[0], _assess)
    _write(result, tables, arguments)
    return _gate.exit_code(failures)


def _run_event(arguments: argparse.Namespace, inputs: list[InputFile], paths: list[str]) -> int:
    """The same for one event."""
    from trueness.cli import _event

    _event.refuse_options(arguments)
    if paths:
        events, tables = _event.saved_events(arguments, paths), None
    else:
        tables, _ = _summed_tables(arguments, inputs)
        events = _event.EventTables.of(tables)
    result = _event.assess(arguments, events)
    failures = _event.failures_of(result, arguments)
    _write(result, tables, arguments)
    return _gate.exit_code(failures)


def _summed_tables(
    arguments: argparse.Namespace, inputs: list[InputFile]
) -> tuple[GroupedTables, tuple[Caution, ...]]:
    """The tables of the rows in the requested bins, and what was assumed about the files."""
    from trueness.cli._binning import in_requested_bins
    from trueness.cli._summation import sum_inputs

    summed = sum_inputs(arguments, inputs)
    return in_requested_bins(summed.tables, arguments), cautions_of(summed.remarks, summed.skipped)


def _with_notes(result: Assessment, notes: tuple[Caution, ...]) -> Assessment:
    """The assessment with further warnings, which the report shows too."""
    from dataclasses import replace

    return replace(result, warnings=(*result.warnings, *notes))


def _saved_tables(arguments: argparse.Namespace, paths: list[str]) -> GroupedTables:
    """Saved tables in the requested bins; tables on a grid are always merged into bins."""
    from trueness.bins import EqualWidth
    from trueness.cli._binning import bins_of, note_bin_masses
    from trueness.cli._saved_tables import (
        are_reports,
        by_class_or_not,
        merge_saved,
        refuse_other_groups,
        refuse_row_options,
    )

    refuse_row_options(arguments)
    if are_reports(paths):
        tables = by_class_or_not(_tables_of_report(paths), arguments.by_class)
    else:
        tables = merge_saved(paths, arguments.by_class)
    refuse_other_groups(arguments.groups, tables)
    bins, n_cells = bins_of(arguments), tables.whole.by_variation.n_bins
    if bins is None and n_cells > GRID_FROM:
        bins = EqualWidth(_options.DEFAULT_BINS)
        print_note(
            f"the grid was merged into {bins.n_bins} bins of equal width; use --bins or --equal-mass to change this"
        )
    if bins is not None or arguments.confidence_bins is not None:
        tables = tables.coarsen(bins or tables.whole.by_variation.bins, arguments.confidence_bins)
    if arguments.equal_mass is not None:
        note_bin_masses(tables, f"from the {n_cells} bins of the tables")
    return tables


def _tables_of_report(paths: list[str]) -> GroupedTables:
    """The tables of all rows in a report. Its groups may be incomplete, so their tables are not used."""
    from trueness.old_report import read
    from trueness.old_table import GroupedTables
    from trueness.refusals import Refusal

    if len(paths) > 1:
        cause = "a report cannot be merged with other files"
        remedy = "name one report, or tables saved with --table-out"
        raise InvalidValueError("mixed-inputs", cause, remedy, argument=paths[0])
    try:
        saved = read(paths[0])
    except Refusal as error:
        raise _of_event(paths[0]) if error.code == "no-tables" else error from None
    if saved.groups:
        print_note(
            f"the {len(saved.groups)} groups of the report are ignored; all its rows are assessed together"
        )
    return GroupedTables(None, {None: saved.tables})


def _of_event(path: str) -> Refusal:
    """The refusal of a report that has no table but that of an event."""
    from trueness.old_report import event_tables_in

    (table,) = event_tables_in(path)
    cause = f"{path} is the report of one event"
    remedy = f"add --event {table.spec.name_of(table.events[0])}"
    return InvalidValueError("no-tables", cause, remedy, argument=path)


def _assess(tables: GroupedTables, arguments: argparse.Namespace) -> Assessment:
    """Assess the tables of all rows and those of each group."""
    from trueness.old_assessment import assess_table

    return assess_table(
        tables.whole,
        class_bins=arguments.class_bins,
        level=arguments.level,
        tolerance=tolerance_of(arguments),
        resamples=resamples_of(arguments),
        p_resolution=p_resolution_of(arguments),
        rng=arguments.rng_seed,
        groups=None if tables.by is None else {str(name): group for name, group in tables.groups.items()},
    )


def _outputs(arguments: argparse.Namespace) -> list[str | None]:
    return [arguments.table_out, arguments.report, arguments.json, arguments.plot, *cell_paths(arguments)]


def _write(
    result: Assessment | EventAssessment, tables: GroupedTables | None, arguments: argparse.Namespace
) -> None:
    """Write the requested files, and print the text unless standard output holds one of them."""
    from trueness.files import save_tables

    if arguments.table_out is not None and tables is not None:
        with output_path(arguments.table_out) as target:
            save_tables(tables, target)
    write_report(result, arguments.report)
    if arguments.json is not None:
        write_json(arguments.json, result.to_dict())
    write_plot(result, arguments.plot)
    write_cell_tables(result, arguments, "groups" if getattr(result, "groups", ()) else "metrics")
    if STANDARD_OUTPUT not in _outputs(arguments):
        print(result)
