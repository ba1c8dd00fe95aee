"""`JointRuntime`: answers of the joint model. The encoder is a function, what stands on its states is numpy.

ONNX Runtime (`pssa.runs.onnx_runtime`) and torch give the same answers up to the rounding of the encoder.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pssa.aspects.sentences import split_sentences
from pssa.data.tokenize import Span
from pssa.joint.pieces import SPECIAL, PieceSentence, WordPieces
from pssa.runs.answers import Answer, Question, Word

Floats: TypeAlias = npt.NDArray[np.float32]
Encode: TypeAlias = Callable[[npt.NDArray[np.int64], npt.NDArray[np.int64]], Floats]

_B, _I, _O = 0, 1, 2
NEUTRAL = "neutral"  # the label of an aspect without an opinion
_IMPOSSIBLE = -1e9
_MAX_ASPECTS = 1000  # of one text


@dataclass(frozen=True)
class Decoding:
    """What was chosen on held-out texts."""

    outside_bias: float = 0.0  # added to the logarithm of "no aspect": more finds fewer
    mention_bias: float = 0.0  # the same where mentions are asked for
    min_overall: float = 0.5  # least probability of an opinion about the whole, in one sentence of the text
    temperature: float = 1.0  # of the labels
    label_biases: tuple[float, ...] = ()  # added to the logarithms of the labels; empty: none
    # Log-odds of "mentioned without an opinion" from which a named aspect is neutral, whatever its words; None: never.
    mention_margin: float | None = None


class KeptStates:
    """An encoder that reads a sentence once and keeps its states, for models that are asked about the same texts again."""

    def __init__(self, encode: Encode, most: int = 5000) -> None:
        self._encode, self._most = encode, most  # sentences to keep
        self._known: dict[bytes, Floats] = {}

    def __call__(self, ids: npt.NDArray[np.int64], present: npt.NDArray[np.int64]) -> Floats:
        """Return the states (B, P, D) of padded pieces (B, P)."""
        lengths = present.sum(1).tolist()
        keys = [row[:length].tobytes() for row, length in zip(ids, lengths, strict=True)]
        if not all(key in self._known for key in keys):
            states = self._encode(ids, present)
            if len(self._known) < self._most:
                self._known |= {key: row[:length] for key, row, length in zip(keys, states, lengths, strict=True)}
            return states
        kept = [self._known[key] for key in keys]
        states = np.zeros((*ids.shape, kept[0].shape[1]), np.float32)
        for row, mine in enumerate(kept):
            states[row, : len(mine)] = mine
        return states


@dataclass
class SentencePart:
    """A sentence of a text, and the aspects that are asked for in it."""

    question: int
    start: int  # of the sentence in the text
    sentence: PieceSentence
    named: list[tuple[int, Span]]  # place among the aspects of the question, offsets in the sentence; empty: find them


@dataclass(frozen=True)
class FoundSpan:
    """Words of a sentence that are an aspect."""

    first: int  # words of the sentence
    end: int
    score: float | None = None
    is_mention: bool = False


@dataclass(frozen=True)
class JointRuntime:
    """Finds and labels aspects, with the words that count and the overall opinion of a text."""

    encode: Encode
    heads: Mapping[str, Floats]  # weights by their names in `pssa.joint.model`
    pieces: WordPieces
    labels: tuple[str, ...]
    decoding: Decoding = Decoding()
    mentions: bool = False  # whether aspects without an opinion are answered too
    min_score: float = 0.0  # of found aspects
    sentences_at_once: int = 16
    name: str = "joint"
    finds: bool = True
    has_encoder: bool = True
    saliency: str = "attention"
    saliencies: tuple[str, ...] = ("attention",)
    in_torch: None = None  # torch may run the encoder, but what is judged are questions

    def start(
        self, questions: Sequence[Question], *, batch_size: int | None = None, reasons: bool = False
    ) -> Callable[[], list[list[Answer]]]:
        """Return a function that answers the questions, in their order.

        :param batch_size: no effect: sentences that are read together must not change each other's answers.
        :param reasons: no effect: attention is the reason of every answer, so it is always there.
        """
        return partial(self._answer, questions)

    def _answer(self, questions: Sequence[Question]) -> list[list[Answer]]:
        parts = self.parts(questions)
        named: list[dict[int, Answer]] = [{} for _ in questions]
        found: list[list[Answer]] = [[] for _ in questions]
        overall: dict[int, list[tuple[Floats, Sequence[Word]]]] = defaultdict(list)
        for part, states, pooled in self.states(parts, self.sentences_at_once):
            question = questions[part.question]
            spans = [(place, FoundSpan(*_words_at(part.sentence, span))) for place, span in part.named]
            aspects = [aspect for _, aspect in spans] if part.named else self._find(pooled)
            without = self.without_opinion(aspects, pooled)
            probabilities, weights = self.label(aspects, pooled, without)
            for number, aspect in enumerate(aspects):
                span = part.named[number][1] if part.named else _span_of(part.sentence, aspect)
                start, end = span[0] + part.start, span[1] + part.start
                values = probabilities[number].tolist()
                label = self.labels[int(np.argmax(values))]
                answer = Answer(
                    label,
                    dict(zip(self.labels, values, strict=True)),
                    question.text[start:end],
                    start,
                    end,
                    score=aspect.score,
                    words=_reasons(part, weights[number]),
                    is_mention=aspect.is_mention or bool(label == NEUTRAL and without[number] > 0.5),
                )
                if part.named:
                    named[part.question][part.named[number][0]] = answer
                else:
                    found[part.question].append(answer)
            if question.aspects is None:
                about, weights_of_all = self.overall(states[0], pooled)
                overall[part.question].append((about, _reasons(part, weights_of_all)))
        answers = []
        for number, question in enumerate(questions):
            if question.aspects is not None:
                answers.append([answer for _, answer in sorted(named[number].items())])
                continue
            whole = self.whole(overall[number])
            inside = sorted(found[number], key=lambda answer: (answer.start, answer.end))[:_MAX_ASPECTS]
            answers.append([*inside, *([whole] if whole else [])])
        return answers

    def parts(self, questions: Sequence[Question]) -> list[SentencePart]:
        """Return the sentences to be read: all where aspects are to be found, else those of the aspects."""
        places: list[tuple[int, Span, list[tuple[int, Span]]]] = []
        for number, question in enumerate(questions):
            sentences = split_sentences(question.text)
            if question.aspects is None:
                places += [(number, span, []) for span in sentences]
                continue
            inside: dict[Span, list[tuple[int, Span]]] = defaultdict(list)
            for place, (start, end) in enumerate(question.aspects):
                first = max((a for a, _ in sentences if a <= start), default=start)
                last = min((b for _, b in sentences if b >= end), default=end)
                inside[first, last].append((place, (start - first, end - first)))
            places += [(number, span, aspects) for span, aspects in inside.items()]
        texts = [questions[number].text[start:end] for number, (start, end), _ in places]
        breaks = [tuple(end for _, span in aspects for end in span) for *_, aspects in places]
        read = self.pieces.read(texts, breaks)
        return [
            SentencePart(number, span[0], sentence, aspects)
            for (number, span, aspects), sentence in zip(places, read, strict=True)
            if (sentence.piece_words != SPECIAL).any() or aspects
        ]

    def states(self, parts: Sequence[SentencePart], batch_size: int) -> Iterator[tuple[SentencePart, Floats, Floats]]:
        """Yield each part with the states of its pieces (P, D) and of its words (W, D)."""
        order = sorted(range(len(parts)), key=lambda place: len(parts[place].sentence.ids))
        for first in range(0, len(order), batch_size):
            batch = [parts[place] for place in order[first : first + batch_size]]
            width = max(len(part.sentence.ids) for part in batch)
            ids, present = np.zeros((len(batch), width), np.int64), np.zeros((len(batch), width), np.int64)
            for row, part in enumerate(batch):
                ids[row, : len(part.sentence.ids)], present[row, : len(part.sentence.ids)] = part.sentence.ids, 1
            states = self.encode(ids, present)
            for row, part in enumerate(batch):
                mine = states[row, : len(part.sentence.ids)]
                yield part, mine, _pool(mine, part.sentence)

    def _linear(self, name: str, states: Floats) -> Floats:
        return np.asarray(states @ self.heads[f"{name}.weight"].T + self.heads[f"{name}.bias"], np.float32)

    def tag_chances(self, words: Floats) -> tuple[Floats, Floats]:
        """Return the logarithms of the tags of each word (W, 5), and of B, I and O of opinions alone (W, 3)."""
        chances = _log_softmax(self._linear("tags", words))
        return chances, np.stack([chances[:, 0], chances[:, 1], np.logaddexp.reduce(chances[:, 2:], axis=1)], 1)

    def _find(self, words: Floats) -> list[FoundSpan]:
        """Return the aspects in a sentence; where mentions count, those with an opinion are the same as without."""
        chances, opinion = self.tag_chances(words)
        found = [
            FoundSpan(first, end, _score(opinion, first, end))
            for first, end in spans_of(opinion, self.decoding.outside_bias)
        ]
        if self.mentions:
            both, opinions = with_mentions(chances), [(each.first, each.end) for each in found]
            found += [
                FoundSpan(first, end, _score(both, first, end), bool(chances[first, 2] > chances[first, 0]))
                for first, end in beside(opinions, spans_of(both, self.decoding.mention_bias))
            ]
        return [aspect for aspect in found if aspect.score is not None and aspect.score >= self.min_score]

    def label(self, aspects: Sequence[FoundSpan], words: Floats, without: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities of the labels (N, C) and the attention (N, W) of each aspect.

        :param without: how likely each has no opinion (N,), which makes it neutral.
        """
        if not aspects:
            return np.zeros((0, len(self.labels)), np.float32), np.zeros((0, len(words)), np.float32)
        places = np.arange(len(words))
        inside = np.stack([(places >= each.first) & (places < each.end) for each in aspects])
        gates = np.broadcast_to((words @ self.heads["gate.weight"].T)[:, 0], inside.shape)
        pooled = _softmax(gates, inside) @ words
        others = ~inside
        others[~others.any(1)] = True
        weights = _softmax(self._linear("aspect_query", pooled) @ words.T * self._scale, others)
        found = _log_softmax(self._linear("label", np.concatenate([weights @ words, pooled], 1)))
        if without.any() and NEUTRAL in self.labels:
            share, neutral = without[:, None], np.array(self.labels) == NEUTRAL
            found = np.log(((1 - share) * np.exp(found) + share * neutral).clip(1e-12))
        if self.decoding.label_biases:
            found = found + np.array(self.decoding.label_biases, np.float32)
        return np.exp(_log_softmax(found / self.decoding.temperature)), weights

    def without_opinion(self, aspects: Sequence[FoundSpan], words: Floats) -> Floats:
        """Return how likely each aspect is mentioned without an opinion (N,), by its tags."""
        margin = self.decoding.mention_margin
        if margin is None or not aspects:
            return np.zeros(len(aspects), np.float32)
        tags = self._linear("tags", words[[each.first for each in aspects]])
        # Somebody who names an aspect has a reason to; one that was found as a mention is one.
        margins = np.array([0.0 if each.is_mention else margin for each in aspects], np.float32)
        return np.asarray(np.exp(-np.logaddexp(0, tags[:, 0] - tags[:, 2] + margins)), np.float32)

    def overall(self, whole: Floats, words: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities of the overall labels, the last of none, and the attention (W,)."""
        query = self._linear("overall_query", whole)
        weights = _softmax((words @ query * self._scale)[None], np.ones((1, len(words)), bool))[0]
        logits = self._linear("overall", np.concatenate([weights @ words, whole]))
        return np.exp(_log_softmax(logits[None]))[0], weights

    def whole(self, sentences: Sequence[tuple[Floats, Sequence[Word]]]) -> Answer | None:
        """Return the opinion about the whole text; None if no sentence has one."""
        opinions = [(1 - float(chances[-1]), chances, words) for chances, words in sentences]
        sure = [each for each in opinions if each[0] >= self.decoding.min_overall]
        if not sure:
            return None
        summed = sum(chances[:-1] for _, chances, _ in sure)
        values = (np.asarray(summed) / np.sum(summed)).tolist()
        best = int(np.argmax(values))
        score, _, words = max(sure, key=lambda each: float(each[1][best]))
        return Answer(
            self.labels[best],
            dict(zip(self.labels, values, strict=True)),
            "",
            0,
            0,
            score=score,
            words=tuple(words),
        )

    @cached_property
    def _scale(self) -> float:
        return 1 / math.sqrt(self.heads["gate.weight"].shape[1])


def _pool(states: Floats, sentence: PieceSentence) -> Floats:
    """Return the mean state of each word's pieces (W, D); zeros for a word without any."""
    places = np.flatnonzero(sentence.piece_words != SPECIAL)
    numbers = sentence.piece_words[places]
    pooled = np.zeros((len(sentence.words), states.shape[1]), np.float32)
    if len(places):
        firsts = np.flatnonzero(np.r_[True, numbers[1:] != numbers[:-1]])
        sums = np.add.reduceat(states[places], firsts, axis=0)
        counts = np.diff(np.r_[firsts, len(numbers)])
        pooled[numbers[firsts]] = sums / counts[:, None]
    return pooled


def with_mentions(chances: Floats) -> Floats:
    """Return the logarithms of B, I and O of aspects with or without an opinion (W, 3), from those of the tags (W, 5)."""
    begin, inside = np.logaddexp(chances[:, 0], chances[:, 2]), np.logaddexp(chances[:, 1], chances[:, 3])
    return np.stack([begin, inside, chances[:, 4]], 1)


def beside(known: Sequence[tuple[int, int]], more: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return those of `more` that share no word with one of the known spans."""
    return [each for each in more if all(each[1] <= first or end <= each[0] for first, end in known)]


def spans_of(chances: Floats, bias: float) -> Iterator[tuple[int, int]]:
    """Yield the spans of the best sequence of B, I and O by their logarithms (W, 3), where I follows B or I."""
    scores = chances.astype(np.float64)
    scores[:, _O] += bias
    best, back = scores[0] + np.array([0, _IMPOSSIBLE, 0]), list[tuple[int, int, int]]()
    for row in scores[1:]:
        any_before, inside_before = int(best.argmax()), int(best[:2].argmax())
        back.append((any_before, inside_before, any_before))
        best = row + best[[any_before, inside_before, any_before]]
    tag = int(best.argmax())
    tags = [tag]
    for choice in reversed(back):
        tag = choice[tag]
        tags.append(tag)
    tags.reverse()
    first = None
    for place, tag in enumerate((*tags, _O)):
        if first is not None and tag != _I:
            yield first, place
            first = None
        if tag == _B:
            first = place


def _score(chances: Floats, first: int, end: int) -> float:
    """Return the least probability of the tags of a span."""
    inside = chances[first:end]
    return float(np.exp(min(inside[0, _B], *inside[1:, _I])) if end - first > 1 else np.exp(inside[0, _B]))


def _words_at(sentence: PieceSentence, span: Span) -> tuple[int, int]:
    inside = [number for number, (start, end) in enumerate(sentence.words) if start < span[1] and end > span[0]]
    return (inside[0], inside[-1] + 1) if inside else (0, 1)


def _span_of(sentence: PieceSentence, aspect: FoundSpan) -> Span:
    return sentence.words[aspect.first][0], sentence.words[aspect.end - 1][1]


def _reasons(part: SentencePart, weights: Floats) -> tuple[Word, ...]:
    return tuple(
        Word(start + part.start, end + part.start, share)
        for (start, end), share in zip(part.sentence.words, weights.tolist(), strict=True)
    )


def _softmax(scores: Any, allowed: npt.NDArray[np.bool_]) -> Floats:
    masked = np.where(allowed, scores, -1e4)
    powers = np.exp(masked - masked.max(1, keepdims=True)) * allowed
    return np.asarray(powers / powers.sum(1, keepdims=True), np.float32)


def _log_softmax(logits: Floats) -> Floats:
    shifted = logits - logits.max(-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(-1, keepdims=True)), np.float32)
