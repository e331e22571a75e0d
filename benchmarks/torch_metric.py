"""The torch metrics against those of torchmetrics: an epoch of updates and one compute, and the size of their states.

Run it with ``make bench``; results are printed and written to ``benchmarks/results/torch_metric.md``.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from measuring import Work, figure, machine, markdown, take_turns, thousands
from required import TITLE, Target, required_markdown
from torchmetrics.classification import MulticlassCalibrationError

from trueness.adapters.torch import (
    ClasswiseCalibrationError,
    ExpectedCalibrationError,
    VariationCalibrationError,
)

RESULTS = Path(__file__).parent / "results" / "torch_metric.md"

CASES = [(10, 128), (10, 1024), (10, 8192), (100, 128), (100, 1024), (100, 8192), (1000, 256), (1000, 1024)]
"""Classes and rows in a batch."""

EPOCH_ROWS = 50_000
"""The size of the validation set of ImageNet."""

NEEDED, AIM = 1.0, 1.2
"""How many times as fast as torchmetrics, in every case."""

TIMED = ("ECE", "VCE")
"""The metrics that are held against torchmetrics; they sum whole tables."""

Batches = list[tuple[torch.Tensor, torch.Tensor]]


def batches_of(n_classes: int, batch: int, n_batches: int) -> Batches:
    """Softmax probabilities in float32, and labels."""
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(batch * n_batches, n_classes, generator=generator).mul(2).softmax(1)
    labels = torch.randint(0, n_classes, (len(rows),), generator=generator)
    return list(zip(rows.split(batch), labels.split(batch), strict=True))


def epoch(make: Callable[[], Any], batches: Batches) -> Work:
    """Update a metric with all batches, then compute it."""

    def work() -> Any:
        metric = make()
        for rows, labels in batches:
            metric.update(rows, labels)
        return metric.compute()

    return work


def contenders(n_classes: int) -> dict[str, Callable[[], Any]]:
    """The metrics: torchmetrics validates labels and shapes optionally, trueness always validates every value."""
    return {
        "torchmetrics": lambda: MulticlassCalibrationError(n_classes, n_bins=10),
        "torchmetrics, unchecked": lambda: MulticlassCalibrationError(
            n_classes, n_bins=10, validate_args=False
        ),
        "ECE": lambda: ExpectedCalibrationError(n_classes),
        "VCE": lambda: VariationCalibrationError(n_classes),
        "VCE and classes": lambda: VariationCalibrationError(n_classes, by_class=True),
        "classwise ECE": lambda: ClasswiseCalibrationError(n_classes),
    }


def time_lines(quick: bool, seconds: float) -> tuple[list[list[str]], dict[str, float]]:
    """For each case, the time per update, including construction and compute, and the ratio to torchmetrics.

    Also the smallest ratio of each metric.
    """
    lines, all_ratios = [], []
    for n_classes, batch in CASES:
        n_batches = 4 if quick else math.ceil(EPOCH_ROWS / batch)
        batches = batches_of(n_classes, batch, n_batches)
        times = take_turns(
            {name: epoch(make, batches) for name, make in contenders(n_classes).items()},
            seconds,
            at_most=40,
        )
        each = {name: time.best / n_batches for name, time in times.items()}
        theirs = min(each["torchmetrics"], each["torchmetrics, unchecked"])
        ratios = {name: theirs / each[name] for name in TIMED}
        all_ratios.append(ratios)
        lines.append(
            [
                str(n_classes),
                thousands(batch),
                thousands(n_batches),
                *(figure(1e6 * seconds) for seconds in each.values()),
                *map(figure, ratios.values()),
                "yes" if min(ratios[name] for name in TIMED) >= NEEDED else "**no**",
            ]
        )
    return lines, {name: min(ratios[name] for ratios in all_ratios) for name in all_ratios[0]}


def state_bytes(metric: Any) -> int:
    """The size of the states of a metric in bytes."""
    states = metric.metric_state.values()
    tensors = [part for state in states for part in (state if isinstance(state, list) else [state])]
    return sum(part.numel() * part.element_size() for part in tensors)


def memory_lines() -> list[list[str]]:
    """The size of the states after a number of batches of 1024 rows."""
    metrics = {name: make() for name, make in contenders(10).items() if name in ("torchmetrics", "VCE")}
    lines = []
    for n_batches in (1, 10, 100):
        for metric in metrics.values():
            metric.reset()
            for rows, labels in batches_of(10, 1024, n_batches):
                metric.update(rows, labels)
        lines.append([thousands(n_batches), *(thousands(state_bytes(metric)) for metric in metrics.values())])
    return lines


def main() -> None:
    """Measure, print, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a short run, only to check that the script works"
    )
    quick = parser.parse_args().quick
    heads = ["classes", "batch", "batches", *(f"{name}, µs" for name in contenders(2))]
    heads += [*(f"torchmetrics / {name}" for name in TIMED), f"≥ {NEEDED:g} ×"]
    parts, targets = [], []
    for n_threads in sorted({1, torch.get_num_threads()}):
        torch.set_num_threads(n_threads)
        title = f"### An update, with its share of the whole epoch; threads of torch: {n_threads}"
        lines, smallest = time_lines(quick, 0.1 if quick else 8.0)
        parts += [title, markdown(heads, lines)]
        threads = f"threads of torch: {n_threads}, the worst case"
        work = f"an epoch against torchmetrics, {threads}"
        targets.append(Target(f"torch metrics, {work}", min(smallest[name] for name in TIMED), NEEDED, AIM))
    memory = markdown(["batches", "torchmetrics, bytes", "VCE, bytes"], memory_lines())
    required = [f"### {TITLE}", required_markdown(targets)]
    text = "\n\n".join([machine(), *required, *parts, "### Size of the states", memory]) + "\n"
    print(text)
    if not quick:
        RESULTS.write_text(text)


if __name__ == "__main__":
    main()
