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
_BETWEEN = re.compile(r"[\s,\[\]\ufeff]*")
_DECODER = json.JSONDecoder()


def read_objects(file: InputFile) -> Iterator[dict[str, Any] | Problem]:
    """Yield the objects of a file; a problem in place of one that is not text, and one at the end if the rest is not JSON.

    The line of a problem is the number of the object, counted from 1.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    text, start, number, is_whole = "", 0, 1, False
    with open_text(file) as stream:
        while True:
            start = _skip(text, start)
            if (begin := text[start : start + 1]) not in ("", "{"):
                what = f"begins with {shorten(text[start : start + 20])}; expected a list of objects"
                yield Problem(number, what, given=text[start:], last=True)
                return
            try:
                found, end = _DECODER.raw_decode(text, start)
            except (ValueError, RecursionError) as error:
                is_long = len(text) - start > _MAX_OBJECT
                if begin and (is_whole or is_long):
                    reason = f"it has more than {_MAX_OBJECT} characters" if is_long else format_error(error)
                    what = f"is not valid JSON, or cut short ({reason}); get the file again"
                    yield Problem(number, what, given=text[start:], last=True)
                if is_whole or is_long:
                    return
                # As much again as there is: each part of a long object is then looked at twice and not many times.
                part = stream.read(max(_CHUNK, len(text) - start))
                text, start, is_whole = text[start:] + decoder.decode(part), 0, not part
                continue
            damage = describe_damage(text[start:end])
            yield Problem(number, damage, given=text[start:end]) if damage else found
            start, number = end, number + 1


def _skip(text: str, start: int) -> int:
    """Return where the next object begins."""
    between = _BETWEEN.match(text, start)
    return between.end() if between else start
