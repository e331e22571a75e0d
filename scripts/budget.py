"""The size of the house, part by part, beside the limits of its design and the recorded figures.

    python scripts/budget.py            prints the table
    python scripts/budget.py --record   writes scripts/results/budget.csv, which tests/packaging compares with

A line longer than 100 columns counts as two or more. Tokens are names, numbers, strings and operators.
"""

import ast
import csv
import io
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "scripts" / "results" / "budget.csv"
PARTS = {
    "core": "__init__ __main__ refusals arguments exact_sums row_arithmetic atomic_files variation bins equal_mass"
    " rows spec table_checks table_file table engine tabulation accumulator today old_table _arguments _arrays"
    " _binomial _json _random _row_arithmetic _scratch _threads _version ranking streaming",
    "numbers": "metrics conventions simulate old_metrics event_metrics decompositions simplex"
    " predicted_class",
    "inference and answers": "inference answers monitoring recalibration old_inference assessment"
    " old_assessment",
    "reproduction": "reproduction",
    "outside": "frames files language adapters cli formats partitions",
    "views": "document formatting listing charts report old_report demo plots _cells _markup _printing _progress",
}
LIMITS = {
    "lines: core": 6500,
    "lines: numbers": 1800,
    "lines: inference and answers": 5000,
    "lines: reproduction": 450,
    "lines: outside": 5900,
    "lines: views": 2850,
    "lines: package": 22_500,
    "lines: package without docstrings": 18_000,
    "tokens: package": 165_000,
    "modules: package": 130,
    "modules: importing old tables": 0,
    "lines: C": 2000,
    "public names": 32,
    "lines: tests": 20_000,
    "words: documentation": 35_000,
    "lines: scripts and benchmarks": 1600,
    "functions: vce": 16,
    "modules: vce": 11,
    "functions: assess": 140,
    "modules: assess": 30,
}
KINDS = (tokenize.NAME, tokenize.NUMBER, tokenize.STRING, tokenize.OP)


def files(*patterns: str) -> list[Path]:
    """Files of the repository, new ones too, that are there."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\n") if name and (ROOT / name).is_file()]


def lines(path: Path) -> int:
    text = path.read_text(encoding="utf-8")
    return sum(max(1, -(-len(line) // 100)) for line in text.splitlines())


def docstring_lines(path: Path) -> int:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    owners = [node for node in nodes if isinstance(node, documented) and ast.get_docstring(node)]
    return sum(node.body[0].end_lineno - node.body[0].lineno + 1 for node in owners)


def tokens(path: Path) -> int:
    with path.open("rb") as file:
        return sum(token.type in KINDS for token in tokenize.tokenize(file.readline))


def part_of(path: Path) -> str:
    name = path.relative_to(ROOT / "src" / "trueness").parts[0].removesuffix(".py")
    return next(part for part, names in PARTS.items() if name in names.split())


def called(work: Callable[[], object]) -> tuple[int, int]:
    """How many of the package's functions and modules a second call of `work` passes."""
    functions = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and "trueness/" in code.co_filename and not code.co_name.startswith("<"):
            functions.add((code.co_filename, code.co_firstlineno, code.co_name))

    work()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return len(functions), len({name for name, *_ in functions})


def traced() -> dict[str, int]:
    import trueness as tn
    from trueness.cli import main

    y_true, y_prob = tn.simulate.calibrated(500, alpha=[1, 1, 1], rng=0)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "file.csv"
        rows = [f"{y},{','.join(map(str, p))}\n" for y, p in zip(y_true, y_prob.tolist(), strict=True)]
        file.write_text("label,p_0,p_1,p_2\n" + "".join(rows), encoding="utf-8")
        works = {
            "vce": lambda: tn.vce(y_true, y_prob),
            "assess": lambda: tn.assess(y_true, y_prob),
            "trueness assess file.csv": lambda: main(["assess", str(file)]),
        }
        figures = {}
        for name, work in works.items():
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                figures[f"functions: {name}"], figures[f"modules: {name}"] = called(work)
    return figures


def measured() -> dict[str, int]:
    import trueness as tn

    source = files("src/*.py")
    by_part: Counter[str] = Counter()
    for path in source:
        by_part[part_of(path)] += lines(path)
    package = by_part.total()
    return {
        **{f"lines: {part}": by_part[part] for part in PARTS},
        "lines: package": package,
        "lines: package without docstrings": package - sum(map(docstring_lines, source)),
        "tokens: package": sum(map(tokens, source)),
        "modules: package": len(source),
        "modules: importing old tables": sum(
            "from trueness.old_table" in path.read_text(encoding="utf-8") for path in source
        ),
        "lines: C": sum(map(lines, files("src/*.c", "src/*.h"))),
        "public names": len(set(tn.__all__) - {"__version__"}),
        "lines: tests": sum(map(lines, files("tests/*.py"))),
        "words: documentation": sum(len(path.read_text("utf-8").split()) for path in files("*.md")),
        "lines: scripts and benchmarks": sum(map(lines, files("scripts/*.py", "benchmarks/*.py"))),
        **traced(),
    }


def recorded() -> dict[str, int]:
    with RECORD.open(encoding="utf-8") as file:
        return {name: int(value) for name, value in csv.reader(file)}


if __name__ == "__main__":
    now = measured()
    before = recorded() if RECORD.exists() else {}
    for name, value in now.items():
        limit = f"limit {LIMITS[name]:,d}" if name in LIMITS else ""
        print(f"{name:38} {value:9,d}   recorded {before.get(name, value):9,d}   {limit}")
    if "--record" in sys.argv[1:]:
        with RECORD.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(now.items())
