"""The torch metrics beside torchmetrics' own: an epoch of updates and one compute, in one run, and what they keep.

Run it with ``make bench``; what was seen is printed and left in ``benchmarks/results/torch_metric.md``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from measuring import Work, figure, machine, markdown, thousands
from torchmetrics.classification import MulticlassCalibrationError

from trueness.adapters.torch import ExpectedCalibrationError, VariationCalibrationError

RESULTS = Path(__file__).parent / "results" / "torch_metric.md"

CASES = [(10, 128), (10, 1024), (10, 8192), (100, 128), (100, 1024), (100, 8192), (1000, 256)]
"""Classes and rows in a batch."""

Batches = list[tuple[torch.Tensor, torch.Tensor]]


def batches_of(n_classes: int, batch: int, n_batches: int) -> Batches:
    """Probabilities in float32, as a softmax gives them, and labels."""
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(batch * n_batches, n_classes, generator=generator).mul(2).softmax(1)
    labels = torch.randint(0, n_classes, (len(rows),), generator=generator)
    return list(zip(rows.split(batch), labels.split(batch), strict=True))


def epoch(make: Callable[[], Any], batches: Batches) -> Work:
    """A metric that sees all batches and then says its number."""

    def work() -> Any:
        metric = make()
        for rows, labels in batches:
            metric.update(rows, labels)
        return metric.compute()

    return work


def processor_seconds(contenders: dict[str, Work], rounds: int) -> dict[str, float]:
    """The least processor time of each, in turns: on one thread it suffers little from what else the machine does."""
    best = dict.fromkeys(contenders, float("inf"))
    for turn in range(rounds + 1):
        for name, work in contenders.items():
            begin = time.process_time()
            work()
            if turn:  # the first round compiles and fills caches
                best[name] = min(best[name], time.process_time() - begin)
    return best


def contenders(n_classes: int) -> dict[str, Callable[[], Any]]:
    """Theirs checks labels and shapes unless told not to; ours checks every value always."""
    return {
        "torchmetrics": lambda: MulticlassCalibrationError(n_classes, n_bins=10),
        "torchmetrics, unchecked": lambda: MulticlassCalibrationError(
            n_classes, n_bins=10, validate_args=False
        ),
        "ECE": lambda: ExpectedCalibrationError(n_classes),
        "VCE": lambda: VariationCalibrationError(n_classes),
    }


def time_lines(quick: bool, rounds: int) -> list[list[str]]:
    """For each case the processor time of an update, compute included, and theirs over ours."""
    lines = []
    for n_classes, batch in CASES:
        n_batches = 4 if quick else max(8, 2**20 // (batch * n_classes))
        batches = batches_of(n_classes, batch, n_batches)
        made = contenders(n_classes)
        times = processor_seconds({name: epoch(make, batches) for name, make in made.items()}, rounds)
        theirs = min(times["torchmetrics"], times["torchmetrics, unchecked"])
        each = [figure(1e6 * seconds / n_batches) for seconds in times.values()]
        ratio = theirs / times["ECE"]
        lines.append(
            [
                str(n_classes),
                thousands(batch),
                thousands(n_batches),
                *each,
                figure(ratio),
                "yes" if ratio >= 1 else "**no**",
            ]
        )
    return lines


def kept(metric: Any) -> int:
    """Bytes in the states of a metric."""
    states = metric.metric_state.values()
    tensors = [part for state in states for part in (state if isinstance(state, list) else [state])]
    return sum(part.numel() * part.element_size() for part in tensors)


def memory_lines() -> list[list[str]]:
    """What a metric holds after so many batches of 1024 rows."""
    metrics = {name: make() for name, make in contenders(10).items() if name in ("torchmetrics", "VCE")}
    lines = []
    for n_batches in (1, 10, 100):
        for metric in metrics.values():
            metric.reset()
            for rows, labels in batches_of(10, 1024, n_batches):
                metric.update(rows, labels)
        lines.append([thousands(n_batches), *(thousands(kept(metric)) for metric in metrics.values())])
    return lines


def main() -> None:
    """All of it, after naming the machine."""
    torch.set_num_threads(1)  # as in the workers of most training runs
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short run whose figures mean nothing")
    quick = parser.parse_args().quick
    names = [f"{name}, µs" for name in contenders(2)]
    times = markdown(
        ["classes", "batch", "batches", *names, "torchmetrics / ECE", "not slower"],
        time_lines(quick, 1 if quick else 15),
    )
    memory = markdown(["batches", "torchmetrics, bytes", "VCE, bytes"], memory_lines())
    text = (
        f"{machine()} One thread.\n\n### Processor time of an update, with its share of one compute\n\n"
        f"{times}\n\n### What is kept\n\n{memory}\n"
    )
    print(text)
    if not quick:
        RESULTS.write_text(text)


if __name__ == "__main__":
    main()
