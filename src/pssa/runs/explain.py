"""Explanations of a classifier's answers by word, and how far they can be trusted.

An explanation is in words also where the model reads pieces of them. Where several models vote, it is of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch

from pssa import models
from pssa import saliency as saliencies
from pssa.data.evidence import Evidence
from pssa.data.example import Corpus, Example
from pssa.data.stop_words import is_content_word
from pssa.data.tokenize import Span
from pssa.data.validation import brief_repr
from pssa.display import to_html
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
    predict_logits,
)
from pssa.runs.classifier import Answer, Classifier
from pssa.saliency import build as build_saliency
from pssa.saliency import observe

_BATCH = 64  # some saliencies hold many copies of every sentence
_CONTROL = "random"  # what every number is compared with


@dataclass(frozen=True)
class Explanation:
    """One answer, and in `shares` how much each of `words` counted for it; a heat map in a notebook."""

    text: str
    spans: tuple[Span, ...]  # character offsets of the words
    aspect: Span  # word offsets, half-open
    # Of each word; they sum to one, or are all zero where no word counts. The aspect has none.
    shares: tuple[float, ...]
    saliency: str
    answer: Answer

    def __repr__(self) -> str:
        shares = (pair for pair in zip(self.words, self.shares, strict=True) if is_content_word(pair[0]))
        ranked = sorted(shares, key=lambda pair: -pair[1])
        top = {word: round(share, 3) for word, share in ranked[:4]}
        return brief_repr(self, text=self.text, aspect=self.answer.aspect, label=self.answer.label, words=top)

    def _repr_html_(self) -> str:
        return to_html(self)

    @property
    def words(self) -> tuple[str, ...]:
        """The words as they appear in the text."""
        return tuple(self.text[start:end] for start, end in self.spans)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values under the names that files and the service use."""
        words = [
            {"word": self.text[start:end], "from": start, "to": end, "share": share}
            for (start, end), share in zip(self.spans, self.shares, strict=True)
        ]
        return {"text": self.text, **self.answer.as_dict(), "saliency": self.saliency, "words": words}


def explain(
    classifier: Classifier, examples: Sequence[Example], saliency: str = "", batch_size: int = _BATCH
) -> list[Explanation]:
    """Explain the classifier's answers, in the order of the examples; the first member is run once for answer and word scores.

    :param saliency: a name of `usable_saliencies`; empty: the default.
    """
    name = require_usable(classifier, saliency or usual_saliency(classifier))
    if not examples:
        return []
    given, examples = examples, classifier.featurizer.cut(examples)
    corpus = classifier.featurizer.index(examples, classifier.labels)
    observed = observe(classifier.model, corpus, build_saliency(name, {}), batch_size)
    others = [predict_logits(member, corpus, batch_size).softmax(dim=1) for member in classifier.members[1:]]
    answers = classifier.answers(given, classifier.vote([observed.probabilities, *others]))
    return [
        Explanation(
            example.text, example.spans, example.aspect, tuple(scores[: len(example.spans)].tolist()), name, answer
        )
        for example, answer, scores in zip(examples, answers, observed.scores, strict=True)
    ]


def require_usable(classifier: Classifier, name: str) -> str:
    """Return `name` if it is one of `usable_saliencies`."""
    if name not in (usable := usable_saliencies(classifier)):
        raise InputError(f"saliency {name!r} cannot explain model {classifier.name}; it can be {', '.join(usable)}")
    return name


def usable_saliencies(classifier: Classifier) -> tuple[str, ...]:
    """Return the saliencies that apply to the classifier's model, the default first."""
    default, refined = usual_saliency(classifier), _refined(classifier)
    attends = refined or models.attends(classifier.name)
    has = {"attention": attends, "refined": refined, "states": attends or not models.uses_encoder(classifier.name)}
    usable = (name for name in saliencies.names() if has.get(saliencies.needs(name), True))
    return default, *(name for name in usable if name != default)


def usual_saliency(classifier: Classifier) -> str:
    """Return the default saliency: attention where the model has it, else the cheapest."""
    if models.attends(classifier.name) or _refined(classifier):
        return "attention"
    return "leave_one_out" if models.uses_encoder(classifier.name) else "gradient"


def _refined(classifier: Classifier) -> bool:
    encoder = getattr(classifier.model, "encoder", None)
    return isinstance(getattr(encoder, "refinement", None), torch.nn.Module)


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
    first = replace(classifier, members=classifier.members[:1], vote_weights=classifier.vote_weights[:1])
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
    """Return the saliencies to measure: those of `names`, or all cheap ones and the default."""
    if names:
        return tuple(dict.fromkeys(require_usable(classifier, name) for name in names))
    default, *others = usable_saliencies(classifier)
    return default, *(name for name in others if name != _CONTROL and not saliencies.is_quadratic(name))
