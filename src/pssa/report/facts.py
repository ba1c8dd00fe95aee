"""The first section of a report: what the run is, and which of its settings are not the usual ones."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from pssa import __version__, models
from pssa.report.markup import Cell, Markup, join, table
from pssa.report.subject import Section, Subject
from pssa.runs import Config
from pssa.runs.defaults import unresolve
from pssa.runs.run_facts import RunFacts

__all__ = ["describe", "unusual_settings"]

# Of the page's reader they say nothing but a name: the folders are of another machine.
_FILES = ("data.train", "data.dev", "data.vectors", "data.encoder", "supervision.evidence")
_ELSEWHERE = ("model", "method", "seed", "data.labels")


def describe(subject: Subject) -> Section:
    """The facts of the model card, and the settings that somebody chose."""
    parts = [table("What it is", ("fact", "value"), _facts(subject), kind="text")]
    if subject.config is not None:
        found = unusual_settings(subject.config)
        parts.append(
            table("Settings that are not the defaults", ("setting", "value"), found, kind="text")
            if found
            else Markup('<p class="note">Every other setting has its default.</p>')
        )
    return Section("run", "The run", join(parts))


def unusual_settings(config: Config) -> list[tuple[str, str]]:
    """Names and values of what differs from the defaults of its model and method; files by their last name."""
    usual = _flat(asdict(Config(model=config.model)))
    options = models.option_defaults(config.model)
    # Where there are no vectors, embeddings are always trained.
    learned = {"train_embeddings": True} if "train_embeddings" in options and not config.data.vectors else {}
    usual |= {f"options.{name}": value for name, value in {**options, **learned}.items()}
    found = _flat(asdict(unresolve(config)))
    return [
        (name, Path(str(value)).name if name in _FILES else _shown(value))
        for name, value in found.items()
        if name not in _ELSEWHERE and value != usual.get(name)
    ]


def _facts(subject: Subject) -> list[list[Cell]]:
    classifier, config = subject.classifier, subject.config
    rows: list[list[Cell]] = []
    if config is not None:
        rows += [["model", config.model], ["method", config.method], ["labels", ", ".join(config.data.labels)]]
    elif classifier is not None:
        rows += [["model", classifier.name], ["labels", ", ".join(classifier.labels)]]
    if config is not None:
        rows += _measured(config, subject.metrics) if subject.metrics is not None else []
        rows.append(["seed", config.seed])
    return [*rows, ["written by", f"pssa {__version__}"]]


def _measured(config: Config, metrics: dict[str, Any]) -> list[list[Cell]]:
    """What a finished run knows of itself."""
    facts, dev, coverage = RunFacts.of(config, metrics), metrics["dev"], metrics["vector_coverage"]
    rows: list[list[Cell]] = [
        ["trained parameters", f"{facts.parameters}{facts.members}"],
        ["training data", facts.data],
        ["data digest", facts.digest],
        ["epochs", facts.epochs],
    ]
    if dev:
        scores = f"accuracy {100 * dev['accuracy']:.2f}, macro-F1 {100 * dev['macro_f1']:.2f}{facts.when}"
        rows.append(["development score", f"{scores}; it chose the number of epochs"])
    if coverage:
        rows.append(["word vectors", f"cover {coverage['tokens']:.1%} of the training tokens"])
    return rows


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= {f"{name}.{key}": inner for key, inner in value.items()} if isinstance(value, dict) else {name: value}
    return found


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={inner}" for name, inner in value.items())
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
