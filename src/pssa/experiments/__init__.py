"""Experiments: every table and figure of the paper, and what goes beyond it, rebuilt by one command.

    from pathlib import Path

    from pssa.experiments.exhibit import Scope
    from pssa.experiments.reproduce import reproduce
    from pssa.experiments.resources import Resources

    resources = Resources.find(Path("data"), vectors=Path("glove.txt"), encoder=None)
    reproduce(["overall"], Scope(resources, seeds=5), Path("experiments"))

An exhibit (`exhibits/`) names the cells it needs; the schedule carries them out on an engine, each once, and appends what comes
out to the ledger; the exhibit shows it, and `render/` writes it.
"""
