"""`PlainTokenizer`: the fast tokenizer of an encoder, which reads text as nothing but text.

It wraps a copy of the tokenizer. Special tokens that a text spells out (`[SEP]`, `<mask>`) are plain characters to it, and a text
can be cut at given offsets.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from pssa.data.features import Array
from pssa.models._encoder_folder import refuse_faults

# Text after a cut does not begin a sentence: the tokenizer must not add a space before it, nor strip the one that it has.
_AFTER_A_CUT: dict[str, dict[str, Any]] = {
    "ByteLevel": {"add_prefix_space": False},
    "Metaspace": {"prepend_scheme": "never"},
    "Prepend": {"type": "Sequence", "normalizers": []},
    "Strip": {"strip_left": False},
}
# A prefix that no text can spell: tokenizers split at spaces or replace them.
_UNREACHABLE = "\0 "


class ReadPieces(NamedTuple):
    """Pieces of several texts as parallel arrays: an object for each piece would be too slow."""

    rows: Array  # the number of the text, ascending
    ids: Array
    starts: Array  # character offsets in the text
    ends: Array


@dataclass(frozen=True)
class PlainTokenizer:
    """A fast tokenizer, with a mask and a padding token, that reads text as nothing but text."""

    tokenizer: Any

    @property
    def unknown_id(self) -> int:
        """Id of the unknown token; of the mask token if the tokenizer reads bytes and has none."""
        unknown = self.tokenizer.unk_token_id
        return int(self.tokenizer.mask_token_id if unknown is None else unknown)

    def template(self, pair: bool) -> tuple[list[int], ...]:
        """Return the special tokens that the tokenizer puts before a text, after it, and after the second of a pair."""
        with refuse_faults("the encoder's tokenizer is unusable", "get its folder again"):
            sample = self._first.encode("a", "a" if pair else None)
        sides: tuple[list[int], ...] = ([], [], [])
        passed = 0
        for token, segment in zip(sample.ids, sample.sequence_ids, strict=True):
            if segment is None:
                sides[passed].append(token)
            else:
                passed = segment + 1
        return sides

    def read(self, texts: Sequence[str], cuts: Sequence[Sequence[int]]) -> ReadPieces:
        """Return the pieces of all texts, in order; no piece crosses one of the ascending cuts of its text."""
        # A tokenizer refuses half of a surrogate pair; any other character keeps the offsets.
        texts = [text if text.isascii() else text.encode("utf-8", "replace").decode() for text in texts]
        heads = [text[: cut[0]] if cut else text for text, cut in zip(texts, cuts, strict=True)]
        tails = [
            (row, start, texts[row][start:end])
            for row, cut in enumerate(cuts)
            if cut
            for start, end in pairwise([*cut, len(texts[row])])
        ]
        with refuse_faults("the encoder's tokenizer is unusable", "get its folder again"):
            found = self._first.encode_batch(heads, add_special_tokens=False)
            if tails:
                found += self._rest.encode_batch([text for _, _, text in tails], add_special_tokens=False)
        rows = np.array([*range(len(texts)), *(row for row, _, _ in tails)])
        shifts = np.array([0] * len(texts) + [start for _, start, _ in tails])
        ids = [encoding.ids for encoding in found]
        counts = [*map(len, ids)]
        spans = flat_array(chain.from_iterable(encoding.offsets for encoding in found)).reshape(-1, 2)
        spans += np.repeat(shifts, counts)[:, None]
        pieces = ReadPieces(np.repeat(rows, counts), flat_array(ids), spans[:, 0], spans[:, 1])
        if not tails:
            return pieces
        order = pieces.rows.argsort(kind="stable")  # what follows a cut comes after what is before it
        return ReadPieces(*(column[order] for column in pieces))

    @cached_property
    def _first(self) -> Any:
        return _copy(self.tokenizer, {})

    @cached_property
    def _rest(self) -> Any:
        return _copy(self.tokenizer, _AFTER_A_CUT)


def flat_array(rows: Iterable[Iterable[int]]) -> Array:
    """Return the numbers of all rows, one after the other."""
    return np.fromiter(chain.from_iterable(rows), np.int64)


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
