"""Do to runs what disks, power and people do to them, and say as one JSON object what came of it.

    python scripts/faults.py --kills 30

Kills at random moments and at every change to a folder, disks that are full, read-only or gone, power cuts, two processes on one
run or output, a clock that goes backwards, downloads that are cut, links and pipes in folders.
Nothing may be lost or half-written, the message is one line, the
exit code is right, and what is carried through afterwards equals, byte for byte, what nobody disturbed. Exit code 1 if anything
is wrong. Mounting small disks needs root; where that is not allowed those checks are skipped, with the reason.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from faulting.disks import DISKS
from faulting.downloads import DOWNLOADS
from faulting.kills import KILLED
from faulting.lab import Check, Lab, Skipped
from faulting.links import LINKS
from faulting.power import POWER
from faulting.sharing import SHARED

__all__ = ["main"]


def main() -> int:
    """Run the checks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=30, help="of each command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", default=[], help="check this only; may be given again")
    arguments = parser.parse_args()
    checks = _checks(arguments.kills, random.Random(arguments.seed))
    if unknown := set(arguments.only) - set(checks):
        raise SystemExit(f"there is no check {sorted(unknown)[0]!r}; there are: {', '.join(checks)}")
    with tempfile.TemporaryDirectory() as name:
        results = {
            key: _result(key, run, Lab(Path(name))) for key, run in checks.items() if key in (arguments.only or checks)
        }
    wrong = sum(len(found["wrong"]) for found in results.values())
    kills = sum(found.get("kills", 0) for found in results.values())
    print(json.dumps({"checks": results, "kills": kills, "wrong": wrong, "seed": arguments.seed}, indent=2))
    return 1 if wrong else 0


def _checks(kills: int, moments: random.Random) -> dict[str, Callable[[Lab, Check], None]]:
    killed: dict[str, Callable[[Lab, Check], None]] = {
        name: lambda lab, check, run=run: run(lab, check, kills, moments)  # type: ignore[misc]
        for name, run in KILLED.items()
    }
    return {**killed, **DISKS, **SHARED, **DOWNLOADS, **POWER, **LINKS}


def _result(name: str, run: Callable[[Lab, Check], None], lab: Lab) -> dict[str, Any]:
    check, began = Check(name), time.monotonic()
    try:
        run(lab, check)
    except Skipped as reason:
        return {"skipped": str(reason), "wrong": []}
    except Exception as error:
        check.wrong.append(f"the check itself failed: {type(error).__name__}: {error}")
    print(f"{name}: {check.times} times, {len(check.wrong)} wrong", file=sys.stderr, flush=True)
    seconds = round(time.monotonic() - began, 1)
    return {"times": check.times, "kills": check.kills, "seconds": seconds, "said": check.said, "wrong": check.wrong}


if __name__ == "__main__":
    sys.exit(main())
