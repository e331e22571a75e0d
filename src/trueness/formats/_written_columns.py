"""Predictions as Arrow tables with columns `y_true`, `p_0`, `p_1`, …, and compressed files to write them to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from trueness.formats._format import PredictionChunks
from trueness.formats.arrow import pyarrow


def schema_of(predictions: PredictionChunks) -> Any:
    """The names and types of the columns."""
    pa = pyarrow()
    probs = [(f"p_{c}", pa.float64()) for c in range(predictions.n_classes)]
    return pa.schema([("y_true", pa.int64()), *probs])


def tables_of(predictions: PredictionChunks) -> Iterator[Any]:
    """A table for each chunk."""
    pa = pyarrow()
    for y_true, y_prob in predictions.chunks:
        probs = {f"p_{c}": y_prob[:, c] for c in range(predictions.n_classes)}
        yield pa.table({"y_true": y_true.astype(np.int64), **probs})


@contextmanager
def text_file(path: str, compression: str | None) -> Iterator[Any]:
    """A file to write text to, compressed if asked for."""
    pa = pyarrow()
    with pa.OSFile(path, "wb") as file:
        if compression is None:
            yield file
        else:
            with pa.CompressedOutputStream(file, compression) as packed:
                yield packed
