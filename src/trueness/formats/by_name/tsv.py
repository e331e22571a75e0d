"""Tab-separated values."""

from functools import partial

from trueness.formats._delimited import DelimitedReader, write_delimited
from trueness.formats._format import Format

FORMAT = Format(
    endings=(".tsv",),
    open_text=partial(DelimitedReader, delimiter="\t"),
    write=partial(write_delimited, delimiter="\t"),
    needs="pyarrow",
)
