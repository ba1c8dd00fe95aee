"""What is asked for and made no use of: settings that are not of the method, and labels that no instance has.

Neither is an error: one file of settings can serve several methods, and data may come to have a label that it has not yet. Who
trains is told.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pssa.data.example import Corpus
from pssa.errors import InputError, option_arguments
from pssa.runs import methods
from pssa.runs.config import Config
from pssa.runs.defaults import mines
from pssa.training import Team

__all__ = ["refuse_supervision", "unused_settings", "warn_of_absent_labels", "warn_of_unused"]

# Settings of the rounds of mining, which a consensus has not.
_OF_ROUNDS = ("epsilon", "iterations", "round_epochs", "start", "folds", "random_mask", "stop_drop")


def unused_settings(config: Config, asked: Mapping[str, Any]) -> tuple[str, ...]:
    """Those of `asked`, by bare or dotted name, that training with `config` makes no use of."""
    return tuple(key for section, key in config.places(asked) if _is_unused(config, section, key))


def warn_of_unused(config: Config, asked: Mapping[str, Any]) -> None:
    """Warn where `asked` names what the method of `config` makes no use of, and say which methods do."""
    methods.find(config.method)
    unused = unused_settings(config, asked)
    # Of processes that train together, the leader speaks.
    if not unused or not Team.from_environment().is_main:
        return
    others = [name for name in methods.names() if not unused_settings(replace(config, method=name), asked)]
    remedy = f", or take a method that does: {', '.join(others)}" if others else ""
    told = f"method {config.method} makes no use of {', '.join(unused)}"
    warnings.warn(f"{told}; leave out what changes nothing{remedy}", stacklevel=3)


def warn_of_absent_labels(corpus: Corpus) -> None:
    """Warn of labels that no instance to train on has: a macro-F1 over all labels counts each of them as 0."""
    counts = corpus.label_counts()
    absent = [label for label in corpus.labels if not counts[label]]
    if absent and Team.from_environment().is_main:
        present = option_arguments("labels", ",".join(label for label in corpus.labels if counts[label]))
        declare = f"declare those that occur with `labels` ({shlex.join(present)})"
        remedy = "leave out --conflict keep" if absent == ["conflict"] else declare
        told = f"no training instance is {' or '.join(absent)}, so that macro-F1 counts each such label as 0"
        warnings.warn(f"{told}; {remedy}", stacklevel=3)


def refuse_supervision(config: Config, asked: Mapping[str, Any]) -> None:
    """Refuse settings of the final training, which mining alone does not have.

    :raises InputError: for the first of them.
    """
    for section, key in config.places(asked):
        if section == "supervision":
            raise InputError(f"{key} is of the final training, and mining ends before it; give it to pssa train")


def _is_unused(config: Config, section: str, key: str) -> bool:
    if section == "supervision":
        return not mines(config.method) and not config.supervision.evidence
    if section != "mining":
        return False
    if not mines(config.method):
        return True
    return key in _OF_ROUNDS if config.method == "consensus" else key.startswith("consensus_")
