"""Files of tables by group are validated before they are used."""

from pathlib import Path

import pytest

from trueness.files import load_tables
from trueness.refusals import Refusal


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        '{"format": "trueness tables by group", "schema": 4, "by": "x", "groups": []}',
        '{"format": "trueness tables by group", "schema": 5, "by": "x", "groups": []}',
        '{"format": "trueness tables by group", "schema": 5, "by": "x", "groups": {}}',
        '{"format": "trueness tables by group", "schema": 5, "by": "x", "groups": [1]}',
        '{"format": "trueness tables by group", "schema": 5, "by": "x", "groups": [{"group": 1, "tables": []}]}',
        '{"format": "trueness tables by group", "schema": 5, "by": "x", "groups": [{"group": "a", "tables": [{}]}]}',
        "[" * 100_000,
        "not JSON",
    ],
)
def test_saved_groups_are_validated(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(Refusal):
        load_tables(str(tmp_path / "t.json"))
