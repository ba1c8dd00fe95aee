"""From raw text to aspects that can be judged.

`find_in_texts` splits each text into sentences, asks a `Finder` for the aspects of each, and returns them with their offsets in
the text. There are two finders: `AspectFinder`, a trained tagger (`pssa.aspects.tagger`), and `NameFinder`
(`pssa.aspects.names`), which finds given names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from pssa.aspects.sentences import split_sentences
from pssa.data.files import require_contained
from pssa.data.tokenize import Span
from pssa.errors import InputError, setting
from pssa.runs.directory import RunDirectory, read_json
from pssa.runs.run_names import resolve_run

FOLDER = "aspects"  # of the tagger within the run of a classifier
TAGGERS = ("tagger", "encoder_tagger")  # models
OLDER_FILE = "tagger.json"  # of taggers of earlier versions, which have no model.json
FIND_ADVICE = (
    f"to find aspects, name a tagger with {setting('aspects_from', 'DIR')}, use the one that comes with the package with"
    f" {setting('aspects_from', 'starter')}, or name aspects with {setting('aspects', 'food,wifi')}"
)
_SHORT = 4000  # characters of texts of which many are kept
Place = tuple[int, int, int]  # number of a text, and where a sentence of it begins and ends


def has_tagger(run: Path) -> bool:
    """Return whether the run of a classifier has a tagger, finished or not."""
    return is_tagger(run / FOLDER)


def is_tagger(folder: Path) -> bool:
    """Return whether a folder is the run of a tagger."""
    if (folder / OLDER_FILE).is_file():
        return True
    path = folder / "model.json"
    found = read_json(path) if path.is_file() else None
    return isinstance(found, dict) and found.get("model") in TAGGERS


def open_tagger(root: Path) -> RunDirectory:
    """Return the directory of a tagger, or of the tagger within the run of a classifier.

    :raises InputError: if `root` is something else, or a link in it leads outside.
    """
    root = resolve_run(root)
    if not root.is_dir():
        what = "is a file" if root.exists() else "does not exist"
        raise InputError(f"{root} {what}; expected the run of a tagger, created by `pssa train --model tagger --out`")
    folder = root / FOLDER if has_tagger(root) else root
    if not is_tagger(folder):
        what = "the run of a classifier" if (root / "model.json").is_file() else "no run"
        raise InputError(f"{root} is {what} and not of a tagger; train one with `pssa train --model tagger`")
    require_contained(folder)
    return RunDirectory(folder)


class Finder(Protocol):
    """Finds aspects in sentences."""

    def find_in_sentences(self, sentences: Sequence[str]) -> list[tuple[Span, ...]]:
        """Return the character offsets of the aspects of each sentence, in order and without overlap."""


@dataclass(frozen=True, slots=True)
class FoundAspect:
    """An aspect that was found in a text."""

    aspect: str  # as it stands in the text
    start: int  # character offsets in the text
    end: int


_split_short, _split_long = lru_cache(1024)(split_sentences), lru_cache(4)(split_sentences)


def sentences_of(text: str) -> tuple[Span, ...]:
    """Return the sentences of a text, which is asked for them when its aspects are found, judged and noted."""
    return _split_short(text) if len(text) <= _SHORT else _split_long(text)


def find_in_texts(finder: Finder, texts: Sequence[str]) -> list[tuple[FoundAspect, ...]]:
    """Return the aspects of each text, in order and without overlap; a text may have several sentences, or none."""
    places = [(row, start, end) for row, text in enumerate(texts) for start, end in sentences_of(text)]
    found: list[list[FoundAspect]] = [[] for _ in texts]
    for row, aspect in find_at(finder, texts, places):
        found[row].append(aspect)
    return [tuple(each) for each in found]


def find_at(finder: Finder, texts: Sequence[str], places: Sequence[Place]) -> Iterator[tuple[int, FoundAspect]]:
    """Yield the aspects of some sentences, each with the number of its text."""
    sentences = [texts[row][start:end] for row, start, end in places]
    for (row, offset, _), sentence, spans in zip(places, sentences, finder.find_in_sentences(sentences), strict=True):
        for start, end in spans:
            yield row, FoundAspect(sentence[start:end], start + offset, end + offset)
