"""`PieceCutter`: examples to tensors for encoders that read pieces of words, `[CLS] x [SEP]` or `[CLS] x [SEP] aspect [SEP]`.

A text is read as a whole, as the encoder knows it from pretraining, and a piece belongs to the word that its characters
lie in. Where a piece reaches over the end of a word (`'t` for our `'` and `t`), or leaves a word without any, the text is
cut there before it is read again.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pssa.data.batch import PADDING, SECOND, SPECIAL, Batch, IndexedCorpus, label_ids
from pssa.data.example import Example
from pssa.data.tokenize import Span
from pssa.data.validation import format_error, is_fault
from pssa.errors import InputError

# Text after a cut does not begin a sentence: it gets no space that it did not have, and keeps the one that it had.
_AFTER_A_CUT: dict[str, dict[str, Any]] = {
    "ByteLevel": {"add_prefix_space": False},
    "Metaspace": {"prepend_scheme": "never"},
    "Prepend": {"type": "Sequence", "normalizers": []},
    "Strip": {"strip_left": False},
}
# Before a token's name, what no text can spell: tokenizers split at spaces or replace them.
_UNREACHABLE = "\0 "


@dataclass(frozen=True)
class Template:
    """Ids of the special tokens around a text and, in a pair, around the second segment."""

    before: tuple[int, ...]
    between: tuple[int, ...]  # after the text; in a pair, between the two
    after: tuple[int, ...]  # after the second segment

    def __len__(self) -> int:
        return len(self.before) + len(self.between) + len(self.after)


@dataclass(frozen=True)
class PlainTokenizer:
    """Reads texts with a fast tokenizer.

    :raises InputError: if the tokenizer is a slow one, or has no mask or padding token.
    """

    tokenizer: Any

    def __post_init__(self) -> None:
        name = type(self.tokenizer).__name__
        if not getattr(self.tokenizer, "is_fast", False):
            raise InputError(
                f"{name} is a slow tokenizer, which knows no offsets; use a fast one (an encoder with a tokenizer.json)"
            )
        for token in ("mask", "pad"):
            if getattr(self.tokenizer, f"{token}_token_id") is None:
                raise InputError(f"{name} has no {token} token; use an encoder pretrained to fill in masked words")

    @property
    def mask_id(self) -> int:
        """The mask token."""
        return int(self.tokenizer.mask_token_id)

    @property
    def pad_id(self) -> int:
        """The padding token."""
        return int(self.tokenizer.pad_token_id)

    @property
    def unknown_id(self) -> int:
        """The token of characters that have none: the mask where the tokenizer reads bytes and needs no other."""
        unknown = self.tokenizer.unk_token_id
        return self.mask_id if unknown is None else int(unknown)

    def template(self, pair: bool) -> Template:
        """The special tokens that the tokenizer itself puts around a text, or around a text and a second one."""
        with _told_by_the_tokenizer():
            sample = self._first.encode("a", "a" if pair else None)
        sides: tuple[list[int], ...] = ([], [], [])
        passed = 0
        for token, segment in zip(sample.ids, sample.sequence_ids, strict=True):
            if segment is None:
                sides[passed].append(token)
            else:
                passed = segment + 1
        return Template(*map(tuple, sides))

    def read(self, texts: Sequence[str], cuts: Sequence[Sequence[int]]) -> list[list[tuple[int, Span]]]:
        """Ids and character spans of the pieces of each text, no piece reaching over one of its ascending cuts."""
        # Half of a surrogate pair is no character to a tokenizer; any other keeps the offsets.
        texts = [text.encode("utf-8", "replace").decode() for text in texts]
        parts = [list(pairwise([0, *places, len(text)])) for text, places in zip(texts, cuts, strict=True)]
        heads = [text[: cut[0][1]] for text, cut in zip(texts, parts, strict=True)]
        tails = [text[start:end] for text, cut in zip(texts, parts, strict=True) for start, end in cut[1:]]
        with _told_by_the_tokenizer():
            pieces = [_pieces(head, 0) for head in self._first.encode_batch(heads, add_special_tokens=False)]
            rest = iter(self._rest.encode_batch(tails, add_special_tokens=False) if tails else ())
        for row, cut in zip(pieces, parts, strict=True):
            for start, _ in cut[1:]:
                row.extend(_pieces(next(rest), start))
        return pieces

    @cached_property
    def _first(self) -> Any:
        return _copy(self.tokenizer, {})

    @cached_property
    def _rest(self) -> Any:
        return _copy(self.tokenizer, _AFTER_A_CUT)


class _Pieces(NamedTuple):
    """The pieces of one example, a list for each of their sides: there are too many of them for an object each."""

    ids: list[int]
    spans: list[Span]  # characters of the text, without white space around them
    words: list[int]  # SPECIAL where a piece belongs to none

    def part(self, first: int, end: int) -> _Pieces:
        """Some of them."""
        return _Pieces(self.ids[first:end], self.spans[first:end], self.words[first:end])

    def aspect(self, example: Example) -> list[int]:
        """Those of the aspect, by their places."""
        first, end = example.aspect
        return [place for place, word in enumerate(self.words) if first <= word < end]


class _Row(NamedTuple):
    """What is read of one example."""

    ids: list[int]
    word_of: list[int]
    aspect: list[int]


@dataclass(frozen=True)
class PieceCutter:
    """Cuts for an encoder with so many positions; `pair` adds the aspect as a second segment.

    :raises InputError: if the tokenizer is a slow one, or has no mask or padding token, or there is no room for a sentence.
    """

    tokenizer: Any  # a fast tokenizer of Hugging Face; it is not changed
    max_positions: int
    pair: bool = False

    def __post_init__(self) -> None:
        least = len(self._template) + 1 + self.pair
        if self.max_positions < least:
            raise InputError(f"{self.max_positions} positions have no room for a sentence; give at least {least}")

    def index(self, examples: Sequence[Example], labels: Sequence[str]) -> IndexedCorpus:
        """Turn examples into tensors for models whose positions are pieces.

        A sentence that is too long is read in a window around its aspect; one warning counts them.
        """
        if not examples:
            raise InputError("there are no examples to work on; the corpus is empty")
        cut = self._cut(examples)
        read = [self._window(example, pieces) for example, pieces in zip(examples, cut, strict=True)]
        if lost := self._lost(examples, cut, read):
            warnings.warn(lost, stacklevel=2)
        rows = [self._row(example, pieces) for example, pieces in zip(examples, read, strict=True)]
        return self._tensors(examples, rows, labels)

    def recut(self, example: Example) -> Example:
        """The example with its pieces for words, bytes of one character being one word.

        :raises InputError: if words are hidden.
        """
        if example.hidden:
            raise InputError(f"example {example.id} has hidden words, which have no pieces; cut it first, then hide")
        # The aspect's ends are the only ones to keep.
        [pieces] = self._cut([replace(example, spans=(example.aspect_chars,), aspect=(0, 1))])
        word_at = _word_at(example)
        spans: list[Span] = []
        aspect: set[int] = set()
        for (start, end), word in zip(pieces.spans, pieces.words, strict=True):
            if max(word_at[start:end], default=SPECIAL) == SPECIAL:
                continue
            if spans and start < spans[-1][1]:
                spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
            else:
                spans.append((start, end))
            if word == 0:
                aspect.add(len(spans) - 1)
        return replace(example, spans=tuple(spans), aspect=(min(aspect), max(aspect) + 1))

    @cached_property
    def _reader(self) -> PlainTokenizer:
        return PlainTokenizer(self.tokenizer)

    @cached_property
    def _template(self) -> Template:
        return self._reader.template(self.pair)

    def _cut(self, examples: Sequence[Example]) -> list[_Pieces]:
        """The pieces of each example, each in one word and, where that can be, one for each word."""
        found: list[_Pieces] = [_Pieces([], [], [])] * len(examples)
        cuts: list[set[int]] = [set() for _ in examples]
        word_at = [_word_at(example) for example in examples]
        left = list(range(len(examples)))
        while left:
            read = self._reader.read([examples[row].text for row in left], [sorted(cuts[row]) for row in left])
            again = []
            for row, pieces in zip(left, read, strict=True):
                found[row] = _placed(pieces, examples[row].text, word_at[row])
                needed = _cuts(found[row], examples[row], word_at[row])
                if not needed <= cuts[row]:
                    cuts[row] |= needed
                    again.append(row)
            left = again
        return [self._with_aspect(example, pieces) for example, pieces in zip(examples, found, strict=True)]

    def _with_aspect(self, example: Example, pieces: _Pieces) -> _Pieces:
        """The pieces, with the unknown token in place of an aspect that the tokenizer drops."""
        if not set(range(*example.aspect)).isdisjoint(pieces.words):
            return pieces
        start, end = example.aspect_chars
        before = sum(first < start for first, _ in pieces.spans)
        left, right = pieces.part(0, before), pieces.part(before, len(pieces.ids))
        return _Pieces(
            [*left.ids, self._reader.unknown_id, *right.ids],
            [*left.spans, (start, end), *right.spans],
            [*left.words, example.aspect[0], *right.words],
        )

    def _window(self, example: Example, pieces: _Pieces) -> _Pieces:
        """The pieces that there is room for: the aspect's, then as many left and right of it, evenly."""
        room, count = self.max_positions - len(self._template), len(pieces.ids)
        if count * (1 + self.pair) <= room:
            return pieces
        places = pieces.aspect(example)
        if count + len(places) * self.pair <= room:
            return pieces
        first, end = places[0], places[-1] + 1
        spare = room - (end - first) - len(places) * self.pair
        if spare < 0:
            return pieces.part(first, first + room // (1 + self.pair))
        left = min(first, max(spare // 2, spare - (count - end)))
        return pieces.part(first - left, end + spare - left)

    def _lost(self, examples: Sequence[Example], cut: list[_Pieces], read: list[_Pieces]) -> str:
        """What there is to say of sentences that are not read as a whole."""
        rows = [
            row for row, (window, pieces) in enumerate(zip(read, cut, strict=True)) if len(window.ids) < len(pieces.ids)
        ]
        aspects = sum(len(read[row].aspect(examples[row])) < len(cut[row].aspect(examples[row])) for row in rows)
        if not rows:
            return ""
        return (
            f"{len(rows)} of {len(examples)} sentences are longer than {self.max_positions} pieces;"
            " each is read in a window around its aspect"
            + (
                f"; {aspects} of the aspects are longer than that themselves and are cut at their end"
                if aspects
                else ""
            )
        )

    def _row(self, example: Example, pieces: _Pieces) -> _Row:
        """The pieces with special tokens around them and, in a pair, the aspect again."""
        template, ids = self._template, pieces.ids
        aspect = [ids[place] for place in pieces.aspect(example)]
        if example.hidden:
            hidden, mask = example.hidden, self._reader.mask_id
            ids = [mask if word in hidden else token for token, word in zip(ids, pieces.words, strict=True)]
        second = [*aspect, *template.after] if self.pair else []
        word_of = [SPECIAL] * len(template.before) + pieces.words
        word_of += [SPECIAL] * len(template.between) + [SECOND] * len(second)
        return _Row([*template.before, *ids, *template.between, *second], word_of, aspect)

    def _tensors(self, examples: Sequence[Example], rows: list[_Row], labels: Sequence[str]) -> IndexedCorpus:
        word_of = _padded([row.word_of for row in rows], PADDING)
        table = Batch(
            positions=_padded([row.ids for row in rows], self._reader.pad_id),
            word_of=word_of,
            aspect=_padded([row.aspect for row in rows], self._reader.pad_id),
            aspect_span=torch.tensor([example.aspect for example in examples]),
            candidates=_candidates(examples, word_of),
            labels=label_ids(examples, labels),
            index=torch.arange(len(examples)),
        )
        words = torch.tensor([len(example.spans) for example in examples])
        widths = torch.stack([_lengths(row.ids for row in rows), _lengths(row.aspect for row in rows), words], dim=1)
        return IndexedCorpus(table, widths, self._reader.mask_id)


def _candidates(examples: Sequence[Example], word_of: Tensor) -> Tensor:
    """Words that are read and may be attended or mined, by example."""
    most = max(len(example.spans) for example in examples)
    candidates = torch.zeros(len(examples), most, dtype=torch.bool)
    rows, places = (word_of >= 0).nonzero(as_tuple=True)
    candidates[rows, word_of[rows, places]] = True
    first, end = torch.tensor([example.aspect for example in examples])[:, None].unbind(-1)
    words = torch.arange(most)
    candidates &= (words < first) | (words >= end)
    for number, example in enumerate(examples):
        if example.hidden:
            candidates[number, list(example.hidden)] = False
    return candidates


def _word_at(example: Example) -> list[int]:
    """The word of each character, SPECIAL where there is none."""
    words = [SPECIAL] * len(example.text)
    for word, (start, end) in enumerate(example.spans):
        words[start:end] = [word] * (end - start)
    return words


def _placed(pieces: list[tuple[int, Span]], text: str, word_at: list[int]) -> _Pieces:
    """Each piece in the word of its first character; white space alone is in none."""
    spans, words = [], []
    for _, (start, end) in pieces:
        while start < end and text[start].isspace():
            start += 1
        while start < end and text[end - 1].isspace():
            end -= 1
        spans.append((start, end))
        words.append(word_at[start] if start < end else SPECIAL)
    return _Pieces([token for token, _ in pieces], spans, words)


def _cuts(pieces: _Pieces, example: Example, word_at: list[int]) -> set[int]:
    """Where the text has to be cut: between words that share a piece, and around words that have none."""
    text, cuts = example.text, set[int]()
    for (start, end), word in zip(pieces.spans, pieces.words, strict=True):
        if start < end and word_at[end - 1] != word:
            solid = [place for place in range(start, end) if not text[place].isspace()]
            cuts.update(place + 1 for place, after in pairwise(solid) if word_at[place] != word_at[after])
    for word in set(range(len(example.spans))).difference(pieces.words):
        start, end = example.spans[word]
        # White space goes with the word that it precedes.
        cuts.update({len(text[:start].rstrip()), end})
    return {place for place in cuts if 0 < place < len(text)}


def _padded(rows: list[list[int]], filler: int) -> Tensor:
    lengths = _lengths(rows)[:, None]
    padded = torch.full((len(rows), int(lengths.max())), filler)
    padded[torch.arange(padded.shape[1]) < lengths] = torch.tensor(list(chain.from_iterable(rows)))
    return padded


def _lengths(rows: Iterable[list[int]]) -> Tensor:
    return torch.tensor([len(row) for row in rows])


@contextmanager
def _told_by_the_tokenizer() -> Iterator[None]:
    """Say in one line what a tokenizer finds wrong with itself."""
    try:
        yield
    except BaseException as error:
        if not is_fault(error):
            raise
        raise InputError(
            f"the encoder's tokenizer cannot be used ({format_error(error)}); get its folder again"
        ) from error


def _pieces(encoding: Any, shift: int) -> list[tuple[int, Span]]:
    spans = [(start + shift, end + shift) for start, end in encoding.offsets] if shift else encoding.offsets
    return list(zip(encoding.ids, spans, strict=True))


def _copy(tokenizer: Any, changes: dict[str, dict[str, Any]]) -> Any:
    """The tokenizer within, without special tokens in text, and with `changes` to its steps, by their types."""
    backend = tokenizer.backend_tokenizer
    state = json.loads(backend.to_str())
    added = state["added_tokens"]
    special = {*tokenizer.all_special_tokens, *(token["content"] for token in added if token["special"])}
    names = {name: _UNREACHABLE + name for name in special}
    for token in added:
        token["content"] = names.get(token["content"], token["content"])
    # The switch below is not enough: a model finds the names in its vocabulary too, as one of unigrams does.
    state["model"] = _renamed(state["model"], names)
    state |= {"truncation": None, "padding": None}
    state |= {step: _changed(state[step], changes) for step in ("normalizer", "pre_tokenizer")}
    copy = type(backend).from_str(json.dumps(state))
    copy.encode_special_tokens = True
    return copy


def _renamed(model: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """A tokenizer's model with new names for some tokens, and without chance."""
    vocabulary = model["vocab"]
    if isinstance(vocabulary, dict):
        renamed: Any = {names.get(token, token): place for token, place in vocabulary.items()}
    else:
        renamed = [[names.get(token, token), score] for token, score in vocabulary]
    model = model | {"vocab": renamed}
    if "unk_token" in model:
        model["unk_token"] = names.get(model["unk_token"], model["unk_token"])
    if "merges" in model:
        model["merges"] = [pair for pair in model["merges"] if names.keys().isdisjoint([*pair, "".join(pair)])]
        model["dropout"] = None
    return model


def _changed(step: Any, changes: dict[str, dict[str, Any]]) -> Any:
    """A step of a tokenizer, or a sequence of steps, with new values for some types."""
    if isinstance(step, list):
        return [_changed(part, changes) for part in step]
    if not isinstance(step, dict):
        return step
    return {name: _changed(value, changes) for name, value in step.items()} | changes.get(step.get("type", ""), {})
