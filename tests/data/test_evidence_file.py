"""The evidence file: the same bytes again, and nothing odd comes in."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pssa.data import evidence_file
from pssa.data.evidence import KINDS, Evidence, Finding, Header, RoundReport
from pssa.data.evidence_file import read_evidence, write_evidence
from pssa.data.example import Corpus, Example
from pssa.errors import InputError

_CORPUS = Corpus(
    (
        Example.from_text("Huge menu but slow", (5, 9), label="positive", id="1"),
        Example.from_text("très bon café", (9, 13), label="positive", id="2"),
    )
)
_HEADER = Header(
    "memnet", "gradient", 3.0, 5, _CORPUS.hash(), 0, "pg-as", (RoundReport(1, 0.75, 1.25, 0.5, 1, 1),), ("flip 'x'",)
)
_FINDINGS = (
    Finding(0, "active", 1, 1.25, 0.5, "positive", "positive"),
    Finding(2, "misleading", 2, 0.1, 1.0, "n", "p"),
)
_EVIDENCE = Evidence.from_findings(_HEADER, _CORPUS, [_FINDINGS, ()])
_FIRST = (
    '{"id":"1","words":["Huge","menu","but","slow"],"spans":[[0,4],[5,9],[10,13],[14,18]],"aspect":[1,2],'
    '"label":"positive","findings":[{"word":0,"text":"Huge","span":[0,4],"kind":"active","iteration":1,'
    '"entropy":1.25,"score":0.5,"predicted":"positive","gold":"positive","expected":null},'
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "evidence.jsonl"
    write_evidence(_EVIDENCE, path)
    return path


def _change(path: Path, line: int, change: Callable[[dict[str, Any]], object]) -> None:
    """Edit one line as an object; lines count from 1."""
    lines = path.read_text("utf-8").splitlines()
    fields = json.loads(lines[line - 1])
    change(fields)
    lines[line - 1] = json.dumps(fields)
    path.write_text("\n".join(lines) + "\n", "utf-8")


def test_a_file_has_a_header_and_a_line_for_each_example(path: Path) -> None:
    header, first, second = path.read_text("utf-8").splitlines()
    assert header.startswith('{"schema":1,"examples":2,"model":"memnet","saliency":"gradient","epsilon":3.0,')
    assert first.startswith(_FIRST)
    assert second == (
        '{"id":"2","words":["très","bon","café"],"spans":[[0,4],[5,8],[9,13]],"aspect":[2,3],'
        '"label":"positive","findings":[]}'
    )


@pytest.mark.parametrize(
    "odd", [{"entropy": 1, "expected": 1}, {"score": np.float64(0.3)}, {"word": np.int64(0), "score": np.float32(0.3)}]
)
def test_whole_numbers_and_scalars_of_arrays_come_back_as_the_same_bytes(path: Path, odd: dict[str, Any]) -> None:
    finding = replace(_FINDINGS[0], **odd)
    write_evidence(Evidence.from_findings(replace(_HEADER, epsilon=3), _CORPUS, [[finding], []]), path)
    written = path.read_bytes()
    write_evidence(read_evidence(path), path)
    assert path.read_bytes() == written


def test_findings_can_be_removed_and_flipped_by_hand(path: Path) -> None:
    def edit(fields: dict[str, Any]) -> None:
        del fields["findings"][0]
        fields["findings"][0]["kind"] = "active"

    _change(path, 2, edit)
    assert read_evidence(path).examples[0].findings == (replace(_FINDINGS[1], kind="active"),)


def test_numbers_may_be_whole_and_the_last_line_end_may_be_missing(path: Path) -> None:
    _change(path, 2, lambda fields: fields["findings"][0].update(entropy=1))
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert read_evidence(path).examples[0].findings[0].entropy == 1.0


@pytest.mark.parametrize(
    ("line", "change", "said"),
    [
        (1, lambda f: f.pop("seed"), "line 1: the line has no `seed`"),
        (1, lambda f: f.update(time=3), "line 1: the line has the unknown key 'time'"),
        (1, lambda f: f.update(epsilon="3"), "line 1: `epsilon` is '3'"),
        (1, lambda f: f.pop("schema"), "line 1: is not the header of an evidence file"),
        (1, lambda f: f.update(schema=2), "line 1: has schema 2; this version reads schema 1 only; use the newer"),
        (1, lambda f: f.update(schema=0), "line 1: has schema 0; this version reads schema 1 only; mine again"),
        (1, lambda f: f.update(schema=True), "line 1: `schema` is True; expected a whole number"),
        (1, lambda f: f.update(iterations=10**15), "line 1: `iterations` is 1000000000000000; expected 0 to 10000"),
        (1, lambda f: f.update(model="x" * 3000, seed="y" * 3000), "line 1: `seed` is 'yyy"),
        (1, lambda f: f["rounds"][0].pop("accuracy"), r"line 1: `rounds\[0\]` has no `accuracy`"),
        (1, lambda f: f.update(iterations=1), "line 2: word 2 has iteration 2; expected at most 1"),
        (2, lambda f: f["findings"][1].update(score="high"), r"line 2: `findings\[1\].score` is 'high'"),
        (2, lambda f: f["findings"][1].update(score=10**400), "`findings.*expected a finite number"),
        (2, lambda f: f["findings"][0].update(text="huge"), r"line 2: word 0 is given as 'huge' at \(0, 4\), but is"),
        (2, lambda f: f["findings"][0].update(span=[0, 3]), "line 2: word 0 is given as 'Huge'"),
        (2, lambda f: f["findings"][0].update(word=9), "line 2: word 9 is not in example '1'"),
        (2, lambda f: f["findings"][0].update(word=1, text="menu", span=[5, 9]), "line 2: .* is in the aspect"),
        (2, lambda f: f["findings"].append(f["findings"][0]), "line 2: word 0, 'Huge', is found twice"),
        (2, lambda f: f["findings"][0].update(kind="good"), "line 2: `kind` is 'good'; expected active or misleading"),
        (2, lambda f: f["findings"][0].update(iteration=0), "line 2: `iteration` is 0"),
        (2, lambda f: f["findings"][0].update(gold=None), r"line 2: `findings\[0\].gold` is None; expected text"),
        (3, lambda f: f.update(id="\ud800"), "line 3: `id` .* expected text without half surrogate pairs"),
        (3, lambda f: f.update(aspect=[1]), r"line 3: `aspect` is \[1\]; expected two offsets"),
        (3, lambda f: f["spans"].pop(), "line 3: `words` and `spans` of example '2' differ"),
        (3, lambda f: f.update(findings={}), "line 3: `findings` is {}; expected a list"),
    ],
)
def test_a_wrong_line_is_an_error_with_its_number(path: Path, line: int, change: Any, said: str) -> None:
    _change(path, line, change)
    with pytest.raises(InputError, match=f"evidence.jsonl, {said}" if said.startswith("line") else said) as caught:
        read_evidence(path)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b'"seed":0', b'"seed":0,"seed":1', "line 1: has the key 'seed' twice in one object"),
        (b'"entropy":1.25', b'"entropy":NaN', "line 2: contains NaN"),
        (b'"entropy":1.25', b'"entropy":1e999', "line 2: `findings.*finite number"),
        (b"caf\xc3\xa9", b"caf\xe9", "line 3: is not UTF-8 .byte 0xe9"),
        (b'"findings":[]}\n', b'"findings":[]}\n\n', "line 4: is one too many: the header says 2 examples"),
        (b'\n{"id":"2"', b'\n\n{"id":"2"', "line 3: is not valid JSON"),
        (b'{"id":"2"', b'[{"id":"2"', "line 3: is not valid JSON"),
    ],
)
def test_damaged_text_is_an_error_with_its_line(path: Path, old: bytes, new: bytes, said: str) -> None:
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))
    with pytest.raises(InputError, match=said):
        read_evidence(path)


def test_a_line_that_is_too_long_is_named_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[:2], b"x" * (len(lines[0]) + 1000), *lines[2:]]))
    monkeypatch.setattr(evidence_file, "_MAX_LINE", len(lines[0]) + 900)
    with pytest.raises(InputError, match=r"^[^:]*, line 3: is longer than \d+ characters"):
        read_evidence(path)


def test_a_file_that_was_cut_after_a_line_is_refused(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    with pytest.raises(InputError, match="2: is the last, but the header says 2"):
        read_evidence(path)


def test_a_run_in_the_place_of_its_evidence_is_refused_with_the_name_of_the_file(path: Path) -> None:
    file = path.rename(path.with_name("evidence.jsonl"))
    with pytest.raises(InputError, match=rf"is a directory; its evidence is {file}$"):
        read_evidence(file.parent)


def test_a_missing_or_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_evidence(tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(InputError, match="is empty"):
        read_evidence(tmp_path / "empty.jsonl")


def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(path: Path) -> None:
    before = path.read_bytes()
    first, second = _EVIDENCE.examples
    with pytest.raises(InputError, match="expected text without half surrogate"):
        write_evidence(replace(_EVIDENCE, examples=(first, replace(second, id="\ud800"))), path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_compressed_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="plain text"):
        write_evidence(_EVIDENCE, tmp_path / "evidence.jsonl.gz")


_NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
_TEXTS = st.text(max_size=5)
_WORDS = st.text(st.characters(exclude_categories=["Cs", "Zs", "Cc"]), min_size=1, max_size=4)


@st.composite
def _evidence(draw: st.DrawFn) -> Evidence:
    examples, findings = [], []
    for index in range(draw(st.integers(0, 3))):
        text = " ".join(draw(st.lists(_WORDS, min_size=1, max_size=5)))
        example = Example.from_text(text, (0, 1), label=draw(_TEXTS), id=str(index) + draw(_TEXTS))
        words = draw(st.sets(st.sampled_from(sorted(example.candidates)))) if example.candidates else ()
        examples.append(example)
        findings.append([draw(_finding(word)) for word in words])
    corpus = Corpus(tuple(examples))
    rounds = draw(
        st.lists(st.builds(RoundReport, st.integers(), _NUMBERS, _NUMBERS, _NUMBERS, st.integers(), st.integers()))
    )
    edits = draw(st.lists(_TEXTS, max_size=2))
    epsilon = draw(st.none() | _NUMBERS)
    header = Header(draw(_TEXTS), draw(_TEXTS), epsilon, 9, corpus.hash(), 1, draw(_TEXTS), tuple(rounds), tuple(edits))
    return Evidence.from_findings(header, corpus, findings)


def _finding(word: int) -> st.SearchStrategy[Finding]:
    kinds, iterations = st.sampled_from(KINDS), st.integers(1, 9)
    return st.builds(
        Finding, st.just(word), kinds, iterations, _NUMBERS, _NUMBERS, _TEXTS, _TEXTS, st.none() | _NUMBERS
    )


@pytest.mark.slow
@given(_evidence())
@settings(max_examples=40, deadline=None)
def test_any_evidence_comes_back_equal_and_as_the_same_bytes(evidence: Evidence) -> None:
    with TemporaryDirectory() as folder:
        first, second = Path(folder, "first.jsonl"), Path(folder, "second.jsonl")
        write_evidence(evidence, first)
        again = read_evidence(first)
        write_evidence(again, second)
        assert again == evidence
        assert first.read_bytes() == second.read_bytes()
