"""The assessment that most tests of pictures draw."""

from collections.abc import Iterator

import matplotlib as mpl
import pytest
from artists import over_confident_assessment, rare_event, wrong_classes

import trueness as tn


@pytest.fixture(scope="session")
def result() -> tn.Assessment:
    return over_confident_assessment()


@pytest.fixture(scope="session")
def compared_groups(result) -> tn.Assessment:
    return result.with_compared_groups("rest")


@pytest.fixture(scope="session")
def classes() -> tn.Assessment:
    return wrong_classes()


@pytest.fixture(scope="session")
def event() -> tn.EventAssessment:
    return rare_event()


@pytest.fixture(autouse=True)
def _no_setting_changes() -> Iterator[None]:
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before
