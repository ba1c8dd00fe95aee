"""`pssa predict`: label every row of files, in order, in bounded memory."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from pssa.cli._options import add_columns, common_options
from pssa.cli._parser import page
from pssa.errors import InputError

if TYPE_CHECKING:
    from pssa.bulk import Engine, Job, Progress, Summary

__all__ = ["add_parser", "progress_text"]


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "predict",
        parents=[common_options()],
        help="label the rows of files",
        **page(
            "Label every row of files of any size with a run, in order and in bounded memory.",
            "pssa predict runs/reviews --input new.csv --output labelled.csv",
            "pssa predict runs/reviews --input 'parts/*.jsonl.gz' --output labelled.jsonl --errors skip",
            "pssa predict runs/reviews --input new.csv --output explained.jsonl --explain gradient",
        ),
    )
    parser.add_argument("run_path", metavar="RUN", type=Path, help="a run, as `pssa train --out RUN` makes it")
    parser.add_argument(
        "--input",
        nargs="+",
        action="extend",
        required=True,
        metavar="FILE",
        help="JSON Lines, CSV or Parquet with text, aspect, from/to, also .gz and .zst; patterns; - for standard input",
    )
    parser.add_argument(
        "--output",
        required=True,
        metavar="FILE",
        help="JSON Lines, CSV (also .gz and .zst) or Parquet; - for standard output",
    )
    parser.add_argument("--format", help="the format of the input, if it is not recognised")
    add_columns(parser)
    parser.add_argument(
        "--output-format", metavar="NAME", help="json_lines, csv or parquet, if the name does not say it"
    )
    parser.add_argument(
        "--explain",
        nargs="?",
        const="",
        metavar="SALIENCY",
        help="add word scores, by a saliency (default: the usual one)",
    )
    parser.add_argument("--errors", default="fail", help="at rows that cannot be used: fail or skip (default fail)")
    parser.add_argument("--rejected", metavar="FILE", help="skipped rows and why (default: OUTPUT.rejected.jsonl)")
    parser.add_argument("--resume", action="store_true", help="go on with a job that was interrupted")
    parser.add_argument("--force", action="store_true", help="replace an existing output")
    _add_scoring(parser)
    parser.set_defaults(run=run)


def _add_scoring(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--batch-size",
        type=int,
        metavar="N",
        help="sentences in one step (default: what suits the model and the device)",
    )
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda (default auto)")
    parser.add_argument(
        "--precision", default="auto", help="float32, or bfloat16 for encoders (default auto: the latter on a GPU)"
    )
    parser.add_argument("--runtime", help="torch, or onnx: ONNX Runtime on the CPU (default torch)")
    parser.add_argument("--quantize", metavar="int8", help="linear layers in eight bits, by ONNX Runtime")
    parser.add_argument("--workers", type=int, metavar="N", help="score in N processes (default: in threads of one)")
    parser.add_argument("--engine", default="local", help="local, or ray: a Ray cluster (default local)")
    parser.add_argument(
        "--address", metavar="A", help="of the Ray cluster (default: RAY_ADDRESS, or one on this machine)"
    )
    parser.add_argument(
        "--actors",
        type=int,
        metavar="N",
        help="models in the cluster (default: one for each CPU, or four for each GPU)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Predict and say how many."""
    from pssa.bulk import STANDARD, predict

    job, engine = _job(arguments), _engine(arguments)
    # Rows that a terminal shows would stand in the midst of the bar.
    seen = job.output == STANDARD and sys.stdout.isatty()
    with _ProgressLine(shown=sys.stderr.isatty() and not seen) as line:
        summary = predict(job, engine, line.update)
    _say(arguments, summary, job.side)
    return 0


def _job(arguments: argparse.Namespace) -> Job:
    from pssa.bulk import Job, Scoring

    if arguments.resume and arguments.force:
        raise InputError("--resume goes on with what is there and --force begins again; give one of the two")
    scoring = Scoring(
        saliency=arguments.explain,
        batch_size=arguments.batch_size,
        device=arguments.device,
        precision=arguments.precision,
        runtime=arguments.runtime or ("onnx" if arguments.quantize else "torch"),
        quantize=arguments.quantize or "",
    )
    return Job(
        run=arguments.run_path,
        inputs=tuple(arguments.input),
        output=arguments.output,
        format=arguments.format,
        columns=arguments.columns,
        output_format=arguments.output_format,
        errors=arguments.errors,
        rejected=arguments.rejected,
        begin="resume" if arguments.resume else "replace" if arguments.force else "new",
        scoring=scoring,
    )


def _engine(arguments: argparse.Namespace) -> Engine:
    from pssa.bulk import LocalEngine

    if arguments.engine not in ("local", "ray"):
        raise InputError(f"engine is {arguments.engine!r}; it can be local or ray")
    if arguments.engine == "ray":
        from pssa.bulk.engines import RayEngine

        if arguments.workers is not None:
            raise InputError("--workers are processes of this machine; with --engine ray say --actors")
        return RayEngine(arguments.address, arguments.actors)
    if arguments.address is not None or arguments.actors is not None:
        raise InputError("--address and --actors are of a Ray cluster; add --engine ray")
    if arguments.workers is not None:
        from pssa.bulk.engines import ProcessEngine

        return ProcessEngine(arguments.workers)
    return LocalEngine()


def _say(arguments: argparse.Namespace, summary: Summary, side: Path) -> None:
    from pssa.bulk import STANDARD
    from pssa.cli._output import counted

    # Standard output is taken where rows go there.
    stream = sys.stderr if arguments.output == STANDARD else sys.stdout
    if summary.existed:  # a warning has said so
        if arguments.json:
            print(json.dumps({"output": arguments.output, "existed": True}, ensure_ascii=False))
        return
    if arguments.json:
        print(json.dumps(summary.as_dict(), ensure_ascii=False), file=stream)
        return
    name = "standard output" if arguments.output == STANDARD else arguments.output
    # Labels may be numbers too.
    counts = ", ".join(f"{label}: {count}" for label, count in summary.labels.items())
    print(f"{name}: {counted(summary.rows, 'row')} ({counts})", file=stream)
    if summary.ambiguous:
        who = "1 aspect occurs" if summary.ambiguous == 1 else f"{summary.ambiguous} aspects occur"
        print(f"{who} several times in the text; the first occurrence was taken", file=stream)
    if summary.rejected:
        who = "1 row was" if summary.rejected == 1 else f"{summary.rejected} rows were"
        print(f"{side}: {who} skipped", file=stream)


class _ProgressLine:
    """What a person at a terminal sees, on standard error: a bar, rows per second and the time left."""

    def __init__(self, shown: bool) -> None:
        from rich import console, progress

        self._bar = progress.Progress(
            progress.TextColumn("predict"),
            progress.BarColumn(bar_width=28),
            progress.TextColumn("{task.fields[said]}"),
            console=console.Console(stderr=True),
            disable=not shown,
        )
        self._task = self._bar.add_task("", total=None, said="")
        self._first: tuple[float, Progress] | None = None

    def __enter__(self) -> _ProgressLine:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def update(self, now: Progress) -> None:
        """Show how far the job is; what was there when it began is not counted as speed."""
        began, first = self._first = self._first or (time.monotonic(), now)
        self._bar.update(
            self._task,
            completed=now.read,
            total=now.total or None,
            said=progress_text(first, now, time.monotonic() - began),
        )


def progress_text(first: Progress, now: Progress, seconds: float) -> str:
    """Rows so far, rows per second since `first` and, where the inputs' sizes are known, the time left."""
    said = f"{now.rows:,} {'row' if now.rows == 1 else 'rows'}"
    if now.rejected:
        said += f", {now.rejected:,} skipped"
    if seconds > 0 and now.rows > first.rows:
        said += f", {(now.rows - first.rows) / seconds:,.0f} rows/s"
    if now.total and now.read > first.read:
        left = int(seconds * (now.total - now.read) / (now.read - first.read))
        said += f", {left // 3600}:{left // 60 % 60:02}:{left % 60:02} left"
    return said
