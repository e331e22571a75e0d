"""Tables that sum only what one number needs: the same numbers as the tables with everything."""

from typing import Any

import numpy as np
import pytest
from compiled_rows import LESS_DETAIL, less_detailed_tables, nasty, nasty_logits, rows

import trueness as tn
from trueness.refusals import Refusal
from trueness.tabulation import tabulate_in_detail

CLASSES = [*range(2, 21), 31, 32, 33, 100, 257]


@pytest.mark.usefixtures("compiled")
class TestCompiled:
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    @pytest.mark.parametrize("n_classes", CLASSES)
    def test_equals_the_portable_tables(self, n_classes: int, dtype: str) -> None:
        for y_true, y_prob in (nasty(n_classes, dtype=dtype), rows(3001, n_classes)):
            given = y_prob.astype(dtype)
            compiled = less_detailed_tables(y_true, given, "compiled", n_threads=2)
            assert compiled == less_detailed_tables(y_true, given, "portable")

    @pytest.mark.parametrize("n_classes", [2, 3, 10, 16, 40])
    def test_equals_the_portable_tables_of_logits(self, n_classes: int) -> None:
        y_true, z = nasty_logits(n_classes)
        compiled = less_detailed_tables(y_true, z, "compiled", from_logits=True)
        assert compiled == less_detailed_tables(y_true, z, "portable", from_logits=True)

    @pytest.mark.parametrize("n_classes", [2, 10, 15, 16, 100])
    def test_many_rows_in_one_bin_are_emptied_in_time(self, n_classes: int) -> None:
        """Words of sums hold some thousands of rows, and counts in a row of words 2¹⁶."""
        y_true, y_prob = np.zeros(140_000, np.int64), np.full((140_000, n_classes), 0.001 / (n_classes - 1))
        y_prob[:, 0] = 0.999
        for detail, measure in LESS_DETAIL:
            table = tabulate_in_detail(y_true, y_prob, variation=measure, bins=3, n_threads=1, detail=detail)
            assert table.rank_count[:, 0].sum() == table.n_rows == 140_000
            assert table.ordered_sum[:, 0].sum() == pytest.approx(139_860, rel=1e-14)

    @pytest.mark.parametrize("n_classes", [2, 10, 16, 5000])
    @pytest.mark.parametrize("value", [np.nan, np.inf, -0.25, 1.5, 4097.0])
    def test_bad_rows_are_refused_as_by_the_table_with_everything(self, n_classes: int, value: float) -> None:
        y_true, y_prob = rows(37, n_classes)
        y_prob[29, n_classes // 2] = value
        for given in (y_prob, np.asfortranarray(y_prob)):
            refusals = []
            for detail, measure in (("scores", "entropy"), *LESS_DETAIL):
                with pytest.raises(Refusal) as refused:
                    tabulate_in_detail(
                        y_true, given, variation=measure, bins=10, engine="compiled", detail=detail
                    )
                refusals.append((str(refused.value), refused.value.row))
            assert len(set(refusals)) == 1
            assert refusals[0][1] == 29

    def test_sums_that_wrap_round_to_1_are_refused(self) -> None:
        """4097 ones: their sum in units of 2⁻⁵² is 1 modulo 2⁶⁴."""
        y_true, y_prob = np.zeros(9, np.int64), np.zeros((9, 5000))
        y_prob[:, 0], y_prob[5, :4097] = 1.0, 1.0
        for given in (y_prob, np.asfortranarray(y_prob)):
            for detail, measure in LESS_DETAIL:
                with pytest.raises(Refusal, match="row 5"):
                    tabulate_in_detail(
                        y_true, given, variation=measure, bins=10, engine="compiled", detail=detail
                    )


def _same(some: Any, of_all: Any) -> bool:
    return np.array_equal(some, of_all[:, : some.shape[1]])


@pytest.mark.parametrize("options", [{}, {"ties": "split"}, {"sample_weight": np.arange(149) % 4}])
@pytest.mark.parametrize("n_classes", [2, 7, 20])
def test_holds_the_columns_of_the_table_with_everything(n_classes: int, options: dict[str, Any]) -> None:
    y_true, y_prob = rows(149, n_classes)
    y_prob[::7] = 1 / n_classes
    for detail, measure in LESS_DETAIL:
        full = tn.tabulate(y_true, y_prob, variation=measure, **options)
        less = tabulate_in_detail(y_true, y_prob, variation=measure, bins=10, detail=detail, **options)
        assert np.array_equal(less.count, full.count)
        assert np.array_equal(less.row_count, full.row_count)
        assert not less.variation_sum.any()
        assert _same(less.ordered_sum, full.ordered_sum)
        assert _same(less.rank_count, full.rank_count)
        assert less.sums.possible_variance is None
        assert less.ordered_sum.shape[1] == (1 if detail == "first" else n_classes)
