"""Human opinion words (TOWE) as evidence, to compare mining with.

The file is tab-separated with the columns s_id, sentence, target_tags and opinion_words_tags, each tag B, I or O after a
backslash, without quoting. Its tokenisation and case differ from those of a corpus, so both are reduced to the letters a-z and
digits: sentences with the same letters are the same, and marks are transferred by letter.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pssa.data.evidence import ACTIVE, Evidence, Finding, Header
from pssa.data.example import Corpus, Example
from pssa.data.text_file import describe_damage, read_text
from pssa.data.validation import shorten
from pssa.errors import InputError

METHOD = "opinion-words"
_COLUMNS = ["s_id", "sentence", "target_tags", "opinion_words_tags"]
_TAGS = ("\\B", "\\I", "\\O")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")


@dataclass(frozen=True, slots=True)
class Target:
    """A span of a sentence, both in letters and digits only."""

    sentence: str
    start: int
    end: int

    @property
    def text(self) -> str:
        """The text of the span."""
        return self.sentence[self.start : self.end]


@dataclass(frozen=True, slots=True)
class OpinionRow:
    """One target and the offsets of its opinion words."""

    target: Target
    opinion: frozenset[int]


@dataclass(frozen=True, slots=True)
class OpinionEvidence:
    """Evidence made from opinion words, and the number of examples of each label that have a row."""

    evidence: Evidence
    matched: Mapping[str, int]


def read_opinion_words(path: str | Path) -> tuple[OpinionRow, ...]:
    """Read a file of opinion words; skip rows whose target has neither letter nor digit.

    :raises InputError: naming the file and the first invalid line.
    """
    rows = []
    for line, content in read_text(Path(path)):
        try:
            if line == 1:
                _require_columns(content)
            else:
                rows.append(_parse_row(content))
        except InputError as error:
            raise InputError.at(path, line, error.message) from None
    return tuple(row for row in rows if row is not None)


def evidence_from_opinion_words(rows: Iterable[OpinionRow], corpus: Corpus) -> OpinionEvidence:
    """Make every opinion word active at iteration 1, each with an equal share of the score.

    A row belongs to the examples with the same sentence and the same span of the aspect. If only the span differs, because the
    aspect occurs more than once, the nearest row that belongs to no other example is taken.
    """
    letters = [_Letters.of(example.words) for example in corpus]
    targets = [each.target(range(*example.aspect)) for each, example in zip(letters, corpus, strict=True)]
    opinions = _match(rows, targets)
    findings = [
        _findings(example, {each.word_of[offset] for offset in opinion or ()})
        for example, each, opinion in zip(corpus, letters, opinions, strict=True)
    ]
    header = Header("human", "human", None, iterations=1, corpus_hash=corpus.hash(), seed=0, method=METHOD)
    counts = Counter(example.label for example, opinion in zip(corpus, opinions, strict=True) if opinion is not None)
    matched = {label: counts[label] for label in corpus.labels}
    return OpinionEvidence(Evidence.from_findings(header, corpus, findings), matched)


@dataclass(frozen=True, slots=True)
class _Letters:
    """Letters and digits of a sentence, and the word of each."""

    text: str
    word_of: tuple[int, ...]

    @classmethod
    def of(cls, words: Sequence[str]) -> _Letters:
        kept = [(letter, index) for index, word in enumerate(words) for letter in word.lower() if letter in _LETTERS]
        return cls("".join(letter for letter, _ in kept), tuple(index for _, index in kept))

    def offsets(self, words: Container[int]) -> list[int]:
        return [offset for offset, word in enumerate(self.word_of) if word in words]

    def target(self, words: Container[int]) -> Target | None:
        offsets = self.offsets(words)
        return Target(self.text, offsets[0], offsets[-1] + 1) if offsets else None


def _require_columns(content: str) -> None:
    if content.split() != _COLUMNS:
        raise InputError(f"is {content.strip()[:60]!r}; expected the columns {', '.join(_COLUMNS)}, separated by tabs")


def _parse_row(content: str) -> OpinionRow | None:
    fault = describe_damage(content)
    if fault:
        raise InputError(fault)
    columns = content.rstrip("\r\n").split("\t")
    if len(columns) != len(_COLUMNS):
        raise InputError(f"has {len(columns)} columns; expected {len(_COLUMNS)}, separated by tabs")
    _, sentence, target_tags, opinion_tags = columns
    # The words of the sentence: those in the tags are sometimes misspelt in the public files.
    words = sentence.split()
    letters = _Letters.of(words)
    target = letters.target(_marked(target_tags, "target_tags", len(words)))
    opinion = letters.offsets(_marked(opinion_tags, "opinion_words_tags", len(words)))
    return None if target is None else OpinionRow(target, frozenset(opinion))


def _marked(tags: str, column: str, words: int) -> frozenset[int]:
    tokens = tags.split()
    if len(tokens) != words:
        raise InputError(f"`{column}` has {len(tokens)} words; expected the {words} of the sentence")
    for token in tokens:
        if not token.endswith(_TAGS):
            raise InputError(f"`{column}` has {shorten(token)}; expected a word, a backslash and B, I or O")
    return frozenset(index for index, token in enumerate(tokens) if not token.endswith("O"))


def _match(rows: Iterable[OpinionRow], targets: Sequence[Target | None]) -> list[frozenset[int] | None]:
    opinions: dict[Target, frozenset[int]] = {}
    for row in rows:
        # A target that is marked twice has the words of both.
        opinions[row.target] = opinions.get(row.target, frozenset()) | row.opinion
    free: dict[tuple[str, str], list[Target]] = defaultdict(list)
    for other in opinions.keys() - set(targets):
        free[other.sentence, other.text].append(other)

    def opinion_on(target: Target | None) -> frozenset[int] | None:
        if target is None:
            return None
        marked = target if target in opinions else _nearest(target, free[target.sentence, target.text])
        return None if marked is None else opinions[marked]

    return [opinion_on(target) for target in targets]


def _nearest(target: Target, others: Sequence[Target]) -> Target | None:
    # The earlier of two that are equally near.
    return min(others, key=lambda other: (abs(other.start - target.start), other.start), default=None)


def _findings(example: Example, words: Iterable[int]) -> list[Finding]:
    marked = sorted(example.candidates.intersection(words))
    label = example.label or ""
    return [Finding(word, ACTIVE, 1, 0.0, 1 / len(marked), label, label) for word in marked]
