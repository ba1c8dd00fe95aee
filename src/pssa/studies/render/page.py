"""One page with every exhibit: it needs no other file and no network, on a wide screen, a phone or paper, by day and by night."""

from __future__ import annotations

from collections.abc import Sequence

from pssa.report.markup import Markup, escape, join, page
from pssa.studies.render.look import STYLE
from pssa.studies.render.section import Section, inline

__all__ = ["make_page"]

_TITLE = "Experiments"


def make_page(sections: Sequence[Section], notes: Sequence[str] = (), about: Sequence[Section] = ()) -> str:
    """The document.

    :param notes: what the reader must know first.
    :param about: sections behind the exhibits, such as what they were made with.
    """
    paper = [section for section in sections if not section.beyond]
    beyond = [section for section in sections if section.beyond]
    groups = (("In the paper", paper), ("Beyond the paper", beyond), ("About", about))
    body = [
        Markup(f"<header>\n<h1>{_TITLE}</h1>"),
        *(Markup(f'<p class="warning">{inline(note).source}</p>') for note in notes),
        Markup('</header>\n<nav aria-label="contents">'),
        *(_contents(title, group) for title, group in groups if group),
        Markup("</nav>\n<main>"),
        *(_wrapped(section) for _, group in groups for section in group),
        Markup("</main>"),
    ]
    return page(_TITLE, STYLE, join(body))


def _contents(title: str, sections: Sequence[Section]) -> Markup:
    links = "".join(f'<li><a href="#{escape(each.name)}">{inline(each.title).source}</a></li>' for each in sections)
    return Markup(f"<h2>{title}</h2>\n<ul>{links}</ul>")


def _wrapped(section: Section) -> Markup:
    return Markup(f'<section id="{escape(section.name)}">\n{section.html}\n</section>')
