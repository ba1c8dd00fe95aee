"""`pssa stress`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import Command

import pssa
from pssa.data.example import Corpus
from pssa.stress import KINDS, make_variants, stress


def test_scores_are_one_json_object(command: Command, run: Path, data: Path, held_out: Corpus) -> None:
    found = command("stress", run, "--data", data, "--versus", run, "--json").json
    assert found.keys() == {"instances", "kinds", "accuracy", "all_right", "versus", "p_all_right"}
    assert (found["instances"], found["p_all_right"]) == (40, 1.0)
    assert tuple(found["kinds"]) == KINDS
    assert all(kind.keys() == {"variants", "accuracy"} for kind in found["kinds"].values())
    classifier, variants = pssa.load(run), make_variants(held_out)
    wrong = {i for i, label in enumerate(classifier.torch.predicted_labels(held_out)) if label != held_out[i].label}
    examples = [each.example for each in variants.variants]
    for each, label in zip(variants.variants, classifier.torch.predicted_labels(examples), strict=True):
        wrong |= {each.index} if label != each.example.label else set()
    assert found["all_right"] == (40 - len(wrong)) / 40
    assert stress(classifier, variants).as_dict() == found["versus"]


@pytest.mark.slow
def test_a_person_corrects_the_variants(command: Command, run: Path, data: Path, tmp_path: Path) -> None:
    path = tmp_path / "variants.jsonl"
    assert command("stress", run, "--data", data, "--variants", path, "--json").code == 0
    lines = path.read_text().splitlines()
    kept = [line for line in lines[1:] if json.loads(line)["kind"] == "case"]
    path.write_text("\n".join([lines[0], *kept]) + "\n")
    found = command("stress", run, "--data", data, "--variants", path, "--json").json
    assert found["kinds"]["case"]["variants"] == len(kept) > 0
    assert found["kinds"]["typos"] == {"variants": 0, "accuracy": None}
    path.write_text(path.read_text().replace('"kind": "case"', '"kind": "cas"', 1))
    refused = command("stress", run, "--data", data, "--variants", path)
    assert (refused.code, f"{path}, line 2" in refused.err) == (2, True)


def test_mistakes_are_shown_in_heat_maps(command: Command, run: Path, data: Path) -> None:
    result = command("stress", run, "--data", data, "--limit", "1")
    assert result.code == 0
    assert result.out.count("right before, wrong now") == 1
    assert all(kind in result.out for kind in (*KINDS, "all right"))
    assert max(map(len, result.out.splitlines()[:14])) <= 80
