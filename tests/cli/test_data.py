"""`pssa data`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from tests.cli.command import Command

from pssa.data.io import read

_SOUND = "text,aspect,label\na good menu,menu,positive\na bar,bar,conflict\n"


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _file(content: str, name: str = "data.csv") -> Path:
    path = Path(name)
    path.write_text(content)
    return path


def test_check_prints_one_json_object(command: Command) -> None:
    report = command("data", "check", _file(_SOUND), "--json").json
    assert report["instances"] == 1
    assert report["labels"] == {"positive": 1, "negative": 0, "neutral": 0}
    assert report["dropped"] == {"conflict": 1}
    assert report["problems"] == []


def test_a_rejected_instance_gives_exit_code_2_and_its_line(command: Command) -> None:
    path = _file(_SOUND + "a bar,pub,neutral\n")
    found = command("data", "check", path, "--json")
    (problem,) = json.loads(found.out)["problems"]
    assert found.code == 2
    assert set(problem) == {"line", "what", "rejected", "last"}
    assert (problem["line"], problem["rejected"]) == (4, True)
    shown = command("data", "check", path)
    assert (shown.code, "rejected   line 4: aspect 'pub' is not in the text" in shown.out) == (2, True)


def test_long_lists_of_problems_are_cut_for_people(command: Command) -> None:
    path = _file(_SOUND + "".join(f"a bar,pub{number},neutral\n" for number in range(25)))
    assert "... and 5 more; --json lists them all" in command("data", "check", path).out


def test_problems_that_are_the_same_are_listed_once(command: Command) -> None:
    path = _file(_SOUND + "a bar,bar,\n" * 25 + "a bar,pub,neutral\n" * 2)
    first, second = (line for line in command("data", "check", path).out.splitlines() if "  rejected" in line)
    assert first.startswith("  rejected   lines 4, 5, 6, 7, 8 and 20 more: no `label`; expected one of")
    assert second.startswith("  rejected   lines 29, 30: aspect 'pub' is not in the text")


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (("good", "positive", "bad", "Good"), "--labels positive,good,bad"),
        (("-1", "0", "-1"), "--labels=-1,0"),
        (("so so", "bad"), "--labels 'so so,bad'"),
    ],
)
def test_labels_that_take_all_that_were_found_are_proposed_once(
    command: Command, labels: tuple[str, ...], said: str
) -> None:
    path = _file("text,aspect,label\n" + "".join(f"a good menu,menu,{label}\n" for label in labels))
    shown = command("data", "check", path)
    lines = shown.out.splitlines()
    assert shown.code == 2
    assert lines[-1].startswith("  expected labels positive, negative, neutral;")
    assert lines[-1].endswith(f" {said}")
    (rejected,) = [line for line in lines if "rejected" in line]
    assert all(f"{label!r}: {labels.count(label)}" in rejected for label in labels if label != "positive")
    assert command("data", "check", path, *shlex.split(said)).code == 0


@pytest.mark.parametrize(
    ("labels", "options"),
    [
        (("positive", "negative"), ()),
        (("good", "good"), ()),  # one label is nothing to learn
        (("bad", "good" * 16), ()),
        (("bad", '"good, in a way"'), ()),
        (("bad", "go\x07od"), ()),
        (tuple(f"label {number}" for number in range(21)), ()),
        (("positive", "conflict"), ("--conflict", "error")),
    ],
)
def test_labels_are_not_proposed_where_that_would_not_help(
    command: Command, labels: tuple[str, ...], options: tuple[str, ...]
) -> None:
    path = _file("text,aspect,label\n" + "".join(f"a good menu,menu,{label}\n" for label in labels))
    said = command("data", "check", path, *options).out
    assert "accept all with" not in said
    unknown = [line for line in said.splitlines() if "unknown label" in line]
    assert all(line.endswith("or declare yours with --labels") for line in unknown[:1])


def test_labels_and_conflict_are_options(command: Command) -> None:
    path = _file(_SOUND)
    labels = ("--labels", "positive, conflict")
    assert command("data", "check", path, *labels, "--json").json["labels"] == {"positive": 1, "conflict": 1}
    assert command("data", "check", path, "--conflict", "error").code == 2


def test_check_warns_with_exit_code_0_and_labels_may_be_numbers(command: Command) -> None:
    warned = command("data", "check", _file(_SOUND + "bar,bar,neutral\n"))
    assert (warned.code, "warning    line 4" in warned.out) == (0, True)
    path = _file("text,aspect,label\na good menu,menu,1\na bar,bar,0\na good bar,bar,1\n")
    assert "labels     1: 2, 0: 1, 2: 0\n" in command("data", "check", path, "--labels", "1,0,2").out


def test_convert_takes_formats_by_name(command: Command) -> None:
    path = _file("a good menu/p\n", "in")
    assert command("data", "convert", path, "out", "--from", "tagged", "--to", "three-line").code == 0
    assert Path("out").read_text() == "a good $T$\nmenu\n1\n"


def test_convert_keeps_every_instance(command: Command) -> None:
    words = ("data", "convert", _file(_SOUND), "out.xml")
    assert command(*words).code == 0
    assert len(read("out.xml", conflict="keep")) == 2
    counts = {"instances": 1, "dropped": {"conflict": 1}, "skipped": [], "not_kept": []}
    assert command(*words, "--force", "--conflict", "drop", "--json").json == {"output": "out.xml", **counts}


def test_convert_stops_at_a_bad_line_or_leaves_it_out(command: Command) -> None:
    words = ("data", "convert", _file(_SOUND + "a bar,pub,neutral\n" * 5), "out.jsonl")
    assert "line 4: aspect 'pub' is not in the text" in command(*words).refusal
    assert not Path("out.jsonl").exists()
    said = command(*words, "--errors", "skip")
    assert (said.code, said.out) == (0, "out.jsonl: 2 instances\n")
    assert said.err.startswith("5 lines skipped\n  line 4: aspect 'pub' is not in the text")
    assert said.err.endswith("\n  ... and others; `pssa data check` lists them all\n")
    found = command(*words, "--errors", "skip", "--force", "--json").json
    assert [bad["line"] for bad in found["skipped"]] == [4, 5, 6, 7, 8]


def test_convert_names_the_columns_that_it_does_not_keep(command: Command) -> None:
    path = _file("text,aspect,label,stars,shop\na good menu,menu,positive,5,7\n")
    said = command("data", "convert", path, "out.jsonl")
    assert (said.code, said.out, said.err) == (0, "out.jsonl: 1 instance\n", "columns not kept: stars, shop\n")


@pytest.mark.parametrize("content", ["", "text,aspect,label\n", "text,aspect,label\n\n"])
def test_a_file_without_instances_gives_exit_code_2(command: Command, content: str) -> None:
    for options in ((), ("--json",)):
        assert "expected at least one" in command("data", "check", _file(content), *options).refusal
