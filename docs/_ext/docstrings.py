"""Complete docstrings for the reference, and resolve the names in them.

One name means one thing in the whole package, so a parameter such as `sample_weight` is described once: by a function
of `DESCRIBING`, or in `parameters.toml`. Functions that have it without describing it get that description here; their
own description comes first. A parameter or an attribute without any description is a warning, which fails the build.
"""

import inspect
import re
import tomllib
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from docutils import nodes
from numpydoc.docscrape import NumpyDocString, Parameter
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.ext.autosummary import ImportExceptionGroup, import_by_name
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

import trueness

LOGGER = logging.getLogger(__name__)
HERE = Path(__file__).parent

SECTIONS = {
    "Parameters",
    "Attributes",
    "Returns",
    "Yields",
    "Raises",
    "See Also",
    "Notes",
    "References",
    "Examples",
}
DESCRIBING = (
    trueness.assess,
    trueness.tabulate,
    trueness.assess_event,
    trueness.simplex.simplex_ece,
    trueness.simplex.skce,
)
"""The functions whose parameters have the same meaning everywhere; the first that describes one counts."""

INTERNAL = {
    "DrawnStatistic.undefined",
    "Edges.index",
    "Edges.resolve",
    "Edges.thresholds",
    "EqualMass.cell_starts",
    "EqualMass.edges_at",
    "EqualMass.fit_rows",
    "EqualMass.nth",
    "EqualMass.right_ends",
    "EqualWidth.resolve",
    "Interval.around",
    "Monitor.count",
    "Monitor.evidence_of",
    "Monitor.of_settings",
    "TableSpec.agrees",
    "TableSpec.thresholds",
    "Tables.of_file",
    "Variation.of_rows",
}
"""Methods that the modules of the package call on each other; they are not promised to users."""

CONSTRUCTED = {
    "Edges",
    "EqualMass",
    "EqualWidth",
    "Tables",
    "TableSpec",
    "EventSpec",
    "OptionSpec",
    "Variation",
}
"""The records that users make themselves."""

READABLE = {
    "FloatArray": "array of float",
    "IntArray": "array of int",
    "AnyRankTable": "CalibrationTable | OptionTables",
}
"""Names of types that only the source knows."""

NOT_DESCRIBED = re.compile(r"Alias for field number \d+$")


@cache
def vocabulary() -> dict[str, dict[str, str]]:
    """What names mean: tables `parameters` and `attributes`, by name or by `Class.name` or `function.name`."""
    return tomllib.loads((HERE / "parameters.toml").read_text(encoding="utf-8"))


@cache
def shared() -> dict[str, Parameter]:
    """The parameters that the functions of `DESCRIBING` describe, by name."""
    described: dict[str, Parameter] = {}
    for function in DESCRIBING:
        for parameter in NumpyDocString(inspect.getdoc(function) or "")["Parameters"]:
            for name in names_of(parameter):
                described.setdefault(name, parameter._replace(name=name))
    return described


def names_of(parameter: Parameter) -> list[str]:
    """The names of an entry such as `X, y : arrays`, without the stars of variable arguments."""
    return [name.strip().lstrip("*") for name in parameter.name.split(",")]


def entry(name: str, owner: str) -> Parameter | None:
    """The description of a parameter from the vocabulary, else from `DESCRIBING`."""
    words = vocabulary()["parameters"]
    last = owner.rpartition(".")[2]
    text = words.get(f"{owner}.{name}") or words.get(f"{last}.{name}") or words.get(name)
    if text is None:
        return shared().get(name)
    kind, _, meaning = text.partition(": ")
    return Parameter(name, kind, [meaning])


def parameter_names(obj: Any) -> list[str]:
    """The names of the parameters of a function or class, in their order."""
    try:
        parameters = inspect.signature(obj).parameters
    except (TypeError, ValueError):
        return []
    return [name for name in parameters if name not in ("self", "cls") and not name.startswith("_")]


def split(lines: list[str]) -> tuple[list[str], list[str], list[str]]:
    """The lines before the section of parameters, those of the section, and those after it."""
    heads = enumerate(pairwise(lines))
    starts = [at for at, (head, line) in heads if head.strip() in SECTIONS and set(line.strip()) == {"-"}]
    for place, start in enumerate(starts):
        if lines[start].strip() == "Parameters":
            end = starts[place + 1] if place + 1 < len(starts) else len(lines)
            return lines[:start], lines[start:end], lines[end:]
    first = starts[0] if starts else len(lines)
    return lines[:first], [], lines[first:]


def written(parameters: list[Parameter]) -> Iterator[str]:
    """The lines of a section of parameters."""
    yield from ("Parameters", "----------")
    for parameter in parameters:
        yield f"{parameter.name} : {parameter.type}" if parameter.type else parameter.name
        yield from (f"    {line}" for line in parameter.desc)
    yield ""


def complete(obj: Any, name: str, lines: list[str]) -> None:
    """Describe the parameters that a docstring does not describe, in the order of the signature."""
    before, section, after = split(lines)
    described = NumpyDocString("\n".join(section))["Parameters"]
    known = {one for parameter in described for one in names_of(parameter)}
    order = parameter_names(obj)
    text = "\n".join(before)
    for parameter in order:
        if parameter in known:
            continue
        found = entry(parameter, name.removeprefix("trueness."))
        if found is not None:
            described.append(found)
        elif not re.search(rf"`{parameter}[`=]", text):
            LOGGER.warning("parameter %s of %s is not described", parameter, name)
    described.sort(
        key=lambda it: min((order.index(one) for one in names_of(it) if one in order), default=len(order))
    )
    if described:
        lines[:] = [*before, "", *written(described), *after]


def describe(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Complete a docstring before numpydoc reads it."""
    escape(lines)
    if what in ("function", "method") or (what == "class" and not is_record(obj)):
        complete(obj, name, lines)
    elif what in ("attribute", "data", "property") and (not any(lines) or NOT_DESCRIBED.match(lines[0])):
        owner, _, last = name.rpartition(".")
        words = vocabulary()["attributes"]
        text = described_by_class(owner).get(last)
        text = text or words.get(f"{owner.rpartition('.')[2]}.{last}") or words.get(last)
        if text is None:
            LOGGER.warning("attribute %s is not described", name)
        else:
            lines[:] = [text]
    if what in ("attribute", "property") and (kind := type_of(name)):
        lines += ["", f"Type: ``{kind}``"]


def type_of(name: str) -> str | None:
    """The type of an attribute or property as its annotation says it; None if it has none."""
    owner, _, last = name.rpartition(".")
    try:
        obj = import_by_name(owner)[1]
    except ImportExceptionGroup:
        return None
    for base in getattr(obj, "__mro__", ()):
        found = vars(base).get("__annotations__", {}).get(last)
        found = found or getattr(getattr(vars(base).get(last), "fget", None), "__annotations__", {}).get(
            "return"
        )
        if found is not None:
            text = found if isinstance(found, str) else getattr(found, "__name__", str(found))
            return re.sub(r"\w+", lambda match: READABLE.get(match[0], match[0]), text)
    return None


def escape(lines: list[str]) -> None:
    """Let the bars of |x| be bars; docutils takes them for substitutions."""
    for at, line in enumerate(lines):
        if line.strip() == "Examples":
            return
        if not line.lstrip().startswith(">>>"):
            lines[at] = "`".join(
                part.replace("|", r"\|") if place % 2 == 0 else part
                for place, part in enumerate(line.split("`"))
            )


@cache
def described_by_class(owner: str) -> dict[str, str]:
    """What the docstring of a class says about its attributes, by name."""
    try:
        obj = import_by_name(owner)[1]
    except ImportExceptionGroup:
        return {}
    described = NumpyDocString(inspect.getdoc(obj) or "")["Attributes"] if isinstance(obj, type) else []
    return {name: " ".join(it.desc) for it in described for name in names_of(it)}


def is_record(obj: Any) -> bool:
    """Whether a class is described by its attributes: a dataclass or a named tuple."""
    return is_dataclass(obj) or (isinstance(obj, type) and issubclass(obj, tuple))


def without_signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str, None] | None:
    """Leave out the signatures of results, which users do not construct."""
    if what == "class" and is_record(obj) and obj.__name__ not in CONSTRUCTED:
        return "", None
    return None


def skip(app: Sphinx, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out what classes inherit from other libraries."""
    obj = getattr(obj, "fget", obj)
    owner = getattr(obj, "__objclass__", None)
    module = getattr(obj, "__module__", None) or (owner.__module__ if owner else None)
    foreign = callable(obj) and module is not None and not module.startswith("trueness")
    return True if foreign or getattr(obj, "__qualname__", None) in INTERNAL else None


class NameRole(SphinxRole):
    """A name between backticks in a docstring: a link if the reference has a page for it, code if not."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Make a reference that may stay unresolved."""
        code = nodes.literal(self.rawtext, self.text, classes=["xref"])
        if not re.fullmatch(r"[\w.]+(\(\))?", self.text):
            return [nodes.literal(self.rawtext, self.text)], []
        reference = pending_xref(
            "",
            code,
            refdomain="py",
            reftype="obj",
            reftarget=self.text.removesuffix("()"),
            optional=True,
            refdoc=self.env.docname,
            refwarn=False,
        )
        reference["py:module"] = self.env.ref_context.get("py:module")
        reference["py:class"] = self.env.ref_context.get("py:class")
        return [reference], []


def stay_code(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Node
) -> nodes.Node | None:
    """Show a name without a page as code."""
    return content if node.get("optional") else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the steps to Sphinx; `default_role` is "name"."""
    app.setup_extension("numpydoc")
    app.add_role("name", NameRole())
    app.connect("autodoc-process-docstring", describe, priority=400)
    app.connect("autodoc-process-signature", without_signature)
    app.connect("autodoc-skip-member", skip)
    app.connect("missing-reference", stay_code)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
