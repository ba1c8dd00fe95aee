"""What a finished run knows of itself, in words: for its model card and for its report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pssa.runs.config import Config
from pssa.runs.defaults import mines

__all__ = ["RunFacts"]


@dataclass(frozen=True)
class RunFacts:
    """Facts, each as one line says it."""

    parameters: str  # how many are trained
    members: str  # after that, where several vote
    data: str
    digest: str
    epochs: str
    when: str  # the development score was measured

    @classmethod
    def of(cls, config: Config, metrics: dict[str, Any]) -> RunFacts:
        """The facts of a run with this configuration and these `metrics.json`."""
        counts = ", ".join(f"{count} {label}" for label, count in metrics["labels"].items())
        dropped = "".join(f"; {count} dropped as {reason}" for reason, count in metrics["dropped"].items())
        unsearched = " (given, not searched)" if config.epochs else " (usual for encoders)"
        mined = mines(config.method) and not config.supervision.evidence
        return cls(
            parameters=f"{metrics['parameters']:,}",
            members=f", {metrics['members']} members that vote" if metrics["members"] > 1 else "",
            data=f"{metrics['instances']} instances ({counts}){dropped}",
            digest=metrics["corpus_hash"][:16],
            epochs=f"{metrics['epochs']}{'' if metrics['dev'] else unsearched}",
            when=", before mining" if mined else "",
        )
