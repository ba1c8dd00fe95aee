"""What held-out reviews choose for a trained joint model: its biases and its threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pssa.data.reviews import NO_OPINION, Review
from pssa.data.tokenize import Span
from pssa.evaluation.metrics import accuracy_of, macro_f1_of, score, score_spans
from pssa.joint.runtime import Decoding, Floats, JointRuntime, beside, spans_of, with_mentions
from pssa.runs.answers import Question

_BIASES = tuple(np.arange(-3, 1.51, 0.25).tolist())
_LABEL_BIASES = tuple(np.arange(0.25, 3.1, 0.25).tolist())
_MIN_OF_LABEL = 10  # held-out aspects of a label for which a bias is chosen
_LEAST = tuple(np.arange(0.2, 0.91, 0.05).round(2).tolist())


def choose_decoding(
    runtime: JointRuntime, groups: Sequence[Sequence[Review]], mentions: Sequence[Review] = ()
) -> Decoding:
    """Return the settings with the best mean scores over groups of held-out reviews, such as domains.

    :param mentions: reviews whose annotators marked aspects without an opinion too.
    """
    runtime = replace(runtime, decoding=Decoding())
    outside_bias = _best([_span_scores(runtime, reviews) for reviews in groups], usual=0.0)
    mention_bias = _mention_bias(runtime, mentions, outside_bias) if mentions else outside_bias
    return Decoding(
        label_biases=choose_label_biases(runtime, [*groups, mentions] if mentions else groups),
        outside_bias=outside_bias,
        mention_bias=mention_bias,
        min_overall=_best([_overall_scores(runtime, reviews) for reviews in groups], usual=0.5),
    )


def choose_label_biases(runtime: JointRuntime, groups: Sequence[Sequence[Review]]) -> tuple[float, ...]:
    """Return what to add to the logit of each label; a rare label is otherwise hardly ever answered."""
    runtime = replace(runtime, decoding=Decoding())
    known = []
    for reviews in groups:
        logits, gold = label_logits(runtime, reviews)
        if len(gold):
            known.append((logits, gold))
    biases = np.zeros(len(runtime.labels))
    if not known:
        return ()
    counts = np.bincount(np.concatenate([gold for _, gold in known]), minlength=len(biases))

    def value(tried: npt.NDArray[np.float64]) -> float:
        found = []
        for logits, gold in known:
            cells = np.zeros((len(tried), len(tried)))
            np.add.at(cells, (gold, (logits + tried).argmax(1)), 1)
            found.append(float(accuracy_of(cells) + macro_f1_of(cells)) / 2)
        return float(np.mean(found))

    for label in np.argsort(counts):
        if counts[label] < _MIN_OF_LABEL or label == counts.argmax():
            continue
        tried = [biases, *(biases + np.eye(len(biases))[label] * bias for bias in _LABEL_BIASES)]
        biases = max(tried, key=value)
    return tuple(biases.tolist()) if biases.any() else ()


def label_logits(runtime: JointRuntime, reviews: Sequence[Review]) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return the logits of the labels of the marked aspects (N, C), but for a constant in each row, and their labels (N,)."""
    marked = [tuple(span for span, label in review.aspects.items() if label) for review in reviews]
    asked = [Question(review.text, spans) for review, spans in zip(reviews, marked, strict=True)]
    found = [answer.probabilities for answers in runtime.start(asked)() for answer in answers]
    rows = np.log(np.array([[each[label] for label in runtime.labels] for each in found], np.float32).clip(1e-12))
    gold = [str(each.aspects[span]) for each, spans in zip(reviews, marked, strict=True) for span in spans]
    return rows.reshape(-1, len(runtime.labels)), np.array([runtime.labels.index(each) for each in gold], np.int64)


def _best(groups: Sequence[Mapping[float, float]], usual: float) -> float:
    """Return the value with the best mean score over the groups; of equals the one nearest to the usual."""
    return max(groups[0], key=lambda value: (float(np.mean([scores[value] for scores in groups])), -abs(value - usual)))


def _mention_bias(runtime: JointRuntime, reviews: Sequence[Review], outside_bias: float) -> float:
    """Return the strictest bias within a standard error of the best: what counts as a mention differs between annotators."""
    scores = _span_scores(runtime, reviews, outside_bias)
    best, n_marked = max(scores.values()), sum(len(review.aspects) for review in reviews)
    error = (best * (1 - best) / max(1, n_marked)) ** 0.5
    return max(bias for bias, value in scores.items() if value >= best - error)


def _span_scores(
    runtime: JointRuntime, reviews: Sequence[Review], outside_bias: float | None = None
) -> dict[float, float]:
    """Return the F1 of exact spans for each bias; with `outside_bias` of mentions, beside the opinions found with that."""
    found: dict[float, list[list[Span]]] = {bias: [[] for _ in reviews] for bias in _BIASES}
    parts = runtime.parts([Question(review.text) for review in reviews])
    for part, _, words in runtime.states(parts, 32):
        chances, opinion = runtime.tag_chances(words)
        opinions = [] if outside_bias is None else list(spans_of(opinion, outside_bias))
        tags = opinion if outside_bias is None else with_mentions(chances)
        places = part.sentence.words
        for bias in _BIASES:
            for first, end in (*opinions, *beside(opinions, spans_of(tags, bias))):
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
