"""Training: one loop for every model, objective and stage."""

from pssa.training.checkpoint import Checkpoint, CheckpointStore
from pssa.training.fit import fit, search_epochs
from pssa.training.history import EpochRecord, NullObserver, Observer, best_epoch
from pssa.training.losses import Supervision
from pssa.training.parallel import Team, team
from pssa.training.settings import Settings
from pssa.training.task import Task

__all__ = [
    "Checkpoint",
    "CheckpointStore",
    "EpochRecord",
    "NullObserver",
    "Observer",
    "Settings",
    "Supervision",
    "Task",
    "Team",
    "best_epoch",
    "fit",
    "search_epochs",
    "team",
]
