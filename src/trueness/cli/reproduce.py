"""The experiments of the paper's section 3, with a verdict on each.

Exit code 0 if every cell agrees with theory, 1 if one does not, 2 if the input was wrong, 130 if interrupted.
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trueness.reproduction.run import Outcome, Settings
    from trueness.reproduction.scenarios import Scenario

EXAMPLES = """\
examples:
  trueness reproduce --out figures --max-rows 1e4 --repeats 5
  trueness reproduce --out mine --classes 5 --alpha 2,1,1,1,1 --max-rows 1e4
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to compute and where to put it."""
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for results and figures"
    )
    parser.add_argument(
        "--max-rows",
        type=float,
        default=1e7,
        metavar="N",
        help="leave out larger N (1e7 is the largest)",
    )
    parser.add_argument(
        "--repeats",
        type=int,
        metavar="R",
        help="runs of each cell; by default 100, 30, 10, 1 for N = 1e4 to 1e7",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="of the first run; the next ones count up from it"
    )
    parser.add_argument(
        "--beyond", action="store_true", help="further metrics: VCE by WVR, IQV and confidence; RCE"
    )
    parser.add_argument("--twins", action="store_true", help="miscalibrated twins: which metric sees what")
    parser.add_argument(
        "--alpha",
        action="append",
        metavar="A,B,..",
        help="a scenario of yours instead of the paper's; may be repeated",
    )
    parser.add_argument(
        "--classes", type=int, metavar="C", help="its number of classes; --alpha may then be one number"
    )
    parser.add_argument("--threads", type=int, metavar="T", help="by default one for each core")
    parser.add_argument(
        "--engine",
        choices=("auto", "portable", "fused"),
        default="auto",
        help="what tabulates; auto takes the fastest",
    )
    parser.add_argument("--no-figures", action="store_true", help="numbers only, without matplotlib")


def run(arguments: argparse.Namespace) -> int:
    """Reproduce, print the verdicts, and say with the exit code whether they hold."""
    from trueness._progress import rows_bar
    from trueness.reproduction.run import reproduce

    settings = _settings(arguments)
    try:
        outcome = reproduce(settings, rows_bar)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"what is finished is in {arguments.out}; the same command goes on from there"
        ) from None
    _print(outcome)
    return 1 if outcome.failed else 0


def _settings(arguments: argparse.Namespace) -> Settings:
    from trueness._arguments import whole_number
    from trueness.reproduction.cells import all_threads
    from trueness.reproduction.readings import FURTHER_METRICS, PAPER_METRICS
    from trueness.reproduction.run import Settings
    from trueness.reproduction.scenarios import sizes_up_to

    draws_figures = not arguments.no_figures
    if draws_figures and find_spec("matplotlib") is None:
        raise ValueError("figures need matplotlib: pip install 'trueness[plots]', or pass --no-figures")
    repeats = None if arguments.repeats is None else whole_number("--repeats", arguments.repeats, 1)
    threads = all_threads() if arguments.threads is None else whole_number("--threads", arguments.threads, 1)
    return Settings(
        scenarios=_scenarios(arguments.classes, arguments.alpha),
        sizes=sizes_up_to(arguments.max_rows),
        metrics=(*PAPER_METRICS, *FURTHER_METRICS) if arguments.beyond else PAPER_METRICS,
        out=arguments.out,
        seed=whole_number("--seed", arguments.seed, 0),
        repeats=repeats,
        twins=arguments.twins,
        draws_figures=draws_figures,
        engine=arguments.engine,
        n_threads=threads,
    )


def _scenarios(classes: int | None, alphas: list[str] | None) -> tuple[Scenario, ...]:
    """Those of the user, else the paper's; so many classes without α have all α = 1."""
    from trueness._arguments import whole_number
    from trueness.reproduction.scenarios import PAPER_SCENARIOS, parse_alpha

    if classes is None and alphas is None:
        return PAPER_SCENARIOS
    if classes is not None:
        whole_number("--classes", classes, 2, 1000)
    return tuple(dict.fromkeys(parse_alpha(text, classes) for text in alphas or ["1"]))


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
    held = len(verdicts) - len(outcome.failed)
    print(f"{held} of {len(verdicts)} cells agree with theory.")
