"""What held-out reviews choose for a trained joint model: its biases and its threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

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
_MARGINS = (2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0)
_LEAST = tuple(np.arange(0.2, 0.91, 0.05).round(2).tolist())


def choose_decoding(
    runtime: JointRuntime, groups: Sequence[Sequence[Review]], mentions: Sequence[Review] = ()
) -> Decoding:
    """Return the settings with the best mean scores over groups of held-out reviews, such as domains.

    :param runtime: with the settings of the model from which the training started.
    :param mentions: reviews whose annotators marked aspects without an opinion too.
    """
    margins = _MARGINS if mentions else (runtime.decoding.mention_margin,)
    runtime = replace(runtime, decoding=Decoding())
    outside_bias = _best([_span_scores(runtime, reviews) for reviews in groups], usual=0.0)
    mention_bias = _mention_bias(runtime, mentions, outside_bias) if mentions else outside_bias
    return replace(
        choose_labels(runtime, [*groups, mentions], margins),
        outside_bias=outside_bias,
        mention_bias=mention_bias,
        min_overall=_best([_overall_scores(runtime, reviews) for reviews in groups], usual=0.5),
    )


def choose_labels(
    runtime: JointRuntime, groups: Sequence[Sequence[Review]], margins: Sequence[float | None] = ()
) -> Decoding:
    """Return the runtime's settings with what held-out reviews choose for labels.

    - Of the margins, or none at all, the strictest within a standard error of the best: aspects that are marked for an
      opinion say little about those without one.
    - What is added to the logarithm of each label, if that gains more than a standard error: a rare label is otherwise hardly
      ever answered.
    """
    plain = replace(runtime.decoding, label_biases=(), temperature=1.0, mention_margin=None)
    known = {}
    for margin in (*margins, None):
        tried = replace(runtime, decoding=replace(plain, mention_margin=margin))
        found = [label_logits(tried, reviews) for reviews in groups]
        known[margin] = [(logits, gold) for logits, gold in found if len(gold)]
    if not known[None]:
        return plain
    counts = np.bincount(np.concatenate([gold for _, gold in known[None]]), minlength=len(runtime.labels))

    def value(margin: float | None, biases: npt.NDArray[np.float64]) -> float:
        found = []
        for logits, gold in known[margin]:
            cells = np.zeros((len(biases), len(biases)))
            np.add.at(cells, (gold, (logits + biases).argmax(1)), 1)
            found.append(float(accuracy_of(cells) + macro_f1_of(cells)) / 2)
        return float(np.mean(found))

    biases = np.zeros(len(runtime.labels))
    values = {margin: value(margin, biases) for margin in known}
    best = max(values.values())
    error = (best * (1 - best) / counts.sum()) ** 0.5
    margin = next(margin for margin in known if values[margin] >= best - error)
    for label in np.argsort(counts):
        if counts[label] < _MIN_OF_LABEL or label == counts.argmax():
            continue
        tried = max((biases + np.eye(len(biases))[label] * step for step in _LABEL_BIASES), key=partial(value, margin))
        if value(margin, tried) > value(margin, biases) + error:
            biases = tried
    return replace(plain, mention_margin=margin, label_biases=tuple(biases.tolist()) if biases.any() else ())


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
