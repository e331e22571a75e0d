"""The validation page: its script finds the agreements that the page claims, and writes the same page twice."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from trueness.conventions import CONVENTIONS

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "background" / "validation.md"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = spec_from_file_location("make_validation_page", ROOT / "scripts" / "make_validation_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_numbers_agree(script: ModuleType) -> None:
    """Those of rows in cells to 1e-4, of a path to 1 %, all others to 1e-6; only the one-sided p-value is different."""
    checks = [*script.same_bin_checks(), *script.event_checks()]
    for rows in (script.random_rows(3), script.rows_on_edges()):
        checks += [*script.convention_checks(rows), *script.score_checks(script.random_rows(3))]
    for check in checks:
        if "one-sided" in check.note:
            assert abs(check.ours - check.theirs) > 1e-4
        else:
            bound = {script.CELLS: 1e-4, script.PATH: 0.01 * check.theirs}.get(check.note, 1e-6)
            assert check.ours == pytest.approx(check.theirs, abs=bound), check.what


def test_the_page_is_written_the_same_again(script: ModuleType) -> None:
    assert script.page() == script.page()


def test_the_committed_page_has_every_convention_and_defect() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, entry in CONVENTIONS.items():
        assert f"| `{name}` | {entry.computes} |" in text
        assert all(defect.text in text and (defect.link or "") in text for defect in entry.defects)
