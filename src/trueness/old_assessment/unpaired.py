"""Tables of different rows compared with each other: days, sites, groups. Nothing is paired, so noises add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from trueness._arguments import require_choice
from trueness._random import Seed
from trueness.bins import Bins
from trueness.old_assessment._comparison_result import Comparison
from trueness.old_assessment._contrasts import Samples, comparison_of
from trueness.old_assessment._sample import Sample, event_replicates_of, replicates_of, weights_of
from trueness.old_assessment._settings import Settings
from trueness.old_inference.events.replicates import EventReplicates, bootstrap_event_table
from trueness.old_inference.option_replicates import bootstrap_any_table, by_table
from trueness.old_table import CalibrationTable, OptionTables
from trueness.old_table.clusters import in_common_units
from trueness.old_table.tables import Tables, sum_pairwise
from trueness.refusals import InvalidTypeError, InvalidValueError
from trueness.rows.clusters import identity

if TYPE_CHECKING:
    from trueness.old_assessment._result import Assessment

AGAINST = ("rest", "each")
MOST_PAIRS = 5000
"""Pairs of groups that are compared at once."""
_STREAM = 8


def compare_tables(
    tables: Mapping[str, CalibrationTable | OptionTables | Tables],
    *,
    bins: int | Bins | None = None,
    confidence_bins: int | Bins | None = None,
    level: float = 0.95,
    tolerance: float | Mapping[str, float] | None = None,
    resamples: int = 999,
    rng: Seed = 0,
) -> Comparison:
    """Compare the calibration on different rows, from their tables: one day with another, one site with another.

    The rows of different tables must be independent of each other, unless they come in clusters: a cluster that occurs
    in several tables is resampled as one. Differences are between debiased values, as in `compare`, and p-values are
    corrected over the pairs of tables by Holm. Predictions of several models for the same rows belong to `compare`,
    which needs fewer rows for the same difference.

    Parameters
    ----------
    tables : mapping of names to CalibrationTable or Tables
        Two or more, of the same number of classes and the same measure. Only tables with a table by confidence
        have ECE.
    bins, confidence_bins, level, tolerance, resamples, rng
        As in `assess_table`; coarser bins are chosen for each table by itself.

    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(4000, [1, 1, 1], rng=0)
    >>> monday = tn.tabulate(y_true[:2000], y_prob[:2000])
    >>> tuesday = tn.tabulate(y_true[2000:], tn.simulate.sharpen(y_prob[2000:], 1.5))
    >>> print(tn.compare_tables({"monday": monday, "tuesday": tuesday}).verdict)
    monday is better calibrated than tuesday: VCE(monday) - VCE(tuesday) = -0.1...
    """
    settings = Settings.of(level, resamples, rng, tolerance)
    given = _as_tables(tables)
    if bins is not None or confidence_bins is not None:
        given = {name: of_name.coarsen(bins, confidence_bins) for name, of_name in given.items()}
    return _comparison(given, settings, list(combinations(given, 2)))


def compare_groups(result: Assessment, against: str = "rest") -> Comparison:
    """The groups of an assessment compared with all other rows, or each with each."""
    require_choice("against", against, AGAINST)
    tables = {group.name: group.assessment.tables for group in result.groups if group.assessment is not None}
    if len(tables) < 2:
        cause = "fewer than two groups were assessed"
        remedy = "pass `groups` with a column of at least two groups that are large enough"
        raise InvalidValueError("no-groups", cause, remedy, argument="groups")
    settings = Settings.of(result.level, result.resamples, result.seed, result.tolerance)
    if against == "each":
        _refuse_many_pairs(len(tables))
        return _comparison(tables, settings, list(combinations(tables, 2)))
    pairs = _pairs_with_rests([*tables])
    rests = dict(zip((rest for _, rest in pairs), _all_but_one([*tables.values()]), strict=True))
    return _comparison(tables | rests, settings, pairs)


def _pairs_with_rests(groups: Sequence[str]) -> list[tuple[str, str]]:
    """Each group with a name for all others, which is not that of a group."""
    taken, pairs = set(groups), []
    for group in groups:
        rest = f"not {group}"
        while rest in taken:
            rest = f"not {rest}"
        taken.add(rest)
        pairs.append((group, rest))
    return pairs


def _refuse_many_pairs(n_groups: int) -> None:
    n_pairs = n_groups * (n_groups - 1) // 2
    if n_pairs > MOST_PAIRS:
        cause = f"{n_groups} groups make {n_pairs} pairs, more than {MOST_PAIRS}"
        remedy = "compare each with the rest: `compare_groups('rest')`"
        raise InvalidValueError("too-many-pairs", cause, remedy, argument="against")


def _all_but_one(tables: Sequence[Tables]) -> list[Tables]:
    """For each of two or more tables the sum of all others."""
    if len(tables) == 2:
        return [tables[1], tables[0]]
    return [sum_pairwise([*tables[:k], *tables[k + 1 :]]) for k in range(len(tables))]


def _comparison(
    tables: Mapping[str, Tables], settings: Settings, pairs: Sequence[tuple[str, str]]
) -> Comparison:
    return comparison_of(_samples(tables, settings), settings, pairs=pairs, paired=False)


def _samples(tables: Mapping[str, Tables], settings: Settings) -> Samples:
    """The sample of each table, with replicates that are independent of those of other tables but for clusters."""
    clusters = in_common_units([it.clusters for it in tables.values() if it.clusters is not None])
    in_order = iter(clusters)
    samples: Samples = {}
    for name, of_name in tables.items():
        if of_name.clusters is not None:
            own = next(in_order)
            weights = weights_of(own, settings)
            of_events = event_replicates_of(own, weights)
            made = by_table(iter(replicates_of(own, weights)), of_name.calibration_tables)
            samples[name] = Sample(of_name, made, of_events[0] if of_events else None)
            continue
        seed = [settings.seed, _STREAM, identity(name)]
        made = tuple(
            bootstrap_any_table(table, settings.resamples, [*seed, place])
            for place, table in enumerate(of_name.calibration_tables)
        )
        samples[name] = Sample(of_name, made, _events(of_name, settings.resamples, [*seed, len(made)]))
    return samples


def _events(tables: Tables, resamples: int, seed: list[int]) -> EventReplicates | None:
    table = tables.by_class
    return None if table is None else bootstrap_event_table(table, resamples, seed)


def _as_tables(tables: Any) -> dict[str, Tables]:
    """The tables by name; refused unless there are two or more of the same classes and measure."""
    if not isinstance(tables, Mapping) or len(tables) < 2:
        cause = 'tables must be a mapping of two or more tables, {"monday": table_1, "tuesday": table_2}'
        raise InvalidTypeError("wrong-type", cause, argument="tables", value=type(tables).__name__)
    given: dict[str, Tables] = {}
    for name, table in tables.items():
        if not isinstance(table, (CalibrationTable, OptionTables, Tables)):
            argument = f"tables[{name!r}]"
            cause = f"`{argument}` must be a CalibrationTable or Tables, got {type(table).__name__}"
            raise InvalidTypeError("wrong-type", cause, argument=argument)
        given[str(name)] = table if isinstance(table, Tables) else Tables(table)
    _refuse_other_kinds(given)
    return given


def _kind_of_rows(tables: Tables) -> str:
    return "with the same classes" if tables.options is None else "with options of their own"


def _classes_of(tables: Tables) -> int | None:
    """The number of classes; None if rows have options of their own, which may be any number."""
    return tables.n_classes if tables.options is None else None


def _dependence_of_rows(tables: Tables) -> str:
    return "independent" if tables.clusters is None else "in clusters"


def _refuse_other_kinds(tables: Mapping[str, Tables]) -> None:
    first, *others = tables
    mine = tables[first]
    for name in others:
        for what, own, other in (
            ("kinds of rows", _kind_of_rows(mine), _kind_of_rows(tables[name])),
            ("classes", _classes_of(mine), _classes_of(tables[name])),
            (
                "measures",
                mine.by_variation.spec.variation.name,
                tables[name].by_variation.spec.variation.name,
            ),
            ("kinds of rows", _dependence_of_rows(mine), _dependence_of_rows(tables[name])),
        ):
            if own != other:
                cause = f"{first!r} and {name!r} have different {what}: {own} and {other}"
                remedy = "compare tables that were made with the same options"
                raise InvalidValueError("different-tables", cause, remedy, argument="tables")
