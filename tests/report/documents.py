"""Reading back what was written: a strict look at HTML, and explanations to write it from."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from hypothesis import strategies as st
from rich.console import Console

from pssa.data.example import Example
from pssa.data.tokenize import tokenize
from pssa.report.terminal import HeatMaps
from pssa.runs.answers import Answer, Explanation

_VOID = {"meta", "input"}
_FETCHING = {"script", "img", "link", "iframe", "object", "embed", "base", "form", "video", "audio"}


@dataclass
class Element:
    """An element with all that is inside it."""

    tag: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    own: list[str] = field(default_factory=list)  # pieces of text, those of children in their places

    @property
    def text(self) -> str:
        return "".join(self.own)

    def all(self, tag: str = "", kind: str = "") -> list[Element]:
        """Everything below with this tag and class, in order."""
        found = []
        for child in self.children:
            if tag in ("", child.tag) and (not kind or kind in child.attributes.get("class", "").split()):
                found.append(child)
            found += child.all(tag, kind)
        return found


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"<{tag}> has an attribute twice"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.own.append(data)


def parse(html: str) -> Element:
    """The document, every element closed where it should be."""
    builder = _Builder()
    builder.feed(html)
    builder.close()
    assert len(builder.open) == 1, f"<{builder.open[-1].tag}> is not closed"
    return builder.open[0]


def refuse_outside(html: str) -> None:
    """Fail if the page could fetch or run anything: links go to anchors that exist, nothing has a source."""
    document = parse(html)
    anchors = {element.attributes["id"] for element in document.all() if "id" in element.attributes}
    for element in document.all():
        assert element.tag not in _FETCHING
        for name, value in element.attributes.items():
            assert name not in {"src", "srcset", "style", "action", "xlink:href", "srcdoc"}
            assert not name.startswith("on")
            assert name != "href" or (value[0] == "#" and value[1:] in anchors)
    style = "".join(element.text for element in document.all("style"))
    assert "url(" not in style
    assert "@import" not in style


def explanation(
    text: str, aspect: str, shares: dict[str, float], label: str = "negative", saliency: str = "attention"
) -> Explanation:
    """An explanation whose named words have these shares and the others none."""
    start = text.index(aspect)
    example = Example.from_text(text, (start, start + len(aspect)))
    values = tuple(shares.get(word, 0.0) for word in example.words)
    answer = Answer(label, {"positive": 0.25, "negative": 0.625, "neutral": 0.125}, aspect, start, start + len(aspect))
    return Explanation(text, example.spans, example.aspect, values, saliency, answer)


@st.composite
def explanations(draw: st.DrawFn, characters: st.SearchStrategy[str] | None = None) -> Explanation:
    """Explanations of any text at all, with any word as its aspect."""
    alphabet = characters or st.one_of(
        st.characters(), st.sampled_from("<>&\"' \n\r\t\x00\x1b\u202e\u05d0👩\u200d\u0301a")
    )
    text = draw(st.text(alphabet, min_size=1, max_size=80).filter(lambda text: bool(tokenize(text))))
    spans = tokenize(text)
    first = draw(st.integers(0, len(spans) - 1))
    last = draw(st.integers(first, min(first + 2, len(spans) - 1)))
    raw = [0.0 if first <= index <= last else draw(st.floats(0, 1)) for index in range(len(spans))]
    whole = sum(raw) or 1.0
    start, end = spans[first][0], spans[last][1]
    answer = Answer("a<b", {"a<b": 0.75, '"': 0.25}, text[start:end], start, end)
    return Explanation(text, spans, (first, last + 1), tuple(value / whole for value in raw), "attention", answer)


def plain(given: HeatMaps, **options: Any) -> str:
    """Heat maps as a terminal prints them, by default without colour."""
    console = Console(file=io.StringIO(), soft_wrap=True, highlight=False, **{"color_system": None} | options)
    console.print(given)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]
