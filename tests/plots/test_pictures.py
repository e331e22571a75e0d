"""Laws for every picture of the report: unique, described, drawn as SVG and with matplotlib from the same data."""

from xml.etree import ElementTree as ET

import pytest

from trueness.plots import pictures
from trueness.plots.picture import BINS, GROUPS, RANKS

SVG = "{http://www.w3.org/2000/svg}"
PICTURES = pictures()
EVERY = pytest.mark.parametrize("picture", PICTURES, ids=[picture.key for picture in PICTURES])


def test_keys_are_unique_and_sections_stand_together():
    assert len({picture.key for picture in PICTURES}) == len(PICTURES)
    assert list(dict.fromkeys(picture.section for picture in PICTURES)) == [BINS, RANKS, GROUPS]
    sections = [picture.section for picture in PICTURES]
    assert sections == sorted(sections, key=[BINS, RANKS, GROUPS].index)


@EVERY
def test_the_svg_has_a_name_a_description_and_words_for_every_mark(picture, result):
    assert picture.applies(result)
    data = picture.data(result)
    root = ET.fromstring(picture.svg(data))
    assert root.attrib["aria-label"]
    assert root.find(f"{SVG}desc").text.endswith(".")
    marks = [group for group in root.iter(f"{SVG}g") if group.attrib["class"] == "mark"]
    assert marks
    assert all(mark.find(f"{SVG}title").text for mark in marks)


@EVERY
def test_titles_and_captions_are_sentences_for_people(picture, result):
    caption = picture.caption_for(picture.data(result))
    assert picture.title[0].isupper()
    assert caption[0].isupper()
    assert caption.endswith(".")
    assert "came true" not in caption


@pytest.mark.parametrize("picture", [it for it in PICTURES if it.numbers], ids=lambda it: it.key)
def test_numbers_have_a_cell_for_every_head(picture, result):
    _, heads, lines = picture.numbers(picture.data(result))
    assert {len(line) for line in lines} == {len(heads)}


@pytest.mark.plots
@EVERY
def test_the_display_draws_the_same_data(picture, result):
    from matplotlib.figure import Figure

    data, ax = picture.data(result), Figure().subplots()
    display = picture.display(data).plot(ax)
    assert display.data is data
    assert ax.has_data()
