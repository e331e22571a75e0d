"""`Monitor`: watches a stream of tables, with alarms that hold however often one looks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from trueness._arrays import FloatArray
from trueness.bins import Bins
from trueness.monitoring import text
from trueness.monitoring._entries import Entry, require_addable, require_weights, top_label_gap
from trueness.monitoring._streams import Streams
from trueness.monitoring._summaries import alarm_of, groups_of
from trueness.monitoring.names import look_name, order_of
from trueness.monitoring.results import Alarm, GroupEvidence, Look, TrendPoint, exponential
from trueness.monitoring.settings import Settings
from trueness.monitoring.watched import Watched, as_watched
from trueness.old_table import AnyRankTable, EventTable
from trueness.refusals import InvalidValueError
from trueness.variation import Variation

if TYPE_CHECKING:
    from trueness.old_assessment import Caution


class Monitor:
    """Watches a model from saved tables, one for each look, and alarms when its uncertainty cannot be trusted.

    After each look there is an e-value E. If in every look the ranked calibration error is at most `tolerance`, the
    probability that E ever reaches 1/α is at most α, however long one watches and whenever one looks. A monitor is its
    settings and its looks in order of arrival; everything else is computed from them.

    Parameters
    ----------
    alpha : float
        The probability of a false alarm, ever.
    tolerance : float
        δ: the ranked calibration error (and the error of each class, if class tables are watched) up to which nothing
        is alarmed.
    reference : table, or a mapping of groups to tables
        Rows that are not in the stream, such as those of the validation. The monitor then alarms when the model is
        worse than it was there, instead of when it is miscalibrated.
    bins : int or bins
        Coarser bins in which tables are watched. By default their own; tables of more than 40 bins in ten of equal
        width. EqualMass is fitted to the first look.
    max_cluster : int
        The largest number of rows of a look that depend on one another, such as those of one patient.
    max_weight : float
        The largest weight of a row, declared beforehand; weighted tables are refused without it. With weights of
        1/(rows of the cluster), it is 1 and max_cluster stays 1.
    dependence : {"rows", "look"}
        "look" if all rows of a look may err together: one bet for each look, which is slow.
    average_run : float
        Bound the average number of looks to a false alarm instead of the probability of one. It is quicker after a late
        change, and will raise a false alarm at some time.

    Examples
    --------
    >>> import trueness as tn
    >>> monitor = tn.Monitor(alpha=0.01, tolerance=0.01)
    >>> for day in range(1, 6):
    ...     y_true, y_prob = tn.simulate.calibrated(500, [1, 1, 1], rng=day)
    ...     table = tn.tabulate(y_true, tn.simulate.sharpen(y_prob, 1.6))
    ...     look = monitor.update(table, at=f"2026-11-0{day}")
    >>> monitor.alarm.at, monitor.alarm.meaning, monitor.alarm.began
    ('2026-11-02', 'over-confident', '2026-11-01')
    """

    def __init__(
        self,
        *,
        alpha: float = 0.01,
        tolerance: float = 0.01,
        reference: Any = None,
        bins: int | Bins | None = None,
        max_cluster: int = 1,
        max_weight: float | None = None,
        dependence: str = "rows",
        average_run: float | None = None,
    ) -> None:
        self._begin(
            Settings.of(
                alpha=alpha,
                tolerance=tolerance,
                reference=reference,
                bins=bins,
                max_cluster=max_cluster,
                max_weight=max_weight,
                dependence=dependence,
                average_run=average_run,
            )
        )

    @classmethod
    def of_settings(cls, settings: Settings) -> Self:
        """A monitor with these settings and no looks."""
        monitor = cls.__new__(cls)
        monitor._begin(settings)
        return monitor

    def _begin(self, settings: Settings) -> None:
        self._settings = settings
        self._entries: list[Entry] = []
        self._looks: list[Look] = []
        self._by_name: dict[str, int] = {}
        self._latest = order_of("")
        self._total: Watched | None = None
        self._n_summed = 0
        self.saved: dict[str, str] = {}
        """A digest of each file that this monitor was read from or written to, as it was then."""
        self._streams = Streams(settings)

    # Looks

    @property
    def settings(self) -> Settings:
        """The settings, which cannot change after the first look."""
        return self._settings

    @property
    def looks(self) -> tuple[Look, ...]:
        """The looks in order of arrival."""
        return tuple(self._looks)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The looks with their tables, in order of arrival."""
        return tuple(self._entries)

    def update(self, table: Any, at: Any = None) -> Look:
        """Count a look, and return it.

        The same table under the same name again changes nothing, so a job may be run again.

        Parameters
        ----------
        table : CalibrationTable, OptionTables, EventTable, several of these, or a mapping of groups to these
            The table of rows that no other look holds. A list, or `Tables`, may have an event table of the classes,
            which is watched too.
        at : str, date or int
            The name of the look, such as its date; by default its number.
        """
        watched = as_watched(table)
        name = str(len(self._entries) + 1) if at is None else look_name(at)
        return self.count(Entry(name, watched))

    def count(self, entry: Entry) -> Look:
        """Count an entry; its bets are computed unless it has them."""
        known = self._by_name.get(entry.at)
        if known is not None:
            self._require_equal(entry, self._entries[known])
            return self._looks[known]
        self._require_place(entry)
        require_weights(entry.tables, self._settings.max_weight)
        require_addable([*self._entries[:1], entry])
        entry = self._streams.with_bets(entry)
        return self._append(replace(entry, late=order_of(entry.at) < self._latest))

    def _append(self, entry: Entry) -> Look:
        """Count an entry that was checked; nothing here can be refused."""
        self._streams.add(entry, len(self._entries))
        look = Look(
            entry.at,
            entry.n_rows,
            self._streams.log_e_value,
            top_label_gap(entry.tables.values()),
            entry.late,
        )
        self._by_name[entry.at] = len(self._entries)
        self._latest = max(self._latest, order_of(entry.at))
        self._entries.append(entry)
        self._looks.append(look)
        return look

    def _require_equal(self, entry: Entry, counted: Entry) -> None:
        if entry.tables != counted.tables:
            cause = f"{entry.at} was counted already with other rows"
            remedy = "more rows of that day go under a name of their own"
            raise InvalidValueError("counted-already", cause, remedy, argument="at")

    def _require_place(self, entry: Entry) -> None:
        start = self._settings.restarted
        if start is not None and order_of(entry.at) < order_of(start):
            cause = f"{entry.at} is before {start}, where this monitor was restarted"
            remedy = "looks that were seen before cannot be counted again"
            raise InvalidValueError("before-restart", cause, remedy, argument="at")
        if self._entries and (None in entry.tables) != (None in self._entries[0].tables):
            cause = "one look has groups and another has none"
            remedy = "pass the same groups in every look"
            raise InvalidValueError("different-groups", cause, remedy, argument="table")

    def _sum(self) -> Watched | None:
        """The sum of all looks, from where it was summed before."""
        for entry in self._entries[self._n_summed :]:
            for each in entry.tables.values():
                self._total = each if self._total is None else self._total + each
        self._n_summed = len(self._entries)
        return self._total

    # Evidence

    @property
    def log_e_value(self) -> float:
        """ln E as of now; of groups, of the mean of their E."""
        return self._streams.log_e_value

    @property
    def e_value(self) -> float:
        """E as of now, an e-value: its mean is at most 1 if the null holds at every look."""
        return exponential(self.log_e_value)

    @property
    def p_value(self) -> float:
        """min(1, 1/max E): a p-value that may be looked at after every look. NaN with `average_run`."""
        return self._streams.p_value

    @property
    def alarm(self) -> Alarm | None:
        """The alarm, which stays; None if there was none."""
        return alarm_of(self._streams, self._entries)

    @property
    def groups(self) -> tuple[GroupEvidence, ...]:
        """The evidence of each group as of now, the largest first; empty without groups."""
        return groups_of(self._streams, self._entries)

    def evidence_of(self, group: str | None = None) -> FloatArray:
        """ln Σ_j v_j·e_j of each bin of each look with rows, in order of arrival, (looks, bins); for pictures."""
        return self._streams.by_bin(group)

    # Sums and trend

    @property
    def table(self) -> AnyRankTable | None:
        """The sum of all looks; None before the first, and without rank tables."""
        total = self._sum()
        return None if total is None else total.ranks

    @property
    def event_table(self) -> EventTable | None:
        """The sum of all class tables; None if there are none."""
        total = self._sum()
        return None if total is None else total.by_class

    @property
    def n_rows(self) -> int:
        """The rows of all looks."""
        return sum(look.n_rows for look in self._looks)

    def trend(self, gap: str = "top-label") -> tuple[TrendPoint, ...]:
        """The gap of each look with its ordinary interval, and of all looks so far with a band for all at once.

        Parameters
        ----------
        gap : {"top-label", "net"}
            The top-label gap, whose band is exact (equation 8); or the net gap of the variation, whose band is a limit
            statement (equation 9) and which is computed with seeded resamples.
        """
        from trueness.monitoring.trend import trend_of

        return trend_of(self, gap)

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """What limits the conclusions, each with its remedy."""
        from trueness.monitoring.cautions import cautions_of

        return cautions_of(self)

    def __str__(self) -> str:
        return text.page(self)

    def __repr__(self) -> str:
        return f"Monitor: {text.sentence(self)}"

    def to_dict(self) -> dict[str, Any]:
        """Everything that the monitor says as plain numbers, lists and strings, for JSON; without the tables."""
        from trueness.monitoring.to_json import to_dict

        return to_dict(self)

    # Files, merging and restarting

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write settings and looks as versioned JSON, whole or not at all.

        A file with looks that this monitor lacks is not replaced, unless `overwrite` is True: another process may have
        counted them.
        """
        from trueness.monitoring.state_file import save

        save(self, os.fsdecode(path), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str], variation: Variation | None = None) -> Self:
        """The monitor of a file; `variation` is needed if tables were made with a measure of your own."""
        from trueness.monitoring.state_file import load

        return load(cls, os.fsdecode(path), variation)

    @classmethod
    @contextmanager
    def open(
        cls, path: str | os.PathLike[str], variation: Variation | None = None, **settings: Any
    ) -> Iterator[Self]:
        """The monitor of a file, or a new one with these settings, which is written at the end of a `with` block.

        Another process that opens the same file waits. The settings of an existing file must be those given here; if
        none are given, they are those of the file.
        """
        from trueness.monitoring.state_file import opened

        given = cls(**settings).settings if settings or not os.path.exists(path) else None
        with opened(cls, os.fsdecode(path), given, variation) as monitor:
            yield monitor

    def write_html(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write the page: one self-contained HTML file, which contains the state."""
        from trueness.old_report import write_monitor

        write_monitor(self, path, title=title)

    def __add__(self, other: object) -> Monitor:
        """The union of the looks by name: those of the left monitor first, then those that only the right one has."""
        if not isinstance(other, Monitor):
            return NotImplemented
        difference = self._settings.difference(other.settings)
        if difference is not None:
            cause = f"these monitors cannot be added: {difference}"
            remedy = "add monitors of one stream with the same settings"
            raise InvalidValueError("different-settings", cause, remedy)
        merged = Monitor.of_settings(self._settings)
        for entry in (*self._entries, *other.entries):
            merged.count(entry)
        return merged

    def restarted(self, at: Any) -> Monitor:
        """A new monitor with the same settings, no looks, and an α of its own, for looks from `at` on."""
        return Monitor.of_settings(replace(self._settings, restarted=look_name(at)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Monitor):
            return NotImplemented
        return self._settings.difference(other.settings) is None and [
            (entry.at, entry.tables) for entry in self._entries
        ] == [(entry.at, entry.tables) for entry in other.entries]

    __hash__ = None  # type: ignore[assignment]
