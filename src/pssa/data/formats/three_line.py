"""The three-line format (`.seg`, `.raw`): a sentence with `$T$` for the aspect, the aspect, the label.

    the $T$ is great
    battery life
    1

Every `$T$` stands for the aspect; the first is the instance's, the others are context. Labels are 1, 0, -1 or names.
Tokens end at white space and at the aspect, nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pssa.data.example import Example
from pssa.data.formats import Format
from pssa.data.rows import SAME_NAMES, Columns, Event, Problem, Row
from pssa.data.text_file import MAX_TEXT, InputFile, describe_damage, read_text_leniently
from pssa.data.tokenize import split_on_space
from pssa.errors import InputError

_PLACEHOLDER = "$T$"
_LABELS = {"1": "positive", "0": "neutral", "-1": "negative"}
_NUMBERS = {label: number for number, label in _LABELS.items()}


def scan(file: InputFile, columns: Columns = SAME_NAMES) -> Iterator[Event]:
    """Yield a row for each three lines, blank ones skipped; after a fault, continue at the next line with `$T$`."""
    group: list[tuple[int, str]] = []
    for line, content in read_text_leniently(file):
        if not content.strip():
            continue
        if _PLACEHOLDER in content and group:
            yield _incomplete(group)
            group = []
        group.append((line, content.strip()))
        if _PLACEHOLDER not in group[0][1]:
            other = f"expected a sentence with {_PLACEHOLDER} in it; every instance is three lines"
            yield Problem(line, describe_damage(content) or other, given=group[0][1])
            group = []
        elif len(group) == 3:
            line, lines = group[0][0], [content for _, content in group]
            try:
                yield _parse(line, *lines)
            except InputError as error:
                yield Problem(line, error.message, given="\n".join(lines))
            group = []
    if group:
        yield _incomplete(group)


def encode(examples: Sequence[Example]) -> bytes:
    """Return three lines per example: its words with one space between them."""
    lines: list[str] = []
    for example in examples:
        start, end = example.aspect
        words = [" ".join(word.split()) for word in example.words]
        sentence = " ".join((*words[:start], _PLACEHOLDER, *words[end:]))
        aspect = " ".join(words[start:end])
        if sentence.count(_PLACEHOLDER) > 1 or _PLACEHOLDER in aspect:
            raise InputError(f"example {example.id!r}: the text contains {_PLACEHOLDER}; use a format such as .jsonl")
        if example.label is None or example.label in _LABELS or not example.label.strip():
            what = f"this format cannot hold the label {example.label!r}"
            raise InputError(f"example {example.id!r}: {what}; use a format such as .jsonl")
        lines += [sentence, aspect, _NUMBERS.get(example.label, example.label)]
    return "".join(f"{line}\n" for line in lines).encode()


def _incomplete(group: list[tuple[int, str]]) -> Problem:
    what = f"has {len(group)} of three lines; expected the sentence, the aspect and the label"
    return Problem(group[0][0], what, given="\n".join(content for _, content in group))


def _parse(line: int, sentence: str, aspect: str, label: str) -> Row:
    if fault := describe_damage(f"{sentence} {aspect} {label}"):
        raise InputError(fault)
    # A long aspect in many places can make gigabytes of two short lines.
    length = len(sentence) + sentence.count(_PLACEHOLDER) * (len(aspect) - len(_PLACEHOLDER))
    if length > MAX_TEXT:
        raise InputError(f"has {length} characters; expected a sentence of at most {MAX_TEXT}")
    before, _, after = sentence.partition(_PLACEHOLDER)
    text = before + aspect + after.replace(_PLACEHOLDER, aspect)
    start, end = len(before), len(before) + len(aspect)
    words = split_on_space(text, (start, end))
    return Row(line, {"text": text, "from": start, "to": end, "label": _LABELS.get(label, label), "words": words})


FORMAT = Format(
    scan=scan,
    encode=encode,
    write_extensions=(".raw", ".seg"),
    likelihood=lambda lines: 0.8 * any(_PLACEHOLDER in line for line in lines),
)
