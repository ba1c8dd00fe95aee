"""The model card: `README.md` of a run, for whoever finds the directory without having made it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pssa.data.atomic import write_atomically
from pssa.runs.config import Config

__all__ = ["write_card"]

_CARD = """---
library_name: pssa
tags: [aspect-based-sentiment-analysis]
---
# {model} ({method})

Classifies the sentiment that a text expresses about one aspect in it, as one of: {labels}.

```python
import pssa

classifier = pssa.load("path/to/this/directory")
classifier.predict("The screen is great but the battery is weak.", "battery").label
```

| | |
|---|---|
| model | `{model}`, {parameters:,} trained parameters{members} |
| method | `{method}` |
| training data | {instances} instances ({counts}){dropped} |
| data digest | `{digest}` |
| epochs | {epochs} |
| development score | {dev} |
| word vectors | {vectors} |
| seed | {seed} |

The development score is of held-out training data, by sentence; it chose the number of epochs, after which the model was fitted
again on all of train. It is no test score: measure one with `pssa evaluate`. Every setting is in `config.toml`.
"""


def write_card(path: Path, config: Config, metrics: dict[str, Any]) -> None:
    """Write the card from what the run knows of itself."""
    dev, coverage, dropped = metrics["dev"], metrics["vector_coverage"], metrics["dropped"]
    card = _CARD.format(
        model=config.model,
        method=config.method,
        labels=", ".join(config.data.labels),
        parameters=metrics["parameters"],
        members=f", {metrics['members']} members that vote" if metrics["members"] > 1 else "",
        instances=metrics["instances"],
        counts=", ".join(f"{count} {label}" for label, count in metrics["labels"].items()),
        dropped="".join(f"; {count} dropped as {reason}" for reason, count in dropped.items()),
        digest=metrics["corpus_hash"][:16],
        epochs=f"{metrics['epochs']}{'' if dev else ' (given, not searched)'}",
        dev=f"accuracy {dev['accuracy']:.4f}, macro-F1 {dev['macro_f1']:.4f}" if dev else "none",
        vectors=f"cover {coverage['tokens']:.1%} of the training tokens" if coverage else "none",
        seed=config.seed,
    )
    write_atomically(path, card.encode())
