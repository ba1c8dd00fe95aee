"""A sentence under review, and what each action makes of one of its words."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pssa.data.evidence import ACTIVE, MISLEADING, ExampleEvidence, Finding
from pssa.errors import PssaError

__all__ = ["ACTIONS", "ReviewError", "Sentence"]

FLIP, DROP = "flip", "drop"
ACTIONS = (FLIP, DROP, ACTIVE, MISLEADING)  # the last two add a word as such
_OTHER = {ACTIVE: MISLEADING, MISLEADING: ACTIVE}


class ReviewError(PssaError):
    """A change that cannot be made as things stand."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code  # missing, stale or refused


@dataclass(frozen=True, slots=True)
class Sentence:
    """An example under review, as the file has it and as it is now."""

    index: int
    original: ExampleEvidence
    example: ExampleEvidence
    version: int = 0  # the number of the last entry about it

    @property
    def changed(self) -> bool:
        """Whether anything differs from the file."""
        return self.example.findings != self.original.findings

    @property
    def findings(self) -> dict[int, Finding]:
        """What is held of each word now."""
        return {finding.word: finding for finding in self.example.findings}

    def with_finding(self, word: int, finding: Finding | None, version: int) -> Sentence:
        """The sentence with this held of a word, or nothing.

        Findings of the file keep its order and added ones follow by word, so that the same findings are the same bytes.
        """
        left = {key: value for key, value in self.findings.items() if key != word}
        if finding is not None:
            left[word] = finding
        mined = [left.pop(known.word) for known in self.original.findings if known.word in left]
        findings = (*mined, *(left[key] for key in sorted(left)))
        return replace(self, example=replace(self.original, findings=findings), version=version)

    def after(self, action: str, word: int) -> Finding | None:
        """What would be held of a word.

        :raises ReviewError: if the word cannot be changed so.
        """
        before = self._candidate(word)
        text = self.original.words[word]
        if action in (ACTIVE, MISLEADING):
            if before is not None:
                raise ReviewError("refused", f"{text!r} is {before.kind} already; flip it or drop it instead")
            return self._held(action, word)
        if before is None:
            raise ReviewError("refused", f"{text!r} is neither active nor misleading; add it first")
        return None if action == DROP else self._held(_OTHER[before.kind], word)

    def _candidate(self, word: int) -> Finding | None:
        example = self.original
        if not 0 <= word < len(example.words):
            raise ReviewError("missing", f"there is no word {word}; the sentence has {len(example.words)} words from 0")
        if example.aspect[0] <= word < example.aspect[1]:
            raise ReviewError("refused", f"{example.words[word]!r} belongs to the aspect, which is never evidence")
        return self.findings.get(word)

    def _held(self, kind: str, word: int) -> Finding:
        """The word as `kind`, with what was measured if it was mined."""
        for mined in self.original.findings:
            if mined.word == word:
                # A wanted attention of its own was meant for the kind that was mined.
                return mined if mined.kind == kind else replace(mined, kind=kind, expected=None)
        # As sure as can be, so that the word stays when findings are kept by score or by iteration.
        label = self.original.label
        return Finding(word, kind, iteration=1, entropy=0.0, score=1.0, predicted=label, gold=label)
