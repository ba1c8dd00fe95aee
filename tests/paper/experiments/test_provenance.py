"""Where numbers come from."""

from __future__ import annotations

import getpass
import json
import platform
import re
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest

from paper.experiments import provenance, sources
from paper.experiments.cells import Analysis, Cell, Place, Training
from paper.experiments.ledger import Ledger, Record
from paper.experiments.provenance import (
    Environment,
    contributions,
    describe_call,
    device_name,
    files_read,
    is_from_this_code,
    sources_without_commit,
    this_environment,
)
from paper.experiments.sources import commit, find_commits, source_digest
from pssa import __version__

MAKER = Environment("abc", "c0ffee", "2.9", "a CPU")


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    source_digest.cache_clear()
    commit.cache_clear()


def record(sources: str | None, seconds: float = 1.0) -> Record:
    made = {} if sources is None else {"made": {"sources": sources, "commit": None, "torch": "2.9", "device": "a GPU"}}
    return {"key": f"k{sources}{seconds}", "cell": {}, "seconds": seconds, **made}


def test_the_sentence_names_libraries_only_if_they_computed_something() -> None:
    made, shown = (describe_call("paper x", is_executed, 1) for is_executed in (True, False))
    assert made.startswith(f"Made by `paper x`, pssa {__version__}, python {platform.python_version()}")
    assert made.endswith("; 1 seed at most.")
    assert shown == f"Shown by `paper x`, pssa {__version__}; 1 seed at most."


def test_nothing_tells_who_or_where() -> None:
    maker = this_environment(device_name("cpu"))
    told = json.dumps([asdict(maker), describe_call("paper x", True, 1)])
    # Short names such as `root` and `vm` could be part of a word, or of a digest.
    assert not re.search(rf"\b{re.escape(platform.node())}\b", told)
    assert str(Path.home()) not in told
    assert str(Path(provenance.__file__).parent) not in told
    assert f'"{getpass.getuser()}"' not in told


def test_outcomes_are_counted_by_who_made_them() -> None:
    found = contributions([record("abc"), record(None), record("abc")], {})
    assert [(share.by.sources, share.cells) for share in found] == [("abc", 2), ("unknown", 1)]


def test_records_say_when_they_were_finished_and_old_ones_do_not() -> None:
    days = ("2026-11-03T23:59:59Z", "2026-11-02T00:00:00Z")
    made = contributions([*({**record("abc"), "finished": day} for day in days), record("abc"), record("def")], {})
    assert [each.days for each in made] == [("2026-11-02", "2026-11-03"), ()]


def test_a_commit_that_the_history_knows_is_filled_in() -> None:
    known = {**record("def"), "made": asdict(MAKER)}
    assert sources_without_commit([record("abc"), record(None), known]) == {"abc"}
    made = contributions([record("abc"), known], {"abc": "decade", "def": "other"})
    assert {each.by.sources: each.by.commit for each in made} == {"abc": "decade"}


def test_files_that_were_read_have_the_names_of_the_data_sets() -> None:
    place = Place("rest", "bertabsa", 0, small_encoder=True)
    files = {"train": "01 text=a", "words": "02", "encoder": "03", "reading": {"conflict": "keep"}}
    elsewhere = Analysis(Training(place), "transfer", on="laptop")
    other = {"other test": "04", "other words": "05"}
    found: list[tuple[Cell, Record]] = [(Training(place), {"files": files}), (elsewhere, {"files": other})]
    assert files_read(found) == {
        "laptop/opinion_words": "05",
        "laptop/test": "04",
        "rest/opinion_words": "02",
        "rest/train": "01",
        "small encoder": "03",
    }


def copy_of_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package, room = tmp_path / "src" / "pssa", tmp_path / "paper" / "experiments"
    (package / "cli").mkdir(parents=True)
    room.mkdir(parents=True)
    (room / "work.py").write_text("w = 1\n")
    (package / "__init__.py").write_text("x = 1\n")
    (package / "cli" / "train.py").write_text("y = 1\n")
    monkeypatch.setattr(sources, "_ROOT", tmp_path)
    return package


def test_the_digest_changes_with_what_decides_outcomes_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = copy_of_a_package(tmp_path, monkeypatch)

    def digest() -> str:
        source_digest.cache_clear()
        return source_digest()

    first = digest()
    (package / "cli" / "train.py").write_text("y = 2\n")
    assert digest() == first
    (package / "__init__.py").write_text("x = 2\n")
    second = digest()
    (package / "__init__.py").rename(package / "other.py")
    third = digest()
    (tmp_path / "paper" / "experiments" / "work.py").write_text("w = 2\n")
    assert len({first, second, third, digest()}) == 4


def test_a_commit_from_before_the_move_keeps_its_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"src/pssa/data.py": "1", "src/pssa/insights/page.py": "2", "src/pssa/experiments/work.py": "3"}
    before = sources._digest(files)
    assert sources._digest({**files, "src/pssa/insights/page.py": "4"}) != before
    assert sources._digest({**files, "src/pssa/studies/page.py": "4"}) == before
    moved = {"src/pssa/data.py": "1", "paper/experiments/work.py": "3"}
    assert sources._digest({**moved, "src/pssa/insights/page.py": "4"}) == sources._digest(moved)
    assert sources._digest({**moved, "paper/experiments/work.py": "4"}) != sources._digest(moved)


def test_the_history_tells_the_commits_of_the_ledgers_records() -> None:
    # Records of before the move, made outside a repository.
    assert find_commits({"99aae1ef4f07092f", "35390f792dfebb49"}) == {
        "99aae1ef4f07092f": "44eed3d24fc5",
        "35390f792dfebb49": "9777ecc9b4c9",
    }


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True, text=True).stdout


def test_the_commit_is_the_packages_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = copy_of_a_package(tmp_path, monkeypatch)

    def found() -> str | None:
        commit.cache_clear()
        return commit()

    git(tmp_path, "init", "-q")
    # Somebody's repository, in which the package is only installed.
    (tmp_path / "mine.txt").write_text("x")
    git(tmp_path, "add", "mine.txt")
    git(tmp_path, "commit", "-qm", "mine")
    assert found() is None
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "all")
    head = git(tmp_path, "rev-parse", "HEAD").strip()[:12]
    assert found() == head
    (tmp_path / "mine.txt").write_text("y")
    assert found() == head
    (package / "__init__.py").write_text("x = 3\n")
    assert found() == f"{head} with changes"


def test_the_history_tells_the_first_commit_with_the_same_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = copy_of_a_package(tmp_path, monkeypatch)
    git(tmp_path, "init", "-q")
    heads, digests = [], []
    (package / "data.py").write_text("z = 'ä'\n", "utf-8")
    for change in ("__init__.py", "cli/train.py", "data.py"):
        (package / change).unlink() if change == "data.py" else (package / change).write_text(f"{change!r}\n")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", change)
        heads.append(git(tmp_path, "rev-parse", "HEAD").strip()[:12])
        source_digest.cache_clear()
        digests.append(source_digest())
    # The second commit changes only what cannot change an outcome.
    assert digests[0] == digests[1] != digests[2]
    assert find_commits({*digests, "unheard"}) == {digests[0]: heads[0], digests[2]: heads[2]}


def test_without_git_there_is_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_of_a_package(tmp_path, monkeypatch)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit() is None


def test_a_fresh_ledger_knows_only_what_these_sources_made(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    ours, theirs = record(source_digest()), record("other")
    assert is_from_this_code(ours)
    assert not is_from_this_code(theirs)
    assert not is_from_this_code(record(None))
    with Ledger.open(path, is_from_this_code) as ledger:
        for each in (ours, theirs):
            ledger.append(each)
        assert ledger.find(ours["key"]) == ours
        assert ledger.find(theirs["key"]) is None
    assert path.read_text("utf-8").count("\n") == 2
