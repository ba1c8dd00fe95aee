"""Options that several commands share, and what they mean: runs, data, files of rows, settings of a training."""

from __future__ import annotations

import argparse
import pkgutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pssa.cli._output import for_terminal, print_json
from pssa.cli._parser import option, run_path
from pssa.errors import InputError
from pssa.runs.run_names import STARTER
from pssa.runs.setting_types import parse_value
from pssa.runs.settings import Config, non_default_settings, option_fields

if TYPE_CHECKING:
    from pssa.data.example import Corpus
    from pssa.predict import FindingOptions, Job, Summary
    from pssa.progress import RowProgress
    from pssa.runs import Classifier


def label_names(given: str) -> tuple[str, ...]:
    """Split a list at its commas, without the white space around names."""
    return tuple(name.strip() for name in given.split(","))


# Usage, help and other settings of each.
_SHARED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "device": ("--device NAME", "auto, cpu or cuda", {"default": "auto"}),
    "abstain": ("--abstain X", "answer uncertain if the label's probability is lower, such as 0.8", {}),
    "abstain_risk": ("--abstain-risk X", "share of texts that may get a wrong label; chooses the threshold", {}),
    # How a file of rows or of labelled instances is read: keyword arguments of `read`.
    "format": ("--format NAME", "format of the file (default: detected)", {}),
    "columns": ("--columns FIELD=COLUMN,...", "column names, such as text=review,aspect=term,label=polarity", {}),
    "encoding": ("--encoding NAME", "encoding of the file, such as windows-1252 (default utf-8)", {}),
    # No default in the parser: `pssa train --resume` refuses every option that has a value.
    "conflict": (
        "--conflict MODE",
        "treatment of the label `conflict` (default drop)",
        {"choices": ("drop", "keep", "error"), "metavar": None},
    ),
    "label_map": ("--label-map MAP", "new names of labels: 5=positive,1=negative, or a .csv or .toml file", {}),
    "errors": ("--errors MODE", "on invalid rows: fail, or skip and count them (default fail)", {}),
    "occurrence": ("--occurrence MODE", "if an aspect occurs several times: first, all or error (default first)", {}),
    "labels": (
        "--labels NAME,...",
        "label names, separated by commas (default positive,negative,neutral)",
        {"type": label_names},
    ),
    # Options of a job over files of rows.
    "input": (
        "--input FILE",
        "files in any format, also .gz or .zst; - for standard input",
        {"type": str, "required": True, "nargs": "+", "action": "extend"},
    ),
    "resume": ("--resume", "resume an interrupted job", {}),
    "force": ("--force", "replace existing files", {}),
    "aspects_from": (
        "--aspects-from DIR",
        "tagger that finds aspects, or starter (default: that of the run)",
        {"type": run_path},
    ),
    "aspects": ("--aspects NAME,...", "aspects to look for by name, or @FILE, one per line", {}),
}
ROWS = ("format", "columns", "encoding")
RUN_DATA = (*ROWS, "conflict", "label_map", "errors", "occurrence")  # for a run, which knows its labels
DATA = (*RUN_DATA, "labels")
FINDING = ("aspects_from", "aspects")  # of aspects in rows that have none

_PACKAGE = Path(__file__).parents[1]
_METAVARS: dict[type, str] = {int: "N", float: "X", str: "NAME"}
_FILES = ("dev", "vectors", "evidence")  # settings whose value is a file
_RUNS = ("from_pretrained",)  # and those whose value is a run
# Options that a command declares itself, and that set a value of the same name.
_DECLARED_BY_COMMANDS = ("train", "model", *DATA)


def add_shared(container: argparse._ActionsContainer, *names: str, **changes: Any) -> None:
    """Add these options of the list above, with some of their settings changed."""
    for name in names:
        usage, text, settings = _SHARED[name]
        option(container, **{"usage": usage, "help": text} | settings | changes)


def add_run(parser: argparse.ArgumentParser, *, is_optional: bool = False) -> None:
    """Add the argument RUN; if it is optional, the run that comes with the package is the default."""
    text = "run directory written by pssa train"
    # A default that is text is parsed like an argument.
    more: dict[str, Any] = {"nargs": "?", "default": STARTER} if is_optional else {}
    end = " (default: starter, which comes with pssa)" if is_optional else ", or starter"
    parser.add_argument("run_path", metavar="RUN", type=run_path, help=text + end, **more)


def add_job(container: argparse._ActionsContainer) -> None:
    """Add the files of a job, their formats, and the treatment of invalid rows."""
    add_shared(container, "input")
    output = "JSON Lines, CSV or Parquet, .gz or .zst; - for standard output"
    option(container, "--output FILE", output, type=str, required=True)
    add_shared(container, *ROWS)
    option(container, "--output-format NAME", "json_lines, csv or parquet (default: by the extension)")
    option(container, "--errors MODE", "on invalid rows: fail, or skip and report them", "fail")
    rejected = "file of skipped rows, with reasons (default: OUTPUT.rejected.jsonl)"
    option(container, "--rejected FILE", rejected, type=str)
    add_shared(container, "resume", "force")


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
        words, default = setting.metadata["default_text"], setting.default
        end = f" (default: {words})" if words else f" (default {default})" if default is not None else ""
        text = argparse.SUPPRESS if title in hidden else f"{setting.metadata['help']}{end}"
        name = "--" + str(setting.metadata["option"] or setting.name).replace("_", "-")
        metavar = "FILE" if setting.name in _FILES else "RUN" if setting.name in _RUNS else _METAVARS[kind]
        groups[title].add_argument(name, type=kind, metavar=metavar, help=text)
    add_shared(groups["data"], *DATA)


def add_model(parser: argparse.ArgumentParser, more: str = "joint, tagger (default tnet_att)") -> None:
    """Add `--model`."""
    option(parser, "--model NAME", f"{names_in('models')}, {more}")


def names_in(room: str) -> str:
    """Return the names in the folder `models` or `saliency`, without importing it, which would load torch."""
    found = pkgutil.iter_modules([str(_PACKAGE / room)])
    return ", ".join(sorted(module.name for module in found if not module.name.startswith("_")))


def reading(arguments: argparse.Namespace, labels: tuple[str, ...] | None = None) -> dict[str, Any]:
    """Return the keyword arguments of `read` that the options give.

    :param labels: those of a run; None: those of `--labels`.
    """
    given = {name: getattr(arguments, name, None) for name in DATA} | ({"labels": labels} if labels else {})
    return {name: value for name, value in given.items() if value is not None}


def require_at_least(least: int, arguments: argparse.Namespace, *names: str) -> None:
    """Refuse smaller values of these options."""
    for name in names:
        value = getattr(arguments, name)
        if value is not None and value < least:
            raise InputError(f"--{name} is {value}; it must be at least {least}")


def file_config(arguments: argparse.Namespace) -> Config:
    """Return the configuration of `--config`.

    Values that are the defaults of its model and method are left unset, so that another model or method gets its own.
    """
    from pssa.joint.run import MODEL as JOINT

    if arguments.config is None:
        return Config()
    config = Config.from_toml(arguments.config)
    if config.model == JOINT:  # it has no such defaults
        return config
    return Config(model=config.model, method=config.method).updated(non_default_settings(config))


def training_settings(arguments: argparse.Namespace, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings that the options and `--set` of a command give, by name.

    :param names: options that this command alone has and that set a value of the same name.
    """
    given = {name: getattr(arguments, name) for name in (*_DECLARED_BY_COMMANDS, *names)}
    given |= {
        setting.name: getattr(arguments, setting.metadata["option"] or setting.name)
        for _, setting, _ in option_fields()
    }
    settings = {name: value for name, value in given.items() if value is not None}
    for text in arguments.set:
        key, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--set {text} has no value; write --set KEY=VALUE")
        settings[key] = parse_value(value)
    return settings


def load_runs(arguments: argparse.Namespace) -> list[Classifier]:
    """Load RUN and, if it is given, `--versus`, which must have the same labels."""
    from pssa.runs import load
    from pssa.runs.evaluate import require_same_labels

    paths = [path for path in (arguments.run_path, arguments.versus) if path is not None]
    # Full precision, so that a score does not depend on the machine.
    classifiers = [load(path, device=arguments.device, precision="float32") for path in paths]
    if len(classifiers) > 1:
        require_same_labels(classifiers[0], classifiers[1], (str(paths[0]), str(paths[1])))
    return classifiers


def read_run_data(arguments: argparse.Namespace, labels: tuple[str, ...]) -> Corpus:
    """Read `--data` for a run with these labels; print what is read like its training data."""
    from pssa.data.io import read
    from pssa.runs.read_defaults import find_read_defaults

    given = reading(arguments, labels)
    defaults = find_read_defaults(arguments.run_path, arguments.data, given)
    _print_defaults(str(arguments.data), defaults)
    return read(arguments.data, run=str(arguments.run_path), **given | defaults)


def set_row_defaults(arguments: argparse.Namespace, inputs: Sequence[str]) -> None:
    """Set `--columns` and `--encoding` of files of rows as the run has them, unless they are given; print it."""
    from pssa.predict.source import peeked_files
    from pssa.runs.read_defaults import find_row_defaults

    given = {name: getattr(arguments, name) for name in ROWS}
    defaults = find_row_defaults(arguments.run_path, peeked_files(inputs), given)
    _print_defaults(", ".join(inputs), defaults)
    for name, value in defaults.items():
        setattr(arguments, name, value)


def _print_defaults(data: str, defaults: Mapping[str, Any]) -> None:
    """Print the options on standard error: rows or JSON may go to standard output."""
    from pssa.runs.read_defaults import describe_defaults

    if defaults:
        print(f"pssa: {data} is read like the training data: {describe_defaults(defaults)}", file=sys.stderr)


def begin_mode(arguments: argparse.Namespace) -> str:
    """Return `begin` of a job: `new`, `resume` or `replace`."""
    if arguments.resume and arguments.force:
        raise InputError("--resume continues an unfinished job and --force starts again; give one of the two")
    return "resume" if arguments.resume else "replace" if arguments.force else "new"


def job_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a `Job` that the options of `add_job` give."""
    names = ("output", *ROWS, "output_format", "errors", "rejected")
    given = {name: getattr(arguments, name) for name in names}
    return {"inputs": tuple(arguments.input), **given, "begin": begin_mode(arguments)}


def finding_options(arguments: argparse.Namespace) -> FindingOptions:
    """Return what the options for finding aspects say."""
    from pssa.aspects.names import NameFinder, parse_names, read_names
    from pssa.predict import FindingOptions

    given = [name for name in FINDING if getattr(arguments, name) is not None]
    if len(given) > 1:
        first, second = ("--" + name.replace("_", "-") for name in given[:2])
        raise InputError(f"{first} and {second} both choose the aspects to find; give one of the two")
    names: tuple[str, ...] = ()
    if arguments.aspects is not None:
        file = arguments.aspects.removeprefix("@")
        names = parse_names(file) if file == arguments.aspects else read_names(file)
        NameFinder(names)
    more = {name: getattr(arguments, name, None) for name in ("keep_empty", "min_score", "mentions")}
    return FindingOptions(arguments.aspects_from, names, **{name: value for name, value in more.items() if value})


def job_progress(command: str, job: Job) -> RowProgress:
    """Return the progress of a job, to be its observer; rows that go to a terminal would be mixed with the bar."""
    from pssa.predict import STANDARD
    from pssa.progress import RowProgress

    return RowProgress(command, visible=not (job.output == STANDARD and sys.stdout.isatty()))


def print_job(job: Job, summary: Summary, values: Mapping[str, Any], lines: Iterable[str], *, as_json: bool) -> None:
    """Print what a job has done: values for programs, or lines for people."""
    from pssa.predict import STANDARD

    # Rows that go to standard output must stay alone there.
    stream = sys.stderr if job.output == STANDARD else sys.stdout
    if as_json:
        print_json({"output": job.output, "existed": True} if summary.existed else values, stream)
    elif not summary.existed:  # otherwise a warning was printed
        for line in lines:
            print(for_terminal(line), file=stream)
