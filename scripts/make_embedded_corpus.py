"""Write the embedded corpus: `python scripts/make_embedded_corpus.py [--out FOLDER]`.

The same seed gives the same files byte for byte. Run `scripts/check_embedded_corpus.py` after a change.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from embedded.corpus import PACKAGED, build, to_json_lines

__all__ = ["main"]

SEED = 20


def main() -> None:
    """Write train.jsonl and test.jsonl."""
    parser = argparse.ArgumentParser(description="Write the embedded corpus.")
    parser.add_argument("--out", type=Path, default=PACKAGED, help="folder for train.jsonl and test.jsonl")
    folder: Path = parser.parse_args().out
    for split, examples in build(SEED).items():
        with (folder / f"{split}.jsonl").open("w", encoding="utf-8", newline="\n") as file:
            file.write(to_json_lines(examples))
        print(f"{folder / split}.jsonl: {len(examples)} instances")


if __name__ == "__main__":
    main()
