"""`read`: an evaluation log of any format."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from trueness.language.helm import read_helm
from trueness.language.hle import read_hle
from trueness.language.inspect_logs import read_inspect
from trueness.language.lm_eval import read_lm_eval
from trueness.language.openai import read_openai
from trueness.language.recognition import FORMATS, recognise
from trueness.language.results import Options, Statements, Votes
from trueness.refusals import InvalidValueError

READERS: Mapping[str, Callable[..., Options | Statements | Votes]] = {
    "lm-eval": read_lm_eval,
    "inspect": read_inspect,
    "openai": read_openai,
    "helm": read_helm,
    "hle": read_hle,
}


def read(path: str | os.PathLike[str], **options: Any) -> Options | Statements | Votes:
    """The rows of an evaluation log, whose format is found by its content.

    Parameters
    ----------
    path
        A file, or the folder of a HELM run.
    options
        Those of `read_lm_eval`, `read_inspect`, `read_openai` (also `labels`), `read_helm` or `read_hle`.
    """
    found = recognise(path)
    if found is None:
        formats = ", ".join(FORMATS)
        cause = f"{os.fspath(path)} is not an evaluation log that is known"
        remedy = f"known formats: {formats}"
        raise InvalidValueError("unknown-format", cause, remedy, argument=os.fspath(path))
    return READERS[found.format](path, **options)
