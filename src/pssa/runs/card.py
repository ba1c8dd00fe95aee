"""The model card: `README.md` of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pssa import models
from pssa.data.files import write_atomically
from pssa.display import percent
from pssa.runs import methods
from pssa.runs.calibration import describe_calibration
from pssa.runs.settings import Config

_CARD = """---
library_name: pssa
tags: [aspect-based-sentiment-analysis]
---
# {model} ({method})

Classifies what a text says about one aspect in it, as one of: {labels}.

```python
import pssa

classifier = pssa.load("path/to/this/directory")
classifier.predict("The screen is great but the battery is weak.", "battery").label
```

| | |
|---|---|
| model | `{model}`, {facts[parameters]} trained parameters{facts[members]} |
| method | `{method}`{facts[method]} |{preset}
| training data | {facts[data]} |
| data digest | `{facts[digest]}` |
| epochs | {facts[epochs]} |
| development score | {dev} |
| calibration | {facts[calibration]} |
| {source} | {vectors} |{start}
| seed | {seed} |

{selection}{voting} Measure a test score with `pssa evaluate`. Every setting is in `config.toml`.
"""

_GIVEN = "The number of epochs was given: no development data was used, and nothing was selected."
_USUAL = (
    "The number of epochs is the default for so many instances: no development data was used, and nothing was selected."
)
_OWN_DEV = "Separate development data gave the development score and chose the number of epochs; it was not trained on."
_HELD_OUT = """\
The development score was measured on {share} of the training data, held out by sentence, which chose the number of epochs.
Then the model was trained again on all of the training data."""

_NO_SCORE = (
    "none: the number of epochs {why}, so nothing was held out; measure one with `pssa evaluate RUN --data FILE`"
)
_TAGGER_CARD = """---
library_name: pssa
tags: [aspect-term-extraction]
---
# Aspect tagger ({kind})

Finds the aspects that a text speaks of, such as `battery life` or `staff`. It does not judge them.

```python
from pssa.aspects import load_finder

finder = load_finder("path/to/this/directory")
finder.find("The screen is great but the battery is weak.")
```

| | |
|---|---|
| model | {kind}, {metrics[parameters]:,} trained parameters |
| {source} | {started} |
| training data | {metrics[sentences]} sentences, {metrics[empty]} of them without aspects, {metrics[aspects]} aspects |
| data digest | `{digest}` |
| epochs | {metrics[epochs]} |
| held-out score | {dev} |
| seed | {seed} |

{selection} Measure a test score with `pssa aspects evaluate`. Every setting is in `config.toml`.
"""
_VOTING = " Its probabilities are shares of the members' votes; they do not say how sure a member was."


def write_card(path: Path, config: Config, metrics: dict[str, Any]) -> None:
    """Write the card of a finished run."""
    dev, facts, started, run = metrics["dev"], describe_run(config, metrics), config.data, path.parent
    source, vectors = _words_or_encoder(config, metrics)
    start = ""
    if started.from_pretrained is not None:
        origin = f"the run `{Path(started.from_pretrained).name}`, digest `{started.from_digest}`"
        start = f"\n| started from | {origin} |"
    if dev is None:
        selection = _GIVEN if config.epochs else _USUAL
    elif (
        run / "stages" / "dev.jsonl"
    ).is_file():  # `data.dev` is empty where the data came as a value and not as a file
        selection = _OWN_DEV
    else:
        selection = _HELD_OUT.format(share=percent(started.dev_fraction, 0))
    card = _CARD.format(
        model=config.model,
        method=config.method,
        labels=", ".join(config.data.labels),
        voting=_VOTING if metrics["members"] > 1 else "",
        facts=facts,
        dev=f"accuracy {percent(dev['accuracy'])}, macro-F1 {percent(dev['macro_f1'])}{facts['when']}"
        if dev
        else _NO_SCORE.format(why="was given" if config.epochs else "is the default for so many instances"),
        source=source,
        vectors=vectors,
        start=start,
        preset=f"\n| preset | `{config.preset}` |" if config.preset else "",
        seed=config.seed,
        selection=selection,
    )
    write_atomically(path, card.encode())


def write_tagger_card(path: Path, config: Config, metrics: dict[str, Any]) -> None:
    """Write the card of a finished tagger."""
    dev, (source, started) = metrics["dev"], _words_or_encoder(config, metrics)
    share = percent(config.data.dev_fraction, 0)
    searched = (
        f"{share} of the sentences were held out to choose the number of epochs; then it was trained again on all."
    )
    card = _TAGGER_CARD.format(
        kind="pretrained encoder" if source == "encoder" else "Bi-LSTM on words",
        source=source,
        started=started,
        metrics=metrics,
        digest=metrics["corpus_hash"][:16],
        dev=f"exact-span F1 {percent(dev['f1'])}" if dev else "none",
        seed=config.seed,
        selection=searched if dev else "The number of epochs was given: nothing was held out.",
    )
    write_atomically(path, card.encode())


def _words_or_encoder(config: Config, metrics: dict[str, Any]) -> tuple[str, str]:
    """Return what a model reads text with, and its name or how many of the training words it covers."""
    coverage, encoder = metrics["vector_coverage"], config.data.encoder
    if encoder is not None:
        # Only the name of a local folder: the rest of the path is nobody's business.
        return "encoder", f"`{Path(encoder).name if Path(encoder).is_absolute() else encoder}`"
    source = "encoder" if models.uses_encoder(config.model) else "word vectors"
    return source, f"cover {percent(coverage['tokens'])} of the training tokens" if coverage else "none"


def describe_run(config: Config, metrics: dict[str, Any]) -> dict[str, str]:
    """Return the facts of a finished run in words, for its card and its report."""
    counts = ", ".join(f"{count} {label}" for label, count in metrics["labels"].items())
    dropped = "".join(f"; {count} dropped as {reason}" for reason, count in metrics["dropped"].items())
    members = f", {metrics['members']} members that vote" if metrics["members"] > 1 else ""
    not_searched = " (given, not searched)" if config.epochs else " (default for so many instances, not searched)"
    copies = ", with contrast copies" if config.training.augment == "contrast" else ""
    if not metrics.get("gate", {"supervised": True})["supervised"]:
        copies += "; trained without its evidence, which scored lower on held-out data"
    given = bool(config.supervision.evidence)
    when = ", without the evidence" if given else ", before mining" if methods.find(config.method).mines else ""
    return {
        "method": copies,
        "parameters": f"{metrics['parameters']:,}",
        "members": members,
        "data": f"{metrics['instances']} instances ({counts}){dropped}",
        "digest": metrics["corpus_hash"][:16],
        "epochs": f"{metrics['epochs']}{'' if metrics['dev'] else not_searched}",
        "calibration": describe_calibration(metrics.get("calibration")),  # older runs have none
        # When the development score was measured.
        "when": when if config.supervision.final_epochs == "initial" else "",
    }
