"""Saved tables are checked completely before they are used."""

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from saved import TABLES, Y_PROB, Y_TRUE

import trueness as tn


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table.json"


def edited(name: str, edit: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """The table as a dictionary, after an edit of its one entry."""
    content = copy.deepcopy(TABLES[name].to_dict())
    edit(content)
    return content


def put(value: Any, *keys: Any) -> Callable[[dict[str, Any]], None]:
    def edit(content: Any) -> None:
        for key in keys[:-1]:
            content = content[key]
        content[keys[-1]] = value(content[keys[-1]]) if callable(value) else value

    return edit


def full_bin(name: str) -> int:
    return int(TABLES[name].row_count.argmax())


def listed_bin(name: str) -> int:
    """Where the fullest bin is among those with rows."""
    counts = TABLES[name].row_count
    return int(counts[counts > 0].argmax())


class TestDamagedTables:
    @pytest.mark.parametrize("name", ["first", "split", "weighted"])
    @pytest.mark.parametrize(
        ("which", "factor"),
        [
            ("true_probability", -1),
            ("true_probability", 4),
            ("square", -1),
            ("square", 0),
            ("square", 4),
            ("log_likelihood", -1),
            ("log_likelihood", 2**23),
            ("log_likelihood", 4),
        ],
    )
    def test_scores_are_those_of_such_rows(self, name: str, which: str, factor: int) -> None:
        def scaled(value: Any) -> Any:
            return value * factor if isinstance(value, float) else value | {"whole": value["whole"] * factor}

        with pytest.raises(ValueError, match=which):
            tn.CalibrationTable.from_dict(edited(name, put(scaled, "sums", which)))

    @pytest.mark.parametrize("name", ["first", "split", "weighted", "equal mass"])
    def test_every_key_is_needed_and_none_is_added(self, name: str) -> None:
        def dictionaries(value: Any, *keys: Any) -> list[tuple[Any, ...]]:
            here = [keys] if isinstance(value, dict) else []
            return here + [d for k, v in (value.items() if here else ()) for d in dictionaries(v, *keys, k)]

        def at(content: Any, keys: tuple[Any, ...]) -> Any:
            for key in keys:
                content = content[key]
            return content

        whole = TABLES[name].to_dict()
        for keys in dictionaries(whole):
            for key in at(whole, keys):
                broken = copy.deepcopy(whole)
                del at(broken, keys)[key]
                with pytest.raises(ValueError, match="damaged"):
                    tn.CalibrationTable.from_dict(broken)
            surplus = copy.deepcopy(whole)
            at(surplus, keys)["surplus"] = 1
            with pytest.raises(ValueError, match="damaged"):
                tn.CalibrationTable.from_dict(surplus)

    @pytest.mark.parametrize("bad", [None, "3", 1.5, True, [], {}, [[]], 2**70, -(2**70)], ids=repr)
    @pytest.mark.parametrize("name", ["first", "split"])
    def test_every_value_has_its_type(self, name: str, bad: Any) -> None:
        """Every leaf of the file replaced by something else: refused wherever it stands."""

        def leaves(value: Any, *keys: Any) -> list[tuple[Any, ...]]:
            items = (
                value.items()
                if isinstance(value, dict)
                else enumerate(value)
                if isinstance(value, list)
                else None
            )
            return [keys] if items is None else [leaf for k, v in items for leaf in leaves(v, *keys, k)]

        for keys in leaves(TABLES[name].to_dict()):
            number = isinstance(bad, int | float) and bad is not True
            if (keys[-1] == "snap" and bad is None) or (keys[:2] == ("spec", "edges") and number):
                continue  # no other type: null is what snap is, and bins may have other edges
            with pytest.raises(ValueError, match=r"damaged|measure"):
                tn.CalibrationTable.from_dict(edited(name, put(bad, *keys)))

    @pytest.mark.parametrize(
        "keys",
        [
            ("sums", "rows"),
            ("sums", "ordered", "whole"),
            ("sums", "ordered", "fraction"),
            ("sums", "rank", "whole"),
            ("sums", "rank", "fraction"),
            ("sums", "variation", "whole"),
            ("sums", "variation", "fraction"),
            ("spec", "edges"),
        ],
        ids=".".join,
    )
    def test_shapes(self, keys: tuple[str, ...]) -> None:
        for change in (
            lambda value: value[:-1],
            lambda value: [*value, value[-1]],
            lambda value: [value],
            lambda value: [[v] for v in value],
            lambda value: [*value[:-1], []],
            lambda value: value[:0],
            lambda value: value[0],
        ):
            with pytest.raises(ValueError, match="damaged"):
                tn.CalibrationTable.from_dict(edited("first", put(change, *keys)))

    @pytest.mark.parametrize(
        ("name", "value", "keys"),
        [
            ("first", lambda n: n + 1, ("n_rows",)),
            ("first", lambda n: n - 1, ("n_rows",)),
            ("first", -1, ("n_rows",)),
            ("first", lambda n: n + 1, ("sums", "rows", "BIN")),
            ("first", lambda n: n - 1, ("sums", "rows", "BIN")),
            ("first", -1, ("sums", "rows", "BIN")),
            ("first", lambda n: n + 1, ("sums", "rank", "whole", "BIN", 0)),
            ("first", lambda n: n - 1, ("sums", "rank", "whole", "BIN", 0)),
            ("first", -1, ("sums", "rank", "whole", "BIN", 2)),
            ("first", 1, ("sums", "rank", "fraction", "BIN", 0)),
            ("split", lambda n: n + 1, ("sums", "rank", "whole", "BIN", 1)),
            ("split", lambda n: (n + 1) % 2**52, ("sums", "rank", "fraction", "BIN", 1)),
            ("first", lambda n: n + 1, ("sums", "ordered", "whole", "BIN", 0)),
            ("first", lambda n: n - 1, ("sums", "ordered", "whole", "BIN", 0)),
            ("first", -1, ("sums", "ordered", "whole", "BIN", 2)),
            ("first", 2**52, ("sums", "ordered", "fraction", "BIN", 0)),
            ("first", -1, ("sums", "ordered", "fraction", "BIN", 0)),
            ("first", lambda n: n + 40, ("sums", "variation", "whole", "BIN")),
            ("first", -1, ("sums", "variation", "whole", "BIN")),
            ("first", 2**52, ("sums", "variation", "fraction", "BIN")),
            ("confidence", 0, ("sums", "variation", "whole", "BIN")),
            ("first", -1, ("sums", "tied_rows")),
            ("first", 41, ("sums", "tied_rows")),
            ("first", -1, ("sums", "impossible_rows")),
            ("first", 41, ("sums", "impossible_rows")),
            ("first", -1, ("sums", "log_score_variance", "whole")),
            ("first", 2**40, ("sums", "log_score", "fraction")),
            ("first", 2**50, ("sums", "log_score", "whole")),
            ("first", -(2**50), ("sums", "log_score", "whole")),
            ("first", 2**50, ("sums", "log_score_variance", "whole")),
            ("first", -1, ("sums", "possible_variance", "whole", "BIN")),
            ("first", lambda n: n + 1, ("sums", "possible_variance", "whole", "BIN")),
            ("first", lambda n: n - 1, ("sums", "predicted_possible_variance", "fraction", 0)),
            ("first", -1, ("sums", "predicted_misses", "whole", 0)),
            ("first", 41, ("sums", "predicted_misses", "whole", 0)),
            ("first", lambda n: n - 1, ("sums", "predicted_misses", "fraction", 0)),
            ("first", 40, ("sums", "ordered", "bits")),
            ("first", 52.0, ("sums", "ordered", "bits")),
            ("first", lambda n: n - 5, ("sums", "variation", "whole", "BIN")),
            ("first", lambda n: n + 3, ("sums", "variation", "whole", "BIN")),
            ("confidence", lambda n: n + 1, ("sums", "variation", "whole", "BIN")),
            ("fine", 0, ("sums", "variation", "whole", "LISTED")),
            ("equal mass", lambda n: n + 1, ("sums", "variation", "whole", 0)),
            ("equal mass", lambda n: n - 1, ("sums", "variation", "whole", -1)),
            ("first", 0.125, ("spec", "snap")),
            ("first", 0.9, ("spec", "snap")),
            ("equal mass", 1e300, ("spec", "snap")),
            ("weighted", lambda v: v * 0.8, ("sums", "variation", "BIN")),
            ("weighted", 1e300, ("sums", "weight", "BIN")),
            ("first", 1, ("spec", "n_classes")),
            ("first", 4, ("spec", "n_classes")),
            ("first", 10**12, ("spec", "n_classes")),
            ("first", "last", ("spec", "ties")),
            ("first", "yes", ("spec", "weighted")),
            ("first", True, ("spec", "weighted")),
            ("weighted", False, ("spec", "weighted")),
            ("first", [0, 0.5, 0.25, 0.75, 1], ("spec", "edges")),
            ("first", [0.2, 0.25, 0.5, 0.75, 1], ("spec", "edges")),
            ("first", -1e-9, ("spec", "snap")),
            ("weighted", -1.0, ("sums", "weight", "BIN")),
            ("weighted", lambda w: w * 1.01, ("sums", "weight", "BIN")),
            ("weighted", lambda w: w * 0.1, ("sums", "weight_square", "BIN")),
            ("weighted", -1.0, ("sums", "weight_square", "BIN")),
            ("weighted", lambda w: w * 1.01, ("sums", "rank", "BIN", 0)),
            ("weighted", lambda w: w * 1.1, ("sums", "ordered", "BIN", 0)),
            ("weighted", -0.5, ("sums", "rank", "BIN", 2)),
            ("weighted", lambda w: w + 100, ("sums", "variation", "BIN")),
            ("weighted", -1.0, ("sums", "log_score_variance")),
            ("weighted", lambda v: v + 1e4, ("sums", "possible_variance", "BIN")),
            ("weighted", lambda v: v * 1.001, ("sums", "predicted_possible_variance", 0)),
            ("weighted", lambda v: v * 1.001, ("sums", "predicted_misses", 0)),
            ("weighted", -0.1, ("sums", "predicted_misses", 0)),
            ("weighted", "nan", ("sums", "log_score")),
            ("weighted", 0, ("sums", "rows", "BIN")),
        ],
    )
    def test_totals_that_were_tampered_with(self, name: str, value: Any, keys: tuple[Any, ...]) -> None:
        places = {"BIN": full_bin(name), "LISTED": listed_bin(name)}
        keys = tuple(places.get(key, key) for key in keys)
        with pytest.raises(ValueError, match="damaged"):
            tn.CalibrationTable.from_dict(edited(name, put(value, *keys)))

    def test_variation_moved_between_bins_with_its_total_kept(self) -> None:
        """Within the measure's range, but not within the edges of the bins."""
        table = tn.tabulate([0] * 20, [[0.9, 0.1]] * 10 + [[0.6, 0.4]] * 10)
        low, high = np.flatnonzero(table.count)
        content = table.to_dict()
        for part in content["sums"]["variation"].values():
            if isinstance(part, list):
                part[low], part[high] = part[high], part[low]
        with pytest.raises(ValueError, match=r"damaged.*variation.*edges"):
            tn.CalibrationTable.from_dict(content)

    def test_n_rows_that_overflow(self) -> None:
        """8 x 2^61 is 0 in 64 bits."""
        for rows, n_rows in (([2**61] * 4, 2**63), ([2**61] * 8, 0)):
            content = tn.CalibrationTable.empty(tn.tabulate([0], [[1.0, 0.0]], bins=len(rows)).spec).to_dict()
            content["sums"]["rows"], content["n_rows"] = rows, n_rows
            with pytest.raises(ValueError, match="n_rows"):
                tn.CalibrationTable.from_dict(content)

    def test_sums_in_a_bin_without_rows(self) -> None:
        """Near-uniform rows leave the first bin empty; something in it cannot come from rows."""
        table = tn.tabulate([0, 1], [[0.4, 0.3, 0.3], [0.4, 0.3, 0.3]], bins=2)
        for keys, value in (
            (("rank", "whole", 0, 0), 1),
            (("ordered", "fraction", 0, 2), 5),
            (("variation", "fraction", 0), 5),
        ):
            content = table.to_dict()
            put(value, "sums", *keys)(content)
            with pytest.raises(ValueError, match="damaged"):
                tn.CalibrationTable.from_dict(content)


class TestDamagedFiles:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            "not json",
            "{",
            "[]",
            "null",
            "3",
            "{}",
            '{"schema": 5}',
            '{"schema": 5, "tables": []}',
            "[" * 100_000,
            '{"a": NaN}',
            "\ufeff{}",
        ],
        ids=lambda text: text[:20] or "nothing",
    )
    def test_text_that_is_not_a_file_of_tables(self, path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=r"table\.json"):
            tn.CalibrationTable.load(path)

    def test_bytes_that_are_not_text(self, path: Path) -> None:
        path.write_bytes(b"\xff\xfe\x00\x01" * 50)
        with pytest.raises(ValueError, match=r"table\.json"):
            tn.CalibrationTable.load(path)

    @pytest.mark.parametrize("schema", [0, 1, 4, 6, "5", None, 5.5, True, [5]])
    def test_unknown_schemas(self, path: Path, schema: Any) -> None:
        TABLES["first"].save(path)
        content = json.loads(path.read_text(encoding="utf-8"))
        content["schema"] = schema
        path.write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(ValueError, match=r"schema.*reads schema 5"):
            tn.CalibrationTable.load(path)

    @pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity"])
    def test_tokens_that_are_not_json(self, path: Path, token: str) -> None:
        TABLES["weighted"].save(path)
        text = path.read_text(encoding="utf-8")
        number = repr(TABLES["weighted"].to_dict()["sums"]["log_score"])
        assert number in text
        path.write_text(text.replace(number, token), encoding="utf-8")
        with pytest.raises(ValueError, match=token):
            tn.CalibrationTable.load(path)

    def test_a_number_too_large_for_a_float(self, path: Path) -> None:
        TABLES["weighted"].save(path)
        number = repr(TABLES["weighted"].to_dict()["sums"]["log_score"])
        path.write_text(path.read_text(encoding="utf-8").replace(number, "1e999"), encoding="utf-8")
        with pytest.raises(ValueError, match="damaged"):
            tn.CalibrationTable.load(path)

    def test_an_integer_of_ten_thousand_digits(self, path: Path) -> None:
        TABLES["first"].save(path)
        text = path.read_text(encoding="utf-8").replace('"n_rows": 40', '"n_rows": ' + "4" * 10_000)
        assert "4" * 10_000 in text
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=r"table\.json|damaged"):
            tn.CalibrationTable.load(path)

    def test_a_file_cut_short(self, path: Path) -> None:
        TABLES["first"].save(path)
        text = path.read_text(encoding="utf-8")
        for length in (1, len(text) // 2, len(text) - 1):
            path.write_text(text[:length], encoding="utf-8")
            with pytest.raises(ValueError, match=r"table\.json"):
                tn.CalibrationTable.load(path)

    def test_the_second_table_is_validated_too(self, path: Path) -> None:
        tn.CalibrationTable.save_all([TABLES["first"], TABLES["split"]], path)
        content = json.loads(path.read_text(encoding="utf-8"))
        content["tables"][1]["n_rows"] += 1
        path.write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(ValueError, match=re.escape(f"{path}, table 2: this table is damaged: n_rows")):
            tn.CalibrationTable.load_all(path)

    @pytest.mark.parametrize("thing", [None, 3, [], {}], ids=repr)
    def test_an_entry_that_is_not_a_table_is_numbered(self, path: Path, thing: Any) -> None:
        tn.CalibrationTable.save_all([TABLES["first"], TABLES["split"]], path)
        content = json.loads(path.read_text(encoding="utf-8"))
        content["tables"].append(thing)
        path.write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(ValueError, match=re.escape(f"{path}, table 3: this table is damaged")):
            tn.CalibrationTable.load(path)

    def test_an_unknown_measure_is_numbered_too(self, path: Path) -> None:
        mine = tn.Variation("mine", lambda x: 1 - x[..., 0])
        tn.CalibrationTable.save_all([TABLES["first"], tn.tabulate(Y_TRUE, Y_PROB, variation=mine)], path)
        with pytest.raises(ValueError, match=re.escape(f"{path}, table 2: this table was made with")):
            tn.CalibrationTable.load_all(path)
