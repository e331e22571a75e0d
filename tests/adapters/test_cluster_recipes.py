"""The recipes of docs/integrations/cluster.md for whatever has no adapter: processes that share saved tables only."""

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import cycle, pairwise
from pathlib import Path

import numpy as np
import pytest
from partitioned import N_ROWS, Y_PROB, Y_TRUE, one_process

import trueness as tn

CUTS = [0, 1, 700, 701, 2222, N_ROWS]
SHARDS = [slice(start, stop) for start, stop in pairwise(CUTS)]


def shard_table(number: int, folder: str) -> tuple[int, str]:
    """What one worker does: its rows to a file of tables. At the top of a module, so that processes can find it."""
    some = SHARDS[number]
    path = f"{folder}/shard-{number}.json"
    tn.tabulate(Y_TRUE[some], Y_PROB[some]).save(path)
    return os.getpid(), path


def pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


def test_a_pool_of_processes_and_a_sum() -> None:
    with pool() as workers:
        tables = workers.map(
            tn.tabulate, [Y_TRUE[some] for some in SHARDS], [Y_PROB[some] for some in SHARDS]
        )
        assert sum(tables) == one_process()


def test_saved_tables_merge_in_any_order_and_after_a_second_try(tmp_path: Path) -> None:
    with pool() as workers:
        tries = [*range(len(SHARDS)), 2, 0]  # two shards are done again: a file is replaced, not added to
        ended = list(workers.map(shard_table, tries, [str(tmp_path)] * len(tries)))
    assert os.getpid() not in {process for process, _ in ended}
    paths = sorted({path for _, path in ended}, reverse=True)
    assert sum(tn.CalibrationTable.load(path) for path in paths) == one_process()


@pytest.mark.compiled
def test_both_engines_in_processes_give_one_table(tmp_path: Path) -> None:
    with pool() as workers:
        options = [{"engine": engine, "n_threads": 1} for engine in ("compiled", "portable", "auto")]
        jobs = [
            workers.submit(tn.tabulate, Y_TRUE[some], Y_PROB[some], **how)
            for some, how in zip(SHARDS, cycle(options), strict=False)
        ]
        assert sum(job.result() for job in jobs) == one_process()


def test_an_array_of_jobs_and_a_merge(tmp_path: Path) -> None:
    """As a Slurm array does it: one command for each shard, one at the end."""
    for number, some in enumerate(SHARDS):
        np.savez(tmp_path / f"shard-{number}.npz", y_true=Y_TRUE[some], y_prob=Y_PROB[some])
    command = [sys.executable, "-m", "trueness"]
    jobs = [
        subprocess.Popen(
            [
                *command,
                "tabulate",
                f"shard-{number}.npz",
                "-o",
                f"shard-{number}.json",
            ],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for number in range(len(SHARDS))
    ]
    for job in jobs:
        assert job.communicate()[1] is not None
        assert job.returncode == 0
    merged = [*command, "merge", *(f"shard-{number}.json" for number in range(len(SHARDS))), "-o", "all.json"]
    subprocess.run(merged, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert tn.CalibrationTable.load(tmp_path / "all.json") == one_process()


def test_tables_of_other_bins_or_another_schema_are_refused(tmp_path: Path) -> None:
    one_process().save(tmp_path / "ten.json")
    one_process(bins=11).save(tmp_path / "eleven.json")
    later = (tmp_path / "ten.json").read_text().replace('"schema": 5', '"schema": 99')
    (tmp_path / "later.json").write_text(later)
    for other, reason in (("eleven.json", "bins differs"), ("later.json", "schema 99")):
        run = subprocess.run(
            [sys.executable, "-m", "trueness", "merge", "ten.json", other, "-o", "all.json"],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert run.returncode == 2
        assert reason in run.stderr
        assert not (tmp_path / "all.json").exists()
