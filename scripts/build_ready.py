"""Build the model that comes with the package: from public annotations, raw reviews and MiniLM to a folder of ONNX.

    python scripts/build_ready.py --data DATA --encoder MINILM --teacher MPNET --work DIR --out src/pssa/ready

Three trainings: the model on the annotations, a larger teacher on them, and the model again with raw sentences that both have
labelled (`ready/self_training.py`). `--work` keeps the first two, and a second call goes on with what it finds there. Reviews of
four domains that no annotation is from choose the thresholds. A little over an hour of one core in all.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

from ready.corpora import read_training
from ready.self_training import raw_sentences, teach

from pssa.data.reviews import Review, read_reviews
from pssa.joint.model import JointLoss
from pssa.joint.pieces import WordPieces
from pssa.joint.run import export_joint, load_joint, train_joint
from pssa.joint.training import AnnotatedSentences, JointSchedule
from pssa.training.observers import LogObserver

HELD_OUT = ("book", "grocery", "pet", "toy")
N_MENTIONS = 400  # sentences of MAMS that choose how easily mentions are found
SMALL = JointSchedule(epochs=4, learning_rate=1.5e-4)
LARGE = JointSchedule(epochs=2, learning_rate=5e-5, head_learning_rate=5e-4)
FINAL = JointSchedule(epochs=3, learning_rate=1.5e-4, hidden=0.08, averaged=0.4)


def sources_of(data: Path, roast_share: float) -> tuple[list[AnnotatedSentences], list[Review]]:
    """Return what a model learns from, and sentences whose mentions are marked to choose a threshold.

    :param roast_share: of the sentences of ROAST that are used.
    """
    sources, mentions = [], list[Review]()
    for name, found in read_training(data).sentences.items():
        sentences = list(found)
        if name.startswith("roast"):
            # Its quadruples are of whole reviews and leave aspects of a sentence unmarked.
            sentences = random.Random(1).sample(sentences, int(roast_share * len(sentences)))
            sources.append(AnnotatedSentences(sentences, "some"))
        elif name == "mams":
            mentions = sentences[:N_MENTIONS]
            sources.append(AnnotatedSentences(sentences[N_MENTIONS:], "all", overall=False))
        else:
            sources.append(AnnotatedSentences(sentences, "opinions", overall=name != "tsa_md"))
    return sources, mentions


def main() -> int:
    """Train, export and say how long it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--teacher", required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    began = time.perf_counter()
    log = LogObserver(lambda values: print(f"{time.perf_counter() - began:.0f} s: {values}", flush=True))
    held = [read_reviews(given.data / f"amazon/{name}-dev.txt")[0] for name in HELD_OUT]
    given.work.mkdir(parents=True, exist_ok=True)
    for name, encoder, schedule, share in (("small", given.encoder, SMALL, 1.0), ("large", given.teacher, LARGE, 0.33)):
        if not (given.work / name).is_dir():
            sources, mentions = sources_of(given.data, share)
            more = {"encoder": encoder, "schedule": schedule, "device": given.device, "observer": log}
            train_joint(sources, held, given.work / name, mentions=mentions, **more)
    small, large = (load_joint(given.work / name, given.device) for name in ("small", "large"))
    raw = raw_sentences(given.data / "amazon" / "unlabelled")
    taught = list(teach(small, large, raw, WordPieces(small.pieces.tokenizer)))
    print(f"{time.perf_counter() - began:.0f} s: {len(taught)} raw sentences are labelled", flush=True)
    sources, mentions = sources_of(given.data, 0.5)
    train_joint(
        sources,
        held,
        given.work / "final",
        encoder=given.encoder,
        schedule=FINAL,
        loss=JointLoss(overall=0.7),
        device=given.device,
        observer=log,
        taught=taught,
        mentions=mentions,
    )
    export_joint(given.work / "final", given.out)
    print(f"{given.out}: {time.perf_counter() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
