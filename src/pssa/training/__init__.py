"""Training: one loop for every model, objective and stage."""

from pssa.training.checkpoint import Checkpoint, CheckpointStore, EpochRecord, best_epoch
from pssa.training.fit import fit, search_epochs
from pssa.training.observers import LogObserver, Observer, ObserverGroup
from pssa.training.parallel import Team, team
from pssa.training.supervision import Supervision
from pssa.training.task import Settings, Task

__all__ = [
    "Checkpoint",
    "CheckpointStore",
    "EpochRecord",
    "LogObserver",
    "Observer",
    "ObserverGroup",
    "Settings",
    "Supervision",
    "Task",
    "Team",
    "best_epoch",
    "fit",
    "search_epochs",
    "team",
]
