"""The two splits as examples: the sentences written by hand, then the grammar's, tagged with their slices."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from embedded.cues import find_cues, is_misleading
from embedded.markup import parse, read_sections
from embedded.plan import TEST, TRAIN, Drawing
from embedded.sentences import assemble
from pssa.data.example import Example
from pssa.data.fields import fields_of

__all__ = ["PACKAGED", "build", "to_json_lines"]

PACKAGED = Path(__file__).resolve().parents[2] / "src" / "pssa" / "data" / "embedded"

_PLANS = {"train": TRAIN, "test": TEST}


@dataclass(frozen=True, slots=True)
class _Sentence:
    markup: str
    origin: str  # hand or grammar
    domain: str  # laptop or restaurant


def build(seed: int) -> dict[str, tuple[Example, ...]]:
    """Both splits, by name."""
    drawing = Drawing(seed)
    splits = {}
    for split, plan in _PLANS.items():
        sentences = _handwritten(split)
        clauses = drawing.draw(plan, _count_rare(sentences))
        sentences += [_Sentence(markup, "grammar", domain) for domain, markup in assemble(clauses, drawing.rng)]
        splits[split] = tuple(
            example
            for number, sentence in enumerate(sentences, start=1)
            for example in _tagged(sentence, f"{split}-{number:04d}", split)
        )
    return splits


def to_json_lines(examples: Iterable[Example]) -> str:
    """One object a line, offsets in characters."""
    return "".join(json.dumps(_record(example)) + "\n" for example in examples)


def _handwritten(split: str) -> list[_Sentence]:
    sections = read_sections("handwritten.txt")
    return [
        _Sentence(line, "hand", domain) for domain in ("laptop", "restaurant") for line in sections[f"{split} {domain}"]
    ]


def _count_rare(sentences: Sequence[_Sentence]) -> Counter[str]:
    return Counter(
        word for sentence in sentences for cues in find_cues(parse(sentence.markup, "")) for word in cues.rare
    )


def _tagged(sentence: _Sentence, sentence_id: str, split: str) -> list[Example]:
    examples = parse(sentence.markup, sentence_id)
    tagged = []
    for example, cues in zip(examples, find_cues(examples), strict=True):
        slices = ("misleading" if is_misleading(cues, example.label) else "plain",) if split == "test" else ()
        tagged.append(replace(example, tags=(*slices, sentence.origin, sentence.domain)))
    return tagged


def _record(example: Example) -> dict[str, object]:
    fields = fields_of(example)
    del fields["words"]  # the tokeniser finds them again
    return fields
