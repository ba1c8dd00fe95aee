"""The method on the embedded corpus over several seeds, against ideal evidence, where frequent words mislead.

    python benchmarks/misleading.py [--vectors F] --jobs 2

`--vectors src/pssa/starter` takes the vectors of the run that comes with the package.

`ideal` evidence is what the corpus was made from: the deciding words of each aspect are active, frequent words that usually go
with another label are misleading. It needs the generator's word lists, so it is no method, only the upper bound of one.
"""

from __future__ import annotations

import argparse
import copy
import os
import statistics
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from torch import nn

from pssa.data import Corpus, embedded
from pssa.data.evidence import ACTIVE, MISLEADING, Evidence, Finding, Header, keep_iterations
from pssa.evaluation import predict_classes, score
from pssa.runs import methods
from pssa.runs.prepared_data import prepare
from pssa.runs.run_context import RunContext
from pssa.runs.settings import Config
from pssa.training import NullObserver

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
from embedded.counts import Reading, read_cues
from embedded.vocabulary import FREQUENT

EPOCHS = 25  # for all alike: enough for every loss to settle, chosen without looking at test
Row = tuple[str, list[float]]  # method; accuracy and macro-F1 on all of test, then on its misleading part


def ideal_evidence(corpus: Corpus) -> Evidence:
    """Return the words that the corpus was made from."""
    header = Header("none", "none", None, 1, corpus.hash(), 0, "ideal")
    return Evidence.from_findings(header, corpus, [_ideal_findings(reading) for reading in read_cues(corpus)])


def _ideal_findings(reading: Reading) -> list[Finding]:
    label = reading.example.label or ""
    deciding = [*reading.cues.rare, *(word for word in reading.cues.frequent if FREQUENT[word] == label)]
    misleading = [word for word in reading.cues.frequent if FREQUENT[word] != label]
    kinds = dict.fromkeys(_places(reading, misleading), MISLEADING)
    kinds |= dict.fromkeys(_places(reading, deciding), ACTIVE)
    return [Finding(place, kind, 1, 0.0, 1.0, label, label) for place, kind in sorted(kinds.items())]


def _places(reading: Reading, wanted: list[str]) -> Iterator[int]:
    """Return for each word its place nearest to the aspect."""
    example = reading.example
    middle = sum(example.aspect) / 2
    for word in wanted:
        found = [place for place, other in enumerate(example.words) if other.lower() == word]
        yield min(set(found) & example.candidates, key=lambda place: abs(place - middle))


def run_seed(seed: int, model: str, vectors: Path | None) -> list[Row]:
    """Train and score every method once."""
    import torch

    torch.set_num_threads(1)
    train = embedded.load("train")
    settings = {"model": model, "seed": seed, "device": "cpu", "dimension": 100, "vectors": vectors and str(vectors)}
    config, prepared_data = prepare(train, None, Config().updated(settings))
    context = RunContext(config, None, prepared_data, NullObserver())
    baseline = context.train("initial", context.new_model(), EPOCHS)
    rows = [("baseline", _scores(context, baseline))]
    for method in ("aw-as", "pg-as"):
        shop = RunContext(config.updated({"method": method}), None, prepared_data, NullObserver())
        evidence = methods.find(method).mine(shop, EPOCHS, copy.deepcopy(baseline))
        for rounds in (1, 5):
            rows.append((f"{method}, K = {rounds}", _final(shop, keep_iterations(evidence, rounds))))
    shop = RunContext(config.updated({"method": "consensus"}), None, prepared_data, NullObserver())
    rows.append(("consensus", _final(shop, methods.find("consensus").mine(shop, EPOCHS))))
    return [*rows, ("ideal evidence", _final(context, ideal_evidence(train)))]


def _final(context: RunContext, evidence: Evidence) -> list[float]:
    model = context.train("final", context.new_model(), EPOCHS, supervision=context.supervise(evidence))
    return _scores(context, model)


def _scores(context: RunContext, model: nn.Module) -> list[float]:
    test, labels = embedded.load("test"), context.config.data.labels
    predicted = [labels[number] for number in predict_classes(model, context.index(test)).tolist()]
    numbers = []
    for rows in (range(len(test)), [row for row, example in enumerate(test) if "misleading" in example.tags]):
        part = score([test[row].label or "" for row in rows], [predicted[row] for row in rows], labels)
        numbers += [100 * part.accuracy, 100 * part.macro_f1]
    return numbers


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="tnet_att")
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    job = partial(run_seed, model=arguments.model, vectors=arguments.vectors)
    with ProcessPoolExecutor(arguments.jobs) as pool:
        seeds = list(pool.map(job, range(arguments.seeds)))
    print("| method | accuracy | macro-F1 | accuracy, misleading | macro-F1, misleading | seeds better there |")
    print("|---|---|---|---|---|---|")
    for place, (name, _) in enumerate(seeds[0]):
        columns = list(zip(*(rows[place][1] for rows in seeds), strict=True))
        cells = [f"{statistics.mean(column):.1f} ± {statistics.stdev(column):.1f}" for column in columns]
        better = sum(rows[place][1][2] > rows[0][1][2] for rows in seeds)
        print(f"| {name} | " + " | ".join(cells) + f" | {'' if place == 0 else f'{better} of {len(seeds)}'} |")


if __name__ == "__main__":
    main()
