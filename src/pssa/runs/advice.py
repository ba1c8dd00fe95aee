"""What a training reached, beside the majority baseline, and what would help most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pssa import models
from pssa.display import percent
from pssa.errors import setting
from pssa.evaluation.metrics import f1_of
from pssa.runs.card import describe_run
from pssa.runs.settings import Config

_MIN_COVERAGE = 0.9  # of the training tokens by word vectors
_MIN_SHARE, _MIN_COUNT = 0.1, 30  # of the instances that have a label
_FEW = 500  # instances
_ENGLISH = "en"
_MULTILINGUAL = "FacebookAI/xlm-roberta-base"  # has learned a hundred languages


@dataclass(frozen=True)
class MajorityBaseline:
    """Scores of always predicting the most frequent label."""

    label: str
    accuracy: float
    macro_f1: float

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> MajorityBaseline:
        """Return the baseline on data with these numbers of instances by label."""
        label = max(counts, key=lambda name: counts[name])
        share = counts[label] / max(sum(counts.values()), 1)
        # Precision is the share, recall is 1; all other labels have an F1 of 0.
        return cls(label, share, 2 * share / (1 + share) / len(counts))


@dataclass(frozen=True)
class HeldOutScore:
    """Scores of a training on instances that are new to the model that was scored."""

    accuracy: float
    macro_f1: float
    data: str  # in words

    @classmethod
    def of(cls, config: Config, metrics: dict[str, Any]) -> HeldOutScore | None:
        """Return that of the search, else that of other held-out predictions; None if there are none."""
        if dev := metrics["dev"]:
            when = describe_run(config, metrics)["when"]
            return cls(dev["accuracy"], dev["macro_f1"], f"held-out training data{when}")
        held_out = metrics.get("held_out")
        if not held_out or not np.sum(held_out["confusion"]):
            return None
        confusion = np.array(held_out["confusion"], dtype=np.float64)
        return cls(float(confusion.trace() / confusion.sum()), float(f1_of(confusion).mean()), held_out["source"])


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
