"""Run directories from strangers, and runs whose disk fails under them: refused in one line, and nothing lost."""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import pssa
from pssa import models
from pssa.data.files import write_atomically
from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError, RunError
from pssa.models import WordTable
from pssa.predict.fingerprint import run_digest
from pssa.runs.directory import FileStore, RunDirectory, read_json, read_tensors, write_tensors
from pssa.runs.featurizer import WordFeaturizer
from pssa.runs.saved_model import Description, save_weights
from pssa.runs.setting_types import parse_value
from pssa.runs.settings import Config
from pssa.runs.warm_start import merge_settings
from pssa.serve.review.log import LogEntry, ReviewLog
from pssa.training import Checkpoint

VOCABULARY = Vocabulary.build(["the", "screen", "is", "great"])
LABELS = ("positive", "negative", "neutral")
HUGE = 10**6  # times a million words would be terabytes


def write_run(folder: Path) -> Path:
    """A run of MN, four values a word, drawn and not trained."""
    table = WordTable(torch.randn(len(VOCABULARY), 4), VOCABULARY.n_trained)
    model = models.build("memnet", table, 3, {}, 0)
    save_weights(folder, model, Description("memnet", {}, LABELS, 4), WordFeaturizer(VOCABULARY, table))
    return folder


def change(path: Path, **values: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


DESCRIPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "more values than there is memory": ({"dimension": HUGE}, "describes a model of .* numbers, but its weights have"),
    "values beyond any": ({"dimension": 10**18}, "`dimension` is 1000000000000000000; expected 1 to 1000000"),
    "no values": ({"dimension": 0}, "`dimension` is 0; expected 1 to 1000000"),
    "fewer values than none": ({"dimension": -1}, "`dimension` is -1"),
    "a dimension in words": ({"dimension": "four"}, "`dimension` is 'four'; expected a whole number"),
    "labels that are none": ({"labels": "positive"}, "`labels` is 'positive'; expected a list"),
    "a label in a list": ({"labels": [["a"], "b"]}, r"`labels\[0\]` is \['a'\]; expected text"),
    "a label twice": ({"labels": ["a", "a"]}, "expected two or more, each once"),
    "one label": ({"labels": ["a"]}, "expected two or more, each once"),
    "says that are no numbers": ({"says": ["much"]}, r"`says\[0\]` is 'much'"),
    "many members": ({"says": [1.0] * 1001}, "`says` has 1001 numbers; expected 1 to 1000"),
    "options in a list": ({"options": [1]}, r"`options` is \[1\]; expected an object"),
    "an option of another type": ({"options": {"dropout": [1]}}, r"dropout is \[1\]; expected float"),
    "a model in a list": ({"model": ["memnet"]}, r"`model` is \['memnet'\]; expected text"),
    "a unit that is none": ({"unit": "letter"}, "`unit`.*'letter'"),
}


@pytest.mark.parametrize("kind", DESCRIPTIONS)
def test_a_description_made_to_harm_is_refused_before_anything_is_built(tmp_path: Path, kind: str) -> None:
    values, message = DESCRIPTIONS[kind]
    run = write_run(tmp_path / "run")
    change(run / "model.json", **values)
    with pytest.raises(InputError, match=message) as caught:
        pssa.load(run)
    assert len(str(caught.value)) < 500


def grow(path: Path, size: int = 1 << 30) -> None:
    """Make a file of a gigabyte that takes no room on disk."""
    with path.open("ab") as file:
        file.truncate(size)


@pytest.mark.parametrize("beside", ["other.safetensors", "stages/x/y.safetensors"])
def test_only_the_weights_of_a_model_count_as_its_weights(tmp_path: Path, beside: str) -> None:
    run = write_run(tmp_path / "run")
    (run / beside).parent.mkdir(parents=True, exist_ok=True)
    grow(run / beside)
    change(run / "model.json", dimension=HUGE)
    with pytest.raises(InputError, match=r"describes a model of .* numbers, but its"):
        pssa.load(run)


@pytest.mark.parametrize("name", ["model.safetensors", "vocabulary.json", "model.json"])
def test_a_file_of_holes_is_refused_before_it_is_read(tmp_path: Path, name: str) -> None:
    run = write_run(tmp_path / "run")
    grow(run / name)
    with pytest.raises(InputError, match=f"{name}: is a sparse file of 1073741824"):
        pssa.load(run)
    for use in (run_digest, lambda folder: merge_settings(Config(), {"from_pretrained": str(folder)})):
        with pytest.raises(InputError, match="is a sparse file"):
            use(run)


@pytest.mark.parametrize("hidden", [10**9, 10**18, 10**30])
def test_sizes_beyond_any_memory_are_refused(tmp_path: Path, hidden: int) -> None:
    run = write_run(tmp_path / "run")
    change(run / "model.json", model="tnet_att", options={"hidden": hidden})
    with pytest.raises(InputError, match=r"describes a model|hidden"):
        pssa.load(run)


def test_a_description_of_a_first_version_is_read_with_what_was_added_since(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    found = json.loads((run / "model.json").read_text())
    for name in ("says", "max_pieces", "unit"):
        del found[name]
    (run / "model.json").write_text(json.dumps(found))
    assert pssa.load(run).torch.vote_weights == (1.0,)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(tmp_path: Path, value: float) -> None:
    run = write_run(tmp_path / "run")
    tensors, _ = read_tensors(run / "model.safetensors")
    tensors["match"][1, 2] = value
    write_tensors(run / "model.safetensors", tensors)
    with pytest.raises(InputError, match="is damaged: match holds a number that is"):
        pssa.load(run)


def test_a_checkpoint_of_another_model_is_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    folder = RunDirectory(run).stage_folder("search")
    (run / "model.safetensors").rename(folder / "spare.safetensors")
    FileStore(folder / "checkpoint.safetensors").save(Checkpoint({"model.else": torch.ones(2)}, ()))
    with pytest.raises(InputError, match=r"checkpoint\.safetensors does not fit the"):
        pssa.load(run)


@pytest.mark.parametrize("content", [b"[" * 100_000, b"9" * 5000, b"\xff", b" " * ((1 << 24) + 1)])
def test_json_made_to_harm_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.json").write_bytes(content)
    with pytest.raises(InputError, match=r"model\.json(: has more than| is damaged)") as caught:
        read_json(tmp_path / "model.json")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a = " + b"[" * 100_000, "not a TOML file"),
        (b"seed = " + b"9" * 5000, "not a TOML file"),
        (b"#" * ((1 << 20) + 1), "has more than 1048576 bytes"),
        (b"[training]\nlearning_rate = nan", "learning_rate is nan; expected float, a finite one"),
        (b"[training]\nlearning_rate = " + b"9" * 400, "learning_rate is inf; expected float, a finite one"),
        (b"device = '" + b"x" * 101 + b"'", "device has 101 characters; expected a name of at most 100"),
        (b"[data]\ntrain = 1", "train is 1; expected str"),
        (b"seed = [1]", r"seed is \[1\]; expected int"),
    ],
)
def test_a_configuration_made_to_harm_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "config.toml").write_bytes(content)
    with pytest.raises(InputError, match=message):
        Config.from_toml(tmp_path / "config.toml")


@pytest.mark.parametrize("text", ["[" * 100_000, "9" * 5000])
def test_an_override_that_is_no_value_is_taken_as_text(text: str) -> None:
    assert parse_value(text) == text


def test_a_run_that_has_vanished_or_was_emptied_is_neither_made_again_nor_called_finished(tmp_path: Path) -> None:
    directory = RunDirectory(write_run(tmp_path / "run"))
    shutil.rmtree(directory.root)
    with pytest.raises(RunError, match="run has vanished while it was written"):
        directory.stage_folder("final")
    with pytest.raises(RunError, match="run cannot be written: No such file or"), directory.locked():
        pass
    assert list(tmp_path.iterdir()) == []
    directory = RunDirectory(write_run(tmp_path / "run"))
    (directory.root / "config.toml").touch()
    directory.require_whole()
    (directory.root / "config.toml").unlink()
    with pytest.raises(RunError, match="run has vanished while it was written"):
        directory.require_whole()


def test_what_a_killed_process_had_begun_is_cleared_away_by_the_next(tmp_path: Path) -> None:
    directory = RunDirectory(write_run(tmp_path / "run"))
    before = {path.name for path in directory.root.iterdir()}
    for name in (".model.safetensors.77.part", ".tmpAbc123"):
        (directory.stage_folder("final") / name).touch()
    with directory.locked():
        pass
    assert {path.name for path in directory.root.rglob("*")} - before == {".lock", "stages", "final"}


def test_a_file_for_which_there_is_no_room_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = FileStore(tmp_path / "gone" / "checkpoint.safetensors")
    with pytest.raises(RunError, match=r"gone/checkpoint\.safetensors cannot be"):
        store.save(Checkpoint({"model.weight": torch.ones(2)}, ()))

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match=r"left on device: '.*evidence\.jsonl'"):
        write_atomically(tmp_path / "evidence.jsonl", b"new")


@pytest.mark.parametrize(
    ("take_away", "message"),
    [
        (Path.unlink, "log is gone, so nothing was changed: No such file or directory"),
        (lambda path: path.rename(path.with_name("old")), "log is gone, so nothing was changed"),
        (
            lambda path: shutil.copy(shutil.move(path, path.with_name("old")), path),
            "log was replaced by another file, so nothing was changed",
        ),
    ],
)
def test_no_change_is_kept_in_a_lost_log(tmp_path: Path, take_away: Callable[[Path], object], message: str) -> None:
    path = tmp_path / "log"
    log = ReviewLog.open(path, "a" * 64)
    take_away(path)
    with pytest.raises(RunError, match=message):
        log.append(LogEntry(1, "2026-01-31T09:30:00+00:00", 0, "1", "drop", 0, "huge", None, None))
    assert log.entries == []
    log.close()


@pytest.mark.parametrize("content", [b"[" * 100_000, b"[]", b'{"dropped": 1, "coverage": null}', b'{"dropped": {}}'])
def test_materials_that_are_damaged_are_refused(tmp_path: Path, content: bytes) -> None:
    from pssa.runs.prepared_data import PreparedData

    run = write_run(tmp_path / "run")
    (run / "stages").mkdir()
    (run / "stages" / "materials.json").write_bytes(content)
    with pytest.raises(InputError, match=r"materials\.json is damaged"):
        PreparedData.load(RunDirectory(run), Config())


@pytest.mark.parametrize("key", ["a." * 400_000 + "a", "'a'." * 200_000 + "a", "'\"'." + "a." * 400_000 + "'\"'"])
def test_a_key_of_very_many_parts_is_refused_before_it_is_parsed(tmp_path: Path, key: str) -> None:
    (tmp_path / "config.toml").write_text(f"{key} = 1\n")
    with pytest.raises(InputError, match=r"config\.toml: not a TOML file: line 1"):
        Config.from_toml(tmp_path / "config.toml")
