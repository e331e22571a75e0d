"""Why the number of another library differs: the parts add up, and count the rows they are about."""

import math

import numpy as np
import pytest
from convention_rows import ROWS, random_rows, rows_on_edges

import trueness as tn
from trueness.conventions import CONVENTIONS


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("name", CONVENTIONS)
def test_parts_add_up_to_the_difference(name: str, kind: str, n_classes: int) -> None:
    y_true, y_prob = ROWS[kind](n_classes)
    found = tn.compare_convention(y_true, y_prob, name)
    metric = tn.ece if CONVENTIONS[name].metric == "ece" else tn.uce
    assert found.ours == metric(y_true, y_prob, norm=found.norm)
    assert found.theirs == metric(y_true, y_prob, norm=found.norm, convention=name)
    assert math.fsum(part.change for part in found.parts) == pytest.approx(found.difference, abs=1e-12)
    assert found.to_dict()["difference"] == found.difference


def test_rows_on_edges_and_at_1_are_counted() -> None:
    """Of five bins: .4 and .8 go up, and so does 1; .4 + 1e-9 is above the edge but counts as on it here."""
    confidence = np.array([0.5, 0.8, 0.8, 1.0, 0.4, 0.4 + 1e-9, 0.7])
    y_true = np.array([1, 1, 0, 0, 1, 0, 1])
    parts = {
        part.code: part for part in tn.compare_convention(y_true, confidence, "torchmetrics", bins=5).parts
    }
    assert parts["edges"].n_rows == 5
    assert parts["edges"].reason.startswith("5 rows on an edge in another bin")
    assert parts["dropped"].n_rows == 0
    parts = {
        part.code: part for part in tn.compare_convention(y_true, confidence, "scikit-learn", bins=5).parts
    }
    assert parts["edges"].n_rows == 1


def test_dropped_rows_are_counted() -> None:
    y_true, y_prob = random_rows(3, n_rows=1050)
    y_prob[:7] = [0.0, 1.0, 0.0]
    for name, dropped in (("hle", 150), ("laves-uce", 7), ("netcal", 0)):
        part = next(p for p in tn.compare_convention(y_true, y_prob, name).parts if p.code == "dropped")
        assert part.n_rows == dropped
        assert (part.change == 0) == (dropped == 0)


def test_the_same_bins_differ_by_nothing() -> None:
    """15 bins over 0 to 1 are 10 over 1/3 to 1 where the rows are: only float32 is left."""
    y_true, y_prob = random_rows(3)
    found = tn.compare_convention(y_true, y_prob, "torchmetrics", bins=15)
    assert abs(found.parts[0].change) < 1e-7  # of confidences in float32
    assert abs(found.difference) < 1e-6


def test_text_names_the_rows_and_the_issue() -> None:
    text = str(tn.compare_convention(*rows_on_edges(3), "torchmetrics"))
    assert "15 bins of equal width over 0 to 1, instead of the top label in 10 bins over 0.333 to 1" in text
    assert "rows on an edge in another bin" in text
    assert "https://github.com/Lightning-AI/torchmetrics/issues/3510" in text
    assert "-0.000000" not in text


def test_entries_are_complete() -> None:
    for name, entry in CONVENTIONS.items():
        assert name == entry.name
        texts = (entry.computes, entry.bins_text(None), entry.edges, entry.range, entry.dropped)
        assert all((*texts, entry.arithmetic, entry.version, entry.source, entry.rest))
        assert "{" not in entry.bins_text(None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"convention": "torch"}, "`convention` must be one of 'torchmetrics', "),
        ({"convention": "laves-uce"}, "convention 'laves-uce' computes uce, not ece; use trueness.uce"),
        (
            {"convention": "helm", "bins": 15},
            "`bins=15` does not apply to convention 'helm', which has 10 bins",
        ),
        ({"convention": "mapie", "bins": 1}, "`bins` must be an integer of at least 2, got 1"),
        ({"convention": "netcal", "bins": tn.EqualMass(5)}, "`bins` must be an integer of at least 1"),
        ({"convention": "netcal", "norm": "l2"}, "`norm` must be one of 'l1', 'max', got 'l2'"),
        ({"convention": "netcal", "ties": "split"}, "`ties` does not apply to convention 'netcal'"),
        ({"convention": "netcal", "sample_weight": [1, 1]}, "`sample_weight` does not apply"),
    ],
)
def test_arguments_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(tn.Refusal) as error:
        tn.ece([0, 1], [[0.6, 0.4], [0.3, 0.7]], **options)  # type: ignore[arg-type]
    assert message in str(error.value)


def test_rows_are_refused() -> None:
    with pytest.raises(tn.Refusal, match=r"`y_prob` is 1\.2 in row 1"):
        tn.ece([0, 1], [0.5, 1.2], convention="netcal")
    with pytest.raises(tn.Refusal, match="99 rows are too few for convention 'hle', which needs 100"):
        tn.ece([0, 1, 1] * 33, [0.5] * 99, convention="hle", norm="l2")
    few = ([0, 1, 0], np.full((3, 3), 1 / 3))
    with pytest.raises(tn.Refusal, match="2 of 3 classes; netcal refuses fewer than 3"):
        tn.ece(*few, convention="netcal")
    with pytest.raises(tn.Refusal, match="2 of 3 classes; probmetrics leaves out the other columns"):
        tn.ece(*few, convention="probmetrics")


def test_blocks_do_not_matter() -> None:
    """Rows are read in blocks: 5000 rows of 40 classes are two blocks or more."""
    y_true, y_prob = random_rows(40, n_rows=5000)
    top = y_prob.max(axis=1)
    found = CONVENTIONS["scikit-learn"].compute(y_true, y_prob)
    np.testing.assert_array_equal(found.reading.predicted, top)
    assert found.reading.seen.all()


def test_frames_names_and_logits_are_read_as_everywhere() -> None:
    import pandas as pd

    y_true, y_prob = random_rows(3)
    names = ["cat", "dog", "elk"]
    expected = tn.ece(y_true, y_prob, convention="netcal")
    frame = pd.DataFrame(y_prob, columns=names)
    assert tn.ece(np.array(names)[y_true], frame, classes=names, convention="netcal") == expected
    logits = tn.ece(y_true, np.log(y_prob), from_logits=True, convention="netcal")
    assert logits == pytest.approx(expected, abs=1e-12)
    assert tn.ece(y_true, 7 * y_prob, normalize=True, convention="netcal") == pytest.approx(expected)


def test_no_rows_are_refused() -> None:
    with pytest.raises(tn.Refusal):
        tn.ece(np.empty(0, int), np.empty((0, 3)), convention="netcal")
