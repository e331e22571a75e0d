"""Modules and pages about an optional library are collected only if it is installed.

Their examples run with all others; in CI, `tests/conftest.py` refuses to run if a library is missing.
"""

from importlib.util import find_spec

ABOUT = {
    "src/trueness/reproduction/dirichlet.py": ("scipy",),
    "src/trueness/adapters/sklearn.py": ("sklearn",),
    "docs/integrations/sklearn.md": ("sklearn", "matplotlib"),
    "docs/guide/language-models.md": ("pyarrow",),
    "src/trueness/adapters/_scorers.py": ("sklearn",),
    "src/trueness/adapters/_calibration_metric.py": ("torch", "torchmetrics"),
    "src/trueness/adapters/_event_metric.py": ("torch", "torchmetrics"),
    "src/trueness/adapters/_device_events.py": ("torch",),
    "src/trueness/adapters/_device_rows.py": ("torch",),
    "src/trueness/adapters/_device_sums.py": ("torch",),
    "src/trueness/adapters/_state_words.py": ("torch",),
    "src/trueness/adapters/_host_sums.py": ("torch",),
    "src/trueness/adapters/_metric_input.py": ("torch",),
    "src/trueness/adapters/_table_metric.py": ("torch", "torchmetrics"),
    "src/trueness/adapters/_tensor_checks.py": ("torch",),
    "src/trueness/adapters/torch.py": ("torch", "torchmetrics"),
    "docs/integrations/torch.md": ("torch", "torchmetrics"),
}

collect_ignore_glob = ["docs/conf.py", "docs/_ext/*"]  # of Sphinx

collect_ignore = [path for path, names in ABOUT.items() if any(find_spec(name) is None for name in names)]
