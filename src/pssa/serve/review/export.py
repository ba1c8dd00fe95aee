"""The outcome of a review: a new evidence file whose header says which words were changed, and the command to train with it."""

from __future__ import annotations

import filecmp
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from pssa.data.evidence import Evidence
from pssa.data.evidence_file import write_evidence
from pssa.serve.review.command import training_command
from pssa.serve.review.sentence import DROP, FLIP, Sentence
from pssa.serve.review.session import Review

__all__ = ["Export", "export", "reviewed"]


@dataclass(frozen=True)
class Export:
    """What was written."""

    path: Path
    edits: tuple[str, ...]  # that the review added to the header
    command: str  # trains with it


def export(review: Review) -> Export:
    """Write the evidence as reviewed beside the evidence file, under a name that is still free.

    Where nothing was changed since the last export, that file is the answer.
    """
    name = review.sources.evidence.name.removesuffix(".gz").removesuffix(".jsonl")
    with review.lock:
        evidence = reviewed(review)
        paths = (review.sources.evidence.with_name(f"{name}.reviewed-{number}.jsonl") for number in count(1))
        latest = None
        for path in paths:
            if not path.exists():
                break
            latest = path
        write_evidence(evidence, path)
        if latest is not None and filecmp.cmp(latest, path, shallow=False):
            path.unlink()
            path = latest
    command = training_command(review.sources, review.header, path)
    return Export(path, evidence.header.edits[len(review.header.edits) :], command)


def reviewed(review: Review) -> Evidence:
    """The evidence as it is now; its header has a line for the review and one for each word that differs from the file."""
    sentences = tuple(review.sentences)
    lines = [line for sentence in sentences if sentence.changed for line in _edits(sentence)]
    summary = f"review of {review.sources.digest[:12]}: {len(lines)} changed"
    examples = tuple(sentence.example for sentence in sentences)
    # A word that a person added is of the first iteration, also where there was none.
    latest = max((finding.iteration for example in examples for finding in example.findings), default=0)
    header = replace(
        review.header,
        iterations=max(review.header.iterations, latest),
        edits=(*review.header.edits, summary, *lines),
    )
    return Evidence(header, examples)


def _edits(sentence: Sentence) -> Iterator[str]:
    before = {finding.word: finding.kind for finding in sentence.original.findings}
    after = {finding.word: finding.kind for finding in sentence.example.findings}
    for word in sorted(before.keys() | after.keys()):
        if before.get(word) == after.get(word):
            continue
        done = DROP if word not in after else FLIP if word in before else f"add {after[word]}"
        text = sentence.original.words[word]
        yield f"review {done} {text!r}, word {word} of {sentence.original.id}: 1 changed"
