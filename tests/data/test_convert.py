"""Reading a file to write it as another."""

from __future__ import annotations

from pathlib import Path

import pytest

from pssa.data.convert import read_out
from pssa.data.read import read
from pssa.errors import InputError

_XML = """<sentences>
<sentence id="1"><text>a menu</text><aspectTerms>
<aspectTerm term="menu" from="2" to="6" polarity="positive"/></aspectTerms></sentence>
"""


def test_what_is_left_out_is_listed_and_the_rest_is_what_a_sound_file_gives(tmp_path: Path) -> None:
    sound, path = tmp_path / "sound.jsonl", tmp_path / "a.jsonl"
    row = '{"text": "a menu", "aspect": "menu", "label": "positive", "stars": 5}\n'
    sound.write_text(row)
    path.write_text(f"{row}nonsense\n")
    found = read_out(path, errors="skip")
    assert (found.corpus, found.not_kept) == (read(sound), ("stars",))
    assert [problem.line for problem in found.skipped] == [2]


def test_a_file_that_breaks_off_is_refused_either_way(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(_XML)
    for errors in ("fail", "skip"):
        with pytest.raises(InputError, match="line 4: is malformed XML"):
            read_out(path, errors=errors)
    path.write_text(f"{_XML}</sentences>")
    assert len(read_out(path).corpus) == 1


def test_of_columns_with_names_of_their_own_only_the_rest_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Title,text,Review,Aspect,label\nx,y,a menu,menu,positive\n")
    found = read_out(path, columns={"text": "Review"})
    assert [example.text for example in found.corpus] == ["a menu"]
    assert found.not_kept == ("Title", "text")
