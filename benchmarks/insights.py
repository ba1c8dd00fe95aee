"""Peak memory and time of `pssa insights` on a thousand, ten thousand and a hundred thousand reviews; memory should stay flat.

Reviews are the sentences of the data over and over, with made-up branches and dates. A run without a tagger looks for the names
of the data's most frequent aspects.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections import Counter
from datetime import date, timedelta
from itertools import cycle, islice
from pathlib import Path

from harness import Measurement, Request, Table, exponent, main, open_corpora, peak_memory, trained_run

from pssa.aspects.find import has_tagger
from pssa.data import Corpus

_SIZES = (1_000, 10_000, 100_000)
_BRANCHES = ("Harbour", "Old Town", "Station")
_N_NAMES = 20


def measure(request: Request) -> Measurement:
    """Make a page of each number of reviews in a separate process."""
    sizes = request.rows or _SIZES
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run, corpus = trained_run(request, folder), open_corpora(request)[1]
        words = [] if has_tagger(run) else ["--aspects", _frequent_aspects(corpus)]
        found = {size: _peak(run, words, _write_reviews(corpus, size, folder / "reviews.csv")) for size in sizes}
    rows = tuple(
        (size, peak / 2**20, peak / found[sizes[0]][0], seconds, used, size / used)
        for size, (peak, seconds, used) in found.items()
    )
    columns = ("reviews", "MiB", "of the first", "seconds", "CPU seconds", "reviews per CPU second, start included")
    notes: tuple[str, ...] = ()
    if len(set(sizes)) > 1:
        memory, time = (exponent(sizes, [values[place] for values in found.values()]) for place in (0, 2))
        notes = (f"memory grows with the reviews to the power {memory:.3f}, CPU time to the power {time:.3f}",)
    return Measurement(
        (Table("pssa insights", columns, rows),), notes, {"found": {str(s): f for s, f in found.items()}}
    )


def _peak(run: Path, words: list[str], reviews: Path) -> tuple[int, float, float]:
    """Return the peak in bytes, the seconds of the command, and those of processors."""
    out = reviews.with_name("insights.html")
    files = ("--out", out, "--rows", out.with_suffix(".csv"), "--by", "branch", "--date", "visited", "--force")
    return peak_memory("insights", run, "--input", reviews, *files, *words)


def _write_reviews(corpus: Corpus, count: int, path: Path) -> Path:
    """Write a CSV of `count` reviews, which differ in their last word."""
    texts = list(dict.fromkeys(example.text for example in corpus))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("text", "branch", "visited"))
        for number, text in enumerate(islice(cycle(texts), count)):
            day = date(2024, 1, 1) + timedelta(days=number * 7919 % 500)
            writer.writerow((f"{text} {number // len(texts)}", _BRANCHES[number % len(_BRANCHES)], day))
    return path


def _frequent_aspects(corpus: Corpus) -> str:
    counts = Counter(example.aspect_text.lower() for example in corpus if "," not in example.aspect_text)
    return ",".join(name for name, _ in counts.most_common(_N_NAMES))


if __name__ == "__main__":
    sys.exit(main(__doc__, measure))
