"""The file of rows: a line for each aspect that was found, written like the output of `pssa.predict`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from pssa.errors import InputError
from pssa.predict.output import PartialOutput
from pssa.predict.output_format import OutputFormat
from pssa.predict.rows import WrittenRow
from pssa.predict.window import Window

_ROWS_AT_ONCE = 2000


def write_rows(
    rows: Iterable[dict[str, Any]], path: Path, output_format: OutputFormat, on_rows: Callable[[int], None]
) -> None:
    """Write rows as CSV, JSON Lines or Parquet, in bounded memory.

    :param on_rows: is called with the number of rows written so far.
    :raises InputError: for a row that the format cannot hold.
    """
    columns: tuple[str, ...] = ()
    no_rejected = path.with_name(f".{path.name}.rejected")
    output = PartialOutput(format=output_format, output=path, rejected=no_rejected, begin="replace")
    with output.opened({}):
        left = iter(rows)
        while part := list(islice(left, _ROWS_AT_ONCE)):
            columns = columns or tuple(part[0])
            for misfit in filter(None, (output_format.find_misfit(row, columns) for row in part)):
                raise InputError(f"{path}: {misfit}")
            n_rows = output.summary.rows
            written = tuple(map(WrittenRow, range(n_rows, n_rows + len(part))))
            content = output_format.encode(part, columns)
            fitted = output.fit(Window(str(path), (0, n_rows), columns=columns, content=content, written=written))
            if fitted.first_rejected:
                raise InputError(f"{path}: {fitted.first_rejected}")
            output.append(fitted)
            on_rows(output.summary.rows)
        output.publish()
