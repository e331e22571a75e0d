"""Cells of shell commands without the line ``%%bash``, which no terminal understands."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

MAGIC = "%%bash\n"


def show_as_shell(_: Sphinx, doctree: nodes.document) -> None:
    """Leave out the first line of such cells, and colour the others as commands of a shell."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext()
        if text.startswith(MAGIC):
            commands = text.removeprefix(MAGIC)
            block.clear()
            block.append(nodes.Text(commands))
            block.rawsource = commands
            block["language"] = "bash"


def setup(app: Sphinx) -> dict[str, Any]:
    """Run when a page has been read, after its cells."""
    app.connect("doctree-read", show_as_shell)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
