"""Reading ahead on a thread."""

from threading import Event
from typing import Any

import pytest

from trueness.files.source import read_ahead


def test_a_thread_that_reads_ahead_ends_with_its_reader() -> None:
    made: list[int] = []

    def items() -> Any:
        for number in range(1000):
            made.append(number)
            yield number

    ahead = read_ahead(items())
    assert next(ahead) == 0
    ahead.close()
    assert len(made) < 10


def test_a_thread_that_waits_for_input_is_left_behind() -> None:
    released = Event()

    def items() -> Any:
        yield 1
        released.wait()

    ahead = read_ahead(items())
    assert next(ahead) == 1
    ahead.close()
    assert not released.is_set()  # close() has returned although the thread still waits
    released.set()


def test_its_error_comes_in_its_place() -> None:
    def items() -> Any:
        yield 1
        raise RuntimeError("here")

    ahead = read_ahead(items())
    assert next(ahead) == 1
    with pytest.raises(RuntimeError, match="here"):
        next(ahead)
