"""The three-line format (`.seg`, `.raw`): a sentence with `$T$` for the aspect, the aspect, the label.

    the $T$ is great
    battery life
    1

Every `$T$` stands for the aspect; the first is the instance's, the others are context. Labels are 1, 0, -1 or names.
Tokens are cut at white space and at the aspect, nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pssa.data.example import Example
from pssa.data.formats._rows import Event, Problem, Row
from pssa.data.formats._text import LONGEST_TEXT, all_lines, decoding_fault
from pssa.data.tokenize import split_on_space
from pssa.errors import InputError

__all__ = ["PLACEHOLDER", "encode", "scan"]

PLACEHOLDER = "$T$"
_LABELS = {"1": "positive", "0": "neutral", "-1": "negative"}
_NUMBERS = {label: number for number, label in _LABELS.items()}


def scan(path: Path) -> Iterator[Event]:
    """A row for each three lines, blank ones skipped; after a fault it goes on at the next line with `$T$`."""
    group: list[tuple[int, str]] = []
    for line, content in all_lines(path):
        if not content.strip():
            continue
        if PLACEHOLDER in content and group:
            yield _incomplete(group)
            group = []
        group.append((line, content.strip()))
        if PLACEHOLDER not in group[0][1]:
            other = f"expected a sentence with {PLACEHOLDER} in it; every instance is three lines"
            yield Problem(line, decoding_fault(content) or other, given=group[0][1])
            group = []
        elif len(group) == 3:
            yield _parse(group[0][0], [content for _, content in group])
            group = []
    if group:
        yield _incomplete(group)


def encode(examples: Sequence[Example]) -> bytes:
    """Three lines an example: its words with one space between them."""
    return "".join(f"{line}\n" for example in examples for line in _lines(example)).encode()


def _incomplete(group: list[tuple[int, str]]) -> Problem:
    what = f"has {len(group)} of three lines; expected the sentence, the aspect and the label"
    return Problem(group[0][0], what, given="\n".join(content for _, content in group))


def _parse(line: int, group: Sequence[str]) -> Row | Problem:
    fault = decoding_fault(" ".join(group))
    if fault:
        return Problem(line, fault, given="\n".join(group))
    sentence, aspect, label = group
    # A long aspect in many places would make gigabytes of two short lines.
    length = len(sentence) + sentence.count(PLACEHOLDER) * (len(aspect) - len(PLACEHOLDER))
    if length > LONGEST_TEXT:
        what = f"has {length} characters; expected a sentence, of at most {LONGEST_TEXT}"
        return Problem(line, what, given="\n".join(group))
    before, _, after = sentence.partition(PLACEHOLDER)
    text = before + aspect + after.replace(PLACEHOLDER, aspect)
    start, end = len(before), len(before) + len(aspect)
    words = split_on_space(text, (start, end))
    return Row(line, {"text": text, "from": start, "to": end, "label": _LABELS.get(label, label), "words": words})


def _lines(example: Example) -> tuple[str, str, str]:
    start, end = example.aspect
    words = [" ".join(word.split()) for word in example.words]
    sentence = " ".join((*words[:start], PLACEHOLDER, *words[end:]))
    aspect = " ".join(words[start:end])
    if sentence.count(PLACEHOLDER) > 1 or PLACEHOLDER in aspect:
        raise InputError(
            f"example {example.id!r}: the text itself holds {PLACEHOLDER}; use another format, such as .jsonl"
        )
    if example.label is None or example.label in _LABELS or not example.label.strip():
        raise InputError(
            f"example {example.id!r}: label {example.label!r} has no place here; use another format, such as .jsonl"
        )
    return sentence, aspect, _NUMBERS.get(example.label, example.label)
