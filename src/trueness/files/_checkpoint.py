"""What a run over many files needs to go on after it was killed: the sums so far, and how far they go.

The file is replaced as a whole, so that a kill at any moment leaves the one before or the one after. It is continued
only by a run with the same identity: the same files and the same options.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from trueness._arguments import require_choice
from trueness._atomic_write import write_text
from trueness._version import __version__
from trueness.files._errors import InputError, shown
from trueness.files._identity import Identity
from trueness.files._source import Position
from trueness.files._tables import Tables, decode_groups, encode_groups, read_json
from trueness.tabulation.engines import ENGINES

FORMAT = "trueness checkpoint"
SCHEMA = 2

PARTS = {"format", "schema", "library", "run", "engine", "position", "skipped", "groups"}


@dataclass(frozen=True, slots=True)
class State:
    """How far a run has come."""

    groups: Mapping[str | None, Tables]
    position: Position
    skipped: Counter[str]
    engine: str


class Checkpoint:
    """A state that is kept in a file, renewed at most every so many seconds."""

    def __init__(self, path: str, identity: Identity, every: float = 10.0) -> None:
        self.path, self._identity, self._every = path, identity, every
        self._last = time.monotonic()

    def load(self) -> State | None:
        """The state to go on from; None if there is no file yet."""
        if not os.path.exists(self.path):
            return None
        content = read_json(self.path, "a run's progress")
        other = InputError(
            f"{self.path} is not a checkpoint of this version",
            "name another file, or delete it to begin anew",
        )
        if not isinstance(content, dict) or set(content) != PARTS or content["format"] != FORMAT:
            raise other
        if content["schema"] != SCHEMA or content["library"] != __version__:
            raise other
        difference = self._identity.difference(content["run"])
        if difference is not None:
            raise InputError(
                f"{self.path} belongs to another run: {difference}",
                f"name another checkpoint, or delete {shown(self.path)} to begin anew",
            )
        try:
            position = Position(*(int(number) for number in content["position"]))
            skipped = Counter({str(reason): int(n) for reason, n in content["skipped"].items()})
            groups = decode_groups(content["groups"], self.path)
            require_choice("engine", content["engine"], tuple(name for name in ENGINES if name != "auto"))
            if not (0 <= position.file <= self._identity.n_inputs and position.batch >= 0):
                raise ValueError(f"position is {list(position)}")
        except (ValueError, TypeError, AttributeError) as error:
            raise InputError(f"{self.path} is damaged: {error}", "delete it to begin anew") from error
        return State(groups, position, skipped, content["engine"])

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
            "engine": state.engine,
            "position": list(state.position),
            "skipped": dict(state.skipped),
            "groups": encode_groups(state.groups),
        }
        write_text(self.path, json.dumps(content, allow_nan=False))
        self._last = time.monotonic()
