"""Values that depend on the model or the method, and combinations that make no sense.

Epsilon is the paper's, and so is how encoders are trained, with batches, epochs and clipping as released. Gamma of the `tuned`
penalty was chosen on held-out data of LAPTOP and REST (results/tuning.md, results/encoder-tuning.md).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch

from pssa import models
from pssa import saliency as saliencies
from pssa.errors import InputError
from pssa.mining import ConsensusRule, Rule
from pssa.runs.config import UNSET, UNSET_TRAINING, Config
from pssa.saliency import Saliency
from pssa.training import Settings
from pssa.training.supervision import PENALTIES, Penalty, check_use

__all__ = [
    "OF_STATES",
    "RANDOM",
    "build_saliency",
    "check_mining",
    "check_supervision",
    "choose_consensus",
    "choose_consensus_rule",
    "choose_epsilon",
    "choose_penalty",
    "choose_rule",
    "choose_saliencies",
    "choose_saliency",
    "choose_settings",
    "mines",
    "refines",
    "resolve",
    "unresolve",
]

# Mining with this name gates and routes on gradient scores and takes a random word.
RANDOM = "random"
_SALIENCY_OF = {"aw-as": "attention", "pg-as": "gradient", "rm-as": RANDOM}
_EPSILON = {"memnet": 3.0, "tnet_att": 4.0}
# Saliencies of what a model passes on from the states of words.
OF_STATES = ("gradient", "integrated_gradients")
# Bits, of what is not gradient saliency.
_EPSILON_OF_ATTENTION = {"bertabsa_att": 5.0}
_LEAST = {
    "iterations": 1,
    "round_epochs": 1,
    "consensus_models": 1,
    "consensus_folds": 2,
    "consensus_epochs": -1,
    "consensus_words": 1,
}
# What is lost without a word says more of it than attention does (results/ideas.md).
_USUAL_CONSENSUS: dict[str, Any] = {"saliency": "leave_one_out", "consensus_threshold": 0.2}
# By what a model reads: the judges of an encoder need fewer epochs than the model they judge for.
_USUAL_CONSENSUS_EPOCHS = {"words": 0, "pieces": 3, "pairs": 3}
_TUNED_GAMMA = {"memnet": 2.0, "tnet_att": 0.5, "bertabsa_att": 5.0}
# By what a model reads; `usual_epochs` 0: a search on development data.
_USUAL_TRAINING: dict[str, dict[str, Any]] = {
    "words": {
        "learning_rate": 0.001,
        "batch_size": 64,
        "clip_norm": 5.0,
        "schedule": "constant",
        "warmup": 0.0,
        "usual_epochs": 0,
        "max_epochs": 40,
    },
    "pieces": {
        "learning_rate": 2e-5,
        "batch_size": 16,
        "clip_norm": 1.0,
        "schedule": "linear",
        "warmup": 0.1,
        "usual_epochs": 6,
        "max_epochs": 6,
    },
}
_USUAL_TRAINING["pairs"] = _USUAL_TRAINING["pieces"]
# Encoders see few different widths, so that a step can be captured once for each and replayed.
_PAD_MULTIPLE = {"words": 1, "pieces": 8, "pairs": 8}


def mines(method: str) -> bool:
    """Whether the method makes evidence of its own."""
    return method in _SALIENCY_OF or method == "consensus"


def choose_saliency(config: Config) -> str:
    """The saliency that is asked for, or the method's own.

    Where self-attention is refined, the gradient of the top layer's states is zero, and that of its attention takes its place.
    """
    own = (
        choose_consensus(config, "saliency")
        if config.method == "consensus"
        else _SALIENCY_OF.get(config.method, "gradient")
    )
    return config.mining.saliency or ("self_attention" if own == "gradient" and refines(config) else own)


def choose_consensus(config: Config, name: str) -> Any:
    """The setting `name` of a consensus: what is asked for or, where it is unset, usual."""
    usual = _USUAL_CONSENSUS | {"consensus_epochs": _USUAL_CONSENSUS_EPOCHS[models.reads(config.model)]}
    asked = getattr(config.mining, name)
    return usual[name] if asked in ("", UNSET) else asked


def refines(config: Config) -> bool:
    """Whether the attention that is supervised is the encoder's own."""
    return bool(config.options.get("refine", "none") != "none")


def choose_saliencies(config: Config) -> tuple[str, ...]:
    """Those whose mean the models of a consensus score by; usually one."""
    several = config.mining.consensus_saliencies if config.method == "consensus" else ()
    return several or (choose_saliency(config),)


def build_saliency(config: Config, name: str = "") -> Saliency:
    """The saliency `name`, or the chosen one, with its options; `random` scores by gradient and differs in the word it takes."""
    name, mining = name or choose_saliency(config), config.mining
    if name == "self_attention" or (name == RANDOM and refines(config)):
        return saliencies.build(
            "self_attention", {"samples": mining.samples, "sigma": mining.sigma, "seed": config.seed}
        )
    if name not in (RANDOM, "gradient"):
        return saliencies.build(name, {})
    options = {key: getattr(mining, key) for key in ("samples", "sigma", "target", "signed_shift", "average")}
    return saliencies.build("gradient", options | {"seed": config.seed})


def resolve(config: Config) -> Config:
    """The configuration with every default that depends on model or method filled in, so that it stays what it was."""
    training = replace(config.training, **_usual_values(config))
    config = replace(config, training=training)
    if mines(config.method):
        chosen = replace(config.mining, saliency=choose_saliency(config), epsilon=choose_epsilon(config))
        if config.method == "consensus":
            names = (*_USUAL_CONSENSUS, "consensus_epochs")
            chosen = replace(chosen, **{name: choose_consensus(config, name) for name in names})
        config = replace(config, mining=chosen)
    if mines(config.method) or config.supervision.evidence:
        gamma = choose_penalty(config).gamma
        config = replace(config, supervision=replace(config.supervision, gamma=gamma))
    return config


def unresolve(config: Config) -> Config:
    """The configuration without what `resolve` would fill in again, so that another model or method gets its own defaults."""
    unset: dict[str, dict[str, Any]] = {
        "mining": {"saliency": "", "epsilon": UNSET, "consensus_threshold": UNSET, "consensus_epochs": -1},
        "supervision": {"gamma": UNSET},
        "training": UNSET_TRAINING,
    }
    for section, values in unset.items():
        for name, value in values.items():
            part: Any = replace(getattr(config, section), **{name: value})
            free = replace(config, **{section: part})
            config = free if resolve(free) == resolve(config) else config
    return config


def choose_settings(config: Config, device: torch.device) -> Settings:
    """How models are trained: as asked for, else as is usual for what the model reads."""
    reads = models.reads(config.model)
    usual = {name: value for name, value in _USUAL_TRAINING[reads].items() if name != "usual_epochs"}
    quick = reads != "words" and device.type == "cuda"
    usual |= {"precision": "bfloat16" if quick else "float32", "pad_multiple": _PAD_MULTIPLE[reads]}
    return config.training.settings(usual)


def _usual_values(config: Config) -> dict[str, Any]:
    usual = _USUAL_TRAINING[models.reads(config.model)]
    return {name: usual[name] for name, unset in UNSET_TRAINING.items() if getattr(config.training, name) == unset}


def choose_epsilon(config: Config) -> float:
    """The threshold that is asked for, or the model's."""
    if config.mining.epsilon != UNSET:
        return config.mining.epsilon
    by_gradient = choose_saliency(config) in ("gradient", "self_attention")
    usual = _EPSILON.get(config.model, 4.0)
    return usual if by_gradient else _EPSILON_OF_ATTENTION.get(config.model, usual)


def choose_rule(config: Config) -> Rule:
    """When progressive mining takes a word."""
    mining = config.mining
    drawn = "nothing" if choose_saliency(config) != RANDOM else "mask" if mining.random_mask else "word"
    return Rule(choose_epsilon(config), drawn, mining.stop_drop or None, config.seed)


def choose_consensus_rule(config: Config) -> ConsensusRule:
    """When the models of a consensus agree."""
    mining = config.mining
    threshold = choose_consensus(config, "consensus_threshold")
    return ConsensusRule(threshold, mining.consensus_right, mining.consensus_soft, mining.consensus_words)


def choose_penalty(config: Config) -> Penalty:
    """The penalty with the gamma that is asked for, or its own."""
    settings = config.supervision
    if settings.penalty not in PENALTIES:
        raise InputError(f"penalty is {settings.penalty!r}; it can be {', '.join(PENALTIES)}")
    if settings.gamma != UNSET and not 0 <= settings.gamma < math.inf:
        raise InputError(f"gamma is {settings.gamma}; it must be a finite number and not negative")
    penalty = PENALTIES[settings.penalty]
    if settings.gamma != UNSET:
        return replace(penalty, gamma=settings.gamma)
    if settings.penalty != "tuned":
        return penalty
    return replace(penalty, gamma=_TUNED_GAMMA.get(config.model, penalty.gamma))


def check_supervision(config: Config) -> None:
    """Refuse a final training that cannot be supervised as asked."""
    supervised = mines(config.method) or config.supervision.evidence
    if supervised and not models.attends(config.model, config.options):
        raise InputError(f"model {config.model} has no attention to supervise; {_attending(config)}")
    if config.supervision.evidence and config.method != "base":
        raise InputError(
            f"`evidence` (--evidence) goes with method base, since {config.method} would mine its own or use none"
        )
    check_use(choose_penalty(config), config.supervision.words, config.supervision.weighting)
    if not 0 <= config.supervision.ramp <= 1:
        raise InputError(f"ramp is {config.supervision.ramp}; it is a share of the steps, from 0 to 1")


def check_mining(config: Config) -> None:
    """Refuse settings of mining that are out of range, or attention where there is none."""
    mining = config.mining
    for name in choose_saliencies(config) if mines(config.method) else ():
        _check_saliency(config, name)
    several = mining.consensus_saliencies
    if RANDOM in several or len(set(several)) < len(several):
        raise InputError(
            f"consensus_saliencies is {', '.join(several)}; name different ones, and not {RANDOM}, which scores no word"
        )
    if mining.start not in ("continue", "restart"):
        raise InputError(f"start is {mining.start!r}; it can be continue or restart")
    for name, least in _LEAST.items():
        if getattr(mining, name) < least:
            raise InputError(f"{name} is {getattr(mining, name)}; it must be at least {least}")
    if mining.folds < 0 or mining.folds == 1:
        raise InputError(f"folds is {mining.folds}; it can be 0 (no cross-fitting) or at least 2")
    if mining.consensus_right > mining.consensus_models:
        raise InputError(
            f"consensus_right is {mining.consensus_right}; it must be at most consensus_models, {mining.consensus_models}"
        )
    for name in (choose_saliency(config), *several):
        build_saliency(config, name)
    choose_rule(config)
    choose_consensus_rule(config)


def _check_saliency(config: Config, name: str) -> None:
    """Refuse to mine by what the model does not have."""
    attends = models.attends(config.model, config.options)
    if name == "attention" and not attends:
        raise InputError(f"model {config.model} has no attention to mine; {_attending(config)}")
    passes_on = models.reads(config.model) == "words" or attends
    if name in (*OF_STATES, RANDOM) and not passes_on:
        raise InputError(
            f"model {config.model} passes nothing on from the states of words, so gradients there are zero; {_attending(config)}"
        )
    if name == "self_attention" and not refines(config):
        raise InputError(f"saliency self_attention needs a model whose self-attention is refined; {_attending(config)}")
    # A head is drawn with the weights, so that models of other seeds would judge by other heads than the one that is supervised.
    drawn = config.options.get("refine") == "random_head" and config.method == "consensus"
    if drawn and name in ("attention", "self_attention", RANDOM) and config.mining.consensus_models > 1:
        raise InputError(
            f"refine is random_head, and each of the {config.mining.consensus_models} models of a consensus would score by "
            f"{name} of a head of its own; set refine to average or smallest_entropy, or saliency to leave_one_out"
        )


def _attending(config: Config) -> str:
    known = ", ".join(name for name in models.names() if models.attends(name))
    refine = ", or options.refine" if "refine" in models.option_defaults(config.model) else ""
    return f"method {config.method} needs a model that attends: {known}{refine}"
