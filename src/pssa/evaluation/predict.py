"""Predictions of a model over a corpus, in eval mode and without gradients.

Aspects of one sentence share one encoding if the class of the model allows it (`shares_sentences`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor, nn

from pssa.data.batch import Batch, IndexedCorpus

_BATCH = 256
_MAX_ROWS = 4  # of a batch, for each of its sentences; states are repeated for every row


@torch.no_grad()
def predict_logits(model: nn.Module, corpus: IndexedCorpus, batch_size: int = _BATCH) -> Tensor:
    """Return (n, C): class scores in the order of the corpus, on the CPU; a batch has at most `batch_size` sentences."""
    model.eval()
    sentences = _shared_sentences(corpus) if _shares(model) else corpus.length_order().argsort()
    corpus = _moved(corpus, next(model.parameters()).device)
    # Sentences are numbered by length. The corpus' own order is restored by row numbers, since `index` may point elsewhere.
    order = sentences.argsort(stable=True)
    pieces = [_logits(model, corpus, rows, sentences[rows]) for rows in _batches(sentences[order], order, batch_size)]
    logits = torch.cat(pieces).float().cpu()
    return logits[order.argsort()]


def predict_classes(model: nn.Module, corpus: IndexedCorpus, batch_size: int = _BATCH) -> Tensor:
    """Return (n,): the class with the highest score."""
    return predict_logits(model, corpus, batch_size).argmax(dim=1)


def _shares(model: nn.Module) -> bool:
    # Refined self-attention needs the masks of the rows that were encoded.
    refinement = getattr(getattr(model, "encoder", None), "refinement", "no encoder")
    return refinement is None and getattr(model, "shares_sentences", False)


def _shared_sentences(corpus: IndexedCorpus) -> Tensor:
    """Return (n,): a number for the sentence of each row as an encoder sees it, from the longest to the shortest."""
    ids, widths = corpus.table.positions.cpu().numpy(), corpus.widths[:, 0].tolist()
    numbers: dict[bytes, int] = {}
    found = torch.empty(len(corpus), dtype=torch.long)
    for row in corpus.length_order().tolist():
        found[row] = numbers.setdefault(ids[row, : widths[row]].tobytes(), len(numbers))
    return found


def _batches(sentences: Tensor, order: Tensor, size: int) -> Iterator[Tensor]:
    """Yield rows that are scored together; `sentences` (n,) are those of the rows in `order`, ascending."""
    _, counts = torch.unique_consecutive(sentences // size, return_counts=True)
    for rows in torch.split(order, counts.tolist()):
        yield from torch.split(rows, size * _MAX_ROWS)


def _logits(model: Any, corpus: IndexedCorpus, rows: Tensor, sentences: Tensor) -> Tensor:
    batch = corpus.batch(rows)
    _, of, counts = torch.unique_consecutive(sentences, return_inverse=True, return_counts=True)
    if len(counts) == len(rows):
        logits: Tensor = model.classify(model.encode(batch), batch).logits
        return logits
    first, of = (places.to(batch.positions.device, non_blocking=True) for places in (counts.cumsum(0) - counts, of))
    states, _ = model.encoder(batch.take(first))
    encoding = type(model).encode(_Shared(model, lambda _: (states[of], None)), batch)
    shared: Tensor = model.classify(encoding, batch).logits
    return shared


@dataclass(frozen=True)
class _Shared:
    """A model whose encoder has already run, once for each sentence."""

    model: Any
    encoder: Callable[[Batch], tuple[Tensor, None]]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)


def _moved(corpus: IndexedCorpus, device: torch.device) -> IndexedCorpus:
    """Return the corpus on the device; copies from pinned memory to a GPU are asynchronous."""
    if device.type != "cuda" or corpus.labels.device == device:
        return corpus.to(device)
    pinned = {f.name: getattr(corpus.table, f.name).pin_memory() for f in fields(Batch)}
    return IndexedCorpus(Batch(**pinned), corpus.widths, corpus.mask_id).to(device)
