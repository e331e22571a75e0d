"""The share of small faults that the judges alone find, in whatever code there is.

    python scripts/mutants.py            tries the faults, prints them and the shares killed
    python scripts/mutants.py --record   also writes scripts/results/mutants.csv, to compare with

A mutant is a copy of the tree with one fault: of each of N runs of lines one is drawn by a seed.
The tests that execute its statement try it (at the level of a module: those of its functions; in C:
those that call C), in `SECONDS` of processor time, as measured under coverage, of which every file
has an equal share for its fastest tests. The record has the test that fails, and how many of the
tests `covering` the line were `tried`. No faults are made in texts, annotations and refusals; in C
none that change no instruction. Other faults without effect count as all do. While faults in C are
tried, the library does not check itself.
"""

import ast
import csv
import importlib.util
import itertools
import json
import marshal
import math
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import coverage
import pytest
from budget import ROOT, files, part_of

RECORD = ROOT / "scripts" / "results" / "mutants.csv"
COLUMNS = ["part", "file", "line", "operator", "before", "after", "outcome", "judge"]
COLUMNS += ["tried", "covering"]
JUDGES = ["golden", "contract", "oracles", "laws", "vectors", "peers", "situations"]
JUDGES += ["printed", "jobs"]
SEED, N_PYTHON, N_C, SECONDS, MEMORY = 49, 300, 40, 10.0, 24 << 30
SELF_CHECK = ("!= KNOWN_ANSWER", "!= known_answer(library)")
MEASURED = "[run]\nsource={0}/src\ndata_file={0}/data\nparallel=true\n"
MEASURED += "context=${{PYTEST_CURRENT_TEST-}}\n"  # of the commands that a test starts


def build(tree: Path) -> bytes | None:
    """Compile a tree's library for this processor alone; None if it cannot be compiled."""
    spec = importlib.util.spec_from_file_location("hatch_build", tree / "hatch_build.py")
    spec.loader.exec_module(hook := importlib.util.module_from_spec(spec))
    target, compiler = hook.host(), hook.find_compiler(hook.host(), os.environ, cross=False)
    flags = ["-O1"]
    if target.processor == "x86_64":
        best = 4 if "avx512vl" in Path("/proc/cpuinfo").read_text("utf-8") else 3
        names, others = ("arena", "sum", "measure"), {*hook.LEVELS["x86_64"]} - {best}
        pairs = itertools.product([f"{it}_at_level_" for it in names], sorted(others))
        flags += [f"-Wl,--defsym={name}{other}={name}{best}" for name, other in pairs]
        hook.LEVELS = {"x86_64": (best,)}
    try:
        sources, folder = hook.source_folder(tree), tree / "build"
        made = hook.compile_library(sources, target, compiler, folder, flags)
    except hook.BuildError:
        return None
    return Path(shutil.copy(made, tree / "src" / hook.PACKAGE)).read_bytes()


# Faults -------------------------------------------------------------------------------------------

PAIRS = "< <=,> >=,== !=,is is not,in not in,and or,&& ||,+ -,* /,<< >>,& |,+= -=,|= &=,True False"
OTHER = dict(pair.split(" ", 1) for pair in PAIRS.split(","))
OTHER |= {new: old for old, new in OTHER.items()} | {"//": "*", "**": "*"}
FAULTS: list[tuple[str, str, str | Callable[[re.Match[str]], str]]] = [
    ("comparison", r"(?<= )([<>=!]=|[<>]|is not|not in|is|in)(?= )", lambda it: OTHER[it[0]]),
    ("condition", r"(?<= )(and|or|&&|\|\|)(?= )", lambda it: OTHER[it[0]]),
    ("condition", r"(?<=\bif )(?=\w)(?!not\b)", "not "),
    ("condition", r"\bnot (?!in\b)", ""),
    ("sign", r"(?<= )(<<|>>|\*\*|//|[+|&-]=|[-+*/&|])(?= )", lambda it: OTHER[it[0]]),
    ("sign", r"(?<=[( \[])-(?=[\w(])", ""),
    ("off by one", r"(?<![\w.])\d+(?![\w.])", lambda it: str(int(it[0]) + 1)),
    ("off by one", r"(?<![\w.])[1-9]\d*(?![\w.])", lambda it: str(int(it[0]) - 1)),
    ("off by one", r"\blen\([\w.]+\)|(?<=\brange\()[\w.]+(?=\))", r"\g<0> - 1"),
    ("off by one", r"(?<=:)[a-z][\w.]*(?=\])|(?<=\[)[a-z][\w.]*(?=:\])", r"\g<0> - 1"),
    ("changed constant", r"\d+\.\d+|\d+e-?\d+|\b0x[\dA-Fa-f]+", r"\g<0>1"),
    ("changed constant", r"\b(True|False)\b", lambda it: OTHER[it[0]]),
    ("dropped term", r" ([-+*/&|]|and|or|&&|\|\|) [\w.]+(\([\w., ]*\))?(?=[;,)\]:]|$)", ""),
    ("dropped argument", r", (?!strict|help|metavar|encoding)\w+=[\w.]+(?=[,)])", ""),
    ("dropped statement", r"^( +)[\w.\[\]]+( [-+*/|&]= .*\w\)?|\(.*\))$", r"\1pass"),
    ("dropped statement", r"(?<=[;{)] )[\w.>\[\]-]+ [-+|&]?= [^;{}]+;|^ +\w+\([^;{}]+\);", ";"),
    ("swapped argument", r"(?<!isinstance)\(([\w.]+), ([\w.]+)(?=[,)])", r"(\2, \1"),
    ("swapped argument", r", ([\w.]+), ([\w.]+)(?=[,)])", r", \2, \1"),
]
UNREAD = re.compile(r'/\*.*?\*/|//[^\n]*|"[^"\n]*"|^\s*#(?!define)[^\n]*', re.DOTALL | re.MULTILINE)
REFUSAL = re.compile(r"([Rr]efusal|Error|Warning|warn)$")
NOT_EXECUTED = ast.JoinedStr | ast.Raise | ast.Assert | ast.Import | ast.ImportFrom
Line = tuple[Path, int, list[tuple[str, str]], Iterable[int]]  # number, faults, its statement


def without_faults(node: ast.AST) -> bool:
    """Whether it is text, a refusal, or not executed."""
    if isinstance(node, ast.Call):
        return bool(REFUSAL.search(ast.unparse(node.func)))
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.unparse(node.test)
    names = [getattr(it, "id", "") for it in getattr(node, "targets", ())]
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    return is_text or isinstance(node, NOT_EXECUTED) or "__all__" in names


def masked(text: str) -> tuple[str, dict[int, range]]:
    """A module without what has no faults; of each line in a function that of its statement."""
    lines, statements = text.split("\n"), {}

    def hide(node: ast.AST) -> None:
        for i in range(node.lineno - 1, node.end_lineno):
            start = node.col_offset if i == node.lineno - 1 else 0
            end = node.end_col_offset if i == node.end_lineno - 1 else len(lines[i])
            lines[i] = lines[i][:start] + '"' * (end - start) + lines[i][end:]

    def visit(node: ast.AST, local: bool) -> None:
        if isinstance(node, ast.stmt) and local:
            body = getattr(node, "body", None)
            last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno
            head = range(node.lineno, last + 1)
            statements.update(dict.fromkeys(head, head))
        fields = [getattr(node, name, None) for name in ("annotation", "returns")]
        for it in filter(None, [*fields, *getattr(node, "decorator_list", ())]):
            hide(it)
        if without_faults(node):
            hide(node)
        else:
            local |= isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            for child in ast.iter_child_nodes(node):
                visit(child, local)

    visit(ast.parse(text.encode("latin-1")), False)
    return re.sub("#.*", lambda it: '"' * len(it[0]), "\n".join(lines)), statements


def lines_of(path: Path) -> Iterator[Line]:
    """The lines with faults; a character is a byte, as in positions of the syntax tree."""
    text, statements = path.read_text("latin-1"), {}
    code = UNREAD.sub(lambda it: re.sub(".", '"', it[0]), text)
    if path.suffix == ".py":
        code, statements = masked(text)
    pairs = zip(text.split("\n"), code.split("\n"), strict=True)
    for number, (line, known) in enumerate(pairs, 1):
        faults = []
        for name, pattern, put in FAULTS:
            for it in re.finditer(pattern, known):
                new = put(it) if callable(put) else it.expand(put)
                faults.append((name, line[: it.start()] + new + line[it.end() :]))
        if faults:
            yield path, number, faults, statements.get(number, ())


# Judges -------------------------------------------------------------------------------------------


class Judges:
    """In the process of the tests: chooses them, and notes which began and how long they took."""

    def __init__(self, limits: dict[str, float] | None) -> None:
        self.limits, self.seconds = limits, {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self) -> None:
        """Examples are the same each time, and those that fail need not be made small."""
        from hypothesis import HealthCheck, Phase, settings  # after pytest

        how = {"phases": [Phase.explicit, Phase.generate], "suppress_health_check": [*HealthCheck]}
        settings.register_profile("mutants", derandomize=True, deadline=None, **how)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Those with a limit, in the order of limits."""
        by_id = {it.nodeid: it for it in items}
        items[:] = [by_id[it] for it in self.limits or by_id if it in by_id]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """A test that takes too long ends the process; for coverage caches are emptied."""
        with Path("begun").open("a") as file:
            print(item.nodeid, file=file)
        if self.limits:
            end_after(self.limits[item.nodeid])
        else:
            forget(str(Path.cwd()))
            coverage.Coverage.current().switch_context(item.nodeid)
        before = sum(os.times()[:4])
        result = yield
        self.seconds[item.nodeid] = sum(os.times()[:4]) - before
        return result

    def pytest_sessionfinish(self) -> None:
        """Save the times."""
        Path("seconds").write_text(json.dumps(self.seconds))


def end_after(seconds: float) -> None:
    """End this process when it has used, or waited for many times, so many seconds."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 20 * seconds)


def forget(folder: str) -> None:
    """Empty the caches of modules in a folder, but not what is known of the library."""
    own = {name for name, it in sys.modules.items() if folder in str(getattr(it, "__file__", ""))}
    for name in own:
        for value in list(vars(sys.modules[name]).values()):
            of = getattr(value, "__module__", None)
            if hasattr(value, "cache_clear") and of in own and "CDLL" not in vars(sys.modules[of]):
                value.cache_clear()


def judge() -> int:
    """Run the tests in the current folder; stop at the first that fails."""
    limits = json.loads(Path("limits").read_text())
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    end_after(60 if limits else 0)  # for imports
    tests = sorted({it.split("::")[0] for it in limits or ()}) or [f"tests/{it}" for it in JUDGES]
    options = ["-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "--basetemp=made"]
    return pytest.main([*options, "--hypothesis-profile=mutants", *tests], [Judges(limits)])


def run(tree: Path, limits: dict[str, float] | None = None) -> tuple[int, list[str]]:
    """Exit code of the tests with limits in seconds, or of all with coverage; those that began."""
    (tree / "limits").write_text(json.dumps(limits))
    (tree / "begun").write_text("")
    own = {"PYTHONPATH": str(tree / "src"), "TMPDIR": tempfile.mkdtemp(dir=tree)}
    own |= {"PYTHONDONTWRITEBYTECODE": "1"} if limits else {"COVERAGE_PROCESS_START": f"{tree}/rc"}
    with (tree / "output").open("w") as out:
        streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": out}
        command = [sys.executable, __file__, "--judge"]
        where = {"cwd": tree, "env": os.environ | own, "start_new_session": True}
        process = subprocess.Popen(command, **where, **streams)
        try:
            code = process.wait()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what it started may go on
    return code, (tree / "begun").read_text().splitlines()


class Tests:
    """The tests of a tree: how long each takes, and which lines it executes."""

    def __init__(self, tree: Path) -> None:
        (tree / "rc").write_text(MEASURED.format(tree))
        if run(tree)[0]:
            raise SystemExit((tree / "output").read_text()[-5000:])
        self.seconds: dict[str, float] = json.loads((tree / "seconds").read_text())
        measured = coverage.Coverage(config_file=str(tree / "rc"))
        measured.combine()
        self.data = measured.get_data()

    def executing(self, path: Path, lines: Iterable[int]) -> set[str]:
        """The tests that execute one of the lines; if none are given, a function of the module."""
        text, by_line = path.read_text("latin-1"), self.data.contexts_by_lineno(str(path))
        some = lines if lines and "ctypes" not in text else masked(text)[1]
        found = itertools.chain(*(by_line.get(it, ()) for it in some))
        tests = {re.sub(r" \(\w+\)$", "", it) for it in found} & self.seconds.keys()
        return tests if tests or lines or not by_line else {*self.seconds}

    def limits(self, tests: set[str]) -> dict[str, float]:
        """Limits for what fits into `SECONDS`; files that take long are last."""
        spent, turns, left, found = Counter(), {}, SECONDS, []
        for test in sorted(tests, key=self.seconds.__getitem__):
            spent[test.split("::")[0]] += self.seconds[test]
            turns[test] = spent[test.split("::")[0]]
        for test in sorted(turns, key=turns.__getitem__):
            if not found or self.seconds[test] <= left:
                found.append(test)
                left -= self.seconds[test]
        found.sort(key=lambda it: (spent[it.split("::")[0]], it.split("::")[0], turns[it]))
        return {it: 10 + 10 * self.seconds[it] for it in found}


# Trying -------------------------------------------------------------------------------------------


def compiled(path: Path, tree: Path) -> bytes | None:
    """What is executed; None if it cannot be compiled."""
    if path.suffix != ".py":
        return build(tree)
    with suppress(SyntaxError):
        return marshal.dumps(compile(path.read_bytes(), path.name, "exec"))
    return None


def outcome(tree: Path, limits: dict[str, float]) -> tuple[str, str, int]:
    """What becomes of a tree, by which test, and how many began."""
    if not limits:
        return "not executed", "", 0
    code, begun = run(tree, limits)
    if code in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
        return "survived", "", len(begun)
    too_long = code in (-signal.SIGALRM, -signal.SIGPROF)
    what = "timeout" if too_long else "crash" if code < 0 else "killed"
    return what, (begun or ["collection"])[-1], len(begun)


def mutants(tree: Path, tests: Tests, suffixes: str, n: int) -> Iterator[dict[str, Any]]:
    """Rows of the record, of n mutants of files with these endings; none without such files."""
    draw, paths = random.Random(SEED), sorted(tree.glob("src/**/*"))
    lines = [line for it in paths if it.suffix in suffixes.split() for line in lines_of(it)]
    native = [it for it in paths if it.suffix == ".py" and "ctypes" in it.read_text("utf-8")]
    good, calling = None, set()
    if lines and suffixes != ".py":
        calling = set().union(*(tests.executing(it, ()) for it in native))
        for path in native:
            path.write_text(path.read_text("utf-8").replace(*SELF_CHECK), "utf-8")
        good = build(tree)
    for k in range(n if lines else 0):
        several = lines[len(lines) * k // n : len(lines) * (k + 1) // n]
        for path, number, faults, statement in draw.sample(several, len(several)):
            operator = draw.choice(sorted({name for name, _ in faults}))
            new = draw.choice([new for name, new in faults if name == operator])
            before, dates = path.read_bytes(), path.stat()
            text = before.decode("latin-1").split("\n")
            was = good or compiled(path, tree)
            covering = calling or tests.executing(path, statement)
            changed = [*text[: number - 1], new, *text[number:]]
            path.write_bytes("\n".join(changed).encode("latin-1"))
            os.utime(path, (1, 1))  # no module was compiled then
            try:
                if compiled(path, tree) in (None, was):
                    continue
                found = outcome(tree, tests.limits(covering))
            finally:
                path.write_bytes(before)
                os.utime(path, ns=(dates.st_atime_ns, dates.st_mtime_ns))
            file = path.relative_to(tree)
            part = part_of(ROOT / file) if path.suffix == ".py" else "C"
            both = f"{text[number - 1]}\n{new}".encode("latin-1").decode(errors="replace")
            texts = [it.strip() for it in both.split("\n")]
            values = (part, str(file), number, operator, *texts, *found, len(covering))
            print(*values, sep=" | ", flush=True)
            yield dict(zip(COLUMNS, values, strict=True))
            break


def shares(rows: Iterable[dict[str, Any]]) -> dict[str, tuple[float, float, int]]:
    """Of each part, and of Python: the share killed, its standard error, the number of mutants."""
    killed = defaultdict(list)
    for it in rows:
        for name in {it["part"], "C" if it["part"] == "C" else "Python"}:
            killed[name].append(it["outcome"] in ("killed", "timeout", "crash"))
    found = {name: (sum(those) / len(those), len(those)) for name, those in killed.items()}
    return {name: (p, math.sqrt(p * (1 - p) / n), n) for name, (p, n) in sorted(found.items())}


def main() -> int:
    """Try the mutants; 1 if fewer are killed than before, by more than two standard errors."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Path(folder).resolve()
        for path in files("*"):
            (to := tree / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, to)
        build(tree)
        tests = Tests(tree)
        rows = [*mutants(tree, tests, ".py", N_PYTHON), *mutants(tree, tests, ".c .h", N_C)]
    before, lower = {}, False
    if RECORD.exists():
        with RECORD.open(encoding="utf-8") as file:
            before = shares(csv.DictReader(file))
    for name, (share, error, n) in shares(rows).items():
        was, its_error, _ = before.get(name, (share, error, n))
        lower |= was - share > 2 * math.hypot(error, its_error)
        print(f"{name:24} {share:6.1%} of {n:3d} killed ± {error:.1%}; recorded {was:6.1%}")
    if "--record" in sys.argv[1:]:
        with RECORD.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return int(lower)


if __name__ == "__main__":
    sys.exit(judge() if "--judge" in sys.argv[1:] else main())
