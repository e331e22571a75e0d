"""Modules and pages about an optional library are collected only if it is installed.

Their examples run with all others; in CI, `tests/conftest.py` refuses to run if a library is missing.
"""

from importlib.util import find_spec
from pathlib import Path

ABOUT = {
    "src/trueness/reproduction/dirichlet.py": ("scipy",),
    "src/trueness/adapters/sklearn.py": ("sklearn",),
    "docs/integrations/sklearn.md": ("sklearn", "matplotlib"),
    "docs/guide/language-models.md": ("pyarrow",),
    "src/trueness/adapters/_scorers.py": ("sklearn",),
    "src/trueness/adapters/_assessed_metrics.py": ("torch", "torchmetrics"),
    "src/trueness/adapters/_rank_metric.py": ("torch", "torchmetrics"),
    "src/trueness/adapters/_event_metric.py": ("torch", "torchmetrics"),
    "src/trueness/adapters/_state_words.py": ("torch",),
    "src/trueness/adapters/_host_sums.py": ("torch",),
    "src/trueness/adapters/_metric_input.py": ("torch",),
    "src/trueness/adapters/_table_metric.py": ("torch", "torchmetrics"),
    "src/trueness/adapters/_tensor_checks.py": ("torch",),
    "src/trueness/adapters/torch.py": ("torch", "torchmetrics"),
    "docs/integrations/torch.md": ("torch", "torchmetrics"),
    "docs/integrations/polars-and-duckdb.md": ("duckdb", "polars", "pyarrow"),
}

collect_ignore_glob = ["docs/conf.py", "docs/_ext/*"]  # of Sphinx

LEFT_OUT = [path for path, names in ABOUT.items() if any(find_spec(name) is None for name in names)]


def installed(path: str) -> str:
    """The path of a module of `src` where it is installed; it is not imported, as coverage is not yet measured."""
    package = find_spec("trueness")
    assert package is not None
    assert package.origin is not None
    return str(Path(package.origin).parent / Path(path).relative_to("src/trueness"))


collect_ignore = [*LEFT_OUT, *(installed(path) for path in LEFT_OUT if path.startswith("src/"))]
