"""Options carry the names of the Python arguments, and those of earlier versions still work."""

import argparse
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from logs import LABELS, OPENAI, samples

import trueness as tn
from trueness import language
from trueness.cli import COMMANDS, main
from trueness.cli._options import OLD_SPELLINGS, with_current_spellings
from trueness.cli._parser import GLOBAL_OPTIONS, load_command, make_parser, parse

COMMAND_LINES = {
    "--by": "assess {rows} {option} site --resamples 99 --json -",
    "--weight": "assess {rows} {option} w --resamples 99 --json -",
    "--logits": "tabulate {logits} {option} -o -",
    "--seed": "assess {rows} {option} 7 --resamples 99 --json -",
    "--threads": "tabulate {rows} {option} 2 -o -",
    "--numbers": "bins {rows} {option} 5,20 --resamples 99 --json -",
    "--rows": "simulate {option} 50 --alpha 1,1 -o {out} --sharpen 1.1",
    "--classes": "reproduce --out {out} {option} 3",
    "--surely": "assess {rows} --fail-above 0.9 {option} --resamples 99 --json -",
    "--beyond": "reproduce --out {out} {option}",
    "--twins": "reproduce --out {out} {option}",
    "--cluster": "assess {rows} {option} patient --resamples 99 --json -",
    "--labels": "assess {batch} {option} {labels} --label answer --on-bad-rows skip --resamples 99 --json -",
    "--normalize-by": "assess {samples} {option} char --resamples 99 --json -",
}


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, str]:
    y_true, y_prob = tn.simulate.calibrated(500, [5, 1, 1], rng=0)
    row = np.arange(500)
    names = {"rows": str(tmp_path / "rows.npz"), "logits": str(tmp_path / "logits.npz")}
    np.savez(names["rows"], y_true=y_true, y_prob=y_prob, site=row % 2, w=1.0 + row % 3, patient=row // 2)
    np.savez(names["logits"], y_true=y_true, y_prob=np.log(y_prob))
    logs = {"batch": str(OPENAI), "labels": str(LABELS), "samples": str(samples("ex_arc"))}
    return names | logs | {"out": str(tmp_path / "out.npz")}


@pytest.mark.parametrize(
    "old", [pytest.param(old, marks=pytest.mark.cli if old == "--labels" else ()) for old in OLD_SPELLINGS]
)
def test_old_and_new_spelling_give_the_same_result(old: str, paths: dict[str, str], capsys: Any) -> None:
    results = []
    for option in (old, OLD_SPELLINGS[old]):
        line = COMMAND_LINES[old].format(option=option, **paths).split()
        if line[0] == "reproduce":  # takes long: the parsed arguments are the same
            results.append(parse(line))
        else:
            assert main(line) == 0
            written = Path(paths["out"])
            results.append((capsys.readouterr().out, written.read_bytes() if written.exists() else None))
    assert results[0] == results[1]


def options_of(command: str) -> dict[str, argparse.Action]:
    parser = argparse.ArgumentParser()
    load_command(command).add_arguments(parser)
    return {name: action for name, action in parser._option_string_actions.items() if name.startswith("--")}


@pytest.mark.parametrize("command", COMMANDS)
def test_old_spellings_are_accepted_and_hidden(command: str) -> None:
    options, text = options_of(command), help_of(command)
    for old, new in OLD_SPELLINGS.items():
        if new in options and old not in options:
            assert with_current_spellings([old, f"{old}=1"], options) == [new, f"{new}=1"]
            assert re.search(rf"(?<![\w-]){new}(?![\w-])", text)
            assert not re.search(rf"(?<![\w-]){old}(?![\w-])", text), old
        else:
            assert with_current_spellings([old], options) == [old]


def help_of(command: str) -> str:
    (commands,) = [
        action for action in make_parser([command])._actions if isinstance(action, argparse._SubParsersAction)
    ]
    text: str = commands.choices[command].format_help()
    return text


def test_after_two_dashes_nothing_is_an_option() -> None:
    assert parse(["merge", "-o", "x", "--", "--by"]).files == ["--by"]


ROW_PARAMETERS = {"y_true", "y_prob", "y_probs", "table"}
"""What the files hold."""
OTHER_NAMES = {"rng": "--rng-seed", "n_options": "--ragged"}
"""The command takes a seed, and no generator; files have lists, and no arrays that are filled up."""
PYTHON_ONLY = {
    "assess": {"min_group_size", "p_resolution", "progress"},
    "compare": {"min_group_size", "progress"},
    "tabulate": set(),
    "bins": set(),
    "monitor": set(),
}
READING = {
    "--format", "--label", "--probs", "--label-file", "--key", "--label-dir", "--classes", "--no-header", "--logprobs",
    "--percent", "--ragged", "--where",
    "--on-bad-rows", "--checkpoint", "--checkpoint-every", "--json", "--report", "--table-out", "--output",
    "--delimiter", "--decimal", "--encoding", "--sheet", "--csv", "--markdown", "--latex", "--plot",
    *GLOBAL_OPTIONS, "--help",
}  # fmt: skip
"""Options for files, which Python functions do not read."""
KINDS_OF_BINS = {"--equal-mass", "--edges", "--grid"}
"""Python passes an object as `bins`."""
SUMMING = {
    "--variation",
    "--ties",
    "--engine",
    "--n-threads",
    "--sample-weight",
    "--from-logits",
    "--normalize",
}
"""Options of `tabulate`, for commands that tabulate first."""
LOGS = {
    f"--{name.replace('_', '-')}"
    for reader in (language.read_lm_eval, language.read_inspect, language.read_openai, language.read_helm)
    for name in inspect.signature(reader).parameters
} | {"--letters", "--tokens", "--stated-confidence", "--correct", "--votes"}
"""Options for evaluation logs: those of the readers, and of files that are no logs."""
COMMAND_ONLY = {
    "assess": LOGS
    | {
        "--compare-groups",
        "--convention",
        "--fail-above",
        "--lower-end",
        "--fail-below-p",
        "--event",
        "--no-by-class",
    },
    "compare": {"--names", "--no-by-class"},
    "tabulate": LOGS
    | {
        "--at",
        "--by",
        "--groups",
        "--clusters",
        "--dask",
        "--confidence-bins",
        "--by-class",
        "--no-by-class",
        "--event",
    },
    "monitor": {"--at", "--state", "--cumulative", "--by-class", "--no-by-class"},
    "bins": SUMMING | {"--by-class", "--event", "--clusters", "--class-axis", "--ignore-index"},
}


@pytest.mark.parametrize(
    ("command", "function"),
    [
        ("assess", tn.assess),
        ("compare", tn.compare),
        ("tabulate", tn.tabulate),
        ("bins", tn.sweep_bins),
        ("monitor", tn.Monitor),
    ],
)
def test_options_have_the_names_of_the_parameters(command: str, function: Callable[..., Any]) -> None:
    """A parameter or an option of one side only must be listed above."""
    parameters = set(inspect.signature(function).parameters) - ROW_PARAMETERS
    expected = {OTHER_NAMES.get(name, f"--{name.replace('_', '-')}") for name in parameters}
    options = set(options_of(command))
    assert expected - options == {f"--{name.replace('_', '-')}" for name in PYTHON_ONLY[command]}
    assert options - expected <= READING | KINDS_OF_BINS | COMMAND_ONLY[command]
    for name in options & expected:
        assert options_of(command)[name].dest == name[2:].replace("-", "_")
