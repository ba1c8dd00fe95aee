"""Human opinion words (TOWE) as evidence, to compare mining with.

The file is tab-separated with the columns s_id, sentence, target_tags and opinion_words_tags, each tag B, I or O after a
backslash, without quoting. Its tokenisation and case differ from those of a corpus, so both are reduced to the letters a-z and
digits: sentences with the same letters are the same, and marks are transferred by letter.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path

from pssa.data.evidence import ACTIVE, Evidence, Finding, Header
from pssa.data.example import Corpus, Example
from pssa.data.text_file import describe_damage, read_text
from pssa.data.validation import shorten
from pssa.errors import InputError

Target = tuple[str, int, int]  # the letters of a sentence, and the offsets of the target in them
OpinionWords = Mapping[Target, frozenset[int]]  # the offsets of all letters of its opinion words

METHOD = "opinion-words"
_COLUMNS = ["s_id", "sentence", "target_tags", "opinion_words_tags"]
_TAGS = ("\\B", "\\I", "\\O")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")


def read_opinion_words(path: str | Path) -> OpinionWords:
    """Read a file of opinion words; skip rows whose target has neither letter nor digit.

    A target that is marked twice has the words of both rows.

    :raises InputError: naming the file and the first invalid line.
    """
    found: dict[Target, frozenset[int]] = {}
    for line, content in read_text(Path(path)):
        try:
            if line == 1:
                _require_columns(content)
                continue
            target, opinion = _parse_row(content)
        except InputError as error:
            raise InputError.at(path, line, error.message) from None
        if target is not None:
            found[target] = found.get(target, frozenset()) | opinion
    return found


def evidence_from_opinion_words(opinions: OpinionWords, corpus: Corpus) -> Evidence:
    """Make every opinion word active at iteration 1, each with an equal share of the score.

    Opinion words belong to the examples with the same sentence and the same span of the aspect. If only the span differs,
    because the aspect occurs more than once, the nearest target that belongs to no other example is taken.
    """
    findings = []
    for example, opinion in zip(corpus, _match(opinions, corpus), strict=True):
        _, word_of = _letters(example.words)
        findings.append(_findings(example, {word_of[offset] for offset in opinion or ()}))
    header = Header("human", "human", None, iterations=1, corpus_hash=corpus.hash(), seed=0, method=METHOD)
    return Evidence.from_findings(header, corpus, findings)


def count_matches(opinions: OpinionWords, corpus: Corpus) -> dict[str, int]:
    """Count the examples of each label that opinion words belong to."""
    matched = zip(corpus, _match(opinions, corpus), strict=True)
    counts = Counter(example.label for example, opinion in matched if opinion is not None)
    return {label: counts[label] for label in corpus.labels}


def _letters(words: Sequence[str]) -> tuple[str, list[int]]:
    """Return the letters and digits of a sentence, and the word of each."""
    kept = [(letter, index) for index, word in enumerate(words) for letter in word.lower() if letter in _LETTERS]
    return "".join(letter for letter, _ in kept), [index for _, index in kept]


def _offsets(words: Sequence[str], marked: Container[int]) -> list[int]:
    return [offset for offset, word in enumerate(_letters(words)[1]) if word in marked]


def _target(words: Sequence[str], marked: Container[int]) -> Target | None:
    offsets = _offsets(words, marked)
    return (_letters(words)[0], offsets[0], offsets[-1] + 1) if offsets else None


def _require_columns(content: str) -> None:
    if content.split() != _COLUMNS:
        raise InputError(f"is {content.strip()[:60]!r}; expected the columns {', '.join(_COLUMNS)}, separated by tabs")


def _parse_row(content: str) -> tuple[Target | None, frozenset[int]]:
    fault = describe_damage(content)
    if fault:
        raise InputError(fault)
    columns = content.rstrip("\r\n").split("\t")
    if len(columns) != len(_COLUMNS):
        raise InputError(f"has {len(columns)} columns; expected {len(_COLUMNS)}, separated by tabs")
    _, sentence, target_tags, opinion_tags = columns
    # The words of the sentence: those in the tags are sometimes misspelt in the public files.
    words = sentence.split()
    target = _target(words, _marked(target_tags, "target_tags", len(words)))
    return target, frozenset(_offsets(words, _marked(opinion_tags, "opinion_words_tags", len(words))))


def _marked(tags: str, column: str, words: int) -> frozenset[int]:
    tokens = tags.split()
    if len(tokens) != words:
        raise InputError(f"`{column}` has {len(tokens)} words; expected the {words} of the sentence")
    for token in tokens:
        if not token.endswith(_TAGS):
            raise InputError(f"`{column}` has {shorten(token)}; expected a word, a backslash and B, I or O")
    return frozenset(index for index, token in enumerate(tokens) if not token.endswith("O"))


def _match(opinions: OpinionWords, corpus: Corpus) -> list[frozenset[int] | None]:
    """Return the offsets of each example's opinion words; None if it has no target."""
    targets = [_target(example.words, range(*example.aspect)) for example in corpus]
    free: dict[tuple[str, str], list[Target]] = defaultdict(list)
    for sentence, start, end in opinions.keys() - set(targets):
        free[sentence, sentence[start:end]].append((sentence, start, end))

    def opinion_on(target: Target | None) -> frozenset[int] | None:
        if target is None or target in opinions:
            return opinions[target] if target else None
        sentence, start, end = target
        others = free[sentence, sentence[start:end]]
        # The earlier of two that are equally near.
        nearest = min(others, key=lambda other: (abs(other[1] - start), other[1]), default=None)
        return None if nearest is None else opinions[nearest]

    return [opinion_on(target) for target in targets]


def _findings(example: Example, words: Iterable[int]) -> list[Finding]:
    marked = sorted(example.candidates.intersection(words))
    label = example.label or ""
    return [Finding(word, ACTIVE, 1, 0.0, 1 / len(marked), label, label) for word in marked]
