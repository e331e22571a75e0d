"""From parsed arguments to bins and tables: the plan of a run, and tables in the requested bins."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from trueness._printing import plural
from trueness.cli._errors import name_option, parse_numbers, whole_number
from trueness.cli._options import DEFAULT_BINS, GRID_CELLS
from trueness.cli._outputs import print_note

if TYPE_CHECKING:
    from trueness.bins import Bins
    from trueness.files import Plan
    from trueness.old_table import GroupedTables


def bins_of(arguments: argparse.Namespace) -> Bins | None:
    """The requested bins; None if no option names any."""
    from trueness.bins import Edges, EqualMass, EqualWidth

    grid = getattr(arguments, "grid", None)
    if arguments.equal_mass is not None:
        with name_option("--equal-mass", arguments.equal_mass, "such as --equal-mass 10"):
            return EqualMass(arguments.equal_mass)
    if arguments.edges is not None:
        example = "such as --edges 0,0.2,0.5,1"
        edges = parse_numbers("--edges", arguments.edges, example)
        with name_option("--edges", arguments.edges, example):
            return Edges(edges)
    if grid is not None:
        with name_option("--grid", grid, f"leave out the number for {GRID_CELLS} cells"):
            return EqualWidth(grid)
    if arguments.bins is None:
        return None
    with name_option("--bins", arguments.bins, f"such as --bins {DEFAULT_BINS}"):
        return EqualWidth(arguments.bins)


def plan_of(arguments: argparse.Namespace) -> Plan:
    """The requested tables."""
    from trueness.bins import EqualWidth
    from trueness.files import Plan
    from trueness.ranking import DEFAULT_TIES

    refuse_unknown_variation(arguments)
    bins = bins_of(arguments) or EqualWidth(DEFAULT_BINS)
    if arguments.n_threads is not None:
        whole_number("--n-threads", arguments.n_threads, 1)
    chosen = arguments.confidence_bins
    return Plan.of(
        arguments.variation,
        bins,
        None if chosen is None else EqualWidth(chosen),
        arguments.ties or DEFAULT_TIES,
        by_class=arguments.by_class is not False,
        events=events_of(arguments),
        options=getattr(arguments, "ragged", False),
        n_threads=arguments.n_threads,
    )


def events_of(arguments: argparse.Namespace) -> tuple[str, ...]:
    """The events of --event, which may be one or several."""
    given = getattr(arguments, "event", None)
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)


def refuse_unknown_variation(arguments: argparse.Namespace) -> None:
    """Refuse an unknown variation measure before files are read."""
    from trueness.variation import as_variation

    with name_option("--variation", arguments.variation, "such as --variation entropy"):
        as_variation(arguments.variation)


def in_requested_bins(tables: GroupedTables, arguments: argparse.Namespace) -> GroupedTables:
    """The tables of a run in bins of equal mass if requested, merged from the cells of the grid."""
    from trueness.bins import EqualMass

    if arguments.equal_mass is None:
        return tables
    tables = tables.coarsen(EqualMass(arguments.equal_mass), arguments.confidence_bins)
    note_bin_masses(tables, f"from a grid of {GRID_CELLS} cells, in one pass")
    if tables.whole.by_variation.n_bins < arguments.equal_mass:
        print_note(
            f"fewer than the {arguments.equal_mass} requested bins, because one cell holds the rows of several"
        )
    return tables


def note_bin_masses(tables: GroupedTables, method: str) -> None:
    """Print the smallest and the largest share of rows in a bin of equal mass."""
    table = tables.whole.by_variation
    shares = 100 * table.count / table.count.sum()
    print_note(
        f"{table.n_bins} bins of equal mass, {method}: {shares.min():.2f} to {shares.max():.2f} % of the rows each"
    )


def summary_of(tables: GroupedTables) -> str:
    """The rows, classes, bins and groups of the tables, in one line."""
    from trueness.old_table.option_text import options_text

    whole = tables.whole.calibration_tables
    first, *others = ((table.n_bins, table.spec.variation.display_name) for table in whole)
    bins = " and ".join(
        [f"{plural(first[0], 'bin')} of {first[1]}", *(f"{n} of {name}" for n, name in others)]
    )
    groups = "" if tables.by is None else f", {len(tables.groups)} groups by {tables.by!r}"
    clusters = tables.whole.clusters
    named = "" if clusters is None else f", {plural(clusters.n_clusters, 'cluster')}"
    options = tables.whole.options
    classes = f"{whole[0].n_classes} classes" if options is None else options_text(options)
    return f"{tables.n_rows} rows, {classes}, {bins}{_cells_of(tables)}{groups}{named}"


def _cells_of(tables: GroupedTables) -> str:
    """The cells of the event tables, as clauses; empty without one."""
    words = []
    for table in tables.whole.events:
        names = [table.spec.name_of(event) for event in table.events]
        if table.spec.is_by_class and len(names) > 1:
            what = "each class"
        else:
            what = " and ".join("the top label" if name == "top" else f"class {name}" for name in names)
        words.append(f", {what} in {table.grid.n_cells} cells of its probability")
    return "".join(words)
