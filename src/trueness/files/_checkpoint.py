"""What a run over many files needs to resume after it was killed: the sums so far, and the rows they cover.

The file is replaced as a whole, so that a kill at any moment leaves the old one or the new one. Only a run with the
same identity, that is the same files and options, resumes from it.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from trueness._atomic_write import write_text
from trueness._version import __version__
from trueness.files._identity import Identity
from trueness.files.source import Position
from trueness.refusals import InvalidValueError, reason_of
from trueness.table import GroupedTables
from trueness.table.grouped_file import decode_groups, encode_groups, read_json

FORMAT = "trueness checkpoint"
SCHEMA = 5

PARTS = {"format", "schema", "library", "run", "position", "skipped", "by", "groups"}


@dataclass(frozen=True, slots=True)
class State:
    """The sums of a run so far."""

    tables: GroupedTables
    position: Position
    skipped: Counter[str]
    """Rows by the code of the refusal."""


class Checkpoint:
    """A file with the state of a run, replaced at most every `every` seconds."""

    def __init__(self, path: str, identity: Identity, every: float = 10.0) -> None:
        self.path, self._identity, self._every = path, identity, every
        self._last = time.monotonic()

    def load(self) -> State | None:
        """The state to resume from; None if there is no file yet."""
        if not os.path.exists(self.path):
            return None
        content = read_json(self.path, "a checkpoint")
        known = isinstance(content, dict) and set(content) == PARTS and content["format"] == FORMAT
        if not known or (content["schema"], content["library"]) != (SCHEMA, __version__):
            raise InvalidValueError(
                "not-a-checkpoint",
                "{file} is not a checkpoint written by this version of trueness",
                "name another file, or delete it to start again",
                file=self.path,
            )
        self._identity.require_equal(content["run"], self.path)
        try:
            return self._state(content)
        except (ValueError, TypeError, AttributeError) as error:
            raise InvalidValueError(
                "damaged-file",
                "{file} is damaged: {reason}",
                "delete it to start again",
                file=self.path,
                reason=reason_of(error),
            ) from error

    def _state(self, content: dict[str, Any]) -> State:
        """The state in a file, validated."""
        position = Position(*(int(number) for number in content["position"]))
        skipped = Counter({str(code): int(n) for code, n in content["skipped"].items()})
        groups = decode_groups(content["groups"], self.path)
        if not (0 <= position.file <= self._identity.n_inputs and position.batch >= 0):
            raise ValueError(f"position is {list(position)}")
        return State(GroupedTables(content["by"], groups), position, skipped)

    def due(self) -> bool:
        """Whether it is time to save again."""
        return time.monotonic() - self._last >= self._every

    def save(self, state: State) -> None:
        """Replace the file."""
        content = {
            "format": FORMAT,
            "schema": SCHEMA,
            "library": __version__,
            "run": self._identity.to_dict(),
            "position": list(state.position),
            "skipped": dict(state.skipped),
            "by": state.tables.by,
            "groups": encode_groups(state.tables.groups),
        }
        write_text(self.path, json.dumps(content, allow_nan=False))
        self._last = time.monotonic()
