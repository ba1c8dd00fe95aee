"""The joint model after a few labels of one's own: it goes on from the starter, on the instances of the exhibit `few-labels`.

    cd benchmarks && python -m few_labels starter --data DIR --out ../paper/studies/exhibits/few_labels_others.jsonl

The held-out fifth of train judges settings, the test set is read by what they are. A training whose line is in the file
already is left out.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))  # for the archive, which is no part of the package

from paper.experiments.cells import Place
from paper.experiments.resources import Resources
from pssa.runs import load
from pssa.runs.evaluate import evaluate
from pssa.runs.training_run import write_run

NAME = "`--model joint --from starter`"
SIZES = (16, 32, 64, 128, 256, 512)


def measure(run: str, data: Path, name: str, size: int, seed: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Train on some instances of a data set, and score on the held-out part and on the test set."""
    resources = Resources.find(data, None, None)
    few, test = resources.corpora(Place(name, "bertabsa_att", seed, instances=size))
    _, judged = resources.corpora(Place(name, "bertabsa_att", seed, instances=size, held_out=True))
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        how: dict[str, Any] = {"model": "joint", "from_pretrained": run, "seed": seed, "progress": False}
        classifier = load(write_run(few, Path(folder) / "run", **how, **settings))
        scores = {part: evaluate(classifier, corpus).scores for part, corpus in (("held_out", judged), ("test", test))}
    found = {part: {"accuracy": each.accuracy, "macro_f1": each.macro_f1} for part, each in scores.items()}
    return {"seconds": round(time.perf_counter() - began, 1), **found}


def main() -> int:
    """Append a line for each training that is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--name", default=NAME, help="of the row")
    parser.add_argument("--set", type=json.loads, default={}, help="settings as JSON")
    given = parser.parse_args()
    known = [json.loads(line) for line in given.out.read_text("utf-8").splitlines()] if given.out.exists() else []
    done = {(each["name"], each["data"], each["size"], each["seed"]) for each in known}
    trials = [(data, size, seed) for size in given.sizes for seed in range(given.seeds) for data in ("laptop", "rest")]
    for data, size, seed in trials:
        if (given.name, data, size, seed) in done:
            continue
        record = {"name": given.name, "encoder": "minilm", "data": data, "size": size, "seed": seed}
        record |= measure(given.run, given.data, data, size, seed, given.set)
        with given.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        print(record, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
