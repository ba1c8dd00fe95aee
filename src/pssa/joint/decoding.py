"""What held-out reviews choose for a trained joint model: its biases and its threshold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pssa.data.reviews import NO_OPINION, Review
from pssa.data.tokenize import Span
from pssa.evaluation.metrics import score, score_spans
from pssa.joint.runtime import Decoding, Floats, JointRuntime, spans_of, with_mentions
from pssa.runs.answers import Question

_BIASES = tuple(np.arange(-3, 1.51, 0.25).tolist())
_LEAST = tuple(np.arange(0.2, 0.91, 0.05).round(2).tolist())


def choose_decoding(
    runtime: JointRuntime, groups: Sequence[Sequence[Review]], *, mentions: Sequence[Review] = ()
) -> Decoding:
    """Return the settings with the best mean scores over groups of held-out reviews, such as domains.

    :param mentions: reviews whose annotators marked aspects without an opinion too.
    """
    plain = replace(runtime, decoding=Decoding())
    spans, wholes = defaultdict[float, list[float]](list), defaultdict[float, list[float]](list)
    for reviews in groups:
        for bias, value in _span_scores(plain, reviews, _BIASES).items():
            spans[bias].append(value)
        for least, value in _overall_scores(plain, reviews).items():
            wholes[least].append(value)
    both = _span_scores(plain, mentions, _BIASES, mentions=True) if mentions else {}
    return Decoding(
        outside_bias=_best(spans, 0.0),
        mention_bias=_best({bias: [value] for bias, value in both.items()}, 0.0) if both else _best(spans, 0.0),
        min_overall=_best(wholes, 0.5),
    )


def _best(found: dict[float, list[float]], usual: float) -> float:
    """Return the value with the best mean score; of equals the one nearest to the usual."""
    return max(found, key=lambda value: (float(np.mean(found[value])), -abs(value - usual)))


def _span_scores(
    runtime: JointRuntime, reviews: Sequence[Review], biases: Sequence[float], *, mentions: bool = False
) -> dict[float, float]:
    """Return the F1 of exact spans for each bias; where mentions count, beside the opinions of a bias of zero."""
    found: dict[float, list[list[Span]]] = {bias: [[] for _ in reviews] for bias in biases}
    parts = runtime.parts([Question(review.text) for review in reviews])
    for part, _, words in runtime.states(parts, 32):
        chances, opinion = runtime.tag_chances(words)
        if mentions:
            opinion = with_mentions(chances)
        places = part.sentence.words
        for bias in biases:
            for first, end in spans_of(opinion, bias):
                found[bias][part.question].append((part.start + places[first][0], part.start + places[end - 1][1]))
    gold = [review.aspects for review in reviews]
    return {bias: score_spans(gold, each).f1 for bias, each in found.items()}


def _overall_scores(runtime: JointRuntime, reviews: Sequence[Review]) -> dict[float, float]:
    """Return the mean of accuracy and macro-F1 of the overall label for each threshold."""
    known = [review for review in reviews if review.overall]
    chances: list[list[tuple[Floats, tuple[()]]]] = [[] for _ in known]
    for part, states, words in runtime.states(runtime.parts([Question(review.text) for review in known]), 32):
        chances[part.question].append((runtime.overall(states[0], words)[0], ()))
    scores = {}
    for least in _LEAST:
        model = replace(runtime, decoding=Decoding(min_overall=least))
        answers = [model.whole(each) for each in chances]
        given = [answer.label if answer else NO_OPINION for answer in answers]
        found = score([str(review.overall) for review in known], given, (*runtime.labels, NO_OPINION))
        scores[least] = (found.accuracy + found.macro_f1) / 2
    return scores
