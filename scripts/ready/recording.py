"""Record the digests of the model in the box and its answers to fixed texts, which tests/test_ready.py compares.

python scripts/ready/recording.py tests/fixtures/ready.json
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pssa
from pssa.runs.run_names import starter_run

TEXTS = (
    "The screen is huge but the battery dies within an hour.",
    "Great food, rude waiter, and the dessert was ordinary.",
    "Best vacuum ever!",
    "I was not disappointed with the plot, and the characters never bored me.",
    "My dog loves these treats. The bag arrived torn, though.",
    "I would not come back.",
    "The box has four screws and a manual.",
)


def main() -> int:
    """Write the record."""
    run, classifier = starter_run(), pssa.load("starter")
    record = {
        "digests": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(run.iterdir())},
        "answers": [
            {"text": text, "answers": [answer.as_dict() for answer in classifier.predict(text)]} for text in TEXTS
        ],
    }
    Path(sys.argv[1]).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
