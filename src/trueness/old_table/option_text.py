"""Tables of different numbers of options as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from trueness._printing import plural

if TYPE_CHECKING:
    from trueness.old_table.option_tables import OptionTables

MOST_LISTED = 8
"""Numbers of options that a line lists."""


def options_text(options: Mapping[int, int]) -> str:
    """The numbers of options with their rows.

    >>> options_text({2: 41, 3: 80, 4: 204})
    '2 to 4 options (2: 41, 3: 80, 4: 204)'
    >>> options_text({4: 60})
    '4 options'
    """
    if len(options) == 1:
        return f"{next(iter(options))} options"
    listed = [f"{c}: {rows}" for c, rows in options.items()]
    shown = [*listed[:MOST_LISTED], *(["…"] if len(listed) > MOST_LISTED else [])]
    return f"{min(options)} to {max(options)} options ({', '.join(shown)})"


def text_of_options(tables: OptionTables) -> str:
    """A line for all tables, and the text of each."""
    kind = "weighted row" if tables.spec.weighted else "row"
    of = options_text(tables.options) if tables.options else "no options"
    head = f"OptionTables: {plural(tables.n_rows, kind)}, {of}"
    return "\n".join([head, *(repr(table) for table in tables.values())])
