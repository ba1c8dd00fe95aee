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
from tests.runs.interrupted import Interrupting
from tests.training.toys import Memory, new_corpus, new_model, steady_model, supervise_last
from torch import nn

from pssa.training import Checkpoint, EpochRecord, Settings, Task, Team, fit, search_epochs, team

CORPUS = new_corpus()
SETTINGS = Settings(batch_size=4, learning_rate=0.01, smoothing=1)
EPOCHS = 2


class LeadersStore(Memory):
    """Only the first process may ask."""

    def __init__(self, members: Team) -> None:
        super().__init__()
        self.members = members

    def load(self) -> Checkpoint | None:
        assert self.members.is_main
        return super().load()

    def save(self, checkpoint: Checkpoint) -> None:
        assert self.members.is_main
        super().save(checkpoint)


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
        "supervised": (replace(task, supervision=supervise_last(CORPUS, 2.0), weights=weights), SETTINGS),
        "in-parts": (task, parted),
        "alone-in-a-batch": (task, replace(SETTINGS, batch_size=1)),
    }
    # Only the first process has the right start.
    seed = 0 if members.is_main else 7
    for name, (job, settings) in trainings.items():
        model = steady_model(seed)
        keep(name, model, fit(model, job, settings, EPOCHS))

    model, store = steady_model(seed), LeadersStore(members)
    try:
        fit(steady_model(seed), task, parted, EPOCHS, store, Interrupting(1))
    except KeyboardInterrupt:
        keep("resumed", model, fit(model, task, parted, EPOCHS, store))

    model = steady_model(seed)
    searching = replace(SETTINGS, patience=2, max_epochs=12)
    _, history = search_epochs(model, replace(task, dev=CORPUS), searching, LeadersStore(members))
    keep("search", model, history)

    model = new_model(seed, dropout=0.4, embedding_dropout=0.4)
    keep("dropout", model, fit(model, task, SETTINGS, EPOCHS))


if __name__ == "__main__":
    # Twice, as a program that trains several runs does.
    with team(torch.device("cpu")) as first:
        said = first.share("from the leader" if first.is_main else "ignored")
    with team(torch.device("cpu")) as again:
        train_all(Path(sys.argv[1]), again)
        (Path(sys.argv[1]) / f"said-{again.rank}").write_text(said + again.share(""))
