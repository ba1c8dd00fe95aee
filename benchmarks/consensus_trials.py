"""How few judges a consensus needs: precision of its words against human ones, by seeds, folds and epochs of the judges.

    python benchmarks/consensus_trials.py judge --data DIR --vectors F --workers 14 --out DIR
    python benchmarks/consensus_trials.py judge --data DIR --encoder FOLDER --models bertabsa_att --workers 1 --out DIR
    python benchmarks/consensus_trials.py show --data DIR --out DIR
    python benchmarks/consensus_trials.py compare --data DIR --out DIR

A judge of few epochs is a judge of many that was stopped early, so each is trained once and asked on the way. The words are
those of training instances, and human ones are never trained on. LAPTOP chooses, REST confirms (docs/measurements/benchmarks.md).
`show` prints all ways of which there are judges; `compare` the default rule with other folds than five, seed by seed, with an
interval of the difference in precision over drawn instances.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from pssa.data import read
from pssa.data.opinion_words import evidence_from_opinion_words, read_opinion_words
from pssa.data.split import folds
from pssa.execution import ProcessPool, WorkerSetup
from pssa.mining import ConsensusRule, agree
from pssa.models import IndexedCorpus
from pssa.runs.methods.consensus import judge_unseen
from pssa.runs.prepared_data import prepare
from pssa.runs.resolve import build_saliency
from pssa.runs.run_context import RunContext, all_but
from pssa.runs.settings import Config
from pssa.saliency import Observation
from pssa.training import EpochRecord, NullObserver

# What searches of these models found, as a median over seeds (results/cells.jsonl); judges of an encoder have 3 by default.
EPOCHS = {("memnet", "laptop"): 11, ("memnet", "rest"): 6, ("tnet_att", "laptop"): 12, ("tnet_att", "rest"): 13}
ENCODER_EPOCHS = 3
SHARES = (0.67, 1.0)  # of these epochs
JUDGES = {5: 3, 3: 3, 2: 4}  # seeds by number of folds
THRESHOLDS = (0.2, 0.25, 0.3)
_NAMED = ("data", "model", "seed", "folds", "number")  # always in the name of a file


@dataclass(frozen=True)
class Trial:
    """The judges of one seed, one for each fold."""

    data: str
    model: str
    seed: int  # of the run
    folds: int
    number: int  # of the judges' seed, from 0
    rows: int = 0  # the first instances; 0: all
    epochs: int = 0  # 0: what searches found on all instances

    @property
    def file(self) -> str:
        """Where its answers are kept."""
        return "-".join(str(value) for name, value in asdict(self).items() if name in _NAMED or value) + ".pt"

    @property
    def points(self) -> tuple[int, ...]:
        """The epochs after which judges are asked."""
        epochs = self.epochs or EPOCHS.get((self.model, self.data), ENCODER_EPOCHS)
        return tuple(max(1, math.ceil(share * epochs)) for share in SHARES)


class Asking(NullObserver):
    """An observer that asks a judge about its fold after some epochs."""

    def __init__(self, model: nn.Module, unseen: IndexedCorpus, config: Config, points: Sequence[int]) -> None:
        self.model, self.unseen, self.config, self.points = model, unseen, config, points
        self.said: dict[int, Observation] = {}

    def on_epoch(self, record: EpochRecord) -> None:
        """Ask."""
        if record.epoch in self.points:
            saliency = build_saliency(self.config, "leave_one_out")
            self.said[record.epoch] = judge_unseen(self.model, self.unseen, [saliency])


@lru_cache(maxsize=1)
def open_context(train: Path, rows: int, start: tuple[str, str], model: str, seed: int) -> RunContext:
    """Return a run that keeps nothing; trials of one seed come one after the other and share it.

    :param start: the setting that names word vectors or an encoder, and its value.
    """
    device = "auto" if start[0] == "encoder" else "cpu"
    settings = {"model": model, "method": "consensus", "seed": seed, "device": device, start[0]: start[1]}
    corpus = read(train)
    config, prepared = prepare(corpus.select(range(rows or len(corpus))), None, Config().updated(settings))
    return RunContext(config, None, prepared, NullObserver())


def judge(trial: Trial, data: Path, start: tuple[str, str], out: Path) -> str:
    """Train the judges of a trial and keep what they say."""
    context = open_context(data / trial.data / "train.txt", trial.rows, start, trial.model, trial.seed)
    config, prepared = context.config, context.prepared_data
    points, corpus = trial.points, context.train_data
    shape = len(corpus), corpus.table.candidates.shape[1], len(config.data.labels)
    wholes = {point: Observation.blank(*shape) for point in points}
    seed = context.member_seed(trial.number)
    for fold, judged in enumerate(folds(prepared.corpus, trial.folds, seed), start=1):
        rows, model = torch.tensor(judged), context.new_model(seed)
        context.observer = asking = Asking(model, corpus.select(rows), config, points)
        context.train_miner(f"seed-{trial.number + 1}-fold-{fold}", model, max(points), all_but(corpus, rows))
        for point, said in asking.said.items():
            wholes[point].fill(rows, said)
    kept = {point: (whole.probabilities, whole.scores.half()) for point, whole in wholes.items()}
    torch.save(kept, out / f"{trial.file}.part")
    (out / f"{trial.file}.part").rename(out / trial.file)
    return trial.file


def trials(arguments: argparse.Namespace) -> Iterator[Trial]:
    """Yield all trials, the longest first."""
    for n_folds in arguments.folds:
        for model in arguments.models:
            for data in reversed(arguments.data_sets):
                for seed in range(arguments.seeds):
                    for number in range(JUDGES[n_folds]):
                        yield Trial(data, model, seed, n_folds, number, arguments.rows, arguments.epochs)


def run(arguments: argparse.Namespace) -> None:
    """Run the trials that have no file yet."""
    arguments.out.mkdir(parents=True, exist_ok=True)
    missing = [trial for trial in trials(arguments) if not (arguments.out / trial.file).exists()]
    print(f"{len(missing)} trials to run", flush=True)
    with ProcessPool(arguments.workers, WorkerSetup()) as pool:
        start = ("encoder", arguments.encoder) if arguments.encoder else ("vectors", str(arguments.vectors))
        futures = [pool.submit(judge, each, arguments.data, start, arguments.out) for each in missing]
        for future in as_completed(futures):
            print(future.result(), flush=True)


def show(arguments: argparse.Namespace) -> None:
    """Print a line of JSON for each way: precision and coverage over the instances in which people marked a word."""
    for data in arguments.data_sets:
        marked = Marked.of(arguments, data)
        for model in arguments.models:
            for line in ways(arguments, marked, model):
                print(json.dumps(line), flush=True)


def compare(arguments: argparse.Namespace) -> None:
    """Print a line of JSON for each seed and number of folds that has three judges of each instance."""
    rule = ConsensusRule(THRESHOLDS[0], least_right=2)
    for data in arguments.data_sets:
        marked = Marked.of(arguments, data)
        for model, seed in product(arguments.models, range(arguments.seeds)):
            usual: Tensor | None = None
            for n_folds in JUDGES:
                tried = [Trial(data, model, seed, n_folds, each, arguments.rows, arguments.epochs) for each in range(3)]
                if not all((arguments.out / each.file).exists() for each in tried):
                    continue
                seen = [load_answers(arguments.out / each.file, each.points[-1]) for each in tried]
                right = torch.stack([one.predicted == marked.gold for one in seen])
                counts = marked.count(seen, rule)
                usual = counts if n_folds == 5 else usual
                line = {
                    **asdict(tried[0]),
                    **summary(counts),
                    "judges' accuracy": round(right.float().mean().item(), 4),
                }
                print(json.dumps({**line, **({} if usual is None else difference(counts, usual))}), flush=True)


@dataclass(frozen=True)
class Marked:
    """A data set with the words that people marked."""

    data: str
    gold: Tensor  # (n,) classes
    labels: list[str]
    human: list[set[int]]  # words of each instance

    @classmethod
    def of(cls, arguments: argparse.Namespace, data: str) -> Marked:
        """Read train, or its first rows."""
        corpus = read(arguments.data / data / "train.txt")
        corpus = corpus.select(range(arguments.rows or len(corpus)))
        opinions = read_opinion_words(arguments.data / "opinion_words" / data / "train.tsv")
        human = [{each.word for each in one.findings} for one in evidence_from_opinion_words(opinions, corpus).examples]
        labels = list(corpus.labels)
        return cls(data, torch.tensor([labels.index(example.label or "") for example in corpus]), labels, human)

    def count(self, seen: Sequence[Observation], rule: ConsensusRule) -> Tensor:
        """(m, 2) words found in each instance in which people marked one, and those of them that people marked."""
        mined = agree(seen, self.gold, self.labels, rule).findings
        pairs = [(found, words) for found, words in zip(mined, self.human, strict=True) if words]
        return torch.tensor([[len(found), sum(each.word in words for each in found)] for found, words in pairs])


def summary(counts: Tensor) -> dict[str, float]:
    """Return the share of the words that people marked, and the share of the marked instances with a word."""
    n_words, n_right = counts.sum(dim=0).tolist()
    coverage = (counts[:, 0] > 0).float().mean().item()
    return {"precision": round(n_right / max(1, n_words), 4), "coverage": round(coverage, 4), "words": n_words}


def difference(counts: Tensor, usual: Tensor) -> dict[str, Any]:
    """Return the difference in precision, with a 95 % interval over instances drawn with replacement."""
    drawn = torch.randint(len(counts), (1000, len(counts)), generator=torch.Generator().manual_seed(0))

    def precision(each: Tensor) -> Tensor:
        sums = each[drawn].sum(dim=1).double()
        return sums[:, 1] / sums[:, 0]

    low, high = torch.quantile(precision(counts) - precision(usual), torch.tensor([0.025, 0.975], dtype=torch.double))
    change = summary(counts)["precision"] - summary(usual)["precision"]
    return {"difference": round(change, 4), "interval": [round(low.item(), 4), round(high.item(), 4)]}


def load_answers(path: Path, point: int) -> Observation:
    """Return what the judges of a trial said after so many epochs."""
    probabilities, scores = torch.load(path)[point]
    return Observation(probabilities, scores.float())


def ways(arguments: argparse.Namespace, marked: Marked, model: str) -> Iterator[dict[str, Any]]:
    """Yield every way that all seeds were tried in."""
    for n_folds, n_seeds in JUDGES.items():
        tried = [
            [
                Trial(marked.data, model, seed, n_folds, number, arguments.rows, arguments.epochs)
                for number in range(n_seeds)
            ]
            for seed in range(arguments.seeds)
        ]
        files = [[arguments.out / each.file for each in of_seed] for of_seed in tried]
        if not all(path.exists() for paths in files for path in paths):
            continue
        for share, point in zip(SHARES, tried[0][0].points, strict=True):
            said = [[load_answers(path, point) for path in paths] for paths in files]
            for n_judges in range(2, n_seeds + 1):
                for right, threshold in product(range(1, min(n_judges, 3) + 1), THRESHOLDS):
                    rule = ConsensusRule(threshold, least_right=right)
                    found = [summary(marked.count(each[:n_judges], rule)) for each in said]
                    yield {
                        **{"data": marked.data, "model": model, "seeds": n_judges, "folds": n_folds, "share": share},
                        **{"right": right, "threshold": threshold, "cost": n_judges * (n_folds - 1) * share},
                        **{name: [one[name] for one in found] for name in ("precision", "coverage")},
                    }


def main() -> None:
    """Judge, show or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("judge", "show", "compare"))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--encoder", help="folder or hub name, for models on an encoder")
    parser.add_argument("--models", nargs="+", default=["tnet_att", "memnet"])
    parser.add_argument("--data-sets", nargs="+", default=["laptop", "rest"], choices=("laptop", "rest"))
    parser.add_argument("--folds", type=int, nargs="+", default=list(JUDGES), choices=list(JUDGES))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=0, help="first instances to train on, 0 for all")
    parser.add_argument(
        "--epochs", type=int, default=0, help="of the judges, 0 for what searches found on all instances"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    {"judge": run, "show": show, "compare": compare}[arguments.action](arguments)


if __name__ == "__main__":
    main()
