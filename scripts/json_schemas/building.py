"""Schemas of classes: fields, types, and what they mean."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import tomllib
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from trueness.assessment._cautions import Caution
from trueness.assessment._to_json import SCHEMA
from trueness.inference.events.cumulative import CumulativeTest as EventCumulativeTest

ROOT = Path(__file__).parents[2]
TEXTS = tomllib.loads((ROOT / "docs" / "_ext" / "parameters.toml").read_text(encoding="utf-8"))["attributes"]

Schema = dict[str, Any]

NAMES = {EventCumulativeTest: "EventCumulativeTest"}
"""Classes whose name is that of another one."""

NUMBER: Schema = {"type": ["number", "null"]}
STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
PLAIN = {float: NUMBER, int: INTEGER, str: STRING, bool: {"type": "boolean"}, type(None): {"type": "null"}}


def described(schema: Schema, text: str) -> Schema:
    """The schema with a description, in the terms of JSON."""
    return schema | {"description": in_json(text)}


def in_json(text: str) -> str:
    """A text in the terms of JSON, which has neither None nor NaN."""
    return text.replace("None", "null").replace("NaN", "null")


def either_or_null(schema: Schema) -> Schema:
    """The schema, or null."""
    if "$ref" in schema or "anyOf" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return schema | {"type": kinds if "null" in kinds else [*kinds, "null"]}


def list_of(schema: Schema) -> Schema:
    """A list whose entries have this schema."""
    return {"type": "array", "items": schema}


def map_of(schema: Schema) -> Schema:
    """An object whose keys are names and whose values have this schema."""
    return {"type": "object", "additionalProperties": schema}


def reference(name: str, file: str = "") -> Schema:
    """A reference to a definition."""
    return {"$ref": f"{file}#/$defs/{name}"}


def an_object(properties: Schema, text: str, optional: Iterable[str] = ()) -> Schema:
    """An object with these fields and no others."""
    return {
        "description": in_json(text),
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in set(optional)],
        "additionalProperties": False,
    }


def texts_of(cls: type) -> dict[str, str]:
    """What each field of a class means: the text below it, or the text for its name."""
    found = {field.name: TEXTS[field.name] for field in fields(cls) if field.name in TEXTS}
    found |= {
        field.name: text for field in fields(cls) if (text := TEXTS.get(f"{cls.__name__}.{field.name}"))
    }
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(body, ast.ClassDef)
    for line, text in pairwise(body.body):
        if isinstance(line, ast.AnnAssign) and isinstance(text, ast.Expr):
            assert isinstance(line.target, ast.Name)
            assert isinstance(text.value, ast.Constant)
            found[line.target.id] = " ".join(str(text.value.value).split())
    return found


LATE = {"Caution": Caution}
"""Names that modules import for type checkers only."""


class Definitions(dict[str, Schema]):
    """The definitions of a schema by name, with those of the classes that others use."""

    def of(self, cls: type) -> Schema:
        """A reference to a class, which is defined by its fields."""
        name = NAMES.get(cls, cls.__name__)
        if name not in self:
            self[name] = {}  # reserved: classes may contain themselves
            texts = texts_of(cls)
            properties = {
                field.name: described(self.of_field(cls, field.name), texts[field.name])
                for field in fields(cls)
            }
            self[name] = an_object(properties, first_line(cls))
        return reference(name)

    def of_field(self, cls: type, name: str) -> Schema:
        """The schema of one field of a class."""
        (hint,) = [field.type for field in fields(cls) if field.name == name]
        return self.of_hint(
            eval(hint, vars(inspect.getmodule(cls)) | LATE) if isinstance(hint, str) else hint
        )

    def of_hint(self, hint: Any) -> Schema:
        """The schema of a type."""
        if hint in PLAIN:
            return PLAIN[hint]
        if is_dataclass(hint):
            return self.of(hint)
        return self._of_generic(typing.get_origin(hint), typing.get_args(hint))

    def _of_generic(self, origin: Any, parts: tuple[Any, ...]) -> Schema:
        """The schema of an optional type, a list, a mapping or an array."""
        if origin is np.ndarray:
            return list_of(NUMBER)
        if origin is typing.Literal:
            return {"enum": list(parts)}
        if origin in (typing.Union, types.UnionType):
            (one,) = [part for part in parts if part is not type(None)]
            return either_or_null(self.of_hint(one))
        return list_of(self.of_hint(parts[0])) if origin in (tuple, list) else map_of(self.of_hint(parts[1]))


def first_line(cls: type) -> str:
    """What a class is, in its own words."""
    assert cls.__doc__ is not None
    return " ".join(cls.__doc__.strip().split("\n\n")[0].split())


def parameters_of(cls: type) -> dict[str, str]:
    """What each parameter of a class means, from its docstring."""
    found = re.findall(r"^(\w+) : .*\n((?:    .*\n?)+)", inspect.getdoc(cls) or "", re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in found}


def heading(kind: str, schema: int = SCHEMA) -> Schema:
    """The first fields of every result."""
    return {
        "schema": described({"const": schema}, "The number of this schema; it grows if fields change."),
        "kind": described({"const": kind}, "What kind of result this is."),
        "trueness": described(STRING, "The version of trueness that wrote it."),
    }


def file_of(definitions: Mapping[str, Schema], kinds: Iterable[str], name: str, text: str) -> Schema:
    """A file of definitions, one of which describes the whole content."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": name,
        "title": text,
        "anyOf": [reference(kind) for kind in kinds],
        "$defs": dict(definitions),
    }
