"""A run that is killed resumes where it was, and writes the bit-identical file."""

import inspect
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.cli import main
from trueness.files import (
    Checkpoint,
    Identity,
    Plan,
    Request,
    RowOptions,
    Source,
    find_inputs,
    parse_condition,
    sum_source,
)
from trueness.files._checkpoint import State
from trueness.files.source import Position
from trueness.refusals import Refusal
from trueness.table import GroupedTables

pytestmark = pytest.mark.cli

N_FILES = 12
TEN_BINS = Plan()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Several files of the same columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tmp_path_factory.mktemp("shards")
    y_true, y_prob = tn.simulate.calibrated(N_FILES * 500, [3, 1, 1], rng=1)
    for number, part in enumerate(np.array_split(np.arange(len(y_true)), N_FILES)):
        columns = {"y": y_true[part], "site": np.char.add("s", (part % 3).astype(str)), "w": part % 7 + 0.1}
        columns |= {f"p_{c}": y_prob[part, c] for c in range(3)}
        pq.write_table(pa.table(columns), folder / f"{number}.parquet")
    return folder


STOPPING = """
import sys
from threading import Event

from trueness.cli import main
from trueness.files import Checkpoint

save, last = Checkpoint.save, int(sys.argv[1])


def save_and_wait(checkpoint, state):
    save(checkpoint, state)
    if state.position.file >= last:
        Checkpoint.save = save
        print("saved", flush=True)
        Event().wait()


Checkpoint.save = save_and_wait
sys.exit(main(sys.argv[2:]))
"""
"""The command, which waits after the checkpoint of a file is saved."""


def start(folder: Path, out: Path, checkpoint: Path, stop_at: int, *options: str) -> subprocess.Popen[bytes]:
    """The command in a process, waiting at a file; it runs to its end if `stop_at` is beyond the last."""
    command = [sys.executable, "-c", STOPPING, str(stop_at), "tabulate", str(folder), "-o", str(out)]
    command += ["--checkpoint", str(checkpoint), "--checkpoint-every", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if stop_at < N_FILES:
        assert process.stdout is not None
        assert process.stdout.readline() == b"saved\n", process.communicate()
    return process


def files_done(checkpoint: Path) -> int:
    return int(json.loads(checkpoint.read_text())["position"][0])


@pytest.mark.parametrize(
    "options",
    [[], ["--by", "site"], ["--weight", "w"], ["--equal-mass", "5"]],
    ids=["plain", "groups", "weights", "mass"],
)
def test_killed_twice_and_resumed_is_bit_identical(folder: Path, tmp_path: Path, options: list[str]) -> None:
    straight, out, checkpoint = tmp_path / "straight.json", tmp_path / "out.json", tmp_path / "c"
    assert main(["tabulate", str(folder), *options, "-o", str(straight)]) == 0
    for files in (N_FILES // 4, N_FILES // 2):
        process = start(folder, out, checkpoint, files, *options)
        process.kill()  # SIGKILL: the process cannot clean up
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert not out.exists()
        assert files_done(checkpoint) == files
    process = start(folder, out, checkpoint, N_FILES, *options)
    _, printed = process.communicate()
    assert process.returncode == 0, printed
    assert b"resuming from" in printed
    assert out.read_bytes() == straight.read_bytes()
    assert not checkpoint.exists()


def test_an_interrupted_run_prints_how_to_resume(folder: Path, tmp_path: Path) -> None:
    out, checkpoint = tmp_path / "out.json", tmp_path / "c"
    process = start(folder, out, checkpoint, 5)
    process.send_signal(signal.SIGINT)
    _, printed = process.communicate()
    assert process.returncode == 130
    assert (
        printed.decode().splitlines()[-1]
        == f"stopped: the sums so far are in {checkpoint}; the same command resumes from there"
    )
    assert b"Traceback" not in printed
    assert not out.exists()


def checkpoint_of(
    path: Path,
    files: list[Any],
    plan: Plan = TEN_BINS,
    every: float = 10.0,
    **options: Any,
) -> Checkpoint:
    """The checkpoint of a run over these files."""
    rows = RowOptions(**{name: options.pop(name) for name in list(options) if hasattr(RowOptions, name)})
    labels = {"label_file": options.pop("label_file")} if "label_file" in options else {}
    return Checkpoint(str(path), Identity.of(Source(files, Request(**options), rows, **labels), plan), every)


class TestCheckpoint:
    @pytest.fixture
    def some(self, folder: Path) -> list[Any]:
        return find_inputs([str(folder / "?.parquet")]).files

    def summed(
        self, files: list[Any], checkpoint: Checkpoint, progress: Any = lambda *_: None, **plan: Any
    ) -> Any:
        source = Source(files, Request(), RowOptions())
        return sum_source(source, Plan.of(**plan), checkpoint=checkpoint, progress=progress)

    def interrupt(self, some: list[Any], path: Path, **plan: Any) -> None:
        """A checkpoint of a run that was interrupted half way."""

        def stop(position: Any, _: Any) -> None:
            if position.file == 4:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            self.summed(some, checkpoint_of(path, some), stop, **plan)

    def test_resumed_is_the_sum_of_all(self, some: list[Any], tmp_path: Path) -> None:
        self.interrupt(some, tmp_path / "c")
        seen: list[int] = []
        resumed = self.summed(
            some,
            checkpoint_of(tmp_path / "c", some),
            lambda position, _: seen.append(position.file),
        )
        assert min(seen) >= 4
        straight = self.summed(some, checkpoint_of(tmp_path / "d", some))
        assert resumed.tables.whole == straight.tables.whole

    def test_tables_by_class_are_resumed(self, some: list[Any], tmp_path: Path) -> None:
        by_class = Plan.of(by_class=True)

        def stop(position: Any, _: Any) -> None:
            if position.file == 4:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            self.summed(some, checkpoint_of(tmp_path / "c", some, by_class), stop, by_class=True)
        saved = checkpoint_of(tmp_path / "c", some, by_class).load()
        assert saved is not None
        assert saved.tables.whole.by_class is not None
        resumed = self.summed(some, checkpoint_of(tmp_path / "c", some, by_class), by_class=True).tables.whole
        straight = self.summed(
            some, checkpoint_of(tmp_path / "d", some, by_class), by_class=True
        ).tables.whole
        assert resumed == straight
        assert resumed.by_class is not None
        assert resumed.n_rows == resumed.by_class.n_rows == 5000

    def test_batches_within_a_file_count(
        self, some: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("trueness.files.source.BATCH_VALUES", 3 * 60)
        calls: list[Any] = []

        def stop(position: Any, _: Any) -> None:
            calls.append(position)
            if len(calls) == 5:
                raise KeyboardInterrupt

        one = some[:1]
        with pytest.raises(KeyboardInterrupt):
            self.summed(one, checkpoint_of(tmp_path / "c", one), stop)
        assert json.loads((tmp_path / "c").read_text())["position"] == [0, 5]
        resumed = self.summed(one, checkpoint_of(tmp_path / "c", one))
        assert resumed.tables.n_rows == 500

    @pytest.mark.parametrize(
        ("options", "difference"),
        [
            ({"where": (parse_condition("w >= 3"),)}, "--where was not given and is now 'w >= 3'"),
            ({"label": "y"}, "--label was not given and is now 'y'"),
            ({"weight": "w"}, "--sample-weight was not given and is now 'w'"),
            ({"by": "site"}, "--groups was not given and is now 'site'"),
            ({"normalize": True}, "--normalize was not given and is now given"),
            ({"scale": "logits"}, "was 'probabilities' and is now 'logits'"),
            ({"on_bad_rows": "skip"}, "--on-bad-rows was 'refuse' and is now 'skip'"),
            ({"plan": Plan.of(bins=tn.EqualWidth(7))}, "the choice of bins"),
            ({"plan": Plan.of(ties="split")}, "--ties was 'first' and is now 'split'"),
            ({"plan": Plan.of(by_class=True)}, "--by-class was not given and is now given"),
            ({"plan": Plan.of("iqv")}, "--variation was 'entropy' and is now 'iqv'"),
        ],
        ids=str,
    )
    def test_other_options_are_refused_by_name(
        self, some: list[Any], tmp_path: Path, options: dict[str, Any], difference: str
    ) -> None:
        self.interrupt(some, tmp_path / "c")
        with pytest.raises(Refusal, match="belongs to another run") as caught:
            checkpoint_of(tmp_path / "c", some, **options).load()
        assert difference in str(caught.value)

    def test_every_argument_of_a_source_belongs_to_the_identity(self, some: list[Any]) -> None:
        """A new one must be added to the identity; only what prints does not decide the result."""
        known = {"self", "inputs", "request", "options", "label_file", "n_classes", "remarks"}
        # For workers and further models, which have no checkpoint, and threads, which change no bit.
        elsewhere = {"choice", "first", "first_file", "n_threads"}
        assert set(inspect.signature(Source.__init__).parameters) == known | elsewhere

    @pytest.mark.compiled
    @pytest.mark.parametrize("begun", ["portable", "compiled", "auto"])
    @pytest.mark.parametrize(
        "resumed", [{"engine": "portable"}, {"engine": "compiled"}, {"n_threads": 2}], ids=str
    )
    def test_neither_threads_nor_the_engine_matter(
        self, some: list[Any], tmp_path: Path, begun: str, resumed: dict[str, Any]
    ) -> None:
        self.interrupt(some, tmp_path / "c", engine=begun)
        assert checkpoint_of(tmp_path / "c", some, Plan.of(**resumed)).load() is not None
        summed = self.summed(some, checkpoint_of(tmp_path / "c", some), **resumed)
        straight = self.summed(some, checkpoint_of(tmp_path / "d", some))
        assert summed.tables.whole == straight.tables.whole
        assert summed.tables.n_rows == 10 * 500

    def test_other_files_are_refused_by_name(self, some: list[Any], tmp_path: Path) -> None:
        self.interrupt(some, tmp_path / "c")
        with pytest.raises(Refusal, match=r"0.parquet' is missing from the files"):
            checkpoint_of(tmp_path / "c", some[1:]).load()
        with pytest.raises(Refusal, match="in another order"):
            checkpoint_of(tmp_path / "c", some[::-1]).load()

    @pytest.mark.parametrize("change", ["size", "time", "first megabyte", "last megabyte"])
    def test_changed_files_are_refused(self, tmp_path: Path, change: str) -> None:
        path = tmp_path / "x.npy"
        y_prob = np.full((200_000, 2), 0.5)  # 3 MB
        labels = tmp_path / "labels.npy"
        np.save(path, y_prob)
        np.save(labels, np.zeros(200_000, int))
        files = find_inputs([str(path)]).files
        checkpoint_of(tmp_path / "c", files, label_file=str(labels)).save(
            State(GroupedTables(None, {}), Position(0, 1), Counter())
        )
        status = os.stat(labels)
        other = np.zeros(200_000, np.int32 if change == "size" else int)
        if "megabyte" in change:
            other[{"first megabyte": 0, "last megabyte": -1}[change]] = 1
        np.save(labels, other)
        os.utime(labels, ns=(status.st_atime_ns, status.st_mtime_ns + (change == "time")))
        with pytest.raises(Refusal, match=r"labels.npy' has changed"):
            checkpoint_of(tmp_path / "c", files, label_file=str(labels)).load()

    def test_other_labels_are_refused_by_the_command(self, tmp_path: Path, capsys: Any) -> None:
        """The oracle is the run without a checkpoint: resuming never gives another table."""
        np.save(tmp_path / "x.npy", np.full((100, 2), 0.5))
        np.save(tmp_path / "one.npy", np.zeros(100, int))
        np.save(tmp_path / "two.npy", np.ones(100, int))
        files = find_inputs([str(tmp_path / "x.npy")]).files
        one = {"label_file": str(tmp_path / "one.npy")}
        with pytest.raises(KeyboardInterrupt):
            sum_source(
                Source(files, Request(), RowOptions(), **one),
                Plan.of(by_class=True),
                checkpoint=checkpoint_of(tmp_path / "c", files, Plan.of(by_class=True), **one),
                progress=lambda *_: (_ for _ in ()).throw(KeyboardInterrupt),
            )
        command = ["tabulate", files[0].path, "--checkpoint", str(tmp_path / "c"), "-o", str(tmp_path / "t")]
        assert main([*command, "--label-file", str(tmp_path / "two.npy")]) == 2
        assert "two.npy' is not one of its files" in capsys.readouterr().err
        assert not (tmp_path / "t").exists()
        assert main([*command, "--label-file", str(tmp_path / "one.npy")]) == 0

    @pytest.mark.parametrize("plan", [Plan(), Plan.of(bins=tn.EqualMass(3))], ids=["width", "mass"])
    def test_a_run_without_rows_so_far_resumes(self, some: list[Any], tmp_path: Path, plan: Plan) -> None:
        where = (parse_condition("number >= 2500"),)
        files = []
        for number in range(10):
            rows = np.arange(500 * number, 500 * (number + 1))
            y_true, y_prob = tn.simulate.calibrated(500, [1, 1, 1], rng=number)
            np.savez(tmp_path / f"{number}.npz", y_true=y_true, y_prob=y_prob, number=rows)
        files = find_inputs([str(tmp_path / "*.npz")]).files
        source = Source(files, Request(where=where), RowOptions())
        stops = iter(range(1, 100))

        def stop(position: Any, batch: Any) -> None:
            if not len(batch) and next(stops) > 2:
                raise KeyboardInterrupt

        def checkpoint() -> Checkpoint:
            return checkpoint_of(tmp_path / "c", files, plan, 0, where=where)

        with pytest.raises(KeyboardInterrupt):
            sum_source(source, plan, checkpoint=checkpoint(), progress=stop)
        state = checkpoint().load()
        assert state is not None
        assert state.tables.groups == {}
        assert state.position.file > 0
        resumed = sum_source(source, plan, checkpoint=checkpoint())
        assert resumed.tables.whole == sum_source(source, plan).tables.whole
        assert resumed.tables.n_rows == 2500

    @pytest.mark.parametrize(
        "change",
        [
            lambda c: c.update(schema=2),
            lambda c: c.update(format="other"),
            lambda c: c.pop("position"),
            lambda c: c.update(position=[0, "x"]),
            lambda c: c.update(skipped=3),
            lambda c: c.update(groups=[{"group": None, "tables": [{}]}]),
            lambda c: c.update(groups=3),
            lambda c: c.update(engine="portable"),
            lambda c: c.update(schema=3, engine="portable"),
            lambda c: c.update(position=[1000, 0]),
            lambda c: c.update(run=None),
        ],
    )
    def test_a_damaged_checkpoint_is_refused(self, some: list[Any], tmp_path: Path, change: Any) -> None:
        path = tmp_path / "c"
        self.interrupt(some, path)
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))
        with pytest.raises(Refusal, match=r"checkpoint|damaged"):
            checkpoint_of(path, some).load()
        path.write_text("not JSON")
        with pytest.raises(Refusal):
            checkpoint_of(path, some).load()

    def test_skipped_rows_are_counted_over_both_runs(self, tmp_path: Path) -> None:
        for number in range(4):
            rows = np.full((10, 2), 0.5)
            rows[number] = 0.9
            np.savez(tmp_path / f"{number}.npz", y_true=np.zeros(10), y_prob=rows)
        files = find_inputs([str(tmp_path / "*.npz")]).files
        source = Source(files, Request(), RowOptions(on_bad_rows="skip"))

        def stop(position: Any, _: Any) -> None:
            if position.file == 1:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            sum_source(
                source,
                Plan(),
                checkpoint=checkpoint_of(tmp_path / "c", files, on_bad_rows="skip"),
                progress=stop,
            )
        resumed = sum_source(
            source, Plan(), checkpoint=checkpoint_of(tmp_path / "c", files, on_bad_rows="skip")
        )
        assert resumed.skipped == Counter({"sum-not-1": 4})
        assert resumed.tables.n_rows == 36

    def test_standard_input_cannot_be_resumed(self, tmp_path: Path, capsys: Any) -> None:
        arguments = ["tabulate", "-", "--checkpoint", str(tmp_path / "c"), "-o", str(tmp_path / "t.json")]
        command = [sys.executable, "-m", "trueness", *arguments]
        ended = subprocess.run(command, input=b"y,p_0,p_1\n0,0.5,0.5\n", capture_output=True, check=False)
        assert ended.returncode == 2
        assert b"needs input that can be read twice" in ended.stderr
