"""A monitor as a file of versioned JSON: its settings and its looks.

Read as suspiciously as tables are. The values of the bets are a cache with a digest of what they were computed from;
if it does not match, or the bets have changed since, they are computed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from trueness import _json
from trueness._version import __version__
from trueness.atomic_files import write_text
from trueness.monitoring import state_content
from trueness.monitoring.lock import locked
from trueness.refusals import InvalidValueError, Refusal, reason_of
from trueness.variation import Variation

if TYPE_CHECKING:
    from trueness.monitoring.monitor import Monitor

    AnyMonitor = TypeVar("AnyMonitor", bound=Monitor)

FORMAT = "trueness monitor"
SCHEMA = 2

PAGES = (".html", ".htm")
_IN_PAGE = re.compile('<script type="application/json" id="trueness-monitor">(.*?)</script>', re.DOTALL)


def text_of(monitor: Monitor, *, with_values: bool = True) -> str:
    """The state as JSON; without the values of the bets, they are computed again when it is read."""
    settings = state_content.encode_settings(monitor.settings)
    looks = [
        state_content.encode_entry(entry if with_values else replace(entry, log_bets={}), settings)
        for entry in monitor.entries
    ]
    head = {"format": FORMAT, "schema": SCHEMA, "library": __version__, "settings": settings}
    return json.dumps({**head, "looks": looks}, allow_nan=False, separators=(",", ":"))


def save(monitor: Monitor, path: str, *, overwrite: bool) -> None:
    """Write a monitor atomically; a file with looks that it lacks is not replaced."""
    with locked(path):
        if not overwrite and os.path.exists(path) and not _is_as_it_was(monitor, path):
            _require_continued(monitor, path)
        write(monitor, path)


def write(monitor: Monitor, path: str) -> None:
    """Write a monitor whose path is locked."""
    text = text_of(monitor)
    write_text(path, text)
    monitor.saved[os.path.realpath(path)] = _digest(text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _is_as_it_was(monitor: Monitor, path: str) -> bool:
    """Whether a file is still what this monitor was read from or written to."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return monitor.saved.get(os.path.realpath(path)) == _digest(file.read())


def _require_continued(monitor: Monitor, path: str) -> None:
    """Refuse to replace a file whose looks are not the first ones of this monitor."""
    saved = load(type(monitor), path, _variation_of(monitor))
    count = len(saved.entries)
    mine = [(entry.at, entry.tables) for entry in monitor.entries[:count]]
    same = saved.settings.difference(monitor.settings) is None
    if not same or mine != [(entry.at, entry.tables) for entry in saved.entries]:
        cause = f"{path} has " + (
            "other looks than this monitor began with" if same else "other settings than this monitor"
        )
        remedy = "load it and add what is new, or pass overwrite=True to replace it"
        raise InvalidValueError("changed-state", cause, remedy, argument="path")


def _variation_of(monitor: Monitor) -> Variation | None:
    return None if monitor.table is None else monitor.table.spec.variation


def load(kind: type[AnyMonitor], path: str, variation: Variation | None = None) -> AnyMonitor:
    """The monitor of a file; refused with the file's name if anything in it cannot be right."""
    with open(path, encoding="utf-8") as file:
        try:
            text = file.read()
            content = _json.parse(_state_in(text) if path.lower().endswith(PAGES) else text)
        except ValueError as error:
            raise damaged(path, reason_of(error, 120)) from error
    monitor = from_content(kind, content, path, variation)
    monitor.saved[os.path.realpath(path)] = _digest(text)
    return monitor


def _state_in(page: str) -> str:
    """The state that a page contains."""
    found = _IN_PAGE.search(page)
    if found is None:
        raise ValueError("the page contains no state")
    return found[1]


def from_content(
    kind: type[AnyMonitor], content: Any, path: str, variation: Variation | None = None
) -> AnyMonitor:
    """The monitor of parsed JSON."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise damaged(path, "it is JSON, but not the state of a monitor")
    if content.get("schema") != SCHEMA:
        value = content.get("schema")
        cause = f"{path} has schema {value!r}, and this version reads {SCHEMA}"
        remedy = "use a newer version of trueness"
        raise InvalidValueError("unknown-schema", cause, remedy, value=value)
    try:
        settings = state_content.decode_settings(content.get("settings"), variation)
        monitor = kind.of_settings(settings)
        for entry in state_content.decode_entries(content, variation):
            monitor.count(entry)
    except Refusal as error:
        raise error if error.source is not None else error.with_facts(source=path) from error
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise damaged(path, reason_of(error, 120)) from error
    return monitor


def damaged(path: str, reason: str) -> InvalidValueError:
    """The refusal of a file that is not the state of a monitor."""
    cause = f"{path} is not the state of a monitor: {reason}"
    remedy = "name a file that Monitor.save or trueness monitor wrote"
    return InvalidValueError("damaged-file", cause, remedy)


@contextmanager
def opened(
    kind: type[AnyMonitor], path: str, settings: Any, variation: Variation | None = None
) -> Iterator[AnyMonitor]:
    """The monitor of a file, or a new one, written at the end; other processes wait.

    `settings` are those of a new monitor; those of the file must be equal.
    """
    with locked(path):
        if os.path.exists(path):
            monitor = load(kind, path, variation)
            _require_settings(monitor, settings, path)
        else:
            monitor = kind.of_settings(settings)
        yield monitor
        write(monitor, path)


def _require_settings(monitor: Monitor, settings: Any, path: str) -> None:
    difference = None if settings is None else monitor.settings.difference(settings)
    if difference is not None:
        raise InvalidValueError(
            "different-settings",
            f"{path} was begun with other settings: {difference}",
            "settings cannot change after the first look; another monitor needs a file of its own",
        )
