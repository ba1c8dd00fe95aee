"""Cutters of every kind of tokenizer, and what they make of examples."""

from __future__ import annotations

from tests.models.tokenizers import KINDS

from pssa.data.example import DEFAULT_LABELS, Example
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
