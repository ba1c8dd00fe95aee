"""Recutting: pieces become words."""

from __future__ import annotations

import pytest
from tests.data.cutting import TOKENIZERS, cutter, index, word_of
from tests.data.tokenizers import KINDS
from tokenizers import AddedToken

from pssa.data.example import Example
from pssa.data.pieces import PieceCutter
from pssa.errors import InputError


@pytest.mark.parametrize(
    ("kind", "words", "aspect"),
    [
        ("word_piece", "i don ' t w a n t lap top s", (8, 11)),
        ("byte_pair", "i don 't w a n t lap t o p s", (7, 12)),
        ("sentence_piece", "i don't w a n t lap top s", (6, 9)),
    ],
)
def test_recutting_makes_words_of_pieces(kind: str, words: str, aspect: tuple[int, int]) -> None:
    example = Example.from_text("i don't want laptops", (13, 20), label="neutral", id="7", sentence_id="s")
    recut = cutter(kind).recut(example)
    assert " ".join(recut.words) == words
    assert recut.aspect == aspect
    assert recut.aspect_chars == (13, 20)
    assert (recut.id, recut.sentence_id, recut.text, recut.label) == ("7", "s", example.text, "neutral")


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_recut_example_has_the_natural_pieces_one_for_each_word(kind: str) -> None:
    example = Example.from_text("i don't want laptops... is the batterys bad?", (31, 39))
    recut = cutter(kind).recut(example)
    natural = TOKENIZERS[kind](example.text)["input_ids"]
    table = index(cutter(kind), recut).table
    assert table.positions.tolist() == [natural]
    real = [word for word in table.word_of[0].tolist() if word >= 0]
    assert real == sorted(real)
    assert set(real) == set(range(len(recut.words)))


def test_bytes_of_one_character_are_recut_to_one_word() -> None:
    recut = cutter("byte_pair").recut(Example.from_text("日本 bad", (0, 2)))
    assert recut.words == ("日", "本", "bad")
    assert recut.aspect == (0, 2)
    assert [word for word in word_of(cutter("byte_pair"), recut) if word >= 0] == [0, 0, 0, 1, 1, 1, 2]


def test_recutting_keeps_the_ends_of_an_aspect_and_leaves_out_what_no_word_held() -> None:
    spans = ((1, 5), (6, 9), (9, 13))
    example = Example.from_spans("(good)battery", spans, (6, 9), label=None, id="0", sentence_id="0")
    recut = cutter("byte_pair").recut(example)
    assert recut.words == ("good", "bat", "tery")
    assert recut.aspect == (1, 2)


def test_white_space_that_a_piece_takes_with_it_is_no_part_of_a_word() -> None:
    tokenizer = KINDS["sentence_piece"]()
    tokenizer.add_tokens([AddedToken("trackpad", lstrip=True, rstrip=True, normalized=False)])
    recut = PieceCutter(tokenizer, 512).recut(Example.from_text("bad  trackpad  food", (5, 13)))
    assert recut.words == ("bad", "trackpad", "food")
    assert recut.aspect == (1, 2)


def test_recutting_a_dropped_aspect_keeps_it() -> None:
    recut = cutter("word_piece").recut(Example.from_text("good \u200b food", (5, 6)))
    assert recut.words == ("good", "\u200b", "food")
    assert recut.aspect == (1, 2)


def test_recutting_after_hiding_is_refused() -> None:
    with pytest.raises(InputError, match="example 0 has hidden words, which have no pieces; cut it first, then hide"):
        cutter("word_piece").recut(Example.from_text("the laptops is bad", (4, 11)).hide([0]))
