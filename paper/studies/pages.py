"""Exhibits as files in a folder. Every file is written whole or not at all.

OUT/NAME.md              the exhibit
OUT/NAME/PART.md ...     each of its tables, figures and pictures, in every format it has
OUT/NAME/section.json    its section of the page, for when another exhibit is shown, and the names of its files
OUT/index.html           the page, with every exhibit that has been shown in this folder
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from paper.studies import tables
from paper.studies.exhibit import Details, Exhibit, Figure, KeyFinding, Part, Picture, Table, Value
from paper.studies.exhibits import reading_order
from paper.studies.figures import draw
from paper.studies.latex import latex_document
from paper.studies.strip_plot import draw_strip_plot
from pssa.data.files import write_atomically
from pssa.errors import InputError, MissingExtra, PssaWarning
from pssa.report.heat_map import clean
from pssa.report.html import make_environment

_TITLE = "Experiments"
_FINDINGS = "What we found"
LEGEND = (  # of the pictures of findings
    "In the pictures, a large dot is a mean, a small dot one model on one data set, a hollow dot a control, and a diamond the "
    "paper's number."
)
_FILE_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*", re.IGNORECASE)
SECTION = "section.json"
FILES = "files"  # in it: the names of the files beside it
_N_NAMED = 12  # rows without an outcome that are named, at most
_N_ROWS = 15  # of a table that is not folded away, at most
_LONG_NUMBER = 24  # characters from which a field of numbers may break
_LONG_TEXT = 48  # characters from which a field is text to be read in several lines
_LIST_MARK = re.compile(r"^(\d{0,9})([#>]|[-+.)=](?=\s))")  # begins a heading or a list in Markdown
_METADATA = re.compile(r"<metadata>.*?</metadata>\s*", re.DOTALL)
PageSection = dict[str, Any]  # of the page, with its entry in the contents: name, title, html, beyond
_SHAPE_NAMES = re.compile(r'(\bid="|href="#|url\(#)')


def write_exhibit(folder: Path, exhibit: Exhibit, parts: Sequence[Part]) -> None:
    """Write all files of an exhibit; without pandas or matplotlib, warn and leave out what they write.

    Files of parts that the exhibit had when it was last shown in this folder, and has no more, are removed; other files are the
    user's own and stay.

    :raises ValueError: if two parts would have the same files, or a name cannot be the name of a file.
    """
    _check_names(exhibit, parts)
    drawings, has_pandas = _draw_all(parts), _has_pandas()
    files: dict[str, str | bytes] = {}
    for name, (svg, png) in drawings.items():
        files |= {f"{name}.svg": svg, f"{name}.png": png}
    for part in parts:
        files |= _files_of(part, exhibit.title, has_pandas)
    as_svg = {name: svg for name, (svg, _) in drawings.items()}
    section = make_section(exhibit.name, exhibit.title, parts, as_svg, exhibit.beyond)
    home = folder / exhibit.name
    home.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        _write(home / name, content)
    for name in _written_before(home):
        if name not in files:
            (home / name).unlink(missing_ok=True)
    _write(home / SECTION, json.dumps({**section, FILES: list(files)}, ensure_ascii=False) + "\n")
    if has_pandas:
        _write(folder / f"{exhibit.name}.md", markdown_document(exhibit, parts, drawings))


def write_page(
    folder: Path,
    notes: Sequence[str] = (),
    about: Sequence[PageSection] = (),
    findings: Mapping[str, KeyFinding] | None = None,
) -> Path:
    """Write the page of all exhibits that have been shown in this folder, findings first; return its path."""
    found = {path.parent.name: read_section(path) for path in sorted(folder.glob(f"*/{SECTION}"))}
    sections = [found[name] for name in sorted(found, key=reading_order)]
    return _write(folder / "index.html", make_page(sections, notes, about, findings))


def drop_empty_rows(parts: Iterable[Part]) -> list[Part]:
    """Return the parts without rows that have no outcome; name these below, and empty parts at the end."""
    kept: list[Part] = []
    empty: list[str] = []
    for part in parts:
        left: Part | None = part
        if isinstance(part, Table) and part.outcomes:
            left = _filled_rows(part)
        elif isinstance(part, Figure) and not any(lines for _, lines in part.panels):
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
    named = [" ".join(str(field) for field in row if field is not None) for row in missing[:_N_NAMED]]
    more = f" and {len(missing) - _N_NAMED} more" if len(missing) > _N_NAMED else ""
    return replace(table, rows=kept, notes=(*table.notes, f"No outcome yet: {'; '.join(named)}{more}."))


def _is_outcome(column: str, field: Value) -> bool:
    # A measured value may be zero; zero seeds have measured nothing.
    return field is not None and str(field) != "" and not (column == "seeds" and field == 0)


def markdown_document(exhibit: Exhibit, parts: Sequence[Part], drawn: Container[str] = ()) -> str:
    """Return the whole exhibit as Markdown; pictures are in a folder of its name.

    :param drawn: names of the figures that were drawn.
    """
    blocks = [f"# {tables.escape_markdown(exhibit.title)}"]
    for part in parts:
        blocks += _markdown_blocks(part, exhibit.name, drawn)
    return "\n\n".join(blocks) + "\n"


def _markdown_blocks(part: Part, folder: str, drawn: Container[str]) -> Iterator[str]:
    if isinstance(part, str):
        yield _markdown_paragraph(part)
        return
    if isinstance(part, Details):
        yield f"<details>\n<summary>{escape(part.summary)}</summary>"
        for inner in part.parts:
            yield _markdown_paragraph(inner) if isinstance(inner, str) else tables.markdown_table(inner)
        yield "</details>"
        return
    yield f"## {tables.escape_markdown(part.title)}"
    if isinstance(part, Picture) or part.name in drawn:
        yield f"![{tables.escape_markdown(part.title)}]({folder}/{part.name}.svg)"
    if not isinstance(part, Picture):
        shown = tables.grid_table(part) if isinstance(part, Figure) else part
        folded = _folded(shown)
        yield from [f"<details>\n<summary>{escape(folded)}</summary>"] if folded else []
        yield tables.markdown_table(shown)
        yield from ["</details>"] if folded else []
        yield from (_markdown_paragraph(note) for note in part.notes)


def _folded(table: Table) -> str:
    """Return what stands above a long table that is folded away: its rows and columns; empty for a short one."""
    if len(table.rows) <= _N_ROWS:
        return ""
    return f"{len(table.rows)} rows by {', '.join(table.columns)}"


def _markdown_paragraph(text: str) -> str:
    return _LIST_MARK.sub(r"\1\\\2", tables.escape_markdown(text))


def make_section(
    name: str, title: str, parts: Sequence[Part], drawings: Mapping[str, str] | None = None, beyond: bool = False
) -> PageSection:
    """Return parts as a section of the page.

    :param drawings: SVG of the figures by name, as far as they were drawn.
    """
    blocks = [_block(part, f"{name}-{number}", drawings or {}) for number, part in enumerate(parts, start=1)]
    html = _render("exhibit.html.jinja", name=name, title=title, beyond=beyond, parts=blocks)
    return {"name": name, "title": title, "html": html.strip(), "beyond": beyond}


def make_page(
    sections: Sequence[PageSection],
    notes: Sequence[str] = (),
    about: Sequence[PageSection] = (),
    findings: Mapping[str, KeyFinding] | None = None,
) -> str:
    """Return the page.

    :param notes: what the reader must know first.
    :param about: sections after the exhibits, such as the provenance.
    :param findings: what exhibits say in short, by their names.
    """
    paper = [section for section in sections if not section["beyond"]]
    beyond = [section for section in sections if section["beyond"]]
    first = [_findings_section(findings)] if findings else []
    groups = (("In short", first), ("In the paper", paper), ("Beyond the paper", beyond), ("About", about))
    return _render("results.html.jinja", title=_TITLE, notes=notes, groups=groups)


def _findings_section(findings: Mapping[str, KeyFinding]) -> PageSection:
    drawings = {name: Markup(draw_strip_plot(finding.plot)) for name, finding in findings.items()}  # noqa: S704  escaped
    html = _render("findings.html.jinja", title=_FINDINGS, findings=findings, drawings=drawings, legend=LEGEND)
    return {"name": "findings", "title": _FINDINGS, "html": html.strip(), "beyond": False}


def _block(part: Part, anchor: str, drawings: Mapping[str, str]) -> dict[str, Any]:
    """Return the values from which the template builds one part."""
    if isinstance(part, str):
        return {"text": part}
    if isinstance(part, Details):
        inner = [{"text": each} if isinstance(each, str) else {"table": _html_table(each)} for each in part.parts]
        return {"summary": part.summary, "inner": inner}
    values: dict[str, Any] = {"kind": type(part).__name__, **vars(part), "svg": ""}
    if isinstance(part, Picture):
        values["notes"] = ()
    elif isinstance(part, Table):
        values["table"] = _html_table(part)
    elif isinstance(part, Figure):
        values |= {"table": _html_table(tables.grid_table(part)), "is_small": len(part.panels) < 2}
        if part.name in drawings:
            values["svg"] = _embedded(drawings[part.name], part, anchor)
    return values


def _html_table(table: Table) -> dict[str, Any]:
    """Return a table's texts, and a class attribute for each column."""
    shown = tables.TextTable.of(table)
    classes = []
    for index, is_number in enumerate(shown.is_number):
        longest = max((len(row[index]) for row in shown.rows), default=0)
        if is_number:
            classes.append("number several" if longest > _LONG_NUMBER else "number")
        else:
            classes.append("long" if longest > _LONG_TEXT else "")
    css = [Markup(' class="{}"').format(each) if each else "" for each in classes]
    return {"columns": shown.columns, "rows": shown.rows, "css": css}


def _embedded(svg: str, figure: Figure, anchor: str) -> str:
    """Return the drawing as a part of a page, with names of shapes that no other drawing has."""
    drawing = _METADATA.sub("", svg[svg.index("<svg") :])
    drawing = _SHAPE_NAMES.sub(rf"\g<1>{anchor}-", drawing)
    return drawing.replace("<svg ", f'<svg role="img" aria-label="{escape(clean(figure.title))}" ', 1).strip()


def _html_code(text: str) -> Markup:
    """Return a text with its code marked, everything escaped."""
    html = tables.convert_text(
        clean(text), lambda plain: str(escape(plain)), lambda code: f"<code>{escape(code)}</code>"
    )
    return Markup(html)  # noqa: S704  every piece is escaped


_ENVIRONMENT = make_environment(Path(__file__).parent / "templates")
_ENVIRONMENT.filters["code"] = _html_code


def _render(template: str, **values: Any) -> str:
    return _ENVIRONMENT.get_template(template).render(values)


def _files_of(part: Part, within: str, has_pandas: bool) -> dict[str, str | bytes]:
    """Return the files of a part by name, except drawings of figures.

    :param within: title of the exhibit.
    """
    if isinstance(part, str | Details):
        return {}
    if isinstance(part, Picture):
        page = _render("picture.html.jinja", title=part.title, html=part.html)
        return {f"{part.name}.svg": part.svg, f"{part.name}.html": page}
    files: dict[str, str | bytes] = {}
    if has_pandas and isinstance(part, Table):
        files[f"{part.name}.md"] = "\n\n".join(_markdown_blocks(part, "", ())) + "\n"
        files[f"{part.name}.tex"] = latex_document(part, within)
    table = tables.points_table(part) if isinstance(part, Figure) else part
    if has_pandas:
        files[f"{part.name}.csv"] = tables.table_csv(table)
    return {**files, f"{part.name}.json": tables.table_json(table)}


def _written_before(home: Path) -> Iterator[str]:
    """Yield the names of the files that the last showing of an exhibit wrote."""
    try:
        names = json.loads((home / SECTION).read_text("utf-8"))[FILES]
    except (OSError, ValueError, KeyError, TypeError):
        return  # nothing was shown here, or an old version wrote no list
    for name in names if isinstance(names, list) else ():
        # Anybody may have changed the list: a name must be that of a file in this folder.
        if isinstance(name, str) and _FILE_NAME.fullmatch(name) and (home / name).is_file():
            yield name


def _check_names(exhibit: Exhibit, parts: Sequence[Part]) -> None:
    names = [part.name for part in parts if not isinstance(part, str | Details)]
    for name in (exhibit.name, *names):
        if not _FILE_NAME.fullmatch(name):
            raise ValueError(f"{name!r} in exhibit {exhibit.name} cannot name a file; use letters, digits, - and _")
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"exhibit {exhibit.name} has several parts called {', '.join(sorted(twice))}")


def _draw_all(parts: Sequence[Part]) -> dict[str, tuple[str, bytes]]:
    """Return the figures by name, as SVG and PNG."""
    try:
        return {figure.name: draw(figure) for figure in parts if isinstance(figure, Figure)}
    except MissingExtra as error:
        _warn_missing("figures", error)
        return {}


def _has_pandas() -> bool:
    try:
        tables.require_pandas()
    except MissingExtra as error:
        _warn_missing("Markdown, LaTeX and CSV files", error)
        return False
    return True


def _warn_missing(what: str, error: MissingExtra) -> None:
    warnings.warn(PssaWarning(f"{what} are left out: {error.message}, then write them with --show-only"), stacklevel=4)


def read_section(path: Path) -> PageSection:
    """Return the section of an exhibit that has been shown, and the names of its files.

    :raises InputError: if the file is something else.
    """
    try:
        value = json.loads(path.read_text("utf-8"))
        known = {name: value[name] for name in ("name", "title", "html", "beyond")}
        return {**known, FILES: [name for name in value.get(FILES, ()) if _FILE_NAME.fullmatch(name)]}
    except (ValueError, TypeError, LookupError) as error:
        raise InputError(f"{path} is not a section of the page; remove it and show its exhibit again") from error


def _write(path: Path, content: str | bytes) -> Path:
    # Lone surrogates, which a stranger's text may hold, cannot be encoded.
    write_atomically(path, content.encode("utf-8", "replace") if isinstance(content, str) else content)
    return path
