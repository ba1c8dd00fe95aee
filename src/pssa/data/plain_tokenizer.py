"""`PlainTokenizer`: a pretrained encoder's tokenizer, reading text as nothing but text.

It is a copy of a fast Hugging Face tokenizer that is handed in and never changed. Special tokens that a text spells out
(`[SEP]`, `<mask>`) are plain characters to it, and a text can be cut at given places before it is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from pssa.data.tokenize import Span
from pssa.data.validation import format_error, is_fault
from pssa.errors import InputError

__all__ = ["PlainTokenizer", "Template"]

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
