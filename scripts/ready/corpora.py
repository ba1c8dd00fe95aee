"""What the ready model learns from: DMASTE, ROAST, MAMS and TSA-MD, without anything that a test set holds.

    python scripts/ready/corpora.py DATA

prints what each source gives and what was left out. DATA has the folders `amazon` (DMASTE, github.com/NJUNLP/DMASTE), `roast`
(github.com/RiTUAL-UH/ROAST-ABSA), `mams` (github.com/siat-nlp/MAMS-for-ABSA), `tsa_md` (github.com/IBM/yaso-tsa), and `laptop`,
`rest` and `aspect_terms` (SemEval-2014), which are only tests.

A training text is left out if a test has the same letters and digits, or nearly the same words. A sentence of a training text is
left out if a test has it, unless it is an everyday phrase of few words, such as "Highly recommended!".
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pssa.aspects.sentences import split_review, split_sentences
from pssa.data.formats import scan
from pssa.data.io import format_of
from pssa.data.reviews import Review, read_reviews
from pssa.data.rows import Dropped, Row

__all__ = ["PHRASE_WORDS", "TrainingTexts", "normalise", "read_tests", "read_training"]

SOURCES: Mapping[str, tuple[str, ...]] = {
    **{f"amazon {name}": (f"amazon/{name}-train.txt",) for name in ("beauty", "electronics", "fashion", "home")},
    **{f"roast {name}": (f"roast/{name}-train.txt",) for name in ("amazon_ff", "coursera", "hotels", "phones_eng")},
    "mams": ("mams/train.xml",),
    "tsa_md": ("tsa_md/train.json", "tsa_md/dev.json"),
}
TESTS = (
    *("amazon/*-dev.txt", "amazon/*-test.txt", "roast/*-dev.txt", "roast/*-test.txt", "mams/val.xml"),
    *("laptop/test.txt", "rest/test.txt", "aspect_terms/*/test.xml"),
)
PHRASE_WORDS = 5  # sentences of so many words or fewer occur everywhere
_RUN = 8  # words
_NEARLY = 0.3  # share of the runs of words of the shorter text that are in the other
_NOT_LETTERS = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class TrainingTexts:
    """The texts of each source, as published and by sentence, and counts of what was left out by source and reason."""

    reviews: Mapping[str, tuple[Review, ...]]
    sentences: Mapping[str, tuple[Review, ...]]
    left_out: Mapping[str, Counter[str]]


def read_training(
    data: Path, sources: Mapping[str, Sequence[str]] = SOURCES, tests_in: Sequence[str] = TESTS
) -> TrainingTexts:
    """Read every source, without what a test holds."""
    tests = list(read_tests(data, tests_in))
    known = {normalise(text) for text in tests}
    known_sentences = {normalise(text[start:end]) for text in tests for start, end in split_sentences(text)}
    tests_of_run: dict[str, set[int]] = {}
    for number, text in enumerate(tests):
        for run in _runs(text):
            tests_of_run.setdefault(run, set()).add(number)
    n_runs = [len(_runs(text)) for text in tests]

    def is_nearly_known(text: str) -> bool:
        own = _runs(text)
        shared = Counter(number for run in own for number in tests_of_run.get(run, ()))
        return any(count >= _NEARLY * min(len(own), n_runs[number]) for number, count in shared.items())

    reviews: dict[str, tuple[Review, ...]] = {}
    sentences: dict[str, tuple[Review, ...]] = {}
    left_out: dict[str, Counter[str]] = {}
    for name, files in sources.items():
        kept, parts = [], []
        lost = left_out[name] = Counter[str]()
        for file in files:
            found, dropped = read_reviews(data / file)
            lost.update(dropped)
            for review in found:
                reason = "text_in_test" if normalise(review.text) in known else ""
                reason = reason or ("text_nearly_in_test" if is_nearly_known(review.text) else "")
                if reason:
                    lost[reason] += 1
                    continue
                kept.append(review)
                inside, without = split_review(review)
                lost.update(without)
                for sentence in inside:
                    if is_phrase(sentence.text) or normalise(sentence.text) not in known_sentences:
                        parts.append(sentence)
                    else:
                        lost["sentence_in_test"] += 1
        reviews[name], sentences[name] = tuple(kept), tuple(parts)
    return TrainingTexts(reviews, sentences, left_out)


def read_tests(data: Path, patterns: Sequence[str] = TESTS) -> Iterator[str]:
    """Yield the texts of every test and development set."""
    for pattern in patterns:
        paths = sorted(data.glob(pattern))
        if not paths:
            raise SystemExit(f"{data / pattern} is not here: without it no one knows what training must leave out")
        for path in paths:
            events = scan(path, format_of(path, None))
            yield from dict.fromkeys(_texts(events))


def _texts(events: Iterable[object]) -> Iterator[str]:
    for event in events:
        if isinstance(event, Row):
            yield str(event.fields["text"])
        elif isinstance(event, Dropped) and event.text:
            yield event.text


def normalise(text: str) -> str:
    """Return the letters and digits of a text in lower case."""
    return _NOT_LETTERS.sub("", text.lower())


def is_phrase(text: str) -> bool:
    """Whether a text has so few words that many reviews have it."""
    return len(re.findall(r"\w+", text)) <= PHRASE_WORDS


def _runs(text: str) -> set[str]:
    words = re.findall(r"[^\W_]+", text.lower())
    return {" ".join(words[start : start + _RUN]) for start in range(len(words) - _RUN + 1)}


def main() -> int:
    """Print what each source gives, and what was left out."""
    found = read_training(Path(sys.argv[1]))
    for name, sentences in found.sentences.items():
        opinions = [opinion for sentence in sentences for opinion in sentence.opinions]
        named = sum(opinion.aspect is not None for opinion in opinions)
        with_words = sum(bool(opinion.words) for opinion in opinions)
        print(f"{name}: {len(found.reviews[name])} texts, {len(sentences)} sentences, {len(opinions)} opinions")
        print(f"  {named} about named aspects, {with_words} with marked words")
        print("  left out:", ", ".join(f"{why} {count}" for why, count in sorted(found.left_out[name].items())) or "-")
    return 0


if __name__ == "__main__":
    sys.exit(main())
