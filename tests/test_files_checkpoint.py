"""A run that is killed goes on where it was, and gives the bit-identical file."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.cli import main
from trueness.files import Checkpoint, InputError, Plan, Request, RowOptions, Source, find_inputs, sum_source

pytestmark = pytest.mark.cli

N_FILES = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Many files, each worth several batches."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tmp_path_factory.mktemp("shards")
    y_true, y_prob = tn.simulate.calibrated(N_FILES * 500, [3, 1, 1], rng=1)
    for number, part in enumerate(np.array_split(np.arange(len(y_true)), N_FILES)):
        columns = {"y": y_true[part], "site": np.char.add("s", (part % 3).astype(str)), "w": part % 7 + 0.1}
        columns |= {f"p_{c}": y_prob[part, c] for c in range(3)}
        pq.write_table(pa.table(columns), folder / f"{number}.parquet")
    return folder


def start(folder: Path, out: Path, checkpoint: Path, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "trueness", "tabulate", str(folder), "-o", str(out)]
    command += ["--checkpoint", str(checkpoint), "--checkpoint-every", "0", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def files_done(checkpoint: Path) -> int:
    return int(json.loads(checkpoint.read_text())["position"][0]) if checkpoint.exists() else 0


def wait_for(checkpoint: Path, files: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while files_done(checkpoint) < files:
        assert process.poll() is None, "it ended before it could be stopped"
        assert time.monotonic() < end
        time.sleep(0.002)


@pytest.mark.parametrize(
    "options",
    [[], ["--by", "site"], ["--weight", "w"], ["--equal-mass", "5", "--exact"]],
    ids=["plain", "groups", "weights", "exact"],
)
def test_killed_twice_and_resumed_is_bit_identical(folder: Path, tmp_path: Path, options: list[str]) -> None:
    straight, out, checkpoint = tmp_path / "straight.json", tmp_path / "out.json", tmp_path / "c"
    assert main(["tabulate", str(folder), *options, "-o", str(straight)]) == 0
    for files in (N_FILES // 4, N_FILES // 2):
        process = start(folder, out, checkpoint, *options)
        wait_for(checkpoint, files, process)
        process.kill()  # SIGKILL: nothing can be tidied up
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert not out.exists()
        assert files_done(checkpoint) < N_FILES - 1
    process = start(folder, out, checkpoint, *options)
    _, told = process.communicate()
    assert process.returncode == 0, told
    assert b"going on from" in told
    assert out.read_bytes() == straight.read_bytes()
    assert not checkpoint.exists()


def test_interrupted_says_what_to_do_next(folder: Path, tmp_path: Path) -> None:
    out, checkpoint = tmp_path / "out.json", tmp_path / "c"
    process = start(folder, out, checkpoint)
    wait_for(checkpoint, 10, process)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate()
    assert process.returncode == 130
    assert (
        told.decode().splitlines()[-1]
        == f"stopped: the sums so far are in {checkpoint}; the same command goes on from there"
    )
    assert b"Traceback" not in told
    assert not out.exists()


class TestWhatIsKept:
    @pytest.fixture
    def some(self, folder: Path) -> list[Any]:
        return find_inputs([str(folder / "?.parquet")]).files

    def summed(
        self, files: list[Any], checkpoint: Checkpoint, progress: Any = lambda *_: None, **plan: Any
    ) -> Any:
        source = Source(files, Request(), RowOptions())
        return sum_source(source, Plan(**plan), checkpoint=checkpoint, progress=progress)

    def stopped(self, some: list[Any], path: Path) -> None:
        """A checkpoint of a run that was interrupted half way."""

        def stop(position: Any, _: Any) -> None:
            if position.file == 4:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            self.summed(some, Checkpoint(str(path), {"a": 1}, some), stop)

    def test_resumed_is_the_sum_of_all(self, some: list[Any], tmp_path: Path) -> None:
        self.stopped(some, tmp_path / "c")
        seen: list[int] = []
        resumed = self.summed(
            some,
            Checkpoint(str(tmp_path / "c"), {"a": 1}, some),
            lambda position, _: seen.append(position.file),
        )
        assert min(seen) >= 4
        straight = self.summed(some, Checkpoint(str(tmp_path / "d"), {"a": 1}, some))
        assert resumed.tables.whole == straight.tables.whole

    def test_batches_within_a_file_count(
        self, some: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("trueness.files._source.BATCH_VALUES", 3 * 60)
        calls: list[Any] = []

        def stop(position: Any, _: Any) -> None:
            calls.append(position)
            if len(calls) == 5:
                raise KeyboardInterrupt

        one = some[:1]
        with pytest.raises(KeyboardInterrupt):
            self.summed(one, Checkpoint(str(tmp_path / "c"), {}, one), stop)
        assert json.loads((tmp_path / "c").read_text())["position"] == [0, 5]
        resumed = self.summed(one, Checkpoint(str(tmp_path / "c"), {}, one))
        assert resumed.tables.n_rows == 500

    def test_other_settings_and_changed_files_are_refused(self, some: list[Any], tmp_path: Path) -> None:
        self.stopped(some, tmp_path / "c")
        with pytest.raises(InputError, match=r"other options \(a\)"):
            self.summed(some, Checkpoint(str(tmp_path / "c"), {"a": 2}, some))
        with pytest.raises(InputError, match="other files"):
            self.summed(some[1:], Checkpoint(str(tmp_path / "c"), {"a": 1}, some[1:]))
        copies = tmp_path / "copies"
        copies.mkdir()
        (copies / "x.parquet").write_bytes(Path(some[0].path).read_bytes())
        mine = find_inputs([str(copies)]).files
        checkpoint = Checkpoint(str(tmp_path / "e"), {}, mine, every=0)
        self.summed(mine, checkpoint)
        os.utime(copies / "x.parquet", ns=(1, 1))
        mine = find_inputs([str(copies)]).files
        with pytest.raises(InputError, match="changed since"):
            self.summed(mine, Checkpoint(str(tmp_path / "e"), {}, mine))

    @pytest.mark.parametrize(
        "change",
        [
            lambda c: c.update(schema=2),
            lambda c: c.update(format="other"),
            lambda c: c.pop("engine"),
            lambda c: c.update(position=[0, "x"]),
            lambda c: c.update(skipped=3),
            lambda c: c.update(groups=[{"group": None, "tables": [{}]}]),
            lambda c: c.update(groups=3),
        ],
    )
    def test_a_damaged_checkpoint_is_not_believed(self, some: list[Any], tmp_path: Path, change: Any) -> None:
        path = tmp_path / "c"
        self.stopped(some, path)
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))
        with pytest.raises(InputError, match=r"checkpoint|damaged"):
            Checkpoint(str(path), {"a": 1}, some).load()
        path.write_text("not JSON")
        with pytest.raises(InputError):
            Checkpoint(str(path), {"a": 1}, some).load()

    def test_rows_left_out_are_counted_over_both_runs(self, tmp_path: Path) -> None:
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
            sum_source(source, Plan(), checkpoint=Checkpoint(str(tmp_path / "c"), {}, files), progress=stop)
        resumed = sum_source(source, Plan(), checkpoint=Checkpoint(str(tmp_path / "c"), {}, files))
        assert resumed.skipped == Counter({"probabilities that do not sum to 1": 4})
        assert resumed.tables.n_rows == 36

    def test_standard_input_cannot_go_on(self, tmp_path: Path, capsys: Any) -> None:
        arguments = ["tabulate", "-", "--checkpoint", str(tmp_path / "c"), "-o", str(tmp_path / "t.json")]
        command = [sys.executable, "-m", "trueness", *arguments]
        ended = subprocess.run(command, input=b"y,p_0,p_1\n0,0.5,0.5\n", capture_output=True, check=False)
        assert ended.returncode == 2
        assert b"cannot be read again" in ended.stderr
