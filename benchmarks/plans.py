"""What `benchmarks/method.py` can be asked for: ways of mining, and plans of which final models are trained with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pssa.runs.config import UNSET

__all__ = ["PLANS", "VARIANTS", "Plan"]

# variant -> settings of its mining
VARIANTS: dict[str, dict[str, Any]] = {
    "aw": {"method": "aw-as"},
    "pg": {"method": "pg-as"},
    "rm": {"method": "rm-as"},
    "aw-1": {"method": "aw-as", "round_epochs": 1},
    "pg-1": {"method": "pg-as", "round_epochs": 1},
    "aw-2": {"method": "aw-as", "round_epochs": 2},
    "pg-2": {"method": "pg-as", "round_epochs": 2},
    "aw-restart": {"method": "aw-as", "start": "restart"},
    "pg-restart": {"method": "pg-as", "start": "restart"},
    "aw-folds": {"method": "aw-as", "folds": 5, "iterations": 1},
    "pg-folds": {"method": "pg-as", "folds": 5, "iterations": 1},
    "aw-stop": {"method": "aw-as", "stop_drop": 0.05},
    "consensus": {"method": "consensus"},
    "consensus-soft": {"method": "consensus", "consensus_soft": True},
    # For encoders: a judge needs fewer epochs than the model that it judges for.
    "consensus-2": {"method": "consensus", "consensus_epochs": 2},
    "consensus-3": {"method": "consensus", "consensus_epochs": 3},
    "consensus-3-soft": {"method": "consensus", "consensus_epochs": 3, "consensus_soft": True},
    "refine-random": {"method": "pg-as", "refine": "random_head"},
    "refine-entropy": {"method": "pg-as", "refine": "smallest_entropy"},
    "refine-average": {"method": "pg-as", "refine": "average"},
}


@dataclass(frozen=True)
class Plan:
    """Which finals are trained: (variant, rounds, gammas)."""

    finals: tuple[tuple[str, int, tuple[float, ...]], ...]
    human_gammas: tuple[float, ...] = ()


PLANS = {
    "base": Plan(()),
    "smoke": Plan((("aw", 1, (2.0,)),), human_gammas=(2.0,)),
    "tuning": Plan(
        (
            ("aw-2", 5, (0.5, 2.0, 8.0)),
            ("aw-2", 1, (0.5, 2.0, 8.0)),
            ("pg-2", 5, (0.5, 2.0, 8.0)),
            ("pg-2", 1, (0.5, 2.0, 8.0)),
            ("pg-1", 5, (2.0,)),
            ("pg-restart", 5, (2.0,)),
            ("aw-1", 5, (2.0,)),
            ("aw-restart", 5, (2.0,)),
        ),
        human_gammas=(0.5, 2.0, 8.0),
    ),
    "test": Plan(
        (
            ("aw", 5, (UNSET,)),
            ("aw", 2, (UNSET,)),
            ("aw", 1, (UNSET,)),
            ("pg", 5, (UNSET,)),
            ("pg", 2, (UNSET,)),
            ("pg", 1, (UNSET,)),
            ("rm", 5, (UNSET,)),
            ("aw-folds", 1, (UNSET,)),
            ("pg-folds", 1, (UNSET,)),
        ),
        human_gammas=(UNSET,),
    ),
    "consensus": Plan((("consensus", 1, (UNSET,)), ("consensus-soft", 1, (UNSET,)))),
    "encoder-tuning": Plan(
        (
            ("aw", 1, (1.0, 5.0, 20.0)),
            ("aw", 5, (1.0, 5.0, 20.0)),
            ("pg", 1, (1.0, 5.0, 20.0)),
            ("pg", 5, (1.0, 5.0, 20.0)),
            ("consensus-3", 1, (1.0, 5.0, 20.0)),
            ("consensus-3-soft", 1, (1.0, 5.0, 20.0)),
        ),
        human_gammas=(1.0, 5.0, 20.0),
    ),
    "encoder": Plan((("aw", 5, (UNSET,)), ("pg", 5, (UNSET,))), human_gammas=(1.0,)),
    "encoder-consensus": Plan((("consensus-2", 1, (1.0,)),)),
    "refine": Plan((("refine-random", 5, (UNSET,)), ("refine-entropy", 5, (UNSET,)), ("refine-average", 5, (UNSET,)))),
}
