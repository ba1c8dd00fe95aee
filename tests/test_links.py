"""Links between pages of the documentation lead to files and headings that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("results/*.md"), *ROOT.glob("src/**/*.md")])
_FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def anchors_in(text: str) -> set[str]:
    """What links may name behind a #, as GitHub makes it of headings; of like ones all but the first are numbered."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)", _FENCED.sub("", text), re.MULTILINE):
        shown = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        first = anchor = re.sub(r"[^\w -]", "", shown.lower()).strip().replace(" ", "-")
        number = 0
        while anchor in found:
            number += 1
            anchor = f"{first}-{number}"
        found.add(anchor)
    return found


def broken_links(page: Path) -> list[str]:
    """Relative links of a page to what does not exist."""
    found = re.findall(r"\]\(([^)\s]+)\)", _FENCED.sub("", page.read_text("utf-8")))
    links = [link for link in found if not re.match(r"[a-z]+:", link)]
    return [link for link in links if not _leads_somewhere(page, *link.partition("#")[::2])]


def _leads_somewhere(page: Path, name: str, anchor: str) -> bool:
    target = page.parent / name if name else page
    return target.exists() and (not anchor or anchor in anchors_in(target.read_text("utf-8")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    assert broken_links(page) == []


def test_links_that_lead_nowhere_are_found_and_anchors_are_those_of_headings(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# `Two` words\n\n[a](#two-words) [b](#gone) [c](none.md) [d](page.md#two-words) [e](https://x.org)\n"
    )
    assert broken_links(page) == ["#gone", "none.md"]
    text = "# Can it be trusted?\n## Same\n## Same\n```sh\n# no heading\n```\n### Labels and `conflict`\n"
    assert anchors_in(text) == {"can-it-be-trusted", "same", "same-1", "labels-and-conflict"}
