"""`pssa reproduce`."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.cli.command import Command
from tests.experiments.rooms import tiny_resources
from tests.studies.stand_in import BASE, FINAL, KT, MINE, MORE, QUICK, StandIn

from pssa import models
from pssa.cli._progress import CellsProgress
from pssa.errors import InputError
from pssa.experiments import schedule
from pssa.experiments.ledger import Ledger
from pssa.studies import exhibits
from pssa.studies.exhibit import Exhibit

ENCODER_MODELS = tuple(filter(models.uses_encoder, models.names()))
OURS = {
    "quick": QUICK,
    "more": MORE,
    "lacking": Exhibit("lacking", "Lacking", QUICK.cells, QUICK.show, ("encoder",), True),
}


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Three exhibits, whose cells are carried out in no time."""
    found = StandIn()
    monkeypatch.setattr(schedule, "execute_cell", found)
    monkeypatch.setattr(exhibits, "names", lambda: tuple(OURS))
    monkeypatch.setattr(exhibits, "find", OURS.__getitem__)
    return found


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str | Path, ...]:
    folder = tmp_path_factory.mktemp("files")
    tiny_resources(folder)
    return ("--data", folder / "data", "--vectors", folder / "vectors.txt", "--seeds", "1", "--workers", "1")


def test_the_exhibits_are_listed_in_two_groups(command: Command, stand_in: StandIn) -> None:
    result = command("reproduce", "--list")
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines() == [
        "In the paper:",
        "  quick    Quick",
        "  more     More",
        "Beyond the paper:",
        "  lacking  Lacking (needs --encoder)",
    ]


def test_every_exhibit_that_there_is_can_be_listed(command: Command) -> None:
    found = command("reproduce", "--list", "--json").json["exhibits"]
    assert [each["name"] for each in found] == list(exhibits.names())
    assert {"name": "overall", "title": "Overall results", "beyond": False, "needs": []} in found


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name an exhibit, or all; pssa reproduce --list lists them"),
        (("quick",), "pssa reproduce needs --data DIR"),
        (("quick", "--data", "D"), "pssa reproduce needs --out DIR"),
        (("quick", "--data", "D", "--out", "O", "--seeds", "0"), "--seeds is 0; it must be at least 1"),
        (("quick", "--data", "D", "--out", "O", "--small-encoder", "E"), "--small-encoder E needs --encoder"),
        (
            ("quick", "--data", "D", "--out", "O", "--fresh", "--show-only"),
            "--fresh executes cells again",
        ),
        (
            ("quick", "--data", "D", "--out", "O", "--plan", "--show-only"),
            "--plan only counts and --show-only only shows",
        ),
        (("quick", "--data", "no-such-folder", "--out", "O"), "--data no-such-folder is not a folder"),
    ],
)
def test_bad_usage_is_refused_before_anything_happens(command: Command, words: tuple[str, ...], said: str) -> None:
    assert command("reproduce", *words).refusal.startswith(f"pssa: {said}")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("quick", "--models", "memnet,lstm"), "--models names 'lstm'"),
        (("quick", "--datasets", "rest"), "--datasets names 'rest'; there are laptop"),
        (("quick", "--engine", "spark"), "engine is 'spark'; choose local or ray"),
        (("quick", "--workers", "-1"), "--workers is -1; it must not be negative"),
        (("quick", "--engine", "spark", "--plan"), "engine is 'spark'; choose local or ray"),
        (("quick", "--address", "here:1"), "--address here:1 needs --engine ray; leave it out"),
        (("quick", "--device", "tpu"), "device is 'tpu'; it can be auto, cpu or cuda"),
        (("lacking",), "no exhibit can be shown: lacking needs --encoder"),
        (("quick", "--show-only"), "has no cells.jsonl, so there is nothing to show"),
    ],
)
def test_what_cannot_be_done_is_refused(
    command: Command,
    stand_in: StandIn,
    files: tuple[str | Path, ...],
    tmp_path: Path,
    words: tuple[str, ...],
    said: str,
) -> None:
    assert said in command("reproduce", *files, "--out", tmp_path / "out", *words).refusal
    assert stand_in.done == []


def test_an_encoder_may_be_named_as_the_hub_does(
    command: Command,
    stand_in: StandIn,
    files: tuple[str | Path, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "copy").mkdir()
    words = ("reproduce", "lacking", *files, "--out", tmp_path / "out", "--encoder")
    with monkeypatch.context() as patch:
        patch.setattr(models.Pretrained, "open", lambda name: SimpleNamespace(weights=str(tmp_path / "copy")))
        assert command(*words, "owner/encoder").out.startswith(f"{tmp_path}/out/index.html: lacking\n")
    told = json.loads((tmp_path / "out" / "provenance.json").read_text("utf-8"))["command"]
    assert "--encoder owner/encoder" in told
    assert "none' is neither a folder nor a name on the Hugging Face hub" in command(*words, tmp_path / "none").refusal


def test_an_unknown_exhibit_is_refused_with_those_there_are(
    command: Command, files: tuple[str | Path, ...], tmp_path: Path
) -> None:
    assert "unknown exhibit 'fly'" in command("reproduce", "fly", *files, "--out", tmp_path).refusal


def test_all_does_what_the_resources_allow(
    command: Command, stand_in: StandIn, files: tuple[str | Path, ...], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    result = command("reproduce", "all", *files, "--out", out)
    assert (result.code, result.err) == (0, "pssa: 4 cells to do\n")
    assert result.out.splitlines() == [
        f"{out}/index.html: quick, more",
        "cells: 4 executed, 0 reused, 0 failed",
        *(f"left out: {model} needs --encoder" for model in ENCODER_MODELS),
        "not shown: lacking needs --encoder",
    ]
    assert sorted(stand_in.done) == sorted([BASE, MINE, FINAL, KT])
    told = json.loads((out / "provenance.json").read_text("utf-8"))["command"]
    assert told == f"pssa reproduce all --data {files[1]} --vectors {files[3]} --seeds 1 --out {out} --workers 1"


def test_one_json_object_tells_everything(
    command: Command, stand_in: StandIn, files: tuple[str | Path, ...], tmp_path: Path
) -> None:
    found = command("reproduce", "all", *files, "--out", tmp_path, "--json").json
    seconds = found.pop("seconds")
    assert seconds > 0
    assert found == {
        "page": str(tmp_path / "index.html"),
        "shown": ["quick", "more"],
        "skipped": {"lacking": "needs encoder"},
        "left_out": dict.fromkeys(ENCODER_MODELS, "needs encoder"),
        "broken": {},
        "cells": {"made": 4, "reused": 0, "missing": 0},
        "failed": [],
    }


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_failed_cells_are_listed_and_the_exit_code_is_one(
    command: Command, stand_in: StandIn, files: tuple[str | Path, ...], tmp_path: Path, as_json: tuple[str, ...]
) -> None:
    stand_in.failing = {KT: InputError("no\nluck")}
    result = command("reproduce", "quick", "more", *files, "--out", tmp_path, *as_json)
    assert result.code == 1
    if as_json:
        assert json.loads(result.out)["failed"] == [{"cell": KT, "reason": "InputError: no\nluck"}]
    else:
        assert "cells: 3 executed, 0 reused, 1 failed, 1 missing" in result.out
        assert result.err.endswith(f" cells to do\npssa: failed: {KT}: InputError: no luck\n")


def test_interrupted_it_says_the_command_that_goes_on(
    command: Command, stand_in: StandIn, files: tuple[str | Path, ...], tmp_path: Path
) -> None:
    stand_in.failing = {FINAL: KeyboardInterrupt()}
    result = command("reproduce", "quick", *files, "--models", "memnet,tnet", "--out", tmp_path)
    assert result.code == 130
    assert result.err.startswith(
        "pssa: 3 cells to do\n"
        "pssa: interrupted; 2 of 3 cells are done, and their records are kept; resume with: pssa reproduce quick "
    )
    assert result.err.endswith(" --models memnet,tnet --workers 1\n")


def test_what_is_there_is_shown_without_carrying_out_anything(
    command: Command, stand_in: StandIn, files: tuple[str | Path, ...], tmp_path: Path
) -> None:
    assert command("reproduce", "quick", *files, "--out", tmp_path).code == 0
    stand_in.done.clear()
    result = command("reproduce", "more", *files, "--out", tmp_path, "--show-only")
    assert stand_in.done == []
    assert result.code == 0
    assert "cells: 0 executed, 1 reused, 0 failed, 1 missing" in result.out
    # The command that makes what is shown.
    assert "--show-only" not in (tmp_path / "more.md").read_text("utf-8")


def test_a_plan_counts_and_carries_out_nothing(
    command: Command, stand_in: StandIn, files: tuple[str | Path, ...], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    result = command("reproduce", "all", *files, "--out", out, "--plan")
    assert (result.code, result.err, stand_in.done, out.exists()) == (0, "", [], False)
    table = [line.strip("│ ").split() for line in result.out.splitlines() if "│" in line]
    assert [[word for word in row if word != "│"] for row in table] == [
        ["quick", "3", "0", "3"],
        ["more", "2", "0", "2"],
        ["in", "all", "4", "0", "4"],
    ]
    assert "left out: bertabsa needs --encoder\n" in result.out
    assert "left out: memnet" not in result.out
    assert result.out.endswith("not shown: lacking needs --encoder\n")


def test_a_plan_refuses_a_file_as_its_folder(
    command: Command, stand_in: StandIn, files: tuple[str | Path, ...], tmp_path: Path
) -> None:
    taken = tmp_path / "taken"
    taken.touch()
    for out in (taken, taken / "more"):
        assert (
            f"{taken} is not a folder; choose another"
            in command("reproduce", "quick", *files, "--out", out, "--plan").refusal
        )


def test_a_plan_is_one_json_object_and_knows_what_is_there(
    command: Command, stand_in: StandIn, files: tuple[str | Path, ...], tmp_path: Path
) -> None:
    assert command("reproduce", "quick", *files, "--out", tmp_path).code == 0
    before = sorted(tmp_path.rglob("*"))
    found = command("reproduce", "all", *files, "--out", tmp_path, "--plan", "--json").json
    # One training is left, and every stand-in took a second.
    assert [(each["cells"], each["seconds"], each["unknown"]) for each in found.pop("time")] == [(1, 1.0, 0)]
    assert found == {
        "exhibits": {"quick": {"cells": 3, "there": 3, "to_do": 0}, "more": {"cells": 2, "there": 1, "to_do": 1}},
        "total": {"cells": 4, "there": 3, "to_do": 1},
        "skipped": {"lacking": "needs encoder"},
        "broken": {},
        "left_out": dict.fromkeys(ENCODER_MODELS, "needs encoder"),
    }
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_in_use_is_a_failure_not_bad_input(
    command: Command, stand_in: StandIn, files: tuple[str | Path, ...], tmp_path: Path
) -> None:
    with Ledger.open(tmp_path / "cells.jsonl"):
        result = command("reproduce", "quick", *files, "--out", tmp_path)
    assert result.code == 1
    assert "is in use by another process" in result.err


def test_without_a_terminal_a_line_now_and_then_tells_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    for module in ("cli._progress", "training.progress"):
        monkeypatch.setattr(f"pssa.{module}.time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr("pssa.training.progress.QUIET_SECONDS", 60.0)
    with CellsProgress() as bar:
        for done, (at, name) in enumerate([(1.0, ""), (90.0, "first"), (100.0, "second"), (3690.0, "third")]):
            now = at
            bar(done, 4, name)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "pssa: 4 cells to do",
        "pssa: 1/4 cells, 0:01:30 elapsed, 0:04:30 left; last first",
        "pssa: 3/4 cells, 1:01:30 elapsed, 0:20:30 left; last third",
    ]


def test_a_long_cell_does_not_silence_the_log(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pssa.training.progress.QUIET_SECONDS", 0.01)
    err = ""
    with CellsProgress() as bar:
        bar(0, 4, "")
        while err.count("pssa: 0/4 cells, 0:00:") < 2:
            time.sleep(0.01)
            err += capsys.readouterr().err
    assert "pssa: 4 cells to do\n" in err  # on a busy machine the first beat comes before it


@pytest.mark.slow
def test_the_table_of_overall_results_is_rebuilt_for_one_model(
    command: Command, files: tuple[str | Path, ...], tmp_path: Path
) -> None:
    result = command("reproduce", "overall", "datasets", *files, "--models", "memnet", "--out", tmp_path, "--json")
    found = result.json
    assert (found["shown"], found["failed"], found["cells"]["missing"]) == (["overall", "datasets"], [], 0)
    assert found["cells"]["made"] == (tmp_path / "cells.jsonl").read_text("utf-8").count("\n") > 0
    rows = (tmp_path / "overall" / "overall-laptop.csv").read_text("utf-8").splitlines()
    assert [row.split(",")[0] for row in rows[1:4]] == ["MN", "MN (+KT)", "MN (+Boosting)"]
    assert re.match(r"MN,1,\d+\.\d+,,\d+\.\d+,,", rows[1])
    again = command("reproduce", "overall", *files, "--models", "memnet", "--out", tmp_path, "--json").json
    assert (again["cells"]["made"], again["cells"]["missing"]) == (0, 0)
    assert again["cells"]["reused"] > 0
