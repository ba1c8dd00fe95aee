"""Mining: from trained models to the words they should attend to, and those that misled them."""

from pssa.mining.consensus import ConsensusRule, agree
from pssa.mining.progressive import Mined, Miner, Procedure, Rule, mine

__all__ = ["ConsensusRule", "Mined", "Miner", "Procedure", "Rule", "agree", "mine"]
