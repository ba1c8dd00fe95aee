"""Scoring by ONNX Runtime."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.bulk.made_rows import sentences, write_rows

import pssa
from pssa.bulk import Job, LocalEngine, Scoring, predict
from pssa.bulk import onnx as onnx_module
from pssa.bulk.scorer import export, open_scorer
from pssa.data import embedded
from pssa.errors import InputError, MissingExtra
from pssa.runs import Answer

EXAMPLES = [replace(example, label=None) for example in embedded.load("test").select(range(60))]
CLOSE = 0.001


@pytest.fixture(scope="module")
def exported(run: Path) -> bytes:
    pytest.importorskip("onnxscript")
    return export(run, Scoring(runtime="onnx"))


@pytest.mark.slow
def test_answers_are_those_of_torch(run: Path, exported: bytes) -> None:
    found = open_scorer(run, Scoring(runtime="onnx", batch_size=7), exported).score(EXAMPLES)
    for ours, theirs in zip(found, pssa.load(run).answer(EXAMPLES), strict=True):
        assert isinstance(ours, Answer)
        assert (ours.label, ours.aspect, ours.start) == (theirs.label, theirs.aspect, theirs.start)
        assert ours.probabilities == pytest.approx(theirs.probabilities, abs=1e-5)


@pytest.mark.slow
def test_eight_bits_say_nearly_the_same(
    run: Path, tmp_path: Path, exported: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    scoring = Scoring(runtime="onnx", quantize="int8")
    eight = export(run, scoring)
    assert eight != exported
    found, expected = open_scorer(run, scoring, eight).score(EXAMPLES), pssa.load(run).answer(EXAMPLES)
    for label in pssa.load(run).labels:
        said = [answer.probabilities[label] for answer in expected]
        assert max(said) - min(said) > 4 * CLOSE, label  # else any model would say nearly the same
    for ours, theirs in zip(found, expected, strict=True):
        assert isinstance(ours, Answer)
        assert ours.probabilities == pytest.approx(theirs.probabilities, abs=CLOSE)
    monkeypatch.setattr("pssa.bulk.engines.export", lambda run, asked: eight if asked.quantize else b"")
    source = write_rows(tmp_path / "in.jsonl", sentences(30))
    job = Job(run, (str(source),), str(tmp_path / "out.csv"), scoring=scoring)
    assert predict(job, LocalEngine()).rows == 30


def test_without_the_runtime_the_extra_is_named(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtra, match=r"pssa\[onnx\]"):
        export(run, Scoring(runtime="onnx"))
    with pytest.raises(MissingExtra, match=r"pssa\[onnx\]"):
        onnx_module.session(b"")


def test_a_file_that_cannot_be_put_into_eight_bits_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    path = tmp_path / "model.onnx"
    path.write_bytes(b"no model")
    with pytest.raises(InputError, match=r"cannot be put into eight bits \(.*\); leave out .*--quantize"):
        onnx_module._quantized(path)
