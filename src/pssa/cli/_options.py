"""Options that several commands share, as parent parsers."""

from __future__ import annotations

import argparse
import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pssa.runs import Config

__all__ = [
    "add_cells",
    "add_columns",
    "add_data",
    "common_options",
    "data_options",
    "label_names",
    "names_in",
    "reading",
    "run_data_options",
    "training_config",
    "training_options",
    "training_settings",
]

_PACKAGE = Path(__file__).parents[1]
_DATA = "data"
# Command-line options that set one value of the configuration each, by its name there, in the groups that help shows.
_SETTINGS: dict[str, dict[str, tuple[type, str]]] = {
    _DATA: {
        "dev": (str, "instances that choose the number of epochs, instead of held-out ones"),
        "dev_fraction": (float, "share of train to hold out, by sentence, for the search (default 0.2)"),
    },
    "model": {
        "vectors": (str, "GloVe or word2vec text file, also .gz or .zip; without it embeddings are learned"),
        "vector_rows": (int, "first rows of the file to keep for words unseen in training (default 50000)"),
        "encoder": (str, "folder or hub name of a pretrained encoder, for models on an encoder"),
        "unit": (str, "what evidence of such a model speaks of: word or piece (default word)"),
    },
    "training": {
        "epochs": (int, "train exactly this long (default: by a search on development data; 6 with an encoder)"),
        "patience": (int, "epochs without improvement before the search stops (default 8)"),
        "lr": (float, "learning rate (default 0.001; 2e-5 with an encoder)"),
        "batch_size": (int, "instances in a training step (default 64; 16 with an encoder)"),
        "seed": (int, "of everything random (default 0)"),
        "device": (str, "auto, cpu or cuda (default auto)"),
    },
    "mining": {
        "iterations": (int, "rounds of mining (default 5)"),
        "round_epochs": (int, "epochs of training between two rounds (default 1)"),
        "epsilon": (float, "entropy in bits below which a word is taken (default by model)"),
        "folds": (int, "cross-fitting: mine every instance by a model that has not seen it (default 0: off)"),
    },
    "supervision": {
        "evidence": (str, "train with this evidence file instead of mining"),
        "words": (str, "evidence to train with: both, active or misleading (default both)"),
        "penalty": (str, "tuned, letter or release (default tuned)"),
        "gamma": (float, "weight of the attention penalty (default by penalty and model)"),
    },
}
_NAME_IN_CONFIG = {"lr": "learning_rate"}
# Options that a command words for itself, and that set a value of the same name.
_OWN = ("train", "model", "format", "columns", "labels", "conflict")


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
    for title, settings in _SETTINGS.items():
        group = parser.add_argument_group(title)
        for name, (kind, meaning) in settings.items():
            shown = argparse.SUPPRESS if title in hidden else meaning
            group.add_argument("--" + name.replace("_", "-"), type=kind, help=shown)
        if title == _DATA:
            add_data(group)
    return parser


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


def training_config(arguments: argparse.Namespace, names: tuple[str, ...]) -> Config:
    """The configuration that a command asks for: the file's, then its options, then `--set`.

    :param names: options that this command alone has and that set a value of the same name.
    """
    from pssa.runs import Config
    from pssa.runs.defaults import unresolve

    config = Config() if arguments.config is None else unresolve(Config.from_toml(arguments.config))
    return config.updated(training_settings(arguments, names))


def training_settings(arguments: argparse.Namespace, names: tuple[str, ...]) -> dict[str, Any]:
    """What a command asks for by its options and by `--set`, by name; `names` as for `training_config`."""
    from pssa.errors import InputError
    from pssa.runs.config import parse_value

    settings = {
        _NAME_IN_CONFIG.get(name, name): value
        for name in (*_OWN, *names, *(name for settings in _SETTINGS.values() for name in settings))
        if (value := getattr(arguments, name)) is not None
    }
    for text in arguments.set:
        key, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--set {text} has no value; write --set KEY=VALUE")
        settings[key] = parse_value(value)
    return settings
