"""Configuration of the documentation site: ``make docs`` builds it into build/docs/html."""

import os
import sys
from pathlib import Path

import trueness

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ["PATH"] = os.pathsep.join(
    [str(Path(sys.executable).parent), os.environ["PATH"]]
)  # for commands in cells
os.environ["REPOSITORY"] = str(HERE.parent)  # for scripts that cells run

project = "trueness"
author = "The trueness authors"
copyright = author
version = release = trueness.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "accessible",
    "docstrings",
    "mathml",
    "generated",
    "shell_cells",
    "streams",
]
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb"}  # in this order: generated pages get the first
exclude_patterns = ["_*"]
templates_path = ["_templates"]
nitpicky = True

# Markdown. Formulas between dollars become MathML at build (`_ext/mathml.py`): a browser fetches nothing.
myst_enable_extensions = ["amsmath", "attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_update_mathjax = False
html_math_renderer = "mathml"

# Kernels with a profile of their own: no settings of the user, and no warning that they run without encryption, on
# this machine.
IPYTHON = HERE.parent / "build" / "docs" / "ipython"
(IPYTHON / "profile_default").mkdir(parents=True, exist_ok=True)
(IPYTHON / "profile_default" / "ipython_kernel_config.py").write_text('c.IPKernelApp.log_level = "ERROR"\n')
os.environ["IPYTHONDIR"] = str(IPYTHON)

# Pages with code cells run at build, each in an empty folder. A cell that fails is a warning with its traceback, and
# the build is strict; raising at once would lose the traceback in a parallel build.
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE.parent / "build" / "docs" / "cells")
nb_execution_in_temp = True
nb_execution_show_tb = True
nb_execution_timeout = 240
nb_merge_streams = True

# The reference. Large libraries that the adapters import are replaced, so that the site builds without them.
autosummary_generate = True
autosummary_imported_members = True
autodoc_mock_imports = ["dask", "distributed", "lightning", "pyspark", "torch", "torchmetrics"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
default_role = "name"

html_theme = "pydata_sphinx_theme"
html_title = "trueness"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False
toc_object_entries_show_parents = "hide"
html_theme_options = {
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "use_edit_page_button": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

copybutton_exclude = ".linenos, .gp, .go"
