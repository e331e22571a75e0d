"""The gallery: every picture is drawn by the code beside it."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.plots
@pytest.mark.sklearn
def test_every_picture_is_drawn_by_the_code_beside_it():
    import matplotlib.pyplot as plt

    script = runpy.run_path(str(ROOT / "scripts" / "make_gallery.py"))
    names = script["new_scope"]()
    for it in script["GALLERY"]:
        figure = script["draw"](it, names)
        assert any(axes.has_data() for axes in figure.axes), it.name
        plt.close("all")
        assert (ROOT / "docs" / "guide" / "gallery" / f"{it.name}.png").read_bytes().startswith(b"\x89PNG")
    written = (ROOT / "docs" / "guide" / "gallery.md").read_text(encoding="utf-8")
    assert written == script["page"](script["terminal_output"](names)), "run make gallery"
