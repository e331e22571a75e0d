"""What all Displays share: where they are drawn, from what, and what they need."""

import subprocess
import sys
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from artists import over_confident_rows

import trueness as tn
from trueness.plots import GapDisplay, RankDisplay, RankHeatMapDisplay, ReliabilityDisplay
from trueness.plots.table_estimates import TableEstimates


def assert_same_data(ours, theirs):
    """Equal in every field; of an estimate, which holds more than is drawn, the debiased value."""
    for field in fields(ours):
        mine, other = getattr(ours, field.name), getattr(theirs, field.name)
        if field.name == "net":
            assert mine.debiased == other.debiased
        elif is_dataclass(mine):
            assert_same_data(mine, other)
        else:
            np.testing.assert_array_equal(mine, other)


class TestWhereItIsDrawn:
    DISPLAYS = (ReliabilityDisplay, GapDisplay, RankDisplay, RankHeatMapDisplay)

    @pytest.mark.parametrize("display", DISPLAYS)
    def test_only_the_axes_that_are_passed_are_used(self, result, display):
        import matplotlib.pyplot as plt
        from matplotlib.figure import Figure

        axes = Figure().subplots(1, 2)
        drawn = display.from_assessment(result, ax=axes[1])
        assert drawn.ax_ is axes[1]
        assert drawn.figure_ is axes[1].figure
        assert not axes[0].has_data()
        assert plt.get_fignums() == []

    @pytest.mark.parametrize("display", DISPLAYS)
    def test_rows_table_and_assessment_give_one_picture(self, display):
        y_true, y_prob = over_confident_rows(400)
        table = tn.tabulate(y_true, y_prob, ties="split")
        seed = {"rng": 5} if display is not RankHeatMapDisplay else {}
        made = [
            display.from_predictions(y_true, y_prob, ties="split", **seed),
            display.from_table(table, **seed),
            display.from_assessment(tn.assess(y_true, y_prob, ties="split", rng=5)),
        ]
        for other in made[1:]:
            assert_same_data(made[0].data, other.data)

    def test_a_display_can_be_drawn_again(self, result):
        from matplotlib.figure import Figure

        display = result.plot()
        elsewhere = Figure().subplots()
        assert display.plot(elsewhere) is display
        assert display.ax_ is elsewhere

    def test_a_value_that_is_not_axes_is_refused(self, result):
        with pytest.raises(TypeError, match=r"ax must be matplotlib Axes.*got int"):
            result.plot(ax=3)

    def test_everything_can_be_saved_without_a_warning(self, result, tmp_path):
        for display in self.DISPLAYS:
            path = tmp_path / f"{display.__name__}.png"
            display.from_assessment(result).figure_.savefig(path)
            assert path.stat().st_size > 5000


def test_without_matplotlib_the_message_says_what_to_install(result, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(tn.Refusal, match=r"pip install 'trueness\[plots\]'") as refused:
        result.plot()
    assert isinstance(refused.value, ImportError)
    assert refused.value.code == "missing-library"


def test_data_and_svg_need_no_matplotlib():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import trueness as tn; from trueness.plots import pictures\n"
        "y_true, y_prob = tn.simulate.calibrated(400, [3, 1, 1], rng=0)\n"
        "result = tn.assess(y_true, y_prob, groups=['a', 'b'] * 200, rng=0)\n"
        "shown = [picture for picture in pictures() if picture.applies(result)]\n"
        "assert len(shown) > 9\n"
        "for picture in shown: assert picture.svg(picture.data(result)).startswith('<svg')"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_a_value_that_is_not_a_table_is_refused():
    with pytest.raises(TypeError, match="`table` must be a CalibrationTable"):
        TableEstimates.of("monday.json")
