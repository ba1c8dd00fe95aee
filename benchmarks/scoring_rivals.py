"""Rows per second against what a user would run instead, on the same encoder, data and cores.

    python benchmarks/scoring_rivals.py --data DIR/laptop --encoder FOLDER --work DIR --setfit-python VENV/bin/python --out F.json

Every contender is a process of its own interpreter, trained on the same rows at the same settings, and scores the test rows over
and over. First each rival chooses its batch size on the first rows. Then all score in turns, so that whatever disturbs the
machine disturbs them alike; medians are compared. What was trained stays in `--work` and is used again.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import load_average, machine, write_rows

import pssa

_HERE = Path(__file__).resolve().parent
_BATCHES = "1,8,32,64"
_FEW = 320  # rows to choose a batch size by
# No network: every attempt to connect fails at once.
_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"} | dict.fromkeys(
    ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9"
)


@dataclass(frozen=True)
class Contender:
    """A process that scores."""

    name: str
    module: str  # of `rivals`
    python: str
    folder: str  # of its model, in the work folder
    model: str = ""  # of ours
    options: str = ""  # of ours
    epochs: int = 2

    @property
    def ours(self) -> bool:
        """Whether this is our package."""
        return self.module == "ours"


def contenders(setfit: str | None) -> list[Contender]:
    """Return the contenders that can run here."""
    own = sys.executable
    found = [
        Contender("pssa predict, bertabsa_att", "ours", own, "att", "bertabsa_att"),
        Contender("Hugging Face pipeline", "hugging_face_pipeline", own, "pipeline"),
        Contender("pssa predict, bertabsa_cls", "ours", own, "cls", "bertabsa_cls"),
        Contender("pssa predict, bertabsa_att, bfloat16", "ours", own, "att", "bertabsa_att", "precision=bfloat16"),
    ]
    if setfit:
        found.append(Contender("SetFit PolarityModel", "setfit_polarity", setfit, "setfit"))
    return found


def ask(contender: Contender, words: Sequence[str | Path]) -> dict[str, Any]:
    """Run a contender in a temporary folder and return the JSON of its last line."""
    environment = {**os.environ, **_OFFLINE, "PYTHONPATH": str(_HERE)}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [contender.python, "-m", f"rivals.{contender.module}", *map(str, words)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )
    if done.returncode != 0:
        raise SystemExit(f"{contender.name} ended with exit code {done.returncode}:\n{done.stderr[-2000:]}")
    said: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return said


def train(contender: Contender, rows: Path, encoder: Path, work: Path) -> None:
    """Train the contenders that have no model yet."""
    out = work / contender.folder
    if not out.exists():
        model = ["--model", contender.model] if contender.ours else []
        how: list[str | Path] = ["--encoder", encoder, "--out", out, "--epochs", str(contender.epochs)]
        ask(contender, ["train", *model, "--rows", rows, *how])
        print(f"trained {contender.name}", flush=True)


def score_words(contender: Contender, rows: Path, few: Path, work: Path) -> list[str | Path]:
    """Return the arguments to score with; a rival gets its best batch size on `few` rows."""
    model = work / contender.folder
    if contender.ours:
        return ["score", "--rows", rows, "--run", model, "--options", contender.options]
    rates = ask(contender, ["tune", "--rows", few, "--model", model, "--batch-sizes", _BATCHES])["rates"]
    best = max(rates, key=rates.__getitem__)
    shown = ", ".join(f"{size}: {rate:.1f}" for size, rate in rates.items())
    print(f"{contender.name}: rows/s by batch size {shown}; taken: {best}", flush=True)
    return ["score", "--rows", rows, "--model", model, "--batch-size", best]


def measure(ways: Mapping[Contender, list[str | Path]], repeats: int) -> list[dict[str, Any]]:
    """Measure all contenders in turns, with the load of the machine before each measurement."""
    found = []
    for turn in range(repeats):
        for contender, words in ways.items():
            load = load_average()
            said = ask(contender, words)
            found.append({**said, "contender": contender.name, "turn": turn, "load": load})
            print(f"{turn} {contender.name}: {said['rows'] / said['seconds']:.1f} rows/s, load {load}", flush=True)
    return found


def summary(ways: Mapping[Contender, list[str | Path]], found: Sequence[Mapping[str, Any]]) -> str:
    """Return a Markdown table of medians, and each contender as a multiple of the best rival."""
    rates: dict[str, float] = {}
    for way in ways:
        mine = [each["rows"] / each["seconds"] for each in found if each["contender"] == way.name]
        rates[way.name] = statistics.median(mine)
    best = max((rates[way.name] for way in ways if not way.ours), default=float("nan"))
    lines = ["| | batch | rows/s | times the best rival | accuracy |", "|---|---|---|---|---|"]
    for way in ways:
        each = next(each for each in found if each["contender"] == way.name)
        batch, rate = each.get("batch_size", ""), rates[way.name]
        accuracy = 100 * each["accuracy"]
        lines.append(f"| {way.name} | {batch} | {rate:.1f} | {rate / best:.2f} | {accuracy:.1f} |")
    return "\n".join(lines)


def parse() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with train.txt and test.txt")
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--setfit-python")
    parser.add_argument("--rows", type=int, default=2556)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--train-only", action="store_true")
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def main() -> None:
    """Train, tune, measure and print."""
    arguments = parse()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    pssa.read(arguments.data / "train.txt").write(work / "train.jsonl")
    test = pssa.read(arguments.data / "test.txt")
    rows, few = (write_rows(test, n, work / f"rows-{n}.jsonl") for n in (arguments.rows, min(_FEW, arguments.rows)))
    every = contenders(arguments.setfit_python)
    for contender in every:
        train(contender, work / "train.jsonl", arguments.encoder.resolve(), work)
    if arguments.train_only:
        return
    ways = {contender: score_words(contender, rows, few, work) for contender in every}
    found = measure(ways, arguments.repeats)
    if arguments.out:
        arguments.out.write_text(json.dumps({"machine": machine(), "measurements": found}, indent=1) + "\n")
    print(summary(ways, found))


if __name__ == "__main__":
    main()
