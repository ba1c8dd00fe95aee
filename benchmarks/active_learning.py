"""Does choosing what to label beat chance? `pssa data next` in a simulated loop, over sets and seeds.

    python benchmarks/active_learning.py --data DIR --vectors F --sets rest,twitter --seeds 5 --workers 8 --out loop.jsonl
    python benchmarks/active_learning.py --data DIR --vectors F --sets laptop --test --seeds 5 --workers 8 --out loop.jsonl

A loop begins with a few random sentences of train with their labels. In every step a model is trained on the labelled ones and
scored, and then sentences of the rest are chosen and labelled, until the next size is reached. All loops of a seed begin with the
same sentences; with `--start`, a run such as `starter` makes the first choice, and trainings start from it. Scores are on a
quarter of train that is held out; with `--test`, on the test set. One JSON line per training.

Ways to choose: `random`; `doubt`, the sentences in which the model is most in doubt; `next`, what `pssa data next` proposes;
`judges`, the same with two further models as judges.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import torch

import pssa
from pssa.bulk.next_labels import choose_next
from pssa.data import Corpus
from pssa.data.split import hold_out, sentence_groups

_WAYS = ("random", "doubt", "next", "judges")
_SHARE = 0.25  # of train that is held out
_MOST = 300  # sentences that are asked for at once


def main() -> None:
    """Carry out every loop, several at a time, and append a line for each training."""
    options = _options().parse_args()
    loops = [
        (options, name, seed, way)
        for seed in range(options.seeds)
        for name in options.sets.split(",")
        for way in options.ways.split(",")
    ]
    with ProcessPoolExecutor(options.workers) as pool:
        for records in pool.map(_loop, *zip(*loops, strict=True)):
            with options.out.open("a") as stream:
                stream.writelines(json.dumps(record) + "\n" for record in records)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--vectors", default=None)
    parser.add_argument("--encoder", default=None)
    parser.add_argument("--model", default="tnet_att")
    parser.add_argument("--start", default="", help="run that makes the first choice and that trainings start from")
    parser.add_argument("--sets", default="laptop,rest,twitter")
    parser.add_argument("--ways", default=",".join(_WAYS))
    parser.add_argument("--sizes", default="64,128,256", help="labelled instances at which a model is trained")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=None, help="of every training (default: searched)")
    parser.add_argument("--test", action="store_true", help="score on the test set")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    return parser


def _loop(options: argparse.Namespace, name: str, seed: int, way: str) -> list[dict[str, Any]]:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    train, scored = _data(options, name)
    groups = sentence_groups(train)
    random.Random(seed).shuffle(groups)
    labelled: list[list[int]] = []
    records = []
    with tempfile.TemporaryDirectory() as folder:
        for size in map(int, options.sizes.split(",")):
            waiting = [group for group in groups if group not in labelled]
            run = Path(folder) / str(size)
            is_cold = not labelled and not options.start
            chosen = iter(waiting) if is_cold else _order(options, way, train, waiting, Path(folder))
            while sum(map(len, labelled)) < size and (group := next(chosen, None)):
                labelled.append(group)
            corpus = train.select(place for group in labelled for place in group)
            _train(options, corpus, run, seed)
            if way == "judges":
                for number in (1, 2):
                    _train(options, corpus, Path(folder) / f"{size}-{number}", seed + 1000 * number)
            (Path(folder) / "newest").write_text(str(size))
            found = pssa.evaluate(run, scored).scores
            record = {
                "set": name,
                "seed": seed,
                "way": way,
                "size": size,
                "instances": len(corpus),
                "model": options.model,
            }
            counts = corpus.label_counts()
            records.append({**record, "accuracy": found.accuracy, "macro_f1": found.macro_f1, "labels": counts})
    return records


def _data(options: argparse.Namespace, name: str) -> tuple[Corpus, Corpus]:
    """Return what may be labelled, and what is scored."""
    train = pssa.read(options.data / name / "train.txt")
    if options.test:
        return train, pssa.read(options.data / name / "test.txt")
    kept, held_out = hold_out(train, _SHARE, seed=0)
    return train.select(kept), train.select(held_out)


def _train(options: argparse.Namespace, corpus: Corpus, run: Path, seed: int) -> None:
    starts = {key: value for key in ("vectors", "encoder", "epochs") if (value := getattr(options, key))}
    if options.start:
        starts["from_pretrained"] = options.start
    pssa.train(corpus, run, model=options.model, seed=seed, device="cpu", progress=False, **starts)


def _order(
    options: argparse.Namespace, way: str, train: Corpus, waiting: Sequence[list[int]], folder: Path
) -> Iterator[list[int]]:
    """Yield the sentences that wait, the next one to label first."""
    if way == "random":
        yield from waiting
        return
    name = folder / "newest"
    newest = folder / name.read_text() if name.exists() else Path(options.start)
    judges = [folder / f"{newest.name}-{number}" for number in (1, 2)] if way == "judges" and name.exists() else []
    rows = [(group, train[place]) for group in waiting for place in group]
    pool = [
        {"text": example.text, "from": example.aspect_chars[0], "to": example.aspect_chars[1]} for _, example in rows
    ]
    count = len(waiting) if way == "doubt" else _MOST
    found = choose_next(newest, pool, count=count, judges=judges).texts
    proposals = sorted(found, key=lambda each: -each.doubt) if way == "doubt" else found
    seen: set[int] = set()
    for proposal in proposals:
        group = rows[proposal.line - 1][0]
        if group[0] not in seen:
            seen.add(group[0])
            yield group
    yield from (group for group in waiting if group[0] not in seen)  # near duplicates, when nothing else is left


if __name__ == "__main__":
    main()
