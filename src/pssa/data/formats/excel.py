"""Excel workbooks (`.xlsx`): the first sheet with content, its first row the names of the columns; read, not written.

Cells become the text that Excel would save as CSV, so that a workbook and its CSV file are read alike.
"""

from __future__ import annotations

import datetime as dt
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pssa.data.files import MAX_BLANK_LINES, require_regular
from pssa.data.formats import Format
from pssa.data.rows import SAME_NAMES, Columns, Event, Problem
from pssa.data.text_file import ZIP_METHODS, InputFile, describe_damage, require_file
from pssa.data.validation import format_error
from pssa.errors import EmptyFile, InputError, import_extra

_MAX_RECORD = 1 << 22  # characters
_MAX_COLUMNS = 16_384  # of a sheet in Excel
_MAX_TEXTS = 1 << 28  # bytes of the table of texts, which is read whole
# openpyxl may take more than a hundred bytes of memory for one that is unpacked.
_MAX_UNPACKED = 1 << 20  # bytes that any workbook may unpack to
_MAX_GROWTH = 50  # times its own size, beyond that
_MAX_CELLS = 1 << 22  # with those that are empty or repeat a text, of any workbook
_SAVE = "save it again as .xlsx, or as CSV in UTF-8"
_OLE = b"\xd0\xcf\x11\xe0"
_MIDNIGHT = dt.time()

Cells = Sequence[Any]


def scan(file: InputFile, columns: Columns = SAME_NAMES) -> Iterator[Event]:
    """Yield a row for each row of the sheet with content; its line is its number in the sheet."""
    with _opened(file) as book:
        line, header, rows = _read_header(file.path, book)
        columns = columns.fit_header(file.path, [name for name in header if name], line)
        for line, cells in rows:
            record = [_as_text(cell) for cell in cells]
            if sum(map(len, record)) > _MAX_RECORD:
                yield Problem(line, f"has more than {_MAX_RECORD:,} characters; expected a review in a row")
            elif any(record[len(header) :]):
                what = f"has more cells than the {len(header)} names in the first row; name every column"
                yield Problem(line, what)
            elif damage := describe_damage("".join(record)):
                yield Problem(line, damage)
            else:
                record += [""] * (len(header) - len(record))
                named = zip(header, record[: len(header)], strict=True)
                yield columns.row(line, {name: text for name, text in named if name})


@contextmanager
def _opened(file: InputFile) -> Iterator[Any]:
    """Open a workbook; what is wrong with it, now or while it is read, is an `InputError`."""
    path = file.path
    openpyxl = import_extra("openpyxl", "data")
    warnings.filterwarnings("ignore", module=r"openpyxl\.")  # about styles and other things that are not read
    require_file(file)
    try:
        require_regular(path)
        _refuse_other_kinds(path)
        _refuse_bomb(path)
        # openpyxl leaves a file open that it opened itself and cannot read.
        with path.open("rb") as stream:
            yield openpyxl.load_workbook(stream, read_only=True, data_only=True)
    except InputError:
        raise
    except Exception as error:  # of zipfile, of the XML parser, and of openpyxl for whatever a file may hold
        what = f"cannot be read as an Excel workbook ({format_error(error)})"
        raise InputError.at(path, None, f"{what}; {_SAVE}") from error


def _refuse_other_kinds(path: Path) -> None:
    """Refuse other files that people give this ending, and say what they are."""
    with path.open("rb") as stream:
        head = stream.read(200)
    if head.startswith(_OLE):
        what = "is protected by a password, or of Excel 97 to 2003 (.xls)"
        raise InputError.at(path, None, f"{what}; save it as .xlsx without a password, or as CSV in UTF-8")
    if b"opendocument" in head:
        raise InputError.at(path, None, f"is an OpenDocument file (.ods), not an Excel workbook; {_SAVE}")
    if not head.startswith(b"PK"):
        raise InputError.at(path, None, f"is not an Excel workbook; give it the ending of its format, or {_SAVE}")


def _refuse_bomb(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
    sizes = {part.filename: part.file_size for part in parts}
    if "xl/workbook.bin" in sizes:
        raise InputError.at(path, None, f"is a binary workbook (.xlsb); {_SAVE}")
    if not all(part.compress_type in ZIP_METHODS for part in parts):
        raise InputError.at(path, None, f"is packed in an unusual way, not deflated; {_SAVE}")
    texts = max((size for name, size in sizes.items() if "sharedstrings" in name.lower()), default=0)
    if texts > _MAX_TEXTS or sum(sizes.values()) > max(_MAX_UNPACKED, _MAX_GROWTH * path.stat().st_size):
        raise InputError.at(path, None, "unpacks to far more than its size; save it as CSV in UTF-8")


def _read_header(path: Path, book: Any) -> tuple[int, list[str], Iterator[tuple[int, Cells]]]:
    """Return the number and the names of the first row with content, and an iterator over those after it."""
    for sheet in book.worksheets:
        rows = _rows(path, sheet)
        for line, cells in rows:
            header = [_as_text(cell).strip() for cell in cells]
            while not header[-1]:
                header.pop()
            return line, header, rows
    raise EmptyFile.at(path, None, "has no cell with content; expected a row with the names of columns")


def _rows(path: Path, sheet: Any) -> Iterator[tuple[int, Cells]]:
    """Yield the rows with content and their numbers."""
    sheet.reset_dimensions()  # the file may state them wrongly
    last, left = 0, max(_MAX_CELLS, 4 * path.stat().st_size)
    for line, cells in enumerate(sheet.iter_rows(values_only=True), 1):
        if len(cells) > _MAX_COLUMNS:
            raise InputError.at(path, line, f"has more than {_MAX_COLUMNS:,} columns; {_SAVE}")
        left -= len(cells)
        if left < 0:
            raise InputError.at(path, line, "has far more cells than the file has bytes; save it as CSV in UTF-8")
        if any(_as_text(cell).strip() for cell in cells):
            yield line, cells
            last = line
        elif line - last > MAX_BLANK_LINES:
            raise InputError.at(path, line, f"comes after {MAX_BLANK_LINES} empty rows; delete them")


def _as_text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, dt.datetime):
        return cell.date().isoformat() if cell.time() == _MIDNIGHT else cell.isoformat(" ")
    return str(cell)


FORMAT = Format(
    scan=scan,
    has_columns=True,
    has_encoding=False,
    needs_file=True,
    short_names=("xlsx",),
    extensions=(".xlsx", ".xlsm"),
)
