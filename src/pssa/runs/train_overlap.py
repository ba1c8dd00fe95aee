"""Whether what a run is scored on is new to it: a run keeps the instances that it was trained on."""

from __future__ import annotations

from pathlib import Path

from pssa.data.example import Corpus
from pssa.data.read import read
from pssa.errors import InputError

__all__ = ["count_train_overlap", "describe_train_overlap"]


def count_train_overlap(run: str | Path, corpus: Corpus) -> int:
    """How many instances have a text that the run was trained on; 0 where the run has not kept what that was.

    :param run: the run, one of its stages or one of its members.
    """
    folder = Path(run).absolute()
    root = folder.parent.parent if folder.parent.name in ("stages", "members") else folder
    path = root / "stages" / "corpus.jsonl"
    if not path.is_file():
        return 0
    try:
        trained = {example.text for example in read(path, labels=corpus.labels, conflict="keep")}
    except InputError:
        return 0  # what resuming would need is damaged, and scores need it not
    return sum(example.text in trained for example in corpus)


def describe_train_overlap(seen: int) -> str:
    """What to say behind the number of all instances, wherever there are scores of them."""
    return f"{seen} of them with a text that the run was trained on, which says little about texts that are new to it"
