"""The assessment that most tests of pictures draw."""

import pytest
from artists import over_confident_assessment

import trueness as tn


@pytest.fixture(scope="session")
def result() -> tn.Assessment:
    return over_confident_assessment()
