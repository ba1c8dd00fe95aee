"""The file of variants, for people to check and correct: JSON Lines, a header and one line for each variant.

    {"schema":1,"corpus_hash":"6c1f...","instances":639}
    {"instance":1,"kind":"typos","text":"A gerat video .","aspect":"video","from":8,"to":13,"label":"positive"}

`instance` counts the instances of the data from 1. Lines may be changed, removed and added. After a change of the text, `from`
and `to` may stay as they are if the aspect occurs once. Any other deviation is an error with the number of its line.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pssa.data.example import Corpus, Example
from pssa.data.fields import find_occurrences
from pssa.data.files import write_atomically
from pssa.data.labels import LabelRule
from pssa.data.text_file import MAX_TEXT, describe_damage, read_text
from pssa.data.tokenize import Span
from pssa.data.validation import Parser, integer, parse_fields, parse_object, shorten, text
from pssa.errors import InputError, setting
from pssa.stress.draft import Draft
from pssa.stress.variants import KINDS, Variant, VariantSet

SCHEMA = 1
_HEADER: dict[str, Parser] = {"schema": integer, "corpus_hash": text, "instances": integer}
_VARIANT: dict[str, Parser] = {
    **{"instance": integer, "kind": text, "text": text, "aspect": text},
    **{"from": integer, "to": integer, "label": text},
}


def write_variants(variants: VariantSet, path: str | Path) -> None:
    """Write the file whole or not at all."""
    corpus = variants.corpus
    header = {"schema": SCHEMA, "corpus_hash": corpus.hash(), "instances": len(corpus)}
    lines: list[dict[str, Any]] = [header]
    for variant in variants.variants:
        example, (start, end) = variant.example, variant.example.aspect_chars
        place = {"text": example.text, "aspect": example.aspect_text, "from": start, "to": end}
        lines.append({"instance": variant.index + 1, "kind": variant.kind, **place, "label": example.label})
    write_atomically(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode())


def read_variants(path: str | Path, corpus: Corpus) -> VariantSet:
    """Read the variants of a corpus.

    :raises InputError: naming the file and the first invalid line.
    """
    path = Path(path)
    found: list[Variant] = []
    seen: set[tuple[int, str]] = set()
    for line, content in read_text(path):
        try:
            if fault := describe_damage(content):
                raise InputError(fault)
            fields = parse_object(content)
            if line == 1:
                _check_header(fields, corpus)
                continue
            variant = _variant(parse_fields(fields, "", _VARIANT), corpus)
            if (variant.index, variant.kind) in seen:
                raise InputError(f"is a second {variant.kind} of instance {variant.index + 1}; keep one of the two")
        except InputError as error:
            raise InputError.at(path, line, error.message) from None
        seen.add((variant.index, variant.kind))
        found.append(variant)
    return VariantSet(corpus, tuple(found))


def _check_header(fields: dict[str, Any], corpus: Corpus) -> None:
    if "schema" not in fields:
        raise InputError(f"is not the header of a file of variants: it has no `schema`; {_NEW_FILE}")
    values = parse_fields(fields, "", _HEADER)
    if values["schema"] != SCHEMA:
        raise InputError(f"has schema {values['schema']}; this version reads schema {SCHEMA} only; {_NEW_FILE}")
    if values["corpus_hash"] != corpus.hash():
        there = f"{values['instances']} instances, hash {shorten(values['corpus_hash'][:12])}"
        given = f"{len(corpus)} instances, hash {corpus.hash()[:12]!r}"
        raise InputError(
            f"the variants were made from other data ({there}) than the given ({given}); give that data, or {_NEW_FILE}"
        )


_NEW_FILE = f"name a new file with {setting('variants', option='--variants')}"


def _variant(values: dict[str, Any], corpus: Corpus) -> Variant:
    index = values["instance"] - 1
    if not 0 <= index < len(corpus):
        raise InputError(f"`instance` is {index + 1}; expected 1 to {len(corpus)}, the instances of the data")
    if values["kind"] not in KINDS:
        raise InputError(f"`kind` is {shorten(values['kind'])}; expected one of {', '.join(KINDS)}")
    if len(values["text"]) > MAX_TEXT:
        raise InputError(f"`text` has {len(values['text'])} characters; expected at most {MAX_TEXT}")
    original: Example = corpus[index]
    if values["aspect"].casefold() != original.aspect_text.casefold():
        expected = f"instance {index + 1} is about {shorten(original.aspect_text)}; keep the aspect"
        raise InputError(f"`aspect` is {shorten(values['aspect'])}, but {expected}")
    label = LabelRule.of(corpus.labels, "error").normalise(values["label"])
    draft = Draft(values["text"], _locate(values))
    return Variant(values["kind"], index, draft.as_example(original, f"{original.id}/{values['kind']}", label))


def _locate(values: dict[str, Any]) -> Span:
    """Return the offsets of the aspect: those given, or its only place where the text was changed."""
    aspect, start, end = values["aspect"], values["from"], values["to"]
    if 0 <= start < end and values["text"][start:end] == aspect:
        return start, end
    found = find_occurrences(values["text"], aspect)
    if len(found) > 1:
        where = f"is not at {start}-{end} and occurs {len(found)} times"
        raise InputError(f"aspect {shorten(aspect)} {where}; correct `from` and `to`")
    return found[0]
