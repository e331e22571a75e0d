"""Rows in partitions: what each worker does with its own, and how their sums become one result.

A scheduler sends `Work` to the workers, each partition gives a `Part`, and parts add up with `+`: in any order, in a
tree, from workers that were lost and replaced. The sums are exact, so the result is that of one process on the same
rows, to the bit.

| module | what it holds |
|---|---|
| `options` | the options of the adapters, and what they ask for |
| `work` | what a worker does |
| `files` | files in pieces, each read by one task |
| `part` | what a worker returns |
| `results` | tables and assessments from the sum of the parts |
"""

from trueness.partitions.files import FilePiece, file_pieces, files_of, is_paths, work_of_files
from trueness.partitions.options import (
    Options,
    choice_of,
    class_names_of,
    plan_of,
    request_of,
    require_known,
    row_options_of,
)
from trueness.partitions.part import Part, total
from trueness.partitions.results import Tabulated, assess_grouped, tables_by_group
from trueness.partitions.work import Work

__all__ = [
    "FilePiece",
    "Options",
    "Part",
    "Tabulated",
    "Work",
    "assess_grouped",
    "choice_of",
    "class_names_of",
    "file_pieces",
    "files_of",
    "is_paths",
    "plan_of",
    "request_of",
    "require_known",
    "row_options_of",
    "tables_by_group",
    "total",
    "work_of_files",
]
