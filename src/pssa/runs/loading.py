"""`load`: a run, in torch or exported to ONNX, as a `Classifier`; and what finds aspects in its place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pssa.aspects.find import Finder, has_tagger
from pssa.aspects.names import NameFinder, parse_names
from pssa.data.tokenize import Span
from pssa.errors import InputError, setting
from pssa.joint.runtime import JointRuntime
from pssa.runs.answers import Question, Runtime
from pssa.runs.calibration import Calibration
from pssa.runs.classifier import Classifier
from pssa.runs.directory import RunDirectory, read_json
from pssa.runs.input_profile import InputProfile
from pssa.runs.run_names import STARTER, resolve_run


def load(  # noqa: PLR0913 - each is an option of the commands too
    path: str | Path = STARTER,
    device: str = "cpu",
    precision: str = "auto",
    *,
    aspects_from: str | Path | None = None,
    aspects: str | Iterable[str] | None = None,
    min_score: float = 0.0,
    mentions: bool = False,
) -> Classifier:
    """Load a run, a stage's model or an ensemble's member from its folder; `starter` is the run that comes with the package,
    `hf:OWNER/NAME` one on a model hub, `hf:OWNER/NAME@REVISION` a version of it.

    Of an interrupted run a stage's model is loaded, with a `UserWarning` that names the stage: the initial model where the run
    has trained it and mines next, else the newest checkpoint.

    :param device: cpu, cuda, or auto: the GPU where there is one.
    :param precision: float32, bfloat16 for encoders, or auto: bfloat16 for encoders on a GPU.
    :param aspects_from: a run that finds aspects, the directory of a tagger, or `starter`; by default the run itself.
    :param aspects: names to look for instead, as a list or as text such as `food,"front desk"`.
    :param min_score: of an aspect that a joint model finds.
    :param mentions: whether a joint model answers aspects that are named without an opinion too.
    :raises InputError: if the folder is not a run, a file in it is damaged, or the model cannot run in this precision.
    """
    if aspects_from is not None and aspects is not None:
        given = f"{setting('aspects_from')} or {setting('aspects')}"
        raise InputError(f"a tagger finds aspects, or names are looked for; give {given}, not both")
    folder = RunDirectory.open(resolve_run(path)).root
    runtime = load_runtime(folder, device, precision)
    if min_score or mentions:
        if not isinstance(runtime, JointRuntime):
            what = setting("min_score") if min_score else setting("mentions")
            raise InputError(f"{what} is for joint models, such as the starter; {path} is another model")
        if not 0 <= min_score <= 1:
            raise InputError(f"{setting('min_score')} is {min_score}; expected 0 to 1")
        runtime = replace(runtime, min_score=min_score, mentions=mentions)
    finder: Finder | None = None
    if aspects is not None:
        finder = NameFinder(parse_names(aspects))
    elif aspects_from is not None:
        finder = open_finder(aspects_from, device)
    elif not runtime.finds and has_tagger(folder):
        finder = TaggerOfRun(folder, device)
    return Classifier(
        runtime, Calibration.load(folder), profile=InputProfile.load(folder), finder=finder, folder=folder
    )


def load_runtime(folder: Path, device: str = "cpu", precision: str = "auto") -> Runtime:
    """Load the model of a run."""
    kind = runtime_kind(folder)
    if kind == "onnx":
        from pssa.runs.onnx_runtime import OnnxRuntime

        return OnnxRuntime.load(folder)
    if kind == "joint":
        from pssa.joint.run import load_joint

        return load_joint(folder, device)
    from pssa.runs.saved_model import load_torch

    return load_torch(folder, device, precision)


def runtime_kind(folder: Path) -> str:
    """Return what answers for a run: `onnx` if it was exported, so that it needs no torch, `joint`, or `torch`."""
    path = folder / "model.json"
    found = read_json(path) if path.is_file() else None
    return str(found.get("runtime", "torch")) if isinstance(found, dict) else "torch"


def is_joint(folder: Path) -> bool:
    """Return whether a run finds and labels aspects with one model, in torch or exported."""
    return runtime_kind(folder) != "torch"


def finds_aspects(folder: Path) -> bool:
    """Return whether a run can find aspects: it is a joint model, or has a tagger."""
    return is_joint(folder) or has_tagger(folder)


def describe_run(folder: Path) -> tuple[str, tuple[str, ...]]:
    """Return the model of a run and its labels, without loading them.

    :raises InputError: if `model.json` is damaged, or is that of a tagger.
    """
    if is_joint(folder):
        from pssa.runs.onnx_runtime import read_description

        values = read_description(folder)
        return values["model"], tuple(values["labels"])
    from pssa.runs.saved_model import Description, require_classifier

    described = Description.load(folder)
    require_classifier(folder, described)
    return described.model, described.labels


def open_finder(path: str | Path, device: str = "cpu") -> Finder:
    """Load what finds aspects: an exported run, the directory of a tagger, or a run that has one."""
    folder = resolve_run(path)
    if is_joint(folder):
        return RuntimeFinder(load_runtime(folder, device))
    from pssa.aspects.tagger import load_finder

    return load_finder(folder, device)


@dataclass(frozen=True)
class RuntimeFinder:
    """A runtime of which only the places of aspects are used."""

    runtime: Runtime

    def find_in_sentences(self, sentences: Sequence[str]) -> list[tuple[Span, ...]]:
        """Return the character offsets of the aspects of each sentence, in order and without overlap."""
        answers = self.runtime.start([Question(sentence) for sentence in sentences])()
        return [tuple((each.start, each.end) for each in inside if each.end) for inside in answers]


@dataclass(frozen=True)
class TaggerOfRun:
    """The tagger of a run, loaded when it is first needed."""

    run: Path
    device: str

    def find_in_sentences(self, sentences: Sequence[str]) -> list[tuple[Span, ...]]:
        """Return the character offsets of the aspects of each sentence."""
        return self._finder.find_in_sentences(sentences)

    @cached_property
    def _finder(self) -> Finder:
        from pssa.aspects.tagger import load_finder

        return load_finder(self.run, self.device)
