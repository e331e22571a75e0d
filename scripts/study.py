"""Power, size, coverage, differences, false alarms and speed, on the same rows in each run.

    python scripts/study.py power                          what scripts/results/power.csv lacks
    python scripts/study.py size --only copies clusters=20 --runs 400 --processes 2 --results new
    python scripts/study.py list compare                   the names of its cells
    python scripts/study.py versus power new               a folder beside the stored one, paired

The cells are in scripts/study.toml. The rows of a cell follow from its name and the number of the
run (scripts/study_rows.py), and `labels` is a checksum of the first ones. A p-value is stored in
thousandths, rounded up, "-" if there was none. Cells that are stored are not run again, unless
with fewer runs than `--runs`. `speed` counts instructions of the second call of each function, and
needs valgrind.
"""

import argparse
import csv
import math
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from study_rows import Array, arguments, checksum, draw

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import speak

RESULTS = Path(__file__).parent / "results"

Line = dict[str, Any]
LIMIT, RESAMPLES, LOOKS, LARGE = 0.05, 199, 60, 200_000
UNLIMITED = 2**32 - 1
"""The number of the run whose rows stand for unlimited data."""


def of_p(values: list[float | None]) -> Line:
    found = [p for p in values if p is not None]
    return {
        "runs": len(values),
        "missing": len(values) - len(found),
        "rejected": sum(p <= LIMIT for p in found),
        "smallest": min(found, default=None),
        "p": " ".join("-" if p is None else str(math.ceil(1000 * p - 1e-9)) for p in values),
    }


def verdicts(cell: str, runs: int) -> list[Line]:
    found = []
    for run in range(runs):
        _, y, p, given = draw(cell, run)
        found.append(speak.p_value(speak.assess(y, p, resamples=RESAMPLES, rng=run, **given)))
    return [of_p(found)]


def true_numbers(truth: Array, q: Array, weight: Any = None) -> dict[str, float]:
    """With unlimited data: the distributions of the labels stand for the labels."""
    given = {"soft_labels": True, "sample_weight": weight}
    table = speak.tabulate(truth, q, **given)
    rows = np.array(speak.sums_of(table)["weight"])
    gap = np.nan_to_num(speak.gaps_of["vce"](table)) * rows / rows.sum()
    over = np.take_along_axis(q - truth, q.argmax(axis=1)[:, None], axis=1)[:, 0]
    found = {"vce": np.abs(gap).sum(), "net": gap.sum(), "ece": speak.ece(truth, q, **given)}
    found["confidence"] = np.average(over, weights=weight)  # less accuracy
    gaps = enumerate(np.average(q - truth, axis=0, weights=weight))
    classes = {f"class {c}": gap for c, gap in gaps if q.shape[1] > 2 or c == 1}
    return {key: round(float(value), 9) for key, value in (found | classes).items()}


def unlimited(cell: str) -> Any:
    rows = LARGE // (5 if "classes=100" in cell.split() else 1)
    clusters = {"clusters": rows, "size": 1}
    return draw(cell, UNLIMITED, **clusters if "size" in arguments(cell) else {"rows": rows})


def of_intervals(true: dict[str, float], seen: list[dict[str, Any]]) -> Iterator[Line]:
    """Each quantity's intervals beside its true value; those of classes together."""
    for key in dict.fromkeys(name.split()[0] for name in true):
        names = [name for name in true if name.split()[0] == key]
        rows = [(*of[name], true[name]) for of in seen for name in names if of.get(name)]
        line = {"quantity": key, "true": true.get(key), "runs": len(seen)}
        line["missing"] = round(len(seen) - len(rows) / len(names), 2)
        if rows:
            value, low, high, goal = np.array(rows).T
            line["covered"] = float(np.mean((low - 1e-9 <= goal) & (goal <= high + 1e-9)))
            line["called"] = float(np.mean((low > 0) | (high < 0)))
            line["estimate"] = float(value.mean()) if key in true else None
            line["width"] = float((high - low).mean())
        yield line


def coverage(cell: str, runs: int) -> list[Line]:
    truth, _, q, given = unlimited(cell)
    true, seen = true_numbers(truth, q, given.get("sample_weight")), []
    for run in range(runs):
        _, y, p, given = draw(cell, run)
        result = speak.assess(y, p, resamples=RESAMPLES, rng=run, **given)
        seen.append(speak.intervals(result))
    return list(of_intervals(true, seen))


def differences(cell: str, runs: int) -> list[Line]:
    drawn, other = unlimited(cell)
    one, two = true_numbers(drawn.truth, drawn.y_prob), true_numbers(drawn.truth, other)
    true = {key: round(one[key] - two[key], 9) for key in ("vce", "ece")}
    loss = (drawn.truth * (np.log(other) - np.log(drawn.y_prob))).sum(axis=1)
    true["log_loss"] = round(float(loss.mean()), 9)
    seen, found, right = [], [], 0
    for run in range(runs):
        drawn, other = draw(cell, run)
        models = {"a": drawn.y_prob, "b": other}
        result = speak.compare(drawn.y_true, models, resamples=RESAMPLES, rng=run, **drawn.given)
        seen.append(speak.intervals(result))
        found.append(speak.p_value(result))
        right += speak.conclusion(result) == ("a" if true["vce"] < 0 else "b")
    decision = {"quantity": "decision", **of_p(found)}
    decision["called"] = decision["rejected"] / runs
    lines = [*of_intervals(true, seen), decision]
    if arguments(cell)["a"] != arguments(cell)["b"]:
        lines.append({"quantity": "better named", "runs": runs, "called": right / runs})
    return lines


def alarms(cell: str, runs: int) -> list[Line]:
    words = arguments(cell)
    settings = {key: words[key] for key in ("tolerance", "max_cluster") if key in words}
    found = []
    for run in range(runs):
        looks = (draw(cell, run * LOOKS + number)[1:3] for number in range(LOOKS))
        found.append(speak.first_alarm(looks, alpha=LIMIT, **settings))
    late = sorted(look or math.inf for look in found)
    line = {"runs": runs, "alarms": sum(map(bool, found)), "looks": " ".join(map(str, found))}
    return [line | {"median": late[runs // 2], "ninety": late[9 * runs // 10]}]


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "vce": speak.vce,
    "tabulate": speak.tabulate,
    "assess": speak.assess,
}


def instructions(cell: str, _: int) -> list[Line]:
    with tempfile.TemporaryDirectory() as folder:
        rows = draw(cell, 0)
        np.savez(f"{folder}/rows.npz", y=rows.y_true, p=rows.y_prob)
        line = ["valgrind", "--tool=callgrind", "--vgdb=no", "--dump-before=getppid"]
        line += [f"--callgrind-out-file={folder}/out", sys.executable, __file__, "called", folder]
        fixed = os.environ | {"PYTHONHASHSEED": "0"}
        subprocess.run(line, check=True, capture_output=True, env=fixed)
        dumps = [Path(f"{folder}/out.{2 * i + 2}").read_text("utf-8") for i in range(len(CALLS))]
    counts = [int(re.findall(r"\n(?:totals|summary): (\d+)", dump)[-1]) for dump in dumps]
    return [{"call": call, "instructions": n} for call, n in zip(CALLS, counts, strict=True)]


def called(folder: str) -> None:
    """Under valgrind: each second call between two of getppid, where the counts are written."""
    with np.load(f"{folder}/rows.npz") as file:
        rows = file["y"], file["p"]
    for call in CALLS.values():
        call(*rows)
        os.getppid()
        call(*rows)
        os.getppid()


class Study(NamedTuple):
    """The lists of cells, what makes the lines of one, the usual number of runs, the columns."""

    lists: str
    measure: Callable[[str, int], list[Line]]
    runs: int
    columns: str


INTERVALS = "resamples runs missing quantity true covered called estimate width"
STUDIES = {
    "power": Study("power aside", verdicts, 100, "resamples runs missing rejected p"),
    "size": Study("size clustered_power", verdicts, 200, "resamples runs missing rejected smallest p"),
    "coverage": Study("coverage", coverage, 200, INTERVALS),
    "compare": Study("compare", differences, 100, f"{INTERVALS} p"),
    "monitor": Study("monitor", alarms, 100, "runs alarms median ninety looks"),
    "speed": Study("speed", instructions, 1, "call instructions"),
}


def cells(study: str) -> list[str]:
    lists = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    found = []
    for line in (line for name in STUDIES[study].lists.split() for line in lists[name]):
        kind, *words = line.split()
        keys, values = zip(*(word.split("=") for word in words), strict=True)
        each = product(*(value.split(",") for value in values))
        found += [" ".join([kind, *map("=".join, zip(keys, some, strict=True))]) for some in each]
    return found


def stored(study: str, folder: Path) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    if (path := folder / f"{study}.csv").exists():
        with path.open(encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                found.setdefault(line["cell"], []).append(line)
    return found


def store(study: str, folder: Path, found: dict[str, list[dict[str, str]]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{study}.csv.part"
    with part.open("w", encoding="utf-8", newline="") as file:
        columns = ["cell", "labels", *STUDIES[study].columns.split()]
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(line for cell in cells(study) for line in found.get(cell, ()))
    part.replace(folder / f"{study}.csv")


def text(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def measured(task: tuple[str, str, int]) -> tuple[str, list[dict[str, str]]]:
    study, cell, runs = task
    first = {"cell": cell, "labels": str(checksum(cell))}
    lines = [{"resamples": RESAMPLES} | line for line in STUDIES[study].measure(cell, runs)]
    columns = STUDIES[study].columns.split()
    return cell, [first | {key: text(line.get(key)) for key in columns} for line in lines]


def run(study: str, only: list[str], runs: int | None, processes: int, folder: Path) -> None:
    found, begun = stored(study, folder), time.monotonic()
    done = {cell: int(lines[0].get("runs", 1)) for cell, lines in found.items()}
    wanted = [cell for cell in cells(study) if set(only) <= set(cell.split())]
    todo = [cell for cell in wanted if done.get(cell, 0) < (runs or 1)]
    tasks = [(study, cell, runs or STUDIES[study].runs) for cell in todo]
    pool = multiprocessing.get_context("spawn").Pool(processes) if processes > 1 else None
    results = pool.imap_unordered(measured, tasks) if pool else map(measured, tasks)
    for number, (cell, lines) in enumerate(results, 1):
        found[cell] = lines
        store(study, folder, found)
        left = (time.monotonic() - begun) / number * (len(todo) - number) / 60
        print(f"{number}/{len(todo)}, about {left:.0f} min left: {cell}", flush=True)


def versus(study: str, folder: Path) -> None:
    """Another folder's figures beside the stored ones; p-values on the runs that both have."""
    before, after = stored(study, RESULTS), stored(study, folder)
    by_kind: dict[str, list[tuple[float, float, str]]] = {}
    for cell in [cell for cell in cells(study) if cell in before and cell in after]:
        if before[cell][0]["labels"] != after[cell][0]["labels"]:
            raise SystemExit(f"{cell}: the rows are not the same")
        for old, new in zip(before[cell], after[cell], strict=True):
            if old.get("p"):
                pairs = zip(old["p"].split(), new["p"].split(), strict=False)
                low = [[p != "-" and int(p) <= 1000 * LIMIT for p in pair] for pair in pairs]
                steps = np.array([int(now) - int(then) for then, now in low])
                error = float(steps.std()) / math.sqrt(len(steps))
                kind = cell.split(" rows=")[0]
                by_kind.setdefault(kind, []).append((float(steps.mean()), error, cell))
            else:
                keys = [key for key in old if key not in ("cell", "labels", "looks") and old[key]]
                print(cell, *(f"{key} {old[key]} → {new[key]}" for key in keys), sep=", ")
    for kind, some in by_kind.items():
        mean = sum(step for step, _, _ in some) / len(some)
        error = math.sqrt(sum(error**2 for _, error, _ in some)) / len(some)
        print(f"{mean:+.3f} ± {error:.3f} in {len(some)} cells: {kind}; the lowest:")
        for step, error, cell in sorted(some)[:3]:
            print(f"    {step:+.2f} ± {error:.2f} {cell}")


def main(given: list[str]) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("job", nargs="+", help=f"[list | versus] {' | '.join(STUDIES)} [folder]")
    parser.add_argument("--only", nargs="+", default=[], help="words in the names of the cells")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS)
    chosen = parser.parse_args(given)
    match chosen.job:
        case ["called", folder]:
            called(folder)
        case ["list", study]:
            print(*cells(study), sep="\n")
        case ["versus", study, folder]:
            versus(study, Path(folder))
        case [study] if study in STUDIES:
            run(study, chosen.only, chosen.runs, chosen.processes, chosen.results)
        case _:
            parser.error(f"no such study: {' '.join(chosen.job)}")


if __name__ == "__main__":
    main(sys.argv[1:])
