"""Memory does not grow with the number of rows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MEBIBYTE = 1 << 20
# The largest size that the process has ever had, in KiB, after a job that was carried out in it. What `resource` says of that
# begins with the size of the process that started it.
SCRIPT = """
import sys
from pssa.cli import main
assert main(["predict", *sys.argv[1:]]) == 0
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def peak(run: Path, source: Path, target: Path) -> int:
    words = map(str, (run, "--input", source, "--output", target, "--device", "cpu", "--errors", "skip"))
    done = subprocess.run([sys.executable, "-c", SCRIPT, *words], capture_output=True, text=True, check=True)
    return int(done.stdout.splitlines()[-1]) * 1024


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells how large a process has been")
def test_ten_times_the_rows_need_no_more_memory(run: Path, tmp_path: Path) -> None:
    peaks = []
    for count in (5_000, 50_000):
        source = tmp_path / f"{count}.csv"
        lines = (f"{number},the screen number {number} is huge {'x' * 600},screen" for number in range(count))
        bad = ("bad,a keyboard,screen" for _ in range(count // 20))
        source.write_text("\n".join(["key,text,aspect", *lines, *bad]))
        peaks.append(peak(run, source, tmp_path / f"{count}.jsonl"))
    # The longer file and its output are more than 70 MiB.
    assert peaks[1] - peaks[0] < 30 * MEBIBYTE, [round(size / MEBIBYTE) for size in peaks]
