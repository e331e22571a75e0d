"""Rows in tensors (torch, DLPack) give the table of the NumPy rows, to the last bit."""

from typing import Any

import numpy as np
import oracle
import pytest
from example_rows import LOGITS, PLAIN, PLAIN_SINGLE, SINGLE, WEIGHT, WEIGHTED, Y_PROB, Y_TRUE, N, dyadic

import trueness as tn


class OnAnotherDevice:
    """An object that DLPack takes for a tensor in GPU memory."""

    dtype = "float32"
    shape = (2, 2)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)

    def __dlpack__(self, **_: Any) -> Any:
        raise AssertionError("memory on another device must not be touched")


def test_a_tensor_on_another_device_is_refused_with_the_remedy() -> None:
    with pytest.raises((TypeError, ValueError), match=r"y_prob.*device.*\.cpu\(\)"):
        tn.vce([0, 1], OnAnotherDevice())
    with pytest.raises((TypeError, ValueError), match=r"y_true.*device.*\.cpu\(\)"):
        tn.vce(OnAnotherDevice(), [[0.5, 0.5]])


def test_dlpack_of_numpy_itself() -> None:
    class Tensor:
        dtype = Y_PROB.dtype

        def __dlpack_device__(self) -> tuple[int, int]:
            return Y_PROB.__dlpack_device__()

        def __dlpack__(self, **options: Any) -> Any:
            return Y_PROB.__dlpack__(**options)

    assert tn.tabulate(Y_TRUE, Tensor()) == PLAIN


@pytest.mark.adapters
class TestTorch:
    def test_tensors(self) -> None:
        import torch

        assert tn.tabulate(torch.tensor(Y_TRUE), torch.tensor(Y_PROB)) == PLAIN
        assert tn.tabulate(torch.tensor(Y_TRUE), torch.tensor(SINGLE)) == PLAIN_SINGLE
        assert tn.tabulate(Y_TRUE, Y_PROB, sample_weight=torch.tensor(WEIGHT)) == WEIGHTED

    def test_gradients_are_left_behind(self) -> None:
        import torch

        y_prob = torch.tensor(Y_PROB, requires_grad=True)
        assert tn.tabulate(Y_TRUE, y_prob * 1) == PLAIN
        assert y_prob.requires_grad

    def test_views_that_are_not_contiguous(self) -> None:
        import torch

        tall = torch.tensor(np.repeat(Y_PROB, 2, axis=0))[::2]
        for view in (torch.tensor(Y_PROB.T.copy()).T, tall):
            assert not view.is_contiguous()
            assert tn.tabulate(Y_TRUE, view) == PLAIN

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
    def test_half_precision(self, dtype: str) -> None:
        """Rows of k/64 are exact in both; V is away from edges by more than their snap."""
        import torch

        y_true, rows = dyadic(oracle.EPS[dtype])
        assert tn.tabulate(y_true, torch.tensor(rows, dtype=getattr(torch, dtype))) == tn.tabulate(
            y_true, rows
        )

    def test_bfloat16_rows_are_checked_with_their_own_eps(self) -> None:
        """Rounded to 8 bits, rows miss the sum 1 by up to 2^-7, and V its edge by as much: oracle with that eps."""
        import torch

        y_prob = torch.tensor(Y_PROB).to(torch.bfloat16)
        rows = y_prob.to(torch.float64).numpy()
        assert np.abs(rows.sum(axis=1) - 1).max() > 1e-4  # far outside what float32 rows may
        table = tn.tabulate(torch.tensor(Y_TRUE), y_prob)
        expected = oracle.tabulate(Y_TRUE, rows, dtype="bfloat16")
        assert table.count.tolist() == expected["count"]
        assert (table.ordered_sum * oracle.UNIT).tolist() == [
            [float(x) for x in row] for row in expected["ordered"]
        ]

    def test_logits_of_a_network(self) -> None:
        import torch

        logits = torch.tensor(LOGITS, dtype=torch.float32, requires_grad=True)
        expected = tn.tabulate(Y_TRUE, LOGITS.astype(np.float32), from_logits=True)
        assert tn.tabulate(torch.tensor(Y_TRUE), logits, from_logits=True) == expected

    def test_a_list_of_tensors(self) -> None:
        import torch

        assert tn.tabulate([torch.tensor(int(y)) for y in Y_TRUE], [torch.tensor(r) for r in Y_PROB]) == PLAIN

    def test_tensors_without_readable_memory(self) -> None:
        import torch

        with pytest.raises((TypeError, ValueError), match="y_prob"):
            tn.vce(Y_TRUE, torch.empty((N, 3), device="meta"))
        with pytest.raises((TypeError, ValueError), match="y_prob"):
            tn.vce(Y_TRUE, torch.tensor(np.eye(3)[Y_TRUE]).to_sparse())
