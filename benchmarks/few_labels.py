"""Trainings on labels of one's own, on the instances of the exhibit `few-labels`: the starter gone on, or other settings.

    cd benchmarks && python -m few_labels --data DIR --out ../paper/studies/exhibits/few_labels_others.jsonl
    cd benchmarks && python -m few_labels --data DIR --out ../results/raw/default-model.jsonl --held-out --sizes 64 0 \
        --name "TNet-ATT" --set '{"model": "tnet_att"}'

The held-out fifth of train judges settings, the test set is read by what they are. A training whose line is in the file
already is left out.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))  # for the archive, which is no part of the package

from paper.experiments.cells import Place
from paper.experiments.resources import Resources
from pssa.runs import load
from pssa.runs.evaluate import evaluate
from pssa.runs.training_run import write_run

NAME, SETTINGS = "`pssa train` (the starter)", {"model": "joint", "from_pretrained": "starter"}
SIZES = (16, 32, 64, 128, 256, 512)


def measure(trial: Place, data: Path, settings: dict[str, Any], *, reads_test: bool) -> dict[str, Any]:
    """Train on some instances of a data set; score on the held-out part and, if asked to, on the test set."""
    resources = Resources.find(data, None, None)
    few, held_out = resources.corpora(replace(trial, held_out=True))
    judged = {"held_out": held_out} | ({"test": resources.corpora(trial)[1]} if reads_test else {})
    with tempfile.TemporaryDirectory() as folder:
        began, worked = time.perf_counter(), time.process_time()
        run = write_run(few, Path(folder) / "run", seed=trial.seed, progress=False, **settings)
        took = {"seconds": time.perf_counter() - began, "cpu_seconds": time.process_time() - worked}
        classifier = load(run)
        scores = {part: evaluate(classifier, corpus).scores for part, corpus in judged.items()}
    found = {part: {"accuracy": each.accuracy, "macro_f1": each.macro_f1} for part, each in scores.items()}
    return {"instances": len(few), **{name: round(value, 1) for name, value in took.items()}, **found}


def main() -> int:
    """Append a line for each training that is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="0: all")
    parser.add_argument("--sets", nargs="+", default=("laptop", "rest"))
    parser.add_argument("--held-out", action="store_true", help="do not read the test sets")
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    parser.add_argument("--name", default=NAME, help="of the row")
    parser.add_argument("--set", type=json.loads, default=SETTINGS, help="settings as JSON")
    given = parser.parse_args()
    known = [json.loads(line) for line in given.out.read_text("utf-8").splitlines()] if given.out.exists() else []
    done = {(each["name"], each["data"], each["size"], each["seed"]) for each in known}
    trials = [(data, size, seed) for size in given.sizes for seed in given.seeds for data in given.sets]
    for data, size, seed in trials:
        if (given.name, data, size, seed) in done:
            continue
        record = {"name": given.name, "encoder": "minilm", "data": data, "size": size, "seed": seed}
        trial = Place(data, "bertabsa_att", seed, instances=size)
        record |= measure(trial, given.data, given.set, reads_test=not given.held_out)
        with given.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        print(record, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
