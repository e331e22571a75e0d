"""Corners of the command that need no process of their own: gates, interruptions, progress, odd outputs."""

import io
import json
import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness._whole_file import write_text, written_whole
from trueness.cli import main
from trueness.files import InputError, check_outputs, find_inputs, load_tables
from trueness.files.source import read_ahead
from trueness.refusals import Refusal

pytestmark = pytest.mark.cli


@pytest.fixture
def npz(tmp_path: Path) -> str:
    """An over-confident model."""
    y_true, y_prob = tn.simulate.calibrated(3000, [5, 1, 1], rng=0)
    path = tmp_path / "x.npz"
    np.savez(path, y_true=y_true, y_prob=tn.simulate.sharpen(y_prob, 1.5), site=np.arange(3000) % 2)
    return str(path)


class TestGate:
    @pytest.mark.parametrize(
        ("options", "code"),
        [
            ("--fail-above 0.05", 1),
            ("--fail-above 0.9", 0),
            ("--fail-below-p 0.01", 1),
            ("--fail-below-p 0.01 --by site", 1),
            ("--fail-below-p 0.001 --resamples 100", 1),
            ("--fail-above vce=.9,ece=.9,rce=.9,net=.9", 0),
            ("--fail-above vce=.9,ece=.01", 1),
            ("--fail-above RCE=.01", 1),
            ("--fail-above net=.01 --surely", 1),
            ("--fail-above 0.16", 1),
            ("--fail-above 0.16 --surely", 0),
            ("--fail-above vcx=.1", 2),
            ("--fail-above vce=.1,vce=.2", 2),
            ("--fail-above vce=", 2),
            ("--fail-above .1,.2", 2),
            ("--fail-above =.5", 2),
            ("--level .9999", 2),
            ("--resamples 10", 2),
            ("--surely", 2),
            ("--tolerance x", 2),
            ("--tolerance vce=.1,ece=.1", 0),
            ("--fail-below-p 1e-6", 2),
            ("--fail-below-p 0", 2),
        ],
    )
    def test_exit_codes(self, npz: str, options: str, code: int, capsys: Any) -> None:
        assert main(["assess", npz, *options.split()]) == code
        told = capsys.readouterr().err
        assert ("gate failed" in told) == (code == 1)

    def test_a_gate_at_a_small_limit_can_fail(self, npz: str, capsys: Any) -> None:
        """By default 999 draws: their smallest p-value is 0.001, and a gate at 0.0001 would never fail."""
        assert main(["assess", npz, "--fail-below-p", "0.0001"]) == 1
        assert main(["assess", npz, "--fail-below-p", "0.0001", "--by", "site"]) == 1
        assert "gate failed: group '1'" in capsys.readouterr().err

    def test_a_model_that_is_forty_points_off_fails(self, tmp_path: Path, capsys: Any) -> None:
        """p = .3 where the rate is .7: VCE is blind to exchanged ranks, the gate is not."""
        path = tmp_path / "off.npz"
        np.savez(
            path, y_true=(np.arange(20_000) % 10 < 7).astype(int), y_prob=np.tile([0.7, 0.3], (20_000, 1))
        )
        assert main(["assess", str(path), "--fail-below-p", ".001", "--fail-above", ".05"]) == 1
        assert "all rows: p = " in capsys.readouterr().err
        assert main(["assess", str(path), "--fail-above", "vce=.05,ece=.05,rce=.05"]) == 1
        told = capsys.readouterr().err
        assert "debiased ECE 0.4 is above 0.05" in told
        assert "debiased RCE 0.4 is above 0.05" in told

    def test_a_gate_that_cannot_be_decided_fails(self, tmp_path: Path, capsys: Any) -> None:
        """Sixty groups at 1e-5 need more draws than there can be; no draw reached the wrong one."""
        y_true, y_prob = tn.simulate.calibrated(6000, [1.0, 1.0], rng=0)
        y_prob[:100] = 0.98 * np.eye(2)[1 - y_true[:100]] + 0.01
        path = tmp_path / "groups.npz"
        np.savez(path, y_true=y_true, y_prob=y_prob, g=np.repeat(np.arange(60), 100))
        assert main(["assess", str(path), "--by", "g", "--bins", "2", "--fail-below-p", "1e-5"]) == 1
        assert "gate failed: " in capsys.readouterr().err

    def test_nothing_is_written_where_a_limit_is_about_a_missing_metric(
        self, npz: str, tmp_path: Path
    ) -> None:
        arrays = np.load(npz)
        saved, out = tmp_path / "t.json", tmp_path / "r.json"
        tn.tabulate(arrays["y_true"], arrays["y_prob"]).save(saved)
        assert main(["assess", str(saved), "--fail-above", "ece=.5", "--json", str(out)]) == 2
        assert not out.exists()

    def test_what_failed_is_named(self, npz: str, capsys: Any) -> None:
        main(["assess", npz, "--fail-above", "net=.01,ece=.01", "--surely"])
        told = capsys.readouterr().err
        assert "lower end of net gap" in told
        assert "lower end of ECE" in told

    def test_tables_without_ece(self, npz: str, tmp_path: Path, capsys: Any) -> None:
        arrays = np.load(npz)
        saved = tmp_path / "t.json"
        tn.tabulate(arrays["y_true"], arrays["y_prob"]).save(saved)
        assert main(["assess", str(saved), "--fail-above", "ece=.5"]) == 2
        assert "these tables have no ECE" in capsys.readouterr().err


class TestStopping:
    def test_what_is_said_depends_on_the_checkpoint(
        self, npz: str, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def stop(*_: Any, **__: Any) -> Any:
            raise KeyboardInterrupt

        monkeypatch.setattr("trueness.files.sum_source", stop)
        out, kept = str(tmp_path / "t.json"), str(tmp_path / "c")
        assert main(["tabulate", npz, "-o", out]) == 130
        assert "with --checkpoint FILE it could go on" in capsys.readouterr().err
        assert main(["tabulate", npz, "-o", out, "--checkpoint", kept]) == 130
        assert "no sums were kept yet" in capsys.readouterr().err

        def stop_later(*_: Any, **__: Any) -> Any:
            Path(kept).touch()
            raise KeyboardInterrupt

        monkeypatch.setattr("trueness.cli._running.checkpoint_of", lambda *_, **__: Namespace(path=kept))
        monkeypatch.setattr("trueness.files.sum_source", stop_later)
        assert main(["tabulate", npz, "-o", out, "--checkpoint", kept]) == 130
        assert f"the sums so far are in {kept}" in capsys.readouterr().err
        monkeypatch.setattr("trueness.cli.demo.run", stop)
        assert main(["demo"]) == 130
        assert "begin again" in capsys.readouterr().err

    def test_checkpoints_go_when_the_result_is_there(self, npz: str, tmp_path: Path, capsys: Any) -> None:
        kept = tmp_path / "c"
        options = ["--checkpoint", str(kept), "--checkpoint-every", "0"]
        for command in (["tabulate", npz, "-o", str(tmp_path / "t")], ["assess", npz], ["bins", npz]):
            assert main([*command, *options]) == 0
            assert not kept.exists()
        kept.write_text("{}")
        assert main(["tabulate", npz, "-o", str(tmp_path / "t"), *options]) == 2
        assert "not a checkpoint" in capsys.readouterr().err

    def test_a_thread_that_reads_ahead_ends_with_its_reader(self) -> None:
        made: list[int] = []

        def items() -> Any:
            for number in range(1000):
                made.append(number)
                yield number

        ahead = read_ahead(items())
        assert next(ahead) == 0
        ahead.close()
        assert len(made) < 10

    def test_a_thread_that_waits_for_input_is_left_behind(self) -> None:
        released = Event()

        def items() -> Any:
            yield 1
            released.wait()

        ahead = read_ahead(items())
        assert next(ahead) == 1
        begun = time.monotonic()
        ahead.close()
        assert not released.is_set()
        assert time.monotonic() - begun < 1
        released.set()

    def test_its_error_comes_in_its_place(self) -> None:
        def items() -> Any:
            yield 1
            raise InputError("here", "there")

        ahead = read_ahead(items())
        assert next(ahead) == 1
        with pytest.raises(InputError, match="here; there"):
            next(ahead)


class TestProgress:
    def test_a_bar_on_a_terminal(self, npz: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        class Terminal(io.StringIO):
            def isatty(self) -> bool:
                return True

        monkeypatch.setattr("trueness._progress.APPEARS_AFTER", 0.0)
        monkeypatch.setattr(sys, "stderr", Terminal())
        assert main(["tabulate", npz, "-o", str(tmp_path / "t.json")]) == 0
        assert "%|" in sys.stderr.getvalue()  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "tqdm", None)
        monkeypatch.setattr(sys, "stderr", Terminal())
        assert main(["tabulate", npz, "-o", str(tmp_path / "t.json")]) == 0
        assert "%|" not in sys.stderr.getvalue()  # type: ignore[attr-defined]

    def test_rows_left_out_are_told(self, tmp_path: Path, capsys: Any) -> None:
        np.savez(tmp_path / "x.npz", y_true=[0, 1, 7], y_prob=[[0.5, 0.5], [0.9, 0.9], [0.5, 0.5]])
        arguments = ["tabulate", str(tmp_path / "x.npz"), "--on-bad-rows", "skip", "-o", str(tmp_path / "t")]
        assert main(arguments) == 0
        told = capsys.readouterr().err.splitlines()[-3:]
        assert told[0] == "left out 2 of 3 rows:"
        assert sorted(told[1:]) == ["  1 labels out of range", "  1 probabilities that do not sum to 1"]

    def test_files_of_unknown_endings_are_told(self, npz: str, tmp_path: Path, capsys: Any) -> None:
        (tmp_path / "notes.txt").write_text("hello")
        assert main(["assess", str(tmp_path)]) == 0
        assert "1 files in the folders" in capsys.readouterr().err


class TestOutput:
    def test_what_fails_leaves_nothing(self, tmp_path: Path) -> None:
        path = tmp_path / "t"
        path.write_text("before")

        def write() -> None:
            with written_whole(str(path)) as beside:
                Path(beside).write_text("half")
                raise OSError("the disk is full")

        with pytest.raises(OSError, match="full"):
            write()
        assert path.read_text() == "before"
        assert list(tmp_path.iterdir()) == [path]

    def test_a_pipe_is_written_to(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        write_text(str(pipe), "hello")
        assert os.read(end, 10) == b"hello"
        os.close(end)
        assert pipe.is_fifo()

    def test_a_folder_that_cannot_be_written_to(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            os, "access", lambda *_: False
        )  # whoever runs the tests may be allowed everything
        with pytest.raises(Refusal, match="cannot be written to"):
            check_outputs([str(tmp_path / "t")])

    def test_errors_of_the_system_in_two_lines(
        self, npz: str, tmp_path: Path, monkeypatch: Any, capsys: Any
    ) -> None:
        for error, told in (
            (PermissionError(13, "Permission denied", "x.npz"), "x.npz: Permission denied"),
            (MemoryError(), "not enough memory"),
            (InputError("cause", "remedy"), "cause\n  remedy"),
        ):

            def fail(*_: Any, error: Exception = error, **__: Any) -> Any:
                raise error

            monkeypatch.setattr("trueness.files.sum_source", fail)
            assert main(["tabulate", npz, "-o", str(tmp_path / "t")]) == 2
            assert told in capsys.readouterr().err

    def test_debug(self, tmp_path: Path, capsys: Any) -> None:
        assert main(["tabulate", str(tmp_path / "none.csv"), "-o", str(tmp_path / "t"), "--debug"]) == 2
        told = capsys.readouterr().err
        assert told.startswith("Traceback")
        assert told.splitlines()[-2].startswith("trueness tabulate: there is no file")

    def test_a_read_only_file_is_not_replaced(self, npz: str, tmp_path: Path, capsys: Any) -> None:
        """Also by an administrator, whom permissions do not stop."""
        path = tmp_path / "t.json"
        path.write_text("before")
        path.chmod(0o444)
        assert main(["tabulate", npz, "-o", str(path)]) == 2
        assert "is read-only" in capsys.readouterr().err
        with pytest.raises(PermissionError, match="read-only"):
            write_text(str(path), "after")
        assert path.read_text() == "before"
        assert sorted(os.listdir(tmp_path)) == ["t.json", "x.npz"]

    def test_outputs_are_on_the_disk_before_they_have_their_name(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The file, then the name, then the folder: after a power failure there is the old file or all of the new."""
        path, done = tmp_path / "t", list[str]()
        fsync, replace = os.fsync, os.replace

        def flush(handle: int) -> None:
            is_folder = os.fstat(handle).st_ino == os.stat(tmp_path).st_ino
            done.append("folder" if is_folder else f"file of {os.fstat(handle).st_size} bytes")
            fsync(handle)

        def rename(*names: Any) -> None:
            done.append("rename")
            replace(*names)

        monkeypatch.setattr(os, "fsync", flush)
        monkeypatch.setattr(os, "replace", rename)
        write_text(str(path), "hello")
        assert done == ["file of 5 bytes", "rename", "folder"]


class TestNoInputIsOverwritten:
    """By identity of the file: the same name, another spelling, a link, a link of the file system."""

    @pytest.fixture(params=["name", "spelling", "link", "hard link"])
    def alias(self, request: pytest.FixtureRequest, tmp_path: Path) -> Any:
        def other_name(path: Any) -> str:
            name = tmp_path / "other-name"
            if request.param == "link":
                name.symlink_to(path)
            elif request.param == "hard link":
                name.hardlink_to(path)
            elif request.param == "spelling":
                return os.path.join(os.path.dirname(path), ".", os.path.basename(path))
            return str(path if request.param == "name" else name)

        return other_name

    @pytest.mark.parametrize(
        ("command", "target"),
        [
            ("assess {table} --json", "table"),
            ("assess {table} --report", "table"),
            ("assess {table} --table-out", "table"),
            ("assess {report} --report", "report"),
            ("assess {npz} --json", "npz"),
            ("assess {npz} --checkpoint", "npz"),
            ("assess {npy} --label-file {labels} --table-out", "labels"),
            ("assess {npy} --label-file {labels} --report", "labels"),
            ("assess {npy} --label-file {labels} --checkpoint", "labels"),
            ("tabulate {npy} --label-file {labels} -o", "labels"),
            ("tabulate {npz} -o", "npz"),
            ("bins {table} --json", "table"),
            ("bins {npy} --label-file {labels} --json", "labels"),
            ("merge {table} {more} -o", "table"),
            ("merge {table} {more} -o", "more"),
            ("compare {npz} {second} --json", "second"),
            ("compare {npy} {npy2} --label-file {labels} --json", "labels"),
        ],
    )
    def test_refused_and_left_as_it_was(
        self, npz: str, tmp_path: Path, *, alias: Any, command: str, target: str, capsys: Any
    ) -> None:
        paths = {name: str(tmp_path / name) for name in ("labels", "npy", "npy2", "second", "table", "more")}
        paths = {name: f"{path}{_ENDINGS[name]}" for name, path in paths.items()} | {"npz": npz}
        paths["report"] = str(tmp_path / "report.html")
        with np.load(npz) as arrays:
            np.save(paths["labels"], arrays["y_true"])
            np.save(paths["npy"], arrays["y_prob"])
            np.save(paths["npy2"], arrays["y_prob"])
        Path(paths["second"]).write_bytes(Path(npz).read_bytes())
        assert main(["tabulate", npz, "-o", paths["table"]]) == 0
        assert main(["tabulate", npz, "-o", paths["more"]]) == 0
        if target == "report":
            assert main(["assess", paths["table"], "--report", paths["report"], "--resamples", "39"]) == 0
        before = Path(paths[target]).read_bytes()
        assert main([*command.format(**paths).split(), alias(paths[target])]) == 2
        assert "is read and would be overwritten" in capsys.readouterr().err
        assert Path(paths[target]).read_bytes() == before

    @pytest.mark.parametrize(
        ("one", "two"), [("--json", "--report"), ("--table-out", "--json"), ("--report", "--checkpoint")]
    )
    def test_two_results_are_not_one_file(
        self, npz: str, tmp_path: Path, *, alias: Any, one: str, two: str, capsys: Any
    ) -> None:
        first = tmp_path / "result"
        first.write_text("before")
        assert main(["assess", npz, one, str(first), two, alias(first)]) == 2
        assert "named for two results" in capsys.readouterr().err
        assert first.read_text() == "before"

    def test_two_results_that_do_not_exist_yet(self, npz: str, tmp_path: Path, capsys: Any) -> None:
        (tmp_path / "link").symlink_to(tmp_path / "result")
        arguments = ["--json", str(tmp_path / "result"), "--report", str(tmp_path / "link")]
        assert main(["assess", npz, *arguments]) == 2
        assert "which is the same file, is named for two results" in capsys.readouterr().err
        assert main(["assess", npz, "--json", os.devnull, "--report", os.devnull]) == 0


_ENDINGS = {
    "labels": ".npy",
    "npy": ".npy",
    "npy2": ".npy",
    "second": ".npz",
    "table": ".json",
    "more": ".json",
}


def test_standard_input_in_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    class Standard:
        def __init__(self, data: bytes) -> None:
            self.buffer = io.BytesIO(data)

    rows = "y,p_0,p_1\n" + "0,0.25,0.75\n" * 50
    monkeypatch.setattr(sys, "stdin", Standard(rows.encode()))
    out = str(tmp_path / "t.json")
    assert main(["tabulate", "-", "-o", out]) == 0
    assert load_tables(out).whole.by_variation == tn.tabulate([0] * 50, [[0.25, 0.75]] * 50)
    monkeypatch.setattr(sys, "stdin", Standard(b'{"y": 0, "p": [0.25, 0.75]}\n' * 50))
    assert main(["tabulate", "-", "-o", out]) == 0
    assert load_tables(out).whole.by_variation == tn.tabulate([0] * 50, [[0.25, 0.75]] * 50)
    for options, told in (
        (["--equal-mass", "3", "--exact"], "can be read only once"),
        (["--checkpoint", str(tmp_path / "c")], "cannot be read again"),
    ):
        monkeypatch.setattr(sys, "stdin", Standard(rows.encode()))
        assert main(["tabulate", "-", "-o", out, *options]) == 2
        assert told in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", Standard(rows.encode()))
    np.savez(tmp_path / "x.npz", y_true=[0] * 50, y_prob=[[0.5, 0.5]] * 50)
    assert main(["compare", "-", str(tmp_path / "x.npz"), "--equal-mass", "3"]) == 2
    assert "two passes" in capsys.readouterr().err


def test_odd_archives(tmp_path: Path) -> None:
    import zipfile

    from trueness.files import Request, RowOptions, Source

    def refused(name: str) -> str:
        with pytest.raises(Refusal) as caught:
            Source(find_inputs([str(tmp_path / name)]).files, Request(), RowOptions())
        return str(caught.value)

    with zipfile.ZipFile(tmp_path / "none.npz", "w") as archive:
        archive.writestr("read.me", "nothing")
    assert "holds no arrays" in refused("none.npz")
    np.savez(tmp_path / "more.npz", y_true=[0], y_prob=[[0.5, 0.5]])
    with zipfile.ZipFile(tmp_path / "more.npz", "a") as archive:
        archive.writestr("read.me", "more")
    assert "something else than arrays" in refused("more.npz")
    np.savez(tmp_path / "odd.npz", a=np.array([None], object))
    assert "pickle" in refused("odd.npz")


class TestOptionsThatWouldDoNothing:
    """What cannot be done is refused before a file is read or written, and never left out in silence."""

    @pytest.mark.parametrize(
        ("options", "cause"),
        [
            ("--where site=1", "--where is about rows"),
            ("--weight w", "--weight is about rows"),
            ("--probs p_*", "--probs is about rows"),
            ("--on-bad-rows skip", "--on-bad-rows is about rows"),
            ("--variation iqv", "--variation is about rows"),
            ("--by ward", "made by 'site'"),
        ],
    )
    def test_rows_of_saved_tables(
        self, npz: str, tmp_path: Path, options: str, cause: str, capsys: Any
    ) -> None:
        saved = str(tmp_path / "t.json")
        assert main(["tabulate", npz, "--by", "site", "-o", saved]) == 0
        assert main(["assess", saved, *options.split()]) == 2
        assert cause in capsys.readouterr().err
        if "--by" not in options:
            assert main(["bins", saved, *options.split()]) == 2

    def test_groups_of_saved_tables(self, npz: str, tmp_path: Path, capsys: Any) -> None:
        plain, grouped = str(tmp_path / "t.json"), str(tmp_path / "g.json")
        assert main(["tabulate", npz, "-o", plain]) == 0
        assert main(["tabulate", npz, "--by", "site", "-o", grouped]) == 0
        assert main(["assess", plain, "--by", "site"]) == 2
        assert "made without groups" in capsys.readouterr().err
        assert main(["assess", grouped, "--by", "site"]) == 0
        assert main(["merge", plain, grouped, "-o", str(tmp_path / "m.json")]) == 2
        assert f"{grouped} has groups by 'site', but {plain} has no groups" in capsys.readouterr().err

    def test_more_bins_than_there_are(self, npz: str, tmp_path: Path, capsys: Any) -> None:
        saved = str(tmp_path / "t.json")
        assert main(["tabulate", npz, "-o", saved]) == 0
        assert main(["bins", saved]) == 2
        cause, remedy = capsys.readouterr().err.splitlines()[-2:]
        assert cause == "trueness bins: 80 bins cannot be made of 10"
        assert "--grid" in remedy
        assert main(["bins", saved, "--numbers", "5,10"]) == 0

    def test_a_grid_that_is_too_coarse_for_a_confident_model(self, tmp_path: Path, capsys: Any) -> None:
        y_true, y_prob = tn.simulate.calibrated(2000, [5, 1, 1], rng=0)
        path = str(tmp_path / "sharp.npz")
        np.savez(path, y_true=y_true, y_prob=tn.simulate.sharpen(y_prob, 6.0))
        command = ["tabulate", path, "--equal-mass", "10", "-o", str(tmp_path / "t.json")]
        assert main(command) == 0
        assert "10 were asked for, but one cell holds more than its share: --exact" in capsys.readouterr().err
        assert main([*command, "--exact"]) == 0
        told = capsys.readouterr().err
        assert "10 bins of equal mass, exact, in two passes: 10.00 to 10.00 %" in told
        assert "were asked for" not in told

    def test_how_equal_the_masses_of_saved_bins_are(self, npz: str, tmp_path: Path, capsys: Any) -> None:
        saved = str(tmp_path / "t.json")
        assert main(["tabulate", npz, "-o", saved]) == 0
        assert main(["assess", saved, "--equal-mass", "4"]) == 0
        assert "4 bins of equal mass, from the 10 bins of the tables: " in capsys.readouterr().err

    @pytest.mark.parametrize("options", ["--resamples 0", "--resamples -3", "--level 3", "--level nan"])
    def test_odd_inference(self, npz: str, options: str, capsys: Any) -> None:
        for command in (["assess", npz], ["bins", npz], ["compare", npz, npz]):
            assert main([*command, *options.split()]) == 2
            first = capsys.readouterr().err.splitlines()[0]
            assert first.startswith(f"trueness {command[0]}: {options.split(maxsplit=1)[0]} must be")

    @pytest.mark.parametrize("seconds", ["nan", "-1", "inf"])
    def test_odd_times_between_checkpoints(self, npz: str, tmp_path: Path, seconds: str, capsys: Any) -> None:
        options = ["--checkpoint", str(tmp_path / "c"), "--checkpoint-every", seconds]
        assert main(["tabulate", npz, "-o", str(tmp_path / "t.json"), *options]) == 2
        assert "--checkpoint-every must be a number of seconds" in capsys.readouterr().err

    def test_a_gate_at_no_number(self, npz: str, capsys: Any) -> None:
        assert main(["assess", npz, "--fail-above", "nan"]) == 2
        assert "--fail-above for vce must be a number from 0 to 2, got nan" in capsys.readouterr().err

    def test_tolerance_and_confidence_bins(self, npz: str, tmp_path: Path, capsys: Any) -> None:
        out = tmp_path / "r.json"
        options = ["--tolerance", ".01", "--confidence-bins", "15", "--json", str(out)]
        assert main(["assess", npz, *options]) == 0
        content = json.loads(out.read_text())
        assert content["verdict"]["size"] == "beyond"
        assert content["tolerance"] == {"vce": 0.01, "ece": 0.01, "rce": 0.01}
        assert "(ECE: 15 of confidence)" in capsys.readouterr().out
        arrays = np.load(npz)
        expected = tn.assess(arrays["y_true"], arrays["y_prob"], confidence_bins=15, tolerance=0.01)
        assert content == json.loads(json.dumps(expected.to_dict()))
        for more in (["--equal-mass", "5"], ["--equal-mass", "5", "--exact"], ["--edges", "0,.5,1"]):
            assert main(["assess", npz, *options, *more]) == 0
            assert "(ECE: 15 of confidence)" in capsys.readouterr().out
        grid = str(tmp_path / "grid.json")
        assert main(["tabulate", npz, "--grid", "-o", grid]) == 0
        assert main(["assess", grid, "--bins", "8", "--confidence-bins", "20"]) == 0
        assert "8 bins of entropy (ECE: 20 of confidence)" in capsys.readouterr().out
        assert (
            main(["compare", npz, npz, "--names", "a,b", "--confidence-bins", "20", "--resamples", "99"]) == 0
        )
        assert "(ECE: 20 of confidence)" in capsys.readouterr().out

    def test_the_seed_is_that_of_python(self, npz: str, capsys: Any) -> None:
        """The default of both is seed 0, and the output names it."""
        arrays = np.load(npz)
        assert main(["assess", npz]) == 0
        printed = capsys.readouterr().out
        assert printed == f"{tn.assess(arrays['y_true'], arrays['y_prob'])}\n"
        assert "seed 0" in printed

    @pytest.mark.parametrize(
        "command",
        [
            "assess {npz} --json {out} --report {out}",
            "assess {npz} --table-out {out} --checkpoint {out}",
            "tabulate {npz} -o {out} --checkpoint {out}",
            "bins {npz} --json {out} --checkpoint {out}",
        ],
    )
    def test_two_results_in_one_file(self, npz: str, tmp_path: Path, command: str, capsys: Any) -> None:
        out = tmp_path / "o"
        assert main(command.format(npz=npz, out=out).split()) == 2
        assert "is named for two results" in capsys.readouterr().err
        assert not out.exists()

    def test_two_results_to_a_device(self, npz: str) -> None:
        assert main(["assess", npz, "--json", os.devnull, "--table-out", os.devnull]) == 0


class TestWrongArguments:
    @pytest.mark.parametrize(
        ("given", "cause", "remedy"),
        [
            ("assess x.csv --lable y", "there is no option --lable", "did you mean --label? "),
            ("assess x.csv --lable=y", "there is no option --lable=y", "did you mean --label? "),
            ("assess x.csv --zzz", "there is no option --zzz", ""),
            ("tabulate x.csv", "the following arguments are required: -o/--output", ""),
            ("assess x.csv --bins many", "argument --bins: invalid int value: 'many'", ""),
        ],
    )
    def test_a_line_of_cause_and_one_of_remedy(
        self, given: str, cause: str, remedy: str, capsys: Any
    ) -> None:
        with pytest.raises(SystemExit, match="2"):
            main(given.split())
        name = given.split(maxsplit=1)[0]
        assert capsys.readouterr().err == (
            f"trueness {name}: {cause}\n  {remedy}trueness {name} --help lists what there is\n"
        )


@pytest.mark.parametrize(("options", "passes"), [([], 1), (["--equal-mass", "4", "--exact"], 2)])
def test_progress_counts_the_bytes_of_every_pass(
    npz: str, tmp_path: Path, options: list[str], passes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    totals, steps = [], []

    @contextmanager
    def bar(total: int, _: str) -> Iterator[Any]:
        totals.append(total)
        yield steps.append

    monkeypatch.setattr("trueness.cli._running.progress_bar", bar)
    monkeypatch.setattr("trueness.files.source.BATCH_VALUES", 3 * 500)  # several batches
    assert main(["tabulate", npz, *options, "-o", str(tmp_path / "t.json")]) == 0
    assert totals == [passes * os.path.getsize(npz)]
    assert sum(steps) == totals[0]
    assert len(steps) == passes * 6
