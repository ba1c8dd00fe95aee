"""Cases made from sound files by a seeded generator: bytes turned, cut, doubled, spliced, and odd words put in."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

__all__ = ["Mutator"]

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_ODD_NUMBERS = (
    b"0", b"-1", b"1", b"2147483648", b"-2147483649", b"18446744073709551616", b"1e309", b"-1e309", b"NaN",
    b"Infinity", b"nan", b"inf", b"0x10", b"1_0", b"0.5", b"9" * 30, b"9" * 5000, b"1e-400", b"true", b"null", b'"1"',
)  # fmt: skip
_ODD_BYTES = (
    b"\x00", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80",
    b"\r", b"\n", b"\r\n", b"\t", b"\x1b[31m", b"\x85", b"\xe2\x80\xa8", b"\xe2\x80\x8f", b"\xf0\x9f\x98\x80", b"\\ud800",
    b'"', b"'", b",", b";", b"[", b"]", b"{", b"}", b"<", b">", b"&", b"$T$", b"/p", b"|", b"=", b"#", b" ", b"A" * 300,
    b"[" * 2000, b'{"a":' * 2000, b"(" * 100, b"\\", b"%s", b"{0}", b"../", b"\x1f\x8b", b"PK\x03\x04", b"PAR1",
)  # fmt: skip
_Change = Callable[[random.Random, bytes], bytes]


class Mutator:
    """Draws cases from sound files and the words of their format."""

    def __init__(self, seeds: Sequence[bytes], words: Sequence[bytes], generator: random.Random) -> None:
        self._seeds = seeds
        self._words = (*words, *_ODD_BYTES)
        self._random = generator
        self._changes: tuple[_Change, ...] = (_turn, _cut, _double, _shorten, _renumber, _swap, self._put, self._splice)

    def draw(self) -> bytes:
        """The next case."""
        content = self._random.choice(self._seeds)
        for _ in range(self._random.choice((1, 1, 1, 2, 2, 3, 5, 9))):
            content = self._random.choice(self._changes)(self._random, content)
        return content

    def _put(self, generator: random.Random, content: bytes) -> bytes:
        place = generator.randint(0, len(content))
        return content[:place] + generator.choice(self._words) + content[place + generator.choice((0, 0, 1, 4)) :]

    def _splice(self, generator: random.Random, content: bytes) -> bytes:
        other = generator.choice(self._seeds)
        return content[: generator.randint(0, len(content))] + other[generator.randint(0, len(other)) :]


def _turn(generator: random.Random, content: bytes) -> bytes:
    if not content:
        return b"\x00"
    place = generator.randrange(len(content))
    byte = generator.choice((content[place] ^ (1 << generator.randrange(8)), generator.randrange(256)))
    return content[:place] + bytes([byte]) + content[place + 1 :]


def _cut(generator: random.Random, content: bytes) -> bytes:
    start, end = _range(generator, content)
    return content[:start] + content[end:]


def _double(generator: random.Random, content: bytes) -> bytes:
    start, end = _range(generator, content)
    return content[:end] + content[start:end] * generator.choice((1, 1, 2, 20)) + content[end:]


def _shorten(generator: random.Random, content: bytes) -> bytes:
    return content[: generator.randint(0, len(content))]


def _renumber(generator: random.Random, content: bytes) -> bytes:
    found = list(_NUMBER.finditer(content))
    if not found:
        return content
    start, end = generator.choice(found).span()
    return content[:start] + generator.choice(_ODD_NUMBERS) + content[end:]


def _swap(generator: random.Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    first, second = generator.randrange(len(lines)), generator.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return b"\n".join(lines)


def _range(generator: random.Random, content: bytes) -> tuple[int, int]:
    start = generator.randint(0, len(content))
    return start, min(len(content), start + generator.choice((1, 2, 4, 16, 64, 1000)))
