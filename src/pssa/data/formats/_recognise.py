"""Which format a file has: by its extension where that says enough, else by its first lines."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from pssa.data.formats import csv_file, hugging_face
from pssa.data.formats._text import lines, require_file, starts_with
from pssa.data.formats.tagged import is_tagged
from pssa.data.formats.three_line import PLACEHOLDER
from pssa.errors import InputError

__all__ = ["format_for_writing", "recognise"]

_BY_EXTENSION = {
    ".csv": "csv",
    ".json": "json_lines",
    ".jsonl": "json_lines",
    ".ndjson": "json_lines",
    ".parquet": "parquet",
    ".tsv": "csv",
    ".xml": "semeval_xml",
}
_TOKEN_EXTENSIONS = {".raw": "three_line", ".seg": "three_line"}
_SNIFFED_LINES, _SNIFFED_LETTERS = 30, 1 << 16
_PARQUET_MAGIC = b"PAR1"


def recognise(path: Path) -> str:
    """The format of an existing file or dataset."""
    if str(path).startswith(hugging_face.PREFIX) or (path.is_dir() and hugging_face.is_saved_dataset(path)):
        return "hugging_face"
    require_file(path)
    by_extension = _BY_EXTENSION.get(_extension(path))
    return by_extension or _sniff(path)


def format_for_writing(path: Path) -> str:
    """The format that the name of a new file asks for."""
    if str(path).startswith(hugging_face.PREFIX):
        return "hugging_face"
    found = {**_BY_EXTENSION, **_TOKEN_EXTENSIONS}.get(_extension(path))
    if found is None:
        raise InputError.at(path, None, "the extension says no format; name one, such as tagged or json_lines")
    return found


def _extension(path: Path) -> str:
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()


def _sniff(path: Path) -> str:
    if starts_with(path, _PARQUET_MAGIC):
        return "parquet"
    begin = [content[:_SNIFFED_LETTERS] for _, content in islice(lines(path), _SNIFFED_LINES) if content.strip()]
    head = [content.strip() for content in begin]
    if not any(head):
        raise InputError.at(path, None, "is blank; expected at least one instance")
    if head[0].startswith("<"):
        return "semeval_xml"
    if head[0].startswith("{"):
        return "json_lines"
    if any(PLACEHOLDER in content for content in head):
        return "three_line"
    if "text" in map(str.lower, csv_file.Header.read(iter(begin)).names):
        return "csv"
    if any(is_tagged(token) for content in head for token in content.split()):
        return "tagged"
    raise InputError.at(path, 1, "the format is not recognised; name it, for instance tagged, three_line or csv")
