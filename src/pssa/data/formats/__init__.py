"""The file formats, one module each; the folder is the registry.

A format turns its file into rows whose fields have the same names in every format; `pssa.data.fields` says what they mean.
To add a format, add its module here; nothing else names it. A module defines:

    scan(path)              yield the file's events (`pssa.data.rows`), in file order
    encode(examples)        return the bytes of a file; or save(examples, path) for a format that is a folder. Optional.
    encode_with_evidence(examples, evidence)    the same with the active words. Optional.
    scan_reviews(path)      yield texts with all their opinions (`pssa.data.reviews`). Optional.
    HAS_COLUMNS             True if the file has named columns; scan then takes (path, columns)
    column_names(path)      return these names; of rows that each have their own, those of the first rows
    HAS_ENCODING            False if the file says itself how its text is encoded, or is not text
    NEEDS_FILE              True if the format cannot be read from a stream
    EXTENSIONS              file extensions, for reading and for writing
    WRITE_EXTENSIONS        extensions for writing only: files with them are recognised by their content
    SHORT_NAMES             other names of the format
    MAGIC                   how a binary file starts
    PREFIX, is_folder(path) what a reference to a dataset starts with, and whether a folder is one
    claims(path)            whether an existing file has the format, whatever its extension
    likelihood(lines)       how likely a file with these first lines has the format: 0 (no) to 1 (certain)
    TEXT_ONLY               True if the file has texts alone; it is recognised only where these are enough
    LISTS_ALL_ASPECTS       True if the file has all aspects of a sentence, and sentences without any

All but `scan` have defaults. A fault of a row is an event, a fault of the whole file an `InputError`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from types import ModuleType

from pssa.data.rows import SAME_NAMES, Columns, Event
from pssa.data.text_file import EncodedPath, read_text, refuse_windows_1252, require_file, starts_with
from pssa.errors import InputError, setting
from pssa.registry import Registry

FORMATS = Registry(__name__, "format")

_SNIFFED_LINES, _SNIFFED_LETTERS = 30, 1 << 16
_UNKNOWN = f"is in no known format; name it with {setting('format')}, or save it as CSV with a column `text`"


def format_named(name: str) -> str:
    """Return the full name of a format, given that or a short one (`xml`, `jsonl`); `-` is as good as `_`."""
    key = name.lower().replace("-", "_")
    full = next((known for known, module in _modules() if key in getattr(module, "SHORT_NAMES", ())), key)
    if full not in FORMATS.names():
        raise InputError(f"unknown format {name!r}; known: {', '.join(FORMATS.names())}")
    return full


def scan(path: Path, format: str, columns: Columns = SAME_NAMES) -> Iterator[Event]:
    """Yield what is in a file of this format, in file order; refuse columns for a format that has none."""
    module = FORMATS.module(format)
    require_named_columns(path, format, columns)
    if isinstance(path, EncodedPath) and path.encoding and not getattr(module, "HAS_ENCODING", True):
        what = f"the format {format} says itself how its text is encoded"
        raise InputError.at(path, None, f"{what}; leave out {setting('encoding', path.encoding)}")
    takes_columns = bool(columns) or (_is_special(columns) and getattr(module, "HAS_COLUMNS", False))
    events: Iterator[Event] = module.scan(path, columns) if takes_columns else module.scan(path)
    return events


def require_encoding(path: Path, format: str) -> None:
    """Refuse a text file that is in Windows-1252 although no encoding is given: its rows would be bad one by one."""
    if getattr(FORMATS.module(format), "HAS_ENCODING", True):
        refuse_windows_1252(path)


def needs_file(format: str) -> bool:
    """Whether a format can be read from a file alone, not from a stream."""
    return getattr(FORMATS.module(format), "NEEDS_FILE", False)


def column_names(path: Path, format: str) -> Sequence[str]:
    """Return the names of a file's columns; none for a format that has no named columns."""
    module = FORMATS.module(format)
    names: Sequence[str] = module.column_names(path) if getattr(module, "HAS_COLUMNS", False) else ()
    return names


def _is_special(columns: Columns) -> bool:
    return columns.text_only or bool(columns.advice)


def require_named_columns(path: str | Path, format: str, columns: Columns) -> None:
    """Refuse names of columns for a format that has none."""
    if columns and not getattr(FORMATS.module(format), "HAS_COLUMNS", False):
        others = ", ".join(name for name, module in _modules() if getattr(module, "HAS_COLUMNS", False))
        advice = f"leave out {setting('columns', str(columns))}, or use one of {others}"
        raise InputError.at(path, None, f"the format {format} has no named columns; {advice}")


def recognise(path: Path, text_only: bool = False) -> str:
    """Return the format of an existing file or dataset: by its extension, else by its content.

    :param text_only: whether texts are enough, so that any text file can be read.
    """
    for name, module in _modules():
        if _has_prefix(module, path) or (path.is_dir() and hasattr(module, "is_folder") and module.is_folder(path)):
            return name
    require_file(path)
    claimed = next((name for name, module in _modules() if hasattr(module, "claims") and module.claims(path)), None)
    return claimed or _by_extension(path, "EXTENSIONS") or _by_content(path, text_only)


def format_for_writing(path: Path) -> str:
    """Return the format that the name of a new file implies."""
    found = next((name for name, module in _modules() if _has_prefix(module, path)), None)
    found = found or _by_extension(path, "EXTENSIONS") or _by_extension(path, "WRITE_EXTENSIONS")
    if found is None:
        raise InputError.at(path, None, "has an extension of no format; name a format, such as tagged or json_lines")
    return found


def _modules() -> Iterator[tuple[str, ModuleType]]:
    return ((name, FORMATS.module(name)) for name in FORMATS.names())


def _has_prefix(module: ModuleType, path: Path) -> bool:
    return hasattr(module, "PREFIX") and str(path).startswith(module.PREFIX)


def _by_extension(path: Path, kind: str) -> str | None:
    extension = Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()
    return next((name for name, module in _modules() if extension in getattr(module, kind, ())), None)


def _by_content(path: Path, text_only: bool) -> str:
    for name, module in _modules():
        if hasattr(module, "MAGIC") and starts_with(path, module.MAGIC):
            return name
    first = islice(read_text(path), _SNIFFED_LINES)
    lines = [content[:_SNIFFED_LETTERS] for _, content in first if content.strip()]
    if not any(line.strip() for line in lines):
        raise InputError.at(path, None, "is blank; expected at least one instance")
    likely = {
        name: module.likelihood(lines)
        for name, module in _modules()
        if hasattr(module, "likelihood") and (text_only or not getattr(module, "TEXT_ONLY", False))
    }
    best = max(likely, key=likely.__getitem__)
    if not likely[best]:
        raise InputError.at(path, 1, _UNKNOWN)
    return best
