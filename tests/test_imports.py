"""Optional libraries are not imported before they are needed: tested in a fresh interpreter."""

import json
import subprocess
import sys

import pytest

OPTIONAL = {
    "dask", "distributed", "duckdb", "fsspec", "lightning", "matplotlib", "narwhals",
    "pandas", "polars", "pyarrow", "pyspark", "scipy", "shtab", "sklearn", "torch", "torchmetrics",
}  # fmt: skip


def loaded_after(code: str) -> set[str]:
    """Top-level modules of an interpreter that ran nothing but `code`."""
    report = "import json, sys; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True
    )
    return set(json.loads(run.stdout.splitlines()[-1]))


SMALL = "import numpy as np, trueness as tn; y, p = np.array([0, 1]), np.array([[0.9, 0.1], [0.3, 0.7]])\n"


@pytest.mark.parametrize(
    "code",
    [
        "import trueness",
        SMALL + "tn.vce(y, p); tn.ece(y, p); tn.uce(y, p); tn.rce(y, p)",
        SMALL + "tn.vce(y.tolist(), p.tolist(), bins=tn.EqualMass(2))",
        SMALL
        + "a = tn.Accumulator(2); a.update(y, p); repr(a.table.to_dict()); tn.simulate.calibrated(9, [1, 1], 0)",
        "import trueness.plots, trueness.reproduction.run, trueness.cli.reproduce",
        SMALL
        + "import trueness.plots, trueness.old_report as r; a = tn.assess([0, 1] * 9, [[0.9, 0.1]] * 18, rng=0)\n"
        + "r.page(a); a._repr_html_()",
        "from trueness.adapters import dask, queries, spark",
    ],
    ids=["import", "metrics", "lists", "stream", "reproduction", "report", "adapters"],
)
def test_no_optional_library_is_loaded(code: str) -> None:
    assert loaded_after(code) & OPTIONAL == set()


def test_importing_loads_little_beyond_numpy() -> None:
    """`import trueness` imports NumPy and a few modules of the standard library, and takes about as long."""
    extra = loaded_after("import trueness") - loaded_after("import numpy")
    foreign = {name for name in extra if name != "trueness" and name not in sys.stdlib_module_names}
    assert foreign == set()
    assert len(extra) < 15, sorted(extra)
