"""The assessment that most tests of the report show, and its page."""

import pytest
from html_reader import hostile_assessment, hostile_page

import trueness as tn


@pytest.fixture(scope="session")
def result() -> tn.Assessment:
    return hostile_assessment()


@pytest.fixture(scope="session")
def page() -> str:
    return hostile_page()
