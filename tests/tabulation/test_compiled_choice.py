"""When the compiled engine is chosen, and what is said if it cannot be used."""

import ctypes
import shutil
import subprocess
import sys
import textwrap
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from compiled_rows import rows

import trueness as tn
from trueness.rows import Rows
from trueness.tabulation import compiled, portable
from trueness.tabulation.compiled import library as library_module
from trueness.tabulation.compiled.library import ABI, Library, known_answer, load, require_library
from trueness.tabulation.engines import available_cores, choose_engine, engine_name, thread_count

Y_TRUE, Y_PROB = rows(200, 3)
EXPECTED = tn.tabulate(Y_TRUE, Y_PROB, engine="portable")
ENTROPY = [tn.variations["entropy"]]


@pytest.mark.usefixtures("compiled")
class TestWhatItCannotDo:
    def test_weights(self) -> None:
        with pytest.raises(
            ValueError, match=r"`engine='compiled'` does not support sample_weight; .*'portable'"
        ):
            tn.tabulate(Y_TRUE, Y_PROB, sample_weight=np.ones(200), engine="compiled")
        assert choose_engine("auto", ENTROPY, weighted=True) is portable

    def test_other_measures(self) -> None:
        for bins in (10, tn.EqualMass(4)):
            with pytest.raises(
                ValueError, match=r"`engine='compiled'` does not support the measure 'iqv'.*confidence"
            ):
                tn.tabulate(Y_TRUE, Y_PROB, variation="iqv", bins=bins, engine="compiled")
        assert choose_engine("auto", [tn.variations["iqv"]], weighted=False) is portable
        assert choose_engine("auto", [*ENTROPY, tn.variations["iqv"]], weighted=False) is portable
        mine = tn.Variation("mine", lambda x: 1 - x.max(axis=-1))
        assert engine_name("auto", [mine]) == "portable"

    def test_bins_too_narrow_are_refused_without_a_word_on_engines(self) -> None:
        for engine in ("auto", "portable", "compiled"):
            with pytest.raises(ValueError, match="too narrow"):
                tn.tabulate(Y_TRUE, Y_PROB.astype(np.float16), bins=500, engine=engine)


@pytest.mark.usefixtures("compiled")
def test_auto_is_the_compiled_engine_from_the_first_row_on() -> None:
    """Whatever the process did before, and however few rows there are."""
    code = """
        import trueness as tn
        from trueness.tabulation.compiled.library import Library
        calls, add = [], Library.sum
        Library.sum = lambda library, job: calls.append(job.n_rows) or add(library, job)
        tn.tabulate([0], [[0.5, 0.5]])
        tn.vce([0, 1, 1], [[0.5, 0.5]] * 3)
        print(calls[-2:])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[1, 3]"


@pytest.mark.usefixtures("compiled")
def test_threads_are_all_cores_only_for_the_compiled_engine() -> None:
    assert thread_count(None, portable) == 1
    assert thread_count(None, compiled) == available_cores()
    assert thread_count(3, compiled) == thread_count(3, portable) == 3


@pytest.mark.parametrize("n_classes", [2, 10, 1000])
@pytest.mark.parametrize("n_values", [1, 2**19 - 1, 2**19, 2**20, 2**21 - 1, 2**21, 2**22])
@pytest.mark.parametrize("n_threads", [1, 2, 3, 16])
def test_blocks_cover_all_rows_once(n_classes: int, n_values: int, n_threads: int) -> None:
    n_rows = max(1, n_values // n_classes)
    some = Rows.of(np.zeros(1, np.int64), np.eye(1, n_classes)).take(np.zeros(n_rows, np.int64))
    ends = [0, *(stop for _, stop in compiled.spans(some, n_threads))]
    assert compiled.spans(some, n_threads) == list(pairwise(ends))
    assert ends[-1] == n_rows
    assert np.all(np.diff(ends) > 0)


class TestWithoutALibrary:
    """`library_path` is another file, and `load` forgets what it found before and finds it again afterwards."""

    @pytest.fixture
    def path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        place = tmp_path / "_library.so"
        monkeypatch.setattr(library_module, "library_path", lambda: place)
        load.cache_clear()
        yield place
        load.cache_clear()

    def refused(self, reason: str) -> None:
        """The engine is refused by name for this reason; "auto" is silent (warnings are errors here) and portable."""
        for bins in (10, tn.EqualMass(4)):
            with pytest.raises(
                tn.Refusal, match=rf"`engine='compiled'` .*{reason}.*use `engine='portable'`"
            ) as caught:
                tn.tabulate(Y_TRUE, Y_PROB, bins=bins, engine="compiled")
            assert caught.value.code == "unsupported-engine"
            assert tn.tabulate(Y_TRUE, Y_PROB, bins=bins) == tn.tabulate(
                Y_TRUE, Y_PROB, bins=bins, engine="portable"
            )
        assert choose_engine("auto", ENTROPY, weighted=False) is portable
        assert engine_name("auto", ENTROPY) == "portable"
        stream = tn.Accumulator(3)
        stream.update(Y_TRUE, Y_PROB)
        assert stream.table == EXPECTED
        with pytest.raises(AssertionError):
            require_library()

    def test_it_was_not_built(self, path: Path) -> None:
        self.refused("was not built when trueness was installed")

    def test_it_is_damaged(self, path: Path) -> None:
        path.write_bytes(b"\x7fELF, but no more")
        self.refused("cannot be loaded")

    def test_it_is_another_library(self, path: Path) -> None:
        import _ctypes

        shutil.copy(_ctypes.__file__, path)
        self.refused("cannot be loaded")

    @pytest.mark.usefixtures("compiled")
    @pytest.mark.parametrize(
        ("name", "value", "reason"),
        [
            ("ABI", ABI + 1, "was built from other sources"),
            ("KNOWN_ANSWER", 0, "does not compute as it must on this machine"),
        ],
    )
    def test_it_is_not_as_it_must_be(
        self, name: str, value: int, reason: str, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.undo()
        monkeypatch.setattr(library_module, name, value)
        load.cache_clear()
        self.refused(reason)

    @pytest.mark.usefixtures("compiled")
    def test_it_does_not_support_the_processor(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.undo()
        monkeypatch.setattr(Library, "use_level", lambda *_: 0)
        load.cache_clear()
        self.refused("does not support this processor")


@pytest.mark.usefixtures("compiled")
class TestKnownAnswer:
    def test_every_instruction_set_gives_it(self) -> None:
        library = require_library()
        try:
            for level in range(1, library.use_level() + 1):
                library.use_level(level)
                assert known_answer(library) == library_module.KNOWN_ANSWER
        finally:
            library.use_level()

    @pytest.mark.parametrize("off", [0, 1, -1, 500])
    def test_another_sum_is_another_answer(self, off: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """One unit more in any word of the totals."""
        library, add = require_library(), Library.sum

        def wrong(library: Library, job: library_module.Job) -> int:
            found = add(library, job)
            n_words = 3 * (3 * job.n_classes + 2) + 12
            ctypes.cast(job.totals, ctypes.POINTER(ctypes.c_int64))[off % n_words] += 1
            return found

        monkeypatch.setattr(Library, "sum", wrong)
        assert known_answer(library) != library_module.KNOWN_ANSWER
