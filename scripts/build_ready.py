"""Build the model that comes with the package: from public annotations, raw reviews and MiniLM to a folder of ONNX.

    python scripts/build_ready.py --data DATA --encoder MINILM --teacher MPNET --work DIR --out src/pssa/ready

Three larger models learn the annotations, and label raw sentences with probabilities (`ready/self_training.py`). The model learns
the annotations and what they say. `--work` keeps what is trained, and a second call goes on with what it finds there. Reviews of
four domains that no annotation is from choose the thresholds.

On an H200 the teachers took one minute side by side, their labels one, and the model five.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ready.corpora import read_training
from ready.mentions import unmarked_mentions
from ready.self_training import Teacher, raw_sentences, teach

from pssa.data.reviews import Review, read_reviews
from pssa.joint.pieces import WordPieces
from pssa.joint.run import export_joint, load_with_model, train_joint
from pssa.joint.training import AnnotatedSentences, JointSchedule
from pssa.models import Pretrained
from pssa.training.observers import LogObserver

HELD_OUT = ("book", "grocery", "pet", "toy")
N_MENTIONS = 400  # sentences of MAMS that choose how easily mentions are found
ROAST_SHARE = 0.5  # of its sentences: its quadruples are of whole reviews and leave aspects of a sentence unmarked
N_RAW = 160_000  # raw sentences
TEACHERS = (  # each with the times that it sees a sentence of MAMS in an epoch
    (JointSchedule(epochs=3, learning_rate=5e-5, head_learning_rate=5e-4, averaged=0.3, seed=1), 2),
    (JointSchedule(epochs=3, learning_rate=8e-5, head_learning_rate=5e-4, averaged=0.3, seed=2, hidden=0.08), 2),
    (JointSchedule(epochs=3, learning_rate=5e-5, head_learning_rate=5e-4, averaged=0.3, seed=3), 3),
)
FINAL = JointSchedule(epochs=5, learning_rate=3e-4, batch_pieces=4800, averaged=0.3, seed=3)


def sources_of(found: Mapping[str, Sequence[Review]], n_mams: int = 2) -> tuple[list[AnnotatedSentences], list[Review]]:
    """Return what a model learns from, and sentences whose mentions are marked to choose a threshold."""
    sources = []
    amazon = [name for name in found if name.startswith("amazon")]
    together = [sentence for name in amazon for sentence in found[name]]
    sources.append(AnnotatedSentences(together, "opinions", mentions=unmarked_mentions(together)))
    for name in found:
        if name.startswith("roast"):
            chosen = random.Random(1).sample(found[name], int(ROAST_SHARE * len(found[name])))
            sources.append(AnnotatedSentences(chosen, "some"))
    sources.append(AnnotatedSentences(found["tsa_md"], "opinions", overall=False))
    mams = AnnotatedSentences(found["mams"][N_MENTIONS:], "mentions", overall=False)
    return [*sources, *[mams] * n_mams], list(found["mams"][:N_MENTIONS])


def main() -> int:
    """Train, export and say how long it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--teacher", required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="auto")
    given = parser.parse_args()
    began = time.perf_counter()

    def say(what: object) -> None:
        print(f"{time.perf_counter() - began:.0f} s: {what}", flush=True)

    found = read_training(given.data).sentences
    sources, mentions = sources_of(found)
    held = [read_reviews(given.data / f"amazon/{name}-dev.txt")[0] for name in HELD_OUT]
    common: dict[str, Any] = {"mentions": mentions, "device": given.device, "observer": LogObserver(say)}
    given.work.mkdir(parents=True, exist_ok=True)
    folders = [given.work / f"teacher-{number}" for number, _ in enumerate(TEACHERS, 1)]
    for folder, (schedule, n_mams) in zip(folders, TEACHERS, strict=True):
        if not folder.is_dir():
            learned, _ = sources_of(found, n_mams)
            train_joint(learned, held, folder, encoder=given.teacher, schedule=schedule, **common)
    teachers = [
        Teacher(model, runtime.pieces) for runtime, model in (load_with_model(each, given.device) for each in folders)
    ]
    known = [
        sentence.text for name, inside in found.items() for sentence in inside[N_MENTIONS if name == "mams" else 0 :]
    ]
    raw = list(dict.fromkeys(raw_sentences(given.data / "amazon" / "unlabelled")))
    pieces = WordPieces(Pretrained.open(given.encoder).tokenizer.backend_tokenizer)
    taught = list(teach(teachers, [*random.Random(0).sample(raw, min(N_RAW, len(raw))), *known], pieces))
    say(f"{len(taught)} sentences are labelled by the teachers")
    train_joint(sources, held, given.work / "final", encoder=given.encoder, schedule=FINAL, taught=taught, **common)
    export_joint(given.work / "final", given.out)
    say(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
