"""Modules and pages that are about an optional library are read only where it is installed.

The examples in them are run with everything else; `tests/conftest.py` sees to it that in CI no library is missing.
"""

from importlib.util import find_spec

ABOUT = {
    "src/trueness/reproduction/dirichlet.py": ("scipy",),
    "src/trueness/adapters/sklearn.py": ("sklearn",),
    "docs/sklearn.md": ("sklearn",),
    "src/trueness/adapters/_device_sums.py": ("torch",),
    "src/trueness/adapters/_host_sums.py": ("torch",),
    "src/trueness/adapters/_reading.py": ("torch",),
    "src/trueness/adapters/_table_metric.py": ("torch", "torchmetrics"),
    "src/trueness/adapters/torch.py": ("torch", "torchmetrics"),
    "docs/torch.md": ("torch", "torchmetrics"),
}

collect_ignore = [path for path, names in ABOUT.items() if any(find_spec(name) is None for name in names)]
