"""Runs that find aspects and judge them: a classifier, and in `RUN/aspects` a tagger, trained one after the other.

What the tagger learns from is in the run before the classifier is trained, so that an interrupted run has all it needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pssa import models
from pssa.aspects.find import FOLDER, has_tagger
from pssa.aspects.spans import AspectSentence, lists_all_aspects, read_sentences
from pssa.aspects.train import TaggerTraining, prepare_training, resume_aspects
from pssa.data.vectors import CACHE_FOLDER
from pssa.errors import InputError, setting
from pssa.runs.directory import RunDirectory
from pssa.runs.prepared_data import Source
from pssa.runs.settings import Config
from pssa.runs.training_run import finish_run, write_run
from pssa.runs.warm_start import merge_settings
from pssa.training import Observer, Team


def train_with_tagger(
    data: Source | None,
    out: str | Path,
    *,
    aspects_train: str | Path | Sequence[AspectSentence] | None = None,
    tagger: Mapping[str, Any] | None = None,
    config: Config | None = None,
    **settings: Any,
) -> Path:
    """Train a classifier into the new directory `out`, as `pssa.train` does, and a tagger into `out/aspects`.

    Both start from the same encoder or the same vectors. `resume_run` finishes an interrupted run.

    :param aspects_train: sentences with all their aspects, or the file that holds them; None: the training file of the
        classifier, which must list all aspects of each sentence.
    :param tagger: settings of the tagger, such as `{"epochs": 5}`; see `train_aspects`.
    :param settings: those of `pssa.train`.
    :raises InputError: if a file, a setting or `out` cannot be used.
    """
    RunDirectory.refuse_taken(Path(out))
    watch = {name: settings.pop(name) for name in ("dev", "observer", "on_vectors", "progress") if name in settings}
    whole = merge_settings(config or Config(), settings)
    file = data if isinstance(data, str | Path) else whole.data.train if data is None else None
    training = prepare_tagger(whole, aspects_train, file, Path(out), tagger)
    write_run(data, out, config=config, on_begin=training.begin_within, **watch, **settings)
    if Team.from_environment().is_main:
        resume_aspects(Path(out) / FOLDER, watch.get("observer"))
    return Path(out)


def resume_run(run: str | Path, observer: Observer | None = None) -> Path:
    """Finish an interrupted run, and the tagger in it if it has one."""
    root = finish_run(run, observer)
    if has_tagger(root) and Team.from_environment().is_main:
        resume_aspects(root / FOLDER, observer)
    return root


def prepare_tagger(
    config: Config,
    aspects_train: str | Path | Sequence[AspectSentence] | None,
    file: str | Path | None,
    out: Path,
    settings: Mapping[str, Any] | None = None,
) -> TaggerTraining:
    """Prepare the tagger of a new run; nothing is written but the cache.

    :param config: of the classifier.
    :param file: the training data of the classifier, if that is a file.
    :raises InputError: if the file may leave out aspects, or something cannot be used.
    """
    if aspects_train is None:
        sentences = _sentences_of(file, config)
    elif isinstance(aspects_train, str | Path):
        sentences = read_sentences(aspects_train)
    else:
        sentences = tuple(aspects_train)
    uses_encoder = models.uses_encoder(config.model)
    start = {"encoder": config.data.encoder} if uses_encoder else {"vectors": config.data.vectors}
    known = {**start, "seed": config.seed, "device": config.device, "dimension": config.data.dimension}
    return prepare_training(sentences, known | dict(settings or {}), cache=out.parent / CACHE_FOLDER)


def _sentences_of(file: str | Path | None, config: Config) -> tuple[AspectSentence, ...]:
    """Read the training file of a classifier as sentences with all their aspects."""
    advice = (
        f"name a file that does with {setting('aspects_train', 'FILE')}, or train a tagger on its own with"
        f" {setting('pssa.aspects.train_aspects', option='pssa aspects train')}"
    )
    if file is None:
        raise InputError(
            f"a tagger learns from sentences with all their aspects, which these data may not have; {advice}"
        )
    data = config.data
    if lists_all_aspects(file, data.format):
        return read_sentences(file, format=data.format, encoding=data.encoding)
    raise InputError.at(
        file, None, f"has one aspect a line and may leave some out, so no tagger can learn from it; {advice}"
    )
