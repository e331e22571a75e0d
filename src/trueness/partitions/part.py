"""The sums of some rows, as a worker returns them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import add

from trueness._version import __version__
from trueness.old_table import GroupedTables
from trueness.old_table.file import SCHEMA
from trueness.old_table.grouped_file import decode_groups, encode_groups
from trueness.refusals import InvalidValueError, Refusal
from trueness.variation import Variation


@dataclass(frozen=True, slots=True)
class Part:
    """The sums of some rows, and the version of trueness that made them."""

    tables: GroupedTables
    skipped: Counter[str] = field(default_factory=Counter)
    schema: int = SCHEMA
    library: str = __version__

    def __add__(self, other: Part) -> Part:
        for part in (self, other):
            part._require_schema()
        if self.tables.by != other.tables.by:
            raise InvalidValueError(
                "different-tables",
                f"the partitions are grouped by different columns: {self.tables.by!r} and "
                f"{other.tables.by!r}",
                "install the same version of trueness on all machines",
            )
        return Part(self.tables + other.tables, self.skipped + other.skipped)

    def _require_schema(self) -> None:
        if self.schema != SCHEMA:
            raise InvalidValueError(
                "unknown-schema",
                f"a worker with trueness {self.library} sent tables of schema {self.schema}, "
                f"here (trueness {__version__}) it is {SCHEMA}",
                "install the same version of trueness on all machines",
            )

    @classmethod
    def empty(cls, by: str | None) -> Part:
        """The part of no rows: adding it changes nothing."""
        return cls(GroupedTables(by, {}))

    def to_json(self) -> str:
        """As text, in the form of saved tables."""
        return json.dumps(
            {
                "schema": self.schema,
                "library": self.library,
                "by": self.tables.by,
                "groups": encode_groups(self.tables.groups),
            }
        )

    @classmethod
    def from_json(cls, text: str, variation: Variation) -> Part:
        """The part that a worker sent, validated; tables of another schema are not read."""
        content = json.loads(text)
        if content["schema"] != SCHEMA:
            return cls(GroupedTables(content["by"], {}), schema=content["schema"], library=content["library"])
        try:
            groups = decode_groups(content["groups"], "the result of a worker", variation)
        except Refusal as error:
            raise error.with_facts(remedy="run it again") from error
        return cls(GroupedTables(content["by"], groups), library=content["library"])


def total(parts: Iterable[Part]) -> Part:
    """The sum of parts, of which there is at least one."""
    return reduce(add, parts)
