"""The paper's footnote, rebuilt: targets cut by `strip` as in TNet's released code, which takes letters of the word along.

`"nicki/n".strip("/n")` is `"icki"`. A word of which nothing would be left stays whole.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pssa.data import Corpus, Example, read

__all__ = ["damaged", "strip_targets"]

_TAGS = {"positive": "/p", "negative": "/n", "neutral": "/0"}


def strip_targets(path: Path) -> Corpus:
    """The instances of a tagged file with their targets damaged."""
    corpus = read(path)
    return replace(corpus, examples=tuple(damaged(example) for example in corpus))


def damaged(example: Example) -> Example:
    """The example with every word of its target stripped of the tag's two characters on both sides."""
    tag = _TAGS[example.label or "neutral"]
    start, end = example.aspect
    words = list(example.words)
    words[start:end] = [(word + tag).strip(tag) or word for word in words[start:end]]
    spans, place = [], 0
    for word in words:
        spans.append((place, place + len(word)))
        place += len(word) + 1
    return replace(example, text=" ".join(words), spans=tuple(spans))
