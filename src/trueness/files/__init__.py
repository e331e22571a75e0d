"""Files of predictions as batches of rows, and batches as tables: data larger than memory.

| module | what it decides |
|---|---|
| `_paths`, `_folders` | which files are meant, and their formats; folders, globs and links |
| `_request`, `_columns`, `_column_search`, `_where` | which columns are labels and probabilities, which rows are read |
| `_parquet`, `_text`, `_numpy_files` | one reader for each kind of format, a slice at a time |
| `_stream` | the bytes of text formats, cut between rows |
| `_batches`, `_screen` | columns to rows that the border takes; bad rows by file, number and reason |
| `_source` | all files as one stream, read ahead on a thread |
| `_exact`, `_summing` | batches to tables: exact bins, groups |
| `_checkpoint`, `_identity` | going on after a kill, and only with the same files and options |
| `_pairing` | the same rows as several models saw them |
| `_tables`, `_output`, `_writing` | what is written, whole or not at all |

Only here is pyarrow imported, and only by the reader that needs it: NPY and NPZ do without.
"""

from trueness.files._batches import BAD_ROWS, SCALES, Batch, RowOptions
from trueness.files._checkpoint import Checkpoint
from trueness.files._errors import InputError
from trueness.files._folders import matching_paths
from trueness.files._identity import Identity
from trueness.files._output import check_outputs
from trueness.files._pairing import equal_mass_edges, paired, refused_of
from trueness.files._paths import (
    FORMATS,
    STANDARD_INPUT,
    Input,
    Inputs,
    find_inputs,
    kind_of,
    refuse_twice,
)
from trueness.files._remote import find_remote
from trueness.files._request import Choice, Request
from trueness.files._source import Position, Source
from trueness.files._summing import Plan, Summed, sum_source
from trueness.files._tables import GroupedTables, load_tables, merge_files, save_tables
from trueness.files._where import Condition, parse_condition
from trueness.files._writing import write_predictions

__all__ = [
    "Source",
    "Request",
    "RowOptions",
    "Condition",
    "parse_condition",
    "Plan",
    "sum_source",
    "Summed",
    "paired",
    "refused_of",
    "equal_mass_edges",
    "Checkpoint",
    "Identity",
    "GroupedTables",
    "save_tables",
    "load_tables",
    "merge_files",
    "find_inputs",
    "find_remote",
    "kind_of",
    "matching_paths",
    "refuse_twice",
    "Input",
    "Inputs",
    "Choice",
    "Batch",
    "Position",
    "InputError",
    "check_outputs",
    "write_predictions",
    "FORMATS",
    "STANDARD_INPUT",
    "SCALES",
    "BAD_ROWS",
]
