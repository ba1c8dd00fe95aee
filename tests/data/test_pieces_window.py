"""Windows around the aspect of sentences that are too long: where they lie, what is lost, and the one warning."""

from __future__ import annotations

import pytest
from tests.data.tokenizers import word_piece

from pssa.data.example import DEFAULT_LABELS, Example
from pssa.data.features import SPECIAL
from pssa.data.pieces import PieceCutter
from pssa.errors import InputError
from pssa.models import IndexedCorpus

TOKENIZER = word_piece()
LETTERS = "a b c d e f g h i"
SHORT = Example.from_text("good food", (5, 9), label="positive")


def cutter(max_positions: int, pair: bool = False) -> PieceCutter:
    return PieceCutter(TOKENIZER, max_positions, pair)


def index(cutter: PieceCutter, *examples: Example) -> IndexedCorpus:
    return IndexedCorpus.of(cutter.features(examples, DEFAULT_LABELS))


def tokens(cutter: PieceCutter, example: Example) -> str:
    return " ".join(TOKENIZER.convert_ids_to_tokens(index(cutter, example).table.positions[0].tolist()))


def letter(place: int, until: int | None = None) -> Example:
    """The nine letters, the aspect being those from `place` to `until`."""
    return Example.from_text(LETTERS, (2 * place, 2 * (until or place) + 1))


@pytest.mark.parametrize(
    ("place", "expected"),
    [(0, "a b c d e"), (1, "a b c d e"), (4, "c d e f g"), (7, "e f g h i"), (8, "e f g h i")],
)
def test_a_window_lies_evenly_around_the_aspect_and_uses_its_room(place: int, expected: str) -> None:
    with pytest.warns(UserWarning, match="1 of 1 sentences are longer than 7"):
        assert tokens(cutter(7), letter(place)) == f"[CLS] {expected} [SEP]"


def test_a_window_leaves_room_for_the_second_segment() -> None:
    with pytest.warns(UserWarning, match="longer than 10 pieces"):
        assert tokens(cutter(10, pair=True), letter(4)) == "[CLS] c d e f g h [SEP] e [SEP]"


@pytest.mark.parametrize(
    ("pair", "expected"), [(False, "[CLS] b c d e f g h i [SEP]"), (True, "[CLS] b c d [SEP] b c d [SEP]")]
)
def test_only_an_aspect_longer_than_the_window_loses_its_tail(pair: bool, expected: str) -> None:
    with pytest.warns(UserWarning, match="longer than 10 pieces") as caught:
        assert tokens(cutter(10, pair), letter(1, 8)) == expected
    assert ("; 1 of the aspects are too long themselves and are cut" in str(caught[0].message)) == pair
    with pytest.warns(UserWarning, match="1 of the aspects are too long themselves"):
        index(cutter(9, pair), SHORT, letter(1, 8), letter(4))


def test_words_outside_the_window_keep_their_numbers_and_are_no_candidates() -> None:
    with pytest.warns(UserWarning, match="longer than 5 pieces"):
        corpus = index(cutter(5), letter(4))
    assert corpus.table.word_of.tolist() == [[SPECIAL, 3, 4, 5, SPECIAL]]
    assert corpus.table.candidates.int().tolist() == [[0, 0, 0, 1, 0, 1, 0, 0, 0]]
    assert corpus.widths.tolist() == [[5, 1, 9]]


def test_one_warning_counts_the_sentences_that_are_too_long() -> None:
    with pytest.warns(UserWarning, match="2 of 3 sentences are longer than 6") as caught:
        index(cutter(6), letter(0), SHORT, letter(3))
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize(("pair", "least"), [(False, 3), (True, 5)])
def test_positions_for_special_tokens_alone_are_refused(pair: bool, least: int) -> None:
    with pytest.raises(InputError, match=f"{least - 1} positions are too few for a"):
        index(cutter(least - 1, pair), SHORT)
    with pytest.warns(UserWarning, match=f"longer than {least} pieces"):
        index(cutter(least, pair), SHORT)
