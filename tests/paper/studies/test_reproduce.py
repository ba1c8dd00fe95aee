"""Exhibits from beginning to end; where nothing is said of training, cells are carried out by a stand-in."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.paper.experiments.rooms import StandIn, tiny_resources
from tests.paper.studies.stand_in import BASE, FINAL, KT, MINE, MORE, QUICK
from tests.paper.studies.tiny_run import supervised_cells

from paper.experiments import provenance
from paper.experiments.cells import Place, Training, cell_name
from paper.experiments.ledger import Ledger, RecordLookup
from paper.experiments.provenance import now
from paper.experiments.resources import Scope
from paper.experiments.workspace import Workspace
from paper.studies.exhibit import Part
from paper.studies.reproduce import ExecutionOptions, reproduce, show_only

ONE = ExecutionOptions(workers=1)


@pytest.fixture(scope="module")
def scope(tmp_path_factory: pytest.TempPathFactory) -> Scope:
    return Scope(tiny_resources(tmp_path_factory.mktemp("resources")), seeds=1)


def test_cells_are_carried_out_once_and_shown(scope: Scope, stand_in: StandIn, tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    report = reproduce([QUICK, MORE], scope, tmp_path, ONE, lambda *step: told.append(step), "python -m paper it")
    assert sorted(stand_in.done) == sorted([BASE, MINE, FINAL, KT])
    assert [step[:2] for step in told] == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    assert [step[2] for step in told] == ["", *stand_in.done]
    assert (report.shown, report.made, report.reused, report.missing) == (("quick", "more"), 4, 0, 0)
    assert report.is_complete
    assert report.page == tmp_path / "README.md"
    assert "2 outcomes." in (tmp_path / "quick.md").read_text("utf-8")
    for said in ("Made by `python -m paper it`", "Models start from word vectors `vectors.txt` (at most 1 seed)."):
        assert said in (tmp_path / "more.md").read_text("utf-8")
    assert {path.name for path in tmp_path.iterdir()} == {
        *("README.md", "cells.jsonl", "evidence"),
        *("quick", "quick.md", "more", "more.md"),
    }


def test_a_second_call_repeats_nothing(scope: Scope, stand_in: StandIn, tmp_path: Path) -> None:
    reproduce([QUICK], scope, tmp_path, ONE)
    stand_in.done.clear()
    report = reproduce([QUICK, MORE], scope, tmp_path, ONE)
    assert stand_in.done == [KT]
    assert (report.made, report.reused) == (1, 2)
    stand_in.done.clear()
    assert "Made by" in (tmp_path / "quick.md").read_text("utf-8")
    assert reproduce([QUICK, MORE], scope, tmp_path, ONE).made == 0
    assert stand_in.done == []
    assert "Shown by" in (tmp_path / "quick.md").read_text("utf-8")


def test_every_exhibit_keeps_its_page_and_where_its_numbers_come_from(
    scope: Scope, stand_in: StandIn, tmp_path: Path
) -> None:
    reproduce([QUICK], scope, tmp_path, ONE, command="first")
    page = reproduce([MORE], scope, tmp_path, ONE, command="second").page.read_text("utf-8")
    assert "(quick.md)" in page
    assert "(more.md)" in page
    for name, command in (("quick", "first"), ("more", "second")):
        foot = (tmp_path / f"{name}.md").read_text("utf-8").partition("<details>")[2]
        assert command in foot
        assert now()[:10] in foot
        assert "</details>" in foot


def test_a_failing_cell_is_told_and_the_others_go_on(scope: Scope, stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.failing = {MINE: MemoryError("out of it")}
    left = Workspace(tmp_path, scope.resources).weights(Training(Place("laptop", "memnet", 0)))
    left.mkdir(parents=True)
    report = reproduce([QUICK, MORE], scope, tmp_path, ONE)
    assert stand_in.done == [BASE, KT]
    assert [(cell_name(cell), reason) for cell, reason in report.failures.items()] == [
        (MINE, "MemoryError: out of it"),
        (FINAL, f"needs {MINE}, which failed"),
    ]
    assert not report.is_complete
    assert report.missing == 1
    assert "Incomplete: 1 of 2 cells have no outcome" in (tmp_path / "quick.md").read_text("utf-8")
    assert "Incomplete" not in (tmp_path / "more.md").read_text("utf-8")
    # Somebody will want to go on from there.
    assert left.is_dir()
    stand_in.failing = {}
    assert reproduce([QUICK, MORE], scope, tmp_path, ONE).is_complete
    assert not left.parent.exists()


def test_an_interrupted_call_says_how_to_go_on_and_then_does(scope: Scope, stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.failing = {FINAL: KeyboardInterrupt()}
    with pytest.raises(KeyboardInterrupt) as caught:
        reproduce([QUICK], scope, tmp_path, ONE, command="python -m paper quick --out x")
    assert (
        str(caught.value)
        == "2 of 3 cells are done, and their records are kept; resume with: python -m paper quick --out x"
    )
    stand_in.failing = {}
    stand_in.done.clear()
    reproduce([QUICK], scope, tmp_path, ONE)
    assert stand_in.done == [FINAL]


def test_what_is_there_can_be_shown_beside_a_process_at_work(scope: Scope, stand_in: StandIn, tmp_path: Path) -> None:
    reproduce([MORE], scope, tmp_path, ONE)
    stand_in.done.clear()
    with Ledger.open(tmp_path / "cells.jsonl"):
        report = show_only([QUICK, MORE], scope, tmp_path)
    assert stand_in.done == []
    assert (report.made, report.reused, report.missing) == (0, 2, 1)
    assert report.is_complete
    assert "1 outcomes." in (tmp_path / "quick.md").read_text("utf-8")


def test_an_exhibit_that_cannot_be_shown_does_not_cost_the_others(
    scope: Scope, stand_in: StandIn, tmp_path: Path
) -> None:
    def show(scope: Scope, lookup: RecordLookup) -> list[Part]:
        if any(list(map(lookup, supervised_cells(scope)))):
            raise ZeroDivisionError("no seeds")
        return []

    broken = replace(QUICK, name="broken", show=show)
    report = reproduce([broken, MORE], scope, tmp_path, ONE)
    assert (report.shown, report.broken) == (("more",), {"broken": "ZeroDivisionError: no seeds"})
    assert not report.is_complete
    assert (tmp_path / "more.md").is_file()


def test_outcomes_of_other_sources_are_reused_with_a_warning_or_made_afresh(
    scope: Scope, stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reproduce([QUICK], scope, tmp_path, ONE)
    stand_in.done.clear()
    monkeypatch.setattr(provenance, "source_digest", lambda: "changed")
    with pytest.warns(UserWarning, match=r"3 of 3 records in .*cells\.jsonl were"):
        reproduce([QUICK], scope, tmp_path, ONE)
    assert stand_in.done == []
    stand_in.failing = {FINAL: OSError("disk")}
    report = reproduce([QUICK], scope, tmp_path, ExecutionOptions(workers=1, fresh=True))
    assert stand_in.done == [BASE, MINE]
    # What the other sources made of it is not shown as if it were ours.
    assert report.missing == 1
    stand_in.failing = {}
    stand_in.done.clear()
    assert reproduce([QUICK], scope, tmp_path, ExecutionOptions(workers=1, fresh=True)).made == 1
    assert stand_in.done == [FINAL]
    assert re.search(r"^\| 3 +\| .*`changed`", (tmp_path / "quick.md").read_text("utf-8"), re.MULTILINE)
