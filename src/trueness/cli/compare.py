"""Compare the calibration of several models on the same rows, or of saved tables of different rows.

Each argument is one model: a file, or a quoted glob or folder. All models must have the same rows in the same order;
their labels are compared row by row. If all arguments are saved tables (.json), such as those of two days, their rows
are different ones and independent of each other.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from trueness._printing import STANDARD_OUTPUT
from trueness.cli import _options, _sources
from trueness.cli._errors import refuse_argument
from trueness.cli._images import are_images, cautions_of, image_source_of, refuse_other_pixels
from trueness.cli._inference import refuse_inference_options, resamples_of, tolerance_of
from trueness.cli._outputs import (
    cell_paths,
    print_note,
    refuse_plot,
    write_cell_tables,
    write_json,
    write_plot,
    write_report,
)
from trueness.cli._saved_tables import are_tables, merge_saved, refuse_row_options, saved_paths
from trueness.refusals import InvalidValueError

if TYPE_CHECKING:
    from trueness.files import Batch, InputFiles, Source
    from trueness.old_assessment import Comparison

EXAMPLES = """\
examples:
  trueness compare a.parquet b.parquet
  trueness compare a.parquet b.csv --names old,new --equal-mass 10 --json comparison.json
  trueness compare a.parquet b.parquet --clusters patient
  trueness compare before.parquet after.parquet --report recalibration.html
  trueness compare a.npy b.npy --label-file masks.npy --class-axis 1
  trueness compare monday.json tuesday.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add models, columns, bins and inference."""
    _options.add_files(parser, "one argument for each model or table, two or more")
    parser.add_argument(
        "--names", metavar="A,B,…", help="names of the models or tables (default: from their file names)"
    )
    _options.add_options(
        parser,
        "--groups",
        help="also compare each group of rows with the same value of this column of the first file; for combinations "
        "of columns write region,sex or repeat the option",
    )
    _options.add_options(parser, "--clusters", *_options.IMAGES)
    _options.add_json(parser)
    _options.add_report(parser)
    _options.add_plot(parser, "the differences with their intervals")
    _options.add_cell_tables(parser, "the differences, or those in the groups of --groups,")
    _options.add_column_options(parser)
    group = parser.add_argument_group("tables")
    _options.add_options(group, "--variation")
    _options.add_bin_options(group)
    _options.add_options(group, "--by-class", "--ties")
    _options.add_inference_options(parser, "--tolerance")


def run(arguments: argparse.Namespace) -> int:
    """Read the models side by side, compare them and write the result."""
    from trueness.files import check_outputs

    if arguments.on_bad_rows != "refuse":
        cause = (
            f"--on-bad-rows {arguments.on_bad_rows}: rows cannot be skipped in a comparison, "
            "because all models need the same rows"
        )
        raise refuse_argument("--on-bad-rows", arguments.on_bad_rows, cause, "fix them first")
    refuse_inference_options(arguments)
    refuse_plot(arguments.plot)
    outputs = [arguments.json, arguments.report, arguments.plot, *cell_paths(arguments)]
    if are_tables(arguments.files):
        check_outputs(outputs, [*arguments.files])
        result = _compare_tables(arguments)
    else:
        sources = _sources_by_model(arguments)
        inputs = [input for source in sources.values() for input in source.inputs]
        check_outputs(outputs, _sources.paths_read(arguments, inputs))
        result = _compare(sources, arguments)
    if arguments.json is not None:
        write_json(arguments.json, result.to_dict())
    write_report(result, arguments.report)
    write_plot(result, arguments.plot)
    write_cell_tables(result, arguments, "groups" if result.groups else "differences")
    if STANDARD_OUTPUT not in outputs:
        print(result)
    return 0


def _compare_tables(arguments: argparse.Namespace) -> Comparison:
    """The comparison of saved tables of different rows."""
    from trueness.cli._binning import bins_of
    from trueness.old_assessment import compare_tables

    refuse_row_options(arguments)
    refuse_groups(arguments)
    names = _names(arguments, "table")
    tables = {
        name: merge_saved(saved_paths([file]), arguments.by_class).whole
        for name, file in zip(names, arguments.files, strict=True)
    }
    return compare_tables(
        tables,
        bins=bins_of(arguments),
        confidence_bins=arguments.confidence_bins,
        level=arguments.level,
        tolerance=tolerance_of(arguments),
        resamples=resamples_of(arguments),
        rng=arguments.rng_seed,
    )


def refuse_groups(arguments: argparse.Namespace) -> None:
    """Refuse groups of tables: those of each file are added up."""
    if arguments.groups:
        value = ",".join(arguments.groups)
        cause = f"--groups {value}: saved tables are compared as a whole"
        remedy = "leave it out, or compare the groups of one assessment: assess(...).compare_groups()"
        raise refuse_argument("--groups", value, cause, remedy)


def _sources_by_model(arguments: argparse.Namespace) -> dict[str, Source]:
    """The rows of each model by its name; weights and groups are those of the first."""
    from dataclasses import replace

    from trueness.files import Source, find_inputs
    from trueness.partitions.comparison import refuse_other_classes

    names = _names(arguments, "model")
    if are_images(arguments):
        images: dict[str, Any] = {
            name: image_source_of(arguments, [file], name)
            for name, file in zip(names, arguments.files, strict=True)
        }
        refuse_other_classes({name: source.n_classes for name, source in images.items()})
        return images
    request, options = _sources.request_of(arguments), _sources.row_options_of(arguments)
    inputs_by_model = {
        name: find_inputs([pattern], arguments.format)
        for name, pattern in zip(names, arguments.files, strict=True)
    }
    _refuse_shared_pipe(inputs_by_model)
    sources: dict[str, Source] = {}
    for name, inputs in inputs_by_model.items():
        _sources.note_unread_files(inputs)
        own = request if not sources else replace(request, weight=None, by=None, clusters=None)
        # Columns are matched by name to those of the first model that has names.
        columns = next((source.choice.columns for source in sources.values() if source.choice.columns), None)
        sources[name] = Source(
            inputs.files, own, options, label_file=arguments.label_file, first=columns, remarks=print_note
        )
        for line in sources[name].choice.found:
            print_note(f"{name}: {line}")
    complete = {name: source for name, source in sources.items() if not source.choice.ragged}
    refuse_other_classes({name: source.n_classes for name, source in complete.items()})
    return sources


def _refuse_shared_pipe(inputs_by_model: dict[str, InputFiles]) -> None:
    once = [input for inputs in inputs_by_model.values() for input in inputs.files if input.read_once]
    if len({input.path for input in once}) < len(once):
        cause = f"{once[0].name} is used for two models and can be read only once"
        raise InvalidValueError("read-once", cause, "save it as a file", argument=once[0].name)


def _names(arguments: argparse.Namespace, what: str) -> list[str]:
    """The names of the files, each of which is a model or a table."""
    files = arguments.files
    _refuse_files(files, what)
    if arguments.names is not None:
        names = [name.strip() for name in arguments.names.split(",")]
        if len(names) != len(files) or len(set(names)) != len(names):
            cause = f"--names must be {len(files)} different names"
            raise refuse_argument("--names", arguments.names, cause, "such as --names old,new")
        return names
    if len(set(files)) < len(files):
        argument = next(file for file in files if files.count(file) > 1)
        cause = f"{argument} is used for two {what}s"
        remedy = f"give the {what}s names: --names old,new"
        raise InvalidValueError("duplicate-file", cause, remedy, argument=argument)
    stems = [os.path.basename(os.path.normpath(file)).split(".")[0] or file for file in files]
    return stems if len(set(stems)) == len(stems) else list(files)


def _refuse_files(files: list[str], what: str) -> None:
    if len(files) < 2:
        remedy = "name a file for each, or use trueness assess"
        raise InvalidValueError("too-few-models", f"a comparison needs two {what}s or more", remedy)


def _compare(sources: dict[str, Source], arguments: argparse.Namespace) -> Comparison:
    from trueness.cli._summation import note_skipped_rows, reading_progress
    from trueness.files import no_rows_left, pair_batches
    from trueness.old_assessment.comparison import Comparer
    from trueness.partitions.comparison import add_batches
    from trueness.ranking import DEFAULT_TIES

    first = next(iter(sources.values()))
    comparer = Comparer(
        None if arguments.ragged else first.n_classes,
        options=arguments.ragged,
        models=list(sources),
        variation=arguments.variation,
        bins=_bins(sources, arguments),
        confidence_bins=arguments.confidence_bins,
        level=arguments.level,
        tolerance=tolerance_of(arguments),
        resamples=resamples_of(arguments),
        rng=arguments.rng_seed,
        by_class=arguments.by_class is not False,
        ties=arguments.ties or DEFAULT_TIES,
        weighted=arguments.sample_weight is not None,
        from_logits=arguments.from_logits,
        normalize=arguments.normalize,
    )
    skipped: Counter[str] = Counter()
    n_rows = 0
    with reading_progress(first.inputs) as report:
        read = {
            name: _counting_skipped(source.batches(), skipped) if source is first else source.batches()
            for name, source in sources.items()
        }
        for batches in pair_batches(read):
            if are_images(arguments):
                refuse_other_pixels(batches)
            add_batches(comparer, batches)
            n_rows += len(next(iter(batches.values())))
            report(next(iter(batches.values())))
    if n_rows == 0:
        raise no_rows_left(skipped, filtered=bool(first.choice.where))
    result = comparer.result()
    note_skipped_rows(skipped, result.assessments[next(iter(sources))].n_rows)
    return _with_remarks(result, sources, skipped)


def _counting_skipped(batches: Iterator[Batch], skipped: Counter[str]) -> Iterator[Batch]:
    """The same batches; the pixels that were left out are counted, also of batches in which none is left."""
    for batch in batches:
        skipped.update(batch.skipped)
        yield batch


def _with_remarks(result: Comparison, sources: Mapping[str, Any], skipped: Mapping[str, int]) -> Comparison:
    """The comparison with what was assumed about the files of each model, and what was left out of all of them."""
    from dataclasses import replace

    noted = {
        name: replace(
            alone,
            warnings=(*alone.warnings, *cautions_of(getattr(sources[name], "remarks", ()), skipped)),
        )
        for name, alone in result.assessments.items()
    }
    return replace(result, assessments=noted)


def _bins(sources: dict[str, Source], arguments: argparse.Namespace) -> Any:
    """The bins; those of equal mass are computed for each model, in a pass of their own."""
    from trueness.bins import EqualMass
    from trueness.cli._binning import bins_of, refuse_unknown_variation
    from trueness.files import equal_mass_edges

    refuse_unknown_variation(arguments)
    bins = bins_of(arguments) or _options.DEFAULT_BINS
    if not isinstance(bins, EqualMass):
        return bins
    if arguments.sample_weight is not None:
        cause = "--sample-weight: bins of equal mass do not support sample weights here"
        remedy = "use --bins instead"
        raise InvalidValueError("conflicting-arguments", cause, remedy, argument="--sample-weight")
    print_note(f"{bins.n_bins} bins of equal mass for each model, in two passes")
    return {name: equal_mass_edges(source, arguments.variation, bins) for name, source in sources.items()}
