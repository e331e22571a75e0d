"""The assessment and the page that most tests of the report look at; its names try to become code."""

import pytest
from html_reader import HOSTILE, hostile_names, rows

import trueness as tn
from trueness import report


@pytest.fixture(scope="session")
def result():
    return tn.assess(*rows(), rng=7, groups=hostile_names())


@pytest.fixture(scope="session")
def page(result):
    return report.page(result, title=HOSTILE[0], made_by=HOSTILE[2] + "\ud800", file_name=HOSTILE[1])
