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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trueness.answers.class_results import ClassResult, ClassResults
from trueness.arguments import Settings
from trueness.document import MOST_PLACES, Answer, Caution, Entry, Forest
from trueness.formatting import count, counted, listed, number, p_value, percent
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


class Evidence(NamedTuple):
    """What a conclusion rests on."""

    sample: Sample
    settings: Settings
    tests: tuple[Test, ...]
    p_value: float | None
    estimates: Mapping[str, Estimate]
    """By name: "vce", "ece", "rce", "gap", "net", "score_gap"."""
    classes: ClassResults | None
    temperature: float | None
    """That makes the observed ranks most likely."""
    resamples: int
    cautions: tuple[Caution, ...] = ()
    wrong_groups: Mapping[str, tuple[Verdict, Answer]] = {}
    """Groups in which an error is found, corrected for their number."""
    n_groups: int = 0
    """How many groups were assessed."""


class Case(NamedTuple):
    """A conclusion in words."""

    kind: str
    headline: str
    advice: str
    where: tuple[str, ...] = ()
    place: str | None = None


def conclude(it: Evidence) -> tuple[Verdict, Answer]:
    """The conclusion from the evidence, for programs and for people."""
    found = it.p_value is not None and it.p_value <= it.settings.largest_p
    in_groups = _of_groups(it) if found else None
    case = in_groups or (_error(it) if found else _nothing(it))
    size, case = (None, case) if in_groups else _of_size(it, case, found)
    numbers = Forest("", "share of the rows", tuple(_numbers(it)))
    sentences = (_certainty(it, found), case.where, case.advice, it.cautions)
    verdict = Verdict(case.kind, it.p_value, size, case.place)
    return verdict, Answer(case.headline, numbers, *sentences)


def _numbers(it: Evidence) -> Iterator[Entry]:
    """The five numbers of an answer."""
    totals, gap = it.sample.totals, it.estimates["gap"]
    yield Entry("mean confidence", totals.confidence)
    yield Entry("accuracy", totals.accuracy)
    words = f"no interval: {gap.reason}" if gap.reason else ""
    yield Entry("confidence minus accuracy", gap.value, gap.low, gap.high, None, words, True)
    for name in ("vce", "ece"):
        each = it.estimates[name]
        words = f"noise alone {number(each.noise_floor)}"
        value = each.value  # what few rows leave of it without noise says nothing
        if each.low is not None:
            value, words = each.debiased, f"plug-in value {number(each.value)}, {words}"
        yield Entry(name.upper(), value, each.low, each.high, None, words)


def _certainty(it: Evidence, found: bool) -> str:
    """The p-value and what it means, or what these rows would have shown."""
    words, reach = "No p-value can be given", detectable_gap(it.sample)
    if it.p_value is not None:
        words = p_value(it.p_value)
        if found:
            words += ": chance alone rarely makes a calibrated model look so wrong"
            if it.sample.without_interval() is not None:
                words += "; too few rows to say how wrong"
        elif it.sample.without_interval() is None and 0 < reach < 1:
            points = f"{100 * reach:.2g} points between confidence and accuracy"
            words += f"; a difference of {points} would be found in 4 of 5 such samples"
    if it.estimates["gap"].low is not None:
        words += f"; brackets are {100 * it.settings.level:g} % intervals"
    return f"{words}."


# No error found -----------------------------------------------------------------------------------


def _nothing(it: Evidence) -> Case:
    """No evidence of an error, or too few rows or clusters to tell."""
    sample, rows = it.sample, _rows(it)
    sizes = (sample.design.clusters, sample.n_effective)
    clusters, worth = (math.floor(10 * min(n, 1e9)) / 10 for n in sizes)  # 9.98 is not 10
    more = "Collect more rows." if sample.units is None else "Collect more clusters."
    if sample.without_p_value() is not None:
        few = f"{counted(clusters, 'effective cluster')}; at least {FEWEST_CLUSTERS} are needed."
        return Case("cannot-tell", f"Cannot tell: {few}", f"{more} More rows hardly help.")
    if sample.without_interval() is not None:
        have = counted(worth, "row") if sample.is_plain else f"{rows} are worth {count(worth)}"
        head = f"Too few rows to tell: {have}; at least {FEWEST_ROWS} are needed."
        return Case("cannot-tell", head, more)
    if it.p_value is None and not _is_certain(sample):
        head = f"Cannot tell: in {rows} too few predictions are expected to be wrong."
        return Case("cannot-tell", head, more)
    head = f"No evidence of miscalibration in {rows}."
    if _is_certain(sample):
        head = f"No evidence of miscalibration: certain in {rows}, wrong in {_wrong(sample)}."
    advice = "Nothing now; collect more rows if a smaller error would matter."
    return Case("no-evidence", head, advice)


def _rows(it: Evidence) -> str:
    return counted(it.sample.totals.n_rows, "row")


# Which error is named -----------------------------------------------------------------------------

_BY_RANGE = "One temperature cannot correct this; use isotonic regression fitted on other rows."
_BY_CLASS = "One temperature cannot correct this; recalibrate each class against the rest."
_BY_PREDICTED = "One temperature cannot correct this; fit one for each predicted class."
_CHECK_COLUMNS = "Check that columns are in the order of the labels; recalibration would not help."
_CHECK_RANKS = "One temperature cannot correct this; check the columns, or recalibrate each class."
_CHECK_PRIOR = (
    "Check whether classes are as frequent as in training; if not, correct the prior, "
    "else recalibrate each class."
)
_NO_ZEROS = "smooth the predictions, so that no class has probability 0, then assess again."


def _error(it: Evidence) -> Case:
    """The error that is named, with what else is to be said."""
    certain, impossible = _is_certain(it.sample), it.sample.totals.impossible
    if (case := _order(it)) is None and certain:
        head = f"Over-confident: certain in {_rows(it)}, wrong in {_wrong(it.sample)}."
        share = percent(it.sample.totals.accuracy)
        advice = f"Smooth the predictions: state {share} instead of 100 %."
        case = Case("over-confident", head, advice)
    case = case or _strongest(it)
    if impossible and case.kind != "order" and not certain:
        rows = f"In {counted(impossible, 'row')} the true class had probability 0"
        case = case._replace(advice=f"{rows}: {_NO_ZEROS}")
    if it.n_groups:
        names = f": {listed([*it.wrong_groups])}" if it.wrong_groups else ""
        groups = f"{len(it.wrong_groups)} of {counted(it.n_groups, 'group')}{names}"
        case = case._replace(where=(*case.where, f"an error is found in {groups}"))
    return case


def _order(it: Evidence) -> Case | None:
    """Exchanged columns: the most probable class is not the most frequent, or classes fall."""
    exchanged = [each.name for each in it.classes or () if (each.slope.high or 0.0) < 0]
    if len(exchanged) > 1:
        names = listed(exchanged, 4)
        head = f"Wrong order: classes {names} are less frequent where they are more probable."
        return Case("order", head, _CHECK_COLUMNS)
    share = it.sample.ranks.observed.sum(axis=(0, 1)) / it.sample.totals.mass
    best = int(share[1:].argmax()) + 1
    noise = math.sqrt(float(share[0] + share[best]) / it.sample.n_effective)
    slopes = [each.slope.value for each in it.classes or () if each.slope.value is not None]
    is_clear = share[best] - share[0] > normal_quantile(it.settings.level) * noise
    if not is_clear or 2 * sum(slope <= 0 for slope in slopes) < len(slopes):
        return None
    name = {1: "second", 2: "third"}.get(best, f"{best + 1}th")
    first, other = (percent(float(share[k])) for k in (0, best))
    most = f"the most probable class is the true one in {first} of {_rows(it)}"
    head = f"Wrong order: {most}, the {name} most probable in {other}."
    return Case("order", head, _CHECK_COLUMNS)


def _is_certain(sample: Sample) -> bool:
    """Whether every prediction is 0 or 1."""
    return sample.totals.confidence >= 1 - 1e-12


def _wrong(sample: Sample) -> str:
    """The number of rows, or of their weight, whose most probable class is not the true one."""
    return count(round(sample.totals.mass * (1 - sample.totals.accuracy), 6))


def _strongest(it: Evidence) -> Case:
    """The error of the strongest test, in squared standard errors; ECE has only a p-value.

    Two classes are one event, whose frequency or slope is wrong. Of more classes, one must be much
    clearer than what all rows have in common, and a slope must not be that of most classes.
    """
    z = ((it.name, it.statistic, normal_quantile(1 - it.p_value)) for it in it.tests)
    found = {name: (drawn if name == "top label" else value) ** 2 for name, value, drawn in z}
    special = ("class frequency", "class slope", "predicted class")
    frequency, slope, predicted = (found.pop(name, 0.0) for name in special)
    if it.sample.ranks.options == (2,):
        return _classes(it) if frequency > slope else _confidence(it)
    if max(frequency, slope, predicted) <= SPECIFIC * max(found.values(), default=0.0):
        return _ranks(it) if found.get("order", 0.0) == max(found.values()) else _confidence(it)
    if predicted > max(frequency, slope):
        return _predicted(it)
    alike = [each.is_extreme for each in it.classes or () if each.fault == "slope"]
    most = max(alike.count(True), alike.count(False))
    common = slope > frequency and 2 * most >= len(it.classes or ())
    return _confidence(it) if common else _classes(it)


def _ranks(it: Evidence) -> Case:
    """Wrong ranks below the most probable class, if that one is right as often as stated."""
    gap, ranks, mass = it.estimates["gap"], it.sample.ranks, it.sample.totals.mass
    where = next(test.where for test in it.tests if test.name == "order")
    k = int(str(where).removeprefix("top "))
    if k == 1 or gap.low is None or gap.high is None or not gap.low <= 0 <= gap.high:
        return _confidence(it)
    sums = (each[..., :k].sum() / mass for each in (ranks.predicted, ranks.observed))
    stated, right = (percent(float(share)) for share in sums)
    among = f"the true class is among the {k} most probable in {right} of {_rows(it)}"
    return Case("order", f"Wrong ranks: {among}, where {stated} are stated.", _CHECK_RANKS)


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
    kind, t = "over-confident" if gap > 0 else "under-confident", it.temperature
    advice = "Recalibrate, for example with a temperature fitted on other rows."
    if t is not None and 0.05 < t < 20 and (t > 1) == (gap > 0):
        about = f"{t:.3g}" if 0.9 < t < 1.1 else f"{t:.2g}"
        advice = f"Divide the logits by about {about} (fit it on other rows), then assess again."
    return Case(kind, f"{kind.capitalize()}: {numbers}.", advice)


def _two_parts(sample: Sample) -> tuple[float, float]:
    """The log-score of the rows below and above some variation, in standard errors.

    Of all places to divide the bins, the one where both parts are clearest and of opposite sign.
    """
    score = np.cumsum(sample.score)
    variance = np.cumsum(sample.score_variance) * sample.score_effect()
    sums = np.stack([score, score[-1] - score])[:, :-1]
    noise = np.sqrt(np.stack([variance, variance[-1] - variance])[:, :-1].clip(0.0))
    some = noise > 1e-6 * math.sqrt(variance[-1])
    low, high = np.divide(sums, noise, out=np.zeros(sums.shape), where=some)
    both = np.where(low * high < 0, np.minimum(np.abs(low), np.abs(high)), 0.0)
    at = int(both.argmax()) if both.any() else None
    return (0.0, 0.0) if at is None else (float(low[at]), float(high[at]))


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
    return Case("by-class", head, _BY_CLASS, tuple(where), first.name)


def _of_class(it: ClassResult) -> str:
    if it.fault == "frequency":
        return f"{counted(it.observed, 'row')}, {count(it.expected)} expected"
    return f"slope {number(it.slope.value)}, where 1 is right"


def _predicted(it: Evidence) -> Case:
    """Over- and under-confidence that depend on the class that is predicted."""
    predicted, names = it.sample.predicted, it.sample.class_names
    assert predicted is not None
    sd = np.sqrt(predicted.variance * it.sample.score_effect())
    z = np.divide(predicted.score, sd, out=np.zeros(len(sd)), where=sd > 0)
    clearest = np.argsort(-np.abs(z), kind="stable")[:2].tolist()
    shown = [k for k in clearest if k == clearest[0] or abs(z[k]) >= CLEAR]
    signs = ["over" if z[k] < 0 else "under" for k in shown]
    words = [
        f"{sign}-confident where it predicts class {listed([names[k]])}"
        for k, sign in zip(shown, signs, strict=True)
    ]
    head = " and ".join(words)
    place = names[shown[0]] if len(shown) == 1 else None
    return Case("by-class", f"{head[0].upper()}{head[1:]}.", _BY_PREDICTED, (), place)


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
    if not 0 < 2 * len(it.wrong_groups) < it.n_groups:
        return None
    wrong = {listed([name]): answer for name, (_, answer) in it.wrong_groups.items()}
    kinds = {verdict.kind for verdict, _ in it.wrong_groups.values()}
    kind, (first, *others) = kinds.pop() if len(kinds) == 1 else "varies", wrong
    shared, word = _shared_value([*wrong]) if others else None, _KINDS.get(kind, "Miscalibrated")
    which = f"all with {shared}" if shared else listed([*wrong])
    advice = f"Look at {shared or 'these groups'} alone"
    if not others:
        own = wrong[first].advice
        advice = f"For {first} alone: {own[:1].lower()}{own[1:-1]}"
    advice = f"{advice}; leave the other groups as they are."
    said = [f"{name}: {its.headline.removeprefix(f'{word}: ')}" for name, its in wrong.items()]
    head = f"{word} in {len(wrong)} of {counted(it.n_groups, 'group')}, {which}."
    return Case(kind, head, advice, tuple(said[:MOST_PLACES]), shared if others else first)


def _shared_value(names: list[str]) -> str | None:
    """What all groups of several columns have in common, such as "site=a"; None if several."""
    pairs = [re.split(r"(?<!\\), ", name) for name in names]
    shared = [pair for pair in pairs[0] if "=" in pair and all(pair in its for its in pairs)]
    return shared[0].replace("\\,", ",") if len(shared) == 1 < len(pairs[0]) else None


# Whether it matters -------------------------------------------------------------------------------


def _of_size(it: Evidence, case: Case, found: bool) -> tuple[str | None, Case]:
    """The size of the error in one word, and the case with it."""
    head = case.headline[:-1]
    limits = it.settings.limits or {"vce": SMALL, "gap": SMALL}
    sizes = [(*_magnitude(it.estimates[name]), limit) for name, limit in limits.items()]
    if not it.settings.limits:
        if found and all(value <= limit and high <= 2 * limit for _, value, high, limit in sizes):
            return "small", case._replace(headline=f"{head}; the error is clear, but small.")
        return None, case
    if found and any(low > limit for low, _, _, limit in sizes):
        return "beyond", case._replace(headline=f"{head}: beyond the tolerance.")
    if any(high > limit for _, _, high, limit in sizes):
        return "undecided", case._replace(headline=f"{head}; undecided if within the tolerance.")
    return "negligible", case._replace(advice="Nothing: the error is within the tolerance.")


def _magnitude(of: Estimate) -> tuple[float, float, float]:
    """Lower end, value and upper end of the size of an error, whatever its sign."""
    value = (of.value if of.debiased is None else of.debiased) or 0.0
    if of.low is None or of.high is None:
        return 0.0, abs(value), math.inf
    return max(0.0, of.low, -of.high), abs(value), max(abs(of.low), abs(of.high))
