"""Correct what axe reports in the pages of the theme: buttons without a name, and table headers without text."""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

CHANGES = {
    '<summary><span class="toctree-toggle"': '<summary aria-label="Pages below"><span class="toctree-toggle"',
    '<th class="head"><p></p></th>': '<td class="head"></td>',
}


def mend(app: Sphinx, exception: Exception | None) -> None:
    """Change the written pages."""
    if exception is not None or app.builder.format != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        before = after = path.read_text(encoding="utf-8")
        for found, better in CHANGES.items():
            after = after.replace(found, better)
        if after != before:
            path.write_text(after, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Run after all pages are written."""
    app.connect("build-finished", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
