"""`train_reviews`: a joint model from files or rows, with settings as of any other training."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pssa.aspects.sentences import split_review
from pssa.data.example import DEFAULT_LABELS, Corpus
from pssa.data.fields import CONFLICT
from pssa.data.formats import find_format
from pssa.data.io import format_of, read
from pssa.data.reviews import Opinion, Review, read_reviews
from pssa.data.text_file import InputFile
from pssa.data.validation import nearest_name
from pssa.errors import InputError, setting
from pssa.joint.run import train_joint
from pssa.joint.training import AnnotatedSentences, JointSchedule
from pssa.runs.directory import RunDirectory
from pssa.runs.run_names import STARTER
from pssa.training import Observer

_SETTINGS: dict[str, Any] = {  # with their defaults
    "encoder": None,
    "from_pretrained": None,
    "dev": None,
    "dev_fraction": 0.2,
    "labels": DEFAULT_LABELS,
    "epochs": None,
    "learning_rate": 1.5e-4,
    "seed": 0,
    "device": "auto",
}
_OPTIONS = {"from_pretrained": "--from", "learning_rate": "--lr"}  # whose names differ from those of the settings
_READING = ("format", "encoding", "errors", "label_map", "columns", "occurrence")
_EPOCHS, _MIN_STEPS = 4, 80  # unless a number of epochs is given


def train_reviews(
    data: Any,
    out: str | Path,
    settings: Mapping[str, Any],
    observer: Observer | None = None,
) -> Path:
    """Train a joint model.

    Files that list all opinions of each text (triplets, quadruples, SemEval XML) teach it to find aspects and to label them.
    Rows of a text, an aspect and a label teach it labels alone: it starts from a run, and goes on finding as that does.

    :param data: a file, several, or rows as for any other training.
    :param settings: by name, as of any other training: `encoder`, `dev`, `dev_fraction`, `labels`, `epochs`, `learning_rate`,
        `seed`, `device`, and how files are read: `format`, `encoding`, `errors`, `label_map`, `columns` and `occurrence`.
    :raises InputError: if a file, a setting or `out` cannot be used.
    """
    values = _resolve(settings)
    reading = {name: settings[name] for name in _READING if name in settings} | {"labels": values["labels"]}
    RunDirectory.refuse_taken(Path(out))
    several = isinstance(data, (list, tuple)) and all(isinstance(each, (str, Path)) for each in data)
    files = list(data) if several else [data]
    found = [_read(each, reading) for each in files]
    groups, listed = [reviews for reviews, _ in found], [lists_all for _, lists_all in found]
    finds = all(listed)
    if not finds and values["from_pretrained"] is None:
        what = "rows of a text, an aspect and a label do not say which aspects there are"
        start = setting("from_pretrained", STARTER, option=f"--from {STARTER}")
        raise InputError(f"{what}; start from a run that finds them: {start}")
    if values["dev"] is not None:
        held = _read(values["dev"], reading)[0]
    else:
        groups, held = _hold_out(groups, values["dev_fraction"], values["seed"])
    labels = {opinion.label for reviews in (*groups, held) for review in reviews for opinion in review.opinions}
    if undeclared := sorted(labels - {*values["labels"], CONFLICT}):
        raise InputError(f"the data have the label {undeclared[0]!r}; declare it with {setting('labels')}")
    sources = []
    for reviews, lists_all in zip(groups, listed, strict=True):
        sentences = [sentence for review in reviews for sentence in split_review(review)[0]]
        # Formats that list aspects alone mark those without an opinion too, and say nothing of opinions about the whole.
        has_words = any(opinion.words for review in (*reviews, *held) for opinion in review.opinions)
        kind = ("opinions" if has_words else "all") if lists_all else "some"
        sources.append(AnnotatedSentences(sentences, kind, has_words and lists_all))
    return train_joint(
        sources,
        [held],
        out,
        encoder=values["encoder"] or "",
        start=None if values["from_pretrained"] is None else Path(values["from_pretrained"]),
        labels=values["labels"],
        schedule=JointSchedule(
            values["epochs"] or _EPOCHS,
            values["learning_rate"],
            min_steps=0 if values["epochs"] else _MIN_STEPS,
            seed=values["seed"],
        ),
        device=values["device"],
        observer=observer,
        finds=finds,
    )


def _resolve(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with their defaults, if they can be used together."""
    if unknown := sorted(settings.keys() - {*_SETTINGS, *_READING}):
        known = {name: setting(name, option=_OPTIONS.get(name, "")) for name in (*_SETTINGS, *_READING)}
        near = nearest_name(unknown[0], known)
        advice = f"did you mean {known[near]}?" if near else f"known: {', '.join(known.values())}"
        raise InputError(f"{setting(unknown[0])} is not a setting of the model joint; {advice}")
    values = _SETTINGS | dict(settings)
    if bool(values["encoder"]) == bool(values["from_pretrained"]):
        example = setting("encoder", "sentence-transformers/all-MiniLM-L6-v2")
        start = setting("from_pretrained", "RUN", option="--from RUN")
        raise InputError(f"the model joint starts from a pretrained encoder, such as {example}, or from a run: {start}")
    if not 0 < values["dev_fraction"] < 1:
        raise InputError(f"dev_fraction is {values['dev_fraction']}; it must be greater than 0 and less than 1")
    if (values["epochs"] is not None and values["epochs"] < 1) or not values["learning_rate"] > 0:
        raise InputError("expected at least one epoch and a learning rate above 0")
    return values


def _hold_out(
    groups: Sequence[Sequence[Review]], share: float, seed: int
) -> tuple[list[Sequence[Review]], Sequence[Review]]:
    """Return what is left of each group, and the reviews that were drawn from all."""
    order = [(group, row) for group, reviews in enumerate(groups) for row in range(len(reviews))]
    random.Random(seed).shuffle(order)
    drawn = {*order[: min(len(order) - 1, max(1, round(share * len(order))))]}
    rest: list[Sequence[Review]] = [
        tuple(review for row, review in enumerate(reviews) if (group, row) not in drawn)
        for group, reviews in enumerate(groups)
    ]
    return rest, tuple(groups[group][row] for group, row in sorted(drawn))


def _read(source: Any, reading: Mapping[str, Any]) -> tuple[Sequence[Review], bool]:
    """Return the texts with their opinions, and whether the source lists all opinions of a text."""
    if isinstance(source, (str, Path)):
        file = InputFile.of(source, reading.get("encoding"))
        if find_format(format_of(file, reading.get("format"))).lists_all_aspects:
            return read_reviews(source, **reading)[0], True
    examples = source.examples if isinstance(source, Corpus) else read(source, **reading).examples
    texts: dict[str, list[Opinion]] = {}
    for example in examples:
        if example.label is not None:
            texts.setdefault(example.text, []).append(Opinion(example.label, example.aspect_chars))
    return [Review(text, tuple(opinions)) for text, opinions in texts.items()], False
