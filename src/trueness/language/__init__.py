"""Evaluation logs of language models as arrays: log-likelihoods of options, letters, stated confidences, votes.

Each reader returns arrays and does not assess; `read` finds the format by content.
"""

from trueness.language.helm import read_helm
from trueness.language.hle import read_hle
from trueness.language.inspect_logs import read_inspect
from trueness.language.letters import Letters, letters
from trueness.language.lm_eval import read_lm_eval
from trueness.language.openai import read_openai
from trueness.language.plain_files import read_stated, read_token_lists, read_votes
from trueness.language.reading import read
from trueness.language.recognition import recognise
from trueness.language.results import Options, Statements, Votes

__all__ = [
    "Letters",
    "Options",
    "Statements",
    "Votes",
    "letters",
    "read",
    "read_helm",
    "read_hle",
    "read_inspect",
    "read_lm_eval",
    "read_openai",
    "read_stated",
    "read_token_lists",
    "read_votes",
    "recognise",
]
