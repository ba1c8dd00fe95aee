"""Build the run that comes with the package, `src/pssa/starter/`, in two steps.

    python scripts/build_starter.py train --mams DIR --rest-test FILE --vectors FILE --work DIR --out DIR [--device cuda]
    python scripts/build_starter.py describe --mams DIR --rest-test FILE [--laptop-test FILE] [--rest-aspects FILE]
        [--laptop-aspects FILE] --run DIR --record tests/fixtures/starter.json

`train` trains a TNet-ATT with consensus evidence and a tagger in the folder `--work`, where a second call finds what is finished,
and writes a compact copy to `--out`: half precision, without training data, vectors of the training words and then of the most
frequent words of the vector file while `--max-bytes` allows. It prints scores on MAMS val, by which to choose among several.

`describe` calibrates that copy on MAMS val, measures it, also on the test sets of other sources, writes its model card, and
records its digest and its answers to fixed texts, which tests/test_starter.py compares.

MAMS is at https://github.com/siat-nlp/MAMS-for-ABSA; `--mams` has its `train.xml` and `val.xml`. `train` reads the file of REST
test to leave its sentences out.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from starter.card import keep_error_rates, write_starter_card
from starter.corpora import classifier_corpus, common_texts, tagger_sentences
from starter.held_out import keep_calibration, keep_input_profile
from starter.measure import TestFiles, measure
from starter.packing import choose_words, size_of
from starter.recording import record

from pssa.aspects import resume_aspects, train_aspects
from pssa.aspects.find import FOLDER
from pssa.runs.compact import write_compact
from pssa.runs.setting_types import parse_value
from pssa.runs.training_run import resume, train

__all__ = ["main"]

# Chosen on held-out data of LAPTOP and REST (results/defaults.md), but for the method; the folds are those of the starter that is
# in the package.
SETTINGS: dict[str, Any] = {
    **{"model": "tnet_att", "gating": "lossless", "initial_bound": 0.05},
    **{"method": "consensus", "consensus_folds": 5},
}
MOST_BYTES = 8_000_000


def main() -> int:
    """Carry out one of the steps."""
    arguments = _arguments()
    found: dict[str, Any] = arguments.step(arguments)
    print(json.dumps(found))
    return 0


def _train(arguments: argparse.Namespace) -> dict[str, Any]:
    """Train what is not trained yet, and pack it."""
    run = arguments.work / "run"
    train_file = arguments.mams / "train.xml"
    left_out = common_texts(train_file, arguments.rest_test)
    start = {"vectors": str(arguments.vectors), "seed": arguments.seed, "device": arguments.device}
    if run.is_dir():
        resume(run)
    else:
        given = dict(text.partition("=")[::2] for text in arguments.set)
        settings = SETTINGS | start | {key: parse_value(value) for key, value in given.items()}
        train(classifier_corpus(train_file, left_out), run, **settings)
    tagger = run / FOLDER
    if tagger.is_dir():
        resume_aspects(tagger)
    else:
        train_aspects(tagger_sentences(train_file, left_out), tagger, **start)
    words = choose_words(run, arguments.vectors, arguments.max_bytes)
    out = write_compact(run, arguments.out, words=words)
    whole, packed = (measure(each, TestFiles(arguments.mams / "val.xml")).as_dict() for each in (run, out))
    return {"bytes": size_of(out), "words": len(words), "packed": packed, "before": whole}


def _describe(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure a packed run, write its card, and record its answers."""
    left_out = common_texts(arguments.mams / "train.xml", arguments.rest_test)
    files = TestFiles(
        arguments.mams / "val.xml",
        {"REST": arguments.rest_test, "LAPTOP": arguments.laptop_test},
        {"REST": arguments.rest_aspects, "LAPTOP": arguments.laptop_aspects},
    )
    keep_input_profile(arguments.run, classifier_corpus(arguments.mams / "train.xml", left_out))
    keep_calibration(arguments.run, files.val)
    measured = measure(arguments.run, files)
    keep_error_rates(arguments.run, measured)
    write_starter_card(arguments.run, measured, len(left_out), arguments.selection)
    record(arguments.run, arguments.record)
    return {"bytes": size_of(arguments.run), **measured.as_dict()}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Build the starter.")
    steps = parser.add_subparsers(required=True)
    first = steps.add_parser("train", help="train and pack")
    first.set_defaults(step=_train)
    second = steps.add_parser("describe", help="measure, write the card, record answers")
    second.set_defaults(step=_describe)
    for step in (first, second):
        step.add_argument("--mams", type=Path, required=True, help="folder with train.xml and val.xml of MAMS")
        step.add_argument("--rest-test", type=Path, required=True, help="test instances of REST")
    first.add_argument("--vectors", type=Path, required=True, help="GloVe text file")
    first.add_argument("--work", type=Path, required=True, help="folder for the trainings, kept between calls")
    first.add_argument("--out", type=Path, required=True, help="folder to create")
    first.add_argument("--max-bytes", type=int, default=MOST_BYTES, help="most bytes of it")
    first.add_argument("--seed", type=int, default=0)
    first.add_argument("--device", default="cpu", help="cpu or cuda")
    first.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="setting of the classifier")
    second.add_argument("--run", type=Path, required=True, help="what `train` wrote")
    second.add_argument("--laptop-test", type=Path, help="test instances of LAPTOP")
    second.add_argument("--rest-aspects", type=Path, help="test sentences of REST with all aspects")
    second.add_argument("--laptop-aspects", type=Path, help="test sentences of LAPTOP with all aspects")
    second.add_argument("--record", type=Path, required=True, help="file for digest and answers")
    second.add_argument("--selection", default="", help="sentence of the card: what was chosen on which data")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
