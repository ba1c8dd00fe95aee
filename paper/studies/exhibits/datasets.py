"""The paper's table of data sets: our counts, the paper's, why they differ; and more facts about the files."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from paper.experiments.ledger import RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import Exhibit, FormattedValue, Part, Table, TableRow, format_percent
from paper.studies.paper import DATASETS
from pssa.data import DEFAULT_LABELS, Corpus, Example, read
from pssa.data.io import format_of

__all__ = ["EXHIBIT"]

_TAGS = ("/p", "/n", "/0")
_COUNT_NOTES = (
    "Counts are positive / negative / neutral. `lines with a tag`: lines of the file with `/p`, `/n` or `/0` anywhere, in "
    "either case. The paper counts these, which explains its table except for one positive instance of TWITTER's test file: a "
    "line with two tags counts twice, and so does one with a word such as `$100/person` or a literal `y/n`.",
    "Ours: a line is one instance; its target is the first run of words that end in a tag, its label that of the first of them.",
)
_FACTS = (
    *("data", "part", "instances", "words mean", "words 95 %", "words max", "target words mean", "target words max"),
    *("sentences", "of several targets", "of mixed labels", "copies", "largest class"),
)
_FACT_NOTES = (
    "`of several targets`: share of the instances whose sentence has other targets too; `of mixed labels`: whose sentence "
    "has targets of another label; `copies`: instances that repeat the sentence, target and label of an earlier one; `largest "
    "class`: accuracy of always predicting the most frequent label.",
)


_Corpora = Mapping[tuple[str, str], Corpus]  # by data set and part, train or test


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return counts, facts, and what test files have that training files lack."""
    sources = scope.resources.sources
    paths = {(data, part): getattr(sources[data], part) for data in scope.data for part in ("train", "test")}
    found = {place: path for place, path in paths.items() if path is not None}
    corpora = {place: read(path) for place, path in found.items()}
    return [_counts(found, corpora), _facts(corpora), _unseen(corpora)]


def _counts(paths: Mapping[tuple[str, str], Path], corpora: _Corpora) -> Table:
    rows: list[TableRow] = []
    for (data, part), corpus in corpora.items():
        counts = corpus.label_counts()
        printed = DATASETS.get((data, part))
        paper = dict(zip(DEFAULT_LABELS, printed, strict=True)) if printed else {}
        apart = {label: counts.get(label, 0) - count for label, count in paper.items()}
        ours, theirs = ((_joined(each), sum(each.values()) if each else None) for each in (counts, paper))
        tagged = _joined(_tagged_lines(paths[data, part]))
        rows.append((data.upper(), part, *ours, *theirs, _joined(apart), tagged))
    columns = ("data", "part", "ours", "in all", "paper", "in all (paper)", "ours - paper", "lines with a tag")
    return Table("datasets-counts", "Instances by label", columns, tuple(rows), _COUNT_NOTES)


def _joined(counts: Mapping[str, int]) -> FormattedValue | None:
    """Return counts by label as one field."""
    return FormattedValue(" / ".join(map(str, counts.values())), counts) if counts else None


def _tagged_lines(path: Path) -> dict[str, int]:
    """Return lines by the tags in them; empty for a file without tags."""
    if format_of(path, None) != "tagged":
        return {}
    lines = path.read_text("utf-8").lower().splitlines()
    return {label: sum(tag in line for line in lines) for label, tag in zip(DEFAULT_LABELS, _TAGS, strict=True)}


def _facts(corpora: _Corpora) -> Table:
    rows = tuple(
        (data.upper(), part, len(corpus), *_lengths(corpus), *_sentences(corpus))
        for (data, part), corpus in corpora.items()
    )
    return Table("datasets-facts", "What the files hold", _FACTS, rows, _FACT_NOTES)


def _lengths(corpus: Corpus) -> TableRow:
    words = sorted(len(example.spans) for example in corpus)
    targets = [end - start for start, end in (example.aspect for example in corpus)]
    ninety_five = words[int(0.95 * (len(words) - 1))]
    return (statistics.mean(words), ninety_five, words[-1], statistics.mean(targets), max(targets))


def _sentences(corpus: Corpus) -> TableRow:
    by_sentence: dict[str, list[Example]] = defaultdict(list)
    for example in corpus:
        by_sentence[example.sentence_id].append(example)
    several = mixed = copies = 0
    for group in by_sentence.values():
        targets = {example.aspect for example in group}
        several += len(group) * (len(targets) > 1)
        mixed += len(group) * (len({example.label for example in group}) > 1)
        copies += len(group) - len({(example.aspect, example.label) for example in group})
    largest = max(corpus.label_counts().values())
    shares = [format_percent(count / len(corpus)) for count in (several, mixed, largest)]
    return (len(by_sentence), *shares[:2], copies, shares[2])


def _unseen(corpora: _Corpora) -> Table:
    tests = {data: corpus for (data, part), corpus in corpora.items() if part == "test"}
    rows = tuple((data.upper(), *_news(corpora[data, "train"], test)) for data, test in tests.items())
    columns = ("data", "different words", "words", "targets", "sentences also in train")
    note = "Shares of the test file that never occur in the training file, ignoring case."
    return Table("datasets-unseen", "Unseen in training", columns, rows, (note,))


def _news(train: Corpus, test: Corpus) -> TableRow:
    known = {word.lower() for example in train for word in example.words}
    words = [word.lower() for example in test for word in example.words]
    kinds = set(words)
    targets = {example.aspect_text.lower() for example in train}
    sentences = {example.sentence_id for example in train}
    return (
        format_percent(len(kinds - known) / len(kinds)),
        format_percent(sum(word not in known for word in words) / len(words)),
        format_percent(sum(example.aspect_text.lower() not in targets for example in test) / len(test)),
        sum(example.sentence_id in sentences for example in test),
    )


EXHIBIT = Exhibit("datasets", "Data sets", show)
