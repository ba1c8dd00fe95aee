"""Values that depend on the model or the method, and combinations that make no sense.

Epsilon is the paper's. Gamma of the `tuned` penalty was chosen on held-out data of LAPTOP and REST (results/tuning.md).
"""

from __future__ import annotations

from dataclasses import replace

from pssa import models
from pssa.errors import InputError
from pssa.runs.config import Config
from pssa.training.supervision import PENALTIES, WORDS, Penalty

__all__ = ["RANDOM", "check_method", "choose_epsilon", "choose_penalty", "choose_saliency"]

# Mining with this name gates and routes on gradient scores and takes a random word.
RANDOM = "random"
_SALIENCY_OF = {"aw-as": "attention", "pg-as": "gradient", "rm-as": RANDOM, "consensus": "attention"}
_EPSILON = {"memnet": 3.0, "tnet_att": 4.0}
_TUNED_GAMMA = {"memnet": 1.0, "tnet_att": 1.0}


def choose_saliency(config: Config) -> str:
    """The saliency that is asked for, or the method's own."""
    return config.mining.saliency or _SALIENCY_OF.get(config.method, "gradient")


def choose_epsilon(config: Config) -> float:
    """The threshold that is asked for, or the model's."""
    return config.mining.epsilon or _EPSILON.get(config.model, 4.0)


def choose_penalty(config: Config) -> Penalty:
    """The penalty with the gamma that is asked for, or its own."""
    settings = config.supervision
    if settings.penalty not in PENALTIES:
        raise InputError(f"penalty is {settings.penalty!r}; it can be {', '.join(PENALTIES)}")
    if settings.gamma < 0:
        raise InputError(f"gamma is {settings.gamma}; it must not be negative")
    penalty = PENALTIES[settings.penalty]
    tuned = _TUNED_GAMMA.get(config.model, penalty.gamma) if settings.penalty == "tuned" else penalty.gamma
    return replace(penalty, gamma=settings.gamma or tuned)


def check_method(config: Config) -> None:
    """Refuse what cannot work before anything is read or written."""
    supervised = config.method in _SALIENCY_OF or config.supervision.evidence
    if supervised and not models.attends(config.model):
        raise InputError(
            f"model {config.model} has no attention to supervise; method {config.method} needs one that attends: "
            + ", ".join(name for name in models.names() if models.attends(name))
        )
    if config.supervision.evidence and config.method != "base":
        raise InputError(f"--evidence goes with method base, since {config.method} would mine its own or use none")
    if config.mining.start not in ("continue", "restart"):
        raise InputError(f"start is {config.mining.start!r}; it can be continue or restart")
    if config.supervision.words not in WORDS:
        raise InputError(f"words is {config.supervision.words!r}; it can be {', '.join(WORDS)}")
    for name in ("iterations", "round_epochs"):
        if getattr(config.mining, name) < 1:
            raise InputError(f"{name} is {getattr(config.mining, name)}; it must be at least 1")
    if config.mining.folds == 1:
        raise InputError("folds is 1; it can be 0 (no cross-fitting) or at least 2")
    choose_penalty(config)
