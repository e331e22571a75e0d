"""What a worker does with its partition."""

import numpy as np
import pytest

import trueness as tn
from trueness import partitions
from trueness.formats.arrow import field_of, pyarrow
from trueness.partitions import Work


@pytest.mark.parametrize("engine", ["portable", "compiled"])
def test_a_bad_first_row_is_named_by_its_partition(engine: str) -> None:
    _, y_prob = tn.simulate.calibrated(20, [1, 1, 1], rng=0)
    y_prob[0, 0] += 0.4
    table = pyarrow().table({"y": np.zeros(20, int), **{f"p_{c}": y_prob[:, c] for c in range(3)}})
    request = partitions.request_of(None, None, {})
    choice = partitions.choice_of({field.name: field_of(field.type) for field in table.schema}, request)
    plan = partitions.plan_of({"engine": engine}, for_assessment=True)
    work = Work.of(request, partitions.row_options_of({}), plan, choice, 3)
    columns = {name: table.column(name) for name in choice.wanted.names}
    with pytest.raises(tn.Refusal, match=r"partition 4, row 1: `y_prob` sums to 1\.4") as caught:
        work.sum([work.batch(columns, 20, "partition 4")])
    assert caught.value.row == 1
