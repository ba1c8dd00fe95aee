"""A finished run in words: its model card (`README.md`), its scores beside the majority baseline, and what would help most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pssa import models
from pssa.data.files import write_atomically
from pssa.display import percent
from pssa.errors import setting
from pssa.evaluation.metrics import f1_of
from pssa.runs import methods
from pssa.runs.calibration import describe_calibration
from pssa.runs.settings import Config

_MIN_COVERAGE = 0.9  # of the training tokens by word vectors
_MIN_SHARE, _MIN_COUNT = 0.1, 30  # of the instances that have a label
_FEW = 500  # instances
_ENGLISH = "en"
_MULTILINGUAL = "FacebookAI/xlm-roberta-base"  # has learned a hundred languages

_CARD = """---
library_name: pssa
tags: [{tag}]
---
# {title}

{about}

```python
{example}
```

| | |
|---|---|
{table}

{selection} Measure a test score with `{command}`. Every setting is in `config.toml`.
"""
_EXAMPLE = """\
import pssa

classifier = pssa.load("path/to/this/directory")
classifier.predict("The screen is great but the battery is weak.", "battery").label"""
_TAGGER_EXAMPLE = """\
from pssa.aspects import load_finder

finder = load_finder("path/to/this/directory")
finder.find("The screen is great but the battery is weak.")"""
_OWN_DEV = "Separate development data gave the development score and chose the number of epochs; it was not trained on."
_HELD_OUT = """\
The development score was measured on {share} of the training data, held out by sentence, which chose the number of epochs.
Then the model was trained again on all of the training data."""
_VOTING = " Its probabilities are shares of the members' votes; they do not say how sure a member was."


def write_card(path: Path, config: Config, metrics: dict[str, Any]) -> None:
    """Write the card of a finished run."""
    facts, data, dev = describe_run(config, metrics), config.data, metrics["dev"]
    if dev is None:
        why = "was given" if config.epochs else "is the default for so many instances"
        score = f"none: the number of epochs {why}, so nothing was held out; measure one with `pssa evaluate RUN --data FILE`"
        selection = f"The number of epochs {why}: no development data was used, and nothing was selected."
    else:
        score = f"accuracy {percent(dev['accuracy'])}, macro-F1 {percent(dev['macro_f1'])}{facts['when']}"
        # `data.dev` is empty where the data came as a value and not as a file.
        has_own = (path.parent / "stages" / "dev.jsonl").is_file()
        selection = _OWN_DEV if has_own else _HELD_OUT.format(share=percent(data.dev_fraction, 0))
    rows = [
        ("model", f"`{config.model}`, {facts['parameters']} trained parameters{facts['members']}"),
        ("method", f"`{config.method}`{facts['method']}"),
        *([("preset", f"`{config.preset}`")] if config.preset else []),
        ("training data", facts["data"]),
        ("data digest", f"`{facts['digest']}`"),
        ("epochs", facts["epochs"]),
        ("development score", score),
        ("calibration", facts["calibration"]),
        _words_or_encoder(config, metrics),
    ]
    if data.from_pretrained is not None:
        rows.append(("started from", f"the run `{Path(data.from_pretrained).name}`, digest `{data.from_digest}`"))
    card = _CARD.format(
        tag="aspect-based-sentiment-analysis",
        title=f"{config.model} ({config.method})",
        about=f"Classifies what a text says about one aspect in it, as one of: {', '.join(data.labels)}.",
        example=_EXAMPLE,
        table=_table([*rows, ("seed", str(config.seed))]),
        selection=selection + (_VOTING if metrics["members"] > 1 else ""),
        command="pssa evaluate",
    )
    write_atomically(path, card.encode())


def write_tagger_card(path: Path, config: Config, metrics: dict[str, Any]) -> None:
    """Write the card of a finished tagger."""
    dev, (source, started) = metrics["dev"], _words_or_encoder(config, metrics)
    kind = "pretrained encoder" if source == "encoder" else "Bi-LSTM on words"
    selection = "The number of epochs was given: nothing was held out."
    if dev:
        share = percent(config.data.dev_fraction, 0)
        held_out = f"{share} of the sentences were held out to choose the number of epochs"
        selection = f"{held_out}; then it was trained again on all."
    sentences = f"{metrics['sentences']} sentences, {metrics['empty']} of them without aspects"
    rows = [
        ("model", f"{kind}, {metrics['parameters']:,} trained parameters"),
        (source, started),
        ("training data", f"{sentences}, {metrics['aspects']} aspects"),
        ("data digest", f"`{metrics['corpus_hash'][:16]}`"),
        ("epochs", metrics["epochs"]),
        ("held-out score", f"exact-span F1 {percent(dev['f1'])}" if dev else "none"),
        ("seed", config.seed),
    ]
    card = _CARD.format(
        tag="aspect-term-extraction",
        title=f"Aspect tagger ({kind})",
        about="Finds the aspects that a text speaks of, such as `battery life` or `staff`. It does not judge them.",
        example=_TAGGER_EXAMPLE,
        table=_table(rows),
        selection=selection,
        command="pssa aspects evaluate",
    )
    write_atomically(path, card.encode())


def _table(rows: Iterable[tuple[str, object]]) -> str:
    return "\n".join(f"| {name} | {value} |" for name, value in rows)


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


@dataclass(frozen=True)
class NamedScore:
    """Accuracy and macro-F1, and what they are those of."""

    name: str
    accuracy: float
    macro_f1: float


def majority_score(counts: Mapping[str, int]) -> NamedScore:
    """Return the score of always predicting the most frequent label, by its name, from the numbers of instances by label."""
    label = max(counts, key=lambda name: counts[name])
    share = counts[label] / max(sum(counts.values()), 1)
    # Precision is the share, recall is 1; all other labels have an F1 of 0.
    return NamedScore(label, share, 2 * share / (1 + share) / len(counts))


def held_out_score(config: Config, metrics: dict[str, Any]) -> NamedScore | None:
    """Return the score on instances that are new to the model that was scored, by their name; None if there are none.

    It is that of the search, else that of other held-out predictions.
    """
    if dev := metrics["dev"]:
        when = describe_run(config, metrics)["when"]
        return NamedScore(f"held-out training data{when}", dev["accuracy"], dev["macro_f1"])
    held_out = metrics.get("held_out")
    if not held_out or not np.sum(held_out["confusion"]):
        return None
    confusion = np.array(held_out["confusion"], dtype=np.float64)
    accuracy = float(confusion.trace() / confusion.sum())
    return NamedScore(held_out["source"], accuracy, float(f1_of(confusion).mean()))


def advise(config: Config, metrics: Mapping[str, Any]) -> list[str]:
    """Return what would help most, the most promising first; empty if nothing stands out."""
    few = metrics["instances"] < _FEW
    more = [f"more labelled data: {metrics['instances']} instances are few"] if few else []
    return [*_better_start(config, metrics), *_weak_labels(metrics), *more]


def _better_start(config: Config, metrics: Mapping[str, Any]) -> list[str]:
    if models.uses_encoder(config.model):
        return []
    found = []
    coverage, languages = metrics.get("vector_coverage"), metrics.get("languages") or [_ENGLISH]
    language = "" if _ENGLISH in languages else str(languages[0])  # English too where it is unknown, as in older runs
    if coverage is None:
        vectors = setting("vectors", f"cc.{language}.300.vec.gz" if language else "glove.840B.300d.zip")
        what = f"word vectors, with {vectors}" + (", from fastText" if language else "")
        found.append(f"{what}: without them a model knows only the words of its training data")
    elif coverage["tokens"] < _MIN_COVERAGE:
        such = f", such as cc.{language}.300.vec.gz from fastText" if language else ""
        found.append(f"word vectors that fit these texts{such}: yours cover {percent(coverage['tokens'])} of the words")
    name = _MULTILINGUAL if language else "DIR"
    encoder = setting(f"model='bertabsa_att', encoder={name}", option=f"--model bertabsa_att --encoder {name}")
    what = "a pretrained encoder of many languages" if language else "a pretrained encoder"
    found.append(f"{what}, with {encoder}: models on an encoder score best")
    return found


def _weak_labels(metrics: Mapping[str, Any]) -> list[str]:
    """Name the label that has too few instances or, where all have enough, the one that is predicted worst."""
    counts: Mapping[str, int] = metrics["labels"]
    total = sum(counts.values())
    rare = [label for label, count in counts.items() if count < max(_MIN_COUNT, _MIN_SHARE * total)]
    if rare:
        label = min(rare, key=lambda name: counts[name])
        return [f"more instances labelled {label}: there are {counts[label]} of {total}"]
    held_out = metrics.get("held_out")
    if not held_out or len(held_out["labels"]) < 3:
        return []
    found = f1_of(np.array(held_out["confusion"], dtype=np.float64)).tolist()
    scores: dict[str, float] = dict(zip(held_out["labels"], found, strict=True))
    worst = min(scores, key=lambda name: scores[name])
    return [f"more instances labelled {worst}, the label it predicts worst: F1 {percent(scores[worst])}"]
