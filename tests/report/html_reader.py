"""HTML as a browser sees it, names that try to become code, and the rows of the reports under test."""

from functools import cache
from html.parser import HTMLParser

import numpy as np

import trueness as tn
from trueness import old_report as report

HOSTILE = [
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "</script><script>window.hacked=1</script>",
    "</title></style><b>bold</b>",
    "a & b &lt; c",
    "\x00\x07\x1b[31m",
    "emoji 🙂, 漢字",
    "\u202eright to left",
    "]]> --> <!-- {{x}} ${y}",
]


class Reader(HTMLParser):
    """Elements and text as a browser sees them; fails on tags that do not match."""

    EMPTY = ("meta", "br")

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.elements, self.open, self.texts = [], [], []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((tuple(self.open), data))

    def named(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self, within=None):
        return "".join(text for where, text in self.texts if within is None or within in where)


def read(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def rows(n_rows=1500, exponent=1.6, alpha=(4, 2, 1, 1), seed=0):
    y_true, y_prob = tn.simulate.calibrated(n_rows, alpha, rng=seed)
    return y_true, tn.simulate.sharpen(y_prob, exponent)


def hostile_names():
    return np.array(HOSTILE, dtype=object)[np.arange(1500) % 9]


@cache
def hostile_assessment():
    return tn.assess(*rows(), rng=7, groups=hostile_names())


@cache
def hostile_page():
    return report.page(
        hostile_assessment(), title=HOSTILE[0], made_by=HOSTILE[2] + "\ud800", file_name=HOSTILE[1]
    )
