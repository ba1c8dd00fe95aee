"""LaTeX sets every table of the results."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

RESULTS = Path(__file__).parents[3] / "results"
PDFLATEX = shutil.which("pdflatex")
_MUCH = 20.0  # points by which a word may stick out of its column


@pytest.mark.slow
@pytest.mark.skipif(PDFLATEX is None, reason="needs pdflatex, from Debian's texlive-latex-recommended")
def test_all_tables_of_the_results_make_one_document(tmp_path: Path) -> None:
    tables = sorted(RESULTS.glob("*/*.tex"))
    assert len(tables) > 40
    heads = [re.match(r"% needs \\usepackage\{([\w,]+)\}", table.read_text("utf-8")) for table in tables]
    packages = sorted({name for head in heads if head for name in head[1].split(",")})
    body = "\n\\clearpage\n".join(rf"\input{{{table}}}" for table in tables)
    document = rf"\documentclass{{article}}\usepackage{{{','.join(packages)}}}\begin{{document}}{body}\end{{document}}"
    (tmp_path / "all.tex").write_text(document, "utf-8")
    done = subprocess.run(
        [str(PDFLATEX), "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "all.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    log = (tmp_path / "all.log").read_text("utf-8", "replace")
    assert "Missing character" not in log
    assert [width for width in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log) if float(width) > _MUCH] == []
