"""The evidence file: JSON Lines with a header and one line for each example, also for those without findings.

    {"schema":1,"examples":2,"model":"memnet","saliency":"gradient",...,"rounds":[...],"edits":[...]}
    {"id":"1","words":["Huge","menu"],"spans":[[0,4],[5,9]],"aspect":[1,2],"label":"positive","findings":[...]}

A finding repeats the text and span of its word for human readers. The same evidence always gives the same bytes: the file
has no time, host or path, keys have one order and floats their shortest form. People edit it by hand, so it is read strictly: any
deviation is an error with the number of its line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pssa.data.evidence import SCHEMA, Evidence, ExampleEvidence, Finding, Header, RoundReport
from pssa.data.files import atomic_path
from pssa.data.text_file import describe_damage, read_text
from pssa.data.validation import (
    integer,
    list_of,
    object_of,
    parse_fields,
    parse_object,
    parsers_of,
    shorten,
    span,
    text,
)
from pssa.errors import InputError, setting

_NAME = "evidence.jsonl"  # in a run
_MAX_LINE = 1 << 24  # bytes: a header names every edit
_HEADER = {
    **{"schema": integer, "examples": integer},
    **parsers_of(Header, rounds=list_of(object_of(parsers_of(RoundReport)))),
}
# The order of keys: the word, its text and span, the finding.
_FINDING = {"word": integer, "text": text, "span": span, **parsers_of(Finding)}
_EXAMPLE = parsers_of(ExampleEvidence, findings=list_of(object_of(_FINDING)))


def write_evidence(evidence: Evidence, path: str | Path) -> None:
    """Write an evidence file; if this fails, `path` stays as it was."""
    path = Path(path)
    if path.suffix == ".gz":
        raise InputError.at(path, None, "evidence is plain text; choose a name such as evidence.jsonl")
    header = {"schema": SCHEMA, "examples": len(evidence.examples), **asdict(evidence.header)}
    with atomic_path(path) as part, part.open("wb") as stream:
        stream.write(_line(parse_fields(header, "", _HEADER)))
        stream.writelines(_line(example_fields(example)) for example in evidence.examples)


def read_evidence(path: str | Path) -> Evidence:
    """Read an evidence file; an error names the first invalid line."""
    path = Path(path)
    if (path / _NAME).is_file():
        raise InputError.at(path, None, f"is a directory; its evidence is {path / _NAME}")
    contents = read_text(path, _MAX_LINE)
    line, content = next(contents)
    examples: list[ExampleEvidence] = []
    with _place(path, line):
        header, count = _parse_header(content)
    for line, content in contents:
        with _place(path, line):
            if line > count + 1:
                raise InputError(f"is one too many: the header says {count} examples; remove it")
            example = _parse_example(content)
            header.check(example)
            examples.append(example)
    if line <= count:
        what = f"is the last, but the header says {count} examples; restore the missing lines"
        raise InputError.at(path, line, what)
    return Evidence(header, tuple(examples))


def example_fields(example: ExampleEvidence) -> dict[str, Any]:
    """Return the content of an example's line."""
    findings = [
        {"text": example.words[finding.word], "span": example.spans[finding.word], **asdict(finding)}
        for finding in example.findings
    ]
    fields = {name: getattr(example, name) for name in _EXAMPLE}
    return parse_fields(fields | {"findings": findings}, "", _EXAMPLE)


def _line(fields: dict[str, Any]) -> bytes:
    return (json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


@contextmanager
def _place(path: Path, line: int) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise InputError.at(path, line, error.message) from None


def _parse_header(content: str) -> tuple[Header, int]:
    fields = _parse_line(content)
    if "schema" not in fields:
        mine = setting("pssa.mine", option="pssa evidence mine")
        raise InputError(f"is not the header of an evidence file: it has no `schema`; create evidence with {mine}")
    schema = integer(fields["schema"], "schema")
    if schema != SCHEMA:
        remedy = "use the newer version of pssa that wrote it" if schema > SCHEMA else "mine again"
        raise InputError(f"has schema {schema}; this version reads schema {SCHEMA} only; {remedy}")
    values = parse_fields(fields, "", _HEADER)
    del values["schema"]
    count = values.pop("examples")
    rounds = tuple(RoundReport(**report) for report in values.pop("rounds"))
    return Header(**values, rounds=rounds), count


def _parse_example(content: str) -> ExampleEvidence:
    values = parse_fields(_parse_line(content), "", _EXAMPLE)
    findings = values.pop("findings")
    example, found = ExampleEvidence(**values), []
    for fields in findings:
        given = fields.pop("text"), fields.pop("span")
        finding = Finding(**fields)
        if 0 <= finding.word < len(example.words):
            expected = example.words[finding.word], example.spans[finding.word]
            if given != expected:
                what = f"is given as {shorten(given[0])} at {given[1]}, but is {shorten(expected[0])} at {expected[1]}"
                raise InputError(f"word {finding.word} {what}; correct the index, or the text and the span")
        found.append(finding)
    return replace(example, findings=tuple(found))


def _parse_line(content: str) -> dict[str, Any]:
    fault = describe_damage(content)
    if fault:
        raise InputError(fault)
    return parse_object(content)
