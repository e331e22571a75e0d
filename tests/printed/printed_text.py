"""What `print` and the command show, as numbers with names: this table changes with the text, its numbers do not.

Each line is the names of the groups of a pattern, then the pattern; `@` stands for the first group, a label. Every
number in a text must belong to a name.
"""

from __future__ import annotations

import re
from typing import NamedTuple

N, P, LABEL = r"([-+]?\d[\d,]*\.?\d*(?:e[-+]\d+)?|inf(?:inite)?)", r"([<>]?\d\.\d+)", r"([\w-]+)"
_METRIC = "VCE|net gap|ECE|RCE W1|RCE|classwise total|classwise ECE|class gap"
_EVENT = (
    r"gap in the large|spread \(signed root\)|Cox slope|Cox intercept|ECE, plug-in|ECE, debiased"
    r"|RMS error, plug-in|RMS error, debiased|largest gap of a bin|ICI \(loess\)|E50|E90|Emax|KS|Kuiper"
    r"|Spiegelhalter Z|Hosmer-Lemeshow|log-score Z|Brier score|log-loss"
)
PATTERNS = [
    (
        "rows;classes;bins;top bins",
        rf"^{N} rows, {N} classes, {N} bins of entropy \(ECE: {N} bins of",
    ),
    ("resamples;seed", rf"{N} resamples, seed {N}"),
    ("level", rf"{N} % interval"),
    (
        "@ plug-in;@ floor;@ p;@ centred p;@ debiased;@ low;@ high",
        rf"^({_METRIC}) +{N} +{N} +{P} +{P} +{N}  \[{N}, {N}\]",
    ),
    ("UCE;UCE p;UCE calibrated", rf"^UCE +{N} +{P}  expected for a calibrated model: {N}"),
    (
        "event @;event @ calibrated;event @ p;event @ low;event @ high",
        rf"^({_EVENT}) +{N}(?: +{N})? +(?:-|{P})(?:  \[{N}, {N}\])?$",
    ),
    ("@;@ degrees;@ p", rf"^(log-score Z|cumulated|by class Q) +{N} +(?:{N} +)?{P}"),
    ("impossible rows", rf"\(without {N} rows whose true class had probability 0\)"),
    ("p by resampling", rf"\(p by resampling = {P}"),
    ("accuracy;Brier score;log-loss", rf"^accuracy {N}, Brier score {N}, log-loss {N}"),
    ("of class", r"^no class of (\d+) is"),
    (
        "class @ expected;class @ observed;class @ gap;class @ slope;class @ ECE;class @ adjusted p",
        rf"^{LABEL} +{N} +{N} +([-+]0\.\d{{4}}) *{N} +{N} +{P}  (?:predicted|too)",
    ),
    (
        "accuracy in %;confidence in %",
        rf"its top class is correct in {N} % of rows, with a mean confidence of {N} %",
    ),
    ("@ debiased;@ low;@ high", rf"[,;] \(?({_METRIC}) {N} \[{N}, {N}\]"),
    ("@ debiased", rf"[,;(] ?({_METRIC}) {N}(?: |\)|,)(?!\[)"),
    ("p", rf"\bp = {N}"),
    ("p", rf"\bp > {N}"),
    (
        "class @ expected;class @ observed",
        rf"[Cc]lass {LABEL} is [^,]*, {N} expected, {N} observed",
    ),
    (
        "class @ slope;class @ ECE;class @ ECE low;class @ ECE high",
        rf"class {LABEL} is [^,]*, slope {N}, ECE of the class {N} \[{N}, {N}\]",
    ),
    ("", r"(?:[Cc]lass(?:es)? |\), )([\w-]+) (?:is|\()"),
    ("more classes", rf"and {N} more class"),
    ("impossible rows", rf"in {N} rows the predicted probability of the true class was 0"),
    (
        "@ thin bins;@ filled bins;@ ten",
        rf"(?:^(\w+): |- ){N} of {N} non-empty bins ha\w+ fewer than {N} rows(?:: use)?",
    ),
    ("@ empty bins;@ bins", rf"(?:^(\w+): |- ){N} of {N} bins hold no rows"),
    ("", r"use (10) bins of equal mass"),
    (
        "@ lower-rank bins;@ place;@ bins",
        rf"(?:^(\w+): |- )in {N} bin \({N} of {N}\) a class of lower rank",
    ),
    (
        "@ tied rows;@ rows",
        rf"(?:^(\w+): |- )in {N} rows? of {N} another class has the same probability",
    ),
    (
        "@ impossible rows;@ rows",
        rf"(?:^(\w+): |- )in {N} rows of {N} the true class had probability 0",
    ),
    ("", r"(?:had probability|true class was) (0)\b"),
    ("log-loss", rf"the log-loss is {N}"),
    ("rows;effective rows", rf"the effective sample size of {N} weighted rows is {N}"),
    ("event rows;event rate in %", rf"^class 1: {N} rows, observed in {N} %"),
    ("event expected;event observed;event ratio", rf"^ +{N} expected, {N} observed, ratio {N}"),
    ("event part @", rf"^  (reliability|resolution|uncertainty) +{N} +-$"),
    (
        "bin @ rows;bin @ predicted;bin @ observed;bin @ gap",
        rf"^(?= +{N} )(?: +){N} +(0\.\d{{4}}) +([01]\.\d{{4}}) +([-+]\d\.\d{{4}})$",
    ),
    ("event expected;event observed", rf"class (?:1) too \w+: {N} expected, {N} observed"),
    ("odds factor", rf"multiply the odds by {N};"),
    ("", r"[Cc]lass (1)\b"),
    (
        "@ VCE;@ VCE debiased;@ net gap debiased;@ ECE debiased;@ RCE debiased;@ classwise total debiased;@ p;@ accuracy;@ Brier score;@ log-loss",
        rf"^(old|new) +{N} +{N} +{N} +{N} +{N} +{N} +{P} +{N} +{N} +{N}",
    ),
    (
        "difference @;difference @ low;difference @ high;difference @ adjusted p",
        rf"^  ({_METRIC}) +{N}  \[{N}, {N}\] +{P}",
    ),
    (
        "difference @;difference @ low;difference @ high",
        rf"({_METRIC})\(old\) - (?:{_METRIC})\(new\) = {N} \[{N}, {N}\]",
    ),
]


class Shown(NamedTuple):
    """A number in a text."""

    name: str
    text: str

    @property
    def value(self) -> float:
        return float(self.text.strip("<>").replace(",", "").replace("inite", ""))

    @property
    def unit(self) -> float:
        """The last digit that is shown."""
        digits, _, power = self.text.partition("e")
        return 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))


def numbers_in(text: str) -> tuple[list[Shown], list[str]]:
    """The numbers that have a name; and those that have none, each with its line."""
    shown: list[Shown] = []
    claimed: set[int] = set()
    for names, pattern in PATTERNS:
        for found in re.finditer(pattern, text, re.MULTILINE):
            spans = list(
                zip(found.groups(), map(found.span, range(1, found.re.groups + 1)), strict=True)
            )
            label = (found.group(1) or "") if "@" in names else ""
            for name, (number, span) in zip(names.split(";"), spans["@" in names :], strict=True):
                if number is not None and not claimed.intersection(range(*span)):
                    claimed.update(range(*span))
                    shown += [Shown(name.replace("@", label).strip(), number)] if name else []
            if label:
                claimed.update(range(*spans[0][1]))
    tokens = re.finditer(rf"(?<![\w.]){N}(?!\w)", text)
    lost = [m for m in tokens if not claimed.intersection(range(*m.span()))]
    return shown, [f"{m.group()} in {text[: m.end()].splitlines()[-1]!r}" for m in lost]
