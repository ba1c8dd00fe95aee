"""`pssa data`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from tests.cli.command import Command

from pssa.cli import build_parser
from pssa.data.io import read
from pssa.errors import InputError

_SOUND = "text,aspect,label\na good menu,menu,positive\na bar,bar,conflict\n"


def _run(*words: str | Path) -> int:
    arguments = build_parser().parse_args(["data", *map(str, words)])
    code: int = arguments.run(arguments)
    return code


def _file(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "data.csv"
    path.write_text(content)
    return path


def test_check_prints_one_json_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("check", _file(tmp_path, _SOUND), "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["instances"] == 1
    assert report["labels"] == {"positive": 1, "negative": 0, "neutral": 0}
    assert report["dropped"] == {"conflict": 1}
    assert report["problems"] == []


def test_a_rejected_instance_gives_exit_code_2_and_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _file(tmp_path, _SOUND + "a bar,pub,neutral\n")
    assert _run("check", path, "--json") == 2
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert set(problem) == {"line", "what", "rejected", "last"}
    assert (problem["line"], problem["rejected"]) == (4, True)
    assert _run("check", path) == 2
    assert "rejected   line 4: aspect 'pub' is not in the text" in capsys.readouterr().out


def test_long_lists_of_problems_are_cut_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _run("check", _file(tmp_path, _SOUND + "".join(f"a bar,pub{number},neutral\n" for number in range(25))))
    assert "... and 5 more; --json lists them all" in capsys.readouterr().out


def test_problems_that_are_the_same_are_listed_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _run("check", _file(tmp_path, _SOUND + "a bar,bar,\n" * 25 + "a bar,pub,neutral\n" * 2))
    rejected = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  rejected")]
    assert rejected[0].startswith("  rejected   lines 4, 5, 6, 7, 8 and 20 more: no `label`; expected one of")
    assert rejected[1].startswith("  rejected   lines 29, 30: aspect 'pub' is not in the text")
    assert len(rejected) == 2


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (("good", "positive", "bad", "Good"), "--labels positive,good,bad"),
        (("-1", "0", "-1"), "--labels=-1,0"),
        (("so so", "bad"), "--labels 'so so,bad'"),
    ],
)
def test_labels_that_take_all_that_were_found_are_proposed_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], labels: tuple[str, ...], said: str
) -> None:
    path = _file(tmp_path, "text,aspect,label\n" + "".join(f"a good menu,menu,{label}\n" for label in labels))
    assert _run("check", path) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("  expected labels positive, negative, neutral;")
    assert lines[-1].endswith(f" {said}")
    (rejected,) = [line for line in lines if "rejected" in line]
    assert all(f"{label!r}: {labels.count(label)}" in rejected for label in labels if label != "positive")
    assert _run("check", path, *shlex.split(said)) == 0


@pytest.mark.slow
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
    tmp_path: Path, capsys: pytest.CaptureFixture[str], labels: tuple[str, ...], options: tuple[str, ...]
) -> None:
    path = _file(tmp_path, "text,aspect,label\n" + "".join(f"a good menu,menu,{label}\n" for label in labels))
    _run("check", path, *options)
    said = capsys.readouterr().out
    assert "all that were found" not in said
    unknown = [line for line in said.splitlines() if "unknown label" in line]
    assert all(line.endswith("or declare yours with --labels") for line in unknown[:1])


def test_labels_and_conflict_are_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _file(tmp_path, _SOUND)
    assert _run("check", path, "--labels", "positive, conflict", "--json") == 0
    assert json.loads(capsys.readouterr().out)["labels"] == {"positive": 1, "conflict": 1}
    assert _run("check", path, "--conflict", "error") == 2


def test_check_warns_with_exit_code_0_and_labels_may_be_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run("check", _file(tmp_path, _SOUND + "bar,bar,neutral\n")) == 0
    assert "warning    line 4" in capsys.readouterr().out
    path = _file(tmp_path, "text,aspect,label\na good menu,menu,1\na bar,bar,0\na good bar,bar,1\n")
    assert _run("check", path, "--labels", "1,0,2") == 0
    assert "labels     1: 2, 0: 1, 2: 0\n" in capsys.readouterr().out


def test_convert_takes_formats_by_name(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("a good menu/p\n")
    assert _run("convert", path, tmp_path / "out", "--from", "tagged", "--to", "three-line") == 0
    assert (tmp_path / "out").read_text() == "a good $T$\nmenu\n1\n"


def test_convert_keeps_every_instance_and_every_older_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, target = _file(tmp_path, _SOUND), tmp_path / "out.xml"
    assert _run("convert", path, target) == 0
    assert len(read(target, conflict="keep")) == 2
    with pytest.raises(InputError, match=r"exists; .* --force"):
        _run("convert", path, target)
    capsys.readouterr()
    assert _run("convert", path, target, "--force", "--conflict", "drop", "--json") == 0
    counts = {"instances": 1, "dropped": {"conflict": 1}, "skipped": [], "not_kept": []}
    assert json.loads(capsys.readouterr().out) == {"output": str(target), **counts}


def test_convert_stops_at_a_bad_line_or_leaves_it_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, target = _file(tmp_path, _SOUND + "a bar,pub,neutral\n" * 5), tmp_path / "out.jsonl"
    with pytest.raises(InputError, match=r"line 4: .*; pssa.check lists all such"):
        _run("convert", path, target)
    with pytest.raises(InputError, match="errors is 'ignore'"):
        _run("convert", path, target, "--errors", "ignore")
    assert not target.exists()
    assert _run("convert", path, target, "--errors", "skip") == 0
    said = capsys.readouterr()
    assert said.out == f"{target}: 2 instances\n"
    assert said.err.startswith("5 lines skipped\n  line 4: aspect 'pub' is not in the text")
    assert said.err.endswith("\n  ... and others; `pssa data check` lists them all\n")
    assert _run("convert", path, target, "--errors", "skip", "--force", "--json") == 0
    assert [bad["line"] for bad in json.loads(capsys.readouterr().out)["skipped"]] == [4, 5, 6, 7, 8]


def test_convert_names_the_columns_that_it_does_not_keep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _file(tmp_path, "text,aspect,label,stars,shop\na good menu,menu,positive,5,7\n")
    assert _run("convert", path, tmp_path / "out.jsonl") == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == (f"{tmp_path / 'out.jsonl'}: 1 instance\n", "columns not kept: stars, shop\n")


@pytest.mark.parametrize("content", ["", "text,aspect,label\n", "text,aspect,label\n\n"])
def test_a_file_without_instances_gives_exit_code_2(command: Command, tmp_path: Path, content: str) -> None:
    path = _file(tmp_path, content)
    for options in ((), ("--json",)):
        assert "expected at least one" in command("data", "check", path, *options).refusal
