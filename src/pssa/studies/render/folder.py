"""The folder of one exhibit, which remembers what was written into it, so that the next showing can take away what it leaves out.

Whatever else lies there is somebody's own and stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from pssa.data.files import write_atomically
from pssa.errors import InputError
from pssa.studies.render.section import Section

__all__ = ["FILE_NAME", "Folder", "read_sections", "write_text"]

FILE_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*", re.IGNORECASE)
_SECTION = "section.json"
_FILES = "files"  # in it: what was written beside it


class Folder:
    """What is written now, in the place of what was written before."""

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._written: list[str] = []

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file."""
        if isinstance(content, str):
            write_text(self._path / name, content)
        else:
            write_atomically(self._path / name, content)
        self._written.append(name)

    def finish(self, section: Section) -> None:
        """Remove what the last showing wrote and this one did not, and keep the exhibit's section of the page."""
        for name in self._before():
            if name not in self._written:
                (self._path / name).unlink(missing_ok=True)
        value = {**asdict(section), _FILES: self._written}
        write_text(self._path / _SECTION, json.dumps(value, ensure_ascii=False) + "\n")

    def _before(self) -> Iterator[str]:
        try:
            names = json.loads((self._path / _SECTION).read_text("utf-8"))[_FILES]
        except (OSError, ValueError, KeyError, TypeError):
            return  # Nothing was shown here, or by a version that did not say what it wrote.
        for name in names if isinstance(names, list) else ():
            # The list is a file that anybody may have changed: what it names must lie here, and be no folder.
            if isinstance(name, str) and FILE_NAME.fullmatch(name) and (self._path / name).is_file():
                yield name


def read_sections(folder: Path) -> dict[str, Section]:
    """The sections of all exhibits that were shown in a folder, by the name of the exhibit.

    :raises InputError: if one of them is none.
    """
    return {path.parent.name: _read(path) for path in sorted(folder.glob(f"*/{_SECTION}"))}


def write_text(path: Path, text: str) -> Path:
    """Write a text of which nobody finds a part."""
    # Halves of surrogate pairs, which a text of strangers may hold, have no bytes.
    write_atomically(path, text.encode("utf-8", "replace"))
    return path


def _read(path: Path) -> Section:
    try:
        value = json.loads(path.read_text("utf-8"))
        return Section(**{name: field for name, field in value.items() if name != _FILES})
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is no section of the page; remove it and show its exhibit again") from error
