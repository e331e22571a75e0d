"""The fused engine gives the portable one's table: counts, ordered sums and ranks to the bit, logarithms to 1e-12."""

import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trueness as tn

pytestmark = pytest.mark.fast

CLASSES = [2, 3, 7, 8, 9, 10, 15, 16, 17, 32, 33, 40, 100, 300]


def rows(n_rows: int, n_classes: int, seed: int = 0, alpha: float = 0.7):
    return tn.simulate.calibrated(n_rows, [alpha] * n_classes, rng=seed)


def nasty(n_classes: int, seed: int = 0):
    """One-hot, uniform, rounded and tiny rows with every label; their number is not a multiple of eight."""
    rng = np.random.default_rng(seed)
    coarse = np.round(rng.dirichlet([0.3] * n_classes, 90), 1) + 1e-3
    tiny = np.full((40, n_classes), 1e-20)
    tiny[:, 0], tiny[:, -1] = 1 - 1e-12, 1e-30
    subnormal = np.zeros((20, n_classes))
    subnormal[:, 0], subnormal[:, -1] = 1.0, 5e-320
    parts = [np.eye(n_classes)[rng.integers(0, n_classes, 50)], np.full((21, n_classes), 1 / n_classes)]
    y_prob = np.vstack([*parts, coarse / coarse.sum(axis=1, keepdims=True), tiny, subnormal])
    return rng.integers(0, n_classes, len(y_prob)), y_prob[rng.permutation(len(y_prob))]


def assert_same(y_true, y_prob, **how) -> None:
    fused = tn.tabulate(y_true, y_prob, engine="fused", **how)
    portable = tn.tabulate(y_true, y_prob, engine="portable", **how)
    assert fused.same_counts(portable)
    assert (fused.tied_rows, fused.impossible_rows) == (portable.tied_rows, portable.impossible_rows)
    # Each row may be rounded to the neighbouring unit of 2^-40, and V to that of 2^-52.
    unit = 2.0**-40 * fused.n_rows
    assert abs(fused.log_score_sum - portable.log_score_sum) <= unit + 1e-12 * abs(portable.log_score_sum)
    assert (
        abs(fused.log_score_variance - portable.log_score_variance)
        <= unit + 1e-12 * portable.log_score_variance
    )
    assert fused.sums.same(portable.sums, "true_probability", "square")
    assert fused.log_loss == pytest.approx(portable.log_loss, rel=1e-12, abs=2.0**-40)
    np.testing.assert_allclose(
        fused.variation_sum, portable.variation_sum, rtol=1e-12, atol=1e-13 * fused.n_rows
    )


@pytest.mark.parametrize("ties", ["first", "split"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_classes", CLASSES)
def test_random_and_nasty_rows(n_classes: int, dtype: str, ties: str) -> None:
    for y_true, y_prob in (rows(1003, n_classes), nasty(n_classes)):
        assert_same(y_true, y_prob.astype(dtype), ties=ties)


@pytest.mark.parametrize("variation", ["entropy", "confidence", "max_probability"])
@pytest.mark.parametrize(
    "bins",
    [
        1,
        2,
        10,
        33,
        34,
        300,
        tn.FineGrid(4000),
        tn.EqualMass(10),
        tn.EqualMass(200),
        tn.Edges([0, 0, 0.3, 0.31, 1]),
    ],
    ids=str,
)
@pytest.mark.parametrize("n_classes", [3, 50])
def test_every_binning_and_measure(n_classes: int, bins, variation: str) -> None:
    for y_true, y_prob in (rows(2501, n_classes), nasty(n_classes)):
        assert_same(y_true, y_prob, bins=bins, variation=variation)


@pytest.mark.parametrize("n_classes", [2, 10, 40])
@pytest.mark.parametrize("n_rows", [1, 2, 7, 8, 9, 4095, 4096, 16377, 65536, 65537])
def test_every_length(n_rows: int, n_classes: int) -> None:
    """Around groups of eight, flushes of the running sums and blocks."""
    if n_rows * n_classes < 1_000_000:
        assert_same(*rows(n_rows, n_classes))


@given(st.integers(0, 2**32), st.sampled_from([2, 5, 10, 36]), st.lists(st.integers(0, 999), max_size=4))
def test_split_is_whole_to_the_bit(seed: int, n_classes: int, cuts: list[int]) -> None:
    y_true, y_prob = rows(1000, n_classes, seed)
    whole = tn.tabulate(y_true, y_prob, engine="fused")
    ends = [0, *sorted(cuts), 1000]
    parts = [tn.tabulate(y_true[a:b], y_prob[a:b], engine="fused") for a, b in pairwise(ends) if a < b]
    assert sum(parts) == whole


@pytest.mark.parametrize("n_classes", [3, 10, 64])
def test_layout_threads_and_order_do_not_matter(n_classes: int) -> None:
    y_true, y_prob = rows(150_000 // n_classes * 2, n_classes)
    expected = tn.tabulate(y_true, y_prob, engine="fused", n_threads=1)
    wide = np.zeros((len(y_prob), 2 * n_classes))
    wide[:, ::2] = y_prob
    frozen = y_prob.copy()
    frozen.setflags(write=False)
    order = np.random.default_rng(0).permutation(len(y_prob))
    for labels, layout in (
        (y_true, np.asfortranarray(y_prob)),
        (y_true, wide[:, ::2]),
        (y_true[::-1], y_prob[::-1]),
        (y_true, frozen),
        (y_true.astype(np.uint8), y_prob),
        (y_true[order], y_prob[order]),
    ):
        for n_threads in (1, 2, 5):
            assert tn.tabulate(labels, layout, engine="fused", n_threads=n_threads) == expected


def test_a_memory_mapped_file(tmp_path) -> None:
    y_true, y_prob = rows(5000, 10)
    np.save(tmp_path / "p.npy", y_prob)
    mapped = np.load(tmp_path / "p.npy", mmap_mode="r")
    assert tn.tabulate(y_true, mapped, engine="fused") == tn.tabulate(y_true, y_prob, engine="fused")


@pytest.mark.frames
def test_columns_are_not_interleaved_first() -> None:
    import polars as pl

    y_true, y_prob = rows(5000, 10)
    frame = pl.DataFrame({f"p_{c}": y_prob[:, c] for c in range(10)})
    assert tn.tabulate(y_true, frame, engine="fused") == tn.tabulate(y_true, y_prob, engine="fused")


@pytest.mark.parametrize("n_classes", [2, 3, 7, 8, 9, 10, 17, 32, 33])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_in_memory_are_read_as_they_lie(n_classes: int, dtype: Any) -> None:
    """One run of memory for each class: other loads, and the same table, odd rows and short blocks included."""
    y_true, y_prob = rows(2003, n_classes)
    y_prob[::7] = np.eye(n_classes)[y_true[::7]]
    y_prob[3::11] = 1 / n_classes
    y_prob = y_prob.astype(dtype)
    for bins, ties, n_rows in (
        (10, "first", 2003),
        (400, "split", 2003),
        *((10, "split", n) for n in (1, 2, 7, 8)),
    ):
        how = {"bins": bins, "ties": ties, "engine": "fused"}
        columns = np.asfortranarray(y_prob[:n_rows])
        assert tn.tabulate(y_true[:n_rows], columns, **how) == tn.tabulate(
            y_true[:n_rows], y_prob[:n_rows], **how
        )
    spoiled = np.asfortranarray(y_prob)
    spoiled[1999, 1] = np.nan
    with pytest.raises(ValueError, match="row 1999"):
        tn.tabulate(y_true, spoiled, engine="fused")


@pytest.mark.parametrize("n_classes", [3, 50])
def test_logits_normalising_and_binary(n_classes: int) -> None:
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(3001, n_classes)) * rng.choice([1, 50, 400], size=(3001, 1))
    y_true = rng.integers(0, n_classes, 3001)
    assert_same(y_true, logits, from_logits=True)
    assert_same(y_true, np.round(logits), from_logits=True, ties="split")
    assert_same(y_true, np.exp(rng.normal(size=(3001, n_classes))), normalize=True)
    assert_same(y_true % 2, rng.random(3001))


@pytest.mark.parametrize("n_classes", [3, 10, 50])
@pytest.mark.parametrize(
    ("value", "shown"),
    [(np.nan, "nan"), (np.inf, "inf"), (-1e-18, "-1e-18"), (1.0000000000000002, "1.0000000000000002")],
)
@pytest.mark.parametrize("row", [0, 70_001, 70_007])
def test_bad_rows_are_named_as_by_the_portable_engine(
    row: int, value: float, shown: str, n_classes: int
) -> None:
    y_true, y_prob = np.zeros(70_010, int), np.zeros((70_010, n_classes))
    y_prob[:, 1] = 1.0
    y_prob[row, :2] = (value, 1 - value) if np.isfinite(value) else (value, 0.5)
    messages = []
    for engine, n_threads in (("portable", 1), ("fused", 1), ("fused", 2)):
        for bins in (10, tn.EqualMass(5)):
            with pytest.raises(ValueError, match=rf"y_prob is {shown} in row {row}\b") as caught:
                tn.tabulate(y_true, y_prob, bins=bins, engine=engine, n_threads=n_threads)
            messages.append(str(caught.value))
    assert len(set(messages)) == 1


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_classes", [4, 16, 40])
def test_minus_zero_is_zero_and_hides_nothing(n_classes: int, dtype: str) -> None:
    """As bits it is less than any other number."""
    y_prob = np.zeros((11, n_classes), dtype)
    y_prob[:, 1], y_prob[:, 2:] = 1.0, -0.0
    assert_same(np.arange(11) % n_classes, y_prob)
    y_prob[5, 0], y_prob[5, 2] = 0.5, -0.5
    for engine in ("fused", "portable"):
        with pytest.raises(ValueError, match=r"y_prob is -0\.5 in row 5, class 2"):
            tn.tabulate(np.zeros(11, int), y_prob, engine=engine)


@pytest.mark.parametrize("item", [4, 8])
def test_sorting_of_lines(item: int) -> None:
    """Every number of blocks up to one beyond a power of two, and some large ones."""
    from trueness.tabulation.fused._lines import zero_lines
    from trueness.tabulation.fused._sorting import sort_lines

    rng = np.random.default_rng(0)
    for n_classes in (16, *range(17, 290, 16), 500, 513, 1000, 1024, 1025, 2100, 4500):
        lines = zero_lines(n_classes, item)
        lines[:n_classes] = rng.random((n_classes, 8)).round(2 if n_classes % 3 else 9)
        expected = -np.sort(-lines, axis=0)
        sort_lines(lines, -(-n_classes // 16) * 16)
        np.testing.assert_array_equal(lines, expected)


@pytest.mark.parametrize("n_classes", [2, 3, 17, 40])
def test_sums_near_the_tolerance_are_judged_by_one_rule(n_classes: int) -> None:
    """Engines add in different orders; where that matters, the same function decides for both."""
    rng = np.random.default_rng(n_classes)
    y_prob = rng.dirichlet([1.0] * n_classes, 200)
    side = rng.choice([-1.0, 1.0], (200, 1))
    tolerance = 1e-5 + 4 * n_classes * 2.0**-52
    y_prob *= 1 + side * tolerance + rng.integers(-4, 5, (200, 1)) * 2.0**-53
    good = []
    for bins in (10, tn.EqualMass(1)):
        for row in y_prob:
            outcomes = set()
            for engine in ("portable", "fused"):
                try:
                    tn.tabulate([0], row[None], bins=bins, engine=engine)
                    outcomes.add("good")
                except ValueError as error:
                    outcomes.add(str(error))
            assert len(outcomes) == 1
            good += (outcomes == {"good"},)
    assert 20 < sum(good) < 380
    among = rows(1000, n_classes)[1]
    among[5::10] = y_prob[np.array(good[:200])][np.arange(100) % sum(good[:200])]
    assert_same(np.zeros(1000, int), among)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 40, 300])
@pytest.mark.parametrize(("dtype", "parts"), [("float64", 10**5), ("float16", 2**10)])
def test_rows_that_miss_1_by_one_unit_are_not_checked_twice(
    n_classes: int, dtype: str, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decimals of five digits, and a coarse dtype: such sums are common, and a second look takes far longer."""
    from trueness.tabulation import fused

    seen: list[int] = []
    monkeypatch.setattr(fused, "refuse_bad_rows", lambda *_: seen.append(1))
    rng = np.random.default_rng(0)
    units = rng.multinomial(parts + rng.integers(-1, 2, 5000), rng.dirichlet(np.ones(n_classes), 5000))
    y_true, y_prob = rng.integers(0, n_classes, 5000), np.clip(units / parts, 0, 1).astype(dtype)
    assert np.count_nonzero(np.abs(y_prob.sum(axis=1, dtype=float) - 1) > 0.9 / parts) > 2000
    for bins in (10, tn.EqualMass(3)):
        tn.tabulate(y_true, y_prob, engine="fused", bins=bins)
    assert seen == []
    monkeypatch.undo()
    assert_same(y_true, y_prob)


@pytest.mark.parametrize("n_classes", [2, 40])
@pytest.mark.parametrize("from_logits", [False, True])
def test_extreme_rows_do_not_overflow(n_classes: int, from_logits: bool, tmp_path: Path) -> None:
    """20 000 true classes of probability 1e-250 (or the least that logits say): the sums of lanes reach 2^63."""
    n_rows = 20_000
    y_prob = np.zeros((n_rows, n_classes))
    y_prob[:, 0], y_prob[:, 1] = (0.0, -1e9) if from_logits else (1.0, 1e-250)
    if from_logits:
        y_prob[:, 2:] = -np.inf
    each = -(2.0**22) if from_logits else np.log(1e-250)
    for engine in ("fused", "portable"):
        table = tn.tabulate(np.ones(n_rows, int), y_prob, from_logits=from_logits, engine=engine)
        assert table.log_score_sum == pytest.approx(n_rows * each, rel=1e-12)
        assert table.log_loss == pytest.approx(-each, rel=1e-12)
        assert table.log_score_variance == pytest.approx(0, abs=1e-6)
        table.save(tmp_path / "table.json")
        assert tn.CalibrationTable.load(tmp_path / "table.json") == table


@pytest.mark.parametrize("n_classes", [2, 9, 40])
def test_logits_at_the_ends_of_floats(n_classes: int) -> None:
    """A class is impossible if its own logit is -inf, not because a finite one is too far from the largest."""
    ends = [1.7e308, 1e308, -1e308, -1.7e308, 0.0]
    logits = np.array(np.meshgrid(ends, [*ends, -np.inf])).reshape(2, -1).T
    logits = np.pad(logits, ((0, 0), (0, n_classes - 2)))
    for label in (0, 1):
        y_true = np.full(len(logits), label)
        impossible = int(np.isneginf(logits[:, label]).sum())
        assert_same(y_true, logits, from_logits=True)
        assert tn.tabulate(y_true, logits, from_logits=True).impossible_rows == impossible


def double(x):
    return 2 * x


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:0],
        lambda content: content[: len(content) // 2],
        lambda content: content[:-1],
        lambda content: bytes(reversed(content)),
        lambda content: b"\x00" * len(content),
        lambda content: content[:-400] + bytes(byte ^ 1 for byte in content[-400:]),
    ],
    ids=["empty", "half", "without its end", "garbage", "zeros", "flipped bits"],
)
def test_a_damaged_cache_is_made_anew(
    damage: Any, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numba

    from trueness.tabulation.fused._jit import kernel

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def hits() -> int:
        made = kernel(double)
        assert made(21) == 42
        return sum(made.stats.cache_hits.values())

    assert [hits(), hits()] == [0, 1]
    (file,) = tmp_path.rglob(f"*.{ending}")
    file.write_bytes(damage(file.read_bytes()))
    assert [hits(), hits()] == [0, 1]


def test_sums_and_labels_are_refused_too() -> None:
    y_true, y_prob = rows(100, 4)
    with pytest.raises(ValueError, match=r"y_prob sums to 1\.\d+ in row 50"):
        tn.tabulate(y_true, y_prob + 0.1 * (np.arange(100) == 50)[:, None] / 4, engine="fused")
    with pytest.raises(ValueError, match=r"y_true is 4 in row 99"):
        tn.tabulate([*y_true[:-1], 4], y_prob, engine="fused")


class TestChoice:
    def test_what_it_cannot_do_is_said(self) -> None:
        y_true, y_prob = rows(10, 3)
        with pytest.raises(ValueError, match=r"fused.*sample_weight.*portable"):
            tn.tabulate(y_true, y_prob, sample_weight=np.ones(10), engine="fused")
        with pytest.raises(ValueError, match=r"fused.*'iqv'.*entropy, confidence"):
            tn.tabulate(y_true, y_prob, variation="iqv", engine="fused")

    def test_without_numba(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from trueness.tabulation import engines

        monkeypatch.setattr(engines, "find_spec", lambda _: None)
        y_true, y_prob = rows(10, 3)
        with pytest.raises(ValueError, match=r"needs numba.*trueness\[fast\]"):
            tn.tabulate(y_true, y_prob, engine="fused")
        assert tn.tabulate(y_true, y_prob).n_rows == 10

    def test_where_it_cannot_be_compiled_the_other_one_serves(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from trueness.tabulation import engines, fused

        def refuse(*_: object) -> None:
            raise RuntimeError("no such processor")

        monkeypatch.setattr(fused, "prepare", refuse)
        monkeypatch.setattr(engines, "_is_worthwhile", lambda _: True)
        y_true, y_prob = rows(100, 3)
        for bins in (10, tn.EqualMass(4)):
            with pytest.warns(RuntimeWarning, match=r"fused engine.*no such processor.*portable"):
                table = tn.tabulate(y_true, y_prob, bins=bins)
            assert table == tn.tabulate(y_true, y_prob, bins=bins, engine="portable")
            with pytest.raises(RuntimeError, match="no such processor"):
                tn.tabulate(y_true, y_prob, bins=bins, engine="fused")

    def test_bins_too_narrow_are_refused_without_a_word_on_engines(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from trueness.tabulation import engines

        monkeypatch.setattr(engines, "_is_worthwhile", lambda _: True)
        y_true, y_prob = rows(50, 5)
        with pytest.raises(ValueError, match="too narrow"):  # warnings are errors here
            tn.tabulate(y_true, y_prob.astype(np.float16), bins=500)

    def test_without_a_place_for_compiled_code(self, tmp_path) -> None:
        """A package folder and a home that cannot be written (stood for by a path below a file)."""
        code = """
            import numba.core.caching as caching
            caching.CacheImpl._locator_classes = []
            import trueness as tn
            y_true, y_prob = tn.simulate.calibrated(100, [1.0] * 3, rng=0)
            assert tn.tabulate(y_true, y_prob, engine="fused").same_counts(tn.tabulate(y_true, y_prob))
        """
        subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)

    def test_small_inputs_never_load_the_compiler_and_large_ones_do(self) -> None:
        code = """
            import sys, numpy as np, trueness as tn
            y_true, y_prob = tn.simulate.calibrated(50_000, [1.0] * 10, rng=0)
            tn.vce(y_true, y_prob)
            assert "numba" not in sys.modules
            y_prob = np.broadcast_to(y_prob[:1], (6_000_000, 10))
            tn.vce(np.zeros(6_000_000, np.int8), y_prob)
            assert "numba" in sys.modules
            from trueness.tabulation import fused
            assert (10, 8, False) in fused._ready
        """
        subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)

    def test_accumulators_take_it(self) -> None:
        y_true, y_prob = rows(5000, 10)
        stream = tn.Accumulator(10, engine="fused")
        for start in range(0, 5000, 700):
            stream.update(y_true[start : start + 700], y_prob[start : start + 700])
        assert stream.table == tn.tabulate(y_true, y_prob, engine="fused")


def test_several_tables_from_one_pass() -> None:
    from trueness.rows import Rows
    from trueness.tabulation import tabulate_rows

    y_true, y_prob = rows(9001, 10)
    alone = [
        tn.tabulate(y_true, y_prob, variation=v, bins=b, engine="fused")
        for v, b in (("entropy", 10), ("confidence", 15))
    ]
    together = tabulate_rows(Rows.of(y_true, y_prob), [table.spec for table in alone], engine="fused")
    assert together == alone


def test_two_threads_may_call_it_at_once() -> None:
    y_true, y_prob = rows(40_000, 10)
    expected = tn.tabulate(y_true, y_prob, engine="fused")
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(tn.tabulate, y_true, y_prob, engine="fused", n_threads=2) for _ in range(12)]
        assert all(call.result() == expected for call in calls)


def test_control_c_stops_it_and_leaves_the_accumulator_unchanged() -> None:
    """A real SIGINT in the middle of a call of about 20 s: it ends within seconds, and nothing is added."""
    code = """
        import os, signal, threading, time, numpy as np, trueness as tn
        y_true, y_prob = tn.simulate.calibrated(200_000, [1.0] * 10, rng=0)
        stream = tn.Accumulator(10, engine="fused", n_threads=2)
        stream.update(y_true, y_prob)
        begin = time.perf_counter()
        stream.update(y_true, y_prob)
        n_rows = int(200_000 * 20 / (time.perf_counter() - begin))
        before = stream.table
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        begin = time.perf_counter()
        try:
            stream.update(np.broadcast_to(y_true[:1], (n_rows,)), np.broadcast_to(y_prob[:1], (n_rows, 10)))
        except KeyboardInterrupt:
            assert time.perf_counter() - begin < 5
            assert stream.table == before
            print("stopped")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "stopped", done.stderr
