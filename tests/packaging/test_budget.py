"""No part of the house is larger than recorded: `python scripts/budget.py --record` after it has become smaller."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import budget


def test_no_figure_exceeds_its_record() -> None:
    recorded = budget.recorded()
    now = budget.measured()
    assert now.keys() == recorded.keys()
    assert {name: (value, recorded[name]) for name, value in now.items() if value > recorded[name]} == {}
