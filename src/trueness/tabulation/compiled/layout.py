"""What a job has in common with all jobs for such rows and tables; made once, since short inputs would wait for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from trueness._row_arithmetic import bits_to_classes
from trueness.old_table import TableSpec
from trueness.old_table.content import DETAILS
from trueness.rows import Form
from trueness.tabulation.compiled.library import MEASURES, N_SCORES, Job, total_sizes
from trueness.tabulation.compiled.search import Search


def job_for(form: Form) -> Job:
    """A job for such rows, without the place of a block and without sums."""
    return Job(
        item=form.item,
        n_classes=form.n_classes,
        slack=form.sum_tolerance_units,
        to_unit=bits_to_classes(form.n_classes),
        least=1.0 / form.n_classes,
    )


@dataclass(frozen=True, slots=True)
class Layout:
    """The constants of a job that sums rows into up to two tables, and the parts of its sums."""

    constants: bytes
    """A job without the places of rows, labels and sums."""
    search: Search
    """The edges, which the job points to."""
    shape: tuple[int, int, int]
    """Tables, bins (of the table that has the most), columns of the sums."""
    parts: tuple[tuple[int, int, tuple[int, ...]], ...]
    """Where each part of `totals` begins and ends, and its shape, in the order of `source/totals.h`."""

    @property
    def n_totals(self) -> int:
        """The words of all of them."""
        return self.parts[-1][1]

    def job(self) -> Job:
        """A new job; this object must be kept as long as the job."""
        return Job.from_buffer_copy(self.constants)


def detail_of(specs: Sequence[TableSpec]) -> str:
    """What the kernel sums of each row: what the only table has, or everything."""
    return specs[0].detail if len(specs) == 1 else DETAILS[0]


def layout_for(form: Form, specs: Sequence[TableSpec]) -> Layout:
    """The layout of sums of such rows, one for each spec."""
    return _layout(form, tuple(specs))


@lru_cache(maxsize=8)
def _layout(form: Form, specs: tuple[TableSpec, ...]) -> Layout:
    job, search = job_for(form), Search(specs, form.eps)
    search.describe(job)
    for which, spec in enumerate(specs):
        job.kinds[which] = MEASURES[str(spec.variation.kernel)]
    job.n_measures, job.split = len(specs), any(spec.ties == "split" for spec in specs[:1])
    detail = detail_of(specs)
    job.detail = DETAILS.index(detail)
    shape = len(specs), search.n_edges + 1, 2 if detail == "first" else form.n_classes
    sizes = total_sizes(*shape, split=bool(job.split), scores=detail == "scores")
    return Layout(bytes(job), search, shape, _parts(shape, sizes))


def _parts(
    shape: tuple[int, int, int], sizes: tuple[int, ...]
) -> tuple[tuple[int, int, tuple[int, ...]], ...]:
    """Beginning, end and shape of each part of `totals`; parts that such tables lack are empty."""
    (k, m, c), pairs = shape, (N_SCORES, 2)
    shapes = [(2, k, m, c + 1), (k, m, c), (k, m, *pairs), (c,), (c, *pairs), (3, 2), (2,), (2, k, m, c)]
    return tuple(
        (end - size, end, of_part if size else (0,))
        for of_part, size, end in zip(shapes, sizes, accumulate(sizes), strict=True)
    )
