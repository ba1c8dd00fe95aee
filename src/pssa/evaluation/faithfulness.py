"""Faithfulness of a saliency: comprehensiveness and sufficiency (ERASER, DeYoung et al. 2020).

p is the probability of the class predicted from the whole sentence. Comprehensiveness is the drop of p when the k most salient
words are removed (high: they mattered), sufficiency the drop when all others are removed (low: they are enough). The aspect
always stays. AOPC is the mean over k = 1, 5, 10, 20 and 50 % of the words, rounded up, as in the benchmark's own scorer. The
control removes as many words in random order.

Words are removed in two ways: by the mask token, which a model trained by mining has seen, or by cutting them out of the text,
which is the same to every model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pssa.data.example import Example
from pssa.data.tokenize import Span
from pssa.errors import InputError
from pssa.evaluation.agreement import rank_words
from pssa.evaluation.predict import predict_logits
from pssa.evaluation.significance import AgainstChance, compare_with_control
from pssa.models import IndexedCorpus

Floats = npt.NDArray[np.float64]
# Rows of a corpus (V,) and the words (V, N) to take away from each: (V, C) probabilities of what is left.
Remove = Callable[[Tensor, Tensor], Tensor]

_WORDS = (1, 2, 3)
_PERCENTAGES = (1, 5, 10, 20, 50)
COLUMNS = (*map(str, _WORDS), "aopc")
_N_ORDERS = 3  # random orders, whose mean is the control
_AT_ONCE = 1024  # sentences, each with about ten shortened versions in memory


@dataclass(frozen=True)
class Faithfulness:
    """Faithfulness of one saliency by number of words and as AOPC; the keys are `COLUMNS`."""

    comprehensiveness: Mapping[str, AgainstChance]  # high is good
    sufficiency: Mapping[str, AgainstChance]  # low is good


@dataclass(frozen=True)
class RemovalTargets:
    """The sentences with candidates, the prediction from the whole of each, and the way of removing words."""

    rows: Tensor  # (n,) row of each in the corpus
    candidates: Tensor  # (n, N)
    probability: Tensor  # (n,) of the predicted class
    classes: Tensor  # (n,) the predicted class
    remove: Remove

    @classmethod
    def predict(cls, candidates: Tensor, remove: Remove) -> RemovalTargets:
        """Predict from the whole sentences of a corpus, without those that have no candidates."""
        rows = candidates.any(dim=1).nonzero().squeeze(1)
        if not len(rows):
            raise InputError(f"none of the {len(candidates)} sentences has a word besides its aspect; give other data")
        whole = remove(rows, torch.zeros_like(candidates[rows]))
        probability, classes = whole.max(dim=1)
        return cls(rows, candidates[rows], probability, classes, remove)


def measure_faithfulness(
    scores: Mapping[str, Tensor], candidates: Tensor, remove: Remove, seed: int = 0
) -> dict[str, Faithfulness]:
    """Measure saliencies, given as (n, N) `scores` by name, with one way of removing words; all share one control."""
    sentences = RemovalTargets.predict(candidates, remove)
    control = random_drops(sentences, [seed + 1 + number for number in range(_N_ORDERS)])
    judged = {}
    for name, values in scores.items():
        drops = measure_drops(sentences, rank_words(values[sentences.rows], sentences.candidates, seed))
        pairs = (compare_with_control(own, chance, seed) for own, chance in zip(drops, control, strict=True))
        judged[name] = Faithfulness(*(dict(zip(COLUMNS, found, strict=True)) for found in pairs))
    return judged


def random_drops(sentences: RemovalTargets, seeds: list[int]) -> Floats:
    """Return the mean `measure_drops` of random orders, one for each seed."""
    nothing = torch.zeros(sentences.candidates.shape)
    orders = [measure_drops(sentences, rank_words(nothing, sentences.candidates, seed)) for seed in seeds]
    return np.asarray(np.mean(orders, axis=0))


def measure_drops(sentences: RemovalTargets, ranks: Tensor) -> Floats:
    """Return (2, n, len(COLUMNS)): drops of the probability without the first words by `ranks` (n, N), and without all others."""
    parts = [_measure(sentences, own, ranks) for own in torch.split(torch.arange(len(ranks)), _AT_ONCE)]
    return np.concatenate(parts, axis=1)


def by_mask(model: nn.Module, corpus: IndexedCorpus) -> Remove:
    """Replace words by the mask token, as mining does; they are no longer candidates."""

    def remove(rows: Tensor, words: Tensor) -> Tensor:
        return predict_logits(model, corpus.select(rows).hide(words)).softmax(dim=1)

    return remove


def by_deletion(
    probabilities: Callable[[Sequence[Example]], Tensor], examples: Sequence[Example], candidates: Tensor
) -> Remove:
    """Cut words out of the text, which is then read again.

    :param candidates: (n, N) of the corpus that the model read. A word that did not fit in is always cut out, so that
        removing others does not bring it in.
    """
    read = [frozenset(row.nonzero().flatten().tolist()) for row in candidates]
    unread = [example.candidates - words for example, words in zip(examples, read, strict=True)]

    def remove(rows: Tensor, words: Tensor) -> Tensor:
        taken = zip(rows.tolist(), words, strict=True)
        return probabilities(
            [cut_words(examples[row], unread[row].union(gone.nonzero().flatten().tolist())) for row, gone in taken]
        )

    return remove


def cut_words(example: Example, words: Iterable[int]) -> Example:
    """Return the example with these words, none of the aspect, cut out and one space in their place."""
    gone = frozenset(words)
    if gone.intersection(range(*example.aspect)):
        raise InputError(f"the aspect of example {example.id} cannot be cut out; choose among its candidates")
    kept = [word for word in range(len(example.spans)) if word not in gone]
    text, spans = "", list[Span]()
    for word, before in zip(kept, [None, *kept], strict=False):
        start, end = example.spans[word]
        if before is not None:
            text += example.text[example.spans[before][1] : start] if before == word - 1 else " "
        spans.append((len(text), len(text) + end - start))
        text += example.text[start:end]
    place = {word: number for number, word in enumerate(kept)}
    first, end = example.aspect
    return replace(
        example,
        text=text,
        spans=tuple(spans),
        aspect=(place[first], place[first] + end - first),
        hidden=frozenset(place[word] for word in example.hidden if word in place),
    )


def _measure(sentences: RemovalTargets, own: Tensor, ranks: Tensor) -> Floats:
    counts = sentences.candidates[own].sum(dim=1)
    fixed = [counts.clamp(max=words) for words in _WORDS]
    shares = [-(-counts * percentage // 100) for percentage in _PERCENTAGES]
    sizes = torch.stack(fixed + shares, dim=1)  # (R, K)
    # In short sentences several k mean the same number of words: try each number once.
    base = ranks.shape[1] + 1
    tried, place = torch.unique(own[:, None] * base + sizes, return_inverse=True)  # (V,), (R, K)
    sentence, size = tried // base, tried % base
    first = ranks[sentence] < size[:, None]  # (V, N)
    others = sentences.candidates[sentence] & ~first

    def lost(words: Tensor) -> Floats:
        left = sentences.remove(sentences.rows[sentence], words).gather(1, sentences.classes[sentence, None])
        drops = (sentences.probability[sentence] - left.squeeze(1))[place].double()
        areas = drops[:, len(_WORDS) :].mean(dim=1, keepdim=True)
        values: Floats = torch.cat([drops[:, : len(_WORDS)], areas], dim=1).numpy()
        return values

    return np.stack([lost(first), lost(others)])
