"""Ours: `pssa predict` as the command runs it. Reading rows and writing the output are part of its time, loading the run is not.

python -m rivals.ours train --model bertabsa_att --rows F --encoder E --out RUN --epochs N
python -m rivals.ours score --rows F --run RUN [--options precision=bfloat16]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from scoring import predict_seconds

import pssa
from pssa.predict import Scoring

_RATE = 1e-4  # as every contender


def main() -> None:
    """Train or score, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("train", "score"))
    parser.add_argument("--model")
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--encoder", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--run", type=Path)
    parser.add_argument("--options", default="", help="options of the scoring, such as precision=bfloat16")
    arguments = parser.parse_args()
    said = _train(arguments) if arguments.action == "train" else _score(arguments)
    versions = {name: version(name) for name in ("pssa", "transformers", "torch")}
    print("\n" + json.dumps({**said, "versions": versions}))


def _train(arguments: argparse.Namespace) -> dict[str, Any]:
    how = {"model": arguments.model, "encoder": str(arguments.encoder), "learning_rate": _RATE}
    pssa.train(arguments.rows, arguments.out, epochs=arguments.epochs, device="cpu", **how)
    return {"trained": str(arguments.out)}


def _score(arguments: argparse.Namespace) -> dict[str, Any]:
    given = dict(option.split("=") for option in arguments.options.split(",") if option)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.jsonl"
        seconds = predict_seconds(arguments.run, arguments.rows, out, Scoring(device="cpu", **given))
        found = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    right = sum(row["gold"] == row["label"] for row in found)
    return {"rows": len(found), "seconds": seconds, "accuracy": right / len(found)}


if __name__ == "__main__":
    main()
