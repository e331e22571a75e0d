"""The assessments of models that are compared, which take longer than the comparison and are made when needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from threading import Lock
from typing import Any

from trueness.old_assessment._estimation import assess_resampled
from trueness.old_assessment._result import Assessment
from trueness.old_assessment._sample import SampleWithResamples


class AssessmentsOnDemand(Mapping[str, Assessment]):
    """The assessment of each model, made when it is first asked for; several threads may ask at once."""

    def __init__(self, samples: Mapping[str, SampleWithResamples]) -> None:
        self._names, self._samples = tuple(samples), dict(samples)
        self._made: dict[str, Assessment] = {}
        self._lock = Lock()

    def __getitem__(self, name: str) -> Assessment:
        with self._lock:
            if name not in self._made:
                self._made[name] = assess_resampled(self._samples[name])
                del self._samples[name]  # its resamples are not needed any more
            return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)
