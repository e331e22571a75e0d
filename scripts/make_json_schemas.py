"""Write the JSON Schemas of results, tables, monitors and errors: ``docs/reference/schemas/*.json``.

The fields are those of the classes, and so are their types; what they mean is read from the texts below the fields, or
from ``docs/_ext/parameters.toml``, as in the reference of the API. What is not a class is described in `json_schemas`.
The schemas allow no further fields, so that `tests/docs/test_json_schema.py` fails for a field that nobody described.

    python scripts/make_json_schemas.py
"""

from __future__ import annotations

import json
from pathlib import Path

from json_schemas.monitors_and_errors import error_schema, monitor_schema
from json_schemas.results import result_schema
from json_schemas.tables import table_schema

FOLDER = Path(__file__).parents[1] / "docs" / "reference" / "schemas"
SCHEMAS = {
    "result": result_schema,
    "table": table_schema,
    "monitor": monitor_schema,
    "error": error_schema,
}


def text_of(name: str) -> str:
    """The content of the file of a schema."""
    return json.dumps(SCHEMAS[name](), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in SCHEMAS:
        (FOLDER / f"{each}.json").write_text(text_of(each), encoding="utf-8")
        print(f"{each}.json")
