"""What to label next: the texts of a pool of any size whose labels would teach a run most, and why.

The pool is read once, in windows. The aspects of each text are found or taken as they are, and judged; the texts in which the
run is most in doubt stay in memory, a bounded number of them, and `choose_diverse` chooses among these.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from pssa.aspects.find import FIND_ADVICE
from pssa.aspects.names import parse_names
from pssa.bulk.job import Observer, Progress
from pssa.bulk.proposals import Proposal, Proposals
from pssa.bulk.row_finder import FindingOptions, parse_given
from pssa.bulk.rows import ParsedRows, RejectedRow, ScorableRow
from pssa.bulk.scorer import count_threads, default_batch_size, default_window_rows, score_by_length
from pssa.bulk.source import find_sources
from pssa.bulk.window import AddedFields, read_windows
from pssa.data.example import Example, sentence_key
from pssa.data.io import stream
from pssa.data.numbers import percent
from pssa.data.rows import FIELDS, ColumnNames, Columns, Problem, Row
from pssa.data.tables import Table, is_table, name_of, scan_table
from pssa.data.tokenize import tokenize
from pssa.data.validation import is_integer, shorten
from pssa.errors import InputError, setting
from pssa.evaluation.active_learning import (
    Choice,
    DoubtfulText,
    choose_diverse,
    disagreement,
    embed,
    margin_doubt,
)
from pssa.execution import ThreadPool, map_ordered
from pssa.runs import Answer, Classifier, load
from pssa.runs.defaults import choose_device
from pssa.runs.evaluate import require_same_labels
from pssa.runs.run_names import resolve_run

_KEPT, _LEAST_KEPT = 20, 1000  # texts to choose among: for each one that is asked for, and at least
_MAX_COUNT = 100_000


@dataclass(frozen=True)
class PoolOptions:
    """How a pool is read, how the aspects of rows without any are found, and who judges them; see `choose_next`."""

    columns: ColumnNames | None = None
    format: str | None = None
    encoding: str | None = None
    errors: str = "fail"
    finding: FindingOptions = field(default_factory=FindingOptions)
    judges: tuple[str | Path, ...] = ()
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.errors not in ("fail", "skip"):
            raise InputError(f"{setting('errors')} is {self.errors!r}; it can be fail or skip")


def choose_next(
    run: str | Path,
    pool: str | Path | Sequence[str] | Table,
    *,
    count: int = 50,
    judges: Sequence[str | Path] = (),
    aspects_from: str | Path | None = None,
    aspects: str | Sequence[str] | None = None,
    **reading: Any,
) -> Proposals:
    """Choose texts to label next: those about which the run is most uncertain, and which differ from each other.

    :param pool: texts without labels, with aspects or without: a file, a frame, a Hugging Face dataset, a list of dicts or a
        list of texts. Rows that have a label, and texts that the run was trained on, are skipped.
    :param count: texts to choose.
    :param judges: other runs with the same labels; disagreement counts as uncertainty. Members of an ensemble count too.
    :param aspects_from: the directory of a tagger, a run that has one, or `starter`; by default the run's own tagger.
    :param aspects: names to look for instead, as a list or as text such as `food,"front desk"`.
    :param reading: `columns`, `format`, `encoding` and `errors` as for `pssa.read`, and `device` as for `pssa.load`.
    :raises InputError: if the pool cannot be read, or the run has no tagger and its rows have no aspects.
    """
    tagger = None if aspects_from is None else resolve_run(aspects_from)
    finding = FindingOptions(tagger, () if aspects is None else parse_names(aspects))
    return propose(resolve_run(run), pool, count, PoolOptions(finding=finding, judges=tuple(judges), **reading))


def propose(
    run: Path,
    pool: str | Path | Sequence[str] | Table,
    count: int,
    options: PoolOptions,
    observer: Observer | None = None,
) -> Proposals:
    """Choose the texts to label next; see `choose_next`.

    :param observer: is called with the progress after each window.
    """
    if not is_integer(count) or not 0 < count <= _MAX_COUNT:
        raise InputError(f"{setting('count')} is {shorten(count)}; it must be between 1 and {_MAX_COUNT}")
    device = choose_device(options.device).type
    classifier = load(run, device)
    committee = _committee(run, classifier, options.judges, device)
    finding = options.finding.resolve(run, Columns.of(options.columns))
    parse = parse_given if finding is None else finding.open(device)
    named = replace(Columns.of(options.columns), text_only=finding is not None, advice="" if finding else FIND_ADVICE)
    kept = _Candidates(_trained_texts(run), max(_LEAST_KEPT, _KEPT * count), options.errors, named)

    def judge(window: _PoolWindow) -> tuple[_PoolWindow, ParsedRows, list[_Judged]]:
        parsed = parse(window.rows)
        return window, parsed, _judge(committee, parsed)

    windows = _windows(pool, options, named, default_window_rows(classifier.name, device) // 4)
    with ThreadPool(count_threads(classifier)) as threads:
        for window, parsed, judged in map_ordered(threads, judge, windows):
            kept.add(window.source, parsed, judged)
            if observer is not None:
                observer(kept.progress(window.read, window.total))
    return kept.choose(classifier, count, run.name)


@dataclass(frozen=True)
class _PoolWindow:
    """Some rows of a pool, and how much of it has been read."""

    source: str
    rows: Sequence[Row | Problem]
    read: int = 0  # bytes
    total: int = 0  # bytes; 0 if unknown


def _committee(run: Path, classifier: Classifier, judges: Sequence[str | Path], device: str) -> list[Classifier]:
    """Return the run, and the models whose disagreement counts: the members of an ensemble, and the judges."""
    others = [load(judge, device) for judge in judges]
    for judge, other in zip(judges, others, strict=True):
        require_same_labels(classifier, other, (str(run), str(judge)))
    members = [replace(classifier, members=(each,), vote_weights=(1.0,)) for each in classifier.members]
    return [classifier, *(members if len(members) > 1 else ()), *others]


def _windows(
    pool: str | Path | Sequence[str] | Table, options: PoolOptions, columns: Columns, n_rows: int
) -> Iterator[_PoolWindow]:
    """Yield some rows at a time."""
    files = [pool] if isinstance(pool, (str, Path)) else pool
    if isinstance(files, list) and files and (files[0] is pool or all(isinstance(each, Path) for each in files)):
        sources = find_sources([str(each) for each in files], options.format, columns, options.encoding)
        added = AddedFields(aspect=columns.aspect_columns if columns.text_only else ())
        before = [0, *accumulate(source.size for source in sources)]
        total = before[-1] if all(source.size for source in sources) else 0
        for window in read_windows(sources, n_rows, added=added) if sources else ():  # none: all files are empty
            yield _PoolWindow(window.source, window.rows, before[window.end[0]] + window.read, total)
            if window.fault:
                raise InputError(window.fault)
        return
    if isinstance(pool, (list, tuple)) and all(isinstance(each, str) for each in pool):
        pool = [{columns.column_of("text"): text} for text in pool]
    if not is_table(pool):
        expected = "expected the name of a file, a frame, a list of dicts or a list of texts"
        raise InputError(f"the pool is a {type(pool).__name__}; {expected}")
    events = (event for event in scan_table(pool, columns) if isinstance(event, (Row, Problem)))
    while rows := list(islice(events, n_rows)):
        yield _PoolWindow(name_of(pool), rows)


@dataclass(frozen=True)
class _Judged:
    """An aspect of a row, and what the models say of it."""

    row: ScorableRow
    answer: Answer  # of the run, with the offsets of the row's text
    doubt: float  # 0 to 1
    votes: tuple[str, ...] = ()  # the label that each of several models chose


def _judge(committee: Sequence[Classifier], parsed: ParsedRows) -> list[_Judged]:
    """Return the aspects of the rows that can be scored, in order."""
    rows = [row for row in parsed.rows if isinstance(row, ScorableRow)]
    if not rows:
        return []
    answers = [_answers(each, [row.example for row in rows]) for each in committee]
    labels = committee[0].labels
    each = torch.tensor([[[one.probabilities[label] for label in labels] for one in found] for found in answers])
    # The run itself is one of the models, unless its members are.
    models = each if len(committee[0].members) == 1 else each[1:]
    doubts, votes = margin_doubt(each[0]), [()] * len(rows)
    if len(models) > 1:
        doubts = (doubts + disagreement(models)) / 2
        votes = [tuple(labels[number] for number in chosen) for chosen in models.argmax(dim=2).T.tolist()]
    placed = [
        replace(one, start=one.start + row.offset, end=one.end + row.offset)
        for one, row in zip(answers[0], rows, strict=True)
    ]
    return [_Judged(*of) for of in zip(rows, placed, doubts.tolist(), votes, strict=True)]


def _answers(classifier: Classifier, examples: Sequence[Example]) -> list[Answer]:
    device = next(classifier.model.parameters()).device.type
    score = partial(classifier.answer, batch_size=default_batch_size(classifier.name, device))
    return [answer for answer in score_by_length(score, examples) if isinstance(answer, Answer)]


def _trained_texts(run: Path) -> frozenset[str]:
    """Return keys of the texts that a run was trained on, where it has kept them."""
    path = run / "stages" / "corpus.jsonl"
    return (
        frozenset(sentence_key(str(row.fields.get("text"))) for row in stream(path)) if path.is_file() else frozenset()
    )


@dataclass
class _Candidate:
    """A text with its aspects so far."""

    text: str
    place: int  # in the pool
    aspects: list[_Judged]

    @property
    def doubt(self) -> float:
        """The mean over its aspects, each of which takes a label."""
        return sum(each.doubt for each in self.aspects) / len(self.aspects)

    @property
    def worst(self) -> _Judged:
        """The aspect that is most in doubt."""
        return max(self.aspects, key=lambda each: each.doubt)

    def describe(self) -> DoubtfulText:
        """Return what a choice depends on."""
        text = self.text
        words = frozenset(text[start:end].lower() for start, end in tokenize(text))
        return DoubtfulText(self.doubt, self.worst.answer.aspect.casefold(), words)

    def propose(self, choice: Choice, text_name: str) -> Proposal:
        """Return the proposal, with reasons."""
        aspects = sorted(self.aspects, key=lambda each: each.answer.start)
        row = aspects[0].row
        own = {name: value for name, value in row.fields.items() if name not in (text_name, *FIELDS)}
        answers = tuple(each.answer for each in aspects)
        return Proposal(self.text, answers, self.doubt, _reason(self.worst, choice), row.line, own)


def _reason(judged: _Judged, choice: Choice) -> str:
    """Say why a text was chosen."""
    aspect = judged.answer.aspect
    (first, ahead), (second, behind), *_ = sorted(judged.answer.probabilities.items(), key=lambda each: -each[1])
    parts = [f"{aspect}: {first} {percent(ahead, 0)}, {second} {percent(behind, 0)}"]
    if judged.votes:
        n_agreed = Counter(judged.votes).most_common(1)[0][1]
        parts.append(f"{n_agreed} of {len(judged.votes)} models agree")
    before = f"aspect chosen {choice.times}x before" if choice.times else "new aspect"
    return "; ".join((*parts, f"{before}, text {percent(choice.novelty, 0)} different from those before"))


class _Candidates:
    """The texts in which the run is most in doubt, a bounded number of them."""

    def __init__(self, trained: frozenset[str], most: int, errors: str, columns: Columns) -> None:
        self._trained, self._most, self._errors, self._columns = trained, most, errors, columns
        self._kept: dict[str, _Candidate] = {}
        self._read = self._labelled = self._empty = self._rejected = 0

    def add(self, source: str, parsed: ParsedRows, judged: Sequence[_Judged]) -> None:
        """Take up the aspects of some rows."""
        for row in parsed.rows:
            if isinstance(row, RejectedRow):
                self._reject(source, row)
        self._empty += parsed.empty
        for each in judged:
            text = str(each.row.fields.get(self._columns.column_of("text")) or each.row.example.text)
            key = sentence_key(text)
            if each.row.fields.get(self._columns.column_of("label")) or key in self._trained:
                self._labelled += 1
            else:
                self._take(key, text, each)
        if len(self._kept) > 2 * self._most:
            self._prune()

    def progress(self, read: int, total: int) -> Progress:
        """Return how far the pool is read."""
        return Progress(self._read, self._rejected, read, total)

    def _take(self, key: str, text: str, judged: _Judged) -> None:
        known = self._kept.get(key)
        if known is None:
            self._read += 1
            self._kept[key] = _Candidate(text, self._read, [judged])
        elif (judged.answer.start, judged.answer.end) not in [(e.answer.start, e.answer.end) for e in known.aspects]:
            known.aspects.append(judged)

    def _reject(self, source: str, row: RejectedRow) -> None:
        if self._errors == "fail":
            raise InputError.at(source, row.line, f"{row.reason}; {setting('errors', 'skip')} leaves such rows out")
        self._rejected += 1

    def _prune(self) -> None:
        """Keep those in which the doubt is greatest; of equal ones the first."""
        best = heapq.nsmallest(self._most, self._kept.items(), key=lambda item: (-item[1].doubt, item[1].place))
        self._kept = dict(best)

    def choose(self, classifier: Classifier, count: int, name: str) -> Proposals:
        """Return the proposals of a run of this name."""
        self._prune()
        found = sorted(self._kept.values(), key=lambda each: each.place)
        choices = choose_diverse([each.describe() for each in found], _points(classifier, found), count)
        text = self._columns.column_of("text")
        texts = tuple(found[choice.index].propose(choice, text) for choice in choices)
        return Proposals(texts, name, self._read, self._labelled, self._empty, self._rejected)


def _points(classifier: Classifier, found: Sequence[_Candidate]) -> Tensor:
    """Return (n, D): the mean over the aspects of each text."""
    if not found:
        return torch.zeros(0, 1)
    examples = [each.row.example for text in found for each in text.aspects]
    parts = torch.split(embed(classifier.model, classifier.index(examples)), [len(text.aspects) for text in found])
    return torch.stack([part.mean(dim=0) for part in parts])
