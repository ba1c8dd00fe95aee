"""How far what a classifier shows of itself can be trusted: faithfulness, agreement with people and among saliencies.

As with explanations, where several models vote, the first is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from pssa import saliency as kinds
from pssa.data.example import Corpus
from pssa.data.opinion_words import OpinionRow, evidence_from_opinion_words
from pssa.errors import InputError
from pssa.evaluation import (
    Agreement,
    Correlation,
    Faithfulness,
    by_deletion,
    by_mask,
    correlate,
    marked_words,
    measure_agreement,
    measure_faithfulness,
)
from pssa.runs.classifier import Classifier
from pssa.runs.explain import require_usable, usable_saliencies, usual_saliency
from pssa.saliency import observe

__all__ = ["Trust", "trust", "trusted_saliencies"]

# The first reads a sentence once for every word; the second is what every number is compared with anyway.
_NOT_UNASKED = ("leave_one_out", "random")


@dataclass(frozen=True)
class Trust:
    """What `trust` found."""

    instances: int  # looked at
    left_out: int  # of them, sentences that have no word beside the aspect
    faithfulness: Mapping[str, Mapping[str, Faithfulness]]  # by way of taking words away, then by saliency
    correlation: tuple[Correlation, ...]
    agreement: Agreement | None  # where opinion words were given

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as JSON can write them."""
        ways = {
            way: {name: asdict(found) for name, found in by_name.items()} for way, by_name in self.faithfulness.items()
        }
        values: dict[str, Any] = {
            "faithfulness": {"instances": self.instances - self.left_out, "left_out": self.left_out, **ways},
            "correlation": [asdict(pair) for pair in self.correlation],
        }
        return values if self.agreement is None else values | {"agreement": asdict(self.agreement)}


def trust(
    classifier: Classifier,
    corpus: Corpus,
    saliencies: Sequence[str] = (),
    opinion_words: Iterable[OpinionRow] | None = None,
    seed: int = 0,
    limit: int = 0,
) -> Trust:
    """Judge saliencies of a classifier on a corpus; labels are used for nothing but to divide the agreement.

    :param saliencies: their names; none: those of `trusted_saliencies`.
    :param limit: look at so many examples only, drawn at random; 0: at all.
    :raises InputError: for a saliency that says nothing about this model, or data about which nothing can be said.
    """
    names = trusted_saliencies(classifier, saliencies)
    if not corpus:
        raise InputError("there is nothing to look at; the corpus is empty")
    if 0 < limit < len(corpus):
        drawn = np.random.default_rng(seed).permutation(len(corpus))[:limit]
        corpus = corpus.select(sorted(drawn.tolist()))
    first = replace(classifier, members=classifier.members[:1], vote_weights=classifier.vote_weights[:1])
    indexed = first.index(corpus)
    candidates = indexed.table.candidates
    scores = {name: observe(first.model, indexed, kinds.build(name, {})).scores for name in names}
    ways = {
        "mask": by_mask(first.model, indexed),
        "deletion": by_deletion(first.probabilities, corpus, candidates),
    }
    agreement = None
    if opinion_words is not None:
        marked = marked_words(evidence_from_opinion_words(opinion_words, corpus).evidence, candidates.shape[1])
        agreement = measure_agreement(scores, marked, indexed, first.labels, seed)
    return Trust(
        instances=len(corpus),
        left_out=int((~candidates.any(dim=1)).sum()),
        faithfulness={way: measure_faithfulness(scores, candidates, remove, seed) for way, remove in ways.items()},
        correlation=correlate(scores, candidates, seed),
        agreement=agreement,
    )


def trusted_saliencies(classifier: Classifier, asked: Sequence[str] = ()) -> tuple[str, ...]:
    """What is asked for or, where nothing is, all that can be had at little cost; the usual saliency always.

    :raises InputError: for a saliency that does not exist or says nothing about this model.
    """
    if asked:
        return tuple(dict.fromkeys(require_usable(classifier, name) for name in asked))
    usual = usual_saliency(classifier)
    return tuple(name for name in usable_saliencies(classifier) if name == usual or name not in _NOT_UNASKED)
