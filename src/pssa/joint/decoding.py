"""What held-out reviews choose for a trained joint model: its biases, its threshold and its temperature."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pssa.data.reviews import NO_OPINION, Review
from pssa.data.tokenize import Span
from pssa.evaluation.metrics import score, score_spans
from pssa.joint.runtime import Decoding, Floats, JointRuntime, spans_of
from pssa.runs.answers import Question

_BIASES = tuple(np.arange(-3, 1.51, 0.25).tolist())
_LEAST = tuple(np.arange(0.2, 0.91, 0.05).round(2).tolist())
_TEMPERATURES = tuple(np.arange(0.8, 3.01, 0.1).round(1).tolist())


def choose_decoding(
    runtime: JointRuntime, groups: Sequence[Sequence[Review]], *, mentions: Sequence[Review] = ()
) -> Decoding:
    """Return the settings with the best mean scores over groups of held-out reviews, such as domains.

    :param mentions: reviews whose annotators marked aspects without an opinion too.
    """
    plain = replace(runtime, decoding=Decoding())
    spans, wholes, labels = defaultdict[float, list[float]](list), defaultdict[float, list[float]](list), []
    for reviews in groups:
        for bias, value in _span_scores(plain, reviews, _BIASES).items():
            spans[bias].append(value)
        for least, value in _overall_scores(plain, reviews).items():
            wholes[least].append(value)
        labels.append(_label_chances(plain, reviews))
    both = _span_scores(plain, mentions, _BIASES, mentions=True) if mentions else {}
    return Decoding(
        outside_bias=_best(spans),
        mention_bias=max(both, key=lambda bias: both[bias]) if both else _best(spans),
        min_overall=_best(wholes),
        temperature=min(_TEMPERATURES, key=lambda value: _loss(labels, value)),
    )


def _best(found: dict[float, list[float]]) -> float:
    return max(found, key=lambda value: float(np.mean(found[value])))


def _span_scores(
    runtime: JointRuntime, reviews: Sequence[Review], biases: Sequence[float], *, mentions: bool = False
) -> dict[float, float]:
    """Return the F1 of exact spans for each bias; where mentions count, beside the opinions of a bias of zero."""
    found: dict[float, list[list[Span]]] = {bias: [[] for _ in reviews] for bias in biases}
    parts = runtime.parts([Question(review.text) for review in reviews])
    for part, _, words in runtime.states(parts, 32):
        chances, opinion = runtime.tag_chances(words)
        if mentions:
            opinion = np.stack(
                [np.logaddexp(chances[:, 0], chances[:, 2]), np.logaddexp(chances[:, 1], chances[:, 3]), chances[:, 4]],
                1,
            )
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


def _label_chances(runtime: JointRuntime, reviews: Sequence[Review]) -> tuple[Floats, Floats]:
    """Return the logarithms of the probabilities (N, C) of marked aspects, and the places of their labels (N,)."""
    rows, gold = [], []
    asked = [tuple(span for span, label in review.aspects.items() if label) for review in reviews]
    questions = [Question(review.text, spans) for review, spans in zip(reviews, asked, strict=True)]
    for review, spans, answers in zip(reviews, asked, runtime.start(questions)(), strict=True):
        for span, answer in zip(spans, answers, strict=True):
            rows.append([answer.probabilities[label] for label in runtime.labels])
            gold.append(runtime.labels.index(str(review.aspects[span])))
    return np.log(np.clip(np.array(rows, np.float32).reshape(-1, len(runtime.labels)), 1e-9, 1)), np.array(gold, int)


def _loss(groups: Sequence[tuple[Floats, Floats]], temperature: float) -> float:
    """Return the mean negative log-likelihood over the groups that have labels."""
    losses = []
    for chances, gold in groups:
        scaled = chances / temperature
        scaled = scaled - np.log(np.exp(scaled).sum(1, keepdims=True))
        if len(gold):
            losses.append(-float(scaled[np.arange(len(gold)), gold.astype(int)].mean()))
    return float(np.mean(losses)) if losses else 0.0
