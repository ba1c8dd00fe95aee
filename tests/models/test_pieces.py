"""From words to the pieces of an encoder and back, in windows where a sentence is too long."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.models.tokenizers import KINDS
from tokenizers import AddedToken

from pssa.data import read
from pssa.data.example import DEFAULT_LABELS, Example
from pssa.data.features import PADDING, SECOND, SPECIAL
from pssa.data.tokenize import tokenize
from pssa.errors import InputError
from pssa.models import IndexedCorpus
from pssa.models._pieces import PieceCutter

TOKENIZERS = {kind: make() for kind, make in KINDS.items()}


def cutter(kind: str, max_positions: int = 512, pair: bool = False) -> PieceCutter:
    return PieceCutter(TOKENIZERS[kind], max_positions, pair)


def index(cutter: PieceCutter, *examples: Example) -> IndexedCorpus:
    return IndexedCorpus.of(cutter.features(examples, DEFAULT_LABELS))


def tokens(cutter: PieceCutter, example: Example) -> str:
    """What is read of the example, special tokens and second segment included."""
    return " ".join(cutter.tokenizer.convert_ids_to_tokens(index(cutter, example).table.positions[0].tolist()))


def word_of(cutter: PieceCutter, example: Example) -> list[int]:
    return list(index(cutter, example).table.word_of[0].tolist())


LAPTOPS = Example.from_text("the laptops is bad", (4, 11), label="negative")
SHORT = Example.from_text("good food", (5, 9), label="positive")
STRANGE = "ab'.[SEP]<mask> \n\u00a0\u200b\u0301\ufe0f\x07é日😀ﬁ½"


@pytest.fixture(params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize(
    ("kind", "expected", "word"),
    [
        ("word_piece", "[CLS] the lap ##top ##s is bad [SEP]", [0, 1, 1, 1, 2, 3]),
        ("byte_pair", "<s> the Ġlap t o p s Ġis Ġbad </s>", [0, 1, 1, 1, 1, 1, 2, 3]),
        ("sentence_piece", "[CLS] ▁the ▁lap top s ▁is ▁bad [SEP]", [0, 1, 1, 1, 2, 3]),
    ],
)
def test_a_sentence_becomes_the_pieces_written_here(kind: str, expected: str, word: list[int]) -> None:
    corpus = index(cutter(kind), LAPTOPS)
    assert tokens(cutter(kind), LAPTOPS) == expected
    assert corpus.table.word_of.tolist() == [[SPECIAL, *word, SPECIAL]]
    assert corpus.table.aspect.tolist() == corpus.table.positions[corpus.table.aspect_positions][None].tolist()
    assert corpus.table.aspect_span.tolist() == [[1, 2]]
    assert corpus.table.candidates.int().tolist() == [[1, 0, 1, 1]]
    assert corpus.table.labels.tolist() == [1]
    assert corpus.table.index.tolist() == [0]
    assert corpus.widths.tolist() == [[len(word) + 2, word.count(1), 4]]
    assert corpus.mask_id == TOKENIZERS[kind].mask_token_id


@pytest.mark.parametrize(
    ("kind", "expected", "second"),
    [
        ("word_piece", "[CLS] the lap ##top ##s is bad [SEP] lap ##top ##s [SEP]", 4),
        ("byte_pair", "<s> the Ġlap t o p s Ġis Ġbad </s> </s> Ġlap t o p s </s>", 6),
        ("sentence_piece", "[CLS] ▁the ▁lap top s ▁is ▁bad [SEP] ▁lap top s [SEP]", 4),
    ],
)
def test_a_pair_has_the_aspect_again_in_a_second_segment(kind: str, expected: str, second: int) -> None:
    pair = cutter(kind, pair=True)
    alone = word_of(cutter(kind), LAPTOPS)
    between = [SPECIAL] * (kind == "byte_pair")
    assert tokens(pair, LAPTOPS) == expected
    assert word_of(pair, LAPTOPS) == alone + between + [SECOND] * second
    assert index(pair, LAPTOPS).table.aspect.tolist() == index(cutter(kind), LAPTOPS).table.aspect.tolist()


def test_ragged_sentences_are_padded_with_the_tokenizers_own_padding(kind: str) -> None:
    corpus = index(cutter(kind), SHORT, LAPTOPS)
    width = corpus.widths[1, 0]
    padding = TOKENIZERS[kind].pad_token_id
    assert corpus.widths[0].tolist() == [4, 1, 2]
    assert corpus.table.positions[0, 4:].tolist() == [padding] * (width - 4)
    assert corpus.table.word_of[0].tolist() == [SPECIAL, 0, 1, SPECIAL] + [PADDING] * (width - 4)
    assert corpus.table.present[0].tolist() == [True] * 4 + [False] * (width - 4)
    assert corpus.table.aspect[0, 1:].eq(padding).all()
    assert corpus.table.candidates.int().tolist() == [[1, 0, 0, 0], [1, 0, 1, 1]]
    alone = corpus.batch(torch.tensor([0]))
    assert torch.equal(alone.positions, index(cutter(kind), SHORT).table.positions)
    assert alone.aspect.shape == (1, 1)


def test_every_piece_of_a_hidden_word_is_the_mask_token(kind: str) -> None:
    bad_laptops = Example.from_text("bad laptops is the food", (19, 23))
    seen, hidden = index(cutter(kind), bad_laptops), index(cutter(kind), bad_laptops.hide([1, 4]))
    masked = (seen.table.word_of == 1) | (seen.table.word_of == 4)
    assert int(masked.sum()) > 2
    assert hidden.table.positions[masked].eq(hidden.mask_id).all()
    assert torch.equal(hidden.table.positions[~masked], seen.table.positions[~masked])
    assert torch.equal(hidden.table.aspect, seen.table.aspect)
    assert hidden.table.candidates.int().tolist() == [[1, 0, 1, 1, 0]]


def test_hiding_in_tensors_is_hiding_in_examples(kind: str) -> None:
    words = torch.tensor([[True, False, False, False], [False, False, True, True]])
    hidden = index(cutter(kind, pair=True), SHORT, LAPTOPS).hide(words)
    expected = index(cutter(kind, pair=True), SHORT.hide([0]), LAPTOPS.hide([2, 3]))
    assert torch.equal(hidden.table.positions, expected.table.positions)
    assert torch.equal(hidden.table.candidates, expected.table.candidates)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("word_piece", "[CLS] i don ' t [SEP]"),
        ("byte_pair", "<s> i Ġdon ' t </s>"),  # not `'t`
        ("sentence_piece", "[CLS] ▁i ▁don ' t [SEP]"),  # not `▁don't`
    ],
)
def test_a_piece_that_reaches_over_words_is_cut(kind: str, expected: str) -> None:
    example = Example.from_text("i don't", (0, 1))
    assert tokens(cutter(kind), example) == expected
    assert word_of(cutter(kind), example) == [SPECIAL, 0, 1, 2, 3, SPECIAL]


@pytest.mark.parametrize(
    ("kind", "expected", "words"),
    [
        ("word_piece", "[CLS] good bat t ##e ##r ##y lap ##top [SEP]", [0, 1, 2, 2, 2, 2, 3, 3]),
        ("byte_pair", "<s> good Ġbat tery Ġlap t o p </s>", [0, 1, 2, 3, 3, 3, 3]),
        ("sentence_piece", "[CLS] ▁good ▁bat tery ▁lap top [SEP]", [0, 1, 2, 3, 3]),
    ],
)
def test_an_aspect_inside_a_word_has_pieces_of_its_own(kind: str, expected: str, words: list[int]) -> None:
    example = Example.from_text("good battery laptop", (5, 8))
    assert example.words == ("good", "bat", "tery", "laptop")
    assert tokens(cutter(kind), example) == expected
    assert word_of(cutter(kind), example) == [SPECIAL, *words, SPECIAL]


def test_characters_outside_of_every_word_belong_to_none(kind: str) -> None:
    # The two words stand in brackets, with which no piece is shared.
    example = Example.from_spans("(good)(food)", ((1, 5), (7, 11)), (1, 5), label=None, id="0", sentence_id="0")
    words = [word for word in word_of(cutter(kind), example) if word >= 0]
    brackets = index(cutter(kind), example).table.word_of[0].eq(SPECIAL).sum() - 2
    assert sorted(set(words)) == [0, 1]
    assert brackets >= 4


@pytest.mark.parametrize(
    ("kind", "positions"),
    [
        ("word_piece", [2, 1, 1]),  # one for each Chinese character
        ("byte_pair", [6, 4, 4]),  # one for each byte
        ("sentence_piece", [2, 1, 1]),  # ▁ before the text, and one unknown for both Chinese characters
    ],
)
def test_all_bytes_of_a_character_lie_in_its_word(kind: str, positions: list[int]) -> None:
    words = word_of(cutter(kind), Example.from_text("日本 😀😀", (0, 2)))
    assert [words.count(word) for word in range(3)] == positions


def test_an_aspect_that_the_tokenizer_drops_is_an_unknown_token_in_its_place() -> None:
    example = Example.from_text("good \u200b food \x07", (5, 6))
    assert tokens(cutter("word_piece", pair=True), example) == "[CLS] good [UNK] food [SEP] [UNK] [SEP]"
    table = index(cutter("word_piece", pair=True), example).table
    assert table.word_of.tolist() == [[SPECIAL, 0, 1, 2, SPECIAL, SECOND, SECOND]]
    assert table.aspect.tolist() == [[TOKENIZERS["word_piece"].unk_token_id]]
    assert table.candidates.int().tolist() == [[1, 0, 1, 0]], "a word without a piece cannot be attended"


def test_an_unknown_label_and_an_empty_corpus_are_refused() -> None:
    with pytest.raises(InputError, match="label 'negative' is not one of"):
        cutter("word_piece").features([LAPTOPS], ("positive",))
    with pytest.raises(InputError, match="the corpus is empty"):
        index(cutter("word_piece"))


def read_back(kind: str, pieces: list[str]) -> str:
    """The characters that pieces of one word stand for."""
    if kind == "byte_pair":
        return str(TOKENIZERS[kind].backend_tokenizer.decoder.decode(pieces)).strip()
    return "".join(piece.removeprefix("##").removeprefix("▁") for piece in pieces)


@st.composite
def examples(draw: st.DrawFn, alphabet: str) -> Example:
    """A text, and an aspect that is a word, part of one, or several."""
    text = draw(st.text(alphabet, min_size=1, max_size=30).filter(lambda text: bool(tokenize(text))))
    spans = tokenize(text)
    start, end = sorted((draw(st.sampled_from(spans)), draw(st.sampled_from(spans))))
    return Example.from_text(text, (start[0], draw(st.integers(end[0], end[1] - 1)) + 1))


@pytest.mark.slow
@given(examples(STRANGE))
def test_words_that_have_pieces_have_positions_and_so_have_aspects_and_candidates(example: Example) -> None:
    for kind, tokenizer in TOKENIZERS.items():
        table = index(cutter(kind, pair=True), example).table
        placed = set(table.word_of[0].tolist())
        alone = tokenizer(list(example.words), add_special_tokens=False, split_special_tokens=True)["input_ids"]
        assert {word for word, pieces in enumerate(alone) if pieces} <= placed
        assert table.aspect_positions.any()
        assert table.aspect.shape[1] == int(table.aspect_positions.sum())
        assert set(table.candidates[0].nonzero().flatten().tolist()) == example.candidates & placed
        recut = cutter(kind).recut(example)
        assert set(range(len(recut.words))) <= set(word_of(cutter(kind), recut))


@pytest.mark.slow
@given(examples("abtery '.!-[SEP]<s>\n019"))
def test_the_pieces_of_a_word_spell_it(example: Example) -> None:
    for kind, tokenizer in TOKENIZERS.items():
        table = index(cutter(kind), example).table
        pieces = tokenizer.convert_ids_to_tokens(table.positions[0].tolist())
        for number, word in enumerate(example.words):
            own = [piece for piece, owner in zip(pieces, table.word_of[0].tolist(), strict=True) if owner == number]
            assert read_back(kind, own) == (word.lower() if kind == "word_piece" else word)


@pytest.mark.shared
def test_no_word_of_the_laptop_reviews_is_lost(shared_encoders: Path, shared_data: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(shared_encoders / "minilm", local_files_only=True)
    corpus = read(shared_data / "laptop" / "train.txt")
    table = PieceCutter(tokenizer, 512).features(corpus, corpus.labels)
    assert table.positions.shape == (2291, 91)
    for example, words in zip(corpus, table.word_of.tolist(), strict=True):
        assert set(range(len(example.spans))) <= set(words)


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


def test_recutting_keeps_characters_aspects_and_their_ends() -> None:
    recut = cutter("byte_pair").recut(Example.from_text("日本 bad", (0, 2)))
    assert recut.words == ("日", "本", "bad")
    assert recut.aspect == (0, 2)
    assert [word for word in word_of(cutter("byte_pair"), recut) if word >= 0] == [0, 0, 0, 1, 1, 1, 2]
    spans = ((1, 5), (6, 9), (9, 13))
    example = Example.from_spans("(good)battery", spans, (6, 9), label=None, id="0", sentence_id="0")
    recut = cutter("byte_pair").recut(example)
    assert recut.words == ("good", "bat", "tery")
    assert recut.aspect == (1, 2)
    recut = cutter("word_piece").recut(Example.from_text("good \u200b food", (5, 6)))
    assert recut.words == ("good", "\u200b", "food")
    assert recut.aspect == (1, 2)


def test_white_space_that_a_piece_takes_with_it_is_no_part_of_a_word() -> None:
    tokenizer = KINDS["sentence_piece"]()
    tokenizer.add_tokens([AddedToken("trackpad", lstrip=True, rstrip=True, normalized=False)])
    recut = PieceCutter(tokenizer, 512).recut(Example.from_text("bad  trackpad  food", (5, 13)))
    assert recut.words == ("bad", "trackpad", "food")
    assert recut.aspect == (1, 2)


def test_recutting_after_hiding_is_refused() -> None:
    with pytest.raises(InputError, match="example 0 has hidden words, which have"):
        cutter("word_piece").recut(Example.from_text("the laptops is bad", (4, 11)).hide([0]))


LETTERS = "a b c d e f g h i"


def letter(place: int, until: int | None = None) -> Example:
    """The nine letters, the aspect being those from `place` to `until`."""
    return Example.from_text(LETTERS, (2 * place, 2 * (until or place) + 1))


@pytest.mark.parametrize(
    ("place", "expected"),
    [(0, "a b c d e"), (1, "a b c d e"), (4, "c d e f g"), (7, "e f g h i"), (8, "e f g h i")],
)
def test_a_window_lies_evenly_around_the_aspect_and_uses_its_room(place: int, expected: str) -> None:
    with pytest.warns(UserWarning, match="1 of 1 sentences are longer than 7"):
        assert tokens(cutter("word_piece", 7), letter(place)) == f"[CLS] {expected} [SEP]"


def test_a_window_leaves_room_for_the_second_segment() -> None:
    with pytest.warns(UserWarning, match="longer than 10 pieces"):
        assert tokens(cutter("word_piece", 10, pair=True), letter(4)) == "[CLS] c d e f g h [SEP] e [SEP]"


@pytest.mark.parametrize(
    ("pair", "expected"), [(False, "[CLS] b c d e f g h i [SEP]"), (True, "[CLS] b c d [SEP] b c d [SEP]")]
)
def test_only_an_aspect_longer_than_the_window_loses_its_tail(pair: bool, expected: str) -> None:
    with pytest.warns(UserWarning, match="longer than 10 pieces") as caught:
        assert tokens(cutter("word_piece", 10, pair), letter(1, 8)) == expected
    assert ("; 1 of the aspects are too long themselves and are cut" in str(caught[0].message)) == pair
    with pytest.warns(UserWarning, match="1 of the aspects are too long themselves"):
        index(cutter("word_piece", 9, pair), SHORT, letter(1, 8), letter(4))


def test_words_outside_the_window_keep_their_numbers_and_are_no_candidates() -> None:
    with pytest.warns(UserWarning, match="longer than 5 pieces"):
        corpus = index(cutter("word_piece", 5), letter(4))
    assert corpus.table.word_of.tolist() == [[SPECIAL, 3, 4, 5, SPECIAL]]
    assert corpus.table.candidates.int().tolist() == [[0, 0, 0, 1, 0, 1, 0, 0, 0]]
    assert corpus.widths.tolist() == [[5, 1, 9]]


def test_one_warning_counts_the_sentences_that_are_too_long() -> None:
    with pytest.warns(UserWarning, match="2 of 3 sentences are longer than 6") as caught:
        cutter("word_piece", 6).features([letter(0), SHORT, letter(3)], DEFAULT_LABELS)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize(("pair", "least"), [(False, 3), (True, 5)])
def test_positions_for_special_tokens_alone_are_refused(pair: bool, least: int) -> None:
    with pytest.raises(InputError, match=f"{least - 1} positions are too few for a"):
        index(cutter("word_piece", least - 1, pair), SHORT)
    with pytest.warns(UserWarning, match=f"longer than {least} pieces"):
        index(cutter("word_piece", least, pair), SHORT)
