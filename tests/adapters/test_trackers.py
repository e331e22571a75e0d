"""TensorBoard's files hold what `flat()` gives; read back record by record."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueness as tn

pytestmark = pytest.mark.tensorboard


def events_in(folder: Path) -> Iterator[Any]:
    """The events of a file: each is its length, a check sum, the message and another check sum."""
    from tensorboardX.proto.event_pb2 import Event

    (file,) = folder.iterdir()
    data = file.read_bytes()
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        yield Event.FromString(data[12 : 12 + length])
        data = data[16 + length :]


def test_tensorboard_has_every_number_under_its_name(tmp_path: Path) -> None:
    from tensorboardX import SummaryWriter

    y_true, y_prob = tn.simulate.calibrated(600, [1, 1, 1], rng=0)
    flat = tn.assess(y_true, y_prob, groups=["a b", "c"] * 300, resamples=99).flat("validation/")
    with SummaryWriter(str(tmp_path)) as writer:
        for name, value in flat.items():
            writer.add_scalar(name, value, 3)
    found = {
        value.tag: (value.simple_value, event.step)
        for event in events_in(tmp_path)
        for value in event.summary.value
    }
    assert found == {name: (np.float32(value), 3) for name, value in flat.items()}
    assert "validation/group/a_b/vce_low" in found
