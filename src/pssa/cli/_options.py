"""Options that several commands share."""

from __future__ import annotations

import argparse
import pkgutil
from dataclasses import Field
from pathlib import Path
from typing import Any

from pssa.cli._parser import option, run_path
from pssa.errors import InputError
from pssa.runs.run_names import STARTER
from pssa.runs.setting_types import parse_value
from pssa.runs.settings import Config, non_default_settings, option_fields

_PACKAGE = Path(__file__).parents[1]
_METAVARS: dict[type, str] = {int: "N", float: "X", str: "NAME"}
_FILES = ("dev", "vectors", "evidence")  # settings whose value is a file
_RUNS = ("from_pretrained",)  # and those whose value is a run
# Options of a file of labelled instances, and keyword arguments of `read`.
READING = ("format", "columns", "labels", "conflict", "label_map", "encoding", "errors", "occurrence")
# Options that a command declares itself, and that set a value of the same name.
_DECLARED_BY_COMMANDS = ("train", "model", *READING)


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the argument RUN."""
    parser.add_argument(
        "run_path", metavar="RUN", type=run_path, help="run directory written by pssa train, or starter"
    )


def add_optional_run(parser: argparse.ArgumentParser) -> None:
    """Add the argument RUN, without which the run that comes with the package is used."""
    text = "run directory written by pssa train (default: starter, which comes with pssa)"
    # A default that is text is parsed like an argument.
    parser.add_argument("run_path", metavar="RUN", type=run_path, nargs="?", default=STARTER, help=text)


def add_device(container: argparse._ActionsContainer) -> None:
    """Add `--device`."""
    option(container, "--device NAME", "auto, cpu or cuda", "auto")


def add_data(container: argparse._ActionsContainer) -> None:
    """Add the options of a file of labelled instances."""
    add_run_data(container)
    add_labels(container)


def add_run_data(container: argparse._ActionsContainer) -> None:
    """Add the options of a file of instances for a run, which knows its labels."""
    add_format(container)
    add_conflict(container, "drop")
    add_label_map(container)
    add_errors(container)
    add_occurrence(container)


def add_format(container: argparse._ActionsContainer, name: str = "--format", file: str = "the file") -> None:
    """Add `--format`, `--columns` and `--encoding`, for commands that read rows."""
    option(container, f"{name} NAME", f"format of {file} (default: detected)", dest="format")
    columns = "column names, such as text=review,aspect=term,label=polarity"
    option(container, "--columns FIELD=COLUMN,...", columns)
    option(container, "--encoding NAME", f"encoding of {file}, such as windows-1252 (default utf-8)")


def add_conflict(container: argparse._ActionsContainer, default: str) -> None:
    """Add `--conflict`."""
    # No default in the parser: `pssa train --resume` refuses every option that has a value.
    text = f"treatment of the label `conflict` (default {default})"
    container.add_argument("--conflict", choices=("drop", "keep", "error"), help=text)


def add_label_map(container: argparse._ActionsContainer) -> None:
    """Add `--label-map`."""
    option(
        container, "--label-map MAP", "new names of labels: 5=positive,1=negative, or a .csv or .toml file", type=str
    )


def add_errors(container: argparse._ActionsContainer) -> None:
    """Add `--errors`, for commands that read labelled instances."""
    option(container, "--errors MODE", "on invalid rows: fail, or skip and count them (default fail)")


def add_occurrence(container: argparse._ActionsContainer) -> None:
    """Add `--occurrence`."""
    option(container, "--occurrence MODE", "if an aspect occurs several times: first, all or error (default first)")


def add_labels(container: argparse._ActionsContainer) -> None:
    """Add `--labels`."""
    text = "label names, separated by commas (default positive,negative,neutral)"
    option(container, "--labels NAME,...", text, type=label_names)


def add_abstain(container: argparse._ActionsContainer) -> None:
    """Add `--abstain` and `--abstain-risk`."""
    option(container, "--abstain X", "answer uncertain if the label's probability is lower, such as 0.8", type=float)
    risk = "share of texts that may get a wrong label; chooses the threshold"
    option(container, "--abstain-risk X", risk, type=float)


def add_engine(container: argparse._ActionsContainer) -> None:
    """Add `--engine`."""
    option(container, "--engine NAME", "local, or ray for a Ray cluster", "local")


def add_starts(container: argparse._ActionsContainer) -> None:
    """Add `--vectors` and `--encoder`, from which models start."""
    option(container, "--vectors FILE", "word vectors, for models on word vectors")
    option(container, "--encoder NAME", "folder or hub name of a pretrained encoder")


def names_in(room: str) -> str:
    """Return the names in the folder `models` or `saliency`, without importing it, which would load torch."""
    found = pkgutil.iter_modules([str(_PACKAGE / room)])
    return ", ".join(sorted(module.name for module in found if not module.name.startswith("_")))


def reading(arguments: argparse.Namespace, labels: tuple[str, ...] | None = None) -> dict[str, Any]:
    """Return the keyword arguments of `read` that the options give.

    :param labels: those of a run; None: those of `--labels`.
    """
    given = {name: getattr(arguments, name, None) for name in READING} | ({"labels": labels} if labels else {})
    return {name: value for name, value in given.items() if value is not None}


def require_at_least(least: int, arguments: argparse.Namespace, *names: str) -> None:
    """Refuse smaller values of these options."""
    for name in names:
        value = getattr(arguments, name)
        if value is not None and value < least:
            raise InputError(f"--{name} is {value}; it must be at least {least}")


def label_names(given: str) -> tuple[str, ...]:
    """Split a list at its commas, without the white space around names."""
    return tuple(name.strip() for name in given.split(","))


def add_training(parser: argparse.ArgumentParser, hidden: tuple[str, ...] = ()) -> None:
    """Add the settings of a training, in groups.

    :param hidden: groups that the command refuses, with a reason, and that its help leaves out.
    """
    option(parser, "--config FILE", "TOML file of settings; command-line options override it")
    option(
        parser,
        "--set KEY=VALUE",
        "any other setting, such as options.hidden=100; repeatable",
        action="append",
        default=[],
    )
    groups: dict[str, argparse._ArgumentGroup] = {}
    for title, setting, kind in option_fields():
        if title not in groups:
            groups[title] = parser.add_argument_group(title)
        text = argparse.SUPPRESS if title in hidden else _help_text(setting)
        name = "--" + _option_name(setting).replace("_", "-")
        metavar = "FILE" if setting.name in _FILES else "RUN" if setting.name in _RUNS else _METAVARS[kind]
        groups[title].add_argument(name, type=kind, metavar=metavar, help=text)
    add_data(groups["data"])


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add `--model`."""
    option(parser, "--model NAME", f"{names_in('models')}, joint (default tnet_att)")


def _option_name(setting: Field[Any]) -> str:
    return str(setting.metadata["option"] or setting.name)


def _help_text(setting: Field[Any]) -> str:
    words, default = setting.metadata["default_text"], setting.default
    end = f" (default: {words})" if words else f" (default {default})" if default is not None else ""
    return f"{setting.metadata['help']}{end}"


def file_config(arguments: argparse.Namespace) -> Config:
    """Return the configuration of `--config`.

    Values that are the defaults of its model and method are left unset, so that another model or method gets its own.
    """
    if arguments.config is None:
        return Config()
    config = Config.from_toml(arguments.config)
    return Config(model=config.model, method=config.method).updated(non_default_settings(config))


def training_settings(arguments: argparse.Namespace, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings that the options and `--set` of a command give, by name.

    :param names: options that this command alone has and that set a value of the same name.
    """
    given = {name: getattr(arguments, name) for name in (*_DECLARED_BY_COMMANDS, *names)}
    given |= {setting.name: getattr(arguments, _option_name(setting)) for _, setting, _ in option_fields()}
    settings = {name: value for name, value in given.items() if value is not None}
    for text in arguments.set:
        key, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--set {text} has no value; write --set KEY=VALUE")
        settings[key] = parse_value(value)
    return settings
