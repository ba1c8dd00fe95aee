"""Defaults for reading data for a run: how its training data was read.

A run remembers its columns, label map and encoding, and what it did with aspects that occur several times. They are used again
where they fit: columns that the data has, and the encoding if the data is not UTF-8. What a caller gives wins.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pssa.data.example import Corpus
from pssa.data.formats import column_names, find_format
from pssa.data.io import format_of, read
from pssa.data.rows import Columns
from pssa.data.tables import Table, is_table, table_columns
from pssa.data.text_file import InputFile, begins_as_utf8
from pssa.errors import InputError, option_arguments
from pssa.runs.run_names import whole_run
from pssa.runs.settings import Config, DataConfig

__all__ = ["describe_defaults", "find_read_defaults", "find_row_defaults", "read_as_trained", "repeated_options"]

_OF_LABELLED = ("columns", "label_map", "encoding", "occurrence")
_OF_ROWS = ("columns", "encoding")  # of rows that need no label


def read_as_trained(run: str | Path, data: str | Path | Table, **given: Any) -> Corpus:
    """Read labelled instances for a run, like its training data where nothing else is given; see `read`."""
    return read(data, run=str(run), **given | find_read_defaults(run, data, given))


def find_read_defaults(run: str | Path, data: str | Path | Table, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `read` that the run was trained with, that fit `data`, and that are not given."""
    return _find_defaults(run, data, given, _OF_LABELLED)


def find_row_defaults(run: str | Path, inputs: Sequence[Path | InputFile], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns and the encoding of files of rows, labelled or not, that are not given and fit all of them."""
    found = [_find_defaults(run, path, given, _OF_ROWS) for path in inputs]
    for each in found:
        if "columns" in each:  # rows keep their label as it is
            each["columns"].pop("label", None)
    first = found[0] if found else {}
    return {name: value for name, value in first.items() if value and all(each.get(name) == value for each in found)}


def describe_defaults(defaults: Mapping[str, Any]) -> str:
    """Return the options as they would be given on the command line."""
    texts: dict[str, str] = {}
    for name, value in defaults.items():
        texts[name] = ",".join(f"{key}={to}" for key, to in value.items()) if isinstance(value, dict) else value
    return shlex.join(argument for name, text in texts.items() for argument in option_arguments(name, text))


def repeated_options(config: Config) -> list[str]:
    """Return the command-line arguments of a training with the data, the model and the seed of `config`."""
    data, defaults = config.data, DataConfig()
    options = {"train": data.train, "model": config.model, "encoder": data.encoder, "vectors": data.vectors}
    options |= {"from": data.from_pretrained, "preset": config.preset}
    options |= {
        name: ",".join(value) if name == "labels" else value
        for name in ("format", "labels", "conflict", "encoding", "errors", "occurrence")
        if (value := getattr(data, name)) != getattr(defaults, name)
    }
    label_map = ",".join(f"{name}={label}" for name, label in data.label_map.items())
    options |= {"columns": str(Columns.of(data.columns)), "label_map": label_map, "seed": str(config.seed or "")}
    words = [word for name, value in options.items() if value for word in option_arguments(name, value)]
    return words if data.unit == defaults.unit else [*words, "--set", f"unit={data.unit}"]


def _find_defaults(
    run: str | Path, data: str | Path | InputFile | Table, given: Mapping[str, Any], names: Sequence[str]
) -> dict[str, Any]:
    """Return the options of these names that the run was trained with, that fit `data`, and that are not given."""
    try:
        trained = Config.from_toml(whole_run(Path(run)) / "config.toml").read_options.changed if run else {}
        known = {name: value for name, value in trained.items() if name in names and given.get(name) is None}
        if not known:
            return {}
        if isinstance(data, str | Path | InputFile):
            file = InputFile.of(data)
            if begins_as_utf8(file):
                known.pop("encoding", None)
            file = replace(file, encoding=given.get("encoding") or known.get("encoding") or "")
            format = format_of(file, given.get("format"))
            if not find_format(format).has_encoding:
                known.pop("encoding", None)
            found = column_names(file, format)
        else:
            known.pop("encoding", None)
            found = table_columns(data) if is_table(data) else ()
        if "columns" in known:
            known["columns"] = dict(Columns.of(known["columns"]).fitting(found).pairs)
        return {name: value for name, value in known.items() if value}
    except InputError:  # the run has no configuration, or the data cannot be read: reading it says why
        return {}
