"""Options that several commands share, as parent parsers."""

from __future__ import annotations

import argparse
import pkgutil
from dataclasses import Field
from pathlib import Path
from typing import Any

from pssa.errors import InputError
from pssa.runs.config import Config, option_fields, parse_value

_PACKAGE = Path(__file__).parents[1]
# Options that a command declares itself, and that set a value of the same name.
_DECLARED_BY_COMMANDS = ("train", "model", "format", "columns", "labels", "conflict")


def common_options() -> argparse.ArgumentParser:
    """`--json` and `--debug`."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--json", action="store_true", help="print one JSON object on standard output")
    parser.add_argument("--debug", action="store_true", help="show where an error came from")
    return parser


def data_options() -> argparse.ArgumentParser:
    """How a file of instances is read."""
    parser = argparse.ArgumentParser(add_help=False)
    add_data(parser)
    return parser


def run_data_options() -> argparse.ArgumentParser:
    """How a file of instances is read for a run, which knows its labels."""
    parser = argparse.ArgumentParser(add_help=False)
    _add_table(parser)
    return parser


def add_columns(container: argparse._ActionsContainer) -> None:
    """`--columns`, for commands that read rows."""
    container.add_argument(
        "--columns",
        metavar="FIELD=COLUMN,...",
        help="columns with names of their own, such as text=review,aspect=term,label=polarity",
    )


def add_cells(container: argparse._ActionsContainer) -> None:
    """How cells are carried out, for commands that are made of such."""
    container.add_argument("--workers", type=int, default=0, help="cells at a time (default: as many as fit)")
    container.add_argument("--device", default="auto", help="auto, cpu or cuda (default auto)")
    container.add_argument("--engine", default="local", help="local processes or a ray cluster (default local)")
    container.add_argument(
        "--address", default="", metavar="A", help="of the ray cluster (default: the one that is found)"
    )
    container.add_argument("--fresh", action="store_true", help="make again what other sources of this version made")


def names_in(room: str) -> str:
    """What a room's folder holds, for help: `models` or `saliency`. Asking the room itself would load torch."""
    found = pkgutil.iter_modules([str(_PACKAGE / room)])
    return ", ".join(sorted(module.name for module in found if not module.name.startswith("_")))


def reading(arguments: argparse.Namespace, labels: tuple[str, ...]) -> dict[str, Any]:
    """How a file is read, as `read` takes it: what the options say, and its labels."""
    return {
        "format": arguments.format,
        "columns": arguments.columns,
        "labels": labels,
        "conflict": arguments.conflict or "drop",
    }


def label_names(given: str) -> tuple[str, ...]:
    """The names in a list with commas; white space around them is not theirs."""
    return tuple(name.strip() for name in given.split(","))


def training_options(hidden: tuple[str, ...] = ()) -> argparse.ArgumentParser:
    """Everything that determines a training, how its files are read included.

    :param hidden: groups that the command refuses, with the reason, and that its help leaves out.
    """
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--config", type=Path, help="TOML file of settings; options on the command line go before it")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="any other setting, such as options.hidden=100"
    )
    groups: dict[str, argparse._ArgumentGroup] = {}
    for title, setting, kind in option_fields():
        if title not in groups:
            groups[title] = parser.add_argument_group(title)
        text = argparse.SUPPRESS if title in hidden else _help_text(setting)
        groups[title].add_argument("--" + _option_name(setting).replace("_", "-"), type=kind, help=text)
    add_data(groups["data"])
    return parser


def _option_name(setting: Field[Any]) -> str:
    return str(setting.metadata["option"] or setting.name)


def _help_text(setting: Field[Any]) -> str:
    default = setting.metadata["default_text"] or setting.default
    return str(setting.metadata["help"]) + (f" (default {default})" if default is not None else "")


def add_data(container: argparse._ActionsContainer) -> None:
    """How a file of labelled instances is read, its labels included."""
    _add_table(container)
    container.add_argument(
        "--labels", type=label_names, help="label names, separated by commas (default positive,negative,neutral)"
    )


def _add_table(container: argparse._ActionsContainer) -> None:
    container.add_argument("--format", help="the format of the file, if it is not recognised")
    add_columns(container)
    container.add_argument("--conflict", choices=("drop", "keep", "error"), help="what to do with the label `conflict`")


def file_config(arguments: argparse.Namespace) -> Config:
    """Return the configuration of `--config`.

    Values that are the defaults of its model and method are left unset, so that another model or method gets its own.
    """
    from pssa.runs.defaults import non_default_settings

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
