"""Marked-up sentences, `The [screen|positive] is bright.`, and the sectioned text files that hold them.

Hand-written and generated sentences share this notation, so offsets are computed in one place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pssa.data.example import DEFAULT_LABELS, Example
from pssa.errors import InputError

__all__ = ["FOLDER", "parse", "read_sections"]

FOLDER = Path(__file__).parent

_MENTION = re.compile(r"\[([^\[\]|]+)\|([a-z]+)\]")
_SECTION = re.compile(r"\[([a-z -]+)\]")


def parse(markup: str, sentence_id: str) -> tuple[Example, ...]:
    """One example for each marked aspect, in order; their ids count from 1 behind the sentence's.

    :raises InputError: if no aspect is marked or a label is unknown.
    """
    text, mentions = _MENTION.sub(r"\1", markup), list(_MENTION.finditer(markup))
    if not mentions or any(mention[2] not in DEFAULT_LABELS for mention in mentions):
        raise InputError(f"expected aspects marked as [words|label], label one of {DEFAULT_LABELS}: {markup!r}")
    examples, removed = [], 0
    for number, mention in enumerate(mentions, start=1):
        start = mention.start() - removed
        end = start + len(mention[1])
        removed += len(mention[0]) - len(mention[1])
        id = f"{sentence_id}-{number}"
        examples.append(Example.from_text(text, (start, end), label=mention[2], id=id, sentence_id=sentence_id))
    return tuple(examples)


def read_sections(name: str) -> dict[str, tuple[str, ...]]:
    """The lines of each `[section]` of a file of this folder, without comments and empty lines."""
    sections: dict[str, list[str]] = {}
    for number, line in _content(FOLDER / name):
        heading = _SECTION.fullmatch(line)
        if heading:
            lines = sections.setdefault(heading[1], [])
        elif sections:
            lines.append(line)
        else:
            raise InputError.at(name, number, f"expected a [section] before the first line, found {line!r}")
    return {section: tuple(lines) for section, lines in sections.items()}


def _content(path: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            yield number, line.strip()
