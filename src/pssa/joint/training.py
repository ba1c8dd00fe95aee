"""Training of the joint model: sentences with all their opinions to batches, and the loop."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.optim.swa_utils import AveragedModel

from pssa.data.reviews import NO_OPINION, Review
from pssa.data.tokenize import Span
from pssa.joint.model import TAGS, JointBatch, JointLoss, JointModel
from pssa.joint.pieces import SPECIAL, PieceSentence, WordPieces
from pssa.joint.runtime import NEUTRAL, Floats
from pssa.training import EpochRecord, Observer

UNKNOWN = -100  # in place of a label
_PIECES_AT_ONCE = 16_000  # that are read without training
_OPINION, _MENTION, _OUTSIDE = 0, 2, TAGS.index("O")


@dataclass(frozen=True)
class AnnotatedSentences:
    """Sentences of one source, and what its annotators marked."""

    sentences: Sequence[Review]
    # "opinions": all aspects with an opinion; "all": those without one too; "mentions": likewise, as neutral, and they are to be
    # found only where mentions are asked for; "some": not all.
    aspects: str = "opinions"
    overall: bool = True  # whether implied opinions are marked
    # Names of things without an opinion in each sentence, known from elsewhere; empty: none are known.
    mentions: Sequence[Sequence[Span]] = ()


@dataclass(frozen=True)
class JointExample:
    """A sentence and its targets, in words: what people marked, or the probabilities of a teacher."""

    sentence: PieceSentence
    tags: npt.NDArray[Any]  # (W, 5) bool: that may be right; of a teacher float
    aspects: Sequence[tuple[int, int]]
    labels: Sequence[int] | Floats  # of a teacher (N, C)
    # Words of each aspect's opinion, then of the implied ones; of a teacher its attention (N + 1, W).
    evidence: Sequence[Sequence[int]] | Floats
    overall: int | Floats  # of a teacher (C + 1,)

    @property
    def is_taught(self) -> bool:
        """Whether a teacher labelled the sentence."""
        return self.tags.dtype != np.bool_


def joint_examples(source: AnnotatedSentences, pieces: WordPieces, labels: Sequence[str]) -> list[JointExample]:
    """Return what a sentence teaches; one that teaches nothing is left out."""
    breaks = [
        tuple(end for opinion in each.opinions if opinion.aspect for end in opinion.aspect) for each in source.sentences
    ]
    read = pieces.read([each.text for each in source.sentences], breaks)
    mentions = source.mentions or [()] * len(read)
    return [
        example
        for each, sentence, named in zip(source.sentences, read, mentions, strict=True)
        if len(sentence.words) and (example := _example(each, sentence, source, labels, named)) is not None
    ]


def _example(
    review: Review,
    sentence: PieceSentence,
    source: AnnotatedSentences,
    labels: Sequence[str],
    mentions: Sequence[Span],
) -> JointExample | None:
    n_words = len(sentence.words)
    tags = np.zeros((n_words, len(TAGS)), dtype=bool)
    if source.aspects == "some":
        tags[:] = True
    else:
        tags[:, _OUTSIDE] = True
        if source.aspects == "opinions":
            tags[:, _MENTION : _MENTION + 2] = True
    aspects, numbers, evidence = [], [], []
    for span, label in review.aspects.items():
        first, end = _words_in(sentence, span)
        if first == end:
            continue
        if source.aspects != "some":
            tags[first:end] = False
            kind = _MENTION if source.aspects == "mentions" and label == NEUTRAL else _OPINION
            tags[first, kind] = True
            tags[first + 1 : end, kind + 1] = True
        aspects.append((first, end))
        numbers.append(labels.index(label) if label in labels else UNKNOWN)
        evidence.append(_evidence(sentence, review.opinion_words(span), (first, end)))
    for span in mentions:
        first, end = _words_in(sentence, span)
        if first < end:
            tags[first:end] = False
            tags[first, _MENTION] = True
            tags[first + 1 : end, _MENTION + 1] = True
    overall, implied = UNKNOWN, []
    if source.overall and review.overall is not None:
        overall = len(labels) if review.overall == NO_OPINION else labels.index(review.overall)
        implied = [place for each in review.opinions if each.aspect is None for place in each.words]
    if source.aspects == "some" and not review.opinions:
        return None
    return JointExample(
        sentence, tags, tuple(aspects), tuple(numbers), (*evidence, _evidence(sentence, implied, (0, 0))), overall
    )


def _words_in(sentence: PieceSentence, span: Span) -> tuple[int, int]:
    inside = [number for number, (start, end) in enumerate(sentence.words) if span[0] <= start and end <= span[1]]
    return (inside[0], inside[-1] + 1) if inside else (0, 0)


def _evidence(sentence: PieceSentence, places: Sequence[Span], aspect: tuple[int, int]) -> tuple[int, ...]:
    return tuple(
        number
        for number, (start, end) in enumerate(sentence.words)
        if not aspect[0] <= number < aspect[1] and any(first <= start and end <= last for first, last in places)
    )


def collate(examples: Sequence[JointExample]) -> JointBatch:
    """Return the examples, all marked or all taught, as padded tensors."""
    is_taught = examples[0].is_taught
    kind = np.float32 if is_taught else np.bool_
    n, n_pieces = len(examples), max(len(each.sentence.ids) for each in examples)
    n_words = max(len(each.sentence.words) for each in examples)
    ids = np.zeros((n, n_pieces), dtype=np.int64)
    present, words = np.zeros((n, n_pieces), dtype=bool), np.zeros((n, n_words), dtype=bool)
    pooling = np.zeros((n, n_words, n_pieces), dtype=np.float32)
    tags: npt.NDArray[Any] = np.ones((n, n_words, len(TAGS)), dtype=kind)
    rows, spans = list[int](), list[tuple[int, int]]()
    labels, evidence = list[Any](), list[Any]()
    for row, each in enumerate(examples):
        length = len(each.sentence.ids)
        ids[row, :length], present[row, :length] = each.sentence.ids, True
        places = np.flatnonzero(each.sentence.piece_words != SPECIAL)
        numbers = each.sentence.piece_words[places]
        counts = np.bincount(numbers, minlength=n_words)
        pooling[row, numbers, places] = 1 / counts[numbers]
        words[row, : len(each.sentence.words)] = counts[: len(each.sentence.words)] > 0
        tags[row, : len(each.tags)] = each.tags
        rows += [row] * len(each.aspects)
        spans += each.aspects
        labels.extend(each.labels)
        evidence.extend(each.evidence[:-1])
    evidence += [each.evidence[-1] for each in examples]
    aspects = np.zeros((len(spans), n_words), dtype=bool)
    marked: npt.NDArray[Any] = np.zeros((len(evidence), n_words), dtype=kind)
    for number, (first, end) in enumerate(spans):
        aspects[number, first:end] = True
    for number, chosen in enumerate(evidence):
        if is_taught:
            marked[number, : len(chosen)] = chosen
        else:
            marked[number, list(chosen)] = True
    overall = np.array([each.overall for each in examples], np.float32 if is_taught else np.int64)
    numbers = np.array(labels, overall.dtype)
    if is_taught:
        numbers = numbers.reshape(-1, overall.shape[1] - 1)
    arrays = (ids, present, pooling, words, tags, np.array(rows, dtype=np.int64), aspects)
    last = (numbers, overall, marked)
    return JointBatch(*(torch.from_numpy(each) for each in (*arrays, *last)))


def batches(examples: Sequence[JointExample], n_pieces: int, rng: random.Random) -> Iterator[list[JointExample]]:
    """Yield batches of sentences of like length in random order, each of about so many pieces, all marked or all taught."""
    order = sorted(
        range(len(examples)),
        key=lambda row: (examples[row].is_taught, len(examples[row].sentence.ids) + rng.random() * 4),
    )
    found: list[list[JointExample]] = []
    batch: list[JointExample] = []
    for row in order:
        length = len(examples[row].sentence.ids)
        is_full = (len(batch) + 1) * length > n_pieces
        if batch and (is_full or batch[0].is_taught != examples[row].is_taught):
            found.append(batch)
            batch = []
        batch.append(examples[row])
    found.append(batch)
    rng.shuffle(found)
    yield from found


States: TypeAlias = list[tuple[Tensor, Tensor]]  # of [CLS] and of the words, for the sentences that are read together


@torch.inference_mode()
def read_states(model: JointModel, examples: Sequence[JointExample]) -> States:
    """Return the states of the sentences for `outputs`, which then needs no encoder, whatever the aspects."""
    device = next(model.parameters()).device
    return [
        model.eval().states(collate([examples[row] for row in rows]).to(device)) for rows in _rows_at_once(examples)
    ]


@torch.inference_mode()
def outputs(
    model: JointModel, examples: Sequence[JointExample], states: States | None = None
) -> list[tuple[Floats, Floats, Floats, Floats]]:
    """Return for each example the probabilities of its tags, of its labels and overall, and the attention.

    :param states: of the same sentences.
    """
    device = next(model.parameters()).device
    found: dict[int, tuple[Floats, Floats, Floats, Floats]] = {}
    for turn, rows in enumerate(_rows_at_once(examples)):
        batch = collate([examples[row] for row in rows]).to(device)
        predicted = model.eval().judge(batch, *(states[turn] if states else model.states(batch)))
        tags, labels, overall = (each.softmax(-1) for each in (predicted.tags, predicted.labels, predicted.overall))
        arrays = [each.float().cpu().numpy() for each in (tags, labels, overall, predicted.attention)]
        number = 0
        for place, row in enumerate(rows):
            n_words, last = len(examples[row].sentence.words), number + len(examples[row].aspects)
            chosen = np.r_[number:last, len(arrays[1]) + place].astype(int)
            mine = arrays[0][place, :n_words], arrays[1][number:last], arrays[2][place], arrays[3][chosen, :n_words]
            found[row], number = mine, last
    return [found[row] for row in range(len(examples))]


def _rows_at_once(examples: Sequence[JointExample]) -> Iterator[list[int]]:
    """Yield the places of examples of like length that are read together."""
    rows: list[int] = []
    for row in sorted(range(len(examples)), key=lambda row: len(examples[row].sentence.ids)):
        if rows and (len(rows) + 1) * len(examples[row].sentence.ids) > _PIECES_AT_ONCE:
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows


def remember(model: JointModel, examples: Sequence[JointExample]) -> list[JointExample]:
    """Return the examples; where nobody marked tags, the model goes on saying what it says now, but for the marked labels."""
    places = [row for row, each in enumerate(examples) if not each.is_taught and each.tags.all()]
    known = list(examples)
    for row, (tags, labels, overall, attention) in zip(
        places, outputs(model, [examples[row] for row in places]), strict=True
    ):
        for number, label in enumerate(examples[row].labels):
            if label != UNKNOWN:
                labels[number] = np.eye(labels.shape[1])[label]
        known[row] = replace(examples[row], tags=tags, labels=labels, evidence=attention, overall=overall)
    return known


@dataclass(frozen=True)
class JointSchedule:
    """How the joint model is trained."""

    epochs: int = 4
    learning_rate: float = 1.5e-4  # of the encoder
    head_learning_rate: float = 1e-3
    batch_pieces: int = 2400  # in a step, about
    weight_decay: float = 0.01
    warm_up: float = 0.1  # share of the steps
    hidden: float = 0.05  # share of the pieces that are masked, anew in each epoch
    averaged: float = 0.0  # share of the steps, at the end, whose weights are averaged
    min_steps: int = 0  # few sentences are seen in more epochs, until so many steps are taken
    seed: int = 0


def fit_joint(
    model: JointModel,
    examples: Sequence[JointExample],
    schedule: JointSchedule,
    loss: JointLoss,
    mask_id: int,
    observer: Observer | None = None,
) -> None:
    """Train the model where it is; encoders compute in bfloat16 where the device does."""
    rng, watching = random.Random(schedule.seed), observer or Observer()
    on_step = getattr(watching, "on_step", None) or (lambda step, n_steps: None)
    n_batches = sum(1 for _ in batches(examples, schedule.batch_pieces, random.Random(0)))
    n_epochs = max(schedule.epochs, math.ceil(schedule.min_steps / n_batches))
    course = _Course(model, schedule, n_epochs * n_batches)
    device = next(model.parameters()).device

    watching.on_stage("joint", n_epochs)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(schedule.seed)
        for epoch in range(1, n_epochs + 1):
            model.train()
            sums = torch.zeros(4, device=device)  # read once an epoch, since a GPU waits
            for examples_at_once in batches(examples, schedule.batch_pieces, rng):
                batch = collate(examples_at_once).to(device)
                _hide_pieces(batch, schedule.hidden, mask_id)
                predicted = model(batch)
                value = loss(predicted, batch)
                course.step(value)
                gold = batch.labels if batch.labels.ndim == 1 else batch.labels.argmax(1)
                is_right = predicted.labels.argmax(1) == gold
                sums += torch.stack([value.detach(), torch.ones_like(value), is_right.sum(), (gold >= 0).sum()])
                on_step(course.n_done, course.n_steps)
            total, n_steps, n_right, n_labels = sums.tolist()
            watching.on_epoch(EpochRecord("joint", epoch, total / n_steps, 0.0, n_right / max(1, n_labels)))
    watching.on_stage_end("joint")
    course.end()


def _hide_pieces(batch: JointBatch, share: float, mask_id: int) -> None:
    """Mask a share of the pieces of words."""
    if share:
        chosen = torch.rand(batch.ids.shape, device=batch.ids.device) < share
        batch.ids.masked_fill_(chosen & (batch.pooling > 0).any(1), mask_id)


class _Course:
    """The steps of a training: learning rates that rise and fall, and the mean of the last weights."""

    def __init__(self, model: JointModel, schedule: JointSchedule, n_steps: int) -> None:
        self._model, self.n_steps, self.n_done = model, n_steps, 0
        in_body = {id(parameter) for parameter in model.body.parameters()}
        heads = [parameter for parameter in model.parameters() if id(parameter) not in in_body]
        groups = [
            {"params": list(model.body.parameters()), "lr": schedule.learning_rate},
            {"params": heads, "lr": schedule.head_learning_rate},
        ]
        self._optimizer = torch.optim.AdamW(groups, weight_decay=schedule.weight_decay, fused=True)
        warm = max(1, round(schedule.warm_up * n_steps))
        self._decay = torch.optim.lr_scheduler.LambdaLR(
            self._optimizer, lambda step: min((step + 1) / warm, max(0.0, (n_steps - step) / max(1, n_steps - warm)))
        )
        self._mean = AveragedModel(model) if schedule.averaged else None
        self._first_averaged = (1 - schedule.averaged) * n_steps

    def step(self, loss: Tensor) -> None:
        """Take a step down the gradient of the loss."""
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), 1.0)
        self._optimizer.step()
        self._decay.step()
        self.n_done += 1
        if self._mean is not None and self.n_done > self._first_averaged:
            self._mean.update_parameters(self._model)

    def end(self) -> None:
        """Give the model the mean weights, if they were asked for."""
        if self._mean is not None:
            self._model.load_state_dict(self._mean.module.state_dict())
