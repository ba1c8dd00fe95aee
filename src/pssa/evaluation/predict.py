"""Running a model over a corpus, in eval mode and without gradients."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from pssa.data.batch import IndexedCorpus

__all__ = ["predict_classes", "predict_logits"]

_BATCH = 256


@torch.no_grad()
def predict_logits(model: nn.Module, corpus: IndexedCorpus, batch_size: int = _BATCH) -> Tensor:
    """(n, C) class scores in the order of the corpus, on the CPU."""
    model.eval()
    device = next(model.parameters()).device
    # Batches come by length; this corpus' own order is restored through row numbers, since `index` may point elsewhere.
    order = corpus.length_order()
    pieces = []
    for rows in torch.split(order, batch_size):
        batch = corpus.batch(rows).to(device)
        pieces.append(model.classify(model.encode(batch), batch).logits)  # type: ignore[operator]
    logits = torch.cat(pieces).float().cpu()
    return logits[order.argsort()]


def predict_classes(model: nn.Module, corpus: IndexedCorpus, batch_size: int = _BATCH) -> Tensor:
    """(n,) the class with the highest score."""
    return predict_logits(model, corpus, batch_size).argmax(dim=1)
