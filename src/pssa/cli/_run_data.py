"""Data for a run, read like its training data where no option says otherwise."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pssa.cli._options import reading

if TYPE_CHECKING:
    from pssa.data.example import Corpus


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
