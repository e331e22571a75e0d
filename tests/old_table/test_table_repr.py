"""A printed table shows what matters and warns of what must not be overlooked."""

import inspect
import re

import numpy as np
import oracle
import pytest
from table_rows import Y_PROB, Y_TRUE

import trueness as tn


class TestReading:
    def test_repr_shows_what_matters(self, table: tn.CalibrationTable) -> None:
        text = repr(table)
        for word in ("CalibrationTable", "200", "3 classes", "10 bins", "entropy"):
            assert word in text, word
        assert len(text.splitlines()) <= 15
        assert max(map(len, text.splitlines())) <= 120
        assert str(table) == text

    @pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
    @pytest.mark.parametrize("doublings", [0, 7, 20, 35])
    def test_repr_gives_whole_counts_to_the_last_digit(self, weighted: bool, doublings: int) -> None:
        """1169680 rows are not 1.16968e+06, and 35 doublings push the column, not the digits."""
        weight = np.ones(9138) if weighted else None
        table = tn.tabulate(np.zeros(9138, int), [[0.9, 0.1]] * 9138, sample_weight=weight)
        for _ in range(doublings):
            table = table + table
        titles, *lines = repr(table).splitlines()[1:11]
        assert {line.split()[2] for line in lines} == {"0", str(9138 * 2**doublings)}
        assert {len(line) for line in lines} == {len(titles)}

    def test_repr_warns_of_small_bins(self) -> None:
        """A bin of one row has no observed variation, whichever class is true."""
        small = r"2 of 3 non-empty bins have fewer than 10 rows"
        rows = [[1.0, 0.0]] * 10 + [[0.9, 0.1]] * 9 + [[0.5, 0.5]]
        assert re.search(small, repr(tn.tabulate([0] * 20, rows)))
        assert "fewer than" not in repr(tn.tabulate([0] * 10, rows[:10]))
        assert "fewer than" not in repr(tn.CalibrationTable.empty(tn.tabulate([0] * 10, rows[:10]).spec))

    def test_repr_warns_of_bins_with_fewer_rows_than_classes(self) -> None:
        """n rows show at most n ranks: of 20 classes, 19 rows cannot look uniform."""
        for n, small in ((19, True), (20, False)):
            text = repr(tn.tabulate(np.zeros(n, int), np.full((n, 20), 0.05), ties="split"))
            assert bool(re.search("1 of 1 non-empty bin has fewer than 20 rows", text)) == small

    def test_repr_of_a_fine_grid_stays_short(self) -> None:
        assert len(repr(tn.tabulate(Y_TRUE, Y_PROB, bins=tn.EqualWidth(4000))).splitlines()) < 10

    def test_repr_of_nothing(self, table: tn.CalibrationTable) -> None:
        assert "0 " in repr(tn.CalibrationTable.empty(table.spec))

    def test_the_spec_says_what_was_summed(self) -> None:
        spec = tn.tabulate(Y_TRUE, Y_PROB, variation="iqv", ties="split").spec
        assert (spec.n_classes, spec.variation, spec.ties, spec.weighted) == (
            3,
            tn.variations["iqv"],
            "split",
            False,
        )
        assert spec.bins.edges == tuple(oracle.equal_width(10, 0.0, 1.0))

    def test_impossible_events_and_ties_are_printed(self) -> None:
        """A true class of probability zero, and one that shared its probability: not to be overlooked."""
        text = repr(tn.tabulate([0, 1], [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
        assert re.search(r"\b1\b.*(impossible|probability (zero|0))", text)
        assert re.search(r"\b1\b.*(tie|shared)", text)
        assert not re.search(r"impossible|probability zero", repr(tn.tabulate(Y_TRUE, Y_PROB)))

    def test_the_promised_signatures(self) -> None:
        """Truth first, as in scikit-learn; options keyword-only, with these defaults."""
        rows = {
            "ties": "first",
            "sample_weight": None,
            "from_logits": False,
            "normalize": False,
            "classes": None,
            "n_options": None,
            "soft_labels": False,
        }
        norms = {"norm": "l1"}
        images = {"class_axis": None, "ignore_index": None}
        of_metrics = rows | images | norms | {"ties": None}
        promised = {
            tn.vce: {"variation": "entropy", "bins": 10} | of_metrics,
            tn.ece: {"bins": None, "convention": None} | of_metrics,
            tn.uce: {"bins": None, "convention": None} | of_metrics,
            tn.rce: {"distance": "tv", "variation": "entropy", "bins": 10} | of_metrics,
            tn.tabulate: {"variation": "entropy", "bins": 10, "engine": "auto", "n_threads": None}
            | rows
            | images,
        }
        for function, options in promised.items():
            parameters = inspect.signature(function).parameters
            assert list(parameters)[:2] == ["y_true", "y_prob"]
            keywords = {name: p.default for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
            assert keywords == options, function.__name__
        for reader in (tn.variation_calibration_error, tn.expected_calibration_error, tn.top_label_error):
            assert list(inspect.signature(reader).parameters) == ["table", "norm"]
