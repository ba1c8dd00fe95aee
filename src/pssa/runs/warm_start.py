"""Weights that a training starts from instead of random ones: those of a trained run, or an output layer made of sentences.

A model that starts from a run (`from_pretrained`) has its kind, options and weights. Words and labels may be others: rows of
known words and labels are kept, and new ones get rows of their own. A run keeps the weights that it started with until it is
finished, so that it can be resumed whatever becomes of the other run.

Where labels are few, the output layer of an encoder starts from sentences that show them (`label_texts`). A few labelled
instances do not show how a label looks among all that an encoder's states tell. But the encoder knows what "the screen is great"
means. The weights of a label are the mean feature of its sentence about aspects of the training data, less the mean of all
labels, so that aspects cancel out. Only the biases are fitted to the labelled instances.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from pssa import models
from pssa.data.example import Corpus
from pssa.data.files import require_regular
from pssa.data.labels import label_sentences
from pssa.data.vectors import Coverage, Vectors, embedding_matrix, read_vectors_once
from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError, PssaWarning, setting
from pssa.models import IndexedCorpus, Pretrained, WordTable
from pssa.runs.directory import RunDirectory, resume_hint
from pssa.runs.featurizer import Featurizer, WordFeaturizer, choose_window
from pssa.runs.input_profile import InputProfile
from pssa.runs.loading import is_joint, load
from pssa.runs.run_names import has_starter, resolve_run, starter_run
from pssa.runs.saved_model import Description
from pssa.runs.settings import Config, flatten
from pssa.runs.torch_runtime import TorchRuntime
from pssa.training import Team

# Options that may differ from those of the run: its weights mean the same with other values.
_FREE_OPTIONS = ("dropout", "embedding_dropout", "initial_bound", "train_embeddings")
_FILES = ("model.safetensors", "vocabulary.json", "model.json")
SCRATCH = "none"  # in place of a run: start from scratch, however few the labels
_MIN_KNOWN = 0.5  # share of the words of few labels that the starter knows; texts in another language have less
_DIGEST = 16  # characters
_CHUNK = 1 << 20  # bytes
_UNSEEN = "unseen"  # how the name of the tensor ends that holds the vectors that are not trained
_OUTPUT = "output."  # how the names of tensors begin that have a row for each label

_N_ASPECTS = 16  # whose sentences are averaged
_BATCH = 64
_MAX_ITERATIONS = 50
# Deviations of the logits (results/defaults.md). While biases are fitted it is large, so that few labels say little about how
# frequent each is; then smaller, so that the training has something to learn. Which label is the likeliest stays the same.
_FITTED, _STARTED = 8.0, 2.0
_PENALTY = 0.1


def merge_settings(config: Config, settings: Mapping[str, Any]) -> Config:
    """Return `config.updated(settings)`; where that starts from a run, with the model and the settings of that run.

    :raises InputError: if the run cannot be started from, or contradicts a setting.
    """
    given = {name.rpartition(".")[2]: value for name, value in flatten(settings).items()}
    source = given.get("from_pretrained", config.data.from_pretrained)
    if not isinstance(source, str | Path) or not source or str(source) == SCRATCH:
        return config.updated(settings)
    run = _find_run(source)
    described, usual = Description.load(run), Config()
    values = {**settings, "from_pretrained": str(source)}
    if "model" not in given and config.model == usual.model:
        values["model"] = described.model
    if "labels" not in given and config.data.labels == usual.data.labels:
        values["labels"] = described.labels
    if "from_pretrained" in given:  # the digest of another run says nothing about this one
        values.setdefault("from_digest", None)
    config = config.updated(values)
    _refuse_contradictions(config, described, run, set(given))
    data = replace(
        config.data,
        from_pretrained=str(run.resolve()),
        from_digest=_check_digest(run, config.data.from_digest),
        dimension=described.dimension or config.data.dimension,
        unit=described.unit,
        max_pieces=described.max_pieces or None,
    )
    return replace(config, data=data, options=described.options | config.options)


def starter_knows(texts: Iterable[str]) -> bool:
    """Return whether the starter is there and knows enough of the words of texts, so that their language is English."""
    profile = InputProfile.load(starter_run()) if has_starter() else None
    if profile is None:
        return False
    counts = [profile.count_known(text) for text in texts]
    return sum(known for known, _ in counts) >= _MIN_KNOWN * sum(words for _, words in counts)


def warn_of_other_labels(ours: Sequence[str], theirs: Sequence[str], run: str) -> None:
    """Warn if a training has no label of the run that it starts from."""
    if not set(theirs) & set(ours) and Team.from_environment().is_main:
        known, new = ", ".join(theirs), ", ".join(ours)
        what = f"none of the labels {new} is one of {run} ({known}), so its output layer is trained anew"
        hint = setting("label_map", f"{ours[0]}=LABEL")
        warnings.warn(PssaWarning(f"{what}; if they mean the same, map them with {hint}"), stacklevel=3)


def open_warm_start(
    config: Config,
    corpus: Corpus,
    observer: Callable[[int, int], None] | None = None,
    cache: Path | None = None,
) -> tuple[Featurizer, Coverage | None, dict[str, Tensor]]:
    """Load the run that the configuration names, and extend it by the words and labels of the new training data.

    :return: the featurizer, how much of the corpus the words of the run and of a vector file cover, and the weights of the
        new model by name.
    """
    run = _find_run(config.data.from_pretrained or "")
    _check_digest(run, config.data.from_digest)
    source, labels = load(run).torch, config.data.labels
    warn_of_other_labels(labels, source.labels, str(run))
    if not isinstance(source.featurizer, WordFeaturizer):
        return source.featurizer, None, _extend_weights(config, source, source.featurizer.table, {})
    words = [word for example in corpus for word in example.words]
    dimension, seed = config.data.dimension, config.seed
    vectors, others = None, list[int]()
    old = source.featurizer.vocabulary
    known = old.words[old.n_special :]
    if config.data.vectors:
        n_rows = config.data.vector_rows
        vectors = read_vectors_once(config.data.vectors, set(words), cache, extra_rows=n_rows, observer=observer)
        if vectors.dimension != dimension:
            what = f"the vectors have {vectors.dimension} values, those of {run} {dimension}"
            raise InputError(f"{what}; leave out {setting('vectors')}, or name a file like the one it was trained with")
        has_row = set(known)
        others = [place for place, word in enumerate(vectors.words) if word not in has_row]
        known = (*known, *(vectors.words[place] for place in others))
    new = old.extended(words, vectors.words if vectors else ())
    tables: dict[str, Tensor] = {}
    for name, rows in _word_tables(source).items():
        matrix = rows[old.n_special :].numpy()
        if vectors is not None:
            matrix = np.concatenate([matrix, vectors.matrix[others]])
        # A word that is known nowhere has the row of an unknown word in a file.
        found = Vectors(known, matrix)
        tables[name] = torch.from_numpy(embedding_matrix(new, found, dimension, seed)[0])
        tables[name][: new.n_special] = rows[: new.n_special]
    table = WordTable(next(iter(tables.values())), new.n_trained)
    _, coverage = embedding_matrix(Vocabulary.build(words), found, dimension, seed)
    featurizer = WordFeaturizer(new, table, choose_window(corpus))
    return featurizer, coverage, _extend_weights(config, source, table, tables)


def _word_tables(source: TorchRuntime) -> dict[str, Tensor]:
    """Return the tables of word vectors of a run by name, (V, D), those of words that are not trained included."""
    state, names = source.model.state_dict(), getattr(source.model, "word_tables", ("words",))
    (unseen,) = (tensor for name, tensor in state.items() if name.endswith(_UNSEEN))
    return {name: torch.cat([rows, unseen]) for name, rows in state.items() if name.rpartition(".")[2] in names}


def _extend_weights(
    config: Config, source: TorchRuntime, table: WordTable | Pretrained, tables: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Return the weights of a new model: those of the run, with rows for other words and labels."""
    labels, old = config.data.labels, source.model.state_dict()
    new = dict(models.build(config.model, table, len(labels), config.options, config.seed).state_dict())
    for name, fresh in new.items():
        if name in tables:
            new[name] = tables[name][: len(fresh)]
        elif name.startswith(_OUTPUT):
            for place, label in enumerate(labels):
                if label in source.labels:
                    fresh[place] = old[name][source.labels.index(label)]
        elif not name.endswith(_UNSEEN):
            new[name] = old[name]
    return {name: tensor.detach().clone() for name, tensor in new.items()}


def _find_run(source: str | Path) -> Path:
    """Return the folder of the run to start from.

    :raises InputError: if there is none, it is not finished, or it is an ensemble.
    """
    run = RunDirectory.open(resolve_run(source)).root
    if is_joint(run):
        what = f"{source} is a joint model, and this training is one of another model"
        raise InputError(
            f"{what}; leave out {setting('from_pretrained', option='--from')}, or what only the other takes"
        )
    if len(Description.load(run).vote_weights) > 1:
        raise InputError(f"{run} is an ensemble, and a training starts from one model; use {run / 'members' / '1'}")
    if not (run / "model.safetensors").is_file():
        raise InputError(f"{run} has no trained model to start from; {resume_hint(run)}")
    return run


def _check_digest(run: Path, expected: str | None) -> str:
    """Return the digest of a run; refuse it if another one was expected."""
    digest = hashlib.sha256()
    for path in (path for name in _FILES if (path := run / name).is_file()):
        require_regular(path)
        with path.open("rb") as stream:
            while content := stream.read(_CHUNK):
                digest.update(content)
    found = digest.hexdigest()[:_DIGEST]
    if expected not in (None, found):
        what = f"{run} has changed: its digest is {found}, and from_digest is {expected}"
        raise InputError(f"{what}; put the old run back, or remove from_digest to start from this one")
    return found


def _refuse_contradictions(config: Config, described: Description, run: Path, given: set[str]) -> None:
    """Refuse settings that the weights of the run do not fit."""
    data, usual = config.data, Config().data
    if config.model != described.model:
        raise _contradiction("model", config.model, described.model, run)
    if data.encoder:
        what = f"the weights of {run}, from which the training starts, are those of its own model"
        raise InputError(f"{what}; leave out {setting('encoder', data.encoder)}")
    for name in ("dimension", "unit", "max_pieces"):
        value, own = getattr(data, name), getattr(described, name)
        is_set = name in given or value != getattr(usual, name)
        if is_set and (value or 0) != own and not (name == "dimension" and not own):
            raise _contradiction(name, value, own, run)
    for name, value in config.options.items():
        own = described.options.get(name, value)
        lost = name == "train_embeddings" and own and not value  # vectors that it has trained would be given up
        if value != own and (lost or name not in _FREE_OPTIONS):
            raise _contradiction(name, value, own, run)


def _contradiction(name: str, value: Any, own: Any, run: Path) -> InputError:
    remedy = f"leave {name} out, or train from scratch, without {setting('from_pretrained', option='--from')}"
    return InputError(f"{name} is {value}, but the training starts from {run}, where it is {own}; {remedy}")


def sentences_of(config: Config, corpus: Corpus, featurizer: Featurizer) -> IndexedCorpus:
    """Return the sentences that show the labels, about aspects of the corpus."""
    aspects = islice(dict.fromkeys(example.aspect_text for example in corpus), _N_ASPECTS)
    sentences = label_sentences(config.data.label_texts or {}, config.data.labels, aspects)
    return featurizer.index(featurizer.cut(sentences), config.data.labels)


def init_output_layer(model: nn.Module, sentences: IndexedCorpus, data: IndexedCorpus) -> None:
    """Set the output layer of a new model.

    :param data: the labelled instances.
    """
    output = model.output
    assert isinstance(output, nn.Linear)
    shown = _features(model, output, sentences)
    means = torch.stack([shown[sentences.labels == label].mean(dim=0) for label in range(output.out_features)])
    weights = means - means.mean(dim=0)
    scores = _features(model, output, data) @ weights.T
    scale, bias = fit_biases(scores, data.labels)
    with torch.no_grad():
        output.weight.copy_(weights * scale)
        output.bias.copy_(bias)


@torch.no_grad()
def _features(model: nn.Module, output: nn.Linear, data: IndexedCorpus) -> Tensor:
    """Return (n, D): what the output layer receives."""
    found: list[Tensor] = []
    hook = output.register_forward_pre_hook(lambda _, inputs: found.append(inputs[0].float()))
    training = model.training
    model.eval()
    try:
        for rows in torch.split(torch.arange(len(data)), _BATCH):
            batch = data.batch(rows)
            model.classify(model.encode(batch), batch)  # type: ignore[operator]
    finally:
        hook.remove()
        model.train(training)
    return torch.cat(found)


def fit_biases(scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return one scale of the scores (n, C), and the biases (C,) by maximum likelihood, for the scaled scores.

    A penalty keeps the bias of a label finite that no instance has.
    """
    mean, deviation = scores.mean(dim=0), scores.std().clamp(min=1e-6)
    sharp = (scores - mean) * (_FITTED / deviation)
    bias = torch.zeros_like(mean, requires_grad=True)
    optimizer = torch.optim.LBFGS([bias], max_iter=_MAX_ITERATIONS, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = functional.cross_entropy(sharp + bias, labels, reduction="sum") + _PENALTY * bias.square().sum() / 2
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    scale = _STARTED / deviation
    return scale, bias.detach() * (_STARTED / _FITTED) - mean * scale
