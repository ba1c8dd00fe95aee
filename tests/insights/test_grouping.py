from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pssa.errors import InputError
from pssa.insights.grouping import group, normalize, read_groups
from pssa.predict.source import CsvStyle

_KNOWN = {"service", "battery", "life", "longevity", "food", "wine"}


def vectors(word: str) -> np.ndarray | None:
    """Known words, of which `longevity` is close to `life`."""
    if word not in _KNOWN:
        return None
    axis = sorted(_KNOWN - {"longevity"}).index("life" if word == "longevity" else word)
    vector = np.full(len(_KNOWN), 0.1 if word == "longevity" else 0.0, dtype=np.float32)
    vector[axis] = 1.0
    return vector


def of(counts: dict[str, int], known: bool = False, **given: str) -> dict[str, str]:
    groups = group(counts, vectors if known else None, given)
    return {spelling: groups.of(spelling) for spelling in counts}


def test_number_case_articles_and_marks_do_not_divide() -> None:
    assert normalize("  The “Batteries” ") == "batteries"
    counts = {normalize(one): 1 for one in ("the battery", "Batteries", "battery.")}
    assert {*of(counts).values()} == {"batteries"} or {*of(counts).values()} == {"battery"}


def test_properties_belong_to_their_thing_and_kinds_to_their_head() -> None:
    counts = {"battery": 5, "battery life": 9, "food": 9, "thai food": 2, "quality of the food": 1, "chicken": 4}
    assert of(counts | {"chicken with thai food": 1}) == {
        "battery": "battery",
        "battery life": "battery",
        "food": "food",
        "thai food": "food",
        "quality of the food": "food",
        "chicken": "chicken",
        "chicken with thai food": "chicken",
    }


def test_vectors_extend_the_words_for_properties() -> None:
    counts = {"battery": 5, "battery longevity": 2}
    assert of(counts, known=True)["battery longevity"] == "battery"
    assert of(counts)["battery longevity"] == "battery longevity"


def test_different_things_are_not_joined() -> None:
    counts = {"lunch": 5, "dinner": 5, "ice cream": 3, "fish and chips": 1, "chips": 4, "hard drive": 9, "drive": 1}
    assert all(name == spelling for spelling, name in of(counts).items())


def test_a_rare_unknown_word_near_a_frequent_one_is_a_misspelling() -> None:
    counts = {"service": 20, "sevice": 1, "survive": 1}
    assert of(counts, known=True) == {"service": "service", "sevice": "service", "survive": "survive"}
    assert of({"service": 5, "sevice": 1}, known=True)["sevice"] == "sevice"  # not rare enough


def test_a_file_overrides_the_rules_and_can_be_written_for_editing(tmp_path: Path) -> None:
    counts = {"battery": 5, "battery life": 9, "charger": 3, "thing": 1}
    path = tmp_path / "groups.csv"
    path.write_bytes(CsvStyle(";", has_bom=True).encode(group(counts).table()))
    text = path.read_text("utf-8")
    assert "battery life;battery;9;about battery" in text
    path.write_text(text.replace("charger;charger", "charger;power").replace("thing;thing", "thing;"), "utf-8")
    groups = group(counts, given=read_groups(path))
    assert groups.of("The Charger") == "power"
    assert groups.of("thing") == ""
    assert groups.of("battery life") == "battery"


def test_a_spelling_follows_what_it_was_grouped_with_in_the_file() -> None:
    assert of({"charger": 3, "new charger": 1}, charger="power")["new charger"] == "power"


@pytest.mark.parametrize(
    "text", ["word;other\n", "", "spelling,group\na,b\nA,c\n", 'spelling,group\n"' + "x\n" * 70_000, "x" * 140_000]
)
def test_a_file_that_is_no_table_of_groups_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "groups.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"spelling|groups|not valid CSV"):
        read_groups(path)


def test_an_excel_table_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "groups.csv"
    path.write_bytes("\ufeffSpelling;Group\r\nBatteries;power\r\n".encode())
    assert read_groups(path) == {"batteries": "power"}


_WORDS = st.lists(st.sampled_from(["food", "foods", "of", "the", "life", "wine", "with", "and", "sevice"]), min_size=1)


@settings(max_examples=25)
@given(st.dictionaries(_WORDS.map(" ".join), st.integers(1, 50), max_size=12))
def test_every_spelling_has_one_group_and_the_order_does_not_matter(counts: dict[str, int]) -> None:
    spelled = {normalize(one): count for one, count in counts.items()}
    groups = group(spelled, vectors)
    assert {*groups.by_spelling} == {*spelled}
    assert sum(groups.totals.values()) == sum(spelled.values())
    assert groups.by_spelling == group(dict(reversed(spelled.items())), vectors).by_spelling
