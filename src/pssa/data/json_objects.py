"""Objects of a JSON list, one at a time, in bounded memory: `[{...}, {...}]`, or the same objects one after the other."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from pssa.data.rows import Problem
from pssa.data.text_file import InputFile, describe_damage, open_text
from pssa.data.validation import format_error, shorten

_CHUNK = 1 << 16  # bytes
_MAX_OBJECT = 1 << 24  # characters
_MARKS = re.compile(r'["{}]')
_IN_STRING = re.compile(
    r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL
)  # up to its end, or to a backslash without what it escapes
_BETWEEN = re.compile(r"[\s,\[\]]*")


def read_objects(file: InputFile) -> Iterator[dict[str, Any] | Problem]:
    """Yield the objects of a file, and a problem in place of one that is damaged; nothing follows a problem that is the last.

    The line of a problem is the number of the object, counted from 1.
    """
    for number, content in enumerate(_contents(file), start=1):
        if isinstance(content, Problem):
            yield content
            return
        if damage := describe_damage(content):
            yield Problem(number, damage, given=content)
            continue
        try:
            found: dict[str, Any] = json.loads(content)
        except (ValueError, RecursionError) as error:
            yield Problem(number, f"is not valid JSON ({format_error(error)})", given=content)
        else:
            yield found


def _contents(file: InputFile) -> Iterator[str | Problem]:
    """Yield the text of each object, as its braces delimit it, and what is wrong with the last."""
    scanner = _Scanner()
    with open_text(file) as stream:
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        while chunk := stream.read(_CHUNK):
            yield from scanner.feed(decoder.decode(chunk))
    if fault := scanner.unfinished():
        yield fault


class _Scanner:
    """Finds where objects end; it looks at every character once."""

    def __init__(self) -> None:
        self._text = ""
        self._start = 0  # of the object
        self._place = 0  # up to which the text is known
        self._depth = 0  # of open braces
        self._in_string = False  # whether the place is inside one
        self._count = 0  # of objects

    def feed(self, text: str) -> Iterator[str | Problem]:
        """Yield the objects that end in the next part of the file."""
        first = not self._text and not self._count
        self._text = self._text[self._start :] + (text.removeprefix("\ufeff") if first else text)
        self._place, self._start = self._place - self._start, 0
        while True:
            if not self._depth and (fault := self._begin()):
                yield fault
                return
            found = self._finish() if self._depth else None
            if found is None:
                break
            yield found
        if len(self._text) - self._start > _MAX_OBJECT:
            yield Problem(self._count + 1, f"is longer than {_MAX_OBJECT} characters; expected one text", last=True)

    def unfinished(self) -> Problem | None:
        """Return a problem if the file ends inside an object."""
        if not self._depth:
            return None
        return Problem(self._count + 1, "is cut short: the file ends inside it; get the file again", last=True)

    def _begin(self) -> Problem | None:
        """Skip to the next object; a problem if something else comes first."""
        between = _BETWEEN.match(self._text, self._place)
        assert between is not None
        self._start = self._place = between.end()
        if self._text[self._start : self._start + 1] == "{":
            self._depth, self._place = 1, self._start + 1
        elif rest := self._text[self._start :]:
            what = f"begins with {shorten(rest[:20])}; expected a list of objects"
            return Problem(self._count + 1, what, given=rest, last=True)
        return None

    def _finish(self) -> str | None:
        """Return the object if its end is there."""
        while self._leave_string() and (mark := _MARKS.search(self._text, self._place)) is not None:
            self._place = mark.end()
            if mark.group() == '"':
                self._in_string = True
                continue
            self._depth += 1 if mark.group() == "{" else -1
            if not self._depth:
                self._count += 1
                return self._text[self._start : self._place]
        if not self._in_string:
            self._place = len(self._text)
        return None

    def _leave_string(self) -> bool:
        """Go to the end of a string; False if it goes on in the next part."""
        if self._in_string:
            inside = _IN_STRING.match(self._text, self._place)
            assert inside is not None
            self._place = inside.end()
            if self._text[self._place : self._place + 1] != '"':
                return False
            self._place += 1
            self._in_string = False
        return True
