"""Human opinion words as evidence: to train with them, or to compare mining with them.

They come from triplets and quadruples (`pssa.data.formats.triplets`) or from a TOWE file: tab-separated with the columns s_id,
sentence, target_tags and opinion_words_tags, each tag B, I or O after a backslash, without quoting. Tokenisation and case may
differ from those of a corpus, so both are reduced to the letters a-z and digits: sentences with the same letters are the same,
and marks are transferred by letter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path

from pssa.data.evidence import ACTIVE, Evidence, Finding, Header
from pssa.data.evidence_file import read_evidence
from pssa.data.example import Corpus
from pssa.data.formats.triplets import likelihood, scan_reviews
from pssa.data.reviews import Review
from pssa.data.rows import Problem
from pssa.data.text_file import InputFile, describe_damage, read_text
from pssa.data.validation import shorten
from pssa.errors import InputError

Target = tuple[str, int, int]  # the letters of a sentence, and the offsets of the target in them
OpinionWords = Mapping[Target, frozenset[int]]  # the offsets of all letters of its opinion words

METHOD = "opinion-words"
_COLUMNS = ["s_id", "sentence", "target_tags", "opinion_words_tags"]
_TAGS = ("\\B", "\\I", "\\O")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")


def evidence_source(path: str | Path) -> Callable[[Corpus], Evidence]:
    """Read an evidence file, or opinion words that people marked; return a function that gives the evidence of a corpus.

    :raises InputError: if the file is neither; from the function, if it belongs to another corpus.
    """
    if _first_line(path).lstrip().startswith("{"):
        evidence = read_evidence(path)

        def check(corpus: Corpus) -> Evidence:
            evidence.check_corpus(corpus)
            return evidence

        return check
    opinions = read_opinion_words(path)

    def match(corpus: Corpus) -> Evidence:
        found = evidence_from_opinion_words(opinions, corpus)
        if not any(example.findings for example in found.examples):
            what = "marks no opinion words of these instances"
            raise InputError.at(path, None, f"{what}; give a file about the same texts and aspects")
        return found

    return match


def read_opinion_words(path: str | Path) -> OpinionWords:
    """Read the opinion words of triplets, quadruples or a TOWE file; skip targets that have neither letter nor digit.

    A target that is marked twice has the words of both.

    :raises InputError: naming the file and the first invalid line.
    """
    is_towe = _first_line(path).split() == _COLUMNS
    if not is_towe and not likelihood([_first_line(path)]):
        expected = f"expected triplets, quadruples, or the columns {', '.join(_COLUMNS)}, separated by tabs"
        raise InputError.at(path, 1, f"has no opinion words; {expected}")
    found: dict[Target, frozenset[int]] = {}
    for target, opinion in _towe_rows(path) if is_towe else _marked_words(path):
        if target is not None:
            found[target] = found.get(target, frozenset()) | opinion
    return found


def _first_line(path: str | Path) -> str:
    return next((content for _, content in read_text(Path(path)) if content.strip()), "")


def _marked_words(path: str | Path) -> Iterator[tuple[Target | None, frozenset[int]]]:
    """Yield the aspects of triplets or quadruples with the offsets of their opinion words."""
    for found in scan_reviews(InputFile.of(path)):
        if isinstance(found, Problem):
            raise InputError.at(path, found.line, found.message)
        if isinstance(found, Review):
            for aspect in found.aspects:
                words = {place for start, end in found.opinion_words(aspect) for place in range(start, end)}
                # Characters take the place of words.
                yield _target(found.text, range(*aspect)), frozenset(_offsets(found.text, words))


def _towe_rows(path: str | Path) -> Iterator[tuple[Target | None, frozenset[int]]]:
    for line, content in read_text(Path(path)):
        if line == 1:
            continue
        try:
            if fault := describe_damage(content):
                raise InputError(fault)
            columns = content.rstrip("\r\n").split("\t")
            if len(columns) != len(_COLUMNS):
                raise InputError(f"has {len(columns)} columns; expected {len(_COLUMNS)}, separated by tabs")
            _, sentence, target_tags, opinion_tags = columns
            # The words of the sentence: those in the tags are sometimes misspelt in the public files.
            words = sentence.split()
            target = _target(words, _marked(target_tags, "target_tags", len(words)))
            yield target, frozenset(_offsets(words, _marked(opinion_tags, "opinion_words_tags", len(words))))
        except InputError as error:
            raise InputError.at(path, line, error.message) from None


def evidence_from_opinion_words(opinions: OpinionWords, corpus: Corpus) -> Evidence:
    """Make every opinion word active at iteration 1, each with an equal share of the score.

    Opinion words belong to the examples with the same sentence and the same span of the aspect. If only the span differs,
    because the aspect occurs more than once, the nearest target that belongs to no other example is taken.
    """
    findings = []
    for example, opinion in zip(corpus, _match(opinions, corpus), strict=True):
        _, word_of = _letters(example.words)
        marked = sorted(example.candidates.intersection(word_of[offset] for offset in opinion or ()))
        label = example.label or ""
        findings.append([Finding(word, ACTIVE, 1, 0.0, 1 / len(marked), label, label) for word in marked])
    header = Header("human", "human", None, iterations=1, corpus_hash=corpus.hash(), seed=0, method=METHOD)
    return Evidence.from_findings(header, corpus, findings)


def _letters(words: Sequence[str]) -> tuple[str, list[int]]:
    """Return the letters and digits of a sentence, and the word of each."""
    kept = [(letter, index) for index, word in enumerate(words) for letter in word.lower() if letter in _LETTERS]
    return "".join(letter for letter, _ in kept), [index for _, index in kept]


def _offsets(words: Sequence[str], marked: Container[int]) -> list[int]:
    return [offset for offset, word in enumerate(_letters(words)[1]) if word in marked]


def _target(words: Sequence[str], marked: Container[int]) -> Target | None:
    offsets = _offsets(words, marked)
    return (_letters(words)[0], offsets[0], offsets[-1] + 1) if offsets else None


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
