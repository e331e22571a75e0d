"""Where rows of CSV end and where quotes are open, by the rules of pyarrow's parser."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

_QUOTE = ord('"')


class Quotes:
    """Where rows end and quotes are open in bytes with this delimiter.

    A quote opens a field if it is the field's first character; elsewhere outside of quotes it is an ordinary character.
    Inside of quotes, two quotes stand for one, and a single one closes.
    """

    def __init__(self, delimiter: str) -> None:
        mark = delimiter.encode()
        self._before_opening = np.zeros(256, bool)
        self._before_opening[[*mark, *b"\r\n"]] = True
        self._after_closing = np.zeros(256, bool)
        self._after_closing[[*mark, *b'\r\n" ']] = True
        self._opening = re.compile(rb'(?:\A|[\r\n%b])"' % mark)
        self._closing = re.compile(rb'[^"]*+(?:""[^"]*+)*+"')

    def end_of_rows(self, data: bytes) -> int:
        """Where the last whole row ends; the data begin with a row."""
        newline = b"\n" if b"\n" in data else b"\r"
        if b'"' not in data:
            return data.rfind(newline) + 1
        places = self._places(data)
        newlines = np.flatnonzero(np.frombuffer(data, np.uint8) == newline[0])
        outside = newlines[np.searchsorted(places, newlines) % 2 == 0]
        return int(outside[-1]) + 1 if len(outside) else 0

    def is_open_at_end(self, data: bytes) -> bool:
        """Whether data that begin with a row end inside of quotes."""
        return b'"' in data and len(self._places(data)) % 2 == 1

    def rows_before_stray_quote(self, data: bytes) -> int | None:
        """The number of whole rows before a quoted field that does not end with its quote; None if all do.

        Text after a closing quote is the sign of a stray quote: it opens a field that ends at the next quote, many
        rows later.
        """
        if b'"' not in data:
            return None
        letters, places = np.frombuffer(data, np.uint8), self._places(data)
        closings = places[1::2]
        closings = closings[closings + 1 < len(data)]
        wrong = np.flatnonzero(~self._after_closing[letters[closings + 1]])
        if not len(wrong):
            return None
        opening = int(places[2 * int(wrong[0])])
        newline = b"\n" if b"\n" in data else b"\r"
        newlines = np.flatnonzero(letters[:opening] == newline[0])
        return int(np.count_nonzero(np.searchsorted(places, newlines) % 2 == 0))

    def _places(self, data: bytes) -> Any:
        """The places where quotes open and close in turn; a doubled quote closes and opens again."""
        letters = np.frombuffer(data, np.uint8)
        places = np.flatnonzero(letters == _QUOTE)
        openings = places[::2]
        before = self._before_opening[letters[openings - 1]]
        doubled = np.zeros(len(openings), bool)
        doubled[1:] = openings[1:] == places[1:-1:2] + 1
        if bool((before | doubled | (openings == 0)).all()):
            return places
        return self._places_one_by_one(data)

    def _places_one_by_one(self, data: bytes) -> Any:
        """The same if a quote is inside of an unquoted field; slower."""
        places: list[int] = []
        start = 0
        while opening := self._opening.search(data, start):
            places.append(opening.end() - 1)
            closing = self._closing.match(data, opening.end())
            if closing is None:
                break
            places.append(closing.end() - 1)
            start = closing.end()
        return np.array(places, np.int64)
