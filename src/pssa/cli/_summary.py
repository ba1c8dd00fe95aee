"""Summary of a finished training: its score beside the majority baseline, advice, and the next commands."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from pssa.cli._output import print_table, say
from pssa.data.numbers import percent
from pssa.errors import for_command_line

_N_ADVICE = 3


def print_training_summary(out: Path, metrics: dict[str, Any]) -> None:
    """Print the summary of the finished run `out`."""
    from pssa.runs import Config
    from pssa.runs.advice import HeldOutScore, MajorityBaseline, advise

    config = Config.from_toml(out / "config.toml")
    baseline = MajorityBaseline.of(metrics["labels"])
    rows = [[f"always {baseline.label}", percent(baseline.accuracy), percent(baseline.macro_f1)]]
    if held_out := HeldOutScore.of(config, metrics):
        rows.append([f"this model, {held_out.data}", percent(held_out.accuracy), percent(held_out.macro_f1)])
    print_table("", ("", "accuracy", "macro-F1"), rows)
    if not held_out:
        say("No data was held out, so there is no score of this model yet.")
    if advice := advise(config, metrics):
        say("\nWhat would help most:")
        for line in advice[:_N_ADVICE]:
            say(f"- {for_command_line(line)}")
    _print_next(shlex.quote(str(out)))


def _print_next(run: str) -> None:
    say("\nNext:")
    say(f"  score on new data      pssa evaluate {run} --data TEST.csv")
    say(f"  report to share        pssa report {run} --data TEST.csv --out report.html")
    say(f"  try in the browser     pssa serve {run}")
