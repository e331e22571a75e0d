"""Files against just reading them: ratios in one run, on the same file, each in a fresh process.

Run it with ``make bench``. A run of the command is compared with pyarrow reading the same columns in the same way and
throwing them away. Fresh processes, because that is what a user starts and because peak memory is a process's.
"Speed after start" is that of all but the first batches: on a file of any size, start-up is paid once.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from measuring import figure, machine, markdown, thousands

N_CLASSES = 10
NEEDED_SPEED, NEEDED_MEMORY = 0.70, 500
RESULTS = Path(__file__).parent / "results" / "files.md"
LEAST_ROWS = 8e6
"""A shorter run is for trying things: start-up is all it sees."""
QUICK_ROWS = 4e5

READ = """
import json, resource, sys, time
import pyarrow as pa
name, kind, rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
begin = time.perf_counter()
if kind == "parquet":
    import pyarrow.parquet as pq
    batches = pq.ParquetFile(name, pre_buffer=False).iter_batches(batch_size=rows)
elif kind == "arrow":
    file = pa.ipc.open_file(pa.OSFile(name))
    batches = (file.get_batch(i) for i in range(file.num_record_batches))
else:
    from pyarrow import csv
    types = {f"p_{c}": pa.float64() for c in range(10)} | {"y_true": pa.string()}
    batches = csv.open_csv(name, convert_options=csv.ConvertOptions(column_types=types))
n = sum(batch.num_rows for batch in batches)
seconds = time.perf_counter() - begin
print(json.dumps([n, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""

SUM = """
import json, resource, sys, time
from trueness.files import Plan, Request, RowOptions, Source, find_inputs, sum_source
from trueness.bins import EqualMass, EqualWidth
bins = EqualMass(10) if sys.argv[2] == "grid" else EqualWidth(10)
begin, marks, rows = time.perf_counter(), [], []
def mark(batch):
    marks.append(time.perf_counter())
    rows.append(len(batch))
source = Source(find_inputs([sys.argv[1]]).files, Request(), RowOptions())
summed = sum_source(source, Plan.of(bins=bins), progress=mark)
seconds = time.perf_counter() - begin
# While modules are imported, batches wait that were read meanwhile: the rate is that of those after them.
skip = min(6, len(rows) // 2)
rate = sum(rows[skip:]) / (marks[-1] - (marks[skip - 1] if skip else begin))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([summed.tables.n_rows, seconds, peak, rate]))
"""

START = "import sys; from trueness.cli import main; main(['--help'])"


def run(script: str, *arguments: str) -> list[float]:
    """What a fresh process reports: rows, seconds, MB, rows a second once it runs."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True
    )
    report: list[float] = json.loads(done.stdout)
    return report


def compare(path: Path, kind: str, turns: int) -> tuple[str, ...]:
    """One line of the table: pyarrow alone, bins of equal width, a grid."""
    from trueness.files.source import BATCH_VALUES

    rows = str(BATCH_VALUES // N_CLASSES)
    read, plain, grid = [], [], []
    for _ in range(turns):
        read.append(run(READ, str(path), kind, rows))
        plain.append(run(SUM, str(path), "width"))
        grid.append(run(SUM, str(path), "grid"))
    alone = min(report[1] for report in read)
    steady = read[0][0] / max(report[3] for report in plain)
    whole, of_grid = (min(report[1] for report in reports) for reports in (plain, grid))
    peak = max(report[2] for report in plain + grid)
    size = path.stat().st_size / 2**20
    return (
        kind,
        thousands(size),
        thousands(read[0][0]),
        figure(alone),
        figure(whole),
        figure(of_grid),
        f"{alone / whole:.2f}",
        f"{alone / steady:.2f}",
        thousands(median(report[2] for report in read)),
        thousands(peak),
    )


def start_up(turns: int) -> tuple[float, float]:
    """Milliseconds of `trueness --help` and of Python that does nothing, the best of several."""

    def best(script: str) -> float:
        times = []
        for _ in range(turns):
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", script], stdout=subprocess.DEVNULL, check=True)
            times.append(1000 * (time.perf_counter() - begin))
        return min(times)

    return best(START), best("pass")


def main() -> None:
    """Write the files, take turns, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rows", type=float, default=LEAST_ROWS, help="of the Parquet and Arrow files; CSV has a quarter"
    )
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument(
        "--quick", action="store_true", help="small files, only to check that the script works"
    )
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.rows, chosen.turns = QUICK_ROWS, 1
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, share in (("parquet", 1.0), ("arrow", 1.0), ("csv", 0.25)):
            path = Path(folder) / f"x.{kind}"
            alpha = ",".join(["1"] * N_CLASSES)
            size = str(int(chosen.rows * share))
            command = [
                sys.executable,
                "-m",
                "trueness",
                "simulate",
                "--n-rows",
                size,
                "--alpha",
                alpha,
                "-o",
                str(path),
            ]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            run(SUM, str(path), "grid")  # puts the file into the system's cache
            run(SUM, str(path), "width")
            lines.append(compare(path, kind, chosen.turns))
            path.unlink()
    heads = ("format", "MB", "rows", "reading, s", "table, s", "grid, s", "speed", "speed after start")
    help, bare = start_up(2 if chosen.quick else 10)
    text = (
        f"{machine()}\n\n### Files against just reading them\n\n"
        f"{markdown((*heads, 'MB reading', 'MB table'), lines)}\n\n"
        f"Speed is that of just reading = 1; needed {NEEDED_SPEED:.2f} and at most {NEEDED_MEMORY} MB.\n"
        f"`trueness --help` takes {help:.0f} ms, Python alone {bare:.0f} ms: {help - bare:.0f} more (at most 150).\n"
    )
    print(text)
    if chosen.rows >= LEAST_ROWS:
        RESULTS.write_text(text)


if __name__ == "__main__":
    main()
