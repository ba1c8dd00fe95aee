"""`Vocabulary`: order of ids, look-up, and a file that is read strictly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError

SPECIAL = ("<pad>", "<unk>", "<mask>")


def test_training_words_come_by_frequency_then_alphabet_then_the_extra_ones() -> None:
    vocabulary = Vocabulary.build(["b", "c", "a", "c"], extra=["zebra", "a", "ant", "zebra"])
    assert vocabulary.words == (*SPECIAL, "c", "a", "b", "zebra", "ant")
    assert vocabulary.n_trained == 6
    assert vocabulary.counts == (2, 1, 1)
    assert vocabulary.training_words == ("c", "a", "b")
    assert len(vocabulary) == 8


def test_a_word_is_found_as_it_stands_then_in_lower_case_and_a_special_one_never() -> None:
    vocabulary = Vocabulary.build(["Apple", "apple", "pie"])
    assert vocabulary.encode(["Apple", "apple", "APPLE", "Pie", "tart"]) == [3, 4, 4, 5, 1]
    vocabulary = Vocabulary.build(["<mask>", "good", "<pad>"], extra=["<unk>"])
    assert vocabulary.words == (*SPECIAL, "good")
    assert vocabulary.encode(["<pad>", "<mask>", "<MASK>"]) == [1, 1, 1]


@pytest.mark.slow
@given(st.lists(st.text()), st.lists(st.text()))
def test_every_word_finds_its_own_id(words: list[str], extra: list[str]) -> None:
    vocabulary = Vocabulary.build(words, extra)
    own = range(Vocabulary.n_special, len(vocabulary))
    assert vocabulary.encode(vocabulary.words[3:]) == list(own)
    assert sum(vocabulary.counts) == sum(word not in SPECIAL for word in words)


def test_a_saved_vocabulary_loads_as_the_same(tmp_path: Path) -> None:
    vocabulary = Vocabulary.build(["café", "\u2028", "half a pair \ud800"], extra=["naïve"])
    vocabulary.save(tmp_path / "vocabulary.json")
    assert Vocabulary.load(tmp_path / "vocabulary.json") == vocabulary


GOOD = {"schema": 1, "n_trained": 4, "counts": [2], "words": [*SPECIAL, "a", "b"]}


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        ({"schema": 2}, "schema 1"),
        ({"words": [*SPECIAL, "a", "a"]}, "'a'"),
        ({"words": ["a", *SPECIAL]}, "starts with <pad>"),
        ({"words": [*SPECIAL, "a", 5]}, "words is not a list of str"),
        ({"words": "abc"}, "words is not a list of str"),
        ({"words": [*SPECIAL]}, "n_trained is 4, expected 3 to 3"),
        ({"n_trained": 2}, "n_trained is 2, expected 3 to 5"),
        ({"n_trained": True}, "n_trained.*a whole number"),
        ({"n_trained": None}, "n_trained.*a whole number"),
        ({"counts": [1, 2]}, "2 counts for 1 training words"),
        ({"counts": [1.5]}, "counts is not a list of int"),
    ],
)
def test_a_damaged_vocabulary_is_refused_with_the_reason(tmp_path: Path, damage: dict[str, object], what: str) -> None:
    path = tmp_path / "vocabulary.json"
    path.write_text(json.dumps({**GOOD, **damage}))
    with pytest.raises(InputError, match=what) as caught:
        Vocabulary.load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff\xfe", b"\x00\x01", b"null", b"[" * 100_000])
def test_a_file_that_is_not_a_vocabulary_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "vocabulary.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a vocabulary"):
        Vocabulary.load(path)


def test_a_missing_vocabulary_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.json: .*No such file"):
        Vocabulary.load(tmp_path / "none.json")
