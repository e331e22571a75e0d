"""Saved event tables are exact, sparse and checked completely before they are used."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from event_tables import TABLES, Y_PROB, Y_TRUE, mixed_rows, plain

import trueness as tn
from trueness.old_table import EventTable, Tables


class TestRoundTrip:
    @pytest.mark.parametrize("name", TABLES)
    def test_loaded_is_saved(self, tmp_path: Path, name: str) -> None:
        table = TABLES[name]
        table.save(tmp_path / "t.json")
        loaded = EventTable.load(tmp_path / "t.json")
        assert loaded == table
        assert loaded.spec == table.spec
        assert loaded.spec.class_names == table.spec.class_names
        assert loaded + table == table + table
        assert EventTable.from_dict(plain(table)) == table

    def test_beside_other_tables(self, tmp_path: Path) -> None:
        path = tmp_path / "t.json"
        tables = Tables.of([tn.tabulate(Y_TRUE, Y_PROB), TABLES["named"], TABLES["top"]])
        tables.save(path)
        loaded = Tables.load(path)
        assert loaded == tables
        assert loaded.by_class == TABLES["classes"]
        assert tn.CalibrationTable.load_all(path) == [tables.by_variation]
        assert EventTable.load(path) == TABLES["named"]

    def test_a_file_without_the_wanted_kind(self, tmp_path: Path) -> None:
        path = tmp_path / "t.json"
        TABLES["classes"].save(path)
        with pytest.raises(tn.Refusal, match=r"holds event tables only; read it with EventTable\.load"):
            tn.CalibrationTable.load(path)
        tn.tabulate(Y_TRUE, Y_PROB).save(path)
        with pytest.raises(tn.Refusal, match="holds no event table"):
            EventTable.load(path)

    def test_sums_beyond_the_integers_of_floats_stay_exact(self) -> None:
        table = TABLES["split"]
        for _ in range(40):
            table = table + table
        assert table.n_rows == 300 * 2**40
        assert EventTable.from_dict(plain(table)) == table

    def test_cells_without_rows_are_left_out(self) -> None:
        content = plain(TABLES["classes"])
        assert content["cells"] == [np.flatnonzero(row).tolist() for row in TABLES["classes"].row_count]
        assert len(content["sums"]["rows"]) == np.count_nonzero(TABLES["classes"].row_count)

    def test_a_thousand_classes_take_few_characters(self) -> None:
        """About 37 characters for each cell that holds rows: .85 MB for 23 000 of 80 000."""
        labels, rows = mixed_rows(1500, 1000)
        table = tn.tabulate_events(labels, rows)
        filled = np.count_nonzero(table.row_count)
        assert filled < 0.2 * table.row_count.size
        assert len(json.dumps(table.to_dict())) < 40 * filled
        assert EventTable.from_dict(plain(table)) == table


def put(value: Any, *keys: Any) -> Callable[[dict[str, Any]], None]:
    """An edit that replaces an entry, by a function of it if `value` is one."""

    def edit(content: Any) -> None:
        for key in keys[:-1]:
            content = content[key]
        content[keys[-1]] = value(content[keys[-1]]) if callable(value) else value

    return edit


def drop(*keys: Any) -> Callable[[dict[str, Any]], None]:
    def edit(content: Any) -> None:
        for key in keys[:-1]:
            content = content[key]
        del content[keys[-1]]

    return edit


def first_plus(step: Any) -> Callable[[list[Any]], list[Any]]:
    return lambda values: [values[0] + step, *values[1:]]


DAMAGE: list[tuple[str, Callable[[dict[str, Any]], None], str]] = [
    ("classes", drop("cells"), "parts are wrong"),
    ("classes", put(1, "more"), "parts are wrong"),
    ("classes", drop("events", "ties"), "spec must give"),
    ("classes", put([], "events"), "spec must give"),
    ("classes", put(1, "events", "n_classes"), "n_classes must be at least 2 or null"),
    ("classes", put(True, "events", "n_classes"), "n_classes must be at least 2 or null"),
    ("classes", put([], "events", "events"), "events must be a list"),
    ("classes", put("012", "events", "events"), "events must be a list"),
    ("classes", put([0, 1, 1], "events", "events"), "twice"),
    ("classes", put([0, 1, 3], "events", "events"), "class indices or names"),
    ("classes", put([0, 1, -1], "events", "events"), "class indices or names"),
    ("classes", put([0, 1, 1.5], "events", "events"), "class indices or names"),
    ("classes", put([0, 1, None], "events", "events"), "class indices or names"),
    ("classes", put(None, "events", "n_classes"), "class indices or names"),
    ("classes", put("random", "events", "ties"), "ties must be one of first, split"),
    ("classes", put(1, "events", "weighted"), "weighted must be true or false"),
    ("classes", put("fine", "events", "grid"), "grid must be class, event or a list of edges"),
    ("classes", put([0, "1"], "events", "grid"), "grid must be class, event or edges"),
    ("classes", put([0, 0.5], "events", "grid"), "increase from 0 to 1"),
    ("named", put(["a", "b"], "events", "class_names"), "a name for each class"),
    ("named", put(["a", "b", 3], "events", "class_names"), "a name for each class"),
    ("named", put("abc", "events", "class_names"), "a name for each class"),
    ("classes", put([[], []], "cells"), "a list for each event"),
    ("classes", put({}, "cells"), "a list for each event"),
    ("classes", put(7, "cells", 0), "cells must be lists"),
    ("classes", put(lambda cells: cells[::-1], "cells", 0), "must increase"),
    ("classes", put(lambda cells: [-1, *cells[1:]], "cells", 0), "cells of the grid"),
    ("classes", put(lambda cells: [*cells[:-1], 80], "cells", 0), "cells of the grid"),
    ("classes", put(lambda cells: [0.5, *cells[1:]], "cells", 0), "cells must be integers"),
    ("classes", drop("sums", "observed"), "its sums must be rows, predicted, observed"),
    ("classes", put(0, "sums", "square"), "its sums must be"),
    ("event grid", drop("sums", "square"), "its sums must be"),
    ("weighted", drop("sums", "weight"), "its sums must be"),
    ("classes", put(lambda rows: rows[1:], "sums", "rows"), "rows must have shape"),
    ("classes", put(lambda rows: [str(rows[0]), *rows[1:]], "sums", "rows"), "rows must be integers"),
    ("classes", put(lambda rows: [2**63, *rows[1:]], "sums", "rows"), "rows must be integers"),
    ("classes", put(51, "sums", "predicted", "bits"), "in units of 2"),
    ("classes", put(first_plus(2**52), "sums", "predicted", "fraction"), "from 0 to 1"),
    ("classes", put(lambda rows: [0, *rows[1:]], "sums", "rows"), "a cell has no rows"),
    ("classes", put(lambda rows: [-3, *rows[1:]], "sums", "rows"), "a cell has no rows"),
    ("classes", put(first_plus(1), "sums", "rows"), "do not hold n_rows rows"),
    ("classes", put(301, "n_rows"), "do not hold n_rows rows"),
    ("classes", put(300.0, "n_rows"), "n_rows must be an integer"),
    ("classes", put(2**70, "n_rows"), "n_rows must be an integer"),
    ("classes", put(first_plus(1000), "sums", "observed", "whole"), "more is observed in a cell"),
    ("classes", put(first_plus(-1000), "sums", "observed", "whole"), "more is observed in a cell"),
    ("classes", put(first_plus(9), "sums", "predicted", "whole"), "outside its edges"),
    ("classes", put(first_plus(-9), "sums", "predicted", "whole"), "outside its edges"),
    ("event grid", put(first_plus(400), "sums", "square", "whole"), "do not decrease"),
    ("event grid", put(first_plus(-400), "sums", "cube", "whole"), "do not decrease"),
    ("event grid", put(first_plus(400), "sums", "fourth", "whole"), "do not decrease"),
    ("event grid", put(first_plus(400), "sums", "product", "whole"), "product is out of range"),
    ("event grid", put(first_plus(-400), "sums", "product", "whole"), "product is out of range"),
    (
        "event grid",
        put(first_plus(10**7), "sums", "log_likelihood", "whole"),
        "log_likelihood is out of range",
    ),
    (
        "event grid",
        put(first_plus(-(10**12)), "sums", "log_likelihood", "whole"),
        "log_likelihood is out of range",
    ),
    ("event grid", put(first_plus(400), "sums", "impossible_rows"), "impossible_rows is not between"),
    ("event grid", put(first_plus(-400), "sums", "impossible_rows"), "impossible_rows is not between"),
    ("weighted", put(lambda w: [0.0, *w[1:]], "sums", "weight"), "rows without weight"),
    ("weighted", put(lambda w: [-w[0], *w[1:]], "sums", "weight"), "rows without weight"),
    ("weighted", put(lambda w: [w[0] * 1e-3, *w[1:]], "sums", "weight_square"), "weight_square is too small"),
    ("weighted", put(lambda w: [1e308, *w[1:]], "sums", "weight_square"), "finite numbers"),
    ("weighted", put(lambda w: [None, *w[1:]], "sums", "weight"), "finite numbers"),
]


class TestDamagedTables:
    @pytest.mark.parametrize(("name", "edit", "words"), DAMAGE, ids=[f"{n}-{w}" for n, _, w in DAMAGE])
    def test_it_is_refused(self, name: str, edit: Callable[[dict[str, Any]], None], words: str) -> None:
        content = copy.deepcopy(plain(TABLES[name]))
        edit(content)
        with pytest.raises(tn.Refusal, match=words) as caught:
            EventTable.from_dict(content)
        assert caught.value.code == "damaged-file"

    def test_more_cells_than_memory_are_not_allocated(self) -> None:
        content = plain(TABLES["classes"])
        content["events"] |= {"n_classes": 10**6, "events": list(range(10**6))}
        content["cells"] = [[] for _ in range(10**6)]
        with pytest.raises(tn.Refusal, match="too many cells"):
            EventTable.from_dict(content)

    def test_names_of_labels_that_are_not_classes(self) -> None:
        content = plain(TABLES["top"])
        content["events"]["class_names"] = ["a", "b", "c"]
        assert EventTable.from_dict(content).spec.class_names == ("a", "b", "c")

    def test_in_a_file_the_table_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "t.json"
        Tables.of([tn.tabulate(Y_TRUE, Y_PROB), TABLES["classes"]]).save(path)
        content = json.loads(path.read_text())
        content["tables"][1]["n_rows"] = 1
        path.write_text(json.dumps(content))
        with pytest.raises(tn.Refusal, match=r"t\.json, table 2: .*damaged"):
            Tables.load(path)

    def test_the_same_rows_are_required(self, tmp_path: Path) -> None:
        path = tmp_path / "t.json"
        tn.CalibrationTable.save_all([tn.tabulate(Y_TRUE, Y_PROB)], path)
        content = json.loads(path.read_text())
        content["tables"].append((TABLES["classes"] + TABLES["classes"]).to_dict())
        path.write_text(json.dumps(content))
        with pytest.raises(tn.Refusal, match="same rows"):
            Tables.load(path)
