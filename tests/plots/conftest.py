"""The assessment that the tests of pictures draw."""

import artists
import numpy as np
import pytest

import trueness as tn


@pytest.fixture(scope="module")
def result():
    """Over-confident rows, with a bin of few rows and an empty one."""
    y_true, y_prob = artists.over_confident_rows()
    edges = tn.Edges([0, 0.2, 0.4, 0.6, 0.8, 0.98, 0.999999, 1])
    answer = tn.assess(y_true, y_prob, bins=edges, rng=0, groups=np.arange(3000) % 4)
    assert 0 < answer.table.row_count[-2] < 10
    assert answer.table.row_count[-1] == 0
    return answer


@pytest.fixture(autouse=True)
def _no_traces(request):
    """Close all figures after a test, and check that no setting of matplotlib changed."""
    if request.node.get_closest_marker("plots") is None:
        yield
        return
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before
