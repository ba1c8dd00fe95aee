"""Peak memory of `pssa predict` on 10 thousand, 100 thousand and 1 million rows; it should stay flat."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from harness import Measurement, Request, Table, exponent, main, open_corpora, peak_memory, trained_run, write_rows

_SIZES = (10_000, 100_000, 1_000_000)


def measure(request: Request) -> Measurement:
    """Score a file of each size in a separate process."""
    sizes = request.rows or _SIZES
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run, corpus = trained_run(request, folder), open_corpora(request)[1]
        found = {size: _peak(run, write_rows(corpus, size, folder / "rows.jsonl"), folder) for size in sizes}
    first = found[sizes[0]][0]
    rows = tuple((size, peak / 2**20, peak / first, size / seconds) for size, (peak, seconds) in found.items())
    table = Table("peak memory of pssa predict", ("rows", "MiB", "of the first", "rows/s, start included"), rows)
    notes: tuple[str, ...] = ()
    if len(set(sizes)) > 1:
        grown = exponent(sizes, [peak for peak, _ in found.values()])
        notes = (f"memory grows with the rows to the power {grown:.3f}; 0 is flat",)
    return Measurement((table,), notes, {"bytes": {str(size): peak for size, (peak, _) in found.items()}})


def _peak(run: Path, rows: Path, folder: Path) -> tuple[int, float]:
    """Return the peak in bytes, and the seconds of the command."""
    peak, seconds, _ = peak_memory("predict", run, "--input", rows, "--output", folder / "out.jsonl", "--force")
    return peak, seconds


if __name__ == "__main__":
    sys.exit(main(__doc__, measure))
