"""`mine`: the stages of a method up to its evidence, without the final training."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pssa.data.evidence import Evidence
from pssa.data.evidence_file import write_evidence
from pssa.data.example import Corpus
from pssa.data.files import require_writable
from pssa.errors import InputError
from pssa.runs import methods
from pssa.runs.config import Config
from pssa.runs.defaults import mines
from pssa.runs.device import choose_device
from pssa.runs.methods import consensus, progressive
from pssa.runs.run_context import RunContext
from pssa.runs.training_run import prepare
from pssa.runs.unused import refuse_supervision, warn_of_absent_labels, warn_of_unused
from pssa.training import NullObserver, Observer, team

__all__ = ["mine"]


def mine(
    data: str | Path | Corpus | None,
    out: str | Path,
    *,
    dev: str | Path | Corpus | None = None,
    config: Config | None = None,
    observer: Observer | None = None,
    on_vectors: Callable[[int, int], None] | None = None,
    **settings: Any,
) -> Evidence:
    """Mine evidence with the method and the settings that `train` takes, and write it to the file `out`.

    :raises InputError: if a file or a setting cannot be used, or if `out` exists; it is never overwritten.
    """
    if Path(out).exists():
        raise InputError(f"{out} exists already; choose another `out` (--out)")
    if not Path(out).parent.is_dir():
        raise InputError(f"{Path(out).parent} is not a directory; `out` (--out) must name a file in one that exists")
    require_writable(out)
    config = (config or Config()).updated(settings)
    if not mines(config.method):
        raise InputError(f"method {config.method} does not mine; take " + ", ".join(filter(mines, methods.names())))
    refuse_supervision(config, settings)
    warn_of_unused(config, settings)
    if config.supervision.evidence:
        raise InputError(f"evidence is {config.supervision.evidence}; it is for training, and mining makes its own")
    with team(choose_device(config.device)) as members:
        config, prepared_data = prepare(data, dev, config, on_vectors, supervised=False)
        warn_of_absent_labels(prepared_data.corpus)
        context = RunContext(
            config, None, prepared_data, (observer if members.is_main else None) or NullObserver(), members
        )
        evidence = _mine(context)
        if members.is_main:
            write_evidence(evidence, out)
    return evidence


def _mine(context: RunContext) -> Evidence:
    config = context.config
    epochs = context.find_epochs()
    if config.method == "consensus":
        return consensus.mine_evidence(context, epochs)
    # Each fold trains a miner of its own.
    initial = None if config.mining.folds else context.train("initial", context.new_model(), epochs)
    return progressive.mine_evidence(context, initial, epochs)
