"""Writing: any format to any other, and a file that is complete or absent."""

from __future__ import annotations

from pathlib import Path

import pytest

from pssa.data.example import Corpus, Example
from pssa.data.read import read
from pssa.data.tokenize import Span
from pssa.data.write import write
from pssa.errors import InputError

_FILES = ("a.xml", "a.csv", "a.jsonl", "a.parquet", "a.seg", "a.jsonl.gz", "hf:a")
_TAGGED = """the battery/p life/p is great , battery ok
the battery life/n is great , battery ok
a //0 b y/n -LRB- don't -RRB-
"""


def _essence(examples: Corpus) -> list[tuple[str, tuple[Span, ...], Span, str | None]]:
    return sorted((example.text, example.spans, example.aspect_chars, example.label) for example in examples)


def _under(folder: Path, name: str) -> str:
    return f"hf:{folder / name[3:]}" if name.startswith("hf:") else str(folder / name)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    path = tmp_path / "source.txt"
    path.write_text(_TAGGED)
    return read(path)


@pytest.mark.parametrize("second", _FILES)
@pytest.mark.parametrize("first", _FILES)
def test_text_words_aspect_and_label_survive_any_two_formats(
    tmp_path: Path, corpus: Corpus, first: str, second: str
) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    write(corpus, _under(tmp_path / "1", first))
    write(read(_under(tmp_path / "1", first)), _under(tmp_path / "2", second))
    assert _essence(read(_under(tmp_path / "2", second))) == _essence(corpus)
    write(read(_under(tmp_path / "2", second)), tmp_path / "back.txt", format="tagged")
    assert _essence(read(tmp_path / "back.txt")) == _essence(corpus)


def test_words_survive_formats_of_tokens_though_white_space_does_not(tmp_path: Path) -> None:
    example = Example.from_text("The  menu, (really) great.", (5, 9), label="positive")
    for name, format in (("a.txt", "tagged"), ("a.seg", "three_line")):
        write([example], tmp_path / name, format=format)
        back = read(tmp_path / name)[0]
        assert (back.words, back.aspect, back.label) == (example.words, example.aspect, example.label)


def test_a_failure_leaves_what_was_there(tmp_path: Path, corpus: Corpus) -> None:
    path = tmp_path / "a.txt"
    path.write_text("precious")
    unlabelled = Example.from_text("a menu", (2, 6))
    with pytest.raises(InputError, match="label None has no tag"):
        write([*corpus, unlabelled], path, format="tagged")
    assert path.read_text() == "precious"


def test_equal_corpora_give_equal_compressed_files(tmp_path: Path, corpus: Corpus) -> None:
    write(corpus, tmp_path / "a.jsonl.gz")
    write(corpus, tmp_path / "b.jsonl.gz")
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()


def test_dicts_are_no_examples(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"one of the examples is .*; expected Examples, which from_records makes of dicts"
    ):
        write([{"text": "a menu"}], tmp_path / "a.csv")  # type: ignore[list-item]


def test_places_that_cannot_be_written_are_named(tmp_path: Path, corpus: Corpus) -> None:
    with pytest.raises(InputError, match="the extension says no format"):
        write(corpus, tmp_path / "a.txt")
    with pytest.raises(InputError, match="does not exist; make it first"):
        write(corpus, tmp_path / "no" / "a.csv")
    with pytest.raises(InputError, match="is a directory"):
        write(corpus, tmp_path, format="csv")


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("name", ["laptop", "rest", "twitter"])
def test_no_instance_of_the_public_files_is_lost_on_the_way(tmp_path: Path, shared_data: Path, name: str) -> None:
    corpus = read(shared_data / name / "test.txt")
    for first, second in (("a.jsonl", "b.xml"), ("b.xml", "c.csv"), ("c.csv", "d.parquet"), ("d.parquet", "e.seg")):
        if first == "a.jsonl":
            write(corpus, tmp_path / first)
        write(read(tmp_path / first), tmp_path / second)
    assert _essence(read(tmp_path / "e.seg")) == _essence(corpus)
