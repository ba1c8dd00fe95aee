"""Milliseconds of `import pssa`, `pssa --help` and `pssa try`, against importing torch alone, in new processes.

A bare interpreter is the lower bound.
"""

from __future__ import annotations

import sys
from functools import partial

from harness import Measurement, Request, Table, fresh_process, in_turns, main, medians, seconds_of

_STARTS = {
    "a bare interpreter": ("-c", "pass"),
    "import pssa": ("-c", "import pssa"),
    "pssa --help": ("-m", "pssa", "--help"),
    "import torch": ("-c", "import torch"),
    "pssa try": ("-m", "pssa", "try", "The screen is huge but the battery dies within an hour."),
}
_HEAVY = ("torch", "numpy", "transformers", "pandas", "jinja2")
_LOADED = (
    "import sys, pssa; from pssa.cli import build_parser; build_parser(); "
    f"print(*[name for name in {_HEAVY} if name in sys.modules])"
)


def measure(request: Request) -> Measurement:
    """Start them in turns; the first turn fills the caches and is not counted."""
    starts = {name: partial(seconds_of, partial(fresh_process, words)) for name, words in _STARTS.items()}
    in_turns(starts, 1)
    found = in_turns(starts, request.repeats)
    middle = medians(found)
    rows = tuple((name, 1000 * seconds, seconds / middle["import torch"]) for name, seconds in middle.items())
    loaded = fresh_process(("-c", _LOADED)).split()
    note = (
        f"the parser of all commands loads {', '.join(loaded)}" if loaded else f"none of {', '.join(_HEAVY)} is loaded"
    )
    return Measurement((Table("start-up", ("", "ms", "of import torch"), rows),), (note,), {"seconds": found})


if __name__ == "__main__":
    sys.exit(main(__doc__, measure))
