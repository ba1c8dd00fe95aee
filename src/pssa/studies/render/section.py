"""An exhibit as a section of the page: titles, boxes with tables and drawings, the numbers of a figure folded away."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pssa.report.markup import Markup, escape, join
from pssa.studies.exhibit import Exhibit, Figure, Part, Picture, Prose, Table
from pssa.studies.render.fields import Shown, as_grid, show_table, spans

__all__ = ["Section", "inline", "make_section", "table_box"]

_SEVERAL = 24  # characters from which a field of numbers may break
_LONG = 48  # characters from which a field is text to be read in several lines
_METADATA = re.compile(r"<metadata>.*?</metadata>\s*", re.DOTALL)
_NAMES = re.compile(r'(\bid="|href="#|url\(#)')


@dataclass(frozen=True)
class Section:
    """A part of the page with its entry in the contents."""

    name: str
    title: str
    html: str
    beyond: bool = False


def make_section(exhibit: Exhibit, parts: Sequence[Part], drawings: Mapping[str, str]) -> Section:
    """The exhibit as HTML.

    :param drawings: SVG of its figures by name, as far as they could be drawn.
    """
    mark = Markup(' <span class="mark">beyond the paper</span>' if exhibit.beyond else "")
    head = Markup(f"<h2>{inline(exhibit.title).source}{mark.source}</h2>")
    blocks = [_block(part, f"{exhibit.name}-{number}", drawings) for number, part in enumerate(parts, start=1)]
    return Section(exhibit.name, exhibit.title, join([head, *blocks]).source, exhibit.beyond)


def inline(text: str) -> Markup:
    """A text with its code."""
    return Markup(
        "".join(f"<code>{escape(span.text)}</code>" if span.is_code else escape(span.text) for span in spans(text))
    )


def table_box(table: Table, anchor: str) -> Markup:
    """A table in a box that scrolls, and can be scrolled with the keyboard."""
    shown = show_table(table)
    kinds = [_kind(shown, place) for place in range(len(shown.columns))]
    head = "".join(
        f'<th scope="col"{kinds[place]}>{inline(name).source}</th>' for place, name in enumerate(shown.columns)
    )
    body = "\n".join(_row(row, kinds) for row in shown.rows)
    return Markup(
        f'<div class="wide" role="region" tabindex="0" aria-labelledby="{anchor}"><table class="fields">\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def _block(part: Part, anchor: str, drawings: Mapping[str, str]) -> Markup:
    if isinstance(part, Prose):
        return Markup(f"<p>{inline(part.text).source}</p>")
    title = Markup(f'<h3 id="{anchor}">{inline(part.title).source}</h3>')
    match part:
        case Table():
            return join([title, table_box(part, anchor), *_notes(part.notes)])
        case Figure():
            return join([title, *_figure(part, anchor, drawings.get(part.name)), *_notes(part.notes)])
        case Picture():
            return join([title, Markup(f'<div class="picture">{part.html}</div>')])


def _figure(figure: Figure, anchor: str, svg: str | None) -> list[Markup]:
    numbers = table_box(as_grid(figure), anchor)
    if svg is None:
        return [numbers]
    kind = "wide drawing" if len(figure.panels) > 1 else "wide drawing small"
    box = f'<div class="{kind}" role="region" tabindex="0" aria-labelledby="{anchor}">{_embedded(svg, figure, anchor)}</div>'
    return [Markup(box), Markup(f"<details><summary>The numbers</summary>\n{numbers.source}\n</details>")]


def _embedded(svg: str, figure: Figure, anchor: str) -> str:
    """The drawing as a part of a page, where what it calls its shapes must not meet those of another."""
    drawing = _METADATA.sub("", svg[svg.index("<svg") :])
    drawing = _NAMES.sub(rf"\g<1>{anchor}-", drawing)
    return drawing.replace("<svg ", f'<svg role="img" aria-label="{escape(figure.title)}" ', 1).strip()


def _kind(shown: Shown, place: int) -> str:
    longest = max((len(row[place]) for row in shown.rows), default=0)
    if shown.is_number[place]:
        return ' class="number several"' if longest > _SEVERAL else ' class="number"'
    is_long = longest > _LONG
    return ' class="long"' if is_long else ""


def _row(row: Sequence[str], kinds: Sequence[str]) -> str:
    first, *others = (inline(field).source for field in row)
    cells = "".join(f"<td{kind}>{field}</td>" for kind, field in zip(kinds[1:], others, strict=True))
    return f'<tr><th scope="row"{kinds[0]}>{first}</th>{cells}</tr>'


def _notes(notes: Sequence[str]) -> list[Markup]:
    return [Markup(f'<p class="note">{inline(note).source}</p>') for note in notes]
