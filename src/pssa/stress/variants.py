"""Variants of labelled instances, in the manner of Xing et al. 2020: which opinions are reversed, and what must change nothing.

| kind | the sentence | the label |
|---|---|---|
| `reverse_target` | the opinions on the target are reversed | reversed |
| `reverse_others` | the opinions on other aspects are reversed | stays |
| `add_opposite` | a clause with opposite opinions on other aspects of the file follows | stays |
| `add_neutral` | a clause without an opinion follows | stays |
| `typos` | letters are swapped in words that are no opinion | stays |
| `case` | lower case, or upper case where there is no capital letter | stays |

Variants are the same at every call. Where none is safe, none is made.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass, replace
from random import Random

from pssa.data.evidence import Evidence
from pssa.data.example import Corpus, Example
from pssa.data.validation import brief_repr
from pssa.stress.clauses import ClausePool, add_neutral
from pssa.stress.draft import Draft, apply
from pssa.stress.lexicon import SIGNS, is_listed
from pssa.stress.opinions import OPPOSITE, Marks, find_opinions, reverse_others, reverse_target

# Version of the variants: raised when the same data would give others, so that old measurements are not mixed with new ones.
VERSION = 1
REVERSE_TARGET = "reverse_target"
KINDS = (REVERSE_TARGET, "reverse_others", "add_opposite", "add_neutral", "typos", "case")
_MIN_LETTERS = 5
_MOST_TYPOS = 2


@dataclass(frozen=True)
class Variant:
    """A changed instance, with the label that it should get."""

    kind: str
    index: int  # of the original in its corpus
    example: Example


@dataclass(frozen=True)
class VariantSet:
    """The variants of a corpus: at most one of each kind for an instance."""

    corpus: Corpus
    variants: tuple[Variant, ...]

    def __repr__(self) -> str:
        return brief_repr(self, instances=len(self.corpus), variants=self.counts())

    def counts(self) -> dict[str, int]:
        """Count the variants of each kind."""
        counted = Counter(variant.kind for variant in self.variants)
        return {kind: counted[kind] for kind in KINDS}


def make_variants(corpus: Corpus, opinion_words: Evidence | None = None) -> VariantSet:
    """Make every safe variant of labelled instances.

    :param opinion_words: evidence about this corpus whose active words are the opinions on each aspect; None: the words of
        the lexicon.
    """
    # Ids of a file may repeat; places do not.
    numbered = [replace(example, id=str(index)) for index, example in enumerate(corpus)]
    marks: Marks = {}
    if opinion_words is not None:
        opinion_words.check_corpus(corpus)
        words_of = (frozenset(finding.word for finding in example.active) for example in opinion_words.examples)
        marks = {str(index): words for index, words in enumerate(words_of)}
    if not any(marks.values()):  # without any mark the lexicon decides
        marks = {}
    pool, words = ClausePool(numbered), frozenset(word.lower() for each in corpus for word in each.words)
    sentences: dict[tuple[object, ...], list[Example]] = defaultdict(list)
    for example in numbered:
        sentences[example.text, example.spans].append(example)
    found: list[Variant] = []
    for siblings in sentences.values():
        opinions = find_opinions(siblings, marks)
        for example in siblings:
            # Where people marked opinions, one without a mark is not in the words.
            is_clear = bool(marks.get(example.id)) or not marks or example.label not in SIGNS
            drafts = {
                REVERSE_TARGET: reverse_target(example, opinions) if is_clear else None,
                "reverse_others": reverse_others(example, siblings, opinions) if is_clear else None,
                "add_opposite": pool.add_opposite(example, siblings),
                "add_neutral": add_neutral(example),
                "typos": add_typos(example, siblings, {opinion.place for opinion in opinions}, words),
                "case": change_case(example),
            }
            index, original = int(example.id), corpus[int(example.id)]
            for kind, draft in drafts.items():
                if draft is None:
                    continue
                label = OPPOSITE.get(example.label or "") if kind == REVERSE_TARGET else example.label
                made = draft.as_example(original, f"{original.id}/{kind}", label)
                # The aspect may be another where a file has words of its own.
                if label in corpus.labels and made.aspect_text.casefold() == original.aspect_text.casefold():
                    found.append(Variant(kind, index, made))
    return VariantSet(corpus, tuple(sorted(found, key=lambda variant: variant.index)))


def add_typos(
    example: Example, siblings: Sequence[Example], marked: Collection[int], known: Container[str]
) -> Draft | None:
    """Return the text with two inner letters swapped in up to two words; never in an aspect or a word that may be an opinion.

    :param known: words in lower case that no typing error may result in.
    """
    protected = {place for sibling in siblings for place in range(*sibling.aspect)} | {*marked}
    places = [place for place, word in enumerate(example.words) if place not in protected and _typos(word, known)]
    if not places:
        return None
    random = Random(f"typos {example.text}")
    chosen = sorted(random.sample(places, min(_MOST_TYPOS, len(places))))
    return apply(example, {place: (random.choice(_typos(example.words[place], known)),) for place in chosen})


def change_case(example: Example) -> Draft | None:
    """Return the text in lower case or, where it has no capital letter, in upper case; None if letters change their number."""
    changed = example.text.lower() if example.text != example.text.lower() else example.text.upper()
    if changed == example.text or len(changed) != len(example.text):
        return None
    return Draft(changed, example.aspect_chars)


def _typos(word: str, known: Container[str]) -> list[str]:
    """Return the word with two neighbouring letters swapped, its first and last letter in place; nothing if it is short."""
    if len(word) < _MIN_LETTERS or not (word.isascii() and word.isalpha()) or is_listed(word.lower()):
        return []
    places = [place for place in range(1, len(word) - 2) if word[place].lower() != word[place + 1].lower()]
    swapped = [word[:place] + word[place + 1] + word[place] + word[place + 2 :] for place in places]
    return [each for each in swapped if each.lower() not in known and not is_listed(each.lower())]
