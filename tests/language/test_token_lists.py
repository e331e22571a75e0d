"""Lists of tokens as services send them: sentinels, the sampled token in front, names, refusals."""

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness import language
from trueness.language.repeats import repeats_of
from trueness.language.token_lists import TokenList, token_list


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

    def test_a_text_that_is_listed_twice_is_refused(self) -> None:
        with pytest.raises(tn.Refusal, match="is listed 2 times"):
            token_list(self.BYTES).place_of("�")


def read(folder: Path, lists: list[Any], true: list[Any], **how: Any) -> language.Options:
    path = folder / "lists.jsonl"
    rows = [{"top_logprobs": given, "true": token} for given, token in zip(lists, true, strict=True)]
    path.write_text("\n".join(map(json.dumps, rows)))
    return language.read_token_lists(path, **how)


class TestOptions:
    LISTS = (listed(-0.5, -1.5, -3.0), listed(-0.6, -1.4), listed(math.log(0.7), math.log(0.3)))

    def test_all_tokens_that_are_not_listed_are_one_more_option(self, tmp_path: Path) -> None:
        found = read(tmp_path, [*self.LISTS], ["t2", "elsewhere", "t0"])
        assert found.n_options.tolist() == [4, 3, 3]
        assert found.y_true.tolist() == [2, 2, 0]
        expected = [math.exp(-0.6), math.exp(-1.4), 1 - math.exp(-0.6) - math.exp(-1.4), 0.0]
        assert found.y_prob[1].tolist() == pytest.approx(expected, abs=1e-15)
        assert found.y_prob[2].tolist() == pytest.approx([0.7, 0.3, 0.0, 0.0], abs=1e-15)
        assert found.y_prob.sum(axis=1).tolist() == pytest.approx([1.0] * 3, abs=1e-12)
        assert "3 lists of tokens, with all others as one more option: 3: 2, 4: 1" in found.remarks[0]
        assert "hold the true token in 33.3 % of rows" in found.remarks[0]

    def test_a_token_that_is_not_in_a_complete_list_is_impossible(self, tmp_path: Path) -> None:
        found = read(tmp_path, [self.LISTS[2]] * 2, ["t0", "elsewhere"])
        table = tn.tabulate(found.y_true, found.y_prob, n_options=found.n_options)
        assert table.impossible_rows == 1

    def test_bad_rows_are_refused_or_skipped_and_counted(self, tmp_path: Path) -> None:
        lists, true = [*self.LISTS, [], listed(float("nan"))], ["t0"] * 5
        with pytest.raises(tn.Refusal, match="no token is listed") as error:
            read(tmp_path, lists, true)
        assert (error.value.code, error.value.row) == ("empty-list", 4)
        found = read(tmp_path, lists, true, on_bad_rows="skip")
        assert found.y_true.tolist() == [0, 0, 0]
        assert found.left_out == Counter({"no token is listed": 1, "a number is not finite": 1})

    def test_no_usable_row(self, tmp_path: Path) -> None:
        with pytest.raises(tn.Refusal, match="no rows that can be used: 1 no token is listed"):
            read(tmp_path, [[]], ["a"], on_bad_rows="skip")


def test_what_is_read_agrees_with_the_table(tmp_path: Path) -> None:
    """Lists of shuffled order, with a sentinel and the sampled token in front, give the table of the probabilities."""
    rng = np.random.default_rng(0)
    y_prob = rng.dirichlet([0.3] * 30, 100)
    y_true = rng.integers(0, 30, 100)
    lists, names = [], [f"t{c}" for c in range(30)]
    best = np.argsort(-y_prob, axis=1)
    for row, order in zip(y_prob, best, strict=True):
        entries = [{"token": names[c], "logprob": math.log(row[c])} for c in rng.permutation(order[:5])]
        front = {"token": names[order[5]], "logprob": math.log(row[order[5]])}
        lists.append([front, *entries, {"token": "x", "logprob": -9999.0}])
    found = read(tmp_path, lists, [names[y] for y in y_true])
    assert found.remarks[1] == (
        "dropped 100 entries that are no probabilities and 100 sampled tokens in front of the best"
    )
    first = np.take_along_axis(y_prob, best[:, :5], axis=1)
    whole = np.hstack([first, 1 - first.sum(axis=1, keepdims=True)])
    labels = np.minimum(np.argmax(best == y_true[:, None], axis=1), 5)
    np.testing.assert_allclose(found.y_prob, whole, atol=1e-15)
    assert found.y_true.tolist() == labels.tolist()


def test_clusters_are_used_as_soon_as_one_has_two_rows() -> None:
    assert repeats_of(["q1", "q2", "q3"]).clusters is None
    found = repeats_of([f"q{k // 2}" for k in range(48)])
    assert found.remark == "48 rows of 24 questions: questions are resampled, not rows"
    assert found.clusters is not None
    assert len(found.clusters) == 48
