"""Tables of which only the logarithms were computed in another way, as on a torch device."""

import trueness as tn


def equal_counts(one: tn.CalibrationTable, other: tn.CalibrationTable) -> bool:
    """Whether `count`, `ordered_sum` and `rank_count` are equal to the last bit."""
    return one.spec == other.spec and one.sums.same(other.sums, "rows", "ordered", "rank")
