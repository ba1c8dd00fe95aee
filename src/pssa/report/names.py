"""What runs are called in pages: short names, since a page is passed on and a path of this machine means nothing elsewhere."""

from __future__ import annotations

from pathlib import Path

__all__ = ["name_run", "name_runs"]

_STAGES = "stages"


def name_run(path: Path) -> str:
    """The folder's name; the model of a stage is named after its run, too."""
    path = path.resolve()
    if path.parent.name == _STAGES:
        return f"{path.parent.parent.name}, {path.name} model"
    return path.name


def name_runs(run: Path, versus: Path) -> tuple[str, str]:
    """The names of two runs, which always differ: by the folders around them where they are called the same."""
    first, second = name_run(run), name_run(versus)
    if first == second:
        first, second = (f"{path.resolve().parent.name}/{path.resolve().name}" for path in (run, versus))
    return first, second if first != second else f"{second} (versus)"
