"""The figures of the report: every registered picture, drawn from the assessment, or from merged bins if many."""

import re

import numpy as np
from html_reader import rows

import trueness as tn
from trueness import old_report as report
from trueness.old_report._figures import MOST_BINS, drawable
from trueness.plots.reliability import reliability_of


class TestDiagrams:
    def test_dots_are_at_the_values_of_their_bins(self, result, page):
        """Pixels of the first diagram back into numbers: the frame is 388 wide from x = 58, y = 12."""
        r = reliability_of(result)
        svg = page[page.index('<svg xmlns="http://www.w3.org/2000/svg" class="chart"') :]
        svg = svg[: svg.index("</svg>")]
        dots = [
            tuple(map(float, at)) for at in re.findall(r'class="dot[^"]*" cx="([\d.]+)" cy="([\d.]+)"', svg)
        ]
        low, high = r.view
        pad = 0.03 * (high - low)
        span = high - low + 2 * pad
        found = [((x - 58) / 388 * span + low - pad, (400 - y) / 388 * span + low - pad) for x, y in dots]
        np.testing.assert_allclose(found, np.stack([r.x, r.y], axis=1), atol=1e-4)
        radii = [
            float(radius)
            for radius in re.findall(r'class="dot[^"]*" cx="[\d.]+" cy="[\d.]+" r="([\d.]+)"', svg)
        ]
        assert np.array_equal(np.argsort(radii), np.argsort(r.bins.rows))

    def test_every_mark_has_its_numbers_in_words(self, result, page):
        titles = re.findall(r'<g class="mark"><title>(.*?)</title>', page, re.DOTALL)
        m = int(np.flatnonzero(result.table.row_count)[0])
        first = titles[0]
        assert f"{result.table.predicted_variation[m]:.4f}" in first
        assert f"{result.table.observed_variation[m]:.4f}" in first
        assert len(titles) > 80

    def test_many_bins_are_merged_for_the_pictures(self):
        answer = tn.assess(*rows(), bins=tn.EqualWidth(400), rng=0)
        assert np.count_nonzero(answer.table.row_count) > MOST_BINS
        shown, note = drawable(answer)
        assert np.count_nonzero(shown.table.row_count) <= MOST_BINS
        assert shown.confidence_table.n_bins <= MOST_BINS
        assert shown.table == answer.table.coarsen(tn.EqualMass(MOST_BINS))
        seen = report.page(answer)
        assert note in seen
        assert len(seen.encode()) < 1_000_000
