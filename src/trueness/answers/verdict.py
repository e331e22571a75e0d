"""From tests and estimates to the conclusion: `Verdict` for programs, `Answer` for people.

A model is found wrong if the p-value is at most 1 - level. Groups come first: if few of them are
wrong, the others are not to be touched. Then exchanged columns, from which other errors follow;
then predictions of 0 and 1; otherwise the error of the strongest test, where something special must
be clearly stronger than what all rows have in common. Over- and under-confidence are named only if
the log-score and the plain difference of confidence and accuracy agree.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trueness.answers.class_results import ClassResult, ClassResults
from trueness.arguments import Settings
from trueness.document import MOST_PLACES, Answer, Caution, Entry, Forest
from trueness.formatting import (
    capitalised,
    count,
    counted,
    decimals,
    listed,
    number,
    p_value,
    percent,
)
from trueness.inference.calibration_tests import Test
from trueness.inference.distributions import normal_quantile
from trueness.inference.estimates import Estimate, detectable_gap
from trueness.inference.sample import FEWEST_CLUSTERS, FEWEST_ROWS, Sample

CLEAR = 3.0
"""Standard errors by which two parts of the rows, or two classes, differ in direction."""

SPECIFIC = 1.5
"""How much stronger a test of something special must be than those of all rows to be named."""

SMALL = 0.01
"""Without a tolerance an error is small if it is at most this, and its interval at most twice."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The conclusion for programs."""

    kind: str
    """ "no-evidence", "over-confident", "under-confident", "order" (the true class has other ranks
    than predicted, as if columns were exchanged), "class-frequency", "by-class", "varies" (in both
    directions, or in some ranges) or "cannot-tell"."""
    p_value: float | None
    """The only p-value of the answer; None with too few clusters or nothing to test."""
    size: str | None = None
    """With a tolerance "negligible", "beyond" or "undecided"; without one "small" or None."""
    where: str | None = None
    """The class, the group, or the value of a grouping column that is meant, if it is one."""

    @property
    def found(self) -> bool:
        """Whether an error is found."""
        return self.kind not in ("no-evidence", "cannot-tell")


class Groups(NamedTuple):
    """What was concluded about single groups."""

    wrong: Mapping[str, tuple[Verdict, Answer]]
    """Those in which an error is found after the correction for their number."""
    n_assessed: int


class Evidence(NamedTuple):
    """What a conclusion rests on."""

    sample: Sample
    settings: Settings
    tests: tuple[Test, ...]
    p_value: float | None
    estimates: Mapping[str, Estimate]
    """By the names that have a tolerance: "vce", "gap", "ece", "rce"."""
    classes: ClassResults | None
    temperature: float | None
    """That makes the observed ranks most likely."""
    cautions: tuple[Caution, ...] = ()
    groups: Groups | None = None


class Case(NamedTuple):
    """A conclusion in words."""

    kind: str
    headline: str
    advice: str
    where: tuple[str, ...] = ()
    place: str | None = None


def conclude(it: Evidence) -> tuple[Verdict, Answer]:
    """The conclusion from the evidence, for programs and for people."""
    size = None
    if it.p_value is not None and it.p_value <= it.settings.largest_p:
        in_groups = _of_groups(it)
        case = in_groups or _error(it)
        size, case = (None, case) if in_groups else _of_size(it, case)
    else:
        case = _too_few(it) or _no_evidence(it)
        size, case = _of_size(it, case)
    verdict = Verdict(case.kind, it.p_value, size, case.place)
    numbers, certainty = (
        Forest("", "share of the rows", tuple(_numbers(it))),
        _certainty(it, verdict),
    )
    return verdict, Answer(case.headline, numbers, certainty, case.where, case.advice, it.cautions)


def _numbers(it: Evidence) -> list[Entry]:
    """The five numbers of an answer."""
    totals, found = it.sample.totals, it.estimates
    first = [Entry("mean confidence", totals.confidence), Entry("accuracy", totals.accuracy)]
    gap = found["gap"]
    words = f"no interval: {gap.reason}" if gap.reason else ""
    first.append(
        Entry("confidence minus accuracy", gap.value, gap.low, gap.high, None, words, True)
    )
    for name in ("vce", "ece"):
        if (each := found.get(name)) is not None:
            places = (
                None if each.low is None or each.high is None else decimals(each.low, each.high)
            )
            plug_in, floor = (number(value, places) for value in (each.value, each.noise_floor))
            words = f"plug-in value {plug_in}, noise alone {floor}"
            first.append(Entry(name.upper(), each.debiased, each.low, each.high, None, words))
    return first


def _certainty(it: Evidence, verdict: Verdict) -> str:
    """The p-value and what it means, or what these rows would have shown."""
    brackets = ""
    if it.estimates["gap"].low is not None:
        brackets = f"; brackets are {100 * it.settings.level:g} % intervals"
    if it.p_value is None:
        return f"No p-value can be given{brackets}."
    p = p_value(it.p_value)
    if verdict.found:
        return f"{p}: chance alone rarely makes a calibrated model look so wrong{brackets}."
    reach = detectable_gap(it.sample)
    if it.sample.without_interval() or not 0 < reach < 1:
        return f"{p}{brackets}."
    points = f"{100 * reach:.2g} points between confidence and accuracy"
    return f"{p}; a difference of {points} would be found in 4 of 5 such samples{brackets}."


# No error found -----------------------------------------------------------------------------------


def _too_few(it: Evidence) -> Case | None:
    """Why the rows are too few for a conclusion; None if they are enough."""
    clusters, rows = it.sample.design.clusters, it.sample.n_effective
    if clusters < FEWEST_CLUSTERS:
        have, need = _rounded_down(clusters), f"at least {FEWEST_CLUSTERS} are needed"
        head = f"Cannot tell: {counted(have, 'effective cluster')}; {need}."
        return Case(
            "cannot-tell", head, "Collect more clusters; more rows of the same do not help."
        )
    if rows < FEWEST_ROWS:
        what = "row" if it.sample.is_plain else "independent row"
        have, need = counted(_rounded_down(rows), what), f"at least {FEWEST_ROWS} are needed"
        worth = "" if it.sample.is_plain else f" {_rows(it)} are worth"
        return Case(
            "cannot-tell", f"Too few rows to tell:{worth} {have}; {need}.", "Collect more rows."
        )
    return None


def _rounded_down(value: float) -> float:
    """To a tenth, so that 9.98 clusters are not shown as 10."""
    return math.floor(10 * value + 1e-9) / 10


def _no_evidence(it: Evidence) -> Case:
    rows, advice = _rows(it), "Nothing now; collect more rows if a smaller error would matter."
    if _is_certain(it.sample):
        head = f"No evidence of miscalibration: certain in {rows}, wrong in {_wrong(it.sample)}."
    elif it.p_value is None:
        head = f"Cannot tell: in {rows} too few predictions are expected to be wrong."
        return Case("cannot-tell", head, "Collect more rows.")
    else:
        head = f"No evidence of miscalibration in {rows}."
    return Case("no-evidence", head, advice)


def _rows(it: Evidence) -> str:
    return counted(it.sample.totals.n_rows, "row")


# Which error is named -----------------------------------------------------------------------------


def _error(it: Evidence) -> Case:
    """The error that is named, with what else is to be said."""
    if (case := _order(it)) is None:
        case = _certain(it) if _is_certain(it.sample) else _strongest(it)
    rows = it.sample.totals.impossible
    if rows and case.kind != "order" and not _is_certain(it.sample):
        advice = "smooth the predictions, so that no class has probability 0, then assess again."
        case = case._replace(
            advice=f"In {counted(rows, 'row')} the true class had probability 0: {advice}"
        )
    if it.groups is not None:
        wrong, n = list(it.groups.wrong), it.groups.n_assessed
        named = f": {listed(wrong)}" if wrong else ""
        places = f"an error is found in {len(wrong)} of {counted(n, 'group')}{named}"
        case = case._replace(where=(*case.where, places))
    return case


def _strongest(it: Evidence) -> Case:
    """The error of the strongest test.

    Two classes are one event, whose frequency or slope is wrong. Of more classes, one must be much
    clearer than what all rows have in common, and a slope must not be that of most classes.
    """
    found = {test.name: _strength(test) for test in it.tests}
    frequency, slope, predicted = (found.get(name, 0.0) for name in _SPECIAL)
    if it.sample.ranks.options == (2,):
        return _classes(it) if frequency > slope else _confidence(it)
    of_all = max((each for name, each in found.items() if name not in _SPECIAL), default=0.0)
    if max(frequency, slope, predicted) <= SPECIFIC * of_all:
        return _confidence(it)
    if predicted > max(frequency, slope):
        return _predicted(it)
    wrong = it.classes.wrong if it.classes else ()
    alike = [each.is_extreme for each in wrong if each.fault == "slope"]
    most = max(alike.count(True), alike.count(False))
    return (
        _confidence(it) if slope > frequency and 2 * most >= len(it.classes or ()) else _classes(it)
    )


_SPECIAL = ("class frequency", "class slope", "predicted class")


def _strength(test: Test) -> float:
    """The squared standard errors of what a test finds; draws alone resolve no small p-value."""
    z = normal_quantile(1 - test.p_value) if test.name == "top label" else test.statistic
    return z**2


def _order(it: Evidence) -> Case | None:
    """Exchanged columns: the most probable class is not the most frequent, and classes fall."""
    share = it.sample.ranks.observed.sum(axis=(0, 1)) / it.sample.totals.mass
    best = int(share[1:].argmax()) + 1
    noise = math.sqrt(float(share[0] + share[best]) / it.sample.n_effective)
    if share[best] - share[0] <= normal_quantile(it.settings.level) * noise:
        return None
    slopes = [each.slope.value for each in it.classes or () if each.slope.value is not None]
    if 2 * sum(slope <= 0 for slope in slopes) < len(slopes):
        return None
    name = {1: "second", 2: "third"}.get(best, f"{best + 1}th")
    shares = [percent(float(share[k])) for k in (0, best)]
    head = (
        f"Wrong order: the most probable class is the true one in {shares[0]} of {_rows(it)}, "
        f"the {name} most probable in {shares[1]}."
    )
    advice = (
        "Check that columns are in the order of the labels; recalibration would not correct it."
    )
    return Case("order", head, advice)


def _is_certain(sample: Sample) -> bool:
    """Whether every prediction is 0 or 1."""
    return sample.totals.confidence >= 1 - 1e-12


def _wrong(sample: Sample) -> str:
    """The number of rows, or of their weight, whose most probable class is not the true one."""
    return count(round(sample.totals.mass * (1 - sample.totals.accuracy), 6))


def _certain(it: Evidence) -> Case:
    head = f"Over-confident: certain in {_rows(it)}, wrong in {_wrong(it.sample)}."
    share = percent(it.sample.totals.accuracy)
    advice = f"Smooth the predictions: state about {share} instead of 100 %."
    return Case("over-confident", head, advice)


def _confidence(it: Evidence) -> Case:
    """Over- or under-confidence of all rows, or both in different rows."""
    totals, (low, high) = it.sample.totals, _two_parts(it.sample)
    score = -math.inf if totals.impossible else float(it.sample.score.sum())
    gap = totals.confidence - totals.accuracy
    if low * high < 0 and min(abs(low), abs(high)) >= CLEAR:
        first, second = ("Over", "under") if low < 0 else ("Under", "over")
        head = f"{first}-confident where it is most certain, {second}-confident where it is least."
        return Case("varies", head, _BY_RANGE)
    stated, right = percent(totals.confidence), percent(totals.accuracy)
    numbers = f"it states {stated} on average and is right in {right} of {_rows(it)}"
    if score * gap >= 0:
        return Case("varies", f"Probabilities are wrong in both directions: {numbers}.", _BY_RANGE)
    kind = "over-confident" if gap > 0 else "under-confident"
    advice = _by_temperature(it.temperature, over=gap > 0)
    return Case(kind, f"{capitalised(kind)}: {numbers}.", advice)


_BY_RANGE = (
    "One temperature cannot correct this; recalibrate with isotonic regression on other rows."
)


def _by_temperature(temperature: float | None, *, over: bool) -> str:
    """Dividing the logits, by a number if it goes in the direction of the error."""
    if temperature is None or not 0.05 < temperature < 20 or (temperature > 1) != over:
        return "Recalibrate, for example with a temperature fitted on other rows."
    return (
        f"Divide the logits by about {temperature:.2g} (fit it on other rows), then assess again."
    )


def _two_parts(sample: Sample) -> tuple[float, float]:
    """The log-score of the rows below and above some variation, in standard errors.

    Of all places to divide the bins, the one where both parts are clearest and of opposite sign.
    """
    score, variance = (
        np.cumsum(sample.score),
        np.cumsum(sample.score_variance) * sample.score_effect(),
    )
    parts = [(score[:-1], variance[:-1]), (score[-1] - score[:-1], variance[-1] - variance[:-1])]
    least = 1e-12 * variance[-1]
    z = [
        np.divide(s, np.sqrt(np.maximum(v, least)), out=np.zeros(len(s)), where=v > least)
        for s, v in parts
    ]
    both = np.where(z[0] * z[1] < 0, np.minimum(np.abs(z[0]), np.abs(z[1])), 0.0)
    at = int(both.argmax()) if len(both) else 0
    return (float(z[0][at]), float(z[1][at])) if both.any() else (0.0, 0.0)


def _classes(it: Evidence) -> Case:
    """Single classes are more or less frequent than predicted, or too extreme."""
    if it.classes is None or not it.classes.wrong:
        return _confidence(it)
    first, *others = it.classes.wrong
    where = [f"class {each.name}: {_of_class(each)}" for each in others[:2]]
    if len(others) > 2:
        where.append(f"and {counted(len(others) - 2, 'more class', 'more classes')}, in .classes")
    if first.fault == "frequency":
        more = "less" if first.expected > first.observed else "more"
        head = f"Class {first.name} is {more} frequent than predicted: {_of_class(first)}."
        return Case("class-frequency", head, _CHECK_PRIOR, tuple(where), first.name)
    head = f"The probabilities of class {first.name} are {first.words}: {_of_class(first)}."
    return Case("by-class", head, _EACH_CLASS, tuple(where), first.name)


_CHECK_PRIOR = (
    "Check whether classes are as frequent as in training; if not, correct the prior, "
    "else recalibrate each class."
)
_EACH_CLASS = "One temperature cannot correct this; recalibrate each class against the rest."
_EACH_PREDICTED = (
    "One temperature cannot correct this; fit one for each predicted class on other rows."
)


def _of_class(it: ClassResult) -> str:
    if it.fault == "frequency":
        return f"{counted(it.observed, 'row')}, {count(it.expected)} expected"
    return f"slope {number(it.slope.value)}, where 1 is right"


def _predicted(it: Evidence) -> Case:
    """Over- and under-confidence that depend on the class that is predicted."""
    predicted = it.sample.predicted
    assert predicted is not None
    sd = np.sqrt(predicted.variance * it.sample.score_effect())
    z = np.divide(predicted.score, sd, out=np.zeros(len(sd)), where=sd > 0)
    two = np.argsort(-np.abs(z), kind="stable")[: 2 if abs(np.sort(np.abs(z))[-2]) >= CLEAR else 1]
    words = [
        f"{'over' if z[k] < 0 else 'under'}-confident where it predicts class {it.sample.class_names[k]}"
        for k in two
    ]
    head = f"{capitalised(' and '.join(words))}."
    return Case(
        "by-class",
        head,
        _EACH_PREDICTED,
        (),
        it.sample.class_names[two[0]] if len(two) == 1 else None,
    )


# Groups -------------------------------------------------------------------------------------------

_KINDS = {
    "over-confident": "Over-confident",
    "under-confident": "Under-confident",
    "order": "Columns may be exchanged",
    "class-frequency": "Classes are not as frequent as predicted",
}
"""A kind of error at the start of a sentence; others are "Miscalibrated"."""


def _of_groups(it: Evidence) -> Case | None:
    """The error of few groups; None if no group is wrong, or half of them and more are."""
    if it.groups is None or not it.groups.wrong or 2 * len(it.groups.wrong) >= it.groups.n_assessed:
        return None
    wrong, n = it.groups.wrong, it.groups.n_assessed
    kinds = {verdict.kind for verdict, _ in wrong.values()}
    kind = kinds.pop() if len(kinds) == 1 else "varies"
    names = list(wrong)
    shared = _shared_value(names) if len(names) > 1 else None
    place = names[0] if len(names) == 1 else shared
    which = f"all with {shared}" if shared else listed(names)
    head = f"{_KINDS.get(kind, 'Miscalibrated')} in {len(names)} of {counted(n, 'group')}, {which}."
    start = f"{_KINDS.get(kind)}: "
    where = [
        f"{name}: {answer.headline.removeprefix(start)}" for name, (_, answer) in wrong.items()
    ]
    advice = f"Look at {place or 'these groups'} alone, and leave the other groups as they are."
    if len(names) == 1:
        own = wrong[names[0]][1].advice
        advice = (
            f"For {names[0]} alone: {own[:1].lower()}{own[1:]} Leave the other groups as they are."
        )
    return Case(kind, head, advice, tuple(where[:MOST_PLACES]), place)


def _shared_value(names: list[str]) -> str | None:
    """The value of a column that all groups of several columns have in common, if it is one.

    >>> _shared_value(["site=a, ward=x", "site=a, ward=y"])
    'site=a'
    """
    pairs = [re.split(r"(?<!\\), ", name) for name in names]
    shared = [pair for pair in pairs[0] if "=" in pair and all(pair in its for its in pairs)]
    return shared[0].replace("\\,", ",") if len(shared) == 1 and len(pairs[0]) > 1 else None


# Whether it matters -------------------------------------------------------------------------------


def _of_size(it: Evidence, case: Case) -> tuple[str | None, Case]:
    """The size of the error in one word, and the case with it."""
    found, limits, head = (
        case.kind not in ("no-evidence", "cannot-tell"),
        it.settings.limits,
        case.headline[:-1],
    )
    if not limits:
        sizes = [_magnitude(it.estimates[name]) for name in ("vce", "gap")]
        small = all(value <= SMALL and high <= 2 * SMALL for _, value, high in sizes)
        if found and small:
            return "small", case._replace(headline=f"{head}; the error is clear, but small.")
        return None, case
    sizes = {name: _magnitude(it.estimates[name]) for name in limits if name in it.estimates}
    if found and any(low > limits[name] for name, (low, _, _) in sizes.items()):
        return "beyond", case._replace(headline=f"{head}: beyond the tolerance.")
    if any(high > limits[name] for name, (_, _, high) in sizes.items()):
        return "undecided", case._replace(
            headline=f"{head}; undecided whether within the tolerance."
        )
    return "negligible", case._replace(advice="Nothing: the error is within the tolerance.")


def _magnitude(of: Estimate) -> tuple[float, float, float]:
    """Lower end, value and upper end of the size of an error, whatever its sign."""
    value = (of.value if of.debiased is None else of.debiased) or 0.0
    if of.low is None or of.high is None:
        return 0.0, abs(value), math.inf
    return max(0.0, of.low, -of.high), abs(value), max(abs(of.low), abs(of.high))
