"""SemEval XML: 2014 (`aspectTerm`), and 2015 and 2016 (`Opinion`), with character offsets.

    <sentence id="81"><text>The screen is great</text>
      <aspectTerms><aspectTerm term="screen" polarity="positive" from="4" to="10"/></aspectTerms></sentence>

Sentences without an aspect and opinions with the target NULL are dropped and counted. A file that declares entities is refused:
they can grow without bound or read other files. If the words are not those of our tokeniser, we write them to an attribute of our
own, `words`, which other readers ignore.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.saxutils import escape, quoteattr
from xml.sax.xmlreader import AttributesImpl, Locator

from defusedxml.expatreader import create_parser

from pssa.data.example import Example
from pssa.data.fields import words_as_text
from pssa.data.formats import Format
from pssa.data.rows import SAME_NAMES, Columns, Dropped, Event, Problem, Row
from pssa.data.text_file import MAX_TEXT, InputFile, open_bytes
from pssa.data.validation import format_error
from pssa.errors import InputError

_CHUNK = 1 << 16
_MAX_PART = 1 << 22  # bytes of a tag or a comment
_MAX_DEPTH = 100  # nested elements
_MAX_ASPECTS = 1000  # of a sentence
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_LINE_ENDS = {"\r": "&#13;"}  # a parser would make it a line feed
_TERM_NAMES = {"aspectTerm": "term", "Opinion": "target"}


def scan(file: InputFile, columns: Columns = SAME_NAMES) -> Iterator[Event]:
    """Yield a row for each aspect; its line is the one on which the sentence starts."""
    parser = create_parser()
    handler = _Sentences(parser)
    parser.setContentHandler(handler)
    with open_bytes(file) as stream:
        while True:
            chunk = stream.read(_CHUNK)
            problem = _feed(parser, chunk) or handler.check_silence(len(chunk))
            yield from handler.take()
            if problem:
                yield replace(problem, last=True)
            if problem or not chunk:
                return


def encode(examples: Sequence[Example]) -> bytes:
    """Return SemEval-2014 XML; a sentence is at the place of its first aspect, with all its aspects."""
    sentences: dict[tuple[str, str], list[Example]] = {}
    for example in examples:
        sentences.setdefault((example.sentence_id, example.text), []).append(example)
    body = "".join(_sentence(*key, aspects) for key, aspects in sentences.items())
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<sentences>\n{body}</sentences>\n'.encode()


class _Sentences(ContentHandler):
    """A handler that collects the rows of sentences; `take` returns those of finished ones."""

    def __init__(self, locator: Locator) -> None:
        super().__init__()
        self._locator = locator
        self._ready: list[Event] = []
        self._line = 0
        self._id: str | None = None
        self._text: list[str] = []
        self._letters = 0  # of the text so far
        self._depth = 0  # of open elements
        self._silence = 0  # bytes since the parser's last call
        self._inside_text = False
        self._aspects: list[dict[str, Any]] = []

    def take(self) -> list[Event]:
        """Return the rows since the last call."""
        ready, self._ready = self._ready, []
        return ready

    def check_silence(self, size: int) -> Problem | None:
        """Return a problem if the parser took too many bytes without a call: it holds all of them."""
        self._silence += size
        if self._silence <= _MAX_PART:
            return None
        return Problem(self._locator.getLineNumber(), f"has a tag or a comment of more than {_MAX_PART} bytes")

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802 - the interface's name
        """Note the sentence, its text or one of its aspects."""
        self._silence = 0
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise InputError(f"has more than {_MAX_DEPTH} nested elements")
        if name == "sentence":
            self._line = self._locator.getLineNumber() or 0
            self._id, self._text, self._letters, self._aspects = attrs.get("id"), [], 0, []
        elif name == "text":
            self._inside_text = True
        elif name in _TERM_NAMES:
            more = {key: attrs[key] for key in ("from", "to", "words") if key in attrs}
            self._aspects.append({"aspect": attrs.get(_TERM_NAMES[name]), "label": attrs.get("polarity"), **more})
            if len(self._aspects) > _MAX_ASPECTS:
                raise InputError(f"has a sentence with more than {_MAX_ASPECTS} aspects")

    def characters(self, content: str) -> None:
        """Collect the sentence's text."""
        self._silence = 0
        if self._inside_text:
            self._text.append(content)
            self._letters += len(content)
            if self._letters > MAX_TEXT:
                raise InputError(f"has a sentence of more than {MAX_TEXT} characters")

    def endElement(self, name: str) -> None:  # noqa: N802 - the interface's name
        """Close the text or the sentence."""
        self._depth -= 1
        if name == "text":
            self._inside_text = False
        elif name == "sentence":
            self._ready.extend(self._rows())

    def _rows(self) -> Iterator[Event]:
        text = "".join(self._text)
        if not self._aspects:
            yield Dropped(self._line, "no_aspect", text, self._id)
        for number, aspect in enumerate(self._aspects):
            if aspect["aspect"] == "NULL":
                yield Dropped(self._line, "null_target", text, self._id)
                continue
            identity = {"id": f"{self._id or self._line}:{number}", "sentence_id": self._id}
            yield Row(self._line, {**identity, "text": text, **aspect})


def _feed(parser: Any, chunk: bytes) -> Problem | None:
    try:
        if chunk:
            parser.feed(chunk)
        else:
            parser.close()
    except InputError as error:
        return Problem(parser.getLineNumber(), f"{error.message}; nothing after it can be read")
    except SAXParseException as error:
        what = format_error(error.getMessage())
        return Problem(error.getLineNumber(), f"is malformed XML ({what}); nothing after it can be read")
    # defusedxml's refusals, and encodings that expat does not know, are ValueErrors.
    except (ValueError, LookupError) as error:
        what = f"is refused ({format_error(error)}); remove entities, and save the file as UTF-8"
        return Problem(parser.getLineNumber(), what)
    return None


def _sentence(sentence_id: str, text: str, aspects: Sequence[Example]) -> str:
    terms = ""
    for example in aspects:
        start, end = example.aspect_chars
        attributes = f'term={_attribute(example.aspect_text)} from="{start}" to="{end}"'
        if example.label is not None:
            attributes += f" polarity={_attribute(example.label)}"
        if words := words_as_text(example):
            attributes += f' words="{words}"'
        terms += f"      <aspectTerm {attributes}/>\n"
    lines = (
        f"  <sentence id={_attribute(sentence_id)}>",
        f"    <text>{escape(_allowed(text), _LINE_ENDS)}</text>",
        f"    <aspectTerms>\n{terms}    </aspectTerms>",
        "  </sentence>\n",
    )
    return "\n".join(lines)


def _attribute(value: str) -> str:
    return quoteattr(_allowed(value))


def _allowed(value: str) -> str:
    if _FORBIDDEN.search(value):
        raise InputError(f"{value!r} contains a character that XML does not allow; use another format, such as .jsonl")
    return value


FORMAT = Format(
    scan=scan,
    encode=encode,
    has_encoding=False,
    lists_all_aspects=True,
    short_names=("xml",),
    extensions=(".xml",),
    likelihood=lambda lines: float(lines[0].lstrip().startswith("<")),
)
