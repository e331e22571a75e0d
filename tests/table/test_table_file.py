"""Saved tables: a table comes back as it was, and a file that was changed is refused."""

import json
import multiprocessing
import os
import re
import signal
import time
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from kinds_of_rows import kinds, seeds, table_of

import trueness as tn
from trueness import exact_sums
from trueness.table import Table
from trueness.today import TableOptions, read, tabulate_rows

REFUSED = {"damaged-file", "unknown-schema", "unknown-measure", "too-large", "bad-edges"}


@given(kinds, seeds)
def test_saving_and_loading_change_nothing(kind: str, seed: int) -> None:
    table = table_of(kind, seed)
    assert Table.from_dict(table.to_dict()) == table
    assert Table.from_dict(json.loads(json.dumps(table.to_dict()))) == table


@pytest.fixture
def path(tmp_path: Path) -> Path:
    table_of("groups clusters", 7).save(tmp_path / "table.json")
    return tmp_path / "table.json"


def loads(path: Path, text: str) -> Table | str:
    """The table of this text, or the code of its refusal."""
    path.write_text(text, encoding="utf-8")
    try:
        return Table.load(path)
    except tn.Refusal as refusal:
        return refusal.code


class TestDamage:
    def test_every_changed_digit_is_refused(self, path: Path) -> None:
        text = path.read_text()
        places = [found.start() for found in re.finditer(r"\d", text)]
        assert len(places) > 1000
        for at in places:
            other = str((int(text[at]) + 1 + at % 9) % 10)
            assert loads(path, text[:at] + other + text[at + 1 :]) in REFUSED, (
                at,
                text[at - 20 : at + 9],
            )

    def test_a_thousand_edits_are_refused(self, path: Path) -> None:
        text, rng = path.read_text(), np.random.default_rng(0)
        for _ in range(1000):
            at, length = rng.integers(len(text)), rng.integers(1, 12)
            some = "".join(map(chr, rng.integers(32, 127, rng.integers(0, 6))))
            changed = text[:at] + some + text[at + length :]
            if changed.strip() != text:
                assert loads(path, changed) in REFUSED, (at, length, some)

    def test_truncated_files_are_refused(self, path: Path) -> None:
        text = path.read_text()
        for end in range(0, len(text), 97):
            assert loads(path, text[:end]) in REFUSED

    @pytest.mark.parametrize(
        ("change", "code"),
        [
            ({"schema": 2}, "unknown-schema"),
            ({"format": "trueness calibration tables"}, "damaged-file"),
            ({"n_groups": 2**62}, "too-large"),
            ({"n_groups": 1}, "damaged-file"),
            ({"n_groups": "3"}, "damaged-file"),
            ({"groups": ["a"]}, "damaged-file"),
            ({"spec n_classes": 2**63}, "too-large"),
            ({"spec n_classes": -3}, "damaged-file"),
            ({"spec n_classes": 1.5}, "damaged-file"),
            ({"spec variation": "mine"}, "unknown-measure"),
            ({"spec variation": ["entropy"]}, "damaged-file"),
            ({"spec bins": None}, "damaged-file"),
            ({"spec bins": {"edges": [0, float(2**63)], "snap": None}}, "damaged-file"),
            ({"spec unknown": 1}, "damaged-file"),
            ({"sums rows": [[1]]}, "damaged-file"),
            ({"sums rows": "x"}, "damaged-file"),
            ({"sums rows": [True] * 9}, "damaged-file"),
            ({"sums square": [[0, -1]] * 3}, "damaged-file"),
            ({"sums tied_rows": [-1, 0, 0]}, "damaged-file"),
            ({"kept rows": [0, 0]}, "damaged-file"),
            ({"kept rows": [10**9]}, "damaged-file"),
            ({"parts": [[0], [0]]}, "damaged-file"),
            ({"clusters": [[1.5], None, None]}, "damaged-file"),
            ({"clusters": None}, "damaged-file"),
            ({"clusters": [[1, 2], ["a", "b"], None]}, "damaged-file"),
            ({"clusters": [[1, 2], None, "2"]}, "damaged-file"),
            ({"clusters": [[1, 2], None, 3]}, "damaged-file"),
            ({"clusters": [[1, 2], None, 2]}, "damaged-file"),
            ({"parts": [[0, 1, 2], [1, 2], [3, 3, 3]]}, "damaged-file"),
            ({"parts": [[2, 1, 0], [1, 1, 1], [3, 3, 3]]}, "damaged-file"),
            ({"by": float("nan")}, "damaged-file"),
            ({"by": 7}, "damaged-file"),
            ({"groups": ["a", "b", None]}, "damaged-file"),
            ({"groups": ["c", "b", "a"]}, "damaged-file"),
            ({"spec ties": "none"}, "damaged-file"),
            ({"spec scores": 1}, "damaged-file"),
            ({"spec classes": [0, 1, 1]}, "damaged-file"),
            ({"spec classes": [0, 1, 3]}, "damaged-file"),
            ({"spec class_names": ["a", "b"]}, "damaged-file"),
            ({"spec variation": None}, "damaged-file"),
        ],
    )
    def test_content_that_somebody_wrote_is_checked(
        self, path: Path, change: dict[str, Any], code: str
    ) -> None:
        """With a checksum that is right, so that nothing but the content tells."""
        content = json.loads(path.read_text())
        del content["crc32"]
        for place, value in change.items():
            *outer, name = place.split(" ", 1)
            inner = content[outer[0]] if outer else content
            if outer and name == "unknown":
                inner[name] = value
            inner[name] = value
        content["crc32"] = zlib.crc32(json.dumps(content).encode("ascii"))
        assert loads(path, json.dumps(content)) == code

    @pytest.mark.parametrize("kind", ["groups clusters", "options", "weights", "soft"])
    def test_sums_that_no_rows_have_are_refused(self, kind: str) -> None:
        """More than rows can add, or not as much in all bins together as there are rows."""
        table = table_of(kind, 7)
        for name, its in table.spec.fields():
            changed = exact_sums.add(table.sums[name], table.sums[name], its.bits).astype(float)
            more = -(2.0**60) if its.bits == exact_sums.LOG_SCORE_BITS else 60.0
            if not (its.dims and name.endswith(("rows", "weight"))):
                changed[(..., 0) if its.bits and not table.spec.is_float(its) else ...] += more
            kept = changed.astype(table.sums[name].dtype)
            if np.array_equal(kept, table.sums[name]) or name.endswith("_square"):
                continue
            with pytest.raises(tn.Refusal, match="is not a sum of rows"):
                Table.from_dict(replace(table, sums={**table.sums, name: kept}).to_dict())

    @pytest.mark.parametrize("kind", ["plain", "groups"])
    @pytest.mark.parametrize("which", [0, 1, 2])
    def test_parts_of_other_numbers_are_refused(self, kind: str, which: int) -> None:
        """One number of options less would be taken for that of all parts."""
        content = table_of(kind, 3).to_dict()
        content["parts"][which].pop()
        del content["crc32"]
        content["crc32"] = zlib.crc32(json.dumps(content).encode("ascii"))
        with pytest.raises(tn.Refusal, match="damaged"):
            Table.from_dict(content)

    def test_a_packed_text_that_grows_is_refused(self, path: Path) -> None:
        """Whatever a text of zeros unpacks to, no more than the header says is allocated."""
        content = json.loads(path.read_text())
        del content["crc32"]
        content["sums"]["ordered"] = "eJzt" + "A" * 5000 + "=="
        content["crc32"] = zlib.crc32(json.dumps(content).encode("ascii"))
        assert loads(path, json.dumps(content)) == "damaged-file"

    @pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '{"format": 1}', "\x00", "NaN"])
    def test_other_files_are_refused(self, path: Path, text: str) -> None:
        assert loads(path, text) == "damaged-file"


class TestPlaces:
    def test_a_report_and_a_folder_are_read(self, path: Path) -> None:
        table, text = Table.load(path), path.read_text()
        report = path.with_name("report.html")
        embedded = text.replace("</", r"<\/")
        report.write_text(
            f'<html><script type="application/json" id="table">{embedded}</script></html>'
        )
        assert Table.load(report) == table
        table.save(path.with_name("tuesday.json"))
        assert Table.load(path.parent) == table + table
        (path.parent / "empty").mkdir()
        with pytest.raises(tn.Refusal, match="holds no file"):
            Table.load(path.parent / "empty")

    def test_names_of_any_script_and_own_measures(self, tmp_path: Path) -> None:
        own = tn.Variation(
            "my_gini", lambda x: 1 - (x**2).sum(axis=-1), range=(0, 1), symmetric=True
        )
        y, p = tn.simulate.calibrated(20, [1, 1], rng=0)
        groups, clusters = ["北京", "$x_1$ & <b>"] * 10, ["\ud800 lone", "a", "b", "c"] * 5
        table = tabulate_rows(read(y, p, groups=groups, clusters=clusters), TableOptions(own))
        table.save(tmp_path / "t.json")
        assert Table.load(tmp_path / "t.json", variation=own) == table
        with pytest.raises(tn.Refusal, match="'my_gini', which is not built in"):
            Table.load(tmp_path / "t.json")

    def test_a_table_without_rows_is_saved(self) -> None:
        table = table_of("groups clusters", 7)
        empty = Table.empty(table.spec, clusters=True, by="ward")
        assert Table.from_dict(empty.to_dict()) == empty

    def test_bins_without_rows_are_left_out(self, tmp_path: Path) -> None:
        y, p = tn.simulate.calibrated(20, [1, 1, 1], rng=0)
        for n in (10, 4000):
            options = TableOptions(bins=tn.EqualWidth(n), by_class=False, confidence_bins=10)
            table = tabulate_rows(read(y, p), options)
            sums = table.to_dict()["sums"]
            assert len(sums["rows"]) <= 20
            assert Table.from_dict(table.to_dict()) == table


def save_again_and_again(path: str) -> None:
    tables = [table_of("groups clusters", seed) for seed in range(2)]
    while True:
        for table in tables:
            table.save(path)


def test_a_killed_process_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    known = [table_of("groups clusters", seed) for seed in range(2)]
    known[0].save(path)
    context = multiprocessing.get_context("spawn" if os.name == "nt" else "fork")
    for attempt in range(20):
        process = context.Process(target=save_again_and_again, args=(str(path),))
        process.start()
        time.sleep(0.05 + 0.003 * attempt)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        assert Table.load(path) in known
