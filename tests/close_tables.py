"""Tables of the same weighted rows, which agree up to rounding."""

from typing import Any

import numpy as np

import trueness as tn


def assert_close(mine: Any, theirs: Any, rtol: float = 1e-12) -> None:
    """Equal specs and counts of rows, and sums that agree relative to the weight of all rows."""
    if isinstance(mine, tn.OptionTables):
        assert [*mine] == [*theirs]
        for n_options, table in mine.items():
            assert_close(table, theirs[n_options], rtol)
        return
    assert mine.spec == theirs.spec
    expected = dict(theirs.sums.items())
    assert dict(mine.sums.items()).keys() == expected.keys()
    slack = rtol * float(np.sum(mine.count))
    for name, found in mine.sums.items():
        pair = [getattr(sums, "value", sums) for sums in (found, expected[name])]
        np.testing.assert_allclose(
            *pair, rtol=0 if name == "rows" else rtol, atol=0 if name == "rows" else slack
        )
