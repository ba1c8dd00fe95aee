"""Cases grown by the grammar of a format: what is well formed to the library below us, and odd to us."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

import tomli_w
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

__all__ = ["json_document", "json_rows", "pieces_of", "request_body", "safetensors_file", "table", "toml_document"]

_WORDS = (
    "screen",
    "the",
    "positive",
    "conflict",
    "active",
    "NULL",
    "$T$",
    "screen/p",
    "nan",
    "\x00",
    "\x1b[31m",
    "\ud800",
)
_TEXTS = (
    st.sampled_from(_WORDS) | st.text(max_size=12) | st.sampled_from(["", " ", "x" * 3000, "😀", "İ", "\u2028", "\x85"])
)
_NUMBERS = (
    st.sampled_from(
        [0, 1, -1, 2**31, -(2**31), 2**63, 2**64, 10**30, 0.5, -0.0, 1e308, 1e-308, float("inf"), float("nan")]
    )
    | st.integers()
    | st.floats()
)
_LEAVES = st.none() | st.booleans() | _NUMBERS | _TEXTS
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4),
    max_leaves=8,
)
_NO_TOML = (type(None),)
_Path = tuple[str | int, ...]


def json_document(sound: Any) -> SearchStrategy[bytes]:
    """A JSON document with up to three values replaced, dropped or added."""
    return _edited(sound).map(_dumped)


@st.composite
def json_rows(draw: DrawFn, sound: list[Any]) -> bytes:
    """JSON Lines of which a few lines are edited."""
    rows = list(sound)
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.integers(0, len(rows) - 1))
        rows[place] = draw(_edited(rows[place]))
    return b"".join(_dumped(row) + b"\n" for row in rows)


@st.composite
def safetensors_file(draw: DrawFn, sound: bytes) -> bytes:
    """A safetensors file whose header lies: about tensors, offsets, types, shapes, or its own length."""
    (size,) = struct.unpack("<Q", sound[:8])
    header = _dumped(draw(_edited(json.loads(sound[8 : 8 + size]))))
    said = draw(st.just(len(header)) | st.sampled_from([0, 1, size, 2**31, 2**63, 2**64 - 1, len(header) + 8]))
    return struct.pack("<Q", said) + header + sound[8 + size :]


@st.composite
def toml_document(draw: DrawFn, sound: dict[str, Any]) -> bytes:
    """A TOML document with up to three values replaced, dropped or added."""
    edited = draw(_edited(sound))
    try:
        return tomli_w.dumps(_for_toml(edited)).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, AttributeError):
        return str(edited).encode("utf-8", "surrogatepass")


@st.composite
def table(draw: DrawFn, columns: tuple[str, ...]) -> bytes:
    """A CSV with these columns and others, quoted or not."""
    delimiter = draw(st.sampled_from([",", ";", "\t"]))
    names = draw(st.lists(st.sampled_from([*columns, "x", ""]), min_size=1, max_size=8) | st.just(list(columns)))
    cells = _TEXTS | st.integers(-2, 40).map(str) | st.sampled_from(['"', '""', '"a,b"', '"a\nb"', "0-3 4-10", "a|b"])
    rows = draw(st.lists(st.lists(cells, max_size=8), max_size=5))
    lines = [delimiter.join(row) for row in [names, *rows]]
    return draw(st.sampled_from(["\n", "\r\n", "\r"])).join(lines).encode("utf-8", "surrogatepass")


def pieces_of(*pieces: str) -> SearchStrategy[bytes]:
    """Pieces of a format in any order, with odd texts between them."""
    parts = st.sampled_from(pieces) | _TEXTS
    return st.lists(parts, max_size=24).map(lambda found: "".join(found).encode("utf-8", "surrogatepass"))


def request_body() -> SearchStrategy[bytes]:
    """A body for the service: by the schema, near it, or any JSON."""
    places = st.fixed_dictionaries({"from": _NUMBERS | st.integers(-1, 30), "to": _NUMBERS | st.integers(0, 30)})
    items = st.fixed_dictionaries({"text": _TEXTS, "aspects": st.lists(_TEXTS | places | _VALUES, max_size=3)})
    names = st.sampled_from(["first", "versus", "gradient", "attention", "leave_one_out", ""]) | _VALUES
    bodies = st.fixed_dictionaries({"items": st.lists(items, max_size=3)}, optional={"run": names, "saliency": names})
    return (bodies | _VALUES).map(_dumped)


@st.composite
def _edited(draw: DrawFn, sound: Any) -> Any:
    value = json.loads(json.dumps(sound))
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(list(_paths(value))))
        value = _replaced(value, path, draw(_VALUES), draw(st.integers(0, 5)))
    return value


def _paths(value: Any, path: _Path = ()) -> Iterator[_Path]:
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from _paths(part, (*path, key))


def _replaced(value: Any, path: _Path, new: Any, how: int) -> Any:
    """The value with another at `path`; 0 drops what is there, 1 puts the new one beside it."""
    if not path:
        return new
    changed = dict(value) if isinstance(value, dict) else list(value)
    key: Any = path[0]
    if len(path) > 1:
        changed[key] = _replaced(changed[key], path[1:], new, how)
    elif how == 0:
        del changed[key]
    elif how == 1 and isinstance(changed, dict):
        changed[str(new)[:20]] = new
    else:
        changed[key] = new
    return changed


def _dumped(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _for_toml(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _for_toml(part) for key, part in value.items() if not isinstance(part, _NO_TOML)}
    return [_for_toml(part) for part in value if not isinstance(part, _NO_TOML)] if isinstance(value, list) else value
