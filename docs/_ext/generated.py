"""Parts of pages that are written at build: options of the command, results of benchmarks.

A line such as ``<!-- generated: command -->`` in a page is replaced by what the function of that name in `PARTS` gives.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueness.cli._parser import COMMANDS, GLOBAL_OPTIONS, make_parser

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

ROOT = Path(__file__).parents[2]
MARK = re.compile(r"^<!-- generated: (\w+)(?: (\w+))? -->$", re.MULTILINE)
WIDTH = 80


def command() -> str:
    """Every command with its options, from the parser."""
    (commands,) = [
        action for action in make_parser()._actions if isinstance(action, argparse._SubParsersAction)
    ]
    return "\n\n".join(_command(name, parser) for name, parser in commands.choices.items())


def common() -> str:
    """The options of every command."""
    listed = [f"`{name}`\n: {escaped(text)}" for name, text in GLOBAL_OPTIONS.items()]
    return "\n\n".join(["`-h, --help`\n: show the help of the command", *listed])


def _command(name: str, parser: argparse.ArgumentParser) -> str:
    parser.formatter_class = partial(argparse.RawDescriptionHelpFormatter, width=WIDTH)
    usage = "\n".join(line[len("usage: ") :] for line in parser.format_usage().rstrip().splitlines())
    parts = [f"(command-{name})=\n## trueness {name}", escaped(COMMANDS[name].capitalize() + ".")]
    parts += [escaped(text) for text in (parser.description or "").strip().split("\n\n")[1:]]
    parts += [f"```text\n{usage}\n```"]
    for group in parser._action_groups:
        parts += _group(parser, group)
    examples = (parser.epilog or "").strip()
    return "\n\n".join([*parts, f"```text\n{examples}\n```"] if examples else parts)


def _group(parser: argparse.ArgumentParser, group: Any) -> list[str]:
    """The options of a group, without those that all commands have."""
    common = {"--help", *GLOBAL_OPTIONS}
    actions = [action for action in group._group_actions if not common & set(action.option_strings)]
    if not actions:
        return []
    formatter = parser._get_formatter()
    listed = [
        f"`{formatter._format_action_invocation(action)}`\n: {escaped(formatter._expand_help(action))}"
        for action in actions
    ]
    title = {"positional arguments": "Arguments", "options": "Options"}.get(
        group.title, group.title.capitalize()
    )
    return [f"### {title}", *([escaped(group.description)] if group.description else []), *listed]


def escaped(text: str) -> str:
    """Text of the help as Markdown: options and what stands between backquotes are code, everything else is literal."""
    parts = re.sub(r"(?<!`)(--[a-z][a-z-]*)", r"`\1`", " ".join(text.split())).split("`")
    return "`".join(
        part if k % 2 else re.sub(r"([\\*_\[\]<>|#$~])", r"\\\1", part) for k, part in enumerate(parts)
    )


def formats() -> str:
    """The formats of predictions, from their modules."""
    lines = ["| format | endings | read | written | needs |", "|---|---|---|---|---|"]
    for path in sorted((ROOT / "src" / "trueness" / "formats" / "by_name").glob("[a-z]*.py")):
        format = import_module(f"trueness.formats.by_name.{path.stem}").FORMAT
        endings = " ".join(f"`{ending}`" for ending in format.endings)
        read = "from front to back, also compressed and from pipes" if format.is_text else "from a file"
        needs = f"{format.needs} (extra `{format.extra}`)" if format.needs else "nothing"
        lines.append(f"| {path.stem} | {endings} | {read} | {'yes' if format.write else 'no'} | {needs} |")
    return "\n".join(lines)


def limits() -> str:
    """The limits for files that may be hostile, from the modules that apply them."""
    lines = ["| what | limit |", "|---|---|"]
    for module, name, what, unit in LIMITS:
        value = getattr(import_module(f"trueness.{module}"), name)
        lines.append(f"| {what} | {value >> 20 if unit == 'MB' else value:,} {unit} |")
    return "\n".join(lines)


LIMITS = (
    ("_json", "MAX_NESTING", "nesting of JSON, checked before it is parsed", "levels"),
    ("formats.json_stream", "MAX_LINE_BYTES", "a line of an evaluation log", "MB"),
    ("formats.json_stream", "MAX_DOCUMENT_BYTES", "a JSON document of an evaluation log", "MB"),
    ("formats.zip_members", "MAX_MEMBER_BYTES", "a member of an `.eval` archive, packed or unpacked", "MB"),
    ("formats.by_name.xlsx", "MAX_PART_BYTES", "a part of an Excel workbook, unpacked", "MB"),
    ("formats.by_name.xlsx", "MAX_RATIO", "compression of a part of a workbook (above 1 MB)", "to 1"),
    ("formats._numpy_arrays", "MAX_HEADER_BYTES", "the header of an NPY array", "bytes"),
    ("formats._numpy_arrays", "MAX_ROW_BYTES", "a row of an NPY array", "MB"),
    ("formats.fields", "MAX_CLASSES", "classes of a list column", "classes"),
    ("old_table.packed_numbers", "MOST", "numbers that a packed text of a table may become", "numbers"),
    ("tabulation.events", "MOST_EVENT_BYTES", "sums by class and group", "MB"),
)
"""Module, name of the constant, what it limits, and its unit."""


TITLES = {
    "required": "Required and observed",
    "latest": "The compiled engine and other libraries",
    "class_tables": "Class tables",
    "files": "Files",
    "inference": "Inference",
    "clusters": "Clusters and comparisons",
    "cluster": "Dask and Spark",
    "torch_metric": "Torch metrics",
}
"""Results in the order of the page; others follow under their own names."""


def benchmarks() -> str:
    """The committed results of the benchmarks."""
    found = {path.stem: path for path in sorted((ROOT / "benchmarks" / "results").glob("*.md"))}
    order = [*(name for name in TITLES if name in found), *(name for name in found if name not in TITLES)]
    return "\n\n".join(
        f"## {TITLES.get(name, name)}\n\n{_below(found[name].read_text(encoding='utf-8'))}" for name in order
    )


def _below(text: str) -> str:
    """A page of results as a part of another page: its title is left out, its headings become those of parts."""
    without_title = re.sub(r"\A# .*\n", "", text.strip())
    return re.sub(r"^#+ ", "### ", without_title, flags=re.MULTILINE).strip()


PARTS: dict[str, Callable[..., str]] = {
    "benchmarks": benchmarks,
    "command": command,
    "common": common,
    "formats": formats,
    "limits": limits,
}


def write_parts(text: str) -> str:
    """The text of a page with its generated parts."""
    return MARK.sub(lambda mark: PARTS[mark[1]](*filter(None, [mark[2]])), text)


def _on_source_read(app: Sphinx, name: str, source: list[str]) -> None:
    source[0] = write_parts(source[0])


def _outdated(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Pages with generated parts are always read again: what they are made of may have changed."""
    return [
        name for name in env.found_docs if MARK.search(Path(env.doc2path(name)).read_text(encoding="utf-8"))
    ]


def setup(app: Sphinx) -> dict[str, Any]:
    """Replace the marks when a page is read."""
    app.connect("source-read", _on_source_read)
    app.connect("env-get-outdated", _outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
