"""`PieceCutter`: examples to tensors for encoders that read word pieces, `[CLS] x [SEP]` or `[CLS] x [SEP] aspect [SEP]`.

A text is tokenised as a whole, as in the encoder's pretraining, and a piece belongs to the word that contains it. If a piece
crosses the end of a word (`'t` for our `'` and `t`), or a word gets no piece, the text is cut there and tokenised again.

`PlainTokenizer` wraps a copy of the encoder's fast tokenizer. Special tokens that a text spells out (`[SEP]`, `<mask>`) are plain
characters to it, and a text can be cut at given offsets.
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
from pssa.errors import InputError, PssaWarning

# Text after a cut does not begin a sentence: the tokenizer must not add a space before it, nor strip the one that it has.
_AFTER_A_CUT: dict[str, dict[str, Any]] = {
    "ByteLevel": {"add_prefix_space": False},
    "Metaspace": {"prepend_scheme": "never"},
    "Prepend": {"type": "Sequence", "normalizers": []},
    "Strip": {"strip_left": False},
}
# A prefix that no text can spell: tokenizers split at spaces or replace them.
_UNREACHABLE = "\0 "


@dataclass(frozen=True)
class PlainTokenizer:
    """A fast tokenizer, with a mask and a padding token, that reads text as nothing but text."""

    tokenizer: Any

    def __post_init__(self) -> None:
        name = type(self.tokenizer).__name__
        if not getattr(self.tokenizer, "is_fast", False):
            raise InputError(f"{name} is a slow tokenizer; use a fast one (an encoder with a tokenizer.json)")
        for token in ("mask", "pad"):
            if getattr(self.tokenizer, f"{token}_token_id") is None:
                raise InputError(f"{name} has no {token} token; use an encoder pretrained to fill in masked words")

    @property
    def unknown_id(self) -> int:
        """Id of the unknown token; of the mask token if the tokenizer reads bytes and has none."""
        unknown = self.tokenizer.unk_token_id
        return int(self.tokenizer.mask_token_id if unknown is None else unknown)

    def template(self, pair: bool) -> tuple[list[int], ...]:
        """Return the special tokens that the tokenizer puts before a text, after it, and after the second of a pair."""
        with _tokenizer_errors():
            sample = self._first.encode("a", "a" if pair else None)
        sides: tuple[list[int], ...] = ([], [], [])
        passed = 0
        for token, segment in zip(sample.ids, sample.sequence_ids, strict=True):
            if segment is None:
                sides[passed].append(token)
            else:
                passed = segment + 1
        return sides

    def read(self, texts: Sequence[str], cuts: Sequence[Sequence[int]]) -> list[list[tuple[int, Span]]]:
        """Return ids and character spans of the pieces of each text; no piece crosses one of its ascending cuts."""
        # A tokenizer refuses half of a surrogate pair; any other character keeps the offsets.
        texts = [text.encode("utf-8", "replace").decode() for text in texts]
        parts = [list(pairwise([0, *places, len(text)])) for text, places in zip(texts, cuts, strict=True)]
        heads = [text[: cut[0][1]] for text, cut in zip(texts, parts, strict=True)]
        tails = [text[start:end] for text, cut in zip(texts, parts, strict=True) for start, end in cut[1:]]
        with _tokenizer_errors():
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
    """The pieces of one example as parallel lists: an object for each piece would be too slow."""

    ids: list[int]
    spans: list[Span]  # character offsets, without white space around the piece
    words: list[int]  # SPECIAL for a piece without a word

    def part(self, first: int, end: int) -> _Pieces:
        """Return the pieces from `first` to `end`."""
        return _Pieces(self.ids[first:end], self.spans[first:end], self.words[first:end])

    def aspect(self, example: Example) -> list[int]:
        """Return the positions of the aspect's pieces."""
        first, end = example.aspect
        return [place for place, word in enumerate(self.words) if first <= word < end]


@dataclass(frozen=True)
class PieceCutter:
    """Turns examples into tensors for an encoder; `pair` adds the aspect as a second segment."""

    tokenizer: Any  # a fast tokenizer of Hugging Face, never changed
    max_positions: int
    pair: bool = False

    def __post_init__(self) -> None:
        least = self._n_special + 1 + self.pair
        if self.max_positions < least:
            raise InputError(f"{self.max_positions} positions are too few for a sentence; give at least {least}")

    def index(self, examples: Sequence[Example], labels: Sequence[str]) -> IndexedCorpus:
        """Turn examples into tensors for models whose positions are pieces.

        Of a sentence that is too long the encoder reads a window around the aspect; one warning counts these sentences.
        """
        if not examples:
            raise InputError("the corpus is empty; give at least one example")
        cut = self._cut(examples)
        read = [self._window(example, pieces) for example, pieces in zip(examples, cut, strict=True)]
        if lost := self._describe_lost(examples, cut, read):
            warnings.warn(PssaWarning(lost), stacklevel=2)
        return self._tensors(examples, map(self._row, examples, read), labels)

    def count_positions(self, examples: Sequence[Example]) -> list[int]:
        """Return how many positions each sentence needs to be read as a whole, special tokens included."""
        return [len(self._template) + len(pieces.ids) for pieces in self._cut(examples)]

    def recut(self, example: Example) -> Example:
        """Return the example, which has no hidden words, with pieces as its words; the bytes of a character are one word."""
        if example.hidden:
            raise InputError(f"example {example.id} has hidden words, which have no pieces; recut before hiding words")
        # Only the ends of the aspect have to be kept.
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
    def _template(self) -> tuple[list[int], ...]:
        return self._reader.template(self.pair)

    @property
    def _n_special(self) -> int:
        return sum(map(len, self._template))

    def _cut(self, examples: Sequence[Example]) -> list[_Pieces]:
        """Return the pieces of each example, each within one word and, if possible, at least one for each word."""
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
        """Return the pieces, with the unknown token for an aspect that the tokenizer drops."""
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
        """Return the pieces that fit: those of the aspect, then equally many left and right of it."""
        room, count = self.max_positions - self._n_special, len(pieces.ids)
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

    def _describe_lost(self, examples: Sequence[Example], cut: list[_Pieces], read: list[_Pieces]) -> str:
        """Return a warning about sentences that are not read as a whole; empty if there are none."""
        rows = [row for row, pieces in enumerate(cut) if len(read[row].ids) < len(pieces.ids)]
        aspects = sum(len(read[row].aspect(examples[row])) < len(cut[row].aspect(examples[row])) for row in rows)
        if not rows:
            return ""
        return (
            f"{len(rows)} of {len(examples)} sentences are longer than {self.max_positions} pieces;"
            " of each, only a window around the aspect is read"
            + (f"; {aspects} of the aspects are too long themselves and are cut at their end" if aspects else "")
        )

    def _row(self, example: Example, pieces: _Pieces) -> tuple[list[int], list[int], list[int]]:
        """Return the ids with special tokens and, in a pair, the aspect again; the word of each; the ids of the aspect."""
        (before, between, after), ids = self._template, pieces.ids
        aspect = [ids[place] for place in pieces.aspect(example)]
        if example.hidden:
            hidden, mask = example.hidden, self.tokenizer.mask_token_id
            ids = [mask if word in hidden else token for token, word in zip(ids, pieces.words, strict=True)]
        second = [*aspect, *after] if self.pair else []
        word_of = [SPECIAL] * len(before) + pieces.words + [SPECIAL] * len(between) + [SECOND] * len(second)
        return [*before, *ids, *between, *second], word_of, aspect

    def _tensors(self, examples: Sequence[Example], rows: Iterable[Any], labels: Sequence[str]) -> IndexedCorpus:
        ids, words_of, aspects = zip(*rows, strict=True)
        word_of = _padded(words_of, PADDING)
        table = Batch(
            positions=_padded(ids, self.tokenizer.pad_token_id),
            word_of=word_of,
            aspect=_padded(aspects, self.tokenizer.pad_token_id),
            aspect_span=torch.tensor([example.aspect for example in examples]),
            candidates=_candidates(examples, word_of),
            labels=label_ids(examples, labels),
            index=torch.arange(len(examples)),
        )
        words = torch.tensor([len(example.spans) for example in examples])
        widths = torch.stack([_lengths(ids), _lengths(aspects), words], dim=1)
        return IndexedCorpus(table, widths, self.tokenizer.mask_token_id)


def _candidates(examples: Sequence[Example], word_of: Tensor) -> Tensor:
    """Return (n, N): words that are read and may be attended or mined."""
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
    """Return the word of each character, SPECIAL if it has none."""
    words = [SPECIAL] * len(example.text)
    for word, (start, end) in enumerate(example.spans):
        words[start:end] = [word] * (end - start)
    return words


def _placed(pieces: list[tuple[int, Span]], text: str, word_at: list[int]) -> _Pieces:
    """Assign each piece to the word of its first character; white space alone belongs to none."""
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
    """Return where the text has to be cut: between words that share a piece, and around words without one."""
    text, cuts = example.text, set[int]()
    for (start, end), word in zip(pieces.spans, pieces.words, strict=True):
        if start < end and word_at[end - 1] != word:
            solid = [place for place in range(start, end) if not text[place].isspace()]
            cuts.update(place + 1 for place, after in pairwise(solid) if word_at[place] != word_at[after])
    for word in set(range(len(example.spans))).difference(pieces.words):
        start, end = example.spans[word]
        # White space belongs to the word after it.
        cuts.update({len(text[:start].rstrip()), end})
    return {place for place in cuts if 0 < place < len(text)}


def _padded(rows: Sequence[list[int]], filler: int) -> Tensor:
    lengths = _lengths(rows)[:, None]
    padded = torch.full((len(rows), int(lengths.max())), filler)
    padded[torch.arange(padded.shape[1]) < lengths] = torch.tensor(list(chain.from_iterable(rows)))
    return padded


def _lengths(rows: Iterable[list[int]]) -> Tensor:
    return torch.tensor([len(row) for row in rows])


@contextmanager
def _tokenizer_errors() -> Iterator[None]:
    """Turn an error of the tokenizer about its own files into an `InputError`."""
    try:
        yield
    except BaseException as error:
        if not is_fault(error):
            raise
        raise InputError(
            f"the encoder's tokenizer is unusable ({format_error(error)}); get its folder again"
        ) from error


def _pieces(encoding: Any, shift: int) -> list[tuple[int, Span]]:
    spans = [(start + shift, end + shift) for start, end in encoding.offsets] if shift else encoding.offsets
    return list(zip(encoding.ids, spans, strict=True))


def _copy(tokenizer: Any, changes: dict[str, dict[str, Any]]) -> Any:
    """Return a copy of the inner tokenizer that finds no special tokens in text, with `changes` to its steps by type."""
    backend = tokenizer.backend_tokenizer
    state = json.loads(backend.to_str())
    added = state["added_tokens"]
    special = {*tokenizer.all_special_tokens, *(token["content"] for token in added if token["special"])}
    names = {name: _UNREACHABLE + name for name in special}
    for token in added:
        token["content"] = names.get(token["content"], token["content"])
    # The switch below is not enough: some models, such as unigrams, find the names in their vocabulary.
    state["model"] = _renamed(state["model"], names)
    state |= {"truncation": None, "padding": None}
    state |= {step: _changed(state[step], changes) for step in ("normalizer", "pre_tokenizer")}
    copy = type(backend).from_str(json.dumps(state))
    copy.encode_special_tokens = True
    return copy


def _renamed(model: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Return a tokenizer's model with new names for some tokens, and without dropout."""
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
    """Return a step of a tokenizer, or a sequence of steps, with new values for some types."""
    if isinstance(step, list):
        return [_changed(part, changes) for part in step]
    if not isinstance(step, dict):
        return step
    return {name: _changed(value, changes) for name, value in step.items()} | changes.get(step.get("type", ""), {})
