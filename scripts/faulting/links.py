"""Links and pipes from strangers in every folder that a command opens: refused in one line, soon, and nothing outside changes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from faulting.kills import serving
from faulting.lab import Check, Ended, Lab
from pssa.data import embedded

__all__ = ["LINKS"]

_SECONDS = 120  # that refusing may take on a busy machine


def _plant_link(path: Path, victim: Path) -> None:
    path.symlink_to(victim / ("." if path.suffix == "" and not path.name.startswith(".") else "notes.txt"))


def _plant_pipe(path: Path, victim: Path) -> None:
    os.mkfifo(path)


_PLANTS: dict[str, Callable[[Path, Path], None]] = {"a link": _plant_link, "a pipe": _plant_pipe}


def _victim(lab: Lab) -> Path:
    """A folder outside, with what a run could overwrite or delete."""
    folder = lab.folder / "victim"
    if not folder.exists():
        (folder / "final").mkdir(parents=True)
        (folder / "empty").mkdir()
        for name in ("notes.txt", "vectors.safetensors", "final/checkpoint.safetensors"):
            (folder / name).write_text("precious")
    return folder


def _content(folder: Path) -> dict[str, str]:
    return {str(path): path.read_text() if path.is_file() else "" for path in sorted(folder.rglob("*"))}


def _attempt(lab: Lab, check: Check, words: Sequence[str | Path], what: str) -> None:
    """Run a command that must refuse."""
    victim = _victim(lab)
    before = _content(victim)
    process = lab.start(*words)
    try:
        out, err = process.communicate(timeout=_SECONDS)
        ended = Ended(process.returncode, out, err)
        check.expect(ended.code in (1, 2) and ended.one_line, f"{what}: exit code {ended.code}, said {ended.err}")
        check.said.append(f"{what}: {ended.err.strip()[-160:]}")
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        check.wrong.append(f"{what}: hangs")
    check.times += 1
    check.expect(_content(victim) == before, f"{what}: something outside has changed")


def _attack_folder(lab: Lab, check: Check, original: Path, names: Sequence[str], words: Sequence[str | Path]) -> None:
    """Plant links and pipes under these names in copies of a folder, which stands in `words` as `FOLDER`."""
    for name in names:
        for kind, plant in _PLANTS.items():
            copy = lab.folder / "planted"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(original, copy)
            there = copy / name
            if there.is_dir():
                shutil.rmtree(there)
            there.unlink(missing_ok=True)
            plant(there, _victim(lab))
            placed = [copy if word == "FOLDER" else word for word in words]
            _attempt(lab, check, placed, f"{words[0]}: {kind} as {name}")


def in_runs(lab: Lab, check: Check) -> None:
    """The folder of a run, finished or not."""
    run = serving(lab)
    names = (".lock", "stages", "model.json", "model.safetensors", "README.md", ".metrics.json.1.part")
    _attack_folder(lab, check, run, names[:2], ("train", "--resume", "FOLDER"))
    output = lab.folder / "linked.jsonl"
    words = ("predict", "FOLDER", "--input", lab.train_file, "--output", output)
    _attack_folder(lab, check, run, names[1:], words)
    _attack_folder(lab, check, run, ("history.jsonl",), ("report", "FOLDER", "--out", lab.folder / "linked.html"))
    _attack_folder(lab, check, run, ("vocabulary.json",), ("evaluate", "FOLDER", "--data", lab.train_file))


def in_taggers(lab: Lab, check: Check) -> None:
    """The folder of a tagger."""
    tagger = lab.folder / "tagger"
    data = lab.folder / "sentences.jsonl"
    if not tagger.exists():
        places = {example.text: example.aspect_chars for example in embedded.load("train")[:40]}
        lines = ({"text": text, "aspects": [{"from": start, "to": end}]} for text, (start, end) in places.items())
        data.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        ended = lab.run(
            "train", "--model", "tagger", "--train", data, "--out", tagger, "--epochs", "1", "--device", "cpu"
        )
        check.expect(ended.code == 0, f"the tagger could not be trained: {ended.err}")
    _attack_folder(lab, check, tagger, (".lock", "stages", "model.json"), ("train", "--resume", "FOLDER"))


def in_outputs(lab: Lab, check: Check) -> None:
    """The folder of an unfinished output."""
    run = serving(lab)
    output = lab.folder / "parted" / "out.jsonl"
    for name in ("", "job.json", "progress.json", "rows"):
        for kind, plant in _PLANTS.items():
            shutil.rmtree(output.parent, ignore_errors=True)
            output.parent.mkdir()
            part = output.with_name("out.jsonl.part")
            if name:
                part.mkdir()
            plant(part / name if name else part, _victim(lab))
            words = ("predict", run, "--input", lab.train_file, "--output", output, "--resume")
            _attempt(lab, check, words, f"predict --resume: {kind} as {name or 'its folder'}")


def in_reviews(lab: Lab, check: Check) -> None:
    """The log of a review, beside its evidence."""
    for kind, plant in _PLANTS.items():
        shutil.rmtree(lab.folder / "planted-review", ignore_errors=True)
        evidence = lab.evidence_file(lab.folder / "planted-review")
        plant(evidence.with_name(f"{evidence.name}.review.jsonl"), _victim(lab))
        words = ("serve", serving(lab), "--evidence", evidence, "--corpus", lab.train_file, "--port", "0")
        _attempt(lab, check, words, f"serve: {kind} as the log")


LINKS: dict[str, Callable[[Lab, Check], None]] = {
    "links and pipes in runs": in_runs,
    "links and pipes in taggers": in_taggers,
    "links and pipes in unfinished outputs": in_outputs,
    "links and pipes in place of a review's log": in_reviews,
}
