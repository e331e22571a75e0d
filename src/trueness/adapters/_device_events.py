"""Sums of the events of rows on their own device: those of `trueness.tabulation.event_totals`, in torch operations."""

from __future__ import annotations

import torch
from torch import Tensor

from trueness.adapters._device_rows import DeviceRows, halves, words_of_numbers
from trueness.adapters._event_words import EventLayout
from trueness.adapters._integer_words import LOG_HALF


def event_words(row: DeviceRows, layout: EventLayout, thresholds: Tensor) -> Tensor:
    """The words of all events, (K, W), given where the cells of the grid end."""
    p, y = _probabilities_and_outcomes(row, layout)
    k, g = len(layout.events), layout.n_cells
    cells = torch.bucketize(p.contiguous(), thresholds) + torch.arange(k, device=p.device) * g
    columns = [torch.ones_like(p), *halves(p), *(halves(y) if layout.has_shares else [y])]
    zeros = torch.zeros(k * g, dtype=torch.int64, device=p.device)
    good = row.good[:, None]
    by_cell = [
        zeros.scatter_add(0, cells.flatten(), (of_rows * good).long().flatten()) for of_rows in columns
    ]
    parts = [of_cells.view(k, g) for of_cells in by_cell]
    return torch.cat([*parts, _moments(p, y, good)] if layout.has_moments else parts, dim=1)


def _probabilities_and_outcomes(row: DeviceRows, layout: EventLayout) -> tuple[Tensor, Tensor]:
    """p and y of each event, (n, K) each."""
    if layout.all_classes:
        return row.p, (torch.arange(len(layout.events), device=row.p.device) == row.label).double()
    of_events = [
        (row.p[:, event], (row.label[:, 0] == event).double())
        if isinstance(event, int)
        else (row.p.amax(dim=1), row.first_rank())
        for event in layout.events
    ]
    p, y = zip(*of_events, strict=True)
    return torch.stack(p, dim=1), torch.stack(y, dim=1)


def _moments(p: Tensor, y: Tensor, good: Tensor) -> Tensor:
    """Σp², Σp³, Σp⁴, Σpy, the log-likelihoods and the impossible rows of each event, as words, (K, 12)."""
    square = p * p
    powers = [half for power in (square, square * p, square * square, p * y) for half in halves(power)]
    impossible = ((p == 0) & (y > 0)) | ((p == 1) & (y < 1))
    of_event = torch.where(y > 0, y * p.log(), 0.0)
    of_other = torch.where(y < 1, (1 - y) * (1 - p).log(), 0.0)
    log = words_of_numbers(torch.where(impossible, 0.0, of_event + of_other), LOG_HALF)
    of_rows = [*powers, *log.unbind(dim=-1), impossible.double()]
    return torch.stack([(column * good).sum(dim=0) for column in of_rows], dim=1).long()
