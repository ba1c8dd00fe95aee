"""`python -m paper`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.paper.experiments.rooms import StandIn, tiny_resources
from tests.paper.studies.stand_in import BASE, FINAL, KT, MINE, MORE, QUICK

from paper.__main__ import main
from paper.experiments.ledger import Ledger
from paper.studies import exhibits
from paper.studies.exhibit import Exhibit
from pssa import models
from pssa.errors import InputError

ROOT = Path(__file__).parents[2]
ENCODER_MODELS = tuple(filter(models.uses_encoder, models.names()))
OURS = {"quick": QUICK, "more": MORE, "lacking": Exhibit("lacking", "Lacking", QUICK.show, ("encoder",))}
Ended = tuple[int, str, str]  # exit code and both streams
Run = Callable[..., Ended]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """The command, in this process."""

    def run_it(*words: object) -> Ended:
        code = main(list(map(str, words)))
        return (code, *capsys.readouterr())

    return run_it


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch, stand_in: StandIn) -> StandIn:
    """Three exhibits, whose cells are carried out in no time."""
    monkeypatch.setattr(exhibits, "names", lambda: tuple(OURS))
    monkeypatch.setattr(exhibits, "find", OURS.__getitem__)
    return stand_in


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str | Path, ...]:
    folder = tmp_path_factory.mktemp("files")
    tiny_resources(folder)
    return ("--data", folder / "data", "--vectors", folder / "vectors.txt", "--seeds", "1", "--workers", "1")


def test_in_a_clone_it_lists_the_exhibits() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "paper", "--list"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=300)
    assert (ended.returncode, ended.stderr) == (0, "")
    listed = re.findall(r"^  (\S+)  ", ended.stdout, re.MULTILINE)
    assert listed == list(exhibits.names())
    page = (ROOT / "docs" / "how-to" / "reproduce-the-paper.md").read_text("utf-8").partition("\n## Exhibits\n")[2]
    assert set(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE)) == set(listed)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name an exhibit"),
        (("quick",), "--data DIR"),
        (("quick", "--data", "D"), "--out DIR"),
        (("quick", "--data", "D", "--out", "O", "--seeds", "0"), "--seeds is 0"),
        (("quick", "--data", "D", "--out", "O", "--small-encoder", "E"), "--small-encoder E needs --encoder"),
        (("quick", "--data", "D", "--out", "O", "--fresh", "--show-only"), "--fresh"),
        (("quick", "--data", "D", "--out", "O", "--plan", "--show-only"), "--plan"),
        (("quick", "--data", "no-such-folder", "--out", "O"), "--data no-such-folder"),
    ],
)
def test_bad_usage_is_refused_before_anything_happens(run: Run, words: tuple[str, ...], said: str) -> None:
    code, out, err = run(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("quick", "--models", "memnet,lstm"), "--models names 'lstm'"),
        (("quick", "--datasets", "rest"), "--datasets names 'rest'"),
        (("quick", "--engine", "spark"), "--engine is 'spark'"),
        (("quick", "--workers", "-1"), "--workers is -1"),
        (("quick", "--address", "here:1"), "needs --engine ray"),
        (("quick", "--device", "tpu"), "device is 'tpu'"),
        (("lacking",), "lacking needs --encoder"),
        (("quick", "--show-only"), "has no cells.jsonl"),
        (("quick", "--encoder", "no/such/folder"), "no/such/folder"),
    ],
)
def test_what_cannot_be_done_is_refused(
    run: Run, ours: StandIn, files: tuple[str | Path, ...], tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    code, _, err = run(*files, "--out", tmp_path / "out", *words)
    assert code == 2
    assert said in err
    assert ours.done == []


def test_all_does_what_the_resources_allow_and_only_shows_it_later(
    run: Run, ours: StandIn, files: tuple[str | Path, ...], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code, said, progress = run("all", *files, "--out", out)
    assert code == 0
    assert "cells: 4 executed, 0 reused, 0 failed\n" in said
    assert all(f"left out: {model} needs --encoder" in said for model in ENCODER_MODELS)
    assert said.endswith("not shown: lacking needs --encoder\n")
    assert progress.startswith("paper: 0 of 4 cells done\n")
    assert sorted(ours.done) == sorted([BASE, MINE, FINAL, KT])
    ours.done.clear()
    code, said, progress = run("more", *files, "--out", out, "--show-only")
    assert (code, progress, ours.done) == (0, "", [])
    assert "cells: 0 executed, 2 reused, 0 failed\n" in said
    # The command that makes what is shown.
    page = (out / "more.md").read_text("utf-8")
    assert f"python -m paper more --data {files[1]} --vectors {files[3]} --seeds 1 --out {out} --workers 1`" in page


def test_failed_cells_are_listed_and_the_exit_code_is_one(
    run: Run, ours: StandIn, files: tuple[str | Path, ...], tmp_path: Path
) -> None:
    ours.failing = {KT: InputError("no\nluck")}
    code, said, err = run("quick", "more", *files, "--out", tmp_path)
    assert code == 1
    assert "cells: 3 executed, 0 reused, 1 failed, 1 missing" in said
    assert err.endswith(f"paper: failed: {KT}: InputError: no luck\n")


def test_interrupted_it_says_the_command_that_goes_on(
    run: Run, ours: StandIn, files: tuple[str | Path, ...], tmp_path: Path
) -> None:
    ours.failing = {FINAL: KeyboardInterrupt()}
    code, _, err = run("quick", *files, "--models", "memnet,tnet", "--out", tmp_path)
    assert code == 130
    assert "2 of 3 cells are done, and their records are kept; resume with: python -m paper quick " in err
    assert err.endswith(" --models memnet,tnet --workers 1\n")


def test_a_plan_counts_and_carries_out_nothing(
    run: Run, ours: StandIn, files: tuple[str | Path, ...], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code, said, err = run("all", *files, "--out", out, "--plan")
    assert (code, err, ours.done, out.exists()) == (0, "", [], False)
    rows = [line.rsplit(maxsplit=3) for line in said.splitlines()[1:4]]
    assert rows == [["quick", "3", "0", "3"], ["more", "2", "0", "2"], ["in all", "4", "0", "4"]]
    (tmp_path / "taken").touch()
    code, _, err = run("quick", *files, "--out", tmp_path / "taken" / "more", "--plan")
    assert code == 2
    assert "taken is not a folder" in err


def test_a_folder_in_use_is_a_failure_not_bad_input(
    run: Run, ours: StandIn, files: tuple[str | Path, ...], tmp_path: Path
) -> None:
    with Ledger.open(tmp_path / "cells.jsonl"):
        code, _, err = run("quick", *files, "--out", tmp_path)
    assert code == 1
    assert "is in use by another process" in err


@pytest.mark.slow
def test_the_table_of_overall_results_is_rebuilt_for_one_model(
    run: Run, files: tuple[str | Path, ...], tmp_path: Path
) -> None:
    words = ("overall", "datasets", *files, "--models", "memnet", "--out", tmp_path)
    code, said, _ = run(*words)
    assert code == 0
    made = (tmp_path / "cells.jsonl").read_text("utf-8").count("\n")
    assert f"cells: {made} executed, 0 reused, 0 failed\n" in said
    tables = json.loads((tmp_path / "overall" / "tables.json").read_text("utf-8"))["tables"]
    table = next(each for each in tables if each["name"] == "overall-laptop")
    assert [row[0] for row in table["rows"][:3]] == ["MN", "MN (+KT)", "MN (+Boosting)"]
    assert "cells: 0 executed" in run(*words)[1]
