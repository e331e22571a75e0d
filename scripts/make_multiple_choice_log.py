"""Make a small multiple-choice evaluation with a real scorer, in the layout of lm-evaluation-harness, and assess it.

The scorer is an interpolated character n-gram model (order 6), trained here on docstrings of scikit-learn: no download,
no weights. A question is the beginning of a sentence from a package that was held out; the options are its own last
four words and those of two to four other sentences. The model gives ln P(end | beginning), summed over characters, as
a language model sums over tokens. It is a real model of text, and a weak one: which phrase is common decides, and its
context hardly matters. Dividing the options' own frequencies out (`unconditional`) shows what the context adds.

    python scripts/make_multiple_choice_log.py OUTPUT_FOLDER [--only-write]
"""

from __future__ import annotations

import argparse
import inspect
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

import numpy as np

import trueness as tn
from trueness.language import read_lm_eval

ORDER = 6
DATE = "2026-01-01T00-00-00.000000"
PACKAGES = ("cluster", "decomposition", "ensemble", "linear_model", "metrics", "preprocessing")
END_WORDS = 4
MOST_QUESTIONS = 150


class CharacterModel:
    """P(c | the characters before), interpolated over contexts of 0 to 5 characters by Witten and Bell's weights."""

    def __init__(self, text: str) -> None:
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self.alphabet = len(set(text)) + 1
        for place, letter in enumerate(text):
            for length in range(min(ORDER, place + 1)):
                self.counts[text[place - length : place]][letter] += 1

    def probability(self, before: str, letter: str) -> float:
        """P(letter | before)."""
        p = 1 / self.alphabet
        for length in range(min(ORDER - 1, len(before)) + 1):
            seen = self.counts.get(before[len(before) - length :])
            if seen:
                total, kinds = seen.total(), len(seen)
                p = (seen[letter] + kinds * p) / (total + kinds)
        return p

    def loglikelihood(self, context: str, continuation: str) -> float:
        """ln P(continuation | context)."""
        text, start = context + continuation, len(context)
        letters = range(start, len(text))
        return math.fsum(
            math.log(self.probability(text[max(0, k - ORDER + 1) : k], text[k])) for k in letters
        )


def sentences(package: str) -> list[str]:
    """The different sentences of the docstrings of a package of scikit-learn, as words with single spaces."""
    module = import_module(f"sklearn.{package}")
    text = "\n\n".join(inspect.getdoc(getattr(module, name)) or "" for name in module.__all__)
    plain = (
        " ".join(re.findall(r"[A-Za-z]+[,.]?", part)) for part in re.split(r"(?<=[.:;])\s+|\n\s*\n", text)
    )
    return list(dict.fromkeys(sentence for sentence in plain if len(sentence.split()) >= 3 * END_WORDS))


def questions(texts: Sequence[str], rng: np.random.Generator) -> Iterator[tuple[str, list[str], int]]:
    """The beginning of each sentence, three to five ends, and which is its own."""
    pairs = [(" ".join(s.split()[:-END_WORDS]), " ".join(s.split()[-END_WORDS:])) for s in texts]
    for number, (beginning, end) in enumerate(pairs):
        others = [pairs[k][1] for k in rng.permutation(len(pairs)) if k != number and pairs[k][1] != end]
        options = [end, *dict.fromkeys(others)][: int(rng.integers(3, 6))]
        order = rng.permutation(len(options))
        yield beginning, [options[k] for k in order], int(np.argmax(order == 0))


def line(
    number: int, beginning: str, options: list[str], gold: int, model: CharacterModel
) -> dict[str, object]:
    """A line as lm_eval 0.4.13 writes it for a multiple_choice task with the metric acc_mutual_info.

    The second half of the requests are the options without the context.
    """
    contexts, ends = (
        [beginning] * len(options) + [""] * len(options),
        [f" {option}" for option in options] * 2,
    )
    scores = [model.loglikelihood(context, end) for context, end in zip(contexts, ends, strict=True)]
    own, without = np.split(np.array(scores), 2)
    pairs = [[str(score), "False"] for score in scores]
    return {
        "doc_id": number,
        "doc": {"beginning": beginning, "options": options, "gold": gold},
        "target": str(gold),
        "arguments": {
            f"gen_args_{k}": {"arg_0": context, "arg_1": end}
            for k, (context, end) in enumerate(zip(contexts, ends, strict=True))
        },
        "resps": [[pair] for pair in pairs],
        "filtered_resps": pairs,
        "filter": "none",
        "metrics": ["acc", "acc_mutual_info"],
        "acc": float(int(np.argmax(own)) == gold),
        "acc_mutual_info": float(int(np.argmax(own - without)) == gold),
    }


def write_logs(folder: Path) -> list[Path]:
    """Write a file of samples for each package, each scored by a model of the others."""
    folder.mkdir(parents=True, exist_ok=True)
    texts, rng, paths = {name: sentences(name) for name in PACKAGES}, np.random.default_rng(0), []
    for name in PACKAGES:
        learned = [sentence for other in PACKAGES if other != name for sentence in texts[other]]
        model, held_out = CharacterModel("\n".join(learned)), sorted(set(texts[name]).difference(learned))
        asked = questions(rng.permutation(held_out)[:MOST_QUESTIONS].tolist(), rng)
        lines = [line(number, *question, model) for number, question in enumerate(asked)]
        paths.append(folder / f"samples_{name}_{DATE}.jsonl")
        paths[-1].write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return paths


def assess_logs(paths: Sequence[Path]) -> None:
    """Print the assessment of all files together, by both kinds of log-likelihoods."""
    for normalise_by in ("none", "unconditional"):
        read = read_lm_eval(paths, normalise_by=normalise_by)
        print(read.remarks[-1])
        result = tn.assess(
            read.y_true, read.y_prob, n_options=read.n_options, groups=read.group, bins=tn.EqualMass(5)
        )
        print(result, end="\n\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make a small multiple-choice evaluation, and assess it.")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("multiple-choice"))
    parser.add_argument("--only-write", action="store_true", help="write the logs, and do not assess them")
    arguments = parser.parse_args()
    written = write_logs(arguments.folder)
    if not arguments.only_write:
        assess_logs(written)
