"""Parquet files and saved datasets made to harm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pssa.data.io import read
from pssa.errors import InputError

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def write_table(path: Path, texts: Any, **options: Any) -> None:
    n = len(texts)
    parquet.write_table(
        pyarrow.table({"text": texts, "aspect": ["menu"] * n, "label": ["positive"] * n}), path, **options
    )


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([1.5, 2.5], r"line 1: `text` is 1\.5; expected text"),
        ([{"a": ["menu"]}], r"line 1: `text` is \{'a': \['menu'\]\}; expected text"),
        ([b"a menu"], r"line 1: `text` is b'a menu'; expected text"),
        ([None], "line 1: `text` is empty"),
    ],
)
def test_columns_of_the_wrong_type_are_refused(tmp_path: Path, texts: list[Any], message: str) -> None:
    write_table(tmp_path / "x.parquet", pyarrow.array(texts))
    with pytest.raises(InputError, match=message):
        read(tmp_path / "x.parquet")


def test_dates_that_python_has_no_place_for_are_no_text_and_hurt_nobody_elsewhere(tmp_path: Path) -> None:
    far = pyarrow.array([2**62], pyarrow.timestamp("us"))
    write_table(tmp_path / "x.parquet", far)
    with pytest.raises(InputError, match="line 1: aspect 'menu' is not in the text"):
        read(tmp_path / "x.parquet")
    rows = pyarrow.table({"text": ["a menu"], "aspect": ["menu"], "label": ["positive"], "when": far})
    parquet.write_table(rows, tmp_path / "x.parquet")
    assert len(read(tmp_path / "x.parquet")) == 1


def test_a_few_bytes_that_unpack_to_gigabytes_are_refused(tmp_path: Path) -> None:
    # One text of three mebibytes, in each of ten thousand rows.
    bomb = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 10_000, "int32"), ["menu " * 600_000])
    write_table(tmp_path / "x.parquet", bomb, compression="zstd", dictionary_pagesize_limit=1 << 30)
    assert (tmp_path / "x.parquet").stat().st_size < 5000
    with pytest.raises(InputError, match=r"has 38400\d{4} bytes in 128 rows"):
        read(tmp_path / "x.parquet")


@pytest.mark.slow
def test_a_group_that_unpacks_beyond_proportion_is_refused(tmp_path: Path) -> None:
    write_table(tmp_path / "x.parquet", ["menu " * 4_000_000], compression="zstd", use_dictionary=False)
    with pytest.raises(InputError, match="unpacks to more than 200 times its size"):
        read(tmp_path / "x.parquet")


datasets = pytest.importorskip("datasets")


def test_an_image_that_a_row_names_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*_: Any, **__: Any) -> None:
        raise AssertionError("the image was opened")

    monkeypatch.setattr(datasets.Image, "decode_example", opened)
    features = datasets.Features(
        {"text": datasets.Value("string"), "span": datasets.Value("string"), "label": datasets.Value("string")}
        | {"image": datasets.Image()}
    )
    rows = {"text": ["a menu"], "span": ["menu"], "label": ["positive"], "image": ["https://localhost:1/x.png"]}
    assert read(datasets.Dataset.from_dict(rows, features=features))[0].label == "positive"


def test_a_class_that_is_none_is_refused() -> None:
    table = pyarrow.table({"text": ["a menu"], "span": ["menu"], "label": [7]})
    named = datasets.Dataset(datasets.table.InMemoryTable(table))
    named.info.features["label"] = datasets.ClassLabel(names=["positive", "negative"])
    with pytest.raises(InputError, match="line 1: label 7 is not one of the 2"):
        read(named)


def test_offsets_that_point_elsewhere_do_not_end_the_process(tmp_path: Path) -> None:
    path = tmp_path / "saved"
    rows = {"text": ["a menu", "a bar"], "span": ["menu", "bar"], "label": ["positive", "negative"]}
    datasets.Dataset.from_dict(rows).save_to_disk(str(path))
    [file] = path.glob("*.arrow")
    # The offsets of the first column: 0, 6, 11.
    offsets = b"".join(number.to_bytes(4, "little") for number in (0, 6, 11))
    content = file.read_bytes()
    assert content.count(offsets) == 1
    file.write_bytes(content.replace(offsets, offsets[:8] + (2**31 - 1).to_bytes(4, "little")))
    with pytest.raises(InputError, match="saved: cannot be read as a Hugging Face"):
        read(path)
