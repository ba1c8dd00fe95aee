"""Explanations of a classifier's answers by word, and how far they can be trusted.

An explanation is in words also where the model reads pieces of them. Where several models vote, it is of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from pssa import saliency as saliencies
from pssa.data.evidence import Evidence
from pssa.data.example import Corpus, Example
from pssa.data.validation import brief_repr
from pssa.errors import InputError, setting
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
from pssa.runs.answers import Answer, Explanation
from pssa.runs.classifier import Classifier
from pssa.runs.settings import Config
from pssa.saliency import build as build_saliency
from pssa.saliency import observe

_BATCH = 64  # some saliencies hold many copies of every sentence
_CONTROL = "random"  # what every number is compared with


def explain(
    classifier: Classifier, examples: Sequence[Example], saliency: str = "", batch_size: int = _BATCH
) -> list[Explanation]:
    """Explain the classifier's answers, in the order of the examples; the first member is run once for answer and word scores.

    :param saliency: one of the classifier's `saliencies`; empty: the default.
    """
    chosen = classifier.explaining(saliency or classifier.saliencies[0])
    answers, name = chosen.answer(examples, batch_size, reasons=True), chosen.runtime.saliency
    if classifier.runtime.in_torch is None:
        return [_on_all_words(*pair, name) for pair in zip(examples, answers, strict=True)]
    return [Explanation.of(example.text, answer, name) for example, answer in zip(examples, answers, strict=True)]


def _on_all_words(example: Example, answer: Answer, saliency: str) -> Explanation:
    """Return the explanation of an answer that rests on one sentence; words of others have no share."""
    known = {word.start: word.share for word in answer.words}
    shares = tuple(known.get(start, 0.0) for start, _ in example.spans)
    return Explanation(example.text, example.spans, example.aspect, shares, saliency, replace(answer, words=()))


@dataclass(frozen=True)
class Trust:
    """Faithfulness of a classifier's saliencies, and their agreement with each other and with people."""

    instances: int  # measured on
    left_out: int  # of them, sentences that have no word beside the aspect
    faithfulness: Mapping[str, Mapping[str, Faithfulness]]  # by way of taking words away, then by saliency
    correlation: tuple[Correlation, ...]
    agreement: Agreement | None  # where evidence was given

    def __repr__(self) -> str:
        saliencies = list(next(iter(self.faithfulness.values()), ()))
        return brief_repr(self, instances=self.instances, saliencies=saliencies)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as JSON can write them."""
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
    evidence_for: Callable[[Corpus], Evidence] | None = None,
    seed: int = 0,
    limit: int = 0,
) -> Trust:
    """Measure how far saliencies of a classifier can be trusted on a corpus; labels only divide the agreement.

    :param saliencies: their names; none: those of `trusted_saliencies`.
    :param evidence_for: gives the evidence of a corpus, whose active words the saliencies should find; see `evidence_source`.
    :param limit: number of examples to measure on, drawn at random; 0: all.
    :raises InputError: for a saliency that does not apply to this model, or an empty corpus.
    """
    names = trusted_saliencies(classifier, saliencies)
    if not corpus:
        raise InputError("the corpus is empty; give at least one example")
    if 0 < limit < len(corpus):
        drawn = np.random.default_rng(seed).permutation(len(corpus))[:limit]
        corpus = corpus.select(sorted(drawn.tolist()))
    runtime = classifier.torch
    first = replace(runtime, members=runtime.members[:1], vote_weights=runtime.vote_weights[:1])
    indexed = first.index(corpus)
    candidates = indexed.table.candidates
    scores = {name: observe(first.model, indexed, build_saliency(name, {})).scores for name in names}
    ways = {"mask": by_mask(first.model, indexed), "deletion": by_deletion(first.probabilities, corpus, candidates)}
    agreement = None
    if evidence_for is not None:
        marked = marked_words(evidence_for(corpus), candidates.shape[1])
        agreement = measure_agreement(scores, marked, indexed, first.labels, seed)
    return Trust(
        instances=len(corpus),
        left_out=int((~candidates.any(dim=1)).sum()),
        faithfulness={way: measure_faithfulness(scores, candidates, remove, seed) for way, remove in ways.items()},
        correlation=correlate(scores, candidates, seed),
        agreement=agreement,
    )


def trusted_saliencies(classifier: Classifier, names: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the saliencies to measure: those of `names`, or all cheap ones and the default.

    :raises InputError: if one does not apply to the model, or none can be measured.
    """
    if classifier.runtime.in_torch is None:
        alone = setting("model", Config().model)
        raise InputError(f"saliencies of the model {classifier.name} are not measured; train one such as {alone}")
    if names:
        return tuple(dict.fromkeys(classifier.explaining(name).runtime.saliency for name in names))
    default, *others = classifier.saliencies
    return default, *(name for name in others if name != _CONTROL and not saliencies.is_quadratic(name))
