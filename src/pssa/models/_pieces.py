"""`PieceCutter`: examples to arrays for encoders that read word pieces, `[CLS] x [SEP]` or `[CLS] x [SEP] aspect [SEP]`.

A text is tokenised as a whole, as in the encoder's pretraining, and a piece belongs to the word that contains it. If a piece
crosses the end of a word (`'t` for our `'` and `t`), or a word gets no piece, the text is cut there and tokenised again.

All texts are worked on together, as arrays: beside a GPU, a loop over pieces in Python would take most of the time.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pssa.data.example import Example
from pssa.data.features import PADDING, SECOND, SPECIAL, Array, Features, label_ids
from pssa.data.tokenize import Span
from pssa.errors import InputError, PssaWarning
from pssa.models._plain_tokenizer import PlainTokenizer, ReadPieces, flat_array

_IS_SPACE = np.array([chr(code).isspace() for code in range(0x3002)])  # no character beyond is white space


class _Pieces(NamedTuple):
    """The pieces of all examples as parallel arrays."""

    rows: Array  # the number of the example, ascending
    ids: Array
    starts: Array  # character offsets in the text, without white space around the piece
    ends: Array
    words: Array  # SPECIAL for a piece without a word

    def take(self, chosen: npt.NDArray[Any] | slice) -> _Pieces:
        """Return some of the pieces."""
        return _Pieces(*(column[chosen] for column in self))

    def of(self, row: int) -> slice:
        """Return where the pieces of an example are."""
        first, end = np.searchsorted(self.rows, (row, row + 1)).tolist()
        return slice(first, end)

    def spans(self, row: int) -> list[Span]:
        """Return the character offsets of the pieces of an example."""
        part = self.of(row)
        return list(zip(self.starts[part].tolist(), self.ends[part].tolist(), strict=True))


@dataclass(frozen=True)
class PieceCutter:
    """Turns examples into arrays for an encoder; `pair` adds the aspect as a second segment."""

    tokenizer: Any  # a fast tokenizer of Hugging Face, never changed
    max_positions: int
    pair: bool = False

    def __post_init__(self) -> None:
        least = self._n_special + 1 + self.pair
        if self.max_positions < least:
            raise InputError(f"{self.max_positions} positions are too few for a sentence; give at least {least}")

    def read(self, examples: Sequence[Example]) -> ReadPieces:
        """Tokenise the texts; other threads of Python can run meanwhile."""
        return self._reader.read([example.text for example in examples], [()] * len(examples))

    def features(self, examples: Sequence[Example], labels: Sequence[str], read: ReadPieces | None = None) -> Features:
        """Turn examples into arrays for models whose positions are pieces.

        The encoder reads a window around the aspect of a sentence that is too long; one warning counts these sentences.

        :param read: what `read` returned for the examples, if that is known.
        """
        if not examples:
            raise InputError("the corpus is empty; give at least one example")
        aspects = _aspects(examples)
        cut = self._cut(examples, read)
        seen = self._windows(cut, aspects)
        if seen is not cut:
            warnings.warn(PssaWarning(self._describe_lost(cut, seen, aspects)), stacklevel=2)
        return self._features(examples, seen, aspects, label_ids(examples, labels))

    def count_positions(self, examples: Sequence[Example]) -> list[int]:
        """Return how many positions each sentence needs to be read as a whole, special tokens included."""
        counts = np.bincount(self._cut(examples).rows, minlength=len(examples))
        found: list[int] = (len(self._template) + counts).tolist()
        return found

    def recut(self, example: Example) -> Example:
        """Return the example, which has no hidden words, with pieces as its words; the bytes of a character are one word."""
        if example.hidden:
            raise InputError(f"example {example.id} has hidden words, which have no pieces; recut before hiding words")
        # Only the ends of the aspect have to be kept.
        pieces = self._cut([replace(example, spans=(example.aspect_chars,), aspect=(0, 1))])
        word_at = _Texts([example]).word_at.tolist()
        spans: list[Span] = []
        aspect: set[int] = set()
        for (start, end), word in zip(pieces.spans(0), pieces.words.tolist(), strict=True):
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

    def _cut(self, examples: Sequence[Example], read: ReadPieces | None = None) -> _Pieces:
        """Return the pieces of each example, each within one word and, if possible, at least one for each word."""
        texts, cuts = _Texts(examples), dict[int, set[int]]()
        done, left = [], np.arange(len(examples))
        while len(left):
            if read is None:
                places = [sorted(cuts.get(row, ())) for row in left.tolist()]
                read = self._reader.read([examples[row].text for row in left.tolist()], places)
            pieces, read = texts.place(read, left), None
            again = [row for row in texts.suspects(pieces, left) if _add_cuts(cuts, pieces, row, texts)]
            done.append(pieces.take(~np.isin(pieces.rows, again)) if again else pieces)
            left = np.array(again, dtype=np.int64)
        found = done[0]
        if len(done) > 1:
            found = _Pieces(*map(np.concatenate, zip(*done, strict=True)))
            found = found.take(found.rows.argsort(kind="stable"))
        return self._with_aspects(examples, found)

    def _with_aspects(self, examples: Sequence[Example], pieces: _Pieces) -> _Pieces:
        """Return the pieces, with the unknown token for an aspect that the tokenizer drops."""
        n_pieces = np.bincount(pieces.rows[_is_aspect(pieces, _aspects(examples))], minlength=len(examples))
        lost = np.flatnonzero(n_pieces == 0).tolist()
        if not lost:
            return pieces
        starts, ends = zip(*(examples[row].aspect_chars for row in lost), strict=True)
        words = [examples[row].aspect[0] for row in lost]
        unknown = lost, [self._reader.unknown_id] * len(lost), starts, ends, words
        joined = _Pieces(*(np.concatenate([new, column]) for new, column in zip(unknown, pieces, strict=True)))
        return joined.take(np.lexsort((joined.starts, joined.rows)))

    def _windows(self, pieces: _Pieces, aspects: Array) -> _Pieces:
        """Return the pieces that fit: those of the aspect, then equally many left and right of it."""
        room, counts = self.max_positions - self._n_special, np.bincount(pieces.rows, minlength=len(aspects))
        is_aspect = _is_aspect(pieces, aspects)
        needed = counts + self.pair * np.bincount(pieces.rows[is_aspect], minlength=len(aspects))
        if not (too_long := np.flatnonzero(needed > room).tolist()):
            return pieces
        is_read = np.ones(len(pieces.rows), dtype=bool)
        for row in too_long:
            part = pieces.of(row)
            is_read[part] = False
            places = np.flatnonzero(is_aspect[part]).tolist()
            first, end = places[0], places[-1] + 1
            spare = room - (end - first) - len(places) * self.pair
            if spare < 0:
                end = first + room // (1 + self.pair)
            else:
                left = min(first, max(spare // 2, spare - (counts[row] - end)))
                first, end = first - left, end + spare - left
            is_read[part.start + first : part.start + end] = True
        return pieces.take(is_read)

    def _describe_lost(self, cut: _Pieces, read: _Pieces, aspects: Array) -> str:
        """Return a warning about sentences that are not read as a whole."""
        before, after = (np.bincount(pieces.rows, minlength=len(aspects)) for pieces in (cut, read))
        whole, left = (
            np.bincount(pieces.rows[_is_aspect(pieces, aspects)], minlength=len(aspects)) for pieces in (cut, read)
        )
        n_cut = int((left < whole).sum())
        return (
            f"{int((after < before).sum())} of {len(aspects)} sentences are longer than {self.max_positions} pieces;"
            " of each, only a window around the aspect is read"
            + (f"; {n_cut} of the aspects are too long themselves and are cut at their end" if n_cut else "")
        )

    def _features(self, examples: Sequence[Example], pieces: _Pieces, aspects: Array, labels: Array) -> Features:
        """Return the arrays: a row has its pieces between special tokens and, in a pair, the aspect's once more."""
        (before, between, after), n = self._template, len(examples)
        is_aspect, is_word = _is_aspect(pieces, aspects), pieces.words >= 0
        hidden = np.zeros((n, max(len(example.spans) for example in examples)), dtype=bool)
        for row, example in enumerate(examples):
            if example.hidden:
                hidden[row, list(example.hidden)] = True
        candidates = np.zeros_like(hidden)
        candidates[pieces.rows[is_word], pieces.words[is_word]] = ~is_aspect[is_word]
        is_masked = is_word & hidden[pieces.rows, np.maximum(pieces.words, 0)]
        counts, n_aspect = (np.bincount(rows, minlength=n) for rows in (pieces.rows, pieces.rows[is_aspect]))
        second = len(before) + counts + len(between)  # where the aspect follows
        widths = second + (n_aspect + len(after)) * self.pair
        shape, every, padding = (n, int(widths.max())), np.arange(n), self.tokenizer.pad_token_id
        ids, word_of = np.full(shape, padding), np.full(shape, PADDING)
        ids[:, : len(before)], word_of[:, : len(before)] = before, SPECIAL
        places = len(before) + _places(pieces.rows, counts)
        ids[pieces.rows, places] = np.where(is_masked, self.tokenizer.mask_token_id, pieces.ids)
        word_of[pieces.rows, places] = pieces.words
        for place, token in enumerate(between):
            ids[every, len(before) + counts + place], word_of[every, len(before) + counts + place] = token, SPECIAL
        of_aspect = pieces.take(is_aspect)
        places = _places(of_aspect.rows, n_aspect)
        aspect = np.full((n, int(n_aspect.max())), padding)
        aspect[of_aspect.rows, places] = of_aspect.ids
        if self.pair:
            ids[of_aspect.rows, second[of_aspect.rows] + places] = of_aspect.ids
            for place, token in enumerate(after):
                ids[every, second + n_aspect + place] = token
            columns = np.arange(shape[1])
            word_of[(columns >= second[:, None]) & (columns < widths[:, None])] = SECOND
        return Features(
            positions=ids,
            word_of=word_of,
            aspect=aspect,
            aspect_span=aspects,
            candidates=candidates & ~hidden,
            labels=labels,
            widths=np.stack([widths, n_aspect, [len(example.spans) for example in examples]], axis=1),
            mask_id=self.tokenizer.mask_token_id,
        )


class _Texts:
    """The characters of all examples, one text after the other, and their words."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.examples = examples
        lengths, n_words = (
            np.array([*map(len, rows)], dtype=np.int64)
            for rows in ([example.text for example in examples], [example.spans for example in examples])
        )
        self.begins, self._first_word = lengths.cumsum() - lengths, n_words.cumsum() - n_words
        self._row_of_word = np.repeat(np.arange(len(examples)), n_words)
        spans = flat_array(chain.from_iterable(example.spans for example in examples)).reshape(-1, 2)
        sizes = spans[:, 1] - spans[:, 0]
        starts = np.repeat(spans[:, 0] + self.begins[self._row_of_word], sizes)
        words = np.arange(len(spans)) - self._first_word[self._row_of_word]
        # One more than there are characters: a piece may lie behind the last.
        self.word_at = np.full(int(lengths.sum()) + 1, SPECIAL)
        self.word_at[starts + _places(np.repeat(np.arange(len(sizes)), sizes), sizes)] = np.repeat(words, sizes)

    def place(self, pieces: ReadPieces, rows: Array) -> _Pieces:
        """Assign each piece to the word of its first character; white space alone belongs to none.

        :param rows: the examples whose texts were read.
        """
        of = rows[pieces.rows]
        begins = self.begins[of]
        starts, ends = pieces.starts + begins, pieces.ends + begins
        next_solid, last_solid = self._solid
        starts = np.minimum(next_solid[starts], ends)
        ends = np.where(starts < ends, last_solid[ends - 1] + 1, ends)
        words = np.where(starts < ends, self.word_at[starts], SPECIAL)
        return _Pieces(of, pieces.ids, starts - begins, ends - begins, words)

    def suspects(self, pieces: _Pieces, rows: Array) -> list[int]:
        """Return those of `rows` that have a piece across the end of a word, or a word without a piece."""
        last = self.word_at[self.begins[pieces.rows] + pieces.ends - 1]
        crossing = pieces.rows[(pieces.starts < pieces.ends) & (last != pieces.words)]
        is_lost = np.zeros(len(self.examples), dtype=bool)
        is_lost[rows] = True
        is_lost = is_lost[self._row_of_word]
        real = pieces.words >= 0
        is_lost[self._first_word[pieces.rows[real]] + pieces.words[real]] = False
        found: list[int] = np.union1d(crossing, self._row_of_word[is_lost]).tolist()
        return found

    @cached_property
    def _solid(self) -> tuple[Array, Array]:
        """For each character, the first that is no white space from it on, and the last up to it."""
        text = "".join([example.text for example in self.examples])
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        is_space = _IS_SPACE[np.minimum(codes, len(_IS_SPACE) - 1)]
        places = np.arange(len(codes))
        following = np.minimum.accumulate(np.where(is_space, len(codes), places)[::-1])[::-1]
        return np.append(following, len(codes)), np.maximum.accumulate(np.where(is_space, -1, places))


def _add_cuts(cuts: dict[int, set[int]], pieces: _Pieces, row: int, texts: _Texts) -> bool:
    """Cut the text of an example between words that share a piece, and around words without one; whether that is new."""
    example, before = texts.examples[row], cuts.get(row, set())
    text, begin = example.text, int(texts.begins[row])
    word_at = texts.word_at[begin : begin + len(text)].tolist()
    words = pieces.words[pieces.of(row)].tolist()
    found = set[int]()
    for (start, end), word in zip(pieces.spans(row), words, strict=True):
        if start < end and word_at[end - 1] != word:
            solid = [place for place in range(start, end) if not text[place].isspace()]
            found.update(place + 1 for place, after in pairwise(solid) if word_at[place] != word_at[after])
    for word in set(range(len(example.spans))).difference(words):
        start, end = example.spans[word]
        # White space belongs to the word after it.
        found.update({len(text[:start].rstrip()), end})
    cuts[row] = before | {place for place in found if 0 < place < len(text)}
    return len(cuts[row]) > len(before)


def _aspects(examples: Sequence[Example]) -> Array:
    """Return (n, 2): the aspects' word offsets."""
    return flat_array(example.aspect for example in examples).reshape(-1, 2)


def _is_aspect(pieces: _Pieces, aspects: Array) -> npt.NDArray[np.bool_]:
    first, end = aspects[pieces.rows].T
    found: npt.NDArray[np.bool_] = (pieces.words >= first) & (pieces.words < end)
    return found


def _places(rows: Array, counts: Array) -> Array:
    """Return the place of each entry in its row; `rows` ascend, and `counts` says how often each occurs."""
    return np.arange(len(rows)) - (counts.cumsum() - counts)[rows]
