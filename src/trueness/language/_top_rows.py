"""Lists of tokens while they are collected, with their true tokens, groups and clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trueness.language._collected import REASONS, BadRows, names_array
from trueness.language.results import TopTokens
from trueness.language.token_lists import top_lists
from trueness.refusals import Refusal


class TopRows:
    """Lists of tokens."""

    def __init__(self, top_k: int | None, n_classes: int | None) -> None:
        self._top_k, self._n_classes = top_k, n_classes
        self._lists: list[Any] = []
        self._true: list[Any] = []
        self._group: list[str] = []
        self._cluster: list[str] = []
        self._places: list[Mapping[str, Any]] = []

    def add(self, listed: Any, true: Any, *, group: str, cluster: str, place: Mapping[str, Any]) -> None:
        """Add the list of a position and its true token."""
        self._lists.append(
            [(entry["token"], entry["logprob"]) if _is_bare(entry) else entry for entry in listed]
        )
        self._true.append(true)
        self._group.append(group)
        self._cluster.append(cluster)
        self._places.append(place)

    def top_tokens(self, bad: BadRows, remarks: Sequence[str]) -> TopTokens:
        """The lists as arrays."""
        try:
            found = top_lists(
                self._lists, self._true, top_k=self._top_k, n_classes=self._n_classes, skip=bad.skip
            )
        except Refusal as refusal:
            raise self._at_its_place(refusal) from None
        for code, count in found.left_out.items():
            bad.left_out[REASONS.get(code, code)] += count
        kept = found.rows.tolist()
        k, dropped = found.prob.shape[1], []
        if found.n_sentinels:
            dropped.append(f"{found.n_sentinels} entries that are no probabilities")
        if found.n_sampled_first:
            dropped.append(f"{found.n_sampled_first} sampled tokens in front of the best")
        line = (
            f"{len(kept)} lists of tokens, the {k} largest of each; mean missing mass {found.missing.mean():.4f}, "
            f"true token beyond the list in {100 * (found.rank == k).mean():.3g} % of rows"
        )
        return TopTokens(
            prob=found.prob,
            rank=found.rank,
            missing=found.missing,
            n_classes=self._n_classes,
            group=names_array([self._group[row] for row in kept]),
            cluster=names_array([self._cluster[row] for row in kept]),
            left_out=bad.left_out,
            remarks=(*remarks, line, *([f"dropped {' and '.join(dropped)}"] if dropped else [])),
        )

    def _at_its_place(self, refusal: Refusal) -> Refusal:
        """The refusal of a list with its file and row."""
        if refusal.row is None:
            return refusal
        return refusal.with_facts(**self._places[refusal.row])


def _is_bare(entry: Any) -> bool:
    """Whether an entry is a token with its log-probability and no bytes: pairs take less memory than objects."""
    return isinstance(entry, Mapping) and entry.get("bytes") is None and {"token", "logprob"} <= set(entry)
