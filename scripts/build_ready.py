"""Build the model that comes with the package: from public annotations and MiniLM to a folder of ONNX.

python scripts/build_ready.py --data DATA --encoder FOLDER --out src/pssa/ready

DATA is described in docs/how-to/build-the-ready-model.md. The script trains once, with the settings that held-out domains chose,
exports to eight bits, and prints the time of each step. Its weights are the same for the same threads of one kind of processor.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from ready.corpora import read_training

from pssa.data.reviews import Review, read_reviews
from pssa.joint.run import export_joint, train_joint
from pssa.joint.training import AnnotatedSentences, JointSchedule
from pssa.training.observers import LogObserver

HELD_OUT = ("book", "grocery", "pet", "toy")
_N_MENTIONS = 400  # sentences of MAMS that choose how easily mentions are found


def sources_of(data: Path) -> tuple[list[AnnotatedSentences], list[tuple[Review, ...]]]:
    """Return what the model learns from, and the held-out reviews that choose its thresholds."""
    sources = []
    held: list[tuple[Review, ...]] = [read_reviews(data / f"amazon/{name}-dev.txt")[0] for name in HELD_OUT]
    for name, found in read_training(data).sentences.items():
        sentences = list(found)
        if name.startswith("amazon"):
            sources.append(AnnotatedSentences(sentences, "opinions"))
        elif name.startswith("roast"):
            # Its quadruples are of whole reviews and leave aspects of a sentence unmarked.
            sources.append(AnnotatedSentences(sentences, "some"))
        elif name == "mams":
            sources.append(AnnotatedSentences(sentences[_N_MENTIONS:], "all", overall=False))
        else:
            sources.append(AnnotatedSentences(sentences, "opinions", overall=False))
    return sources, held


def main() -> int:
    """Train, export and say how long it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--run", type=Path, help="keep the float32 run in this new folder")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    began = time.perf_counter()
    sources, held = sources_of(given.data)
    print(f"read the data: {time.perf_counter() - began:.0f} s", flush=True)
    schedule = JointSchedule(epochs=given.epochs, seed=given.seed)
    with tempfile.TemporaryDirectory() as scratch:
        run = given.run or Path(scratch) / "run"
        train_joint(
            sources,
            held,
            run,
            encoder=given.encoder,
            schedule=schedule,
            device=given.device,
            observer=LogObserver(lambda values: print(f"{time.perf_counter() - began:.0f} s: {values}", flush=True)),
        )
        export_joint(run, given.out)
    print(f"{given.out}: {time.perf_counter() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
