"""Run the experiments of the paper's section 3, and compare each result with theory.

Exit code 0 if all results agree with theory, 1 if one does not, 2 for bad input, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from trueness.cli._errors import name_option, whole_number
from trueness.cli._options import add_options
from trueness.refusals import MissingLibraryError

if TYPE_CHECKING:
    from trueness.reproduction.run import Outcome, RunSettings
    from trueness.reproduction.scenarios import Scenario

EXAMPLES = """\
examples:
  trueness reproduce --out figures --max-rows 1e4 --repeats 5
  trueness reproduce --out mine --n-classes 5 --alpha 2,1,1,1,1 --max-rows 1e4
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add scenarios, sample sizes, threads and output."""
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for results and figures"
    )
    parser.add_argument(
        "--max-rows",
        type=float,
        default=1e7,
        metavar="N",
        help="largest sample size, from 1e4 to 1e7 (default: 1e7)",
    )
    parser.add_argument(
        "--repeats",
        type=int,
        metavar="R",
        help="number of runs of each cell (default: 100, 30, 10, 1 for N = 1e4 to 1e7)",
    )
    add_options(
        parser, "--rng-seed", help="seed of the first run, increased by 1 for each further run (default: 0)"
    )
    parser.add_argument(
        "--more-metrics", action="store_true", help="also compute VCE by WVR, IQV and confidence, and RCE"
    )
    parser.add_argument(
        "--miscalibrated",
        action="store_true",
        help="also compute the metrics of miscalibrated variants of the same rows",
    )
    parser.add_argument(
        "--alpha",
        action="append",
        metavar="A,B,..",
        help="Dirichlet parameters of a scenario that replaces those of the paper; may be repeated",
    )
    parser.add_argument(
        "--n-classes",
        type=int,
        metavar="C",
        help="number of classes of this scenario; --alpha may then be one number",
    )
    add_options(parser, "--n-threads")
    parser.add_argument("--no-figures", action="store_true", help="write numbers only, without matplotlib")


def run(arguments: argparse.Namespace) -> int:
    """Run the experiments, print the verdicts, and return 1 if one of them fails."""
    from trueness._progress import rows_bar
    from trueness.reproduction.run import reproduce

    settings = _settings(arguments)
    try:
        outcome = reproduce(settings, rows_bar)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"finished cells are in {arguments.out}; the same command resumes from there"
        ) from None
    _print(outcome)
    return 1 if outcome.failed else 0


def _settings(arguments: argparse.Namespace) -> RunSettings:
    from trueness._threads import available_cores
    from trueness.reproduction.metric_values import FURTHER_METRICS, PAPER_METRICS
    from trueness.reproduction.run import RunSettings
    from trueness.reproduction.scenarios import sizes_up_to

    draws_figures = not arguments.no_figures
    import_module("trueness.reproduction.dirichlet")  # refused here, and not after hours, if SciPy is missing
    if draws_figures and find_spec("matplotlib") is None:
        remedy = "pip install 'trueness[reproduction]', or pass --no-figures"
        raise MissingLibraryError("missing-library", "figures need matplotlib", remedy)
    repeats, n_threads = arguments.repeats, arguments.n_threads
    with name_option("--max-rows", arguments.max_rows, "such as --max-rows 1e5"):
        sizes = sizes_up_to(arguments.max_rows)
    return RunSettings(
        scenarios=_scenarios(arguments.n_classes, arguments.alpha),
        sizes=sizes,
        metrics=(*PAPER_METRICS, *FURTHER_METRICS) if arguments.more_metrics else PAPER_METRICS,
        out=arguments.out,
        seed=arguments.rng_seed,
        repeats=None if repeats is None else whole_number("--repeats", repeats, 1),
        twins=arguments.miscalibrated,
        draws_figures=draws_figures,
        n_threads=available_cores() if n_threads is None else whole_number("--n-threads", n_threads, 1),
    )


def _scenarios(n_classes: int | None, alphas: list[str] | None) -> tuple[Scenario, ...]:
    """The scenarios of the user, else those of the paper; classes without α have all α = 1."""
    from trueness.reproduction.scenarios import PAPER_SCENARIOS, parse_alpha

    if n_classes is None and alphas is None:
        return PAPER_SCENARIOS
    if n_classes is not None:
        whole_number("--n-classes", n_classes, 2)
    scenarios = []
    for text in alphas or ["1"]:
        with name_option("--alpha", text, "such as --alpha 2,1,1"):
            scenarios.append(parse_alpha(text, n_classes))
    return tuple(dict.fromkeys(scenarios))


def _print(outcome: Outcome) -> None:
    from trueness.reproduction.results import slope_lines, verdict_lines
    from trueness.reproduction.run import timing_line

    verdicts = outcome.verdicts
    print("\n".join(verdict_lines(verdicts)))
    if outcome.slopes:
        print("\nSlopes of ln(mean) against ln(N):\n\n" + "\n".join(slope_lines(outcome.slopes)))
    print(f"\n{timing_line(outcome)}")
    print(f"\nWritten to {outcome.settings.out}: {', '.join(path.name for path in outcome.files)}")
    for verdict in outcome.failed:
        scenario, binning, metric = verdict.place
        print(
            f"FAILS: {metric} in bins of equal {binning}, {scenario.title}, N = {verdict.n_rows}: "
            f"{verdict.distance:+.2f} standard deviations from theory",
            file=sys.stderr,
        )
    agreeing = len(verdicts) - len(outcome.failed)
    print(f"{agreeing} of {len(verdicts)} cells agree with theory.")
