"""Three sentences with evidence, small enough to follow by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pssa.data.evidence import Evidence, Finding, Header
from pssa.data.evidence_file import write_evidence
from pssa.data.example import Corpus, Example
from pssa.data.io import write

CORPUS = Corpus(
    (
        Example.from_text("Huge menu but slow", (5, 9), label="positive", id="1"),
        Example.from_text("a huge bar", (7, 10), label="negative", id="2"),
        Example.from_text("The soup was cold", (4, 8), label="negative", id="3"),
    )
)
HUGE = Finding(0, "active", 1, 1.25, 0.75, "positive", "positive", expected=0.5)
SLOW = Finding(3, "misleading", 2, 1.5, 0.25, "negative", "positive")
BAR = Finding(1, "misleading", 1, 0.5, 0.625, "positive", "negative")
HEADER = Header("memnet", "gradient", 3.0, 5, CORPUS.hash(), 0, "pg-as", edits=("before",))
# Slow before huge: the order of a file need not be that of its words.
EVIDENCE = Evidence.from_findings(HEADER, CORPUS, [[SLOW, HUGE], [BAR], []])


def write_files(folder: Path) -> Path:
    """The evidence, its corpus, and a second opinion that holds `huge` of the first sentence for misleading."""
    write(CORPUS, folder / "train.jsonl")
    write_evidence(EVIDENCE, folder / "evidence.jsonl")
    other = replace(EVIDENCE.examples[0], findings=(SLOW, replace(HUGE, kind="misleading")))
    write_evidence(replace(EVIDENCE, examples=(other, *EVIDENCE.examples[1:])), folder / "second.jsonl")
    return folder / "evidence.jsonl"


def write_bare(corpus: Corpus, path: Path) -> None:
    """Evidence of another corpus of three, without findings."""
    header = replace(HEADER, corpus_hash=corpus.hash())
    write_evidence(Evidence.from_findings(header, corpus, [[], [], []]), path)
