"""`train_reviews`: a joint model from files or rows, with settings as of any other training."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pssa import models
from pssa.aspects.sentences import split_review
from pssa.data.example import DEFAULT_LABELS, Corpus
from pssa.data.formats import find_format
from pssa.data.formats.hugging_face import PREFIX
from pssa.data.io import ReadOptions, format_of, read
from pssa.data.labels import CONFLICT
from pssa.data.reviews import Opinion, Review, read_reviews
from pssa.data.text_file import InputFile
from pssa.data.validation import nearest_name
from pssa.errors import InputError, PssaWarning, setting
from pssa.joint.run import MODEL, train_joint
from pssa.joint.training import AnnotatedSentences, JointSchedule
from pssa.runs.directory import RunDirectory
from pssa.runs.loading import is_joint
from pssa.runs.resolve import MIN_INSTANCES
from pssa.runs.run_names import STARTER, resolve_run
from pssa.runs.settings import Config, flatten, option_fields
from pssa.runs.warm_start import SCRATCH, starter_knows
from pssa.training import Observer, Team

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
_READING = ("format", "encoding", "errors", "label_map", "columns", "occurrence", "conflict")
_OF_OTHERS = {"method", "preset", "vectors", "evidence"}  # that are clearly for another model
_EPOCHS, _MIN_STEPS = 4, 80  # unless a number of epochs is given


def is_joint_training(settings: Mapping[str, Any]) -> bool:
    """Return whether these settings train a joint model: one is named, or nothing that it does not take."""
    given = _bare(settings)
    if "model" in given:
        return bool(given["model"] == MODEL)
    if start := given.get("from_pretrained"):
        return str(start) != SCRATCH and is_joint(resolve_run(start))
    others = sorted(given.keys() - {*_SETTINGS, *_READING, "train"})
    usual = Config().model
    known = {name.rpartition(".")[2] for name in Config().flat()} | models.option_defaults(usual).keys()
    if others and known.issuperset(others) and not given.keys() & _OF_OTHERS and Team.from_environment().is_main:
        has_option = others[0] in (field.name for _, field, _ in option_fields())
        name = setting(others[0], option="" if has_option else f"--set {others[0]}")
        what = f"{name} is a setting of other models than the starter, so a {usual} is trained from scratch"
        warnings.warn(PssaWarning(f"{what}; say so with {setting('model', usual)}, or leave {name} out"), stacklevel=3)
    return not others


def train_reviews(
    data: Any,
    out: str | Path,
    settings: Mapping[str, Any],
    observer: Observer | None = None,
) -> Path:
    """Train a joint model: by default the starter goes on.

    Files that list all opinions of each text (triplets, quadruples, SemEval XML) teach it to find aspects and to label them.
    Rows of a text, an aspect and a label teach it labels alone, and it goes on finding as the run that it starts from.

    :param data: a file, several, or rows as for any other training.
    :param settings: by name, as of any other training: `encoder`, `from_pretrained`, `dev`, `dev_fraction`, `labels`, `epochs`,
        `learning_rate`, `seed`, `device`, and how files are read: `format`, `encoding`, `errors`, `label_map`, `columns`,
        `occurrence` and `conflict`.
    :raises InputError: if a file, a setting or `out` cannot be used.
    """
    values, reading = _resolve(settings, data)
    RunDirectory.refuse_taken(Path(out))
    several = isinstance(data, (list, tuple)) and all(isinstance(each, (str, Path)) for each in data)
    found = [_read(each, reading) for each in (data if several else [data])]
    groups, listed = [reviews for reviews, _ in found], [lists_all for _, lists_all in found]
    if values["encoder"] and not all(listed):
        what = "rows of a text, an aspect and a label do not say which aspects there are"
        start = setting("from_pretrained", STARTER, option=f"--from {STARTER}")
        alone = setting("model", "bertabsa_att")
        raise InputError(f"{what}; start from a run that finds them, {start}, or label alone with {alone}")
    dev = () if values["dev"] is None else _read(values["dev"], reading)[0]
    _check(groups, dev, values, finds=all(listed))
    marks = [_marks(reviews, lists_all) for reviews, lists_all in found]
    groups, held = (groups, dev) if dev else _hold_out(groups, values["dev_fraction"], values["seed"])
    if not any(review.opinions for review in held):
        raise InputError(f"no held-out text has a label; add texts, or name others with {setting('dev')}")
    return train_joint(
        [
            AnnotatedSentences([each for review in reviews for each in split_review(review)[0]], *marked)
            for reviews, marked in zip(groups, marks, strict=True)
        ],
        [held],
        out,
        encoder=values["encoder"] or "",
        start=None if values["encoder"] else Path(values["from_pretrained"]),
        labels=values["labels"],
        schedule=JointSchedule(
            values["epochs"] or _EPOCHS,
            values["learning_rate"],
            min_steps=0 if values["epochs"] else _MIN_STEPS,
            seed=values["seed"],
        ),
        device=values["device"],
        observer=observer,
        finds=all(listed),
        config=_config(data, values, reading),
    )


def _bare(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings by their names without a section."""
    return {name.rpartition(".")[2]: value for name, value in flatten(settings).items()}


def _resolve(settings: Mapping[str, Any], data: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings with their defaults, if they can be used together, and those of reading files."""
    given = {name: value for name, value in _bare(settings).items() if name not in ("model", "train")}
    if unknown := sorted(given.keys() - {*_SETTINGS, *_READING}):
        known = {name: setting(name, option=_OPTIONS.get(name, "")) for name in (*_SETTINGS, *_READING)}
        near = nearest_name(unknown[0], known)
        advice = f"did you mean {known[near]}?" if near else f"known: {', '.join(known.values())}"
        raise InputError(f"{setting(unknown[0])} is not a setting of the model joint; {advice}")
    if Team.from_environment().size > 1:
        raise InputError("the model joint is trained by one process; start it without torchrun, or name another model")
    usual = {"labels": data.labels} if isinstance(data, Corpus) else {}
    named = {name: str(value) if isinstance(value, Path) else value for name, value in given.items()}
    named = {name: value for name, value in named.items() if name in _SETTINGS and name != "dev"}
    checked = Config().updated(named)
    typed = {name: checked.flat()[".".join(filter(None, checked.place_of(name)))] for name in named}
    values = _SETTINGS | usual | typed | {"dev": given.get("dev")}
    if values["encoder"] and values["from_pretrained"]:
        start = setting("from_pretrained", option="--from")
        raise InputError(f"a training starts from {setting('encoder')} or from a run, {start}; give one of the two")
    values["from_pretrained"] = values["from_pretrained"] or STARTER
    reading = {name: value for name, value in given.items() if name in _READING}
    return values, reading | {"labels": tuple(values["labels"])}


def _check(
    groups: Sequence[Sequence[Review]], dev: Sequence[Review], values: Mapping[str, Any], *, finds: bool
) -> None:
    """Refuse data that nothing can be learned from, and warn of words that the starter does not know."""
    reviews = [review for group in groups for review in group]
    labels = Counter(opinion.label for review in reviews for opinion in review.opinions)
    known = {*values["labels"], CONFLICT}
    if undeclared := sorted({*labels, *(opinion.label for review in dev for opinion in review.opinions)} - known):
        raise InputError(f"the data have the label {undeclared[0]!r}; declare it with {setting('labels')}")
    if (count := labels.total()) < MIN_INSTANCES:
        found = "1 instance" if count == 1 else f"{count} instances"
        raise InputError(f"the training data has {found}; at least {MIN_INSTANCES} are needed")
    if not finds and len(labels) < 2:
        raise InputError(f"every training instance is {next(iter(labels))}; at least two labels must occur")
    if values["encoder"] or str(values["from_pretrained"]) != STARTER:
        return
    if not starter_knows(review.text for review in reviews):
        others = setting("model='bertabsa_att', encoder=NAME", option="--model bertabsa_att --encoder NAME")
        what = "the starter, from which the training goes on, knows English alone, and few of these words"
        warnings.warn(PssaWarning(f"{what}; name an encoder of their language with {others}"), stacklevel=2)


def _marks(reviews: Sequence[Review], lists_all: bool) -> tuple[str, bool]:
    """Return which aspects a file marks, and whether it marks opinions about the whole; see `AnnotatedSentences`.

    Formats that list aspects alone mark those without an opinion too, and say nothing of opinions about the whole.
    """
    has_words = any(opinion.words for review in reviews for opinion in review.opinions)
    return ("opinions" if has_words else "all") if lists_all else "some", has_words and lists_all


def _config(data: Any, values: Mapping[str, Any], reading: Mapping[str, Any]) -> str:
    """Return the `config.toml` of the run: another training repeats it, and other data are read like its own."""
    import tomli_w

    names = ("encoder", "dev_fraction", "labels", "epochs", "learning_rate", "seed", "device")
    known = {"model": MODEL, **{name: values[name] for name in names}, **ReadOptions.of(**reading).changed}
    known["from_pretrained"] = None if values["encoder"] else str(values["from_pretrained"])
    for name, source in (("train", data), ("dev", values["dev"])):
        if isinstance(source, (str, Path)):
            known[name] = str(source) if str(source).startswith(PREFIX) else str(Path(source).resolve())
    table: dict[str, Any] = {}
    for name, value in known.items():
        section, key = Config().place_of(name)
        if value is not None:
            (table.setdefault(section, {}) if section else table)[key] = value
    return tomli_w.dumps(table)


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
    if isinstance(source, (str, Path)) and not str(source).startswith(PREFIX):
        file = InputFile.of(source, reading.get("encoding"))
        if find_format(format_of(file, reading.get("format"))).lists_all_aspects:
            return read_reviews(source, **reading)[0], True
    examples = source.examples if isinstance(source, Corpus) else read(source, **reading).examples
    texts: dict[str, list[Opinion]] = {}
    for example in examples:
        if example.label is not None:
            texts.setdefault(example.text, []).append(Opinion(example.label, example.aspect_chars))
    return [Review(text, tuple(opinions)) for text, opinions in texts.items()], False
