"""The states of a metric: their shapes, the words of sums, and the tables that states stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trueness._arrays import IntArray
from trueness.adapters import _event_words, _integer_words
from trueness.adapters._metric_input import N_REASONS, MetricInput
from trueness.old_table import AnyTable, CalibrationTable, EventTable


def state_shapes(input: MetricInput) -> dict[str, tuple[int, ...]]:
    """The shape of each state, by its name."""
    shapes: dict[str, tuple[int, ...]] = {"totals": (N_REASONS,)}
    if input.calibration_specs:
        spec, soft = input.calibration_specs[0], input.soft_labels
        shapes["bins"] = (sum(input.n_bins), _integer_words.width(spec, soft))
        shapes["totals"] = (_integer_words.n_totals(spec, soft) + N_REASONS,)
    if input.event_layout is not None:
        shapes["events"] = (len(input.event_layout.events), input.event_layout.width)
    return shapes


def words_of(sums: Sequence[Any], skipped: IntArray, input: MetricInput) -> dict[str, IntArray]:
    """The words of each state, from the sums for each spec and the number of rows skipped for each reason."""
    words = {"totals": skipped.copy()}
    if input.calibration_specs:
        pairs = zip(sums, input.calibration_specs, strict=False)  # the sums of events are the last
        parts = (_integer_words.words_of(of_spec, spec, input.soft_labels) for of_spec, spec in pairs)
        bins, (totals, *_) = zip(*parts, strict=True)  # totals do not depend on the bins
        words["bins"], words["totals"] = np.concatenate(bins), np.concatenate([totals, skipped])
    if input.event_layout is not None:
        words["events"] = _event_words.words_of(sums[-1], input.event_layout)
    return words


def tables_of(words: Mapping[str, IntArray], input: MetricInput) -> list[AnyTable]:
    """The table for each spec, from the words of each state."""
    tables: list[AnyTable] = []
    if input.calibration_specs:
        bins = np.split(words["bins"], np.cumsum(input.n_bins)[:-1])
        tables += [
            CalibrationTable(spec, _integer_words.sums_of(of_spec, words["totals"], spec, input.soft_labels))
            for spec, of_spec in zip(input.calibration_specs, bins, strict=True)
        ]
    if input.event_spec is not None and input.event_layout is not None:
        tables.append(EventTable(input.event_spec, _event_words.sums_of(words["events"], input.event_layout)))
    return tables
