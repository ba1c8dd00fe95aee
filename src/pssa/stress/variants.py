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
from dataclasses import dataclass, replace

from pssa.data.evidence import Evidence
from pssa.data.example import Corpus, Example
from pssa.data.validation import brief_repr
from pssa.stress.clauses import ClausePool, add_neutral
from pssa.stress.opinions import SIGNS, Marks, find_opinions
from pssa.stress.reversal import OPPOSITE, reverse_others, reverse_target
from pssa.stress.surface import add_typos, change_case

# Version of the variants: raised when the same data would give others, so that old measurements are not mixed with new ones.
VERSION = 1
REVERSE_TARGET = "reverse_target"
KINDS = (REVERSE_TARGET, "reverse_others", "add_opposite", "add_neutral", "typos", "case")


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
