"""What workers send is validated before it is added."""

import json
from typing import Any

import pytest
from partitioned import N_CLASSES, N_ROWS, PROBS, Y_PROB, Y_TRUE, one_process, one_process_by_class

from trueness import partitions
from trueness.formats.fields import Field
from trueness.old_table import GroupedTables, Tables


def part_and_work(**options: Any) -> tuple[partitions.Part, partitions.Work]:
    asked: Any = options
    fields = {name: Field("number") for name in ["y", *PROBS]}
    request = partitions.request_of("y", "p_*", asked)
    plan = partitions.plan_of(asked, for_assessment=False)
    choice = partitions.choice_of(fields, request)
    work = partitions.Work.of(request, partitions.row_options_of(asked), plan, choice, N_CLASSES)
    columns = {"y": Y_TRUE, **{name: Y_PROB[:, c] for c, name in enumerate(PROBS)}}
    return work.sum([work.batch(columns, N_ROWS, "here")]), work


def test_tables_by_class_are_sent_and_added() -> None:
    mine, work = part_and_work(by_class=True)
    sent = work.part_of(mine.to_json())
    assert sent.tables == mine.tables
    assert work.finish(sent).whole.stored == [one_process(), one_process_by_class()]
    twice = work.finish(sent + mine).whole.by_class
    assert twice == one_process_by_class() + one_process_by_class()
    without, _ = part_and_work()
    with pytest.raises(ValueError, match="a worker sent 1 tables, expected 2"):
        work.finish(without)
    damaged = json.loads(mine.to_json())
    damaged["groups"][0]["tables"][1]["cells"][0].pop()
    with pytest.raises(ValueError, match="the result of a worker"):
        work.part_of(json.dumps(damaged))


def test_a_part_of_another_schema_or_spec_is_not_merged() -> None:
    mine, work = part_and_work()
    later = json.loads(mine.to_json()) | {"schema": 4, "library": "9.0"}
    other = work.part_of(json.dumps(later))
    with pytest.raises(ValueError, match=r"trueness 9\.0 sent tables of schema 4"):
        mine + other
    with pytest.raises(ValueError, match="schema 4"):
        work.finish(other)
    theirs, _ = part_and_work(bins=11)
    with pytest.raises(ValueError, match="cannot be added: bins differs"):
        mine + theirs
    with pytest.raises(ValueError, match="a table of another kind: bins differs"):
        work.finish(theirs)
    grouped = partitions.Part(GroupedTables("g", {}))
    with pytest.raises(ValueError, match="different columns: None and 'g'"):
        mine + grouped
    two = GroupedTables(None, {None: Tables(one_process(), one_process(variation="confidence"))})
    with pytest.raises(ValueError, match="a worker sent 2 tables, expected 1"):
        work.finish(partitions.Part(two))
    damaged = json.loads(mine.to_json())
    damaged["groups"][0]["tables"][0]["n_rows"] += 1
    with pytest.raises(ValueError, match="damaged"):
        work.part_of(json.dumps(damaged))
