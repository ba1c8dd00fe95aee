"""Exhibits in a folder. Every file takes its place only when it is complete, so a reader never finds a part of one.

OUT/NAME.md              the exhibit
OUT/NAME/PART.md ...     each of its tables, figures and pictures, in every format it has
OUT/NAME/section.json    its section of the page, for when another exhibit is shown, and what was written beside it
OUT/index.html           the page, with every exhibit that has been shown in this folder
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

from pssa.errors import MissingExtra
from pssa.report.markup import Markup, page
from pssa.studies.exhibit import Exhibit, Figure, Part, Picture, Prose, Table
from pssa.studies.exhibits import place_of
from pssa.studies.render.fields import as_table
from pssa.studies.render.figure import draw
from pssa.studies.render.folder import FILE_NAME, Folder, read_sections, write_text
from pssa.studies.render.latex import table_document
from pssa.studies.render.look import STYLE
from pssa.studies.render.markdown import exhibit_document, part_document
from pssa.studies.render.page import make_page
from pssa.studies.render.plain import table_as_csv, table_as_json
from pssa.studies.render.section import Section, make_section

__all__ = ["write_exhibit", "write_page"]


def write_exhibit(folder: Path, exhibit: Exhibit, parts: Sequence[Part]) -> Path:
    """Write all files of an exhibit; returns the one that holds it whole. Without matplotlib it warns, and draws nothing.

    Files of parts that it had when it was last shown in this folder, and has no more, are removed.

    :raises ValueError: if two parts would have the same files, or one has a name that is none of a file.
    """
    _check_names(exhibit, parts)
    own = Folder(folder / exhibit.name)
    drawings = _draw_all(own, parts)
    for part in parts:
        _write_part(own, part, exhibit.title)
    own.finish(make_section(exhibit, parts, drawings))
    return write_text(folder / f"{exhibit.name}.md", exhibit_document(exhibit, parts, drawings))


def write_page(folder: Path, notes: Sequence[str] = (), about: Sequence[Section] = ()) -> Path:
    """Write the page of all exhibits that have been shown in this folder."""
    found = read_sections(folder)
    sections = [found[name] for name in sorted(found, key=place_of)]
    return write_text(folder / "index.html", make_page(sections, notes, about))


def _check_names(exhibit: Exhibit, parts: Sequence[Part]) -> None:
    names = [part.name for part in parts if not isinstance(part, Prose)]
    for name in (exhibit.name, *names):
        if not FILE_NAME.fullmatch(name):
            raise ValueError(f"{name!r} in exhibit {exhibit.name} cannot name a file; use letters, digits, - and _")
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"exhibit {exhibit.name} has several parts called {', '.join(sorted(twice))}")


def _draw_all(own: Folder, parts: Sequence[Part]) -> dict[str, str]:
    """Draw the figures and write them; returns them by name."""
    drawings = {}
    for figure in (part for part in parts if isinstance(part, Figure)):
        try:
            drawn = draw(figure)
        except MissingExtra as error:
            warnings.warn(f"figures are left out: {error}, then --show-only draws them", stacklevel=3)
            return {}
        own.write(f"{figure.name}.svg", drawn.svg)
        own.write(f"{figure.name}.png", drawn.png)
        drawings[figure.name] = drawn.svg
    return drawings


def _write_part(own: Folder, part: Part, within: str) -> None:
    match part:
        case Table():
            own.write(f"{part.name}.md", part_document(part))
            own.write(f"{part.name}.tex", table_document(part, within))
            own.write(f"{part.name}.csv", table_as_csv(part))
            own.write(f"{part.name}.json", table_as_json(part))
        case Figure():
            own.write(f"{part.name}.csv", table_as_csv(as_table(part)))
            own.write(f"{part.name}.json", table_as_json(as_table(part)))
        case Picture():
            own.write(f"{part.name}.svg", part.svg)
            own.write(f"{part.name}.html", page(part.title, STYLE, Markup(f"<main>{part.html}</main>")))
