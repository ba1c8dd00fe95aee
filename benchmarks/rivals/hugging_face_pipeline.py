"""The Hugging Face text-classification pipeline: sentence and aspect as a pair, on an encoder with a linear layer on top.

It is trained by a plain loop at the settings of `pssa train`, so that it is as accurate as ours.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import torch
from rivals.contest import LABELS, Row, Score, main
from transformers import AutoModelForSequenceClassification, AutoTokenizer, get_linear_schedule_with_warmup, pipeline

_BATCH, _RATE, _WARM_UP, _CLIP = 16, 1e-4, 0.1, 1.0


class Pipeline:
    """The contender."""

    name = "Hugging Face pipeline"
    packages: tuple[str, ...] = ("transformers", "torch")

    def train(self, rows: Sequence[Row], encoder: Path, folder: Path, epochs: int) -> None:
        """Train with a plain loop."""
        torch.manual_seed(0)
        tokenizer = AutoTokenizer.from_pretrained(encoder)
        model = AutoModelForSequenceClassification.from_pretrained(
            encoder, num_labels=len(LABELS), id2label=dict(enumerate(LABELS))
        )
        model.train()
        optimizer = torch.optim.Adam(model.parameters(), lr=_RATE)
        steps = epochs * -(-len(rows) // _BATCH)
        schedule = get_linear_schedule_with_warmup(optimizer, int(_WARM_UP * steps), steps)
        order = random.Random(0)
        for _ in range(epochs):
            shuffled = order.sample(list(rows), len(rows))
            for first in range(0, len(rows), _BATCH):
                batch = shuffled[first : first + _BATCH]
                read = tokenizer([r.text for r in batch], [r.aspect for r in batch], padding=True, return_tensors="pt")
                gold = torch.tensor([LABELS.index(row.label) for row in batch])
                model(**read, labels=gold).loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), _CLIP)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)

    def load(self, folder: Path) -> Score:
        """Build the pipeline as its documentation does."""
        classify = pipeline("text-classification", model=str(folder), tokenizer=str(folder), device="cpu")

        def score(rows: Sequence[Row], batch_size: int) -> list[str]:
            pairs = [{"text": row.text, "text_pair": row.aspect} for row in rows]
            return [str(found["label"]) for found in classify(pairs, batch_size=batch_size)]

        return score


if __name__ == "__main__":
    main(Pipeline())
