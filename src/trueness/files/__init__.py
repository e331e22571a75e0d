"""Files of predictions as batches of rows, and batches as tables: data larger than memory.

| module | what it holds |
|---|---|
| `paths`, `folders`, `remote` | which files are meant: names, folders, globs, links, addresses |
| `request`, `columns`, `_column_search`, `where` | which columns are labels and probabilities, which rows are read |
| `batches`, `_values`, `_coding`, `_bad_rows` | columns to rows; bad rows by file, number and code |
| `source` | all files as one stream, read ahead on a thread |
| `summing` | batches to tables: groups, bins of equal mass from a grid |
| `images`, `mapped_arrays` | arrays of images and folders of nnU-Net as batches |
| `_pairing` | the predictions of several models for the same rows |
| `_output` | whether outputs can be written |

The readers are in `trueness.formats`.
"""

from trueness.files._bad_rows import no_rows_left
from trueness.files._output import check_outputs
from trueness.files._pairing import equal_mass_edges, pair_batches, refusal_of_batches
from trueness.files.batches import SKIPPED, Batch, RowOptions
from trueness.files.folders import matching_paths
from trueness.files.paths import InputFiles, find_inputs, refuse_twice
from trueness.files.remote import find_remote
from trueness.files.request import Choice, Request
from trueness.files.source import Source
from trueness.files.summing import Plan, Summed, sum_source
from trueness.files.where import Condition, parse_condition
from trueness.formats import STANDARD_INPUT, InputFile, TextLayout, kind_of, write_predictions
from trueness.old_table import GroupedTables
from trueness.old_table.grouped_file import load_tables, merge_files, save_tables

__all__ = [
    "Source",
    "Request",
    "TextLayout",
    "RowOptions",
    "Condition",
    "parse_condition",
    "Plan",
    "sum_source",
    "Summed",
    "pair_batches",
    "refusal_of_batches",
    "equal_mass_edges",
    "no_rows_left",
    "GroupedTables",
    "save_tables",
    "load_tables",
    "merge_files",
    "find_inputs",
    "find_remote",
    "matching_paths",
    "refuse_twice",
    "kind_of",
    "InputFile",
    "InputFiles",
    "Choice",
    "Batch",
    "check_outputs",
    "write_predictions",
    "STANDARD_INPUT",
    "SKIPPED",
]
