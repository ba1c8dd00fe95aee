"""Edits of evidence. Each gives a new `Evidence` whose header says in one more line what was done.

Words are compared without regard to case.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from pssa.data.evidence import ACTIVE, KINDS, MISLEADING, Evidence, Finding
from pssa.errors import InputError

__all__ = ["drop_word", "flip", "keep_above", "keep_iterations", "keep_kind"]


def drop_word(evidence: Evidence, word: str) -> Evidence:
    """Remove a word's findings everywhere."""
    wanted = word.casefold()
    return _keep(evidence, f"drop-word {word!r}", lambda text, _: text.casefold() != wanted)


def flip(evidence: Evidence, word: str) -> Evidence:
    """Make a word misleading where it was active and active where it was misleading.

    A wanted attention of its own is forgotten, for it was meant for the other kind.
    """
    wanted = word.casefold()

    def change(text: str, finding: Finding) -> Finding:
        if text.casefold() != wanted:
            return finding
        return replace(finding, kind=MISLEADING if finding.kind == ACTIVE else ACTIVE, expected=None)

    return _edit(evidence, f"flip {word!r}", change)


def keep_above(evidence: Evidence, score: float) -> Evidence:
    """Keep the findings with a score above this one."""
    if not math.isfinite(score):
        raise InputError(f"cannot keep scores above {score}; expected a finite number")
    return _keep(evidence, f"keep-above {score!r}", lambda _, finding: finding.score > score)


def keep_iterations(evidence: Evidence, last: int) -> Evidence:
    """Keep the findings of the iterations up to this one; the header still tells of those that were mined."""
    if last < 1:
        raise InputError(f"cannot keep {last} iterations; expected 1 or more")
    return _keep(evidence, f"keep-iterations {last}", lambda _, finding: finding.iteration <= last)


def keep_kind(evidence: Evidence, kind: str) -> Evidence:
    """Keep the active findings only, or the misleading ones only."""
    if kind not in KINDS:
        raise InputError(f"cannot keep {kind!r}; expected {' or '.join(KINDS)}")
    return _keep(evidence, f"keep {kind}", lambda _, finding: finding.kind == kind)


def _keep(evidence: Evidence, said: str, wanted: Callable[[str, Finding], bool]) -> Evidence:
    return _edit(evidence, said, lambda text, finding: finding if wanted(text, finding) else None)


def _edit(evidence: Evidence, said: str, change: Callable[[str, Finding], Finding | None]) -> Evidence:
    examples = []
    changed = 0
    for example in evidence.examples:
        results = [change(example.words[finding.word], finding) for finding in example.findings]
        changed += sum(result != finding for result, finding in zip(results, example.findings, strict=True))
        examples.append(replace(example, findings=tuple(result for result in results if result is not None)))
    edits = (*evidence.header.edits, f"{said}: {changed} changed")
    return Evidence(replace(evidence.header, edits=edits), tuple(examples))
