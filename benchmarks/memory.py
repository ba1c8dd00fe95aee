"""Peak memory of `pssa predict` on 10 thousand, 100 thousand and 1 million rows; it should stay flat."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from harness import Measurement, Request, Table, exponent, fresh_process, main, open_corpora, trained_run, write_rows

_SIZES = (10_000, 100_000, 1_000_000)
# The system's record of this process; `getrusage` would include the process that started it.
_COMMAND = """
import re, resource, sys, time
from pathlib import Path
from pssa.cli import main
began = time.perf_counter()
code = main(["predict", *sys.argv[1:], "--json"])
seconds = time.perf_counter() - began
status = Path("/proc/self/status")
peak = re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1] if status.exists() else 0
scale = 1 if sys.platform == "darwin" else 1024
print(int(peak) * 1024 or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale, seconds)
sys.exit(code)
"""


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
    words = [str(run), "--input", str(rows), "--output", str(folder / "out.jsonl"), "--force"]
    peak, seconds = fresh_process(("-c", _COMMAND, *words)).splitlines()[-1].split()
    return int(peak), float(seconds)


if __name__ == "__main__":
    sys.exit(main(__doc__, measure))
