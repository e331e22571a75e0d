"""Tables of the same rows as one value: which table is by confidence, of which rows, and what adds."""

from pathlib import Path

import numpy as np
import pytest

import trueness as tn
from trueness.cli import main
from trueness.old_table import CalibrationTable, Tables
from trueness.refusals import Refusal

Y_TRUE, Y_PROB = tn.simulate.calibrated(600, [2, 1, 1], rng=3)
ENTROPY = tn.tabulate(Y_TRUE, Y_PROB)
CONFIDENCE = tn.tabulate(Y_TRUE, Y_PROB, variation="confidence")
IQV = tn.tabulate(Y_TRUE, Y_PROB, variation="iqv")


def saved(path: Path, *tables: CalibrationTable) -> Path:
    CalibrationTable.save_all(tables, path)
    return path


@pytest.mark.parametrize(
    ("tables", "by_confidence"),
    [
        ([ENTROPY], None),
        ([ENTROPY, CONFIDENCE], CONFIDENCE),
        ([ENTROPY, IQV, CONFIDENCE], CONFIDENCE),
        ([ENTROPY, ENTROPY], None),
        ([CONFIDENCE, ENTROPY], CONFIDENCE),
    ],
)
def test_the_table_by_confidence_is_found_by_its_measure(
    tables: list[CalibrationTable], by_confidence: CalibrationTable | None, tmp_path: Path
) -> None:
    found = Tables.load(saved(tmp_path / "t.json", *tables))
    assert found.by_variation == tables[0]
    assert found.by_confidence == by_confidence
    assert sorted(map(repr, found.stored)) == sorted(map(repr, tables))
    ece = tn.assess_table(found, resamples=99).ece
    assert (ece is None) == (by_confidence is None)
    if ece is not None:
        assert ece.value == pytest.approx(tn.ece(Y_TRUE, Y_PROB), abs=1e-12)


def test_another_measure_is_not_taken_for_confidence() -> None:
    with pytest.raises(Refusal, match="binned by entropy") as caught:
        Tables(IQV, ENTROPY)
    assert caught.value.code == "wrong-table"


def test_tables_of_different_rows_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Refusal, match="600 rows of 3 classes, confidence_table 1200 of 3") as caught:
        Tables(ENTROPY, CONFIDENCE + CONFIDENCE)
    assert caught.value.code == "different-rows"
    assert main(["assess", str(saved(tmp_path / "mixed.json", ENTROPY, CONFIDENCE + CONFIDENCE))]) == 2
    assert "same rows" in capsys.readouterr().err


def test_no_table_is_lost_by_adding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two, one = saved(tmp_path / "two.json", ENTROPY, CONFIDENCE), saved(tmp_path / "one.json", ENTROPY)
    three, again = (saved(tmp_path / f"{k}.json", ENTROPY, CONFIDENCE, IQV) for k in (3, 4))
    out = tmp_path / "out.json"
    for unlike in ([two, one], [three, two]):
        assert main(["merge", *map(str, unlike), "-o", str(out)]) == 2
        assert "cannot be added" in capsys.readouterr().err
    assert not out.exists()
    assert main(["merge", str(three), str(again), "-o", str(out)]) == 0
    assert CalibrationTable.load_all(out) == [table + table for table in (ENTROPY, CONFIDENCE, IQV)]


def test_coarser_bins_keep_all_tables() -> None:
    coarse = Tables.of([ENTROPY, CONFIDENCE, IQV]).coarsen(5)
    assert [table.n_bins for table in coarse.stored] == [5, 5, 10]
    assert np.array_equal(coarse.by_variation.count, ENTROPY.coarsen(5).count)
