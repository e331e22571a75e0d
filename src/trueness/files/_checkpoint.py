"""What a run over many files needs to go on after it was killed: the sums so far, and how far they go.

The file is replaced as a whole, so that a kill at any moment leaves the one before or the one after. It is believed
only for the same files (by size and time) and the same settings.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trueness._version import __version__
from trueness._whole_file import write_text
from trueness.files._errors import InputError, shown
from trueness.files._paths import Input
from trueness.files._source import Position
from trueness.files._tables import Tables, decode_groups, encode_groups, read_json

FORMAT = "trueness checkpoint"
SCHEMA = 1

PARTS = {"format", "schema", "library", "settings", "files", "engine", "position", "skipped", "groups"}


@dataclass(frozen=True, slots=True)
class State:
    """How far a run has come."""

    groups: Mapping[str | None, Tables]
    position: Position
    skipped: Counter[str]
    engine: str


class Checkpoint:
    """A state that is kept in a file, renewed at most every so many seconds."""

    def __init__(
        self, path: str, settings: Mapping[str, Any], inputs: Sequence[Input], every: float = 10.0
    ) -> None:
        self.path, self._every = path, every
        self._settings = json.loads(json.dumps(dict(settings)))
        self._files = [[os.path.abspath(input.path), input.size, input.modified] for input in inputs]
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
        self._refuse_other_run(content)
        try:
            position = Position(*(int(number) for number in content["position"]))
            skipped = Counter({str(reason): int(n) for reason, n in content["skipped"].items()})
            groups = decode_groups(content["groups"], self.path)
        except (ValueError, TypeError, AttributeError) as error:
            raise InputError(f"{self.path} is damaged: {error}", "delete it to begin anew") from error
        return State(groups, position, skipped, str(content["engine"]))

    def _refuse_other_run(self, content: dict[str, Any]) -> None:
        begin_anew = f"name another checkpoint, or delete {shown(self.path)} to begin anew"
        if content["settings"] != self._settings:
            theirs = content["settings"] if isinstance(content["settings"], dict) else {}
            unlike = [name for name in self._settings if theirs.get(name) != self._settings[name]]
            raise InputError(
                f"{self.path} belongs to a run with other options ({', '.join(unlike) or 'more of them'})",
                begin_anew,
            )
        if content["files"] != self._files:
            raise InputError(
                f"{self.path} belongs to a run over other files, or they have changed since", begin_anew
            )

    def due(self) -> bool:
        """Whether it is time to save again."""
        return time.monotonic() - self._last >= self._every

    def save(self, state: State) -> None:
        """Replace the file."""
        content = {
            "format": FORMAT,
            "schema": SCHEMA,
            "library": __version__,
            "settings": self._settings,
            "files": self._files,
            "engine": state.engine,
            "position": list(state.position),
            "skipped": dict(state.skipped),
            "groups": encode_groups(state.groups),
        }
        write_text(self.path, json.dumps(content, allow_nan=False))
        self._last = time.monotonic()

    def remove(self) -> None:
        """Delete the file when the result has been written."""
        if os.path.exists(self.path):
            os.unlink(self.path)
