"""The tagged format of the paper's public files: tokens separated by white space, those of the aspect with `/p`, `/n` or `/0`.

    the battery/p life/p is great

The aspect is the first run of tagged tokens, and its label that of the first of them; exactly the two-character suffix is
removed. Tokens elsewhere that look tagged (a literal `y/n`) are context and stay as they are. Tokens end at any white space,
including a no-break space.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from pssa.data.example import Example
from pssa.data.formats import Format, scan_lines
from pssa.data.rows import SAME_NAMES, Columns, Event, Problem, Row
from pssa.data.text_file import InputFile
from pssa.data.tokenize import split_on_space
from pssa.data.validation import shorten
from pssa.errors import InputError

_LABELS = {"/p": "positive", "/n": "negative", "/0": "neutral"}
_SUFFIXES = {label: suffix for suffix, label in _LABELS.items()}


def scan(file: InputFile, columns: Columns = SAME_NAMES) -> Iterator[Event]:
    """Yield a row for each line that is not blank; odd tags are warnings."""
    return scan_lines(file, _parse)


def encode(examples: Sequence[Example]) -> bytes:
    """Return one line per example: its words with one space between them."""
    lines = []
    for example in examples:
        suffix = _SUFFIXES.get(example.label or "")
        if suffix is None:
            raise InputError(f"example {example.id!r}: label {example.label!r} has no tag; use a format such as .jsonl")
        start, end = example.aspect
        words = example.words
        tagged = [token + suffix for word in words[start:end] for token in word.split()]
        line = " ".join(" ".join([*words[:start], *tagged, *words[end:]]).split())
        read_back = _parse(1, line)
        if isinstance(read_back, Problem) or read_back.fields["text"] != " ".join(" ".join(words).split()):
            what = f"another word looks tagged in {line!r}"
            raise InputError(f"example {example.id!r}: {what}; use a format such as .jsonl")
        lines.append(f"{line}\n")
    return "".join(lines).encode()


def is_tagged(token: str) -> bool:
    """Whether the token ends with a tag and is longer than it."""
    return len(token) > 2 and token[-2:] in _LABELS


def _parse(line: int, content: str) -> Row | Problem:
    tokens = content.split()
    start = next((index for index, token in enumerate(tokens) if is_tagged(token)), None)
    if start is None:
        what = "no word ends in /p, /n or /0; expected these tags on the words of the aspect"
        return Problem(line, what, given=" ".join(tokens))
    run = list(takewhile(is_tagged, tokens[start:]))
    end = start + len(run)
    text = " ".join((*tokens[:start], *(token[:-2] for token in run), *tokens[end:]))
    words = split_on_space(text)
    offsets = {"from": words[start][0], "to": words[end - 1][1]}
    fields = {"text": text, **offsets, "label": _LABELS[run[0][-2:]], "words": words}
    warnings = []
    if len({token[-2:] for token in run}) > 1:
        warnings.append(f"the aspect has different tags, {shorten(' '.join(run))}; the first one is taken")
    if others := [token for token in tokens[end:] if is_tagged(token)]:
        warnings.append(f"tags after the aspect, {shorten(' '.join(others))}, are read as context")
    return Row(line, fields, tuple(warnings))


FORMAT = Format(
    scan=scan,
    encode=encode,
    likelihood=lambda lines: 0.4 * any(is_tagged(token) for line in lines for token in line.split()),
)
