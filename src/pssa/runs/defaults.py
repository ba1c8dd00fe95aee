"""Defaults that depend on the model or the method, and combinations of settings that are refused or warned about.

Epsilon is the paper's, and so is how encoders are trained, with batches, epochs and clipping as released. Gamma of the `tuned`
penalty was chosen on held-out data of LAPTOP and REST (results/tuning.md, results/encoder-tuning.md).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from pssa import models
from pssa import saliency as saliencies
from pssa.data.example import Corpus
from pssa.errors import InputError, PssaWarning, setting
from pssa.mining import ConsensusRule, Rule
from pssa.runs import methods
from pssa.runs.config import Config, DataConfig, MiningConfig, SupervisionConfig
from pssa.runs.presets import preset_values
from pssa.saliency import Saliency
from pssa.training import Settings, Team
from pssa.training.supervision import PENALTIES, Penalty, check_use

# Mining with this saliency gates and routes on gradient scores and takes a random word.
RANDOM = "random"
# Settings of mining that a saliency takes if it has an option of the same name.
_SALIENCY_SETTINGS = ("samples", "sigma", "target", "signed_shift", "average", "noise_on")
_EPSILON = {"memnet": 3.0, "tnet_att": 4.0}
_EPSILON_OF_ATTENTION = {"bertabsa_att": 5.0}  # of saliencies other than the gradient
_RELEASE_GAMMA = {"memnet": 1.0}  # of the released code, where it is another than 0.1
_TUNED_GAMMA = {"memnet": 2.0, "tnet_att": 0.5, "bertabsa_att": 5.0}
# Of evidence by consensus, where it is another: held-out data of three sets ask for less (results/defaults.md).
_CONSENSUS_GAMMA = {"memnet": 0.125, "bertabsa_att": 1.0}
_CONSENSUS_THRESHOLD = 0.2
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

# Of a word model that starts from a trained run (results/defaults.md).
_FINE_TUNING = {"learning_rate": 1e-4}
# Options of models where labels are few (results/defaults.md).
FEW_LABELS_OPTIONS: dict[str, dict[str, Any]] = {"bertabsa_att": {"context": 3}}


def choose_device(name: str) -> torch.device:
    """Return the device called `name`; `auto` is the GPU where there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("device is cuda, but there is no usable CUDA device; use auto or cpu")
    if name not in ("cpu", "cuda"):
        raise InputError(f"device is {name!r}; it can be auto, cpu or cuda")
    return torch.device(name)


def has_native_bfloat16() -> bool:
    """Return whether the processor has instructions for products of bfloat16 numbers."""
    # Older versions of PyTorch lack this function.
    capabilities: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def resolve(config: Config) -> Config:
    """Return the configuration with every default filled in that depends on model or method."""
    method, defaults = methods.find(config.method), _training_defaults(config)
    unset = {name: value for name, value in defaults.items() if getattr(config.training, name) is None}
    config = method.resolve(replace(config, training=replace(config.training, **unset)))
    if method.mines or config.supervision.evidence:
        gamma = choose_penalty(config).gamma
        config = replace(config, supervision=replace(config.supervision, gamma=gamma))
    return config


def has_few_labels(config: Config, n_instances: int) -> bool:
    """Return whether the data is so small that the model's usual number of epochs would make fewer than `min_steps` steps.

    :param config: a configuration with its defaults filled in.
    """
    training = config.training
    assert training.batch_size
    assert training.max_epochs
    epochs = training.usual_epochs or training.max_epochs
    return epochs * math.ceil(n_instances / training.batch_size) < training.min_steps


def has_length(given: Config) -> bool:
    """Return whether a configuration, before its defaults are filled in, says how long to train."""
    return bool(given.epochs or given.training.usual_epochs or given.training.max_epochs)


def lengthen_training(config: Config, given: Config, n_instances: int) -> Config:
    """Return the configuration with more epochs where the data is so small that the defaults would be too few steps.

    A default number of epochs grows until it makes `min_steps` steps. A search that could not get that far is left out: its
    few held-out instances say little (results/defaults.md). With development data of its own it searches for longer.

    :param given: the configuration before its defaults were filled in; what it sets is kept.
    """
    training, mining = config.training, config.mining
    if has_length(given) or not has_few_labels(config, n_instances):
        return config
    assert training.batch_size
    epochs = math.ceil(training.min_steps / math.ceil(n_instances / training.batch_size))
    if given.training.usual_epochs == 0:
        patience = max(training.patience, epochs // 5)
        names = ("training.max_epochs", *(["training.patience"] if patience > training.patience else []))
        derived = (*training.derived, *names)
        return replace(config, training=replace(training, max_epochs=epochs, patience=patience, derived=derived))
    names = ("training.usual_epochs",)
    if mining.consensus_epochs and given.mining.consensus_epochs is None:
        # Judges keep their share of the epochs of the model they judge for.
        mining = replace(mining, consensus_epochs=epochs * mining.consensus_epochs // (training.usual_epochs or epochs))
        names = (*names, "mining.consensus_epochs")
    derived = (*training.derived, *names)
    return replace(config, training=replace(training, usual_epochs=epochs, derived=derived), mining=mining)


def choose_options(config: Config, given: Config, n_instances: int) -> Config:
    """Return the configuration with the model's options for few labels, unless they, a preset or a run to start from are set.

    :param config: a configuration with its defaults filled in, but not lengthened yet.
    :param given: the configuration before.
    """
    chosen = {
        name: value for name, value in FEW_LABELS_OPTIONS.get(config.model, {}).items() if name not in given.options
    }
    if not chosen or given.preset or given.data.from_pretrained or not has_few_labels(config, n_instances):
        return config
    derived = (*config.training.derived, *(f"options.{name}" for name in chosen))
    return replace(config, options=config.options | chosen, training=replace(config.training, derived=derived))


def non_default_settings(config: Config) -> dict[str, Any]:
    """Return the settings that differ from the preset and the defaults of the configuration's model and method, by dotted name.

    Those that were derived from the training data are left out: nobody chose them.
    """
    supervision = SupervisionConfig(evidence=config.supervision.evidence, penalty=config.supervision.penalty)
    data = DataConfig(from_pretrained=config.data.from_pretrained)
    plain = Config(config.model, config.method, data=data, options=config.options, supervision=supervision)
    usual = resolve(replace(plain, mining=MiningConfig(saliency=config.mining.saliency))).flat()
    options = default_options(config)
    usual |= {f"options.{name}": value for name, value in options.items()}
    usual |= {"mining.saliency": resolve(plain).mining.saliency}
    usual |= {"data.from_pretrained": None}
    usual |= {f"supervision.{name}": getattr(SupervisionConfig(), name) for name in ("evidence", "penalty")}
    usual |= preset_values(config.preset, config.model)
    derived = {"training.derived", *config.training.derived}
    changed = {name: value for name, value in config.flat().items() if value is not None and value != usual.get(name)}
    return {name: value for name, value in changed.items() if name not in derived}


def default_options(config: Config) -> dict[str, Any]:
    """Return the default options of the model."""
    defaults = models.option_defaults(config.model)
    # Random vectors that stay random would carry nothing but the identity of words.
    learned = {"train_embeddings": True} if "train_embeddings" in defaults and not config.data.vectors else {}
    return defaults | learned


def choose_settings(config: Config, device: torch.device) -> Settings:
    """Return how models are trained: as configured, else by the defaults of the model."""
    uses_encoder = models.uses_encoder(config.model)
    defaults = {name: value for name, value in _training_defaults(config).items() if name != "usual_epochs"}
    defaults["precision"] = "bfloat16" if uses_encoder and device.type == "cuda" else "float32"
    # An encoder sees few different widths, so that a step can be captured once for each and replayed.
    defaults["pad_multiple"] = 8 if uses_encoder else 1
    return config.training.settings(defaults)


def _training_defaults(config: Config) -> dict[str, Any]:
    if models.uses_encoder(config.model):
        return _ENCODER_TRAINING
    return _WORD_TRAINING | (_FINE_TUNING if config.data.from_pretrained else {})


def build_saliency(config: Config, name: str) -> Saliency:
    """Return the saliency `name` with its options; `random` scores by gradient and differs in the word it takes."""
    if name == RANDOM:
        name = "self_attention" if refines(config) else "gradient"
    options = {key: getattr(config.mining, key) for key in _SALIENCY_SETTINGS} | {"seed": config.seed}
    known = saliencies.option_names(name)
    return saliencies.build(name, {key: value for key, value in options.items() if key in known})


def refines(config: Config) -> bool:
    """Return whether the attention that is supervised is the encoder's own."""
    return bool(config.options.get("refine", "none") != "none")


def choose_epsilon(config: Config) -> float:
    """Return the configured threshold, or the model's."""
    if config.mining.epsilon is not None:
        return config.mining.epsilon
    by_gradient = methods.find(config.method).saliency(config) in ("gradient", "self_attention")
    default = _EPSILON.get(config.model, 4.0)
    return default if by_gradient else _EPSILON_OF_ATTENTION.get(config.model, default)


def choose_rule(config: Config) -> Rule:
    """Return the rule by which progressive mining takes a word."""
    mining, saliency = config.mining, methods.find(config.method).saliency(config)
    drawn = "nothing" if saliency != RANDOM else "mask" if mining.random_mask else "word"
    return Rule(choose_epsilon(config), drawn, mining.stop_drop, config.seed)


def choose_consensus_rule(config: Config) -> ConsensusRule:
    """Return the rule by which the models of a consensus agree."""
    mining = config.mining
    threshold = _CONSENSUS_THRESHOLD if mining.consensus_threshold is None else mining.consensus_threshold
    return ConsensusRule(threshold, mining.consensus_right, mining.consensus_soft, mining.consensus_words)


def choose_consensus_folds(config: Config) -> int:
    """Return the folds of each seed of a consensus."""
    if config.mining.consensus_folds is not None:
        return config.mining.consensus_folds
    # On word vectors judges of half the data find words as good, for a quarter of the cost (results/benchmarks.md).
    return 5 if models.uses_encoder(config.model) else 2


def choose_consensus_epochs(config: Config) -> int:
    """Return the epochs of each judge; 0: as many as the final model has."""
    if config.mining.consensus_epochs is not None:
        return config.mining.consensus_epochs
    # The judges of an encoder need fewer epochs than the model they judge for.
    return 3 if models.uses_encoder(config.model) else 0


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
    if not 0 <= gamma < math.inf:
        raise InputError(f"gamma is {gamma}; it must be a finite number and not negative")
    return replace(penalty, gamma=gamma)


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
    if not 0 <= config.supervision.ramp <= 1:
        raise InputError(f"ramp is {config.supervision.ramp}; it is a share of the steps, from 0 to 1")


def check_mining(config: Config) -> None:
    """Refuse settings of mining that are out of range, and saliencies that the model does not have."""
    mining, method = config.mining, methods.find(config.method)
    if method.mines:
        for name in method.saliencies(config):
            _check_saliency(config, name)
        method.check(config)
    several = mining.consensus_saliencies
    if RANDOM in several or len(set(several)) < len(several):
        named = ", ".join(several)
        raise InputError(
            f"consensus_saliencies is {named}; name different ones, and not {RANDOM}, which scores no word"
        )
    if mining.noise_on == "input" and not models.takes_input_noise(config.model):
        known = ", ".join(name for name in models.names() if models.takes_input_noise(name))
        raise InputError(f"noise_on is input, which model {config.model} does not take; use states, or one of: {known}")
    if mining.folds < 0 or mining.folds == 1:
        raise InputError(f"folds is {mining.folds}; it can be 0 (no cross-fitting) or at least 2")
    if (right := mining.consensus_right) > (most := mining.consensus_models):
        raise InputError(f"consensus_right is {right}; it must be at most consensus_models, {most}")
    for name in (method.saliency(config), *several):
        build_saliency(config, name)
    choose_rule(config)
    choose_consensus_rule(config)


def _check_saliency(config: Config, name: str) -> None:
    """Refuse a saliency that scores nothing in this model."""
    attends = models.attends(config.model, config.options)
    needed = "states" if name == RANDOM else saliencies.needs(name)
    if needed == "attention" and not attends:
        raise InputError(f"model {config.model} has no attention to mine; {_attending(config)}")
    if needed == "states" and models.uses_encoder(config.model) and not attends:
        reason = f"model {config.model} passes nothing on from the states of words, so gradients there are zero"
        raise InputError(f"{reason}; {_attending(config)}")
    if needed == "refined" and not refines(config):
        raise InputError(f"saliency {name} needs a model whose self-attention is refined; {_attending(config)}")


def _attending(config: Config) -> str:
    known = ", ".join(name for name in models.names() if models.attends(name))
    refine = ", or options.refine" if "refine" in models.option_defaults(config.model) else ""
    return f"method {config.method} needs a model that attends: {known}{refine}"


def unused_settings(config: Config, changes: Mapping[str, Any]) -> tuple[str, ...]:
    """Return those of `changes`, by bare or dotted name, that training with `config` ignores."""
    method = methods.find(config.method)
    return tuple(key for section, key in config.places(changes) if not method.uses(config, section, key))


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
