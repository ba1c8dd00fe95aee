"""A review of evidence: people flip, drop and add words, and every change is in a log before it counts.

The evidence file itself is never touched. Opening the review again replays the log, so a kill loses nothing that was
answered; `pssa.serve.review_export` writes the corrected evidence as a file of its own.
"""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pssa.data.evidence import Evidence, Finding
from pssa.errors import InputError
from pssa.serve.review.log import LogEntry, ReviewLog
from pssa.serve.review.sentence import ReviewError, Sentence
from pssa.serve.review.sources import Sources

__all__ = ["Review"]

_UNDO = "undo"


class Review:
    """Sentences with their findings, and the log of what people did to them."""

    def __init__(self, sources: Sources, evidence: Evidence, log: ReviewLog) -> None:
        self.sources = sources
        self.header = evidence.header
        self.sentences = [Sentence(index, example, example) for index, example in enumerate(evidence.examples)]
        self.log = log
        self._done: list[LogEntry] = []  # what can be undone, the last first to go
        self.lock = threading.Lock()  # held while something is changed or written
        for entry in log.entries:
            try:
                self._apply(entry)
            except InputError as error:
                raise InputError.at(log.path, entry.number + 1, f"{error}; restore the log, or move it away") from None

    @classmethod
    def open(
        cls,
        evidence_path: str | Path,
        corpus_path: str | Path | None = None,
        second: str | Path | None = None,
        **reading: Any,
    ) -> Review:
        """Begin the review of a file, or go on with it.

        :param corpus_path: the instances it was made from, to be checked and to be named in the command that trains.
        :param second: evidence of the same instances, to find disagreements with.
        :param reading: how the instances are read: `format`, `columns`, `labels` and `conflict`, as `pssa.read` takes
            them. What is not given is as in the run in which the evidence lies, or as is usual.
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
    def undoable(self) -> LogEntry | None:
        """The change that `undo` would take back."""
        return self._done[-1] if self._done else None

    @property
    def standing(self) -> int:
        """How many changes were made and not taken back."""
        return len(self._done)

    def sentence(self, index: int) -> Sentence:
        """The sentence at a place of the file, from 0."""
        if not 0 <= index < len(self.sentences):
            raise ReviewError("missing", f"there is no sentence {index}; expected 0 to {len(self.sentences) - 1}")
        return self.sentences[index]

    def disagrees(self, sentence: Sentence) -> bool:
        """Whether the second file holds a word for something else than the review does now."""
        if self.sources.marks is None:
            return False
        ours = {finding.word: finding.kind for finding in sentence.example.findings}
        return ours != self.sources.marks[sentence.index]

    def change(self, index: int, version: int, action: str, word: int) -> Sentence:
        """Flip, drop or add one word, and keep it.

        :param version: of the sentence that the reviewer saw.
        :param action: one of `review_sentence.ACTIONS`.
        :raises ReviewError: if the sentence has been changed since, or the word cannot be changed so.
        """
        with self.lock:
            sentence = self.sentence(index)
            if version != sentence.version:
                raise ReviewError("stale", f"sentence {index} was changed elsewhere meanwhile; look at it again")
            after = sentence.after(action, word)
            return self._keep(self._entry(sentence, action, word, after))

    def undo(self, number: int) -> Sentence:
        """Take the last change back.

        :param number: of the change that the reviewer means.
        :raises ReviewError: if that is not the last one that stands.
        """
        with self.lock:
            last = self.undoable
            if last is None:
                raise ReviewError("refused", "there is nothing to undo")
            if last.number != number:
                raise ReviewError("stale", f"change {number} is not the last that stands, which is {last.number}")
            return self._keep(self._entry(self.sentences[last.index], _UNDO, last.word, last.before, last.number))

    def close(self) -> None:
        """Let another process have the log."""
        self.log.close()

    def _entry(
        self, sentence: Sentence, action: str, word: int, after: Finding | None, undoes: int | None = None
    ) -> LogEntry:
        return LogEntry(
            number=len(self.log.entries) + 1,
            time=datetime.now(UTC).isoformat(timespec="seconds"),
            index=sentence.index,
            example=sentence.original.id,
            action=action,
            word=word,
            text=sentence.original.words[word],
            before=sentence.findings.get(word),
            after=after,
            undoes=undoes,
        )

    def _keep(self, entry: LogEntry) -> Sentence:
        self.log.append(entry)
        return self._apply(entry)

    def _apply(self, entry: LogEntry) -> Sentence:
        """Let an entry of the log count, if it fits."""
        if not 0 <= entry.index < len(self.sentences) or self.sentences[entry.index].original.id != entry.example:
            raise InputError(f"is about example {entry.example!r}, which is not at {entry.index} of the evidence")
        sentence = self.sentences[entry.index]
        words = {found.word for found in (entry.before, entry.after) if found is not None}
        if words != {entry.word} or sentence.findings.get(entry.word) != entry.before:
            raise InputError(f"does not follow from the lines before it about word {entry.word} of {entry.example!r}")
        if entry.undoes is None:
            self._done.append(entry)
        elif self.undoable is None or self._done.pop().number != entry.undoes:
            raise InputError(f"undoes change {entry.undoes}, which is not the last that stands before it")
        changed = sentence.with_finding(entry.word, entry.after, entry.number)
        self.sentences[entry.index] = changed
        return changed
