"""Two ways of taking words away from sentences: the mask token in their place, or cutting them out of the text.

A model that was trained on masked sentences, as mining trains it, has seen the first and is used to it; the second is the same to
every model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from torch import Tensor, nn

from pssa.data.batch import IndexedCorpus
from pssa.data.example import Example
from pssa.data.tokenize import Span
from pssa.errors import InputError
from pssa.evaluation.predict import predict_logits

__all__ = ["Remove", "by_deletion", "by_mask", "without"]

# Rows of a corpus (V,) and the words (V, N) to take away from each: (V, C) probabilities of what is left.
Remove = Callable[[Tensor, Tensor], Tensor]


def by_mask(model: nn.Module, corpus: IndexedCorpus) -> Remove:
    """Words become the mask token and are no candidates, as in mining."""

    def remove(rows: Tensor, words: Tensor) -> Tensor:
        return predict_logits(model, corpus.select(rows).hide(words)).softmax(dim=1)

    return remove


def by_deletion(
    probabilities: Callable[[Sequence[Example]], Tensor], examples: Sequence[Example], candidates: Tensor
) -> Remove:
    """Words are cut out of the text, which is then read anew.

    :param candidates: (n, N) of the corpus that the model read. A word that it had no room for is always cut out, so that
        taking others away does not bring it in.
    """
    read = [frozenset(row.nonzero().flatten().tolist()) for row in candidates]
    unread = [example.candidates - words for example, words in zip(examples, read, strict=True)]

    def remove(rows: Tensor, words: Tensor) -> Tensor:
        taken = zip(rows.tolist(), words, strict=True)
        return probabilities(
            [without(examples[row], unread[row].union(gone.nonzero().flatten().tolist())) for row, gone in taken]
        )

    return remove


def without(example: Example, words: Iterable[int]) -> Example:
    """The example with these words cut out and one space where they were; all offsets move.

    :raises InputError: if a word belongs to the aspect.
    """
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
