"""Hugging Face `datasets`: columns `text`, `span`, `label`, `ordinal`, as in SetFit, and other fields of `pssa.data.fields`.

A folder made by `save_to_disk` is read as it is. `hf:FOLDER` and `hf:OWNER/NAME` are read as well, the latter through the
library's own download and cache. `:SPLIT` at the end of either chooses a split, as in `hf:OWNER/NAME:test`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pssa.data.example import Example
from pssa.data.fields import fields_of, find_occurrences
from pssa.data.files import sync_folder, sync_tree
from pssa.data.formats import Format
from pssa.data.rows import SAME_NAMES, Columns, Event, Problem
from pssa.data.text_file import InputFile
from pssa.data.validation import format_error, shorten
from pssa.errors import InputError, import_extra

PREFIX = "hf:"

_MARKS = ("dataset_dict.json", "state.json")
_BATCH = 1024


def is_folder(path: Path) -> bool:
    """Whether the folder was made by `save_to_disk`."""
    return any((path / mark).is_file() for mark in _MARKS)


def scan(file: InputFile, columns: Columns = SAME_NAMES) -> Iterator[Event]:
    """Yield a row for each row of the dataset; its line is its number."""
    return rows_of(_load(file.path), file.path, columns)


def rows_of(dataset: Any, name: Path, columns: Columns = SAME_NAMES) -> Iterator[Event]:
    """Yield the rows of a `datasets.Dataset`; class numbers become the names of the classes."""
    columns.check_header(name, dataset.column_names)
    label = columns.column_of("label")
    classes = getattr(dataset.features.get(label), "names", None)
    for line, fields in enumerate(_records(dataset, name), 1):
        number = fields.get(label)
        if classes is None or number is None:
            yield columns.row(line, fields)
        elif isinstance(number, int) and -1 <= number < len(classes):
            # -1 is the library's own number for "no label".
            yield columns.row(line, {**fields, label: classes[number] if number != -1 else None})
        else:
            yield Problem(line, f"label {shorten(number)} is not one of the {len(classes)} classes of the dataset")


def _records(dataset: Any, name: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows as they are stored; decoded by the library, they would open the images and sounds that they name."""
    try:
        for batch in dataset.with_format("arrow").iter(_BATCH):
            batch.validate(full=True)  # offsets outside the buffers would end the process
            yield from batch.to_pylist()
    except Exception as error:  # of Arrow and of the library, about the files they read
        raise InputError.at(name, None, f"cannot be read as a Hugging Face dataset ({format_error(error)})") from error


def save(examples: Sequence[Example], path: Path) -> None:
    """Save a dataset as a folder and replace an older dataset there; other folders are never touched."""
    if path.exists() and not is_folder(path):
        raise InputError.at(path, None, "exists and is not a saved dataset; choose another name")
    datasets = import_extra("datasets", "data")
    rows = []
    for example in examples:
        fields = fields_of(example)
        fields["span"] = fields.pop("aspect")
        found = find_occurrences(example.text, example.aspect_text)
        # An aspect inside a word is not found if it also occurs as a whole word; its offsets then say where it is.
        fields["ordinal"] = found.index(example.aspect_chars) if example.aspect_chars in found else None
        rows.append(fields)
    table = datasets.Dataset.from_list(rows)
    part, old = (path.with_name(f".{path.name}.{os.getpid()}.{kind}") for kind in ("part", "old"))
    try:
        with _without_bars(datasets):
            table.save_to_disk(str(part))
        sync_tree(part)
        if path.exists():
            path.rename(old)
        part.rename(path)
        sync_folder(path.parent)
    except BaseException:
        # Put the old dataset back, so that a failed or interrupted save never loses it.
        if old.exists() and not path.exists():
            old.rename(path)
        raise
    finally:
        shutil.rmtree(part, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _without_bars(datasets: Any) -> Iterator[None]:
    """Hide the library's progress bars, which would mix with the output of a command and with logs."""
    if datasets.are_progress_bars_disabled():
        yield
        return
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        datasets.enable_progress_bars()


def _load(path: Path) -> Any:
    datasets = import_extra("datasets", "data")
    reference = str(path).removeprefix(PREFIX)
    location, _, split = reference.partition(":")
    try:
        if Path(location).is_dir() and is_folder(Path(location)):
            loaded = datasets.load_from_disk(location)
        else:
            loaded = datasets.load_dataset(location)
    except Exception as error:  # the library passes on the errors of many libraries, all of them about the reference
        raise InputError(f"{reference}: cannot be loaded as a Hugging Face dataset ({format_error(error)})") from error
    if not isinstance(loaded, dict):
        return loaded
    if not split and len(loaded) > 1:
        raise InputError(f"{reference}: has the splits {', '.join(loaded)}; choose one with {PREFIX}{reference}:SPLIT")
    chosen = split or next(iter(loaded))
    if chosen not in loaded:
        raise InputError(f"{reference}: has no split {chosen!r}; it has {', '.join(loaded)}")
    return loaded[chosen]


FORMAT = Format(
    scan=scan,
    save=save,
    has_columns=True,
    has_encoding=False,
    needs_file=True,
    short_names=("hf",),
    prefix=PREFIX,
    is_folder=is_folder,
)
