"""Exhibits as files in a folder. Every file is written whole or not at all.

OUT/PAGE.md              a page with a section for each of its exhibits; text of your own around these stays
OUT/NAME/tables.json     its tables and the points of its figures with the numbers in full, for programs and the first page
OUT/NAME/PART.svg        each of its figures and pictures
OUT/NAME/PART.csv ...    on request: tables as CSV and LaTeX, figures as PNG
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from markupsafe import escape

from paper.studies import tables
from paper.studies.exhibit import Details, Exhibit, Figure, Part, Picture, Table, Value
from paper.studies.exhibits import page_of
from paper.studies.figures import draw
from pssa.data.files import write_atomically
from pssa.errors import InputError

TABLES = "tables.json"
_FILE_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*", re.IGNORECASE)
_N_NAMED = 12  # rows without an outcome that are named, at most
_N_ROWS = 15  # of a table that is not folded away, at most
_LIST_MARK = re.compile(r"^(\d{0,9})([#>]|[-+.)=](?=\s))")  # begins a heading or a list in Markdown


@dataclass(frozen=True)
class ShownExhibit:
    """An exhibit in a folder, with the tables that were written when it was last shown."""

    name: str
    title: str
    tables: Mapping[str, Table]  # and figures, as tables of their points
    missing: str = ""  # such as `3 of 40`: its cells without an outcome
    files: tuple[str, ...] = ()  # beside it

    @classmethod
    def read(cls, path: Path) -> ShownExhibit:
        """Return what `write_exhibit` wrote.

        :raises InputError: if the file is something else.
        """
        try:
            stored = json.loads(path.read_text("utf-8"))
            known = (tables.table_of(each) for each in stored["tables"])
            found = {table.name: table for table in known}
            # Anybody may have changed the list: a name must be that of a file in this folder.
            files = tuple(name for name in stored["files"] if _FILE_NAME.fullmatch(name))
            return cls(stored["name"], stored["title"], found, stored["missing"], files)
        except (ValueError, TypeError, LookupError) as error:
            raise InputError(f"{path} holds no tables of an exhibit; remove it and show its exhibit again") from error


def write_exhibit(
    folder: Path, exhibit: Exhibit, parts: Sequence[Part], missing: str = "", files: bool = False
) -> None:
    """Write all files of an exhibit.

    Files that it had when it was last shown in this folder, and has no more, are removed; other files are the user's own.

    :param missing: cells without an outcome, such as `3 of 40`, for the first page.
    :param files: also write CSV, LaTeX and PNG.
    :raises ValueError: if two parts would have the same files, or a name cannot be the name of a file.
    """
    _check_names(exhibit, parts)
    document = markdown_document(exhibit, parts)
    written: dict[str, str | bytes] = {}
    stored: list[Table] = []
    for part in parts:
        if isinstance(part, Picture):
            written[f"{part.name}.svg"] = part.svg
        elif isinstance(part, Figure):
            written[f"{part.name}.svg"], png = draw(part)
            written |= {f"{part.name}.png": png} if files else {}
            stored.append(tables.points_table(part))
        elif isinstance(part, Table):
            written |= {f"{part.name}.tex": tables.table_latex(part)} if files else {}
            stored.append(part)
    written |= {f"{table.name}.csv": tables.table_csv(table) for table in stored} if files else {}
    home = folder / exhibit.name
    home.mkdir(parents=True, exist_ok=True)
    before = ShownExhibit.read(home / TABLES).files if (home / TABLES).is_file() else ()
    for name, content in written.items():
        _write(home / name, content)
    for name in set(before) - written.keys():
        (home / name).unlink(missing_ok=True)
    about = {"name": exhibit.name, "title": exhibit.title, "missing": missing}
    values = {**about, "files": list(written), "tables": [tables.table_values(table) for table in stored]}
    _write(home / TABLES, _one_row_a_line(values))
    name, title = page_of(exhibit.name)
    page = folder / f"{name}.md"
    text = page.read_text("utf-8") if page.is_file() else f"# {title}\n"
    _write(page, fill_block(text, f"exhibit {exhibit.name}", document, append=True))


def fill_block(text: str, name: str, content: str, append: bool = False) -> str:
    """Return a page with this content between the marks of a block; a page without the block stays, or gets it at its end."""
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
    if append and begin not in text:
        text = f"{text}\n{begin}{end}\n"
    before, found, after = text.partition(begin)
    return f"{before}{begin}{content}{end}{after.partition(end)[2]}" if found else text


def section_link(exhibit: str, title: str) -> str:
    """Return the address of an exhibit's section."""
    anchor = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
    return f"{page_of(exhibit)[0]}.md#{anchor}"


def _one_row_a_line(values: Mapping[str, Any]) -> str:
    """Return JSON with a line for each row of a table, so that a change of one number is a change of one line."""
    text = json.dumps({**values, "tables": []}, ensure_ascii=False, allow_nan=False)
    listed = []
    for table in values["tables"]:
        head = json.dumps({**table, "rows": []}, ensure_ascii=False, allow_nan=False)
        rows = ",\n".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in table["rows"])
        listed.append(head.replace('"rows": []', f'"rows": [\n{rows}\n]', 1))
    return text.replace('"tables": []', '"tables": [\n' + ",\n".join(listed) + "\n]", 1) + "\n"


def drop_empty_rows(parts: Iterable[Part]) -> list[Part]:
    """Return the parts without rows that have no outcome; name these below, and empty parts at the end."""
    kept: list[Part] = []
    empty: list[str] = []
    for part in parts:
        left: Part | None = part
        if isinstance(part, Table) and part.outcomes:
            left = _filled_rows(part)
        elif isinstance(part, Figure) and not any(line.x for _, lines in part.panels for line in lines):
            left = None
        if left is not None:
            kept.append(left)
        elif isinstance(part, Table | Figure):
            empty.append(part.title)
    return [*kept, *([f"No outcome yet: {'; '.join(empty)}."] if empty else [])]


def _filled_rows(table: Table) -> Table | None:
    places = {name: table.columns.index(name) for name in table.outcomes}
    kept = tuple(row for row in table.rows if any(_is_outcome(name, row[place]) for name, place in places.items()))
    missing = [row[: min(places.values())] for row in table.rows if row not in kept]
    if not kept or not missing:
        return table if kept else None
    named = [" ".join(str(each) for each in row if each is not None) for row in missing[:_N_NAMED]]
    more = f" and {len(missing) - _N_NAMED} more" if len(missing) > _N_NAMED else ""
    return replace(table, rows=kept, notes=(*table.notes, f"No outcome yet: {'; '.join(named)}{more}."))


def _is_outcome(column: str, value: Value) -> bool:
    # A measured value may be zero; zero seeds have measured nothing.
    return value is not None and str(value) != "" and not (column == "seeds" and value == 0)


def markdown_document(exhibit: Exhibit, parts: Sequence[Part]) -> str:
    """Return the exhibit as a section in Markdown; pictures are in a folder of its name.

    Tables that repeat the columns of an earlier one are folded, and a note appears once.
    """
    blocks, seen = [f"## {tables.escape_markdown(exhibit.title)}"], set[tuple[str, ...]]()
    for part in parts:
        blocks += _markdown_blocks(part, exhibit.name, seen)
    return "\n\n".join(blocks) + "\n"


def _markdown_blocks(part: Part, folder: str, seen: set[tuple[str, ...]]) -> Iterator[str]:
    if isinstance(part, str):
        yield _markdown_paragraph(part)
        return
    if isinstance(part, Details):
        inner = (
            _markdown_paragraph(each) if isinstance(each, str) else tables.markdown_table(each) for each in part.parts
        )
        yield from _folded(part.summary, inner)
        return
    title = tables.escape_markdown(part.title)
    yield f"### {title}"
    if not isinstance(part, Table):
        yield f"![{title}]({folder}/{part.name}.svg)"
    if isinstance(part, Picture):
        return
    table = tables.grid_table(part) if isinstance(part, Figure) else part
    shown = tables.markdown_table(table)
    notes = [note for note in part.notes if (note,) not in seen]
    if len(table.rows) > _N_ROWS or table.columns in seen:
        rows = f"{len(table.rows)} {'row' if len(table.rows) == 1 else 'rows'}"
        yield from _folded(f"{rows} by {', '.join(table.columns)}", [shown])
    else:
        yield shown
    yield from map(_markdown_paragraph, notes)
    seen |= {table.columns, *((note,) for note in notes)}


def _folded(summary: str, blocks: Iterable[str]) -> Iterator[str]:
    yield f"<details>\n<summary>{escape(summary)}</summary>"
    yield from blocks
    yield "</details>"


def _markdown_paragraph(text: str) -> str:
    return _LIST_MARK.sub(r"\1\\\2", tables.escape_markdown(text))


def _check_names(exhibit: Exhibit, parts: Sequence[Part]) -> None:
    names = [part.name for part in parts if not isinstance(part, str | Details)]
    for name in (exhibit.name, *names):
        if not _FILE_NAME.fullmatch(name):
            raise ValueError(f"{name!r} in exhibit {exhibit.name} cannot name a file; use letters, digits, - and _")
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"exhibit {exhibit.name} has several parts called {', '.join(sorted(twice))}")


def _write(path: Path, content: str | bytes) -> None:
    # Lone surrogates, which a stranger's text may hold, cannot be encoded.
    write_atomically(path, content.encode("utf-8", "replace") if isinstance(content, str) else content)
