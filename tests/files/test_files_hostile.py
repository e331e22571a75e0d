"""Files that mean harm: they run no code, exhaust no memory and write nothing outside the output."""

import io
import os
import pickle
import resource
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.cli import main
from trueness.cli.vocabulary import COMMAND
from trueness.files import Plan, Request, RowOptions, Source, find_inputs, load_tables, sum_source
from trueness.refusals import Refusal

pytestmark = pytest.mark.cli

MEGABYTE = 2**20


def refused(path: Path, **options: Any) -> str:
    with pytest.raises(Refusal) as caught:
        sum_source(Source(find_inputs([str(path)]).files, Request(), RowOptions(), **options), Plan())
    return "; ".join(caught.value.rendered(COMMAND))


class Harmful:
    """Unpickled, it makes a folder."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.target),)


def npy(shape: Any, descr: Any = "<f8", data: bytes = b"", order: bool = False) -> bytes:
    """The bytes of an array whose header may lie."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": descr, "fortran_order": order, "shape": shape})
    return stream.getvalue() + data


def npz(path: Path, compression: int = zipfile.ZIP_DEFLATED, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return path


LABELS = npy((2,), "<i8", np.zeros(2, "<i8").tobytes())


def test_a_pickle_is_not_read(tmp_path: Path) -> None:
    target = tmp_path / "made-by-a-pickle"
    harmful = np.empty(2, object)
    harmful[:] = [Harmful(target), Harmful(target)]
    np.save(tmp_path / "x.npy", harmful, allow_pickle=True)
    np.save(tmp_path / "y.npy", np.zeros(2))
    assert "pickle" in refused(tmp_path / "x.npy", label_file=str(tmp_path / "y.npy"))
    np.savez(tmp_path / "x.npz", y_true=harmful, y_prob=np.full((2, 2), 0.5))
    assert "pickle" in refused(tmp_path / "x.npz")
    (tmp_path / "z.npz").write_bytes(pickle.dumps(Harmful(target)))
    assert "is not an NPZ file" in refused(tmp_path / "z.npz")
    assert not target.exists()


def test_a_pickle_that_nobody_asked_for_is_no_obstacle(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", y_true=[0, 1], y_prob=np.full((2, 2), 0.5), extra=np.array([{}], object))
    source = Source(find_inputs([str(tmp_path / "x.npz")]).files, Request(), RowOptions())
    assert sum_source(source, Plan()).tables.n_rows == 2


@pytest.mark.parametrize(
    "y_prob",
    [
        npy((2**50, 10)),
        npy((2, 2**40)),
        npy((2**31, 2), order=True),
        npy((-1, 2)),
        npy((2, 2), "<U1000000000"),
        npy((2, 2, 2)),
        npy((2, 2), [("a", "<f8")]),
        npy((2, 2), "<M8[s]", b"\0" * 32),
        b"\x93NUMPY\x01\x00\xff\xff{'descr'",
        b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + b"(" * 1000,
        npy((2, 2), data=b"\0" * 8),
    ],
    ids=[
        "rows",
        "classes",
        "by columns",
        "negative",
        "text",
        "cube",
        "records",
        "times",
        "cut",
        "deep",
        "short",
    ],
)
def test_headers_that_lie(tmp_path: Path, y_prob: bytes) -> None:
    refused(npz(tmp_path / "x.npz", y_true=LABELS, y_prob=y_prob))
    (tmp_path / "x.npy").write_bytes(y_prob)
    (tmp_path / "y.npy").write_bytes(LABELS)
    refused(tmp_path / "x.npy", label_file=str(tmp_path / "y.npy"))


def peak_of(*arguments: str) -> tuple[int, str, float]:
    """Exit code, stderr and the most memory of a process that runs the command, in MB."""
    script = (
        "import resource, sys\nfrom trueness.cli import main\ncode = main(sys.argv[1:])\n"
        "peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        # On Linux that also remembers the process that this one was forked from; the mark below is its own.
        "if sys.platform == 'linux':\n"
        "    lines = open('/proc/self/status').read().splitlines()\n"
        "    peak = next(int(line.split()[1]) for line in lines if line.startswith('VmHWM:'))\n"
        "print('peak', peak)\nsys.exit(code)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False
    )
    unit = 1 if sys.platform == "darwin" else 1024
    peak = int(ended.stdout.rsplit("peak ", 1)[1]) * unit / MEGABYTE
    return ended.returncode, ended.stderr, peak


@pytest.fixture(scope="module")
def bomb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """800 MB of logits that are 0, in less than a megabyte."""
    n_rows, path = 10**7, tmp_path_factory.mktemp("bomb") / "x.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, shape in (("y_true", (n_rows,)), ("logits", (n_rows, 9))):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                member.write(npy(shape))
                for _ in range(int(np.prod(shape)) * 8 // 8_000_000):
                    member.write(bytes(8_000_000))
    assert path.stat().st_size < MEGABYTE
    return path


def test_a_bomb_is_read_a_little_at_a_time(bomb: Path, tmp_path: Path) -> None:
    """As probabilities its first row is refused; as logits it is good, and takes time but no memory.

    The portable engine, for compiling the fused one takes more memory than reading the file does.
    """
    table = str(tmp_path / "t.json")
    code, told, peak = peak_of("tabulate", str(bomb), "--engine", "portable", "-o", table)
    assert (code, "row 1:" in told) == (2, True), told
    assert peak < 200
    code, told, peak = peak_of("tabulate", str(bomb), "--logits", "--engine", "portable", "-o", table)
    assert code == 0, told
    assert load_tables(table).n_rows == 10**7
    assert peak < 200


def test_a_bomb_by_columns_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("y_true.npy", npy((2**22,), "|i1", bytes(2**22)))
        with archive.open("y_prob.npy", "w") as member:
            member.write(npy((2**22, 9), order=True))
            for _ in range(9 * 4):
                member.write(bytes(8 * 2**20))
    assert "column by column" in refused(tmp_path / "x.npz")


@pytest.mark.parametrize(
    ("ending", "separator", "remedy"), [("csv", ";", "commas"), ("csv", "\t", "tsv"), ("tsv", ",", "csv")]
)
def test_another_separator_is_named(tmp_path: Path, ending: str, separator: str, remedy: str) -> None:
    path = tmp_path / f"x.{ending}"
    path.write_text("\n".join(separator.join(line) for line in (["y", "p_0", "p_1"], ["0", "0.5", "0.5"])))
    told = refused(path)
    assert f"separated by {separator!r}" in told
    assert remedy in told


def test_a_group_in_each_row_is_refused_before_it_is_summed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def summed(*_: Any) -> None:
        raise AssertionError("summed")

    np.savez(
        tmp_path / "x.npz",
        y_true=np.zeros(20_000, int),
        y_prob=np.full((20_000, 2), 0.5),
        id=np.arange(20_000),
    )
    monkeypatch.setattr("trueness.files.summing.batch_tables", summed)
    with pytest.raises(Refusal, match=r"'id' \(groups\) has more than 1\d{4} values"):
        sum_source(
            Source(find_inputs([str(tmp_path / "x.npz")]).files, Request(by="id"), RowOptions()), Plan()
        )


def test_a_long_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.csv").write_bytes(b"y,p_0,p_1\n0,0.5," + b"5" * 4 * MEGABYTE)
    assert "x.csv" in refused(tmp_path / "x.csv")
    monkeypatch.setattr("trueness.formats._text_stream.MAX_LINE_BYTES", 2 * MEGABYTE)
    (tmp_path / "x.jsonl").write_bytes(b'{"y": 0, "p": [' + b"0," * 4 * MEGABYTE)
    assert "a line of more than" in refused(tmp_path / "x.jsonl")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("ending", ["parquet", "arrow", "arrows", "npz", "csv", "jsonl"])
def test_bytes_changed_at_random_end_in_an_answer_or_a_refusal(
    tmp_path: Path, ending: str, seed: int
) -> None:
    """In a process of its own, which a crash of a library would end with a signal."""
    from trueness.files import write_predictions

    rng = np.random.default_rng(seed)
    y_prob = rng.dirichlet([1, 1, 1], 500)
    path = tmp_path / f"x.{ending}"
    if ending == "arrows":
        import pyarrow as pa

        table = pa.table({"y": np.zeros(500, int), "g": ["a"] * 500, "p": list(y_prob)})
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as file:
            file.write_table(table)
    else:
        write_predictions(str(path), [(np.zeros(500, int), y_prob)], 500, 3)
    data = np.frombuffer(path.read_bytes(), np.uint8).copy()
    script = (
        "import sys\nfrom trueness.cli import main\n"
        "codes = {main(['tabulate', name, '-o', sys.argv[1] + '/t.json']) for name in sys.argv[2:]}\n"
        "sys.exit(0 if codes <= {0, 2} else 9)"
    )
    names = []
    for copy in range(20):
        changed = data.copy()
        # Where the structure is, more often than where the numbers are.
        places = np.concatenate([rng.integers(0, len(data), 3), rng.integers(0, min(400, len(data)), 2)])
        places = np.concatenate([places, len(data) - 1 - rng.integers(0, min(400, len(data)), 2)])
        changed[places] = rng.integers(0, 256, len(places))
        names.append(str(tmp_path / f"{copy}.{ending}"))
        Path(names[-1]).write_bytes(changed.tobytes())
    ended = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), *names], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert "Traceback" not in ended.stderr


def test_text_of_a_file_cannot_write_to_the_terminal(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "x.csv").write_bytes(b"y,p_0,p_1\n\x1b[2J\x1b]0;owned\x07,0.5,0.5\n")
    assert (
        main(["tabulate", str(tmp_path / "x.csv"), "--classes", "index", "-o", str(tmp_path / "t.json")]) == 2
    )
    assert "\x1b" not in capsys.readouterr().err
    (tmp_path / "x.csv").write_bytes(b"y,p_0,p_1\n0,0.5,0.5\n0,0.5,0.5\n0,\x1b[2J,0.5\n")
    assert main(["tabulate", str(tmp_path / "x.csv"), "-o", str(tmp_path / "t.json")]) == 2
    told = capsys.readouterr().err
    assert "row 3: '\\x1b[2J' is not a number" in told
    assert "\x1b" not in told


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        '{"format": "trueness tables by group", "schema": 3, "by": "x", "groups": []}',
        '{"format": "trueness tables by group", "schema": 1, "by": "x", "groups": []}',
        '{"format": "trueness tables by group", "schema": 1, "by": "x", "groups": {}}',
        '{"format": "trueness tables by group", "schema": 1, "by": "x", "groups": [1]}',
        '{"format": "trueness tables by group", "schema": 1, "by": "x", "groups": [{"group": 1, "tables": []}]}',
        '{"format": "trueness tables by group", "schema": 1, "by": "x", "groups": [{"group": "a", "tables": [{}]}]}',
        "[" * 100_000,
        "not JSON",
    ],
)
def test_saved_groups_are_looked_at(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(Refusal):
        load_tables(str(tmp_path / "t.json"))


def test_the_unit_of_memory_is_known() -> None:
    """On Linux kilobytes; the tests above would pass for any peak otherwise."""
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > 20 * MEGABYTE


def test_names_of_groups_do_not_speak_to_the_terminal(tmp_path: Path, capsys: Any) -> None:
    """Control characters, a turned direction of writing, half a surrogate pair: printed by their codes."""
    y_true, y_prob = tn.simulate.calibrated(900, [5, 1, 1], rng=0)
    sites = np.array(["a\x1b[31m", "b\u202e", "c\udc80"])[np.arange(900) % 3]
    path = tmp_path / "x.npz"
    np.savez(path, y_true=y_true, y_prob=y_prob, site=sites)
    outputs = ["--json", str(tmp_path / "a.json"), "--report", str(tmp_path / "a.html")]
    assert main(["assess", str(path), "--by", "site", *outputs]) == 0
    printed = capsys.readouterr().out
    for code in (r"a\x1b[31m ", r"b\u202e ", r"c\udc80 "):
        assert code in printed
    assert all(letter.isprintable() or letter == "\n" for letter in printed)
    assert main(["compare", str(path), str(path), "--names", "a,b", "--by", "site"]) == 0
    printed = capsys.readouterr().out
    assert all(letter.isprintable() or letter == "\n" for letter in printed)
    assert r"c\udc80, 300 rows" in printed


def test_a_file_whose_name_is_no_text(tmp_path: Path, capsys: Any) -> None:
    folder = os.fsencode(tmp_path) + b"/hive/site=\xff"
    os.makedirs(folder)
    with open(folder + b"/x.csv", "w", encoding="utf-8") as file:
        file.write("y,p_0,p_1\n0,0.5,0.5\n")
    assert main(["tabulate", str(tmp_path / "hive"), "-o", str(tmp_path / "t.json")]) == 2
    cause, remedy = capsys.readouterr().err.splitlines()
    assert cause.endswith(r"\udcff/x.csv is not UTF-8")
    assert remedy == "  rename the file"


def test_an_array_of_a_usual_name_that_cannot_be_read(tmp_path: Path, capsys: Any) -> None:
    """What is wrong with it is said, and not that it was not found; other arrays may be what they like."""
    path, out = tmp_path / "x.npz", str(tmp_path / "t.json")
    y_true, y_prob = tn.simulate.calibrated(50, [5, 1, 1], rng=0)
    np.savez(path, y_true=y_true, y_prob=y_prob[:, :, None])
    assert main(["tabulate", str(path), "-o", out]) == 2
    assert "shape (50, 3, 1)" in capsys.readouterr().err
    assert main(["tabulate", str(path), "--probs", "y_prob", "-o", out]) == 2
    assert "shape (50, 3, 1)" in capsys.readouterr().err
    np.savez(path, y_true=y_true, y_prob=y_prob.astype(object))
    assert main(["tabulate", str(path), "-o", out]) == 2
    assert "a pickle" in capsys.readouterr().err
    np.savez(path, y_true=y_true, y_prob=y_prob, notes=np.array([{}]))
    assert main(["tabulate", str(path), "-o", out]) == 0


LONG = "x" * 20_000


def write_long_texts(path: Path) -> None:
    """Rows in which one text of 20 000 letters stands again and again, beside 20 000 short ones."""
    import gzip

    import pyarrow as pa
    import pyarrow.parquet as pq

    n_rows = 60_000
    codes = np.where(np.arange(n_rows) % 3 == 0, np.arange(n_rows) // 3, 0).astype(np.int32)
    texts = [LONG, *(f"short {number}" for number in range(1, 20_000))]
    if path.suffix == ".parquet":
        columns = {"y": np.arange(n_rows) % 2, "p_0": np.full(n_rows, 0.25), "p_1": np.full(n_rows, 0.75)}
        written = pa.DictionaryArray.from_arrays(codes, texts)
        names = pa.DictionaryArray.from_arrays((codes > 0).astype(np.int32), [LONG, "short"])
        pq.write_table(pa.table({**columns, "text": written, "name": names}), path)
        return
    csv = path.name.endswith("csv.gz")
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write("y,p_0,p_1,text,name\n" if csv else "")
        for row, code in enumerate(codes.tolist()):
            name, text = "short" if code else LONG, texts[code]
            if csv:
                file.write(f"{row % 2},0.25,0.75,{text},{name}\n")
            else:
                file.write(f'{{"y": {row % 2}, "p": [0.25, 0.75], "text": "{text}", "name": "{name}"}}\n')


@pytest.fixture(scope="module", params=["parquet", "csv.gz", "jsonl.gz"])
def long_texts(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long") / f"x.{request.param}"
    write_long_texts(path)
    return path


@pytest.mark.parametrize(
    "options",
    [
        ["--label", "y", "--by", "name"],
        ["--label", "y", "--where", "text != short 7"],
        ["--label", "name", "--classes", f"{LONG},short"],
    ],
    ids=["by", "where", "label"],
)
def test_a_long_text_in_many_rows_is_held_once(long_texts: Path, tmp_path: Path, options: list[str]) -> None:
    """As NumPy's text a column would take 4.8 GB, as Python's or Arrow's 1.2 GB."""
    table = str(tmp_path / "t.json")
    code, told, peak = peak_of("tabulate", str(long_texts), *options, "--engine", "portable", "-o", table)
    assert code == 0, told[-500:]
    assert load_tables(table).n_rows in (60_000, 59_999)
    assert peak < 400


NEW_NAMES = {"--by": "--groups", "--weight": "--sample-weight"}

ODD_TYPES = (
    "struct", "map", "list", "fixed_size_list", "list_view", "interval", "run_end_encoded", "union", "binary"
)  # fmt: skip


def odd_column(name: str, n_rows: int) -> Any:
    import pyarrow as pa

    return {
        "struct": lambda: pa.array([{"a": 1}] * n_rows),
        "map": lambda: pa.array([[("a", 1)]] * n_rows, pa.map_(pa.string(), pa.int64())),
        "list": lambda: pa.array([["a"]] * n_rows),
        "fixed_size_list": lambda: pa.array([["a", "b"]] * n_rows, pa.list_(pa.string(), 2)),
        "list_view": lambda: pa.array([[1]] * n_rows, pa.list_view(pa.int64())),
        "interval": lambda: pa.array([pa.MonthDayNano([1, 2, 3])] * n_rows),
        "run_end_encoded": lambda: pa.RunEndEncodedArray.from_arrays([n_rows], [1]),
        "union": lambda: pa.UnionArray.from_sparse(
            pa.array([0] * n_rows, pa.int8()), [pa.array([1] * n_rows)]
        ),
        "binary": lambda: pa.array([b"\xff\xfe"] * n_rows),
    }[name]()


@pytest.mark.parametrize("name", ODD_TYPES)
@pytest.mark.parametrize("option", ["--by", "--label", "--where", "--weight"])
def test_columns_that_are_not_one_value_a_row(tmp_path: Path, name: str, option: str, capsys: Any) -> None:
    import pyarrow as pa

    table = pa.table({"y": [0, 1], "p": [[0.5, 0.5]] * 2, "odd": odd_column(name, 2)})
    path = tmp_path / "x.arrow"
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as file:
        file.write_table(table)
    value = "odd = 1" if option == "--where" else "odd"
    label = [] if option == "--label" else ["--label", "y"]
    arguments = ["tabulate", str(path), *label, "--probs", "p", option, value, "--classes", "0,1"]
    assert main([*arguments, "-o", str(tmp_path / "t.json")]) == 2
    *_, cause, _ = capsys.readouterr().err.splitlines()
    assert f"column 'odd' ({NEW_NAMES.get(option, option)}) holds" in cause


@pytest.mark.parametrize("option", ["--by", "--label", "--where"])
def test_text_of_numpy_that_is_no_text(tmp_path: Path, option: str, capsys: Any) -> None:
    beyond = np.array([0x110000, 0x41], "<u4").view("<U1")
    np.savez(tmp_path / "x.npz", y=[0, 1], p=np.full((2, 2), 0.5), odd=beyond)
    value = "odd = A" if option == "--where" else "odd"
    label = [] if option == "--label" else ["--label", "y"]
    arguments = ["tabulate", str(tmp_path / "x.npz"), *label, "--probs", "p", "--classes", "0,1"]
    assert main([*arguments, option, value, "-o", str(tmp_path / "t.json")]) == 2
    *_, cause, _ = capsys.readouterr().err.splitlines()
    assert f"column 'odd' ({NEW_NAMES.get(option, option)}) holds text that cannot be read" in cause


def test_a_parquet_file_with_checksums_is_refused_or_gives_the_same_table(tmp_path: Path) -> None:
    """One bit of each file is flipped; what simulate writes has checksums."""
    path, out = tmp_path / "x.parquet", tmp_path / "t.json"
    assert main(["simulate", "--rows", "3000", "--alpha", "1,1,1", "-o", str(path)]) == 0
    assert main(["tabulate", str(path), "-o", str(out)]) == 0
    expected, data = out.read_bytes(), path.read_bytes()
    rng = np.random.default_rng(0)
    refusals = 0
    for place in rng.integers(4, len(data) - 8, 250).tolist():
        flipped = bytearray(data)
        flipped[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(flipped)
        code = main(["tabulate", str(path), "-o", str(out)])
        refusals += code == 2
        assert code == 2 or out.read_bytes() == expected, place
    assert refusals > 200


def test_a_page_that_was_changed_is_refused_with_the_name_of_the_file(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "x.parquet"
    assert main(["simulate", "--rows", "3000", "--alpha", "1,1,1", "-o", str(path)]) == 0
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert main(["tabulate", str(path), "-o", str(tmp_path / "t.json")]) == 2
    told = capsys.readouterr().err
    assert f"{path} cannot be read, it may be damaged" in told
    assert "CRC checksum" in told
