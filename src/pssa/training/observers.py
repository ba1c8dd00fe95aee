"""Observers of a training: the base class, one for experiment trackers, and two that pass on what they hear."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pssa.data.evidence import Evidence, RoundReport
from pssa.training.checkpoint import EpochRecord


class Observer:
    """Callbacks of a training, which do nothing: a base for those that need some of them. They cannot change its result."""

    def on_vectors(self, read: int, total: int) -> None:
        """`read` of the `total` bytes of the vector file are read."""

    def on_stage(self, stage: str, steps: int) -> None:
        """A stage of at most `steps` epochs or rounds begins."""

    def on_step(self, step: int, steps: int) -> None:
        """The first `step` steps of a stage are done, of at most `steps`."""

    def on_epoch(self, record: EpochRecord) -> None:
        """An epoch ended."""

    def on_stage_end(self, stage: str) -> None:
        """A stage ended."""

    def on_round(self, report: RoundReport) -> None:
        """A round of mining ended."""

    def on_finish(self, metrics: dict[str, Any], evidence: Evidence | None) -> None:
        """A run ended."""


@dataclass(frozen=True)
class LogObserver(Observer):
    """An observer that passes numbers to any function that takes a dict, such as `trackio.log` or `wandb.log`.

    It calls `log` after each epoch with `STAGE/epoch`, `STAGE/loss`, `STAGE/accuracy` and, where there is a penalty or
    development data, `STAGE/penalty`, `STAGE/dev_accuracy` and `STAGE/dev_macro_f1`; after each round of mining with
    `mining/...`; and at the end with `run/...`. Shares are fractions.
    """

    log: Callable[[dict[str, float]], object]

    def on_epoch(self, record: EpochRecord) -> None:
        """Log the numbers of an epoch."""
        values = {key: value for key, value in record.as_dict().items() if key != "stage"}
        if not record.penalty:
            del values["penalty"]
        self._log(record.stage, values)

    def on_round(self, report: RoundReport) -> None:
        """Log the numbers of a round of mining."""
        names = ("iteration", "active", "misleading", "accuracy", "mean_entropy", "open_share")
        self._log("mining", {name: getattr(report, name) for name in names})

    def on_finish(self, metrics: dict[str, Any], evidence: Evidence | None) -> None:
        """Log the numbers of the whole run."""
        dev = {f"dev_{name}": value for name, value in (metrics.get("dev") or {}).items()}
        self._log("run", {name: metrics.get(name) for name in ("instances", "epochs", "parameters")} | dev)

    def _log(self, prefix: str, values: Mapping[str, Any]) -> None:
        self.log({f"{prefix}/{name}": float(value) for name, value in values.items() if value is not None})


class Forwarder(Observer):
    """An observer that hands each call to one function, with the call's name and arguments."""

    def __init__(self, forward: Callable[..., None]) -> None:
        for name in vars(Observer):
            if name.startswith("on_"):
                setattr(self, name, partial(forward, name))


class ObserverGroup(Forwarder):
    """Several observers as one."""

    def __init__(self, observers: tuple[Observer, ...]) -> None:
        super().__init__(self._call_each)
        self.observers = observers

    def _call_each(self, name: str, *arguments: object) -> None:
        for observer in self.observers:
            getattr(observer, name)(*arguments)
