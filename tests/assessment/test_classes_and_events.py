"""Classes and events in `assess` and `assess_event`: vectors, and cases in which the ranks alone mislead."""

import json
import math
from typing import Any

import numpy as np
import pytest
from event_rows import B_OUTCOMES as B_Y
from event_rows import B_PROBS as B_P
from event_rows import T_LABELS as T_Y
from event_rows import T_PROBS as T_P

import trueness as tn
from trueness.old_assessment import EventAssessment, EventAssessments
from trueness.old_table import Tables


def close(value: float) -> Any:
    """To the twelve digits of the published vectors."""
    return pytest.approx(value, abs=1e-12)


class TestVectors:
    """Small data whose numbers were computed independently, by exact arithmetic."""

    def test_classes(self) -> None:
        result = tn.assess(T_Y, T_P, class_bins=5, rng=0).classes
        assert result is not None
        assert [it.ece.value for it in result.classes] == [close(0.24), close(0.225), close(0.1675)]
        assert [it.gap.value for it in result.classes] == [close(0.07), close(-0.0225), close(-0.0475)]
        assert [it.gap.p_value for it in result.classes] == [close(0.973373882210), close(1), close(1)]
        assert [it.spread.p_value for it in result.classes] == [
            close(0.287209818878),
            close(0.745110870988),
            close(0.274550448548),
        ]
        assert [it.spread.value for it in result.classes] == [
            close(1.064262460126),
            close(0.325092756455),
            close(1.092643288517),
        ]
        assert result.mean.value == close(0.210833333333)
        assert result.total.value == close(0.31625)
        assert result.mean.noise_floor == close(0.253646846591)
        assert tn.cwece(T_Y, T_P, bins=5) == close(0.210833333333)
        assert tn.cwece(T_Y, T_P, bins=5, weights="expected") == close(0.21096875)
        assert tn.classwise_error(tn.tabulate_events(T_Y, T_P), 5, "observed") == close(0.2071875)

    def test_scores(self) -> None:
        result = tn.assess(T_Y, T_P, bins=tn.Edges([0, 0.78, 1]), rng=0)
        assert result.cumulative_log_score is not None
        assert result.cumulative_log_score.value == close(0.960920731030)
        assert result.log_score_z.value == close(0.960920731030)
        by_class = result.table.log_scores_by_predicted_class
        assert by_class is not None
        assert by_class.score.tolist() == [
            close(0.700248257423),
            close(0.241440471756),
            close(0.733983001345),
        ]
        assert by_class.variance.tolist() == [
            close(1.078811757637),
            close(0.970988536922),
            close(0.991104055459),
        ]
        possible, misses = result.table.sums.possible_variance, result.table.sums.predicted_misses
        assert possible is not None
        assert misses is not None
        assert possible.value.sum() == close(sum(by_class.variance))
        assert misses.value.tolist() == [close(1.13), close(1.24), close(0.53)]

    def test_event(self) -> None:
        event = tn.assess_event(B_Y, B_P, bins=tn.EqualMass(5), curve="logistic", rng=0)
        assert isinstance(event, EventAssessment)
        assert event.in_the_large.value == close(-0.073)
        assert event.in_the_large.ratio == close(1.170960187354)
        assert (event.spiegelhalter.value, event.spiegelhalter.p_value) == (
            close(0.510371041830),
            close(0.609791540515),
        )
        assert (event.brier_score, event.log_loss) == (close(0.17793), close(0.524512109364))
        assert (event.ks.value, event.ks.standardised) == (close(0.078), close(0.638850849990))
        assert (event.kuiper.value, event.kuiper.law_p_value) == (close(0.087), close(0.999003857837))
        assert (event.cox.intercept.value, event.cox.slope.value) == (
            close(0.399621130390),
            close(0.832537946284),
        )
        assert event.cox.p_value == close(0.805262276822)
        assert event.cox.intercept_at_slope_1.value == close(0.482938382416)
        assert (event.ici.value, event.e_max.value) == (close(0.074158244285), close(0.123540911314))
        assert (event.spread.value, event.spread.p_value) == (close(-0.342133229482), close(0.732250631244))


class TestArguments:
    Y, P = tn.simulate.calibrated(3000, [1.0, 2.0], rng=3)

    def test_positive(self) -> None:
        second = tn.assess_event(self.Y, self.P)
        names = np.array(["healthy", "ill"])[self.Y]
        assert isinstance(second, EventAssessment)
        by_label = tn.assess_event(names, self.P[:, 1], positive="ill")
        assert isinstance(by_label, EventAssessment)
        assert by_label.name == "ill"
        assert by_label.in_the_large == second.in_the_large
        first = tn.assess_event(self.Y, self.P, positive=0)
        assert isinstance(first, EventAssessment)
        assert first.in_the_large.value == pytest.approx(-second.in_the_large.value, abs=1e-12)
        assert first.in_the_large.p_value == pytest.approx(second.in_the_large.p_value)
        with pytest.raises(ValueError, match="'sick', which is not among the labels"):
            tn.assess_event(names, self.P[:, 1], positive="sick")

    def test_chosen_events_of_more_classes(self) -> None:
        y_true, y_prob = tn.simulate.calibrated(2000, [1.0] * 3, rng=6)
        with pytest.raises(ValueError, match="event= with a class or 'top'"):
            tn.assess_event(y_true, y_prob)
        with pytest.raises(ValueError, match="not a class"):
            tn.assess_event(y_true, y_prob, event=7)
        top, alone = (tn.assess_event(y_true, y_prob, event=event) for event in ("top", 2))
        assert isinstance(top, EventAssessment)
        assert isinstance(alone, EventAssessment)
        right = y_prob.argmax(axis=1) == y_true
        assert top.in_the_large.observed == right.sum()
        assert top.in_the_large.expected == pytest.approx(y_prob.max(axis=1).sum())
        assert alone.in_the_large.observed == (y_true == 2).sum()
        table = tn.tabulate_events(y_true, y_prob, events=[2, "top"])
        assert tn.assess_event_table(table, event="top") == top
        assert tn.assess_event_table(table.select(2)) == alone
        with pytest.raises(ValueError, match="2 events"):
            tn.assess_event_table(table)
        with pytest.raises(ValueError, match="event grid"):
            tn.assess_event_table(tn.tabulate_events(y_true, y_prob).select(1))

    def test_multilabel(self) -> None:
        rng = np.random.default_rng(7)
        y_prob = rng.uniform(0.05, 0.6, (4000, 3))
        y_true = (rng.random((4000, 3)) < y_prob * [1, 0.7, 1]).astype(int)
        found = tn.assess_event(y_true, y_prob, multilabel=True, classes=["a", "b", "c"])
        assert isinstance(found, EventAssessments)
        assert [event.name for event in found.flagged] == ["b"]
        assert found["b"].verdict.kind == "over-forecast"
        alone = tn.assess_event(y_true[:, 1], y_prob[:, 1])
        assert isinstance(alone, EventAssessment)
        assert found["b"].in_the_large == alone.in_the_large
        assert found["b"].adjusted_p_value == pytest.approx(3 * found["b"].p_value, rel=0.01)
        assert str(found).splitlines()[3].startswith("b")
        with pytest.raises(ValueError, match=r"both have shape \(rows, events\)"):
            tn.assess_event(y_true[:, 0], y_prob, multilabel=True)

    def test_without_classes(self) -> None:
        result = tn.assess(self.Y, self.P, by_class=False)
        assert result.classes is None
        assert result.event is None
        assert result.cwece is None
        assert "needs the event table" in result.to_dict()["cwece_reason"]
        with_class = tn.assess_table(
            tn.tabulate(self.Y, self.P), class_table=tn.tabulate_events(self.Y, self.P)
        )
        assert with_class.classes is not None
        with pytest.raises(TypeError, match="`class_table` must be an EventTable of all classes"):
            tn.assess_table(
                tn.tabulate(self.Y, self.P), class_table=tn.tabulate_events(self.Y, self.P, events=0)
            )

    def test_bins_that_the_grid_does_not_have_are_refused(self) -> None:
        with pytest.raises(ValueError, match="must divide 60"):
            tn.assess(self.Y, self.P, class_bins=7)

    def test_too_many_groups_for_the_memory(self) -> None:
        y_true, y_prob = tn.simulate.calibrated(3000, [1.0] * 500, rng=0)
        with pytest.raises(ValueError, match="use `by_class=False`, or fewer groups"):
            tn.assess(y_true, y_prob, groups=np.arange(3000) % 300, resamples=99)

    def test_weights(self) -> None:
        """Weights of 1 change no number but the tails, which are normal then; the exact ones agree to a percent."""
        plain = tn.assess_event(self.Y, self.P)
        weighted = tn.assess_event(self.Y, self.P, sample_weight=np.ones(3000))
        assert isinstance(plain, EventAssessment)
        assert isinstance(weighted, EventAssessment)
        assert weighted.in_the_large.value == pytest.approx(plain.in_the_large.value, abs=1e-12)
        assert weighted.in_the_large.p_value == pytest.approx(plain.in_the_large.p_value, abs=0.02)
        assert weighted.brier_score == pytest.approx(plain.brier_score, abs=1e-12)


class TestResults:
    Y, P = tn.simulate.calibrated(2000, [0.5] * 4, rng=8)

    def test_json(self) -> None:
        content = json.loads(json.dumps(tn.assess(self.Y, self.P).to_dict(), allow_nan=False))
        assert len(content["classes"]["classes"]) == 4
        assert content["classes"]["classes"][0]["gap"]["p_value"] <= 1
        assert content["by_predicted_class"]["degrees"] == 4
        assert content["cwece"]["value"] == pytest.approx(tn.cwece(self.Y, self.P))
        assert tn.EventTable.from_dict(content["class_table"]) == tn.tabulate_events(self.Y, self.P)
        event = tn.assess_event(self.Y, self.P, event=1)
        content = json.loads(json.dumps(event.to_dict(), allow_nan=False))
        assert content["kind"] == "event-assessment"
        assert content["verdict"]["text"] == str(event.verdict)

    def test_text_shows_the_event_first_and_the_called_classes(self) -> None:
        y_true, y_prob = tn.simulate.calibrated(1000, [1.0, 1.0], rng=2)
        page = str(tn.assess(y_true, y_prob))
        assert page.index("gap in the large") < page.index("VCE")
        assert "no class of 4 is significantly wrong" in str(tn.assess(self.Y, self.P))
        shifted = np.where(np.arange(2000) % 12 == 0, 3, self.Y)
        lines = str(tn.assess(shifted, self.P)).splitlines()
        heads = next(k for k, line in enumerate(lines) if line.split()[:2] == ["class", "expected"])
        assert lines[heads + 1].startswith("3 ")
        assert "predicted too seldom" in lines[heads + 1]

    def test_groups_have_classes(self) -> None:
        groups = np.arange(2000) % 2
        result = tn.assess(self.Y, self.P, groups=groups)
        parts = [group.assessment.classes for group in result.groups if group.assessment is not None]
        assert all(part is not None for part in parts)
        tables = [group.assessment.tables.by_class for group in result.groups if group.assessment is not None]
        assert tables[0] is not None
        assert tables[1] is not None
        assert tables[0] + tables[1] == tn.tabulate_events(self.Y, self.P)

    def test_relabelling_classes_permutes_the_answer(self) -> None:
        """Named classes have their own draws, so that nothing depends on the order of the columns."""
        names, order = ["a", "b", "c", "d"], [2, 0, 3, 1]
        labels = np.array(names)[self.Y]
        first = tn.assess(labels, self.P, classes=names, rng=1)
        other = tn.assess(labels, self.P[:, order], classes=[names[k] for k in order], rng=1)
        assert first.classes is not None
        assert other.classes is not None
        mine = {it.name: (it.gap, it.spread, it.ece.p_value, it.ece.interval) for it in first.classes.classes}
        theirs = {
            it.name: (it.gap, it.spread, it.ece.p_value, it.ece.interval) for it in other.classes.classes
        }
        assert mine == theirs
        assert first.classes.mean.p_value == other.classes.mean.p_value

    def test_a_class_that_does_not_occur_changes_no_other(self) -> None:
        wide = np.hstack([self.P, np.zeros((2000, 1))])
        first, other = (tn.assess(self.Y, y_prob).classes for y_prob in (self.P, wide))
        assert first is not None
        assert other is not None
        assert [it.gap for it in first.classes] == [it.gap for it in other.classes[:4]]
        last = other.classes[4]
        assert math.isnan(last.gap.p_value)
        assert last.words == ""

    def test_tables_of_the_same_rows_only(self) -> None:
        table = tn.tabulate(self.Y, self.P)
        with pytest.raises(ValueError, match="must be of the same rows"):
            Tables(table, events=(tn.tabulate_events(self.Y[:10], self.P[:10]),))
