"""Attack every reader of the package with cases that nobody would write, and say what came of them as one JSON object.

    python scripts/fuzz.py --cases 100000 --seed 0

Every case must be accepted, or refused by an `InputError` (`RunError` for runs) in one short line, within --seconds and
--memory. Anything else is a failure: its bytes are kept in --kept, and the exit code is 1. Cases come from three engines: sound
files changed by a seeded generator, hypothesis with the format's grammar, and libFuzzer (atheris) guided by the branches of the
package. The same seed gives the same cases. `--target NAME` attacks one target only, or all of NAME/...;
`--again FILE --target NAME` tries a kept case once more, with its traceback.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fuzzing.target import Target

# One core, the same cases every time, and no words from libraries. Before anything heavy is imported.
os.environ |= {
    "OMP_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
}
# Shares of a target's cases; without a grammar, the first engine takes the second's.
_PARTS = {"mutated": 0.5, "grown": 0.25, "guided": 0.25}


def main() -> int:
    """Attack."""
    arguments = _arguments()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=_memory_disk()) as name:
        folder = Path(name)
        targets = _targets(folder / "sound")
        chosen = {key: targets[key] for key in targets if f"{key}/".startswith(f"{arguments.target}/".lstrip("/"))}
        if not chosen:
            raise SystemExit(f"there is no target {arguments.target!r}; there are {', '.join(targets)}")
        if arguments.again:
            return _again(chosen[arguments.target], arguments.again, folder)
        results = _attack(chosen, arguments, folder)
    summary = _summary(results) | {"seed": arguments.seed, "seconds": round(time.monotonic() - began, 1)}
    print(json.dumps(summary, indent=2 if arguments.pretty else None))
    return 1 if summary["failures"] else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", default="", help="attack this one only, and those named TARGET/...")
    parser.add_argument("--seconds", type=float, default=5.0, help="that a case may take")
    parser.add_argument("--memory", type=int, default=1024, help="MiB that a case may take")
    parser.add_argument("--kept", type=Path, default=Path("fuzz-failures"), help="folder for cases that fail")
    parser.add_argument("--again", type=Path, help="try this case on --target, in this process")
    parser.add_argument("--pretty", action="store_true")
    arguments = parser.parse_args()
    arguments.kept = arguments.kept.resolve()
    return arguments


def _targets(folder: Path) -> dict[str, Target]:
    """Every target, imported so that libFuzzer can see the branches of the package."""
    folder.mkdir()
    with _instrumented(), contextlib.redirect_stderr(io.StringIO()):
        from fuzzing.aspects import aspect_targets
        from fuzzing.bulk import bulk_targets
        from fuzzing.commands import command_targets
        from fuzzing.folders import folder_targets
        from fuzzing.readers import reader_targets
        from fuzzing.service import service_targets
        from fuzzing.workbooks import workbook_targets
    readers = reader_targets(folder) | workbook_targets() | aspect_targets() | folder_targets(folder)
    return readers | service_targets(folder) | bulk_targets(folder) | command_targets(folder)


def _attack(targets: Mapping[str, Target], arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    from fuzzing.child import Bounds, Job, attack
    from fuzzing.engines import warm_up

    warm_up()
    bounds = Bounds(arguments.seconds, arguments.memory << 20)
    total = sum(target.share for target in targets.values())
    results: dict[str, Any] = {}
    for name, target in targets.items():
        results[name] = {}
        missing = max(1, round(arguments.cases * target.share / total))
        for engine, cases in _divide(missing, target).items():
            number = random.Random(f"{arguments.seed}/{name}/{engine}").getrandbits(32)
            place = folder / name.replace("/", "-") / engine
            job = Job(name, engine, cases, number, place, arguments.kept)
            found = attack(job, target, bounds)
            results[name][engine] = found
            print(
                f"{name} {engine}: {found['cases']} cases, {len(found['failures'])} failures",
                file=sys.stderr,
                flush=True,
            )
    return results


def _divide(cases: int, target: Target) -> dict[str, int]:
    """How many cases each engine makes."""
    parts = {name: int(cases * part) for name, part in _PARTS.items()}
    if target.grown is None:
        parts["grown"] = 0
    if importlib.util.find_spec("atheris") is None:
        parts["guided"] = 0
    parts["mutated"] = cases - parts["grown"] - parts["guided"]
    return {name: number for name, number in parts.items() if number}


def _summary(results: Mapping[str, Any]) -> dict[str, Any]:
    each = [(name, engine, found) for name, engines in results.items() for engine, found in engines.items()]
    counts = {key: sum(found[key] for _, _, found in each) for key in ("cases", "accepted", "refused")}
    failures = [{"target": name, "engine": engine, **one} for name, engine, found in each for one in found["failures"]]
    by_engine = {
        engine: sum(found["cases"] for _, used, found in each if used == engine)
        for engine in {engine for _, engine, _ in each}
    }
    targets = {
        name: {key: sum(found[key] for found in engines.values()) for key in ("cases", "accepted", "refused")}
        | {"failures": sum(len(found["failures"]) for found in engines.values())}
        for name, engines in results.items()
    }
    peak = max(found["peak_mb"] for _, _, found in each)
    return {**counts, "failures": failures, "engines": by_engine, "targets": targets, "peak_mb": peak}


def _again(target: Target, path: Path, folder: Path) -> int:
    content = path.read_bytes()
    place = folder / "again"
    place.mkdir()
    target.prepare(place)(content)
    print("accepted")
    return 0


def _instrumented() -> contextlib.AbstractContextManager[Any]:
    if importlib.util.find_spec("atheris") is None:
        return contextlib.nullcontext()
    import atheris

    return atheris.instrument_imports(include=["pssa"])  # type: ignore[no-any-return]


def _memory_disk() -> str | None:
    """Where files cost no disk, if there is such a place."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {"PYTHONHASHSEED": "0"})  # noqa: S606
    sys.exit(main())
