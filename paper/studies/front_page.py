"""The first page of a folder of results: what every exhibit found, in a sentence and a picture, then the list of tables.

OUT/README.md             the page; a README.md of your own stays unless it has the two marks between which the page goes
OUT/NAME/finding.svg      the picture of an exhibit

Everything follows from the tables in the folder, so that new measurements appear by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from markupsafe import escape

from paper.studies.exhibit import Figure, KeyFinding, Part, Table, TableLookup
from paper.studies.exhibits import page_of, reading_order
from paper.studies.findings import FINDINGS
from paper.studies.pages import TABLES, ShownExhibit, fill_block, section_link
from paper.studies.strip_plot import WIDTH, describe, draw_strip_plot
from paper.studies.tables import escape_markdown, points_table
from pssa.data.files import write_atomically

PICTURE = "finding.svg"
_BLOCK = "findings"
_NEW = "# Results\n\n<!-- begin findings -->\n<!-- end findings -->\n"
_CONTROLS = (
    "Differences are to two trainings of the same model without evidence, pooled, with 95 % intervals in brackets."
)
_LEGEND = (
    "In the pictures, a large dot is a mean, a small dot one model on one data set, a hollow dot a control, and a diamond the "
    "paper's number."
)
_FILES = (
    "[cells.jsonl](cells.jsonl) has every measurement, `NAME/tables.json` the numbers of a section in full, and each section "
    "ends with its provenance: command, commits, devices, days and files."
)


def read_exhibits(folder: Path) -> list[ShownExhibit]:
    """Return the exhibits that have been shown in a folder, in reading order."""
    found = [ShownExhibit.read(path) for path in sorted(folder.glob(f"*/{TABLES}"))]
    return sorted(found, key=lambda each: reading_order(each.name))


def find_finding(exhibit: str, tables: Mapping[str, Table]) -> KeyFinding | None:
    """Return what the tables of an exhibit say in short; None if nothing, or if the numbers are not measured."""
    try:
        return FINDINGS[exhibit](TableLookup(tables))
    except LookupError:
        return None


def in_short(exhibit: str, parts: Iterable[Part]) -> list[Part]:
    """Return a first paragraph for the exhibit's own page: what its parts say in short."""
    shown = [points_table(part) if isinstance(part, Figure) else part for part in parts]
    finding = find_finding(exhibit, {table.name: table for table in shown if isinstance(table, Table)})
    return [f"In short: {finding.text}"] if finding else []


def findings_of(shown: Sequence[ShownExhibit]) -> dict[str, KeyFinding]:
    """Return the findings by exhibit, in the order of the page."""
    tables = {each.name: each.tables for each in shown}
    found = {name: find_finding(name, tables[name]) for name in FINDINGS if name in tables}
    return {name: finding for name, finding in found.items() if finding}


def write_front_page(folder: Path) -> Path:
    """Write the first page of a folder and its pictures; return its path."""
    page = folder / "README.md"
    text = page.read_text("utf-8") if page.is_file() else _NEW
    written = fill_block(text, _BLOCK, front_page(read_exhibits(folder)))
    if written != text or not page.is_file():
        write_atomically(page, written.encode())
    write_pictures(folder)
    return page


def write_pictures(folder: Path) -> None:
    """Write the picture of every finding and remove old ones."""
    shown = read_exhibits(folder)
    findings = findings_of(shown)
    for each in shown:
        picture = folder / each.name / PICTURE
        if each.name in findings:
            write_atomically(picture, draw_strip_plot(findings[each.name].plot).encode())
        else:
            picture.unlink(missing_ok=True)


def front_page(shown: Sequence[ShownExhibit]) -> str:
    """Return the findings and the list of pages as Markdown."""
    found, titles = findings_of(shown), {each.name: each.title for each in shown}
    findings = [_finding_block(name, finding, titles[name]) for name, finding in found.items()]
    blocks = [" ".join([_CONTROLS, _LEGEND] if findings else [_FILES]), *findings, *([_FILES] if findings else [])]
    sections: dict[tuple[str, str], list[str]] = {}
    for each in shown:
        sections.setdefault(page_of(each.name), []).append(_section(each))
    rows = [f"| [{title}]({name}.md) | {'; '.join(each)} |" for (name, title), each in sections.items()]
    blocks.append("\n".join(["## Pages\n", "| page | sections |", "|---|---|", *rows]))
    return "\n\n".join(blocks) + "\n"


def _finding_block(name: str, finding: KeyFinding, title: str) -> str:
    # A float: beside the text on a wide screen, above it on a narrow one.
    alt = escape(describe(finding.plot))
    picture = f'<img align="left" width="{WIDTH}" src="{name}/{PICTURE}" alt="{alt}">'
    return f'{picture}\n\n{headline(name, finding, title)}<br clear="left">'


def headline(name: str, finding: KeyFinding, title: str, folder: str = "") -> str:
    """Return a finding as one line of Markdown without its details, which its own section has.

    :param title: of its exhibit.
    :param folder: where the exhibits are, for a page elsewhere.
    """
    text = " ".join(filter(None, (finding.claim, finding.answer)))
    return f"**[{escape_markdown(finding.question)}]({folder}{section_link(name, title)})** {escape_markdown(text)}"


def _section(shown: ShownExhibit) -> str:
    missing = f" ({count} cells missing)" if (count := shown.missing) else ""
    return f"[{escape_markdown(shown.title)}]({section_link(shown.name, shown.title)}){missing}"
