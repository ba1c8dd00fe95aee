"""Values that depend on the model or the method, and combinations that make no sense.

Epsilon is the paper's. Gamma of the `tuned` penalty was chosen on held-out data of LAPTOP and REST (results/tuning.md).
"""

from __future__ import annotations

import math
from dataclasses import replace

from pssa import models
from pssa import saliency as saliencies
from pssa.errors import InputError
from pssa.mining import Agreement, Rule
from pssa.runs.config import UNSET, Config
from pssa.saliency import Saliency
from pssa.training.supervision import PENALTIES, WORDS, Penalty

__all__ = [
    "RANDOM",
    "build_saliency",
    "check_mining",
    "check_supervision",
    "choose_agreement",
    "choose_epsilon",
    "choose_penalty",
    "choose_rule",
    "choose_saliency",
    "mines",
    "resolve",
    "unresolve",
]

# Mining with this name gates and routes on gradient scores and takes a random word.
RANDOM = "random"
_SALIENCY_OF = {"aw-as": "attention", "pg-as": "gradient", "rm-as": RANDOM, "consensus": "attention"}
_EPSILON = {"memnet": 3.0, "tnet_att": 4.0}
_LEAST = {"iterations": 1, "round_epochs": 1, "consensus_models": 1, "consensus_folds": 2}
_TUNED_GAMMA = {"memnet": 2.0, "tnet_att": 0.5}


def mines(method: str) -> bool:
    """Whether the method makes evidence of its own."""
    return method in _SALIENCY_OF


def choose_saliency(config: Config) -> str:
    """The saliency that is asked for, or the method's own."""
    return config.mining.saliency or _SALIENCY_OF.get(config.method, "gradient")


def build_saliency(config: Config) -> Saliency:
    """The saliency with its options; `random` scores by gradient and differs only in the word it takes."""
    name, mining = choose_saliency(config), config.mining
    if name not in (RANDOM, "gradient"):
        return saliencies.build(name, {})
    options = {key: getattr(mining, key) for key in ("samples", "sigma", "target", "signed_shift", "average")}
    return saliencies.build("gradient", options | {"seed": config.seed})


def resolve(config: Config) -> Config:
    """The configuration with every default that depends on model or method filled in, so that it stays what it was."""
    if mines(config.method):
        chosen = replace(config.mining, saliency=choose_saliency(config), epsilon=choose_epsilon(config))
        config = replace(config, mining=chosen)
    if mines(config.method) or config.supervision.evidence:
        config = replace(config, supervision=replace(config.supervision, gamma=choose_penalty(config).gamma))
    return config


def unresolve(config: Config) -> Config:
    """The configuration without what `resolve` filled in, so that another model or method gets its own defaults."""
    free = replace(
        config,
        mining=replace(config.mining, saliency="", epsilon=UNSET),
        supervision=replace(config.supervision, gamma=UNSET),
    )
    return config if resolve(free) != config else free


def choose_epsilon(config: Config) -> float:
    """The threshold that is asked for, or the model's."""
    return _EPSILON.get(config.model, 4.0) if config.mining.epsilon == UNSET else config.mining.epsilon


def choose_rule(config: Config) -> Rule:
    """When progressive mining takes a word."""
    is_random, mining = choose_saliency(config) == RANDOM, config.mining
    return Rule(
        choose_epsilon(config),
        random_pick=is_random and not mining.random_mask,
        random_mask=is_random and mining.random_mask,
        stop_drop=mining.stop_drop or None,
        seed=config.seed,
    )


def choose_agreement(config: Config) -> Agreement:
    """When the models of a consensus agree."""
    mining = config.mining
    return Agreement(mining.consensus_right, mining.consensus_threshold, mining.consensus_soft)


def choose_penalty(config: Config) -> Penalty:
    """The penalty with the gamma that is asked for, or its own."""
    settings = config.supervision
    if settings.penalty not in PENALTIES:
        raise InputError(f"penalty is {settings.penalty!r}; it can be {', '.join(PENALTIES)}")
    if settings.gamma != UNSET and not 0 <= settings.gamma < math.inf:
        raise InputError(f"gamma is {settings.gamma}; it must be a finite number and not negative")
    penalty = PENALTIES[settings.penalty]
    tuned = _TUNED_GAMMA.get(config.model, penalty.gamma) if settings.penalty == "tuned" else penalty.gamma
    return replace(penalty, gamma=tuned if settings.gamma == UNSET else settings.gamma)


def check_supervision(config: Config) -> None:
    """Refuse a final training that cannot be supervised as asked."""
    supervised = mines(config.method) or config.supervision.evidence
    if supervised and not models.attends(config.model):
        raise InputError(f"model {config.model} has no attention to supervise; {_attending(config)}")
    if config.supervision.evidence and config.method != "base":
        raise InputError(f"--evidence goes with method base, since {config.method} would mine its own or use none")
    if config.supervision.words not in WORDS:
        raise InputError(f"words is {config.supervision.words!r}; it can be {', '.join(WORDS)}")
    choose_penalty(config)


def check_mining(config: Config) -> None:
    """Refuse settings of mining that are out of range, or attention where there is none."""
    mining = config.mining
    if mines(config.method) and choose_saliency(config) == "attention" and not models.attends(config.model):
        raise InputError(f"model {config.model} has no attention to mine; {_attending(config)}")
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
    build_saliency(config)
    choose_rule(config)
    choose_agreement(config)


def _attending(config: Config) -> str:
    known = ", ".join(name for name in models.names() if models.attends(name))
    return f"method {config.method} needs a model that attends: {known}"
