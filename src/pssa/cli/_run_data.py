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
    from pssa.runs.recalled_reading import recall_reading

    given = reading(arguments, labels)
    recalled = recall_reading(arguments.run_path, arguments.data, given)
    _print_recalled(str(arguments.data), recalled)
    return read_for(arguments.run_path, arguments.data, **given | recalled)


def recall_row_options(arguments: argparse.Namespace, inputs: Sequence[str]) -> None:
    """Set `--columns` and `--encoding` of files of rows as the run has them, unless they are given; print it."""
    from pssa.bulk.source import peeked_paths
    from pssa.runs.recalled_reading import recall_for_rows

    given = {name: getattr(arguments, name) for name in ("format", "columns", "encoding")}
    recalled = recall_for_rows(arguments.run_path, peeked_paths(inputs), given)
    _print_recalled(", ".join(inputs), recalled)
    for name, value in recalled.items():
        setattr(arguments, name, value)


def _print_recalled(data: str, recalled: Mapping[str, Any]) -> None:
    """Print the options on standard error: rows or JSON may go to standard output."""
    from pssa.runs.recalled_reading import describe_recalled

    if recalled:
        print(f"pssa: {data} is read like the training data: {describe_recalled(recalled)}", file=sys.stderr)
