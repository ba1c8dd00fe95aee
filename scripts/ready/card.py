"""Write the card of the model in the box from its scores.

python benchmarks/ready_model.py starter --data DATA --part test --json > results/starter.json
python scripts/ready/card.py results/starter.json src/pssa/ready/README.md
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

CARD = """---
library_name: pssa
language: en
license: apache-2.0
base_model: sentence-transformers/all-MiniLM-L6-v2
tags: [aspect-based-sentiment-analysis]
---
# The model that comes with pssa

Finds the aspects of English reviews of products and services, labels each as positive, negative or neutral, judges opinions whose
aspect is not named, and shows the words that count: its attention.

```python
import pssa

pssa.load("starter").predict("The screen is great but the battery is weak.")
```

| | |
|---|---|
| model | `joint`: MiniLM (six layers, 384 wide) read once per sentence; tags, labels by attention, overall label |
| format | the encoder as ONNX in eight bits, four small layers in single precision, answered by ONNX Runtime and numpy |
| trained on | 26,795 annotated sentences of DMASTE, ROAST, MAMS and TSA-MD, and 160,000 raw sentences of Amazon reviews |
| attention | supervised with the opinion words that people marked in DMASTE and ROAST |
| teachers | three models on mpnet-base, trained on the annotations, gave the raw sentences probabilities |
| thresholds, calibration | chosen on the development sets of book, grocery, pet and toy reviews |
| not good at | other languages, pronouns, conditions, comparisons, reviews unlike all of these |

## Scores on test sets

No annotation of these domains was trained on; raw reviews of book, grocery, pet and toy were, without labels. Spans are exact.

{table}

{more}

## Licences

The weights are Apache-2.0, as those that they were fine-tuned from (all-MiniLM-L6-v2, Apache-2.0). Annotations: DMASTE (MIT
License, Copyright (c) NJUNLP), ROAST, MAMS and TSA-MD (Apache-2.0); teacher: mpnet-base (MIT). No text of them is in this folder.
The file NOTICE of the package names the authors.
"""
DOMAINS = ("book", "grocery", "pet", "toy")


def tables(scores: dict[str, Any]) -> tuple[str, str]:
    """Return the table of the four unseen domains with their mean, and that of the other sets."""
    head = "| Amazon reviews | spans F1 | labels, accuracy (commonest) | macro-F1 | top word | overall, accuracy | macro-F1 |"
    rows = [head, "|---|---|---|---|---|---|---|"]
    for name in DOMAINS:
        found = scores[f"amazon {name}"]
        labels, overall = found["labels"], found["overall"]
        accuracy = f"{_points(labels['accuracy'])} ({_points(labels['commonest_share'])})"
        values = (accuracy, labels["macro_f1"], found["top_word"], overall["accuracy"], overall["macro_f1"])
        rows.append(_row(name, found["spans"]["f1"], *values))
    mean = scores["mean of four"]
    rows.append(_row("**mean**", *(mean[name] for name in mean)))
    more = ["| other reviews | spans F1, all mentions | labels, accuracy | labels, macro-F1 |", "|---|---|---|---|"]
    for name, spans in scores["spans of mentions"].items():
        labels = scores["labels"][name]
        more.append(_row(name, spans["f1"], labels["accuracy"], labels["macro_f1"]))
    return "\n".join(rows), "\n".join(more)


def _row(name: str, *values: float | str) -> str:
    return f"| {name} | " + " | ".join(each if isinstance(each, str) else _points(each) for each in values) + " |"


def _points(share: float) -> str:
    return f"{100 * share:.1f}"


def main() -> int:
    """Write the card."""
    table, more = tables(json.loads(Path(sys.argv[1]).read_text("utf-8")))
    Path(sys.argv[2]).write_text(CARD.format(table=table, more=more), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
