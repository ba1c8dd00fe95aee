"""Toy trainings, by as many processes as were started: `test_parallel.py` runs it with one and with two.

    python -m torch.distributed.run --nproc-per-node 2 train_as_team.py FOLDER

Each process leaves the weights and the history of each training in FOLDER, under the training's name and its own rank.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from pssa import models
from pssa.data.example import DEFAULT_LABELS, Example
from pssa.data.vocabulary import Vocabulary
from pssa.models import IndexedCorpus, WordTable, index_words
from pssa.training import (
    Checkpoint,
    EpochRecord,
    Observer,
    Settings,
    Supervision,
    Task,
    Team,
    fit,
    search_epochs,
    team,
)

OPINIONS = dict(zip(DEFAULT_LABELS, ("great", "poor", "usual"), strict=True))
TEXTS = [(f"screen is{' so' * (n % 4)} {OPINIONS[label]}", label) for n, label in enumerate(DEFAULT_LABELS * 6)]
EXAMPLES = [Example.from_text(text, (0, 6), label=label) for text, label in TEXTS]
VOCABULARY = Vocabulary.build([word for example in EXAMPLES for word in example.words])
CORPUS = index_words(EXAMPLES, VOCABULARY, DEFAULT_LABELS)
SETTINGS = Settings(batch_size=4, learning_rate=0.01, smoothing=1)
EPOCHS = 2


def new_model(seed: int, dropout: float = 0.0) -> nn.Module:
    """An MN of four values a word."""
    matrix = torch.randn(len(VOCABULARY), 4, generator=torch.Generator().manual_seed(seed))
    options = {"initial_bound": 0.5, "dropout": dropout, "embedding_dropout": dropout}
    return models.build("memnet", WordTable(matrix, VOCABULARY.n_trained), 3, options, seed)


def supervised(corpus: IndexedCorpus) -> Supervision:
    """Attention is wanted on the last word of every sentence."""
    expected = torch.zeros(corpus.table.candidates.shape)
    expected[torch.arange(len(corpus)), corpus.widths[:, 2] - 1] = 1
    return Supervision(expected, expected > 0, 2.0)


class LeadersStore:
    """Keeps the newest checkpoint; only the first process may ask."""

    def __init__(self, members: Team) -> None:
        self.members = members
        self.newest: Checkpoint | None = None

    def load(self) -> Checkpoint | None:
        assert self.members.is_main
        return self.newest

    def save(self, checkpoint: Checkpoint) -> None:
        assert self.members.is_main
        tensors = {name: tensor.clone() for name, tensor in checkpoint.tensors.items()}
        self.newest = replace(checkpoint, tensors=tensors)


class Interrupting(Observer):
    """Presses Ctrl-C after the first epoch."""

    def on_epoch(self, record: EpochRecord) -> None:
        raise KeyboardInterrupt


def train_all(folder: Path, members: Team) -> None:
    """Every training, one after the other."""

    def keep(name: str, model: nn.Module, history: list[EpochRecord]) -> None:
        save_file(dict(model.named_parameters()), folder / f"{name}-{members.rank}.safetensors")
        records = json.dumps([record.as_dict() for record in history])
        (folder / f"{name}-{members.rank}.json").write_text(records)

    task = Task(CORPUS, 5, "initial", team=members)
    weights = torch.linspace(0.5, 1.5, len(CORPUS))
    parted = replace(SETTINGS, accumulation=3, schedule="linear", warmup=0.5)
    trainings = {
        "plain": (task, SETTINGS),
        "supervised": (replace(task, supervision=supervised(CORPUS), weights=weights), SETTINGS),
        "in-parts": (task, parted),
        "alone-in-a-batch": (task, replace(SETTINGS, batch_size=1)),
    }
    # Only the first process has the right start.
    seed = 0 if members.is_main else 7
    for name, (job, settings) in trainings.items():
        model = new_model(seed)
        keep(name, model, fit(model, job, settings, EPOCHS))

    model, store = new_model(seed), LeadersStore(members)
    try:
        fit(new_model(seed), task, parted, EPOCHS, store, Interrupting())
    except KeyboardInterrupt:
        keep("resumed", model, fit(model, task, parted, EPOCHS, store))

    model = new_model(seed)
    searching = replace(SETTINGS, patience=2, max_epochs=12)
    _, history = search_epochs(model, replace(task, dev=CORPUS), searching, LeadersStore(members))
    keep("search", model, history)

    model = new_model(seed, dropout=0.4)
    keep("dropout", model, fit(model, task, SETTINGS, EPOCHS))


if __name__ == "__main__":
    # Twice, as a program that trains several runs does.
    with team(torch.device("cpu")) as first:
        said = first.share("from the leader" if first.is_main else "ignored")
    with team(torch.device("cpu")) as again:
        train_all(Path(sys.argv[1]), again)
        (Path(sys.argv[1]) / f"said-{again.rank}").write_text(said + again.share(""))
