"""Human opinion words (TOWE) as evidence: the upper bound of what mining can find.

The file is tab-separated with the columns s_id, sentence, target_tags and opinion_words_tags, each tag B, I or O behind a
backslash, and no quoting. Its words are cut and cased differently from a corpus's, so both sides are reduced to the
letters a-z and digits: sentences are the same if these characters are, and they carry marks from one to the other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pssa.data.evidence import ACTIVE, Evidence, Finding, Header
from pssa.data.example import Corpus, Example
from pssa.data.formats._text import decoding_fault, lines
from pssa.data.tokenize import Span
from pssa.errors import InputError

__all__ = ["METHOD", "OpinionEvidence", "OpinionRow", "evidence_from_opinion_words", "read_opinion_words"]

METHOD = "opinion-words"
_COLUMNS = ["s_id", "sentence", "target_tags", "opinion_words_tags"]
_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")


@dataclass(frozen=True, slots=True)
class OpinionRow:
    """One target in one sentence and what is said of it, as offsets into the sentence's letters and digits."""

    sentence: str
    target: Span
    opinion: frozenset[int]


@dataclass(frozen=True, slots=True)
class OpinionEvidence:
    """Evidence made from opinion words, and for how many examples of each label there was a row."""

    evidence: Evidence
    matched: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Letters:
    """A sentence reduced to its letters and digits; `word_of` maps each of them to its word."""

    text: str
    word_of: tuple[int, ...]

    @classmethod
    def of(cls, words: Sequence[str]) -> _Letters:
        kept = [(letter, index) for index, word in enumerate(words) for letter in word.lower() if letter in _LETTERS]
        return cls("".join(letter for letter, _ in kept), tuple(index for _, index in kept))

    def offsets(self, words: Container[int]) -> tuple[int, ...]:
        """Where the letters of these words are."""
        return tuple(offset for offset, word in enumerate(self.word_of) if word in words)


def read_opinion_words(path: str | Path) -> tuple[OpinionRow, ...]:
    """Read a file of opinion words; a target or an opinion without letters and digits is passed over.

    :raises InputError: naming the file and the first line that is not as it should be.
    """
    rows = []
    for line, content in lines(Path(path)):
        columns = content.rstrip("\r\n").split("\t")
        try:
            if line > 1:
                rows.append(_parse(columns))
            elif columns != _COLUMNS:
                raise InputError(f"is {content.rstrip()[:60]!r}; expected the tab-separated columns {', '.join(_COLUMNS)}")
        except InputError as error:
            raise InputError.at(path, line, str(error)) from None
    return tuple(row for row in rows if row is not None)


def evidence_from_opinion_words(rows: Sequence[OpinionRow], corpus: Corpus) -> OpinionEvidence:
    """Make every opinion word active at iteration 1.

    A row belongs to the examples with the same sentence and the same place of the aspect. If only the place differs,
    because the aspect occurs more than once, the nearest row that belongs to no other example is taken.
    """
    letters = [_Letters.of(example.words) for example in corpus]
    opinions = _match(rows, [_target(each, range(*example.aspect)) for each, example in zip(letters, corpus, strict=True)])
    findings = [
        _findings(example, {each.word_of[offset] for offset in opinion or ()})
        for example, each, opinion in zip(corpus, letters, opinions, strict=True)
    ]
    counts = Counter(example.label for example, opinion in zip(corpus, opinions, strict=True) if opinion is not None)
    header = Header("human", "human", None, iterations=1, corpus_hash=corpus.hash(), seed=0, method=METHOD)
    return OpinionEvidence(
        Evidence.from_findings(header, corpus, findings), {label: counts[label] for label in corpus.labels}
    )


def _parse(columns: Sequence[str]) -> OpinionRow | None:
    if len(columns) != len(_COLUMNS):
        raise InputError(f"has {len(columns)} columns; expected {len(_COLUMNS)}, separated by tabs")
    # Words of the sentence, not of the tags: the public files misspell a few there.
    words = columns[1].split()
    letters = _Letters.of(words)
    target = _target(letters, _marked(columns[2], "target_tags", len(words)))
    opinion = frozenset(letters.offsets(_marked(columns[3], "opinion_words_tags", len(words))))
    return OpinionRow(*target, opinion) if target and opinion else None


def _marked(tags: str, column: str, count: int) -> frozenset[int]:
    tokens = tags.split()
    if len(tokens) != count:
        raise InputError(f"`{column}` has {len(tokens)} words; expected the {count} of the sentence")
    for token in tokens:
        if token[-2:] not in _TAGS:
            raise InputError(f"`{column}` has {token!r}; expected a word, a backslash and B, I or O")
    return frozenset(index for index, token in enumerate(tokens) if token[-1] != "O")


def _target(letters: _Letters, words: Container[int]) -> _Target | None:
    offsets = letters.offsets(words)
    return (letters.text, (offsets[0], offsets[-1] + 1)) if offsets else None


def _match(rows: Sequence[OpinionRow], targets: Sequence[_Target | None]) -> list[frozenset[int] | None]:
    """The opinion letters of each target; None where there is no row for it."""
    opinions: dict[_Target, frozenset[int]] = {}
    for row in rows:
        # A pair that was marked twice has the words of both.
        key = row.sentence, row.target
        opinions[key] = opinions.get(key, frozenset()) | row.opinion
    free: dict[tuple[str, str], list[_Target]] = defaultdict(list)
    for sentence, span in opinions.keys() - set(targets):
        free[sentence, sentence[slice(*span)]].append((sentence, span))
    matched = []
    for target in targets:
        if target is not None and target not in opinions:
            target = _nearest(free, target)
        matched.append(opinions.get(target))
