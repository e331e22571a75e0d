"""Rules for the pages themselves, which need no built site."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)


def is_executed(text: str) -> bool:
    return text.startswith("---\n") and "file_format: mystnb" in text.split("---")[1]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_code_cells_are_on_executed_pages(path: Path) -> None:
    """Without the header, cells would be shown and not run."""
    text = path.read_text(encoding="utf-8")
    assert is_executed(text) == bool(re.search(r"^```\{code-cell\}", text, re.MULTILINE))


RUN_BY_TESTS = {
    "integrations/cluster.md",  # tests/adapters/, with Dask and Spark
}


NOT_INSTALLED = "import wandb"
"""Libraries of which a page shows the one line where trueness is passed in; everything else on these pages runs."""


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_python_is_run(path: Path) -> None:
    """Every block of Python is an example that pytest runs; what cannot run is text."""
    blocks = re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert str(path.relative_to(DOCS)) in RUN_BY_TESTS or all(
        ">>>" in block or block.startswith(NOT_INSTALLED) for block in blocks
    )


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"], ids=lambda path: path.name
)
def test_links_of_files_at_the_root_lead_to_files(path: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []
