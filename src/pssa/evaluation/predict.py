"""Predictions of a model over a corpus, in eval mode and without gradients.

Aspects of one sentence share one encoding if the class of the model allows it (`shares_sentences`). A GPU computes while the host
goes on: `start_logits` returns as soon as everything is queued.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor, nn

from pssa.models import Batch, IndexedCorpus

Encoder = Callable[[Batch], tuple[Tensor, Any]]  # in place of a model's own

_BATCH = 256
_MAX_ROWS = 4  # of a batch, for each of its sentences; states are repeated for every row
_MAX_POSITIONS = 1 << 15  # of a batch on a GPU, unless one sentence has more; enough to keep it busy


def predict_logits(model: nn.Module, corpus: IndexedCorpus, batch_size: int = _BATCH) -> Tensor:
    """Return (n, C): class scores in the order of the corpus, on the CPU; a batch has at most `batch_size` sentences."""
    return start_logits(model, corpus, batch_size)()


@torch.no_grad()
def start_logits(
    model: nn.Module, corpus: IndexedCorpus, batch_size: int = _BATCH, encoder: Encoder | None = None
) -> Callable[[], Tensor]:
    """Begin to compute class scores; return a function that waits for them and returns what `predict_logits` does.

    :param encoder: in place of the model's own.
    """
    model.eval()
    device = next(model.parameters()).device
    # Refined self-attention needs the masks of the rows that were encoded.
    is_refined = getattr(getattr(model, "encoder", None), "refinement", "no encoder") is not None
    shares = getattr(model, "shares_sentences", False) and not is_refined
    sentences = corpus.sentences if shares else corpus.length_order().argsort()
    # Sentences are numbered by length. The corpus' own order is restored by row numbers, since `index` may point elsewhere.
    order = sentences.argsort(stable=True)
    rows = _SortedRows.of(corpus, order, sentences[order], device)
    max_positions = _MAX_POSITIONS if device.type == "cuda" else None
    parts = [_logits(model, rows, part, encoder) for part in rows.parts(batch_size, max_positions)]
    return _fetch(torch.cat(parts).float(), order.argsort())


def predict_classes(model: nn.Module, corpus: IndexedCorpus, batch_size: int = _BATCH) -> Tensor:
    """Return (n,): the class with the highest score."""
    return predict_logits(model, corpus, batch_size).argmax(dim=1)


@dataclass(frozen=True)
class _SortedRows:
    """The rows of a corpus, those of one sentence together, from the longest sentence to the shortest."""

    table: Batch  # on the device
    widths: Tensor  # (n, 3) as those of a corpus
    sentences: Tensor  # (n,) the number of each row's sentence, ascending from 0
    firsts: Tensor  # (S,) the first row of each sentence
    places: Tensor  # (2, n) on the device: `sentences`, and `firsts` with zeros behind them

    @classmethod
    def of(cls, corpus: IndexedCorpus, order: Tensor, sentences: Tensor, device: torch.device) -> _SortedRows:
        """Sort the rows on the device; `sentences` are those of the rows in `order`."""
        _, counts = torch.unique_consecutive(sentences, return_counts=True)
        firsts = counts.cumsum(0) - counts
        padded = nn.functional.pad(firsts, (0, len(order) - len(firsts)))
        order_there, *places = _moved(torch.stack([order, sentences, padded]), device)
        table = corpus.table
        if table.labels.device != device:
            table = Batch(**{each.name: _moved(getattr(table, each.name), device) for each in fields(Batch)})
        return cls(table.take(order_there), corpus.widths[order], sentences, firsts, torch.stack(places))

    def parts(self, size: int, max_positions: int | None) -> Iterator[slice]:
        """Yield rows that are scored together: of at most `size` sentences and, if it is given, `max_positions`."""
        lengths, n, first = self.widths[self.firsts, 0].tolist(), len(self.sentences), 0
        while first < len(lengths):
            count = size
            if max_positions is not None:  # a power of two: few sizes of batches occur then
                count = 1 << max(min(size, max_positions // lengths[first]), 1).bit_length() - 1
            begin = int(self.firsts[first])
            first += count
            end = int(self.firsts[first]) if first < len(lengths) else n
            for start in range(begin, end, size * _MAX_ROWS):
                yield slice(start, min(end, start + size * _MAX_ROWS))

    def batch(self, part: slice) -> Batch:
        """Return the rows as wide as needed."""
        return self.table.take(part).crop(*self.widths[part].amax(dim=0).tolist())


def _logits(model: Any, rows: _SortedRows, part: slice, encoder: Encoder | None) -> Tensor:
    batch = rows.batch(part)
    first, last = int(rows.sentences[part.start]), int(rows.sentences[part.stop - 1])
    n_sentences = last - first + 1
    if n_sentences < part.stop - part.start:
        # The rows of the first sentence may begin in the part before.
        leaders = (rows.places[1, first : last + 1] - part.start).clamp(min=0)
        states, _ = (encoder or model.encoder)(batch.take(leaders))
        of = rows.places[0, part] - first
        encoding = type(model).encode(_Replaced(model, lambda _: (states[of], None)), batch)
    else:
        encoding = model.encode(batch) if encoder is None else type(model).encode(_Replaced(model, encoder), batch)
    logits: Tensor = model.classify(encoding, batch).logits
    return logits


@dataclass(frozen=True)
class _Replaced:
    """A model with another encoder, such as one that has already run, once for each sentence."""

    model: Any
    encoder: Encoder

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)


def _fetch(logits: Tensor, order: Tensor) -> Callable[[], Tensor]:
    """Begin to copy the logits to the CPU; return a function that waits for them and puts them in order."""
    if logits.device.type != "cuda":
        ready = logits.cpu()[order]
        return lambda: ready
    copy = torch.empty(logits.shape, dtype=logits.dtype, pin_memory=True)
    copy.copy_(logits, non_blocking=True)
    done = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]  # a thread that waits leaves its core to others
    done.record()

    def wait() -> Tensor:
        done.synchronize()
        return copy[order]

    return wait


def _moved(tensor: Tensor, device: torch.device) -> Tensor:
    """Return the tensor on the device; copies from pinned memory to a GPU are asynchronous."""
    if device.type == "cuda" and tensor.device.type == "cpu":
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)
