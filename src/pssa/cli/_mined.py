"""What `pssa mine` and `pssa train` say of a mining that found nothing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pssa.runs import Config

__all__ = ["warn_of_nothing"]


def warn_of_nothing(config: Config, meaning: str) -> None:
    """Say on standard error that there is no word, why, and what to change.

    :param meaning: what follows from it.
    """
    print(f"pssa: warning: {_reason(config)}, so {meaning}{_remedy(config)}", file=sys.stderr)


def _reason(config: Config) -> str:
    from pssa.cli._output import counted
    from pssa.runs.defaults import choose_consensus, choose_epsilon

    if config.supervision.evidence:
        return "the evidence has no word"
    if config.method != "consensus":
        return f"no sentence had an entropy below epsilon {choose_epsilon(config):g}"
    needed = config.mining.consensus_right
    right = f"{counted(needed, 'model')} (consensus_right) {'was' if needed == 1 else 'were'} right"
    if config.mining.consensus_soft:
        return f"on no sentence {right}"
    threshold = choose_consensus(config, "consensus_threshold")
    return f"no word exceeded consensus_threshold {threshold:g} where {right}"


def _remedy(config: Config) -> str:
    if config.supervision.evidence:
        return ""
    if config.method != "consensus":
        return "; raise it with --epsilon"
    name = "consensus_right" if config.mining.consensus_soft else "consensus_threshold"
    return f"; lower it with --set {name}=..."
