"""Lists of tokens as services send them: sentinels, the sampled token in front, names, lengths, refusals."""

import json
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.language.repeats import repeats_of
from trueness.language.token_lists import TokenList, token_list, top_lists


def listed(*numbers: float) -> list[dict[str, Any]]:
    return [{"token": f"t{k}", "logprob": number} for k, number in enumerate(numbers)]


def logs(found: TokenList) -> list[float]:
    return [round(math.log(p), 9) for p in found.prob]


class TestVectors:
    def test_sentinels_are_dropped_and_counted(self) -> None:
        found = token_list(listed(-0.1, -2.5, -9999))
        assert logs(found) == [-0.1, -2.5]
        assert found.n_sentinels == 1
        assert len(token_list(listed(-0.1, -2.5, -100.0, -math.inf)).prob) == 2

    def test_the_sampled_token_in_front_is_dropped(self) -> None:
        found = token_list(listed(-4.0, -0.2, -2.0))
        assert logs(found) == [-0.2, -2.0]
        assert found.sampled_first

    def test_sums_above_1_are_refused(self) -> None:
        with pytest.raises(tn.Refusal, match=r"probability of 1\.02"):
            token_list(listed(math.log(0.6), math.log(0.42)))

    def test_lists_that_cannot_be_the_largest(self) -> None:
        with pytest.raises(
            tn.Refusal, match=r"the list in row 0 has 2 tokens down to 0\.05 and lacks 0\.85"
        ) as error:
            top_lists([listed(math.log(0.1), math.log(0.05))], ["t0"], n_classes=10)
        assert error.value.code == "impossible-list"


def test_pairs_mappings_and_objects_are_read_alike() -> None:
    pairs = [("a", -0.5), ("b", -1.5)]
    assert token_list(pairs) == token_list(dict(pairs))
    assert token_list(pairs) == token_list([{"token": token, "logprob": x} for token, x in pairs])


def test_equal_entries_keep_their_order() -> None:
    found = token_list([("a", -3.0), ("b", -1.0), ("c", -3.0), ("d", -1.0)])
    assert [token.text for token in found.tokens] == ["b", "d", "a", "c"]


class TestNames:
    BYTES = (
        {"token": "�", "logprob": -0.5, "bytes": [200]},
        {"token": "�", "logprob": -1.5, "bytes": [201]},
    )

    def test_by_bytes(self) -> None:
        found = token_list(self.BYTES)
        assert found.place_of({"token": "�", "bytes": [201]}) == 1
        assert found.place_of({"token": "�", "bytes": [7]}) is None

    def test_a_text_that_is_listed_twice_is_a_bad_row(self) -> None:
        with pytest.raises(tn.Refusal, match="is listed 2 times") as error:
            top_lists([self.BYTES, self.BYTES], [{"token": "�", "bytes": [200]}, "�"])
        assert error.value.row == 1

    def test_a_true_token_that_is_not_listed_is_beyond(self) -> None:
        assert top_lists([listed(-0.5, -2.0)], ["other"]).rank.tolist() == [2]


class TestLengths:
    LISTS = (listed(-0.5, -1.5, -3.0), listed(-0.6, -1.4), listed(math.log(0.7), math.log(0.3)))

    def test_the_shortest_that_lacks_mass_decides(self) -> None:
        found = top_lists(self.LISTS, ["t2", "t1", "t0"])
        assert found.prob.shape == (3, 2)
        assert found.rank.tolist() == [2, 1, 0]
        assert found.missing[2] == pytest.approx(0.0, abs=1e-12)

    def test_complete_lists_end_in_zeros(self) -> None:
        found = top_lists([self.LISTS[0], self.LISTS[2]], ["t2", "t1"])
        assert found.prob.shape == (2, 3)
        assert found.prob[1, 2] == 0.0
        table = tn.tabulate_top(found.rank, found.prob, n_classes=100)
        assert table.impossible_rows == 0

    def test_short_lists_that_lack_mass_are_bad_rows(self) -> None:
        words = r"the list in row 1 has 2 tokens and lacks 0\.2\d* of its mass; top_k 3 needs 3; take top_k 2"
        with pytest.raises(tn.Refusal, match=words) as error:
            top_lists(self.LISTS, ["t0"] * 3, top_k=3)
        assert error.value.code == "short-list"

    def test_bad_rows_are_skipped_and_counted(self) -> None:
        found = top_lists([*self.LISTS, [], listed(float("nan"))], ["t0"] * 5, top_k=3, skip=True)
        assert found.rows.tolist() == [0, 2]
        assert found.left_out == Counter({"short-list": 1, "empty-list": 1, "not-finite": 1})

    def test_no_usable_row(self) -> None:
        with pytest.raises(tn.Refusal, match="no row has a usable list"):
            top_lists([[]], ["a"], skip=True)


def test_what_is_read_agrees_with_the_table(tmp_path: Any) -> None:
    """Lists of shuffled order, with a sentinel and the sampled token in front, give the table of the probabilities."""
    rng = np.random.default_rng(0)
    y_prob = rng.dirichlet([0.3] * 30, 100)
    y_true = rng.integers(0, 30, 100)
    lists, names = [], [f"t{c}" for c in range(30)]
    for row in y_prob:
        best = np.argsort(-row)[:6]
        entries = [{"token": names[c], "logprob": math.log(row[c])} for c in rng.permutation(best[:5])]
        front = {"token": names[best[5]], "logprob": math.log(row[best[5]])}
        lists.append([front, *entries, {"token": "x", "logprob": -9999.0}])
    path = tmp_path / "lists.jsonl"
    path.write_text("\n".join(map(json.dumps, lists)))
    found = top_lists(
        [json.loads(line) for line in path.read_text().splitlines()], [names[y] for y in y_true], n_classes=30
    )
    assert found.n_sampled_first == found.n_sentinels == 100
    table = tn.tabulate_top(found.rank, found.prob, n_classes=30)
    assert table.isclose(tn.tabulate(y_true, y_prob, top_k=5, ties="split"), rtol=1e-9)


def test_clusters_are_used_as_soon_as_one_has_two_rows() -> None:
    assert repeats_of(["q1", "q2", "q3"]).clusters is None
    found = repeats_of([f"q{k // 2}" for k in range(48)])
    assert found.remark == "48 rows of 24 questions: questions are resampled, not rows"
    assert found.clusters is not None
    assert len(found.clusters) == 48
