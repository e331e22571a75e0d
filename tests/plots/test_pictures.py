"""Laws for every picture of the report: unique, described, drawn as SVG and with matplotlib from the same data."""

from xml.etree import ElementTree as ET

import pytest

from trueness.plots import event_pictures, pictures
from trueness.plots.picture import (
    BINS,
    CLASSES,
    COMPARED_GROUPS,
    GROUPS,
    PREDICTED_CLASSES,
    RANKS,
)

SVG = "{http://www.w3.org/2000/svg}"
PICTURES, EVENTS = pictures(), event_pictures()
EVERY = pytest.mark.parametrize(
    "picture", [*PICTURES, *EVENTS], ids=[picture.key for picture in (*PICTURES, *EVENTS)]
)
WITH_NUMBERS = [picture for picture in (*PICTURES, *EVENTS) if picture.numbers]
ORDER = [BINS, CLASSES, PREDICTED_CLASSES, RANKS, GROUPS, COMPARED_GROUPS]


@pytest.fixture
def shown(request, result, classes, compared_groups, event):
    """What a picture is drawn from: a result to which it applies."""
    picture = request.getfixturevalue("picture")
    assessments = (result, classes, compared_groups)
    return event if picture in EVENTS else next(it for it in assessments if picture.applies(it))


@EVERY
def test_the_svg_has_a_name_a_description_and_words_for_every_mark(picture, shown):
    data = picture.data(shown)
    root = ET.fromstring(picture.svg(data))
    assert root.attrib["aria-label"]
    assert root.find(f"{SVG}desc").text.endswith(".")
    marks = [group for group in root.iter(f"{SVG}g") if group.attrib["class"] == "mark"]
    assert marks
    assert all(mark.find(f"{SVG}title").text for mark in marks)


@EVERY
def test_titles_and_captions_are_sentences_for_people(picture, shown):
    caption = picture.caption_for(picture.data(shown))
    assert picture.title[0].isupper()
    assert caption[0].isupper()
    assert caption.endswith(".")
    assert "came true" not in caption


@EVERY
def test_the_display_draws_the_same_data(picture, shown):
    from matplotlib.figure import Figure

    data, ax = picture.data(shown), Figure().subplots()
    display = picture.display(data).plot(ax)
    assert display.data is data
    assert ax.has_data()
