"""Check the embedded corpus: `python scripts/check_embedded_corpus.py [--folder FOLDER]`.

Prints its statistics and whether it keeps its promises; exits 1 if it breaks one. That each aspect stands where its
offsets say is checked by the reader.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from embedded.corpus import PACKAGED
from embedded.counts import Reading, count_frequent, count_rare, measure, read_cues
from embedded.expectations import Expectation, examine
from embedded.vocabulary import FREQUENT, rare_words

from pssa.data.example import DEFAULT_LABELS, Corpus
from pssa.data.io import read
from pssa.errors import InputError

__all__ = ["main"]


def main() -> int:
    """Print the tables; 1 if something is off."""
    parser = argparse.ArgumentParser(description="Check the embedded corpus.")
    parser.add_argument("--folder", type=Path, default=PACKAGED, help="where train.jsonl and test.jsonl are")
    folder: Path = parser.parse_args().folder
    try:
        splits = {split: read(folder / f"{split}.jsonl") for split in ("train", "test")}
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    _show_shares(splits)
    train, test = (read_cues(splits[split]) for split in ("train", "test"))
    misleading = [reading for reading in test if "misleading" in reading.example.tags]
    _show_frequent({"train": train, "test": test, "test/misleading": misleading})
    _show_rare(train, test)
    return _show_expectations(examine(splits))


def _show_shares(splits: Mapping[str, Corpus]) -> None:
    print(f"{'':<24}{'train':>10}{'test':>10}")
    train, test = (measure(splits[split]) for split in ("train", "test"))
    for name in ("instances", "sentences", "handwritten"):
        print(f"{name:<24}{getattr(train, name):>10}{getattr(test, name):>10}")
    for label in DEFAULT_LABELS:
        print(f"{label:<24}{train.labels[label]:>10.1%}{test.labels[label]:>10.1%}")
    for name in ("several_aspects", "mixed", "opposed", "negation"):
        print(f"{name:<24}{getattr(train, name):>10.1%}{getattr(test, name):>10.1%}")


def _show_frequent(parts: Mapping[str, Sequence[Reading]]) -> None:
    print("\nfrequent words: labels of the aspects they belong to (positive/negative/neutral)")
    print(f"{'':<24}" + "".join(f"{part:>18}" for part in parts))
    for word in FREQUENT:
        print(f"{word:<24}" + "".join(f"{_triple(count_frequent(part, word)):>18}" for part in parts.values()))


def _triple(counts: Counter[str | None]) -> str:
    return "/".join(str(counts[label]) for label in DEFAULT_LABELS)


def _show_rare(train: Sequence[Reading], test: Sequence[Reading]) -> None:
    print("\nrare words: times in train + times in test")
    for label in DEFAULT_LABELS:
        words = [word.text for word in rare_words() if word.label == label]
        counted = (f"{word} {count_rare(train, word).total()}+{count_rare(test, word).total()}" for word in words)
        print(f"{label} ({len(words)}): " + ", ".join(counted))


def _show_expectations(expectations: Sequence[Expectation]) -> int:
    print("\npromises")
    for expectation in expectations:
        print(f"{'ok ' if expectation.holds else 'OFF'} {expectation.what}: {expectation.found}")
    broken = sum(not expectation.holds for expectation in expectations)
    print(f"\n{len(expectations) - broken} of {len(expectations)} promises kept")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
