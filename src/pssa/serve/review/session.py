"""Review session: people flip, drop and add words, and every change is in a log before it counts.

The evidence file itself never changes. Opening the review again replays the log, so a kill loses nothing that was confirmed;
`Review.export` writes the corrected evidence as a new file.
"""

from __future__ import annotations

import filecmp
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from pssa.data.evidence import ACTIVE, MISLEADING, Evidence, ExampleEvidence, Finding
from pssa.data.evidence_file import write_evidence
from pssa.errors import InputError, RunError
from pssa.serve.errors import ApiError
from pssa.serve.review.log import LogEntry, ReviewLog
from pssa.serve.review.sources import Sources

FLIP, DROP, UNDO = "flip", "drop", "undo"
_OPPOSITE = {ACTIVE: MISLEADING, MISLEADING: ACTIVE}


@dataclass(frozen=True, slots=True)
class ReviewedSentence:
    """An example under review, as it is in the file and as it is now."""

    index: int
    original: ExampleEvidence
    example: ExampleEvidence
    version: int = 0  # the number of the last log entry about it
    second: Mapping[int, str] | None = None  # the kind of each word in the second file, if there is one

    @property
    def is_changed(self) -> bool:
        """Whether anything differs from the file."""
        return self.example.findings != self.original.findings

    @property
    def is_disputed(self) -> bool:
        """Whether the second file has other findings than the review has now."""
        return self.second is not None and self.second != self.example.kinds

    def with_finding(self, word: int, finding: Finding | None, version: int) -> ReviewedSentence:
        """Return the sentence with this finding for a word, or with none.

        Findings of the file keep its order and added ones follow by word, so that equal findings are equal bytes.
        """
        left = {key: value for key, value in self.example.by_word.items() if key != word}
        if finding is not None:
            left[word] = finding
        mined = [left.pop(known.word) for known in self.original.findings if known.word in left]
        findings = (*mined, *(left[key] for key in sorted(left)))
        return replace(self, example=replace(self.original, findings=findings), version=version)

    def finding_after(self, action: str, word: int) -> Finding | None:
        """Return the finding that an action would give a word.

        :raises ApiError: if the action is not possible for this word.
        """
        example = self.original
        if not 0 <= word < len(example.words):
            raise ApiError(
                404, "missing", f"there is no word {word}; the sentence has {len(example.words)} words from 0"
            )
        text, before = example.words[word], self.example.by_word.get(word)
        if example.aspect[0] <= word < example.aspect[1]:
            raise ApiError(409, "refused", f"{text!r} belongs to the aspect, which is never evidence")
        if action in (ACTIVE, MISLEADING):
            if before is not None:
                raise ApiError(409, "refused", f"{text!r} is {before.kind} already; flip it or drop it instead")
            return self._finding(action, word)
        if before is None:
            raise ApiError(409, "refused", f"{text!r} is neither active nor misleading; add it first")
        return None if action == DROP else self._finding(_OPPOSITE[before.kind], word)

    def edits(self) -> Iterator[str]:
        """Yield a line for each word whose kind differs from the file."""
        before, after = self.original.kinds, self.example.kinds
        for word in sorted(before.keys() | after.keys()):
            if before.get(word) != after.get(word):
                action = DROP if word not in after else FLIP if word in before else f"add {after[word]}"
                yield f"review {action} {self.original.words[word]!r}, word {word} of {self.original.id}: 1 changed"

    def _finding(self, kind: str, word: int) -> Finding:
        """Return a word as `kind`, with its measurements if it was mined."""
        for mined in self.original.findings:
            if mined.word == word:
                # An expected attention was meant for the kind that was mined.
                return mined if mined.kind == kind else replace(mined, kind=kind, expected=None)
        # As certain as possible, so that the word stays when findings are filtered by score or by iteration.
        label = self.original.label
        return Finding(word, kind, iteration=1, entropy=0.0, score=1.0, predicted=label, gold=label)


class Review:
    """Sentences with their findings, and the log of what people did to them."""

    def __init__(self, sources: Sources, evidence: Evidence, log: ReviewLog) -> None:
        self.sources = sources
        self.header = evidence.header
        second = [None] * len(evidence.examples) if sources.second_kinds is None else sources.second_kinds
        self.sentences = [
            ReviewedSentence(index, example, example, second=kinds)
            for index, (example, kinds) in enumerate(zip(evidence.examples, second, strict=True))
        ]
        self.log = log
        self._standing: list[LogEntry] = []  # changes that were not undone
        self._lock = threading.Lock()  # held while something is changed or written
        for entry in log.entries:
            try:
                self._apply(entry)
            except InputError as error:
                message = f"{error.message}; restore the log, or move it away"
                raise InputError.at(log.path, entry.number + 1, message) from None

    @classmethod
    def open(
        cls,
        evidence_path: str | Path,
        corpus_path: str | Path | None = None,
        second: str | Path | None = None,
        **reading: Any,
    ) -> Review:
        """Start the review of a file, or resume it.

        :param corpus_path: the training data of the evidence, to check it and to name it in the training command.
        :param second: evidence of the same data, to find disagreements.
        :param reading: how to read the data, as in `pssa.read`; by default as in the run that contains the evidence.
        :raises InputError: if the files do not belong together.
        :raises RunError: if another process reviews the same file.
        """
        path = Path(evidence_path)
        corpus, other = (None if given is None else Path(given) for given in (corpus_path, second))
        sources, evidence = Sources.read(path, corpus, other, reading)
        log = ReviewLog.open(path.with_name(f"{path.name}.review.jsonl"), sources.digest)
        try:
            return cls(sources, evidence, log)
        except BaseException:
            log.close()
            raise

    @property
    def last_change(self) -> LogEntry | None:
        """The change that `undo` takes back."""
        return self._standing[-1] if self._standing else None

    @property
    def n_changes(self) -> int:
        """Number of changes that were made and not undone."""
        return len(self._standing)

    def sentence(self, index: int) -> ReviewedSentence:
        """Return the sentence at a position of the file, from 0."""
        if not 0 <= index < len(self.sentences):
            raise ApiError(404, "missing", f"there is no sentence {index}; expected 0 to {len(self.sentences) - 1}")
        return self.sentences[index]

    def change(self, index: int, version: int, action: str, word: int) -> ReviewedSentence:
        """Flip, drop or add one word, and log it.

        :param version: of the sentence that the reviewer saw.
        :raises ApiError: if the sentence has changed since, or the action is not possible for this word.
        """
        with self._lock:
            sentence = self.sentence(index)
            if version != sentence.version:
                raise ApiError(409, "stale", f"sentence {index} was changed elsewhere meanwhile; look at it again")
            return self._record(sentence, action, word, sentence.finding_after(action, word))

    def drop_everywhere(self, text: str, kind: str) -> list[ReviewedSentence]:
        """Drop every finding of this word and kind, whatever its case; each is a change of its own in the log.

        :raises ApiError: if there is none.
        """
        key = text.casefold()
        with self._lock:
            found = [
                (sentence.index, finding.word)
                for sentence in self.sentences
                for finding in sentence.example.findings
                if finding.kind == kind and sentence.original.words[finding.word].casefold() == key
            ]
            if not found:
                raise ApiError(409, "refused", f"{text!r} is {kind} nowhere")
            return [self._record(self.sentences[index], DROP, word, None) for index, word in found]

    def undo(self, number: int) -> ReviewedSentence:
        """Take the last change back, which must have this number.

        :raises ApiError: if that is not the last change.
        """
        with self._lock:
            last = self.last_change
            if last is None:
                raise ApiError(409, "refused", "there is nothing to undo")
            if last.number != number:
                raise ApiError(409, "stale", f"change {number} is not the last one, which is {last.number}")
            return self._record(self.sentences[last.index], UNDO, last.word, last.before, last.number)

    def export(self) -> tuple[Path, tuple[str, ...]]:
        """Write the current evidence beside the evidence file, under a new name.

        :return: the file and the lines that the review added to its header. If nothing has changed since the last export,
            that file is returned.
        :raises RunError: if it cannot be written.
        """
        name = self.sources.evidence.name.removesuffix(".gz").removesuffix(".jsonl")
        with self._lock:
            evidence = self.evidence()
            latest = None
            for number in count(1):
                path = self.sources.evidence.with_name(f"{name}.reviewed-{number}.jsonl")
                if not path.exists():
                    break
                latest = path
            try:
                write_evidence(evidence, path)
            except OSError as error:
                raise RunError(f"{path} cannot be written: {error.strerror}") from error
            if latest is not None and filecmp.cmp(latest, path, shallow=False):
                path.unlink()
                path = latest
        return path, evidence.header.edits[len(self.header.edits) :]

    def evidence(self) -> Evidence:
        """Return the current evidence; its header has a line for the review and one for each word that was changed."""
        lines = [line for sentence in self.sentences if sentence.is_changed for line in sentence.edits()]
        summary = f"review of {self.sources.digest[:12]}: {len(lines)} changed"
        examples = tuple(sentence.example for sentence in self.sentences)
        # A word that a person added has iteration 1, even if there was none.
        latest = max((finding.iteration for example in examples for finding in example.findings), default=0)
        edits = (*self.header.edits, summary, *lines)
        return Evidence(replace(self.header, iterations=max(self.header.iterations, latest), edits=edits), examples)

    def close(self) -> None:
        """Release the log for other processes."""
        self.log.close()

    def _record(
        self, sentence: ReviewedSentence, action: str, word: int, after: Finding | None, undoes: int | None = None
    ) -> ReviewedSentence:
        """Log a change, then apply it."""
        entry = LogEntry(
            number=len(self.log.entries) + 1,
            time=datetime.now(UTC).isoformat(timespec="seconds"),
            index=sentence.index,
            example=sentence.original.id,
            action=action,
            word=word,
            text=sentence.original.words[word],
            before=sentence.example.by_word.get(word),
            after=after,
            undoes=undoes,
        )
        self.log.append(entry)
        return self._apply(entry)

    def _apply(self, entry: LogEntry) -> ReviewedSentence:
        """Apply an entry of the log.

        :raises InputError: if it does not fit the entries before it.
        """
        if not 0 <= entry.index < len(self.sentences) or self.sentences[entry.index].original.id != entry.example:
            raise InputError(f"is about example {entry.example!r}, which is not at {entry.index} of the evidence")
        sentence = self.sentences[entry.index]
        words = {found.word for found in (entry.before, entry.after) if found is not None}
        if words != {entry.word} or sentence.example.by_word.get(entry.word) != entry.before:
            raise InputError(f"does not follow from the lines before it about word {entry.word} of {entry.example!r}")
        if entry.undoes is None:
            self._standing.append(entry)
        elif self.last_change is None or self._standing.pop().number != entry.undoes:
            raise InputError(f"undoes change {entry.undoes}, which is not the last change before it")
        changed = sentence.with_finding(entry.word, entry.after, entry.number)
        self.sentences[entry.index] = changed
        return changed
