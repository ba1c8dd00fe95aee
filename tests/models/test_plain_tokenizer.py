"""Plain tokenizers: pieces with offsets, cuts, special tokens that are only spelled, templates and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.models.tokenizers import KINDS, ROBERTA_ROLES, byte_pair, sentence_piece, word_piece, wrap
from tokenizers import AddedToken, normalizers, pre_tokenizers

from pssa.data.tokenize import Span
from pssa.models._plain_tokenizer import PlainTokenizer


@pytest.fixture(scope="module", params=list(KINDS))
def tokenizer(request: pytest.FixtureRequest) -> Any:
    return KINDS[request.param]()


def read(tokenizer: Any, texts: Sequence[str], cuts: Sequence[Sequence[int]]) -> list[list[tuple[int, Span]]]:
    """Return the pieces of each text."""
    rows: list[list[tuple[int, Span]]] = [[] for _ in texts]
    found = PlainTokenizer(tokenizer).read(texts, cuts)
    for row, token, start, end in zip(*(column.tolist() for column in found), strict=True):
        rows[row].append((token, (start, end)))
    return rows


def tokens(tokenizer: Any, text: str, cuts: tuple[int, ...] = ()) -> list[str]:
    [pieces] = read(tokenizer, [text], [cuts])
    return list(tokenizer.convert_ids_to_tokens([token for token, _ in pieces]))


def spans(tokenizer: Any, text: str, cuts: tuple[int, ...] = ()) -> list[Span]:
    [pieces] = read(tokenizer, [text], [cuts])
    return [span for _, span in pieces]


def covered(pieces: list[tuple[int, Span]]) -> set[int]:
    return {place for _, span in pieces for place in range(*span)}


@pytest.mark.parametrize("text", ["[SEP]", "a [MASK] b", "[CLS][PAD]", "<mask>", "bad</s>", "<pad> [UNK] <unk>"])
def test_special_tokens_that_a_text_spells_are_characters(tokenizer: Any, text: str) -> None:
    [pieces] = read(tokenizer, [text], [()])
    assert not {token for token, _ in pieces} & set(tokenizer.all_special_ids)
    assert covered(pieces) >= {place for place, character in enumerate(text) if character != " "}
    assert max(len(text[start:end].strip()) for _, (start, end) in pieces) < len("[SEP]")


def test_an_ordinary_text_has_the_ids_of_the_tokenizer_and_leaves_it_alone(tokenizer: Any) -> None:
    text, before = "The laptops is good, but i don't like 24 of them!", tokenizer.backend_tokenizer.to_str()
    [pieces] = read(tokenizer, [text], [()])
    assert [token for token, _ in pieces] == tokenizer(text, add_special_tokens=False)["input_ids"]
    PlainTokenizer(tokenizer).read(["a [SEP] b"], [(1,)])
    assert tokenizer.backend_tokenizer.to_str() == before


def test_merges_are_not_dropped_by_chance() -> None:
    tokenizer = byte_pair()
    tokenizer.backend_tokenizer.model.dropout = 1.0
    assert tokens(tokenizer, "the battery") == ["the", "Ġbattery"]


def test_a_mask_that_is_only_a_word_of_the_vocabulary_is_never_read() -> None:
    tokenizer = word_piece()
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.backend_tokenizer.normalizer = None
    # No case is lost and no bracket split off: "[MASK]" is in the vocabulary as it stands.
    assert tokens(tokenizer, "a [MASK]") == ["a", "[UNK]"]


def test_a_special_token_that_is_sought_in_the_normalised_text_is_not_found_either() -> None:
    tokenizer = word_piece()
    tokenizer.add_tokens([AddedToken("[Bad]", normalized=True)], special_tokens=True)
    assert tokenizer("a [BAD]")["input_ids"][2] == tokenizer.convert_tokens_to_ids("[Bad]")
    assert tokens(tokenizer, "a [BAD]") == ["a", "[", "bad", "]"]


def test_a_tokenizer_that_pads_and_truncates_does_neither_here() -> None:
    tokenizer = word_piece()
    tokenizer.backend_tokenizer.enable_padding(length=9)
    tokenizer.backend_tokenizer.enable_truncation(2)
    assert tokens(tokenizer, "the battery life is good") == ["the", "battery", "life", "is", "good"]
    assert PlainTokenizer(tokenizer).template(pair=False) == ([2], [3], [])


def test_words_that_were_added_keep_their_ids() -> None:
    tokenizer = sentence_piece()
    tokenizer.add_tokens([AddedToken("trackpad", normalized=False)])
    added = tokenizer.convert_tokens_to_ids("trackpad")
    assert added == tokenizer.mask_token_id + 1
    [pieces] = read(tokenizer, ["bad trackpad"], [()])
    assert pieces[-1] == (added, (4, 12))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("word_piece", ["the", "bat", "t", "##e", "##r", "##y", "is"]),
        ("byte_pair", ["the", "Ġbat", "tery", "Ġis"]),
        ("sentence_piece", ["▁the", "▁bat", "tery", "▁is"]),
    ],
)
def test_no_piece_reaches_over_a_cut_and_no_space_is_made_up(kind: str, expected: list[str]) -> None:
    tokenizer = KINDS[kind]()
    assert tokens(tokenizer, "the battery is", cuts=(7, 11)) == expected
    assert spans(tokenizer, "the battery is", cuts=(7, 11))[0] == (0, 3)
    assert spans(tokenizer, "the battery is", cuts=(7, 11))[-1][1] == 14


@pytest.mark.parametrize(
    "steps",
    [
        {"pre_tokenizer": pre_tokenizers.Sequence([pre_tokenizers.ByteLevel(add_prefix_space=True)])},
        {"normalizer": normalizers.Prepend(" ")},
    ],
)
def test_only_the_beginning_of_a_text_gets_the_space_that_the_tokenizer_adds(steps: dict[str, Any]) -> None:
    tokenizer = byte_pair()
    for name, step in steps.items():
        setattr(tokenizer.backend_tokenizer, name, step)
    assert tokens(tokenizer, "battery is") == ["Ġbattery", "Ġis"]
    assert tokens(tokenizer, "battery is", cuts=(3, 7)) == ["Ġbat", "tery", "Ġis"]


def test_texts_are_read_together_each_with_its_own_cuts() -> None:
    tokenizer = word_piece()
    rows = read(tokenizer, ["battery", "the battery", "isn"], [(3,), (), (1, 2)])
    pieces = [tokenizer.convert_ids_to_tokens([token for token, _ in row]) for row in rows]
    assert pieces == [["bat", "t", "##e", "##r", "##y"], ["the", "battery"], ["i", "s", "n"]]
    assert [span for _, span in rows[2]] == [(0, 1), (1, 2), (2, 3)]


def test_half_a_surrogate_pair_keeps_its_place(tokenizer: Any) -> None:
    [pieces] = read(tokenizer, ["bad \ud83d food"], [()])
    assert covered(pieces) >= {0, 1, 2, 4, 6, 7, 8, 9}


@pytest.mark.parametrize(
    ("kind", "single", "pair"),
    [
        ("word_piece", ([2], [3], []), ([2], [3], [3])),
        ("byte_pair", ([0], [2], []), ([0], [2, 2], [2])),
        ("sentence_piece", ([2], [3], []), ([2], [3], [3])),
    ],
)
def test_the_template_is_its_own(kind: str, single: tuple[list[int], ...], pair: tuple[list[int], ...]) -> None:
    reader = PlainTokenizer(KINDS[kind]())
    assert reader.template(pair=False) == single
    assert reader.template(pair=True) == pair


def test_without_an_unknown_token_the_mask_stands_for_what_is_not_known() -> None:
    roles = {role: token for role, token in ROBERTA_ROLES.items() if role != "unk_token"}
    tokenizer = wrap(byte_pair().backend_tokenizer, roles)
    assert tokenizer.unk_token_id is None
    assert PlainTokenizer(tokenizer).unknown_id == 4
    assert PlainTokenizer(byte_pair()).unknown_id == 3
