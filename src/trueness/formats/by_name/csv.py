"""Comma-separated values."""

from functools import partial

from trueness.formats._delimited import DelimitedReader, write_delimited
from trueness.formats._format import Format

FORMAT = Format(
    endings=(".csv",),
    open_text=partial(DelimitedReader, delimiter=","),
    write=partial(write_delimited, delimiter=","),
    needs="pyarrow",
)
