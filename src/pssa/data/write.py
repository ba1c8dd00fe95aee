"""Writing instances in any format; a file appears complete or not at all.

Words, aspects and labels survive in every format. The tagged and the three-line format hold words with one space
between them, and so lose the white space of the text and the ids; XML gives aspects new ids and has no tags.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

from pssa.data.example import Example
from pssa.data.files import write_atomically
from pssa.data.formats import ENCODERS, format_named, hugging_face
from pssa.data.formats._recognise import format_for_writing
from pssa.data.validation import shorten
from pssa.errors import InputError

__all__ = ["write"]


def write(examples: Sequence[Example], path: str | Path, *, format: str | None = None) -> None:
    """Write a corpus, or any examples, over what is at `path`; `.gz` behind a text format's name compresses it.

    :param format: the format's name; taken from the extension if not given.
    :raises InputError: if the format cannot express one of the examples; nothing is written then.
    """
    for example in examples:
        if not isinstance(example, Example):
            raise InputError(
                f"one of the examples is {shorten(example)}; expected Examples, which from_records makes of dicts"
            )
    target = Path(path)
    name = format_named(format) if format else format_for_writing(target)
    if name == "hugging_face":
        target = Path(str(path).removeprefix(hugging_face.PREFIX))
    if not target.parent.is_dir():
        raise InputError.at(target, None, f"the directory {target.parent} does not exist; make it first")
    if name == "hugging_face":
        hugging_face.save(examples, target)
        return
    if target.is_dir():
        raise InputError.at(target, None, "is a directory; expected the name of a file")
    try:
        content = ENCODERS[name].encode(examples)
    except UnicodeEncodeError as error:
        raise InputError.at(target, None, f"a text holds what is no character ({error.reason})") from error
    # Without the time, so that equal corpora give equal files.
    write_atomically(target, gzip.compress(content, mtime=0) if target.suffix == ".gz" else content)
