"""States of monitors: whole or not at all, read suspiciously, and never replaced where looks would be lost."""

import contextlib
import copy
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from monitored import NO_ROWS, REFERENCE, T1, T2, T3, stream, watched

import trueness as tn
from trueness.monitoring import state_content
from trueness.monitoring.lock import locked


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "watch.monitor"


def events_of(seed: int) -> list[Any]:
    y_true, y_prob = tn.simulate.calibrated(100, [1, 1, 1], rng=seed)
    return [tn.tabulate(y_true, y_prob), tn.tabulate_events(y_true, y_prob)]


def grouped() -> tn.Monitor:
    monitor = tn.Monitor()
    monitor.update({"a": T1, "b": T2}, at=1)
    monitor.update({"b": T2}, at=2)
    return monitor


MONITORS: dict[str, Callable[[], tn.Monitor]] = {
    "plain": lambda: watched([T1, NO_ROWS, T2]),
    "tolerance": lambda: watched([T1, T2], tolerance=0.02, alpha=0.01),
    "reference": lambda: watched([T3], reference=REFERENCE),
    "groups": grouped,
    "events": lambda: watched([events_of(1), events_of(2)]),  # type: ignore[list-item]
    "look": lambda: watched([T1], dependence="look"),
    "run": lambda: watched([T1], average_run=50),
    "bins": lambda: watched(stream(2), bins=tn.EqualMass(3)),
    "edges": lambda: watched(stream(2), bins=tn.Edges([0, 0.5, 1])),
    "restarted": lambda: watched([T1]).restarted("2026-01-01"),
    "no looks": tn.Monitor,
    "weights": lambda: watched(
        [tn.tabulate([0, 1], [[0.8, 0.2]] * 2, sample_weight=[1, 2])], max_weight=2, max_cluster=3
    ),
}


class TestRoundTrip:
    @pytest.mark.parametrize("name", MONITORS)
    def test_loaded_is_saved(self, name: str, path: Path) -> None:
        monitor = MONITORS[name]()
        monitor.save(path)
        loaded = tn.Monitor.load(path)
        assert loaded == monitor
        assert loaded.looks == monitor.looks or math.isnan(monitor.looks[1].gap)
        assert loaded.log_e_value == monitor.log_e_value
        assert loaded.settings.difference(monitor.settings) is None
        assert str(loaded) == str(monitor)

    def test_going_on_after_loading_is_going_on(self, path: Path) -> None:
        looks = stream(6, exponent=1.3)
        whole = watched(looks)
        watched(looks[:3]).save(path)
        loaded = tn.Monitor.load(path)
        for k, table in enumerate(looks[3:], 4):
            loaded.update(table, at=k)
        assert loaded.looks == whole.looks
        assert loaded.alarm == whole.alarm

    def test_the_format(self, path: Path) -> None:
        watched([T1]).save(path)
        content = json.loads(path.read_text())
        assert (content["format"], content["schema"]) == ("trueness monitor", 2)
        assert set(content["looks"][0]) == {"at", "table", "log_e", "late"}
        assert tn.CalibrationTable.from_dict(content["looks"][0]["table"]) == T1

    def test_bets_that_lost_everything_are_saved(self, path: Path) -> None:
        table = tn.tabulate([0] * 10, [[0.8, 0.2]] * 10)
        monitor = watched([table], dependence="look")
        monitor.save(path)
        assert tn.Monitor.load(path).log_e_value == monitor.log_e_value

    def test_a_measure_of_your_own(self, path: Path) -> None:
        measure = tn.tsallis(3.5)
        table = tn.tabulate([0, 1] * 20, [[0.8, 0.2]] * 40, variation=measure)
        monitor = watched([table])
        monitor.save(path)
        assert tn.Monitor.load(path, variation=measure) == monitor


class TestCache:
    def test_values_of_another_version_are_computed_again(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monitor = watched([T1, T2])
        monitor.save(path)
        monkeypatch.setattr(state_content, "PRESET", 2)
        assert tn.Monitor.load(path).log_e_value == monitor.log_e_value

    @pytest.mark.parametrize(
        "cache",
        [
            None,
            5,
            [],
            {},
            {"preset": 1, "digest": "x", "values": {"": "AAAA"}},
            {"preset": 1, "values": {"": 7}},
        ],
    )
    def test_a_damaged_cache_is_computed_again(self, cache: object, path: Path) -> None:
        monitor = watched([T1, T2])
        monitor.save(path)
        content = json.loads(path.read_text())
        content["looks"][0]["log_e"] = cache
        path.write_text(json.dumps(content))
        assert tn.Monitor.load(path).log_e_value == monitor.log_e_value

    def test_values_of_other_tables_are_not_used(self, path: Path) -> None:
        watched([T1, T2]).save(path)
        content = json.loads(path.read_text())
        first, second = content["looks"]
        first["table"], second["table"] = second["table"], first["table"]
        path.write_text(json.dumps(content))
        assert tn.Monitor.load(path).log_e_value == watched([T2, T1]).log_e_value


def _set(*keys_and_value: Any) -> Callable[[Any], None]:
    *keys, last, value = keys_and_value

    def edit(content: Any) -> None:
        for key in keys:
            content = content[key]
        content[last] = value

    return edit


def _delete(*keys: Any) -> Callable[[Any], None]:
    *first, last = keys

    def edit(content: Any) -> None:
        for key in first:
            content = content[key]
        del content[last]

    return edit


EDITS: dict[str, Callable[[Any], None]] = {
    "another format": _set("format", "trueness calibration tables"),
    "a newer schema": _set("schema", 3),
    "a schema that is a boolean": _set("schema", True),
    "no settings": _delete("settings"),
    "settings that are a list": _set("settings", []),
    "a setting missing": _delete("settings", "alpha"),
    "another setting": _set("settings", "secret", 1),
    "alpha 2": _set("settings", "alpha", 2),
    "alpha a string": _set("settings", "alpha", "0.05"),
    "tolerance null": _set("settings", "tolerance", None),
    "max_cluster a million digits": _set("settings", "max_cluster", -(10**50)),
    "bins unknown": _set("settings", "bins", {"pickle": 3}),
    "bins a number": _set("settings", "bins", 3),
    "bins too many": _set("settings", "bins", {"equal_width": 10**12}),
    "restarted a number": _set("settings", "restarted", 3),
    "reference a number": _set("settings", "reference", 3),
    "reference without groups": _set("settings", "reference", {"groups": {}}),
    "looks an object": _set("looks", {}),
    "a look that is null": _set("looks", 0, None),
    "a look without a name": _delete("looks", 0, "at"),
    "a name that is a number": _set("looks", 0, "at", 7),
    "a name that is empty": _set("looks", 0, "at", ""),
    "a name that writes to the terminal": _set("looks", 0, "at", "\x1b[31m"),
    "late a number": _set("looks", 0, "late", 0),
    "two looks of one name": _set("looks", 1, "at", "1"),
    "a table that is a list": _set("looks", 0, "table", []),
    "a table of nothing": _set("looks", 0, "table", {}),
    "three tables": _set("looks", 0, "table", {"tables": [{}, {}, {}]}),
    "no tables": _set("looks", 0, "table", {"tables": []}),
    "groups in one look only": _set("looks", 0, "table", {"groups": {"a": {}}}),
    "a negative count": _set("looks", 0, "table", "sums", "rows", 1, -10),
    "another number of rows": _set("looks", 0, "table", "n_rows", 11),
    "an unknown measure": _set("looks", 0, "table", "spec", "variation", "os.system"),
    "a huge spec": _set("looks", 0, "table", "spec", "n_classes", 10**9),
}


class TestHostileFiles:
    @pytest.mark.parametrize("name", EDITS)
    def test_every_damage_is_refused_with_the_name_of_the_file(self, name: str, path: Path) -> None:
        monitor = watched([T1, T2])
        monitor.save(path)
        content = copy.deepcopy(json.loads(path.read_text()))
        EDITS[name](content)
        path.write_text(json.dumps(content))
        with pytest.raises(tn.Refusal, match=r"watch\.monitor") as refused:
            tn.Monitor.load(path)
        assert "\x1b" not in str(refused.value)

    @pytest.mark.parametrize(
        "text",
        ["", "[", "null", "7", '"x"', "[" * 10_000, '{"format": "trueness monitor", "schema": NaN}', "\x00"],
    )
    def test_other_texts_are_refused(self, text: str, path: Path) -> None:
        path.write_text(text)
        with pytest.raises(tn.Refusal, match=r"watch\.monitor"):
            tn.Monitor.load(path)

    def test_bytes_that_are_no_text_are_refused(self, path: Path) -> None:
        path.write_bytes(b"\xff\xfe\x00")
        with pytest.raises(tn.Refusal, match=r"watch\.monitor"):
            tn.Monitor.load(path)

    def test_a_file_cut_anywhere_is_refused(self, path: Path) -> None:
        watched([T1]).save(path)
        text = path.read_text()
        for length in range(0, len(text) - 1, max(1, len(text) // 40)):
            path.write_text(text[:length])
            with pytest.raises(tn.Refusal):
                tn.Monitor.load(path)

    def test_a_missing_file(self, path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            tn.Monitor.load(path)


class TestNothingIsLost:
    def test_looks_that_another_process_saved_are_not_replaced(self, path: Path) -> None:
        watched([T1]).save(path)
        mine, theirs = tn.Monitor.load(path), tn.Monitor.load(path)
        theirs.update(T2, at=2)
        theirs.save(path)
        mine.update(T2, at=3)
        with pytest.raises(ValueError, match="has other looks than this monitor began with"):
            mine.save(path)
        assert tn.Monitor.load(path) == theirs
        merged = theirs + mine
        merged.save(path)
        assert [look.at for look in tn.Monitor.load(path).looks] == ["1", "2", "3"]

    def test_a_monitor_with_other_settings_is_not_replaced_unless_asked(self, path: Path) -> None:
        watched([T1]).save(path)
        fresh = watched([T1], alpha=0.01)
        with pytest.raises(ValueError, match="has other settings than this monitor"):
            fresh.save(path)
        fresh.save(path, overwrite=True)
        assert tn.Monitor.load(path) == fresh

    def test_a_file_of_something_else_is_not_replaced(self, path: Path) -> None:
        T1.save(path)
        with pytest.raises(ValueError, match="is not the state of a monitor"):
            watched([T1]).save(path)
        assert tn.CalibrationTable.load(path) == T1

    def test_a_lock_that_is_held_is_waited_for_and_then_refused(self, path: Path) -> None:
        with locked(str(path)), pytest.raises(ValueError, match="is in use by another process"):  # noqa: SIM117
            with locked(str(path), wait=0.2):
                pass

    def test_open_begins_continues_and_refuses_other_settings(self, path: Path) -> None:
        with tn.Monitor.open(path, alpha=0.05, tolerance=0) as monitor:
            monitor.update(T1, at=1)
        with tn.Monitor.open(path) as monitor:
            monitor.update(T2, at=2)
        assert tn.Monitor.load(path).log_e_value == watched([T1, T2]).log_e_value
        other = tn.Monitor.open(path, alpha=0.01, tolerance=0)
        with pytest.raises(ValueError, match=r"begun with other settings: alpha differs: 0\.05 and 0\.01"):
            other.__enter__()

    def test_open_writes_nothing_after_an_error(self, path: Path) -> None:
        watched([T1]).save(path)
        with contextlib.suppress(ZeroDivisionError), tn.Monitor.open(path) as monitor:
            monitor.update(T2, at=2)
            raise ZeroDivisionError
        assert len(tn.Monitor.load(path).looks) == 1
        assert [name for name in os.listdir(path.parent) if "trueness-" in name] == []
