"""Runs to compare, and data for a run, read like its training data where no option says otherwise."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pssa.cli._options import reading

if TYPE_CHECKING:
    from pssa.data.example import Corpus
    from pssa.runs import Classifier


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
    from pssa.data.io import read_for
    from pssa.runs.read_defaults import find_read_defaults

    given = reading(arguments, labels)
    defaults = find_read_defaults(arguments.run_path, arguments.data, given)
    _print_defaults(str(arguments.data), defaults)
    return read_for(arguments.run_path, arguments.data, **given | defaults)


def set_row_defaults(arguments: argparse.Namespace, inputs: Sequence[str]) -> None:
    """Set `--columns` and `--encoding` of files of rows as the run has them, unless they are given; print it."""
    from pssa.predict.source import peeked_paths
    from pssa.runs.read_defaults import find_row_defaults

    given = {name: getattr(arguments, name) for name in ("format", "columns", "encoding")}
    defaults = find_row_defaults(arguments.run_path, peeked_paths(inputs), given)
    _print_defaults(", ".join(inputs), defaults)
    for name, value in defaults.items():
        setattr(arguments, name, value)


def _print_defaults(data: str, defaults: Mapping[str, Any]) -> None:
    """Print the options on standard error: rows or JSON may go to standard output."""
    from pssa.runs.read_defaults import describe_defaults

    if defaults:
        print(f"pssa: {data} is read like the training data: {describe_defaults(defaults)}", file=sys.stderr)
