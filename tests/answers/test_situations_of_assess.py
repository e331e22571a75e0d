"""The situations of `assess` with the new answers: every check passes, also those that today fail."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import speak

sys.path.append(str(Path(__file__).parents[1] / "situations"))
import test_situations as judge

from trueness.answers.assessment import Assessment, assess

NEW: dict[str, Any] = {
    "assess": assess,
    "conclusion": lambda it: it.verdict.kind,
    "p_value": lambda it: it.p_value,
    "advice": lambda it: it.answer.advice,
    "named": lambda it: {*it.wrong_groups},
    "numbers": lambda it: {"net": it.gap.value},
    "furthest": lambda it: {name: of.gap.value for name, of in it.clusters.items()},
}


def said(it: Assessment) -> str:
    answer = it.answer
    return "\n".join([answer.headline, *answer.where, answer.certainty, answer.advice])


@pytest.fixture(scope="module", autouse=True)
def new_answers() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, verb in (NEW | {"answer": said}).items():
            patch.setattr(speak, name, verb)
        yield


HEARD: dict[str, judge.Heard] = {}


def heard(name: str) -> judge.Heard:
    if name not in HEARD:
        HEARD[name] = judge.Heard("assess", name)
    return HEARD[name]


CASES = sorted({case.values[1:] for case in judge.cases() if case.values[0] == "assess"})


@pytest.mark.parametrize(("name", "check"), CASES, ids=[": ".join(case) for case in CASES])
def test_conclusion(name: str, check: str) -> None:
    getattr(heard(name), check)()


def test_printed_is_short() -> None:
    for name in judge.SITUATIONS["assess"]:
        lines = speak.printed(heard(name).results[0]).splitlines()
        assert len(lines) <= 15, name
        assert max(map(len, lines)) <= 100, name
