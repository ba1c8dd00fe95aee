"""Generated parts of the documentation are up to date, and what pages name or link to exists."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("results/*.md")])
LINKING = [*PAGES, *sorted(ROOT.glob("src/**/*.md"))]
_FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
BLOCKS = [
    (str(page.relative_to(ROOT)), block)
    for page in PAGES
    for block in re.findall(r"```py(?:thon)?\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
]
HISTORY = {"CHANGELOG.md"}  # may name what is gone


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script that fills generated parts."""
    spec = importlib.util.spec_from_file_location("update_docs", ROOT / "scripts" / "update_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "name", ["README.md", "docs/how-to/choose-a-model.md", "results/ideas.md", "results/README.md"]
)
def test_numbers_in_prose_are_those_of_the_tables(script: ModuleType, name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    assert script.filled(text) == text, "run: python scripts/update_docs.py"


def test_the_reference_lists_every_command_and_option(script: ModuleType) -> None:
    """How they are described may be older until the script runs again."""
    page = (ROOT / "docs" / "reference" / "commands.md").read_text("utf-8")
    shown = page.partition("<!-- begin commands -->")[2].partition("<!-- end commands -->")[0]
    assert names_in(shown) == names_in(script.BLOCKS["commands"]()), "run: python scripts/update_docs.py"


def names_in(block: str) -> list[str]:
    """The commands and options that a page lists."""
    return sorted(re.findall(r"^## pssa .+|^\| `--[a-z-]+", block, re.MULTILINE))


def test_the_readme_and_the_ideas_take_their_numbers_from_tables(script: ModuleType) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert all(f"<!-- begin {block} -->" in readme for block in ("headlines", "scores"))
    assert (ROOT / "results" / "ideas.md").read_text("utf-8").count("<!--=") > 20


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_number_in_a_table_has_an_address_which_would_end_its_cell(page: Path) -> None:
    rows = [line for line in page.read_text("utf-8").splitlines() if line.startswith("|")]
    assert [row for row in rows if "<!--=" in row] == []


def test_a_stale_number_is_replaced_and_one_that_no_table_has_is_an_error(script: ModuleType) -> None:
    stale = "gains <!--=overall/overall-gains|MN;LAPTOP|again|macro-F1|+.2f-->+9.99<!--/--> points"
    filled = script.filled(stale)
    assert "+9.99" not in filled
    assert re.search(r"-->[+-]\d\.\d\d<!--/-->", filled)
    with pytest.raises(SystemExit, match="overall-gains"):
        script.filled("<!--=overall/overall-gains|MN;MOON|again|macro-F1|+.2f-->1<!--/-->")


def test_the_readme_is_short_and_its_pictures_are_small() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 130
    pictures = list((ROOT / "docs" / "images").iterdir())
    assert len(pictures) > 1
    assert [picture.name for picture in pictures if picture.stat().st_size > 200_000] == []


@pytest.mark.parametrize(("page", "block"), BLOCKS, ids=[page for page, _ in BLOCKS])
def test_code_in_pages_imports_what_exists(page: str, block: str) -> None:
    for node in ast.walk(ast.parse(block)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "pssa":
            names = [name.name for name in node.names]
            assert [name for name in names if not exists(f"{node.module}.{name}")] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in HISTORY], ids=lambda page: page.name)
def test_modules_and_files_that_pages_name_exist(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    dotted = set(re.findall(r"`(pssa(?:\.\w+)+)", text)) - {"pssa.toml"}
    assert sorted(name for name in dotted if not exists(name)) == []
    named = set(re.findall(r"`((?:src|tests|scripts|benchmarks)/[\w./-]+\w)(?![\w*])", text))
    assert sorted(name for name in named if not (ROOT / name).exists()) == []
    inner = set(re.findall(r"`((?:\w+/)+\w+\.py)`", text)) - named
    assert (
        sorted(name for name in inner if not (ROOT / "src" / "pssa" / name).exists() and not (ROOT / name).exists())
        == []
    )


def test_marked_aspects_become_offsets() -> None:
    """The function of the page for people who come from PyABSA."""
    (code,) = [block for page, block in BLOCKS if page.endswith("coming-from-other-libraries.md") and "unmark" in block]
    names: dict[str, Any] = {}
    exec(code.partition("classifier = ")[0], names)  # noqa: S102 - our own page
    text, spans = names["unmark"]("[B-ASP]Food[E-ASP] was good,\nthe [B-ASP]service[E-ASP] slow [sic].")
    assert text == "Food was good,\nthe service slow [sic]."
    assert [text[start:end] for start, end in spans] == ["Food", "service"]


def exists(name: str) -> bool:
    """Whether a dotted name can be imported, as a module or as something in one."""
    parts = name.split(".")
    for depth in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:depth]))
        except ModuleNotFoundError:
            continue
        for part in parts[depth:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


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


@pytest.mark.parametrize("page", LINKING, ids=lambda page: str(page.relative_to(ROOT)))
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
