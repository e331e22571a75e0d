"""Evaluation logs for tests: where the examples are, and small ones written line by line."""

import json
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

LOGS = Path(__file__).parent / "data" / "language-models"
EXPECTED: dict[str, Any] = json.loads((LOGS / "expected.json").read_text())
DATE = "2026-01-01T00-00-00.000000"
HELM = LOGS / "helm" / "run"
OPENAI, LABELS = LOGS / "openai" / "batch_output.jsonl", LOGS / "openai" / "labels.csv"
HLE = LOGS / "hle" / "judged_example-model.json"


def samples(task: str) -> Path:
    """The example of a task of lm-evaluation-harness."""
    return LOGS / "lm-eval" / f"samples_{task}_{DATE}.jsonl"


def lm_eval_line(
    doc_id: int = 0,
    loglikelihood: Iterable[Any] = (-1.0, -2.0, -3.0),
    target: Any = "0",
    options: Iterable[str] = (" red", " green", " blue"),
    contexts: Iterable[str] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A line as lm_eval 0.4.13 writes it."""
    options, numbers = list(options), list(loglikelihood)
    contexts = ["Which?\nAnswer:"] * len(options) if contexts is None else list(contexts)
    pairs = [[str(number), "False"] for number in numbers]
    return {
        "doc_id": doc_id,
        "doc": {"subject": "colour"},
        "target": target,
        "arguments": {
            f"gen_args_{k}": {"arg_0": context, "arg_1": option}
            for k, (context, option) in enumerate(zip(contexts, options, strict=True))
        },
        "resps": [[pair] for pair in pairs],
        "filtered_resps": pairs,
        "filter": "none",
        **more,
    }


def write_lines(path: Path, lines: Iterable[Any]) -> Path:
    """A file of JSON Lines."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def tokens(**probabilities: float) -> list[dict[str, Any]]:
    """Listed tokens; a leading underscore of a name is a space."""
    import math

    return [{"token": name.replace("_", " "), "logprob": math.log(p)} for name, p in probabilities.items()]


def inspect_sample(id: Any = "q1", epoch: int = 1, **more: Any) -> dict[str, Any]:
    """A sample of inspect with three choices, whose answer is A."""
    top = tokens(A=0.7, B=0.2, C=0.1)
    content = [{"token": "A", "logprob": top[0]["logprob"], "top_logprobs": top}]
    return {
        "id": id,
        "epoch": epoch,
        "choices": ["red", "green", "blue"],
        "target": "A",
        "metadata": {"subject": "colour"},
        "scores": {"choice": {"value": "C", "answer": "A"}},
        "output": {"choices": [{"logprobs": {"content": content}}]},
        **more,
    }


def inspect_header(status: str = "success", **more: Any) -> dict[str, Any]:
    """The header of a log."""
    return {
        "version": 2,
        "status": status,
        "eval": {"task": "colours", "dataset": {"samples": 3}, "config": {"epochs": 1}},
        "plan": {"steps": [{"solver": "generate", "params": {}}]},
        **more,
    }


def write_eval(path: Path, members: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> Path:
    """A ZIP file of JSON members; names may occur twice."""
    pairs = members.items() if isinstance(members, Mapping) else members
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in pairs:
            archive.writestr(name, content if isinstance(content, bytes) else json.dumps(content))
    return path


def write_zip_member(path: Path, name: str, packed: bytes, content: bytes, method: int, **said: int) -> Path:
    """A ZIP file of one member with any method, size and checksum."""
    size, crc = said.get("size", len(content)), said.get("crc", zlib.crc32(content))
    raw = name.encode()

    def fields(*numbers: tuple[int, int]) -> bytes:
        return b"".join(number.to_bytes(width, "little") for number, width in numbers)

    common = (
        (20, 2),
        (said.get("flags", 0), 2),
        (method, 2),
        (0, 4),
        (crc, 4),
        (len(packed), 4),
        (size, 4),
        (len(raw), 2),
    )
    local = b"PK\x03\x04" + fields(*common, (0, 2)) + raw + packed
    central = b"PK\x01\x02" + fields((20, 2), *common, (0, 2), (0, 2), (0, 2), (0, 2), (0, 4), (0, 4)) + raw
    end = b"PK\x05\x06" + fields((0, 2), (0, 2), (1, 2), (1, 2), (len(central), 4), (len(local), 4), (0, 2))
    path.write_bytes(local + central + end)
    return path


def equal(first: Any, second: Any) -> bool:
    """Whether two readings have the same arrays."""
    import numpy as np

    def same(name: str) -> bool:
        one, other = getattr(first, name), getattr(second, name)
        return np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other

    return type(first) is type(second) and all(map(same, first.__slots__))
