"""Targets of commands that read raw reviews: `insights` and `try`; those of `stress` are among the readers."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from fuzzing.aspects import TEXT_PARTS
from fuzzing.bulk import NAMED, ON_CPU, OneThreadEngine
from fuzzing.grammars import pieces_of, table
from fuzzing.readers import using
from fuzzing.target import Attack, Target
from pssa.aspects.spans import check_text
from pssa.cli.try_ import as_dict, judge, show
from pssa.data import embedded
from pssa.insights.grouping import read_groups
from pssa.insights.job import InsightsJob, make_insights
from pssa.predict.rows import OutputFields
from pssa.predict.scorer import open_scorer
from pssa.runs import load
from pssa.runs.training_run import write_run

__all__ = ["command_targets"]

_REVIEWS = ("text", "branch", "date", "aspect", "note")
_GROUPS = ("group", "spelling", "reason")
_SOUND = (
    b"text,branch,date\n"
    b'"The screen is great, but the battery life is short.",North,2024-05-01\n'
    b"The battery life,South,31.12.2024\n"
)
_SOUND_GROUPS = b"group,spelling,reason\nscreen,screens,plural\n,battery,\n"


def command_targets(folder: Path) -> dict[str, Target]:
    """By name; a run is trained in `folder`."""
    corpus = embedded.load("train").select(range(24))
    run = write_run(corpus, folder / "commands", model="memnet", dimension=4, epochs=1, device="cpu")
    text = "".join(TEXT_PARTS).encode()
    return {
        "insights/reviews": Target(_surveying(run), (_SOUND,), grown=table(_REVIEWS), share=0.1),
        "insights/groups": Target(using("case.csv", read_groups), (_SOUND_GROUPS,), grown=table(_GROUPS)),
        "try": Target(_trying, (text,), grown=pieces_of(*TEXT_PARTS), share=0.1),
    }


def _surveying(run: Path) -> Callable[[Path], Attack]:
    def prepare(folder: Path) -> Attack:
        engine = OneThreadEngine(
            open_scorer(run, replace(ON_CPU, saliency=""), OutputFields(NAMED))
        )  # with the usual saliency

        def attack(content: bytes) -> None:
            (folder / "case.csv").write_bytes(content)
            job = InsightsJob(
                (str(folder / "case.csv"),),
                folder / "page.html",
                run,
                by="branch",
                date="date",
                begin="replace",
                finding=NAMED,
                scoring=ON_CPU,
            )
            make_insights(job, engine)

        return attack

    return prepare


def _trying(_: Path) -> Attack:
    classifier = load()

    def attack(content: bytes) -> None:
        text = check_text(content.decode("utf-8", "replace"))
        (answers,) = judge(classifier, [text])
        json.dumps(as_dict(text, answers), allow_nan=False).encode()
        with contextlib.redirect_stdout(io.StringIO()):
            show(text, answers, classifier.runtime.saliency)

    return attack
