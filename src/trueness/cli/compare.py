"""Compare the calibration of several models on the same rows.

Each argument is one model: a file, or a quoted glob or folder. The rows of all must be the same, in the same order;
labels are compared row by row.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from trueness._printing import STANDARD_OUTPUT
from trueness.cli import _gate, _inputs
from trueness.cli._outputs import write_text_to

if TYPE_CHECKING:
    from trueness.files import Source

EXAMPLES = """\
examples:
  trueness compare a.parquet b.parquet
  trueness compare a.parquet b.csv --names old,new --equal-mass 10 --json comparison.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Models, columns, bins, inference."""
    _inputs.add_files(parser, "one argument for each model, two or more")
    parser.add_argument("--names", metavar="A,B,…", help="of the models (default: their files' names)")
    _inputs.add_groups(parser, "also compare the rows of each value of this column of the first file")
    parser.add_argument(
        "--json", metavar="FILE", help="the answer for machines; - for standard output instead of text"
    )
    _inputs.add_rows(parser)
    group = parser.add_argument_group("how rows are summed")
    group.add_argument("--variation", default="entropy", metavar="NAME", help="measure (default: entropy)")
    _inputs.add_bins(group)
    group.add_argument("--ties", choices=("first", "split"), default="first", help="equal probabilities")
    _gate.add_inference(parser)
    _gate.add_tolerance(parser)


def run(arguments: argparse.Namespace) -> int:
    """Read the models side by side, compare, print."""
    import json

    from trueness.files import InputError, check_outputs

    if arguments.on_bad_rows != "refuse":
        raise InputError("rows left out of one model would no longer be those of the other", "fix them first")
    _gate.resamples_of(arguments)  # refused before files are read
    sources = _sources(arguments)
    read = [input for source in sources.values() for input in source.inputs]
    check_outputs([arguments.json], _inputs.paths_read(arguments, read))
    result = _compared(sources, arguments)
    if arguments.json is not None:
        write_text_to(arguments.json, json.dumps(result.to_dict(), allow_nan=False, indent=1) + "\n")
    if arguments.json != STANDARD_OUTPUT:
        print(result)
    return 0


def _sources(arguments: argparse.Namespace) -> dict[str, Source]:
    """The rows of each model by its name; weights and groups are those of the first."""
    from dataclasses import replace

    from trueness.files import InputError, Source, find_inputs

    names = _names(arguments)
    request, options = _inputs.request_of(arguments), _inputs.row_options_of(arguments)
    found = {
        name: find_inputs([pattern], arguments.format)
        for name, pattern in zip(names, arguments.files, strict=True)
    }
    once = [input for inputs in found.values() for input in inputs.files if input.read_once]
    if len({input.path for input in once}) < len(once):
        raise InputError(
            f"{once[0].name} is named for two models and can be read only once", "save it as a file"
        )
    sources: dict[str, Source] = {}
    for name, inputs in found.items():
        _inputs.note_others(inputs)
        own = request if not sources else replace(request, weight=None, by=None)
        # Columns are matched by name to those of the first model that has names.
        columns = next((source.choice.columns for source in sources.values() if source.choice.columns), None)
        sources[name] = Source(
            inputs.files, own, options, label_file=arguments.label_file, first=columns, remarks=_inputs.note
        )
        for line in sources[name].choice.found:
            _inputs.note(f"{name}: {line}")
    classes = {name: source.n_classes for name, source in sources.items()}
    if len(set(classes.values())) > 1:
        told = ", ".join(f"{name} {number}" for name, number in classes.items())
        raise InputError(
            f"the models have different numbers of classes: {told}", "compare models of the same task"
        )
    return sources


def _names(arguments: argparse.Namespace) -> list[str]:
    from trueness.files import InputError

    files = arguments.files
    tables = [file for file in files if file.lower().endswith(".json")]
    if tables:
        raise InputError(
            f"{tables[0]} is a file of tables, and a comparison needs the rows",
            "name the files of predictions",
        )
    if len(files) < 2:
        raise InputError(
            "a comparison takes two models or more", "name a file for each, or use trueness assess"
        )
    if arguments.names is not None:
        names = [name.strip() for name in arguments.names.split(",")]
        if len(names) != len(files) or len(set(names)) != len(names):
            raise InputError(f"--names must be {len(files)} different names", "such as --names old,new")
        return list(names)
    if len(set(files)) < len(files):
        twice = next(file for file in files if files.count(file) > 1)
        raise InputError(f"{twice} is named for two models", "give the models names: --names old,new")
    stems = [os.path.basename(os.path.normpath(file)).split(".")[0] or file for file in files]
    return stems if len(set(stems)) == len(stems) else list(files)


def _compared(sources: dict[str, Source], arguments: argparse.Namespace) -> Any:
    from trueness.assessment.comparison import Comparer
    from trueness.cli._running import progress
    from trueness.files import pair_batches, refusal_of_batches

    first = next(iter(sources.values()))
    comparer = Comparer(
        first.n_classes,
        models=list(sources),
        variation=arguments.variation,
        bins=_bins(sources, arguments),
        confidence_bins=arguments.confidence_bins,
        level=arguments.level,
        tolerance=_gate.tolerance_of(arguments),
        resamples=_gate.resamples_of(arguments),
        rng=arguments.seed,
        ties=arguments.ties,
        weighted=arguments.weight is not None,
        from_logits=arguments.logits,
        normalize=arguments.normalize,
    )
    with progress(first.inputs) as report:
        for position, batches in pair_batches(sources):
            lead = next(iter(batches.values()))
            try:
                comparer.update(
                    lead.y_true,
                    {name: batch.y_prob for name, batch in batches.items()},
                    sample_weight=lead.weight,
                    groups=None if lead.groups is None else lead.groups.of_rows,
                )
            except ValueError as error:
                raise refusal_of_batches(list(batches.values()), error) from error
            report(position, lead)
    return comparer.result()


def _bins(sources: dict[str, Source], arguments: argparse.Namespace) -> Any:
    """The bins; those of equal mass are found in a pass of their own, for each model."""
    from trueness.bins import EqualMass
    from trueness.files import InputError, equal_mass_edges

    bins = _inputs.bins_of(arguments) or _inputs.DEFAULT_BINS
    if not isinstance(bins, EqualMass):
        return bins
    if arguments.weight is not None:
        raise InputError("exact bins of equal mass are for rows without weights", "take --bins instead")
    _inputs.note(f"{bins.n_bins} bins of equal mass for each model: exact, in two passes")
    return {name: equal_mass_edges(source, arguments.variation, bins) for name, source in sources.items()}
