"""Settings resolved: every default that follows from the model, the method and the data is filled in once, by `resolve`.

Epsilon is the paper's, and so is how encoders are trained, with batches, epochs and clipping as released. Gamma of the `tuned`
penalty was chosen on held-out data of LAPTOP and REST (results/defaults.md).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import torch

from pssa import models
from pssa import saliency as saliencies
from pssa.data.example import Corpus
from pssa.data.formats.hugging_face import PREFIX
from pssa.data.labels import ENGLISH
from pssa.errors import InputError, PssaWarning, setting
from pssa.mining import ConsensusRule, Rule
from pssa.runs import methods
from pssa.runs.devices import choose_device, computes_bfloat16
from pssa.runs.settings import Config, DataConfig, MiningConfig, SupervisionConfig, flatten
from pssa.runs.warm_start import SCRATCH, starter_knows
from pssa.saliency import Saliency
from pssa.training import Settings, Team
from pssa.training.contrast import ContrastOptions
from pssa.training.supervision import PENALTIES, Penalty, check_use

MIN_INSTANCES = 10  # of a training
# Mining with this saliency gates and routes on gradient scores and takes a random word.
RANDOM = "random"
# Settings of mining that a saliency takes if it has an option of the same name.
_SALIENCY_SETTINGS = ("samples", "sigma", "target", "signed_shift", "average", "noise_on")
_EPSILON = {"memnet": 3.0, "tnet_att": 4.0}
_EPSILON_OF_ATTENTION = {"bertabsa_att": 5.0}  # of saliencies other than the gradient
_RELEASE_GAMMA = {"memnet": 1.0}  # of the released code; 0.1 for others
_TUNED_GAMMA = {"memnet": 2.0, "tnet_att": 0.5, "bertabsa_att": 5.0}
# Gamma for consensus evidence, where held-out data of three sets favour less (results/defaults.md).
_CONSENSUS_GAMMA = {"memnet": 0.125, "bertabsa_att": 1.0}
CONSENSUS_THRESHOLD = 0.2
_ENCODER_TRAINING: dict[str, Any] = {
    "learning_rate": 2e-5,
    "batch_size": 16,
    "clip_norm": 1.0,
    "schedule": "linear",
    "warmup": 0.1,
    "max_epochs": 6,
    "usual_epochs": 6,
}
# `usual_epochs` 0: a search on development data.
_WORD_TRAINING = {name: getattr(Settings(), name, 0) for name in _ENCODER_TRAINING}

# Training of a word model that starts from a trained run (results/defaults.md).
_FINE_TUNING = {"learning_rate": 1e-4}
# Options of models where labels are few (results/defaults.md).
FEW_LABELS_OPTIONS: dict[str, dict[str, Any]] = {"bertabsa_att": {"context": 3}}


def resolve(given: Config, corpus: Corpus | None = None) -> Config:
    """Return the settings with every default filled in: by model and method and, given the training data, by its size.

    Little data is trained for more epochs, until these make `min_steps` steps. A search that could not get that far is left out:
    its few held-out instances say little (results/defaults.md). With development data of its own it searches for longer.

    :param given: what the user set, or a preset.
    """
    if given.data.from_pretrained == SCRATCH:
        given = replace(given, data=replace(given.data, from_pretrained=None))
    config = _by_model_and_method(given)
    if corpus is None:
        return config
    _check_label_texts(config, corpus.labels)
    config = _with_full_names(replace(config, data=replace(config.data, labels=corpus.labels)))
    training, derived = config.training, dict[str, Any]()
    epochs, batch_size = training.usual_epochs or training.max_epochs or 0, training.batch_size or 1
    if epochs * math.ceil(len(corpus) / batch_size) < training.min_steps:
        if not given.preset and not given.data.from_pretrained:
            derived |= _options_for_few(given, corpus)
        if not (given.epochs or given.training.usual_epochs or given.training.max_epochs):
            derived |= _epochs_for_few(given, config, len(corpus))
    config = config.updated(derived)
    return replace(config, training=replace(config.training, derived=(*training.derived, *derived)))


def _check_label_texts(config: Config, labels: Sequence[str]) -> None:
    texts = config.data.label_texts
    if not texts:
        return
    if not models.uses_encoder(config.model):
        raise InputError(f"model {config.model} has no encoder and takes no {setting('label_texts')}; leave it out")
    if config.data.from_pretrained:
        what = f"{setting('from_pretrained', option='--from')} brings an output layer"
        raise InputError(f"{what} and takes no {setting('label_texts')}; leave it out")
    if missing := [label for label in labels if label not in texts]:
        raise InputError(f"label_texts has no text for the label {missing[0]}; add one")


def _with_full_names(config: Config) -> Config:
    """Return the settings with full names of files, which mean the same in every directory."""

    def full(path: str | None) -> str | None:
        # A dataset behind the prefix is a name, not a path.
        return path if path is None or path.startswith(PREFIX) else str(Path(path).resolve())

    data, encoder = config.data, config.data.encoder
    encoder = full(encoder) if encoder and Path(encoder).is_dir() else encoder  # else one of the hub's
    data = replace(data, train=full(data.train), dev=full(data.dev), vectors=full(data.vectors), encoder=encoder)
    return replace(
        config, data=data, supervision=replace(config.supervision, evidence=full(config.supervision.evidence))
    )


def _options_for_few(given: Config, corpus: Corpus) -> dict[str, Any]:
    """Return options of the model that few labels need, and texts that show the labels to an encoder."""
    chosen = FEW_LABELS_OPTIONS.get(given.model, {})
    found: dict[str, Any] = {f"options.{name}": chosen[name] for name in chosen if name not in given.options}
    shows_labels = models.uses_encoder(given.model) and given.data.label_texts is None
    if shows_labels and set(corpus.labels) <= ENGLISH.keys() and starter_knows(example.text for example in corpus):
        found["data.label_texts"] = {label: ENGLISH[label] for label in corpus.labels}
    return found


def _epochs_for_few(given: Config, config: Config, n_instances: int) -> dict[str, int]:
    """Return how long few instances are trained for: until they make `min_steps` steps."""
    known = config.training
    epochs = math.ceil(known.min_steps / math.ceil(n_instances / (known.batch_size or 1)))
    if given.training.usual_epochs == 0:
        longer = {"training.patience": epochs // 5} if epochs // 5 > known.patience else {}
        return {"training.max_epochs": epochs} | longer
    found = {"training.usual_epochs": epochs}
    if config.mining.consensus_epochs and given.mining.consensus_epochs is None:
        # Judges keep their share of the epochs of the model they judge for.
        judged = epochs * config.mining.consensus_epochs // (known.usual_epochs or epochs)
        found["mining.consensus_epochs"] = judged
    return found


def _by_model_and_method(given: Config) -> Config:
    """Return the settings with the defaults that follow from model and method."""
    method = methods.find(given.method)
    defaults = _ENCODER_TRAINING | {"share_sentences": True}
    if not models.uses_encoder(given.model):
        defaults = _WORD_TRAINING | (_FINE_TUNING if given.data.from_pretrained else {})
    training = {name: value for name, value in defaults.items() if getattr(given.training, name) is None}
    config = replace(
        given,
        options=default_options(given) | given.options,
        training=replace(given.training, **training),
        mining=replace(given.mining, **method.mining_defaults(given)),
    )
    if method.mines or config.supervision.evidence:
        gamma = choose_penalty(given).gamma
        config = replace(config, supervision=replace(config.supervision, gamma=gamma))
    return config


def usual_settings(config: Config) -> dict[str, Any]:
    """Return the defaults of the model and the method of `config`, by dotted name."""
    supervision = SupervisionConfig(evidence=config.supervision.evidence, penalty=config.supervision.penalty)
    data = DataConfig(from_pretrained=config.data.from_pretrained)
    plain = Config(config.model, config.method, data=data, options=config.options, supervision=supervision)
    usual = resolve(replace(plain, mining=MiningConfig(saliency=config.mining.saliency))).flat()
    usual |= {f"options.{name}": value for name, value in default_options(config).items()}
    usual |= {"mining.saliency": methods.find(config.method).mining_defaults(plain).get("saliency")}
    usual |= {f"supervision.{name}": getattr(SupervisionConfig(), name) for name in ("evidence", "penalty")}
    return usual | {"data.from_pretrained": None}


def default_options(config: Config) -> dict[str, Any]:
    """Return the default options of the model."""
    defaults = models.option_defaults(config.model)
    # Random vectors that stay random would carry nothing but the identity of words.
    learned = {"train_embeddings": True} if "train_embeddings" in defaults and not config.data.vectors else {}
    return defaults | learned


def loop_settings(config: Config, device: torch.device) -> Settings:
    """Return how models are trained on `device`."""
    given = {f.name: getattr(config.training, f.name, None) for f in fields(Settings)}
    chosen = {name: value for name, value in given.items() if value is not None and value != "auto"}
    uses_encoder = models.uses_encoder(config.model)
    # On a GPU steps are recorded, and finding equal rows would make the host wait.
    is_plain = device.type == "cpu" and uses_encoder
    chosen["share_sentences"] = is_plain and bool(config.training.share_sentences)
    defaults: dict[str, Any] = {
        "precision": "bfloat16" if uses_encoder and computes_bfloat16(device) else "float32",
        # An encoder sees few different widths, so that a step can be captured once for each and replayed.
        "pad_multiple": 8 if uses_encoder else 1,
    }
    return Settings(**defaults | chosen)


def contrast_options(config: Config) -> ContrastOptions | None:
    """Return how copies are drawn that models are trained on as well, where there are any."""
    known = {f.name: getattr(config.training, f"contrast_{f.name}") for f in fields(ContrastOptions)}
    options = ContrastOptions(**known)
    return options if config.training.augment == "contrast" else None


def build_saliency(config: Config, name: str) -> Saliency:
    """Return the saliency `name` with its options; `random` scores by gradient and differs in the word it takes."""
    if name == RANDOM:
        name = "self_attention" if config.refines else "gradient"
    options = {key: getattr(config.mining, key) for key in _SALIENCY_SETTINGS} | {"seed": config.seed}
    known = saliencies.option_names(name)
    return saliencies.build(name, {key: value for key, value in options.items() if key in known})


def choose_epsilon(config: Config) -> float:
    """Return the configured threshold, or the model's."""
    if config.mining.epsilon is not None:
        return config.mining.epsilon
    by_gradient = methods.find(config.method).saliency(config) in ("gradient", "self_attention")
    default = _EPSILON.get(config.model, 4.0)
    return default if by_gradient else _EPSILON_OF_ATTENTION.get(config.model, default)


def mining_rule(config: Config) -> Rule:
    """Return the rule by which progressive mining takes a word."""
    mining, saliency = config.mining, methods.find(config.method).saliency(config)
    drawn = "nothing" if saliency != RANDOM else "mask" if mining.random_mask else "word"
    return Rule(choose_epsilon(config), drawn, config.seed)


def consensus_rule(config: Config) -> ConsensusRule:
    """Return the rule by which the models of a consensus agree."""
    mining = config.mining
    threshold = CONSENSUS_THRESHOLD if mining.consensus_threshold is None else mining.consensus_threshold
    return ConsensusRule(threshold, mining.consensus_right, mining.consensus_soft)


def choose_penalty(config: Config, mined_by: str = "") -> Penalty:
    """Return the penalty with the configured gamma, or its own.

    :param mined_by: the method that the evidence comes from; empty: the configured one.
    """
    name, gamma = config.supervision.penalty, config.supervision.gamma
    if name not in PENALTIES:
        raise InputError(f"penalty is {name!r}; it can be {', '.join(PENALTIES)}")
    penalty = PENALTIES[name]
    if gamma is None:
        tuned = _TUNED_GAMMA | (_CONSENSUS_GAMMA if (mined_by or config.method) == "consensus" else {})
        by_model = {"tuned": tuned, "release": _RELEASE_GAMMA}.get(name, {})
        return replace(penalty, gamma=by_model.get(config.model, penalty.gamma))
    return replace(penalty, gamma=gamma)


def check(config: Config, *, supervised: bool = True) -> None:
    """Refuse settings that contradict each other.

    :param supervised: whether a final training follows, so that its settings are checked too.
    """
    choose_device(config.device)
    models.read_options(config.model, config.options)
    data, uses_encoder = config.data, models.uses_encoder(config.model)
    if not uses_encoder and (data.encoder or data.unit != "word"):
        given = f"encoder {data.encoder}" if data.encoder else f"unit {data.unit}"
        known = ", ".join(filter(models.uses_encoder, models.names()))
        raise InputError(f"model {config.model} reads words and does not use {given}; models that do: {known}")
    if uses_encoder and not (data.encoder or data.from_pretrained):
        raise InputError(f"model {config.model} needs a pretrained encoder; name one with {setting('encoder')}")
    if uses_encoder and data.vectors:
        raise InputError(f"model {config.model} has an encoder and does not use {setting('vectors')}; leave it out")
    loop_settings(config, torch.device("cpu"))
    contrast_options(config)
    check_mining(config)
    if supervised:
        check_supervision(config)


def check_supervision(config: Config) -> None:
    """Refuse a final training that cannot be supervised as configured."""
    mines = methods.find(config.method).mines
    if (mines or config.supervision.evidence) and not models.attends(config.model, config.options):
        raise InputError(f"model {config.model} has no attention to supervise; {_attending(config)}")
    if config.supervision.evidence and config.method != "base":
        raise InputError(f"{setting('evidence')} needs method base; {config.method} mines its own or uses none")
    check_use(choose_penalty(config), config.supervision.words, config.supervision.weighting)
    if config.supervision.penalty_on == "gradient" and models.uses_encoder(config.model):
        raise InputError("penalty_on is gradient, which needs a model on word vectors; use attention, or another model")
    if config.supervision.final_start == "initial" and config.supervision.final_epochs == "search":
        raise InputError(
            "final_epochs is search and final_start is initial, but the initial model has seen the held-out data; change one"
        )


def check_mining(config: Config) -> None:
    """Refuse settings of mining that are out of range, and saliencies that the model does not have."""
    mining, method = config.mining, methods.find(config.method)
    if method.mines:
        attends = models.attends(config.model, config.options)
        name = method.saliency(config)  # one that scores nothing in this model is refused
        needed = "states" if name == RANDOM else saliencies.needs(name)
        if needed == "attention" and not attends:
            raise InputError(f"model {config.model} has no attention to mine; {_attending(config)}")
        if needed == "states" and models.uses_encoder(config.model) and not attends:
            reason = f"model {config.model} passes nothing on from the states of words, so gradients there are zero"
            raise InputError(f"{reason}; {_attending(config)}")
        if needed == "refined" and not config.refines:
            raise InputError(f"saliency {name} needs a model whose self-attention is refined; {_attending(config)}")
        method.check(config)
    if mining.noise_on == "input" and not models.takes_input_noise(config.model):
        known = ", ".join(name for name in models.names() if models.takes_input_noise(name))
        raise InputError(f"noise_on is input, which model {config.model} does not take; use states, or one of: {known}")
    if mining.folds < 0 or mining.folds == 1:
        raise InputError(f"folds is {mining.folds}; it can be 0 (no cross-fitting) or at least 2")
    if (right := mining.consensus_right) > (most := mining.consensus_models):
        raise InputError(f"consensus_right is {right}; it must be at most consensus_models, {most}")
    build_saliency(config, method.saliency(config))
    mining_rule(config)
    consensus_rule(config)


def _attending(config: Config) -> str:
    known = ", ".join(name for name in models.names() if models.attends(name))
    refine = ", or options.refine" if "refine" in models.option_defaults(config.model) else ""
    return f"method {config.method} needs a model that attends: {known}{refine}"


def unused_settings(config: Config, changes: Mapping[str, Any]) -> tuple[str, ...]:
    """Return those of `changes`, by bare or dotted name, that training with `config` ignores."""
    method = methods.find(config.method)
    places = map(config.place_of, flatten(changes))
    return tuple(key for section, key in places if not method.uses(config, section, key))


def warn_of_unused(config: Config, changes: Mapping[str, Any]) -> None:
    """Warn of changes that the configured method ignores, and name the methods that do.

    They are no error: one file of settings can serve several methods.
    """
    unused = unused_settings(config, changes)
    if not unused or not Team.from_environment().is_main:
        return
    others = [name for name in methods.names() if not unused_settings(replace(config, method=name), changes)]
    them = "it" if len(unused) == 1 else "them"
    remedy = f" or choose a method that uses {them}: {', '.join(others)}" if others else ""
    warning = f"method {config.method} ignores {', '.join(unused)}; remove {them}{remedy}"
    warnings.warn(PssaWarning(warning), stacklevel=3)


def warn_of_absent_labels(corpus: Corpus) -> None:
    """Warn of labels that no training instance has: a macro-F1 over all labels counts each of them as 0."""
    counts = corpus.label_counts()
    absent = [label for label in corpus.labels if not counts[label]]
    if not absent or not Team.from_environment().is_main:
        return
    present = ",".join(label for label in corpus.labels if counts[label])
    keep = setting("conflict", "keep")
    remedy = f"leave out {keep}" if absent == ["conflict"] else f"declare the others with {setting('labels', present)}"
    warning = f"no training instance is {' or '.join(absent)}, so macro-F1 counts each such label as 0; {remedy}"
    warnings.warn(PssaWarning(warning), stacklevel=3)
