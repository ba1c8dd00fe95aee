"""Cases written by hand, most of them large: each is tried in a process of its own, and must be refused in time and memory.

A case is a target and a function that writes its file or folder. What is refused must say so in one line; what no bound of ours
concerns, such as a line of the right length, is accepted.
"""

from __future__ import annotations

import bz2
import json
import os
import resource
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzzing.hostile_files import (
    MB,
    Make,
    of_bytes,
    of_encoder,
    of_gzip,
    of_line,
    of_parquet,
    of_tokenizer,
    of_zip,
    safetensors,
    tensor,
)
from pssa.data.evidence_file import read_evidence
from pssa.data.io import read
from pssa.data.opinion_words import read_opinion_words
from pssa.data.vectors import load_matrix, read_vectors
from pssa.data.vocabulary import Vocabulary
from pssa.models import Pretrained
from pssa.runs.directory import read_json, read_tensors
from pssa.runs.settings import Config

__all__ = ["HOSTILE", "try_hostile"]

_MEMORY = 1 << 30  # each, beyond what the process has


@dataclass(frozen=True)
class Hostile:
    """One case: `make` writes it at a path, `use` reads it."""

    name: str
    make: Make
    use: Callable[[Path], Any]


def _vectors(path: Path) -> Any:
    return read_vectors(path, {"menu"})


def _open(path: Path) -> Any:
    return Pretrained.open(str(path)).body(None, 0.1)


_DEEP = b"[" * 100_000
_BOMB = b'<!DOCTYPE s [<!ENTITY a "ha">' + b"".join(
    f'<!ENTITY a{n} "{"&a{};".format(n - 1 if n else "") * 10}">'.encode() for n in range(20)
)
_THREE = b"$T$ " * 300_000 + b"\n" + b"a" * 1_000_000 + b"\n1\n"
_REPEATED = b"{" + b",".join(b'"k%d":1' % n for n in range(200_000)) + b',"k199999":1}\n'
_HEADER = {"schema": 1, "examples": 0, "model": "m", "saliency": "s", "epsilon": None, "iterations": 1}
_HEADER |= {"corpus_hash": "", "seed": 0, "method": "m", "rounds": [], "edits": []}


def _evidence(**changes: Any) -> Make:
    return of_bytes(json.dumps(_HEADER | changes).encode() + b"\n")


_AA = json.dumps({"text": "a " * 50_000, "aspect": "a " * 20_000 + "b", "label": "positive"}).encode()
HOSTILE = (
    Hostile("entities.xml", of_bytes(_BOMB + b"]><sentences>&a19;</sentences>"), read),
    Hostile("external.xml", of_bytes(b'<!DOCTYPE s [<!ENTITY x SYSTEM "file:///etc/passwd">]><s>&x;</s>'), read),
    Hostile("tag.xml", of_line(b"<sentences x='", b"a" * 1000, 100_000), read),
    Hostile("text.xml", of_line(b"<sentences><sentence><text>", b"a" * 1000, 100_000), read),
    Hostile("aspects.xml", of_line(b"<sentences><sentence>", b"<Opinion/>", 3_000_000), read),
    Hostile("deep.xml", of_line(b"", b"<a>", 3_000_000), read),
    Hostile("line.jsonl", of_line(b'{"text": "', b"a" * 1000, 100_000), read),
    Hostile("line.csv", of_line(b"text,aspect\n", b"a" * 1000, 100_000), read),
    Hostile("line.txt", of_line(b"a/p ", b"a" * 1000, 100_000), read),
    Hostile("line.raw", of_line(b"$T$ ", b"a" * 1000, 100_000), read),
    Hostile("quote.csv", of_line(b'text,aspect\n"', b"a\n" * 500, 100_000), read),
    Hostile("commas.csv", of_line(b"text,aspect\n", b"," * 1000, 4000), read),
    Hostile("nul.csv", of_bytes(b"text,aspect,label\n" + b"a" * 9000 + b"\0,a,positive\n"), read),
    Hostile("utf16.csv", of_bytes("text,aspect\n".encode("utf-16")), read),
    Hostile("deep.jsonl", of_bytes(_DEEP), read),
    Hostile("search.jsonl", of_bytes(_AA), read),
    Hostile("places.raw", of_bytes(_THREE), read),
    Hostile("bomb.jsonl.gz", of_gzip(b"", b"\n" * MB, 300), read),
    Hostile("line.jsonl.gz", of_gzip(b'{"text": "', b"a" * MB, 300), read),
    Hostile("bomb.parquet", of_parquet("bomb"), read),
    Hostile("numbers.parquet", of_parquet("numbers"), read),
    Hostile("dates.parquet", of_parquet("dates"), read),
    Hostile("nested.parquet", of_parquet("nested"), read),
    Hostile("bomb.zip", of_zip("v.txt", zipfile.ZIP_DEFLATED, b"\n" * MB, 300), _vectors),
    Hostile("bzip2.zip", of_zip("v.txt", zipfile.ZIP_BZIP2, b"\n" * MB, 300), _vectors),
    Hostile("lzma.zip", of_zip("v.txt", zipfile.ZIP_LZMA, b"\n" * MB, 50), _vectors),
    Hostile("wide.zip", of_zip("v.txt", zipfile.ZIP_DEFLATED, b"w" + b" 0" * 500_000 + b"\n", 100), _vectors),
    Hostile("nan.txt", of_bytes(b"menu nan 1 2\n"), _vectors),
    Hostile("inf.txt", of_bytes(b"menu 1 inf 2\n"), _vectors),
    Hostile("huge.txt", of_bytes(b"menu 1 1e39 2\n"), _vectors),
    Hostile("digits.txt", of_bytes(b"menu 1 2\nmenu " + b"1" * 900_000 + b"x 1 2\nend\n"), _vectors),
    Hostile("digits1.txt", of_bytes(b"menu " + b"1" * 900_000 + b"x\n"), _vectors),
    Hostile("bzip2.txt", of_bytes(bz2.compress(b"menu 1 2\n")), _vectors),
    Hostile("repeated.jsonl", of_bytes(_REPEATED), read_evidence),
    Hostile("deep-evidence.jsonl", of_bytes(_DEEP), read_evidence),
    Hostile("later.jsonl", _evidence(schema=2), read_evidence),
    Hostile("iterations.jsonl", _evidence(iterations=10**15), read_evidence),
    Hostile("nan.jsonl", _evidence(epsilon=float("nan")), read_evidence),
    Hostile("line-evidence.jsonl", of_line(b'{"schema": "', b"a" * 1000, 100_000), read_evidence),
    Hostile(
        "line.tsv",
        of_line(b"s_id\tsentence\ttarget_tags\topinion_words_tags\n", b"a" * 1000, 100_000),
        read_opinion_words,
    ),
    Hostile("deep-vocabulary.json", of_bytes(_DEEP), Vocabulary.load),
    Hostile("large-vocabulary.json", of_line(b"[", b"0," * 1000, 300_000), Vocabulary.load),
    Hostile("deep.toml", of_bytes(b"a = " + _DEEP), Config.from_toml),
    Hostile("digits.toml", of_bytes(b"seed = " + b"9" * 100_000), Config.from_toml),
    Hostile("large.toml", of_line(b"# ", b"a" * 1000, 10_000), Config.from_toml),
    Hostile("types.toml", of_bytes(b"seed = [1]\n[data]\ntrain = 1\n"), Config.from_toml),
    Hostile("deep-model.json", of_bytes(_DEEP), read_json),
    Hostile("length.safetensors", of_bytes(safetensors({"embedding": tensor()}, said=2**63)), load_matrix),
    Hostile("length1.safetensors", of_bytes(safetensors({"embedding": tensor()}, said=100 * MB)), load_matrix),
    Hostile("offsets.safetensors", of_bytes(safetensors({"embedding": tensor(offsets=(0, 2**40))})), load_matrix),
    Hostile(
        "overlap.safetensors", of_bytes(safetensors({"a": tensor(), "b": tensor(offsets=(8, 24))}, 24)), read_tensors
    ),
    Hostile("dtype.safetensors", of_bytes(safetensors({"embedding": tensor("F128")}, 16)), load_matrix),
    Hostile("shape.safetensors", of_bytes(safetensors({"embedding": tensor(shape=(2**32, 2**32))}, 16)), load_matrix),
    Hostile("float8.safetensors", of_bytes(safetensors({"embedding": tensor("F8_E4M3", (4, 4))}, 16)), load_matrix),
    Hostile("deep.safetensors", of_bytes(safetensors(_DEEP)), load_matrix),
    Hostile("width", of_encoder(hidden_size=10**9), _open),
    Hostile("width1", of_encoder(hidden_size=50_000, intermediate_size=50_000), _open),
    Hostile("layers", of_encoder(num_hidden_layers=10**9), _open),
    Hostile("inner", of_encoder(intermediate_size=10**9), _open),
    Hostile("entries", of_encoder(vocab_size=10**12), _open),
    Hostile("positions", of_encoder(max_position_embeddings=10**7), _open),
    Hostile("garbage", of_tokenizer("garbage"), _open),
    Hostile("deep-tokenizer", of_tokenizer("[" * 100_000), _open),
    Hostile("numbers", of_tokenizer('{"model": {"type": "WordLevel", "vocab": {"a": 4294967295}}}'), _open),
)


def try_hostile(folder: Path, seconds: float) -> dict[str, Any]:
    """Try them all, each for so long at most; what came of it, in the shape of the other engines."""
    folder.mkdir(parents=True)
    failures, peak = [], 0
    for case in HOSTILE:
        path = folder / case.name
        case.make(path)
        found = _try(case, path, seconds)
        peak = max(peak, found["peak_mb"])
        if found["what"]:
            failures.append({"kind": "hostile", "what": found["what"], "place": case.name, "file": "", "times": 1})
        if path.is_file():
            path.unlink()
    count = len(HOSTILE)
    return {"cases": count, "accepted": 0, "refused": count - len(failures), "failures": failures, "peak_mb": peak}


def _try(case: Hostile, path: Path, seconds: float) -> dict[str, Any]:
    """In a child; `what` is empty where the case was refused as it should be."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        said = _said(case, path, seconds)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        os.write(writing, json.dumps({"what": said, "peak_mb": peak}).encode()[:4000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        content = pipe.read()
    _, status = os.waitpid(child, 0)
    return dict(json.loads(content)) if content else {"what": f"the process ended with {status}", "peak_mb": 0}


def _said(case: Hostile, path: Path, seconds: float) -> str:
    from fuzzing.judge import Judge, limit_memory

    limit_memory(_MEMORY)
    judge = Judge(case.name, lambda content: case.use(path) and None, path.parent / "kept", seconds)
    began = time.monotonic()
    judge(b"")
    if judge.tally.failures:
        return str(next(iter(judge.tally.failures.values()))["what"])[:300]
    return "" if judge.tally.refused else f"accepted, after {time.monotonic() - began:.1f} seconds"
