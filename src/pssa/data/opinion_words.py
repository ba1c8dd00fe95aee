"""Human opinion words as evidence: to train with them, or to compare mining with them.

They come from triplets and quadruples (`pssa.data.formats.triplets`) or from a TOWE file: tab-separated with the columns s_id,
sentence, target_tags and opinion_words_tags, each tag B, I or O after a backslash, without quoting. Tokenisation and case may
differ from those of a corpus, so both are reduced to the letters a-z and digits: sentences with the same letters are the same,
and marks are transferred by letter.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from pssa.data.evidence import ACTIVE, Evidence, Finding, Header
from pssa.data.evidence_file import read_evidence
from pssa.data.example import Corpus
from pssa.data.formats import scan_lines
from pssa.data.formats.triplets import likelihood, scan_reviews
from pssa.data.reviews import Opinion, Review
from pssa.data.rows import Dropped, Problem
from pssa.data.text_file import InputFile, read_text
from pssa.data.tokenize import Span, split_on_space
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
    file, first = InputFile.of(path), _first_line(path)
    if first.split() == _COLUMNS:
        events: Iterator[Review | Dropped | Problem] = islice(scan_lines(file, _towe_review), 1, None)
    elif likelihood([first]):
        events = scan_reviews(file)
    else:
        expected = f"expected triplets, quadruples, or the columns {', '.join(_COLUMNS)}, separated by tabs"
        raise InputError.at(path, 1, f"has no opinion words; {expected}")
    found: dict[Target, frozenset[int]] = {}
    for event in events:
        if isinstance(event, Problem):
            raise InputError.at(path, event.line, event.message)
        if isinstance(event, Review):
            _, places = _letters(event.text)
            for aspect in event.aspects:
                if target := _target(event.text, aspect):
                    words = (_offsets(places, span) for span in event.opinion_words(aspect))
                    found[target] = found.get(target, frozenset()).union(*words)
    return found


def _first_line(path: str | Path) -> str:
    return next((content for _, content in read_text(Path(path)) if content.strip()), "")


def _towe_review(line: int, content: str) -> Review:
    columns = content.rstrip("\r\n").split("\t")
    if len(columns) != len(_COLUMNS):
        raise InputError(f"has {len(columns)} columns; expected {len(_COLUMNS)}, separated by tabs")
    _, sentence, target_tags, opinion_tags = columns
    # The words of the sentence: those in the tags are sometimes misspelt in the public files.
    words = split_on_space(sentence)
    target, opinion = _marked(target_tags, "target_tags", words), _marked(opinion_tags, "opinion_words_tags", words)
    return Review(sentence, (Opinion("", (target[0][0], target[-1][1]) if target else None, opinion),), line)


def _marked(tags: str, column: str, words: Sequence[Span]) -> tuple[Span, ...]:
    tokens = tags.split()
    if len(tokens) != len(words):
        raise InputError(f"`{column}` has {len(tokens)} words; expected the {len(words)} of the sentence")
    for token in tokens:
        if not token.endswith(_TAGS):
            raise InputError(f"`{column}` has {shorten(token)}; expected a word, a backslash and B, I or O")
    return tuple(word for word, token in zip(words, tokens, strict=True) if not token.endswith("O"))


def evidence_from_opinion_words(opinions: OpinionWords, corpus: Corpus) -> Evidence:
    """Make every opinion word active at iteration 1, each with an equal share of the score.

    Opinion words belong to the examples with the same sentence and the same span of the aspect. If only the span differs,
    because the aspect occurs more than once, the nearest target that belongs to no other example is taken.
    """
    findings = []
    for example, opinion in zip(corpus, _match(opinions, corpus), strict=True):
        _, places = _letters(example.text)
        words = sorted(example.candidates) if opinion else ()
        marked = [word for word in words if not opinion.isdisjoint(_offsets(places, example.spans[word]))]
        label = example.label or ""
        findings.append([Finding(word, ACTIVE, 1, 0.0, 1 / len(marked), label, label) for word in marked])
    header = Header("human", "human", None, iterations=1, corpus_hash=corpus.hash(), seed=0, method=METHOD)
    return Evidence.from_findings(header, corpus, findings)


def _letters(text: str) -> tuple[str, list[int]]:
    """Return the letters and digits of a text, and the place of each."""
    kept = [(letter, place) for place, sign in enumerate(text) for letter in sign.lower() if letter in _LETTERS]
    return "".join(letter for letter, _ in kept), [place for _, place in kept]


def _offsets(places: Sequence[int], span: Span) -> range:
    """Return which letters are in a part of the text."""
    return range(bisect_left(places, span[0]), bisect_left(places, span[1]))


def _target(text: str, aspect: Span) -> Target | None:
    letters, places = _letters(text)
    offsets = _offsets(places, aspect)
    return (letters, offsets.start, offsets.stop) if offsets else None


def _match(opinions: OpinionWords, corpus: Corpus) -> list[frozenset[int]]:
    """Return the offsets of each example's opinion words; none if it has no target."""
    targets = [_target(example.text, example.aspect_chars) for example in corpus]
    free: dict[tuple[str, str], list[Target]] = defaultdict(list)
    for sentence, start, end in opinions.keys() - set(targets):
        free[sentence, sentence[start:end]].append((sentence, start, end))

    def opinion_on(target: Target | None) -> frozenset[int]:
        if target is None or target in opinions:
            return opinions[target] if target else frozenset()
        sentence, start, end = target
        others = free[sentence, sentence[start:end]]
        # The earlier of two that are equally near.
        nearest = min(others, key=lambda other: (abs(other[1] - start), other[1]), default=None)
        return opinions[nearest] if nearest else frozenset()

    return [opinion_on(target) for target in targets]
