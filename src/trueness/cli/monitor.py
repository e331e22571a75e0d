"""Watch a model from saved tables, one for each day: an alarm when its uncertainty can no longer be trusted.

The alarm holds however often one looks: if the error was never above the tolerance, the probability of an alarm, ever,
is at most alpha. Each file is one look, of rows that no other file holds. Exit code 0: no alarm, 1: alarm, 2: refused.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from trueness._printing import STANDARD_OUTPUT, plural
from trueness.cli import _options
from trueness.cli._errors import name_option, refuse_argument
from trueness.cli._outputs import output_path, print_note, write_json

if TYPE_CHECKING:
    from trueness.cli._looks import LookFile
    from trueness.monitoring import Monitor
    from trueness.monitoring.settings import Settings

EXAMPLES = """\
examples:
  trueness monitor day-*.json --tolerance 0.02 --report monitor.html --json monitor.json
  trueness monitor day-*.json --state watch.monitor
  trueness monitor day-*.json --reference all.json --max-cluster 20
"""

_SETTINGS = ("alpha", "tolerance", "bins", "max_cluster", "max_weight", "dependence", "average_run")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add files, settings, state and outputs."""
    parser.add_argument(
        "files",
        nargs="*",
        metavar="JSON",
        help="tables that trueness tabulate wrote: files, globs or folders; none to show a --state",
    )
    parser.add_argument(
        "--at",
        metavar="PATTERN",
        help="regular expression that finds the name of a look in the name of its file, such as "
        "'(\\d{4}-\\d\\d-\\d\\d)' (default: the file's name without its ending)",
    )
    parser.add_argument(
        "--state",
        metavar="FILE",
        help="file of the monitor: looks that it lacks are added in the order of their names, and it keeps their order "
        "of arrival",
    )
    parser.add_argument(
        "--cumulative",
        action="store_true",
        help="each table also holds the rows of the looks before; they are subtracted",
    )
    _options.add_options(
        parser, "--by-class", help="watch each class too, if the tables have them (default: on)"
    )
    _add_settings(parser)
    group = parser.add_argument_group(
        "output", "One file may be - for standard output, which then replaces the printed text."
    )
    _options.add_json(group)
    group.add_argument("--report", metavar="HTML", help="write the page, which contains the state")


def _add_settings(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "settings", "Those of a --state cannot change; if they are left out, they are those of the file."
    )
    group.add_argument(
        "--alpha", type=float, metavar="P", help="probability of a false alarm, ever (default: 0.01)"
    )
    group.add_argument(
        "--tolerance",
        type=float,
        metavar="X",
        help="ranked calibration error, and error of each class, up to which nothing is alarmed (default: 0.01)",
    )
    group.add_argument(
        "--reference",
        metavar="JSON",
        help="tables of other rows, such as the validation's: alarm when the model is worse than it was there",
    )
    group.add_argument("--bins", type=int, metavar="M", help="watch tables in M bins of equal width")
    group.add_argument(
        "--max-cluster",
        type=int,
        metavar="N",
        help="largest number of rows of a look that depend on one another, such as those of a patient (default: 1)",
    )
    group.add_argument(
        "--max-weight", type=float, metavar="W", help="largest weight of a row, known beforehand"
    )
    group.add_argument(
        "--dependence",
        choices=("rows", "look"),
        help="look: all rows of a look may err together, one bet for each look (default: rows)",
    )
    group.add_argument(
        "--average-run",
        type=float,
        metavar="N",
        help="instead of alpha: at least N looks to a false alarm on average, which will come",
    )


def run(arguments: argparse.Namespace) -> int:
    """Read, count and write; 1 after an alarm."""
    from trueness.cli._looks import look_files
    from trueness.files import check_outputs

    if not arguments.files and arguments.state is None:
        raise refuse_argument("JSON", None, "no files are named", "name tables, or a --state to show")
    files = look_files(arguments.files, arguments.at)
    read = [*(each.path for each in files), arguments.reference]
    check_outputs([arguments.report, arguments.json, arguments.state], read)
    if arguments.state == STANDARD_OUTPUT:
        raise refuse_argument("--state", STANDARD_OUTPUT, "a state cannot be standard output", "name a file")
    with _monitor(arguments, exists=bool(files)) as monitor:
        added = _count(monitor, files, arguments)
    if arguments.state is not None:
        print_note(f"{arguments.state}: {plural(added, 'new look')} of {plural(len(monitor.looks), 'look')}")
    _write(monitor, arguments)
    return 0 if monitor.alarm is None else 1


@contextmanager
def _monitor(arguments: argparse.Namespace, *, exists: bool) -> Iterator[Monitor]:
    """A new monitor, or that of the state, which is locked and written at the end if something may be added."""
    from trueness.monitoring import Monitor
    from trueness.monitoring.state_file import opened

    path = arguments.state
    if path is None:
        yield Monitor(**_given(arguments))
    elif not exists:
        yield Monitor.load(path)
    else:
        begun = os.path.exists(path)
        with opened(Monitor, path, None if begun else Monitor(**_given(arguments)).settings) as monitor:
            if begun:
                _require_settings(monitor.settings, _given(arguments), path)
            yield monitor


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings that options name, as arguments of a monitor."""
    from trueness.cli._looks import load_look

    given = {name: getattr(arguments, name) for name in _SETTINGS if getattr(arguments, name) is not None}
    if arguments.reference is not None:
        with name_option("--reference", arguments.reference, "name a file that trueness tabulate wrote"):
            given["reference"] = load_look(arguments.reference, arguments.by_class)
    return given


def _require_settings(settings: Settings, given: dict[str, Any], path: str) -> None:
    """Refuse options that differ from the settings of a state."""
    from trueness.monitoring import Monitor
    from trueness.refusals import InvalidValueError

    wanted = Monitor(**given).settings
    for name in given:
        both = (getattr(settings, name), getattr(wanted, name))
        if both[0] != both[1]:
            argument = f"--{name.replace('_', '-')}"
            value = "" if name == "reference" else both[1]
            raise InvalidValueError(
                "different-settings",
                f"{argument} {value}: {path} was begun with other settings",
                "settings cannot change after the first look; leave it out, or begin another state",
                argument=argument,
                value=value,
            )


def _count(monitor: Monitor, files: list[LookFile], arguments: argparse.Namespace) -> int:
    """Count the looks of the files, and return how many are new."""
    from trueness.cli._cumulative import Growing
    from trueness.cli._looks import load_look
    from trueness.monitoring.names import order_of
    from trueness.refusals import Refusal

    before, start, left_out = len(monitor.looks), monitor.settings.restarted, 0
    growing = Growing(monitor) if arguments.cumulative else None
    for each in files:
        if start is not None and order_of(each.at) < order_of(start):
            left_out += 1
            continue
        tables = load_look(each.path, arguments.by_class)
        try:
            if growing is None:
                monitor.update(tables, at=each.at)
            else:
                growing.update(tables, each.at)
        except Refusal as error:
            raise error if error.source is not None else error.with_facts(source=each.path) from error
    if left_out:
        print_note(f"{plural(left_out, 'file')} before {start}, where the monitor was restarted, left out")
    return len(monitor.looks) - before


def _write(monitor: Monitor, arguments: argparse.Namespace) -> None:
    """Write the requested files, and print the text unless standard output holds one of them."""
    if arguments.report is not None:
        with output_path(arguments.report) as target:
            monitor.write_html(target)
    if arguments.json is not None:
        write_json(arguments.json, monitor.to_dict())
    if STANDARD_OUTPUT not in (arguments.report, arguments.json):
        print(monitor)
