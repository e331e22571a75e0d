"""`Comparer`: batches add up to the result of `compare`; refused arguments."""

from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pytest
from comparison_data import EF, GOOD, MODELS, RESULT, SHARP, Y_TRUE, assert_same

import trueness as tn


class TestBatches:
    @pytest.mark.parametrize("cuts", [(0, 1500), (0, 1, 700, 1500), tuple(range(0, 1501, 150))])
    def test_a_comparer_in_batches_is_compare(self, cuts: tuple[int, ...]) -> None:
        comparer = tn.Comparer(3, models=list(MODELS), rng=2, resamples=199)
        for start, stop in pairwise(cuts):
            batch = {name: p[start:stop] for name, p in MODELS.items()}
            comparer.update(Y_TRUE[start:stop], batch)
        assert comparer.n_rows == 1500
        assert_same(comparer.result(), RESULT)

    def test_bins_of_equal_mass(self) -> None:
        want = tn.compare(Y_TRUE, MODELS, bins=EF, rng=2, resamples=99)
        edges = {name: (EF.fit(p), EF.fit(p, variation="confidence")) for name, p in MODELS.items()}
        comparer = tn.Comparer(3, models=list(MODELS), bins=edges, rng=2, resamples=99)
        for part in (slice(0, 600), slice(600, None)):
            comparer.update(Y_TRUE[part], {name: p[part] for name, p in MODELS.items()})
        assert_same(comparer.result(), want)

    def test_groups_and_clusters_in_batches(self) -> None:
        site, patient = np.arange(1500) % 2, np.arange(1500) // 10
        want = tn.compare(Y_TRUE, MODELS, groups=site, clusters=patient, rng=2, resamples=99)
        comparer = tn.Comparer(3, models=list(MODELS), rng=2, resamples=99)
        for part in (slice(0, 601), slice(601, None)):
            comparer.update(
                Y_TRUE[part],
                {name: p[part] for name, p in MODELS.items()},
                groups=site[part],
                clusters=patient[part],
            )
        got = comparer.result()
        assert_same(got, want)
        assert [group.n_rows for group in got.groups] == [750, 750]
        assert got.assessments["good"].n_clusters == want.assessments["good"].n_clusters == 150

    def test_order_of_the_mapping_does_not_matter_to_an_update(self) -> None:
        comparer = tn.Comparer(3, models=list(MODELS), rng=2, resamples=199)
        comparer.update(Y_TRUE, dict(reversed(MODELS.items())))
        assert_same(comparer.result(), RESULT)

    def test_a_refused_batch_leaves_nothing_behind(self) -> None:
        comparer = tn.Comparer(3, models=["good", "sharp"], rng=2, resamples=199)
        pair = {"good": GOOD, "sharp": SHARP}
        comparer.update(Y_TRUE, pair, groups=np.zeros(1500))
        before = comparer.result().to_dict()
        spoiled = SHARP.copy()
        spoiled[9] = 2
        with pytest.raises(ValueError, match="row 9"):
            comparer.update(Y_TRUE, {"good": GOOD, "sharp": spoiled})
        with pytest.raises(ValueError, match="clusters must be given with every batch"):
            comparer.update(Y_TRUE, pair, groups=np.ones(1500), clusters=np.arange(1500))
        assert comparer.n_rows == 1500
        assert comparer.result().to_dict() == before


class TestRefusals:
    def test_models(self) -> None:
        for wrong in ({"a": GOOD}, [GOOD, SHARP], {}, None):
            with pytest.raises(TypeError, match=r"y_probs must be a mapping of two or more models"):
                tn.compare(Y_TRUE, wrong)
        for models in ("ab", ["a"], ["a", "a"]):
            with pytest.raises(ValueError, match=r"models must be two or more different names"):
                tn.Comparer(3, models=models)

    def test_updates(self) -> None:
        comparer = tn.Comparer(3, models=["a", "b"])
        with pytest.raises(ValueError, match=r"no rows were added"):
            comparer.result()
        with pytest.raises(
            ValueError, match=r"y_probs must hold the predictions of \['a', 'b'\], got \['a', 'c'\]"
        ):
            comparer.update(Y_TRUE, {"a": GOOD, "c": SHARP})
        with pytest.raises(ValueError, match=r"got ndarray"):
            comparer.update(Y_TRUE, GOOD)
        with pytest.raises(ValueError, match=r"'b' have 2 classes, not 3"):
            comparer.update(
                Y_TRUE % 2, {"a": GOOD, "b": SHARP[:, :2] / SHARP[:, :2].sum(axis=1, keepdims=True)}
            )
        with pytest.raises(ValueError, match=r"takes no sample_weight"):
            comparer.update(Y_TRUE, {"a": GOOD, "b": SHARP}, sample_weight=np.ones(1500))
        with pytest.raises(ValueError, match=r"needs sample_weight"):
            tn.Comparer(3, models=["a", "b"], weighted=True).update(Y_TRUE, {"a": GOOD, "b": SHARP})

    def test_bins_of_equal_mass_in_a_stream(self) -> None:
        with pytest.raises(ValueError, match=r"EqualMass bins depend on all rows"):
            tn.Comparer(3, models=["a", "b"], bins=EF)

    def test_codes(self) -> None:
        comparer = tn.Comparer(3, models=["a", "b"])
        for call, code in (
            (lambda: tn.compare(Y_TRUE, {"a": GOOD}), "wrong-type"),
            (lambda: tn.Comparer(3, models="ab"), "bad-argument"),
            (lambda: tn.Comparer(3, models=["a", "b"], bins=EF), "bad-argument"),
            (comparer.result, "no-rows"),
            (lambda: comparer.update(Y_TRUE, {"a": GOOD, "{c}": SHARP}), "wrong-models"),
            (lambda: comparer.update([0, 1], {"a": [[0.5, 0.5]] * 2, "b": [[0.5, 0.5]] * 2}), "wrong-shape"),
        ):
            with pytest.raises(tn.Refusal) as caught:
                call()
            assert caught.value.code == code

    def test_models_of_different_length(self) -> None:
        with pytest.raises(ValueError, match=r"1499|1500"):
            tn.compare(Y_TRUE, {"a": GOOD, "b": SHARP[:-1]})


class TestParts:
    """Comparers of parts of the rows add up to that of all rows, to the bit."""

    N_ROWS = 2500  # more than are kept apart
    CUTS = (0, 40, 40, 1100, 2500)

    def rows(self) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        y_true, y_prob = tn.simulate.calibrated(self.N_ROWS, [1.0] * 3, rng=4)
        return y_true, {"plain": y_prob, "sharp": tn.simulate.sharpen(y_prob, 1.2)}

    @pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2), (2, 3, 1, 0)])
    @pytest.mark.parametrize("with_names", [False, True])
    def test_any_order_of_parts_is_compare(self, order: tuple[int, ...], with_names: bool) -> None:
        y_true, models = self.rows()
        site, patient = np.arange(self.N_ROWS) % 2, np.arange(self.N_ROWS) % 150
        names = {"groups": site, **({"clusters": patient} if with_names else {})}
        want = tn.compare(y_true, models, rng=2, resamples=99, **names)
        empty, parts = tn.Comparer(3, models=list(models), rng=2, resamples=99), []
        for start, stop in pairwise(self.CUTS):
            part = empty.starting_at(start)
            if stop > start:
                some = {name: y_prob[start:stop] for name, y_prob in models.items()}
                part.update(y_true[start:stop], some, **{key: it[start:stop] for key, it in names.items()})
            parts.append(part)
        first, *rest = (parts[k] for k in order)
        total = reduce(add, rest, first)
        assert total.n_rows == self.N_ROWS
        assert total.result().to_dict() == want.to_dict()
        assert (empty + total).result().to_dict() == want.to_dict()

    def test_rows_after_a_sum_follow_it(self) -> None:
        y_true, models = self.rows()
        first = tn.Comparer(3, models=list(models), rng=2, resamples=99)
        second = first.starting_at(700)
        for comparer, part in ((first, slice(0, 700)), (second, slice(700, 1300))):
            comparer.update(y_true[part], {name: p[part] for name, p in models.items()})
        both = first + second
        both.update(y_true[1300:], {name: p[1300:] for name, p in models.items()})
        want = tn.compare(y_true, models, rng=2, resamples=99)
        assert both.result().to_dict() == want.to_dict()
        assert first.n_rows == 700

    def test_images(self) -> None:
        """Images are clusters by default, named by their numbers among all images."""
        y_true, models = self.rows()
        labels = y_true.reshape(25, 10, 10)
        images = {name: y_prob.reshape(25, 10, 10, 3) for name, y_prob in models.items()}
        want = tn.compare(labels, images, class_axis=3, rng=2, resamples=99)
        whole = tn.Comparer(3, models=list(models), class_axis=3, rng=2, resamples=99)
        first, second = whole.starting_at(0), whole.starting_at(1100, first_image=11)
        for comparer, part in ((first, slice(11)), (second, slice(11, None))):
            comparer.update(labels[part], {name: y_prob[part] for name, y_prob in images.items()})
        assert (second + first).result().to_dict() == want.to_dict()

    def test_positions_decide_the_replicates(self) -> None:
        y_true, models = self.rows()
        whole = tn.Comparer(3, models=list(models), rng=2, resamples=99)
        moved = whole.starting_at(10_000)
        for comparer in (whole, moved):
            comparer.update(y_true, models)
        one, other = whole.result(), moved.result()
        assert one.assessments == other.assessments
        assert one.pairs[0].net.interval != other.pairs[0].net.interval

    def test_other_settings_are_refused(self) -> None:
        one = tn.Comparer(3, models=["a", "b"])
        with pytest.raises(ValueError, match="different settings"):
            one + tn.Comparer(3, models=["a", "b"], bins=5)
        with pytest.raises(ValueError, match="first_row"):
            one.starting_at(-1)
        with pytest.raises(TypeError):
            one + 3  # type: ignore[operator]
