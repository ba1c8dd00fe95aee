"""Targets that read files: every format, word vectors, evidence, opinion words, vocabularies and variants."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fuzzing.grammars import json_document, json_rows, pieces_of, table
from fuzzing.target import Attack, Target
from pssa.data import embedded
from pssa.data.check import check
from pssa.data.evidence import Evidence, Finding, Header, diff, flip, stats
from pssa.data.evidence_file import read_evidence, write_evidence
from pssa.data.example import Corpus
from pssa.data.fields import example_from_fields
from pssa.data.formats import FORMATS, hugging_face
from pssa.data.io import read, stream, write
from pssa.data.opinion_words import evidence_from_opinion_words, read_opinion_words
from pssa.data.vectors import load_matrix, read_vectors, save_matrix
from pssa.data.vocabulary import Vocabulary
from pssa.stress import make_variants, read_variants, write_variants

__all__ = ["CORPUS", "EVIDENCE", "read_in_every_way", "reader_targets", "using"]

CORPUS = embedded.load("train").select(range(5))
EVIDENCE = Evidence.from_findings(
    Header("memnet", "gradient", 3.0, 5, CORPUS.hash(), 0, "pg-as", edits=("before",)),
    CORPUS,
    [[Finding(min(example.candidates), "active", 1, 1.25, 0.75, "positive", str(example.label))] for example in CORPUS],
)
_NAMES = {
    "csv": "case.csv",
    "json_lines": "case.jsonl",
    "label_studio": "case.json",
    "parquet": "case.parquet",
    "semeval_xml": "case.xml",
    "tagged": "case.txt",
    "three_line": "case.raw",
}
_COLUMNS = ("id", "text", "aspect", "from", "to", "ordinal", "label", "words", "tags")
_XML = ("<sentences>", "</sentences>", '<sentence id="1">', "</sentence>", "<text>", "</text>", "the screen is bright",
    "<aspectTerms>", "</aspectTerms>", '<aspectTerm term="screen" polarity="positive" from="4" to="10"/>',
    '<Opinion target="NULL"/>', '<Opinion target="screen" polarity="neutral"/>', "&amp;", "&a;", "<!-- x -->", "<![CDATA[x]]>",
    '<!DOCTYPE s [<!ENTITY a "ha">]>', '<?xml version="1.0" encoding="utf-7"?>', '<?xml version="1.0" encoding="rot13"?>',
    '<?xml version="1.0" encoding="cp1252"?>', '<?xml version="1.0"?>', "<a", " x='1'", "\n")  # fmt: skip
_TAGGED = ("the ", "screen/p ", "life/n ", "menu/0 ", "/p ", "is ", "y/n ", "\n", "\u00a0", "\r\n")
_THREE = ("the $T$ is great\n", "$T$", "battery life\n", "1\n", "-1\n", "0\n", "positive\n", "\n", " ")
_OPINIONS = ("s_id\tsentence\ttarget_tags\topinion_words_tags\n", "1\t", "the screen is bright\t", "\n", "\t",
    "the\\O screen\\B is\\O bright\\O\t", "the\\O screen\\O is\\O bright\\B", "screen\\B ", "\\B")  # fmt: skip
_TO_VARY = ('{"text": "', '", "aspect": "food", "label": "positive"}\n', '", "aspect": "food", "label": "negative"}\n',
    "The food", " is", " was n't", " isn't", " not", " a", " very", " good", " bad", " great", " but", " and", ".", " ' t",
    " the service was slow", " I like", " don't", " never", " no problems", " worth", " recommend", " \u00df", " \U0001f600",
    "\t",
    " at all", " food", " too", " as well")  # fmt: skip
_VECTORS = (
    b"".join(f"word{number} 0.25 -1.5e-3 {number}\n".encode() for number in range(8)) + b". . . 1 2 3\nmenu 4 5 6\n"
)


def reader_targets(folder: Path) -> dict[str, Target]:
    """By name; `folder` is for files that only a library can write."""
    sound = {name: FORMATS.module(name).encode(CORPUS) for name in _NAMES}
    rows = [json.loads(line) for line in sound["json_lines"].splitlines()]
    grown = {
        "csv": table(_COLUMNS),
        "json_lines": json_rows(rows),
        "label_studio": json_document(json.loads(sound["label_studio"])),
        "semeval_xml": pieces_of(*_XML),
        "tagged": pieces_of(*_TAGGED),
        "three_line": pieces_of(*_THREE),
    }
    found = {
        name: Target(
            _reading(_NAMES[name], name), (content,), grown=grown.get(name), share=0.5 if name == "parquet" else 1.0
        )
        for name, content in sound.items()
    }
    texts = tuple(content for name, content in sound.items() if name != "parquet")
    found["recognised"] = Target(
        _reading("case", None), tuple(sound.values()), grown=pieces_of(*_XML, *_TAGGED, *_THREE)
    )
    found["packed"] = Target(_reading("case.jsonl.gz", None), tuple(gzip.compress(text, mtime=0) for text in texts))
    return found | _other_targets(folder) | _dataset_targets(folder)


def _other_targets(folder: Path) -> dict[str, Target]:
    write_evidence(EVIDENCE, folder / "evidence.jsonl")
    evidence = (folder / "evidence.jsonl").read_bytes()
    Vocabulary.build(["the", "the", "screen"], ["menu"]).save(folder / "vocabulary.json")
    vocabulary = (folder / "vocabulary.json").read_bytes()
    save_matrix(folder / "matrix.safetensors", read_vectors(_written(folder / "v.txt", _VECTORS), {"menu"}).matrix)
    write_variants(make_variants(CORPUS), folder / "variants.jsonl")
    variants = (folder / "variants.jsonl").read_bytes()
    rows, lines = ([json.loads(line) for line in content.splitlines()] for content in (evidence, variants))
    opinions = "".join((*_OPINIONS[:3], *_OPINIONS[5:7])).encode()
    words = tuple(word.encode() for word in _OPINIONS)
    return {
        "evidence": Target(using("case.jsonl", _read_evidence), (evidence,), grown=json_rows(rows)),
        "opinion_words": Target(using("case.tsv", _read_opinions), (opinions,), words, pieces_of(*_OPINIONS)),
        "variants": Target(using("case.jsonl", _read_variants), (variants,), grown=json_rows(lines)),
        "texts_to_vary": Target(
            using("case.jsonl", _vary), (FORMATS.module("json_lines").encode(CORPUS),), grown=pieces_of(*_TO_VARY)
        ),
        "vectors": Target(
            using("case.txt", _read_vectors),
            (_VECTORS, b"10 3\n" + _VECTORS),
            grown=pieces_of("a ", "1 ", "2.5 ", "\n", "nan", "1e9", "-"),
        ),
        "vectors_gz": Target(using("case.gz", _read_vectors), (gzip.compress(_VECTORS, mtime=0),)),
        "vectors_zip": Target(using("case.zip", _read_vectors), (_zipped(_VECTORS),)),
        "vocabulary": Target(
            using("case.json", Vocabulary.load), (vocabulary,), grown=json_document(json.loads(vocabulary))
        ),
        "matrix": Target(using("case.safetensors", load_matrix), ((folder / "matrix.safetensors").read_bytes(),)),
    }


def _dataset_targets(folder: Path) -> dict[str, Target]:
    hugging_face.save(CORPUS, folder / "dataset")
    files = {path.name: path.read_bytes() for path in sorted((folder / "dataset").iterdir())}
    return {
        f"dataset/{name}": Target(_replacing(files, name), (content,), grown=_document(name, content), share=0.03)
        for name, content in files.items()
    }


def _document(name: str, content: bytes) -> Any:
    return json_document(json.loads(content)) if name.endswith(".json") else None


def _reading(name: str, format: str | None) -> Callable[[Path], Attack]:
    return using(name, lambda path: read_in_every_way(path, format))


def read_in_every_way(path: Path, format: str | None) -> None:
    """Check, stream and read a file; what was read survives a round trip."""
    check(path, format=format)
    for row in stream(path, format=format):
        example_from_fields(row.fields, ordinal_required=False)
    corpus = read(path, format=format)
    again = path.with_name("again.jsonl")
    write(corpus, again)
    if tuple(read(again)) != corpus.examples:
        raise AssertionError("what was read is not what is read back")


def using(name: str, use: Callable[[Path], Any]) -> Callable[[Path], Attack]:
    """Return an attack that writes the case to a file of this name and uses it."""

    def prepare(folder: Path) -> Attack:
        path = folder / name

        def attack(content: bytes) -> None:
            path.write_bytes(content)
            use(path)

        return attack

    return prepare


def _replacing(files: Mapping[str, bytes], name: str) -> Callable[[Path], Attack]:
    """An attack on one file of a saved dataset."""

    def prepare(folder: Path) -> Attack:
        dataset = folder / "dataset"
        dataset.mkdir()
        for other, content in files.items():
            (dataset / other).write_bytes(content)

        def attack(content: bytes) -> None:
            (dataset / name).unlink()  # the library may still have the last one mapped into memory
            (dataset / name).write_bytes(content)
            read(dataset)

        return attack

    return prepare


def _read_evidence(path: Path) -> None:
    """Read it, and do what the command can do with it."""
    evidence = read_evidence(path)
    stats(evidence)
    diff(evidence, flip(evidence, "the"))


def _read_opinions(path: Path) -> None:
    evidence_from_opinion_words(read_opinion_words(path), _labelled())


def _read_variants(path: Path) -> None:
    """Read variants, and write what was read."""
    found = read_variants(path, CORPUS)
    write_variants(found, path.with_name("again.jsonl"))
    if read_variants(path.with_name("again.jsonl"), CORPUS) != found:
        raise AssertionError("what was read is not what is read back")


def _vary(path: Path) -> None:
    """Make variants of any instances; each keeps its aspect and survives a round trip."""
    corpus = read(path)
    found = make_variants(corpus)
    if any(each.example.aspect_text.lower() != corpus[each.index].aspect_text.lower() for each in found.variants):
        raise AssertionError("a variant lost its aspect")
    write_variants(found, path.with_name("variants.jsonl"))
    if read_variants(path.with_name("variants.jsonl"), corpus) != found:
        raise AssertionError("what was written is not what is read")


def _labelled() -> Corpus:
    return replace(CORPUS, examples=CORPUS.examples[:2])


def _read_vectors(path: Path) -> None:
    read_vectors(path, {"menu", "Screen", "word3"}, extra_rows=4)


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _zipped(content: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("glove.txt"), content)
    return target.getvalue()
