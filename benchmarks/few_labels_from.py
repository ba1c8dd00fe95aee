"""Few labels on top of an encoder that was trained on other reviews: a row of the exhibit `few-labels`.

    python benchmarks/few_labels_from.py --data DIR --mams DIR --encoder FOLDER --work DIR --out from.jsonl

First BERTABSA-ATT is trained on MAMS (`train.xml`) without the sentences that are in REST, train or test, once for each seed. The
trainings on few labels are those of `pssa train --from RUN`. A training whose line is in the file already is left out.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from harness import run_missing

import pssa
from pssa.data import Corpus, read
from pssa.experiments.cells import Place
from pssa.experiments.resources import Resources

NAME = "BERTABSA-ATT from MAMS"
MODEL = "bertabsa_att"
SIZES = (512, 256, 128, 64, 32, 16)
Record = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """A training on some instances of train."""

    data: str
    size: int
    seed: int


def other_reviews(arguments: argparse.Namespace) -> Corpus:
    """Return the instances of MAMS whose sentence is not in REST."""
    mams = read(arguments.mams / "train.xml")
    known = {_letters(example.text) for part in ("train", "test") for example in read(arguments.data / f"rest/{part}.txt")}
    return mams.select([place for place, example in enumerate(mams) if _letters(example.text) not in known])


def _letters(text: str) -> str:
    """Return the text without spaces and punctuation: data sets differ in both."""
    return "".join(character for character in text.lower() if character.isalnum())


def train_start(seed: int, arguments: argparse.Namespace) -> Path:
    """Train the run of a seed that all its trainings start from."""
    out: Path = arguments.work / f"mams-{arguments.encoder.name}-{seed}"
    if out.is_dir():
        pssa.resume(out, progress=False)
    else:
        settings = {"model": MODEL, "encoder": str(arguments.encoder), "seed": seed, "device": arguments.device}
        pssa.train(other_reviews(arguments), out, progress=False, **settings)
    return out


def run(trial: Trial, start: Path, arguments: argparse.Namespace) -> Record:
    """Train and score."""
    resources = Resources.find(arguments.data, None, None)
    place = Place(trial.data, MODEL, trial.seed, instances=trial.size)
    few, test = resources.corpora(place)
    _, judged = resources.corpora(replace(place, held_out=True))
    settings = {"from_pretrained": str(start), "seed": trial.seed, "device": arguments.device}
    known = {"name": NAME, "encoder": arguments.encoder.name, **vars(trial)}
    with tempfile.TemporaryDirectory() as folder:
        trained = pssa.train(few, Path(folder) / "run", progress=False, **settings)
        return known | {name: score_on(trained, corpus) for name, corpus in (("held_out", judged), ("test", test))}


def score_on(run: Path, corpus: Corpus) -> Record:
    """Return accuracy and macro-F1."""
    scores = pssa.evaluate(run, corpus).scores
    return {"accuracy": scores.accuracy, "macro_f1": scores.macro_f1}


def planned(arguments: argparse.Namespace) -> Iterator[tuple[Record, Callable[[], Record]]]:
    """Yield what identifies each training, and the training."""
    for seed in range(arguments.seeds):
        start = train_start(seed, arguments)
        for size, data in ((size, data) for size in arguments.sizes for data in ("laptop", "rest")):
            trial = Trial(data, size, seed)
            yield {"encoder": arguments.encoder.name, **vars(trial)}, partial(run, trial, start, arguments)


def main() -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--mams", type=Path, required=True)
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="folder for the runs on MAMS")
    parser.add_argument("--sizes", type=lambda given: [int(size) for size in given.split(",")], default=SIZES)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    run_missing(planned(arguments), arguments)


if __name__ == "__main__":
    main()
