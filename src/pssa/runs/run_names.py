"""Runs that have a name: `starter` is the model that comes with the package.

Wherever a run is expected, so is this name: `pssa.load("starter")`, `pssa predict starter`, `--aspects-from starter`.
"""

from __future__ import annotations

import warnings
from pathlib import Path

from pssa.errors import InputError, PssaWarning, setting

STARTER = "starter"
HUB = "hf:"
LENT = f"the run cannot find aspects, and {STARTER} finds them in its place"
_PACKAGED = Path(__file__).parents[1] / "ready"


def resolve_run(run: str | Path) -> Path:
    """Return the folder of a run that is given by its path or its name; a folder of that name here comes first.

    A run on a model hub, `hf:OWNER/NAME` or `hf:OWNER/NAME@REVISION`, is fetched.

    :raises InputError: if the run is the starter, and the package was built without it, or if the hub does not have it.
    """
    path = Path(run)
    if str(run).startswith(HUB) and not path.exists():
        from pssa.runs.copies import download

        return download(str(run).removeprefix(HUB))
    return starter_run() if str(run) == STARTER and not path.exists() else path


def has_starter() -> bool:
    """Return whether the package was built with its run."""
    return (_PACKAGED / "model.json").is_file()


def starter_run() -> Path:
    """Return the folder of the run that comes with the package.

    :raises InputError: if the package was built without it.
    """
    if not has_starter():
        where = "install a released wheel of pssa, or build it with scripts/build_ready.py"
        raise InputError(f"this copy of pssa comes without the run {STARTER}; {where}")
    return _PACKAGED


def lend_starter() -> Path:
    """Return the starter, to find aspects in place of a run that cannot, and warn."""
    warnings.warn(PssaWarning(f"{LENT}; or name them with {setting('aspects', 'food,wifi')}"), stacklevel=6)
    return starter_run()


def is_starter(path: Path) -> bool:
    """Return whether a folder is the run that comes with the package."""
    return path == _PACKAGED


def whole_run(path: Path) -> Path:
    """Return the run that a stage or a member of it belongs to; any other folder as it is."""
    folder = path.absolute()
    return folder.parent.parent if folder.parent.name in ("stages", "members") else path


def run_name(path: Path) -> str:
    """Return the name of a run for messages: its path, or `starter`."""
    return STARTER if is_starter(path) else str(path)


def name_run(path: Path) -> str:
    """Return the folder's name, without the path, which means nothing on another machine.

    The model of a stage is named after its run.
    """
    path = path.resolve()
    if path.parent.name == "stages":
        return f"{path.parent.parent.name}, {path.name} model"
    return path.name
