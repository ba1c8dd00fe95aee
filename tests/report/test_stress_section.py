"""The report's section about variants."""

from __future__ import annotations

from pathlib import Path

import pssa
from pssa.data.example import Corpus
from pssa.report.stress_section import stress_section
from pssa.stress import KINDS, make_variants, stress


def test_right_answers_and_mistakes_of_both_runs_are_shown(run: Path, base: Path, held_out: Corpus) -> None:
    classifiers = {"mined": pssa.load(run), "base": pssa.load(base)}
    result = stress(classifiers["mined"], make_variants(held_out))
    html = str(stress_section(classifiers, held_out).html)
    assert all(f">{kind}</th>" in html for kind in (*KINDS, "originals", "all right"))
    assert f"{100 * result.as_dict()['all_right']:.1f} %" in html
    assert "McNemar" in html
    assert f"{len(result.mistakes)} variants wrong" in html
    assert html.count('class="heat-map"') == 2 * min(6, len(result.mistakes)) > 0
    assert "McNemar" not in str(stress_section({"mined": classifiers["mined"]}, held_out).html)
