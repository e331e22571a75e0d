"""Options carry the names of the Python arguments."""

import argparse
import inspect
from collections.abc import Callable
from typing import Any

import pytest

import trueness as tn
from trueness import language
from trueness.cli._parser import GLOBAL_OPTIONS, load_command, parse


def options_of(command: str) -> dict[str, argparse.Action]:
    parser = argparse.ArgumentParser()
    load_command(command).add_arguments(parser)
    return {name: action for name, action in parser._option_string_actions.items() if name.startswith("--")}


def test_after_two_dashes_nothing_is_an_option() -> None:
    assert parse(["merge", "-o", "x", "--", "--by"]).files == ["--by"]


ROW_PARAMETERS = {"y_true", "y_prob", "y_probs", "table"}
"""What the files hold."""
OTHER_NAMES = {"rng": "--rng-seed", "n_options": "--ragged"}
"""The command takes a seed, and no generator; files have lists, and no arrays that are filled up."""
PYTHON_ONLY = {
    "assess": {"engine", "min_group_size", "p_resolution", "progress"},
    "compare": {"min_group_size", "progress"},
    "tabulate": {"engine"},
    "monitor": set(),
}
READING = {
    "--format", "--label", "--probs", "--label-file", "--key", "--label-dir", "--classes", "--no-header", "--logprobs",
    "--percent", "--ragged", "--where",
    "--on-bad-rows", "--json", "--report", "--table-out", "--output",
    "--delimiter", "--decimal", "--encoding", "--sheet", "--csv", "--markdown", "--latex", "--plot",
    *GLOBAL_OPTIONS, "--help",
}  # fmt: skip
"""Options for files, which Python functions do not read."""
KINDS_OF_BINS = {"--equal-mass", "--edges", "--grid"}
"""Python passes an object as `bins`."""
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
        "--confidence-bins",
        "--by-class",
        "--no-by-class",
        "--event",
    },
    "monitor": {"--at", "--state", "--cumulative", "--by-class", "--no-by-class"},
}


@pytest.mark.parametrize(
    ("command", "function"),
    [
        ("assess", tn.assess),
        ("compare", tn.compare),
        ("tabulate", tn.tabulate),
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
