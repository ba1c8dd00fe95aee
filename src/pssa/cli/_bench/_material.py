"""What benchmarks work on: a data set, a file of as many rows as wanted, and a run that was trained for a moment."""

from __future__ import annotations

import json
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pssa.cli._bench._outcome import Request
from pssa.errors import InputError

if TYPE_CHECKING:
    from pssa.data import Corpus

__all__ = ["model_settings", "open_corpora", "trained", "write_rows"]

_TAUGHT = 64  # instances; weights do not matter to a clock


def open_corpora(request: Request) -> tuple[Corpus, Corpus]:
    """The train and the test part of the first data set in `--data`, or of the embedded corpus.

    :raises InputError: if the folder has none.
    """
    from pssa.data import embedded, read

    if request.data is None:
        return embedded.load("train"), embedded.load("test")
    from pssa.experiments.resources import Resources

    name, source = next(iter(Resources.find(request.data, None, None).sources.items()))
    if source.test is None:
        raise InputError(f"data set {name} in {request.data} has no test file; add one")
    return read(source.train), read(source.test)


def model_settings(request: Request) -> dict[str, Any]:
    """TNet-ATT, or BERTABSA-ATT where an encoder is given."""
    if request.encoder is not None:
        return {"model": "bertabsa_att", "encoder": request.encoder}
    return {"model": "tnet_att", **({"vectors": str(request.vectors)} if request.vectors else {})}


def trained(request: Request, folder: Path) -> Path:
    """The run that was asked for, or one in `folder` that saw a few instances once."""
    if request.run is not None:
        return request.run
    from pssa.runs import train

    taught = open_corpora(request)[0].select(range(_TAUGHT))
    return train(taught, folder / "run", epochs=1, **model_settings(request))


def write_rows(corpus: Corpus, count: int, path: Path) -> Path:
    """A JSON Lines file of `count` rows, the corpus over and over, a text of its own in every row's sentence each time."""
    with path.open("w", encoding="utf-8") as lines:
        for number, example in enumerate(islice(cycle(corpus), count)):
            start, end = example.aspect_chars
            # Rows that repeat a sentence of an earlier turn would share its encoding, which no user's file allows.
            turn = f" {number // len(corpus)}" if number >= len(corpus) else ""
            row = {"text": example.text + turn, "aspect": example.aspect_text, "from": start, "to": end}
            row |= {"label": example.label} if example.label else {}
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path
