"""Word vectors: files, cache and embedding matrix."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from pssa.data import vectors
from pssa.data.vectors import (
    Vectors,
    embedding_matrix,
    load_matrix,
    read_vectors,
    read_vectors_once,
    save_matrix,
)
from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError

FILE = b"the 1 1\n. . 2 2\nApple 3 3\napple 4 4\npie 5 5\nbad\xff 6 6\nthe 7 7\ntart 8 8\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "vectors.txt"
    file.write_bytes(FILE)
    return file


def first_values(vectors: Vectors) -> dict[str, float]:
    return dict(zip(vectors.words, vectors.matrix[:, 0].tolist(), strict=True))


def test_wanted_words_are_kept_exactly_or_in_lower_case_and_the_first_of_equals_counts(path: Path) -> None:
    vectors = read_vectors(path, {"Apple", "Pie", "unheard"}, extra_rows=0)
    assert first_values(vectors) == {"Apple": 3, "pie": 5}
    assert vectors.matrix.dtype == np.float32
    assert (vectors.find("Apple"), vectors.find("Pie"), vectors.find("apple")) == (0, 1, None)
    assert first_values(read_vectors(path, {"Apple", "APPLE"}, extra_rows=0)) == {"Apple": 3, "apple": 4}
    assert first_values(read_vectors(path, ())) == {"the": 1, ". .": 2, "Apple": 3, "apple": 4, "pie": 5, "tart": 8}


def test_the_first_rows_are_kept_whatever_is_wanted_and_nothing_tells_the_dimension(path: Path) -> None:
    assert first_values(read_vectors(path, {"tart"}, extra_rows=3)) == {"the": 1, ". .": 2, "Apple": 3, "tart": 8}
    nothing = read_vectors(path, {"unheard", "half a pair \ud800"}, extra_rows=0)
    assert (len(nothing), nothing.dimension) == (0, 2)


def test_a_wrong_row_is_refused_even_if_it_is_not_kept(path: Path) -> None:
    path.write_bytes(FILE + b"odd 9\n")
    with pytest.raises(InputError, match="line 9: has 1 values; expected 2"):
        read_vectors(path, {"the"}, extra_rows=1)


@pytest.mark.slow
def test_memory_is_that_of_the_kept_rows(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    path.write_bytes(b"".join(b"word%d" % n + b" 0.12345" * 300 + b"\n" for n in range(20_000)))  # 48 MB
    tracemalloc.start()
    vectors = read_vectors(path, {"word19999"}, extra_rows=100)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(vectors) == 101
    assert peak < 4 << 20


def test_rows_of_the_matrix_come_from_the_file_or_are_small_and_the_special_ones_zero(path: Path) -> None:
    vectors = read_vectors(path, {"Pie", "cake", "the"}, extra_rows=1)
    vocabulary = Vocabulary.build(["the", "the", "Pie", "cake"], extra=vectors.words)
    matrix, coverage = embedding_matrix(vocabulary, vectors, dimension=2, seed=1)
    assert vocabulary.words[3:] == ("the", "Pie", "cake", "pie")
    assert matrix[[0, 1, 2, 3, 4, 6]].tolist() == [[0, 0], [0, 0], [0, 0], [1, 1], [5, 5], [5, 5]]
    assert (np.abs(matrix[5]) <= 0.25).all()
    assert matrix[5].all()
    assert (coverage.types, coverage.covered_types, coverage.tokens, coverage.covered_tokens) == (3, 2, 4, 3)
    assert (coverage.type_share, coverage.token_share) == (2 / 3, 3 / 4)


def test_a_word_without_vector_has_the_same_row_in_every_vocabulary_and_another_for_every_seed() -> None:
    alone, _ = embedding_matrix(Vocabulary.build(["cake"]), None, dimension=50, seed=1)
    among, _ = embedding_matrix(Vocabulary.build(["a", "a", "cake"]), None, dimension=50, seed=1)
    other, _ = embedding_matrix(Vocabulary.build(["cake"]), None, dimension=50, seed=2)
    assert (alone[3] == among[4]).all()
    assert (among[3] != among[4]).all()
    assert (alone[3] != other[3]).all()


def test_rows_without_vector_are_uniform_between_minus_and_plus_a_quarter() -> None:
    matrix, coverage = embedding_matrix(Vocabulary.build(map(str, range(1000))), None, dimension=300, seed=0)
    values = np.sort(matrix[3:].ravel())
    expected = np.linspace(-0.25, 0.25, values.size)
    assert np.abs(values - expected).max() < 0.002  # Kolmogorov-Smirnov: 0.5 * 1.95 / sqrt(300,000) at p = 0.001
    assert (coverage.type_share, coverage.covered_tokens) == (0, 0)


def test_a_dimension_other_than_the_files_is_refused(path: Path) -> None:
    with pytest.raises(InputError, match="have 2 values and the model expects 300"):
        embedding_matrix(Vocabulary.build(["the"]), read_vectors(path, {"the"}), dimension=300, seed=0)


def test_a_saved_matrix_loads_as_the_same_and_a_missing_one_is_refused(tmp_path: Path) -> None:
    matrix = np.arange(12, dtype=np.float32).reshape(3, 4)
    save_matrix(tmp_path / "embedding.safetensors", matrix.T)
    loaded = load_matrix(tmp_path / "embedding.safetensors")
    assert loaded.dtype == np.float32
    assert (loaded == matrix.T).all()
    with pytest.raises(InputError, match="not a readable embedding matrix"):
        load_matrix(tmp_path / "missing.safetensors")


@pytest.mark.slow
@pytest.mark.shared
def test_the_real_vectors_have_the_rows_that_their_page_says(shared_vectors: Path) -> None:
    seen: list[tuple[int, int]] = []
    vectors = read_vectors(shared_vectors, {"the"}, observer=lambda done, total: seen.append((done, total)))
    assert vectors.matrix.shape == (12_285, 300)
    assert vectors.matrix[0, :3].tolist() == pytest.approx([0.27204, -0.06203, -0.1884], rel=1e-6)
    assert vectors.words[0] == "the"
    assert seen[-1] == (shared_vectors.stat().st_size,) * 2
    few = read_vectors(shared_vectors, {"battery", "Screen", "toshiba"}, extra_rows=10)
    assert few.words == (*vectors.words[:10], "screen", "battery")
    assert (few.matrix[-1] == vectors.matrix[1303]).all()  # line 1304 of the file


def rows_of(tmp_path: Path, content: bytes) -> dict[str, list[float]]:
    path = tmp_path / "vectors.txt"
    path.write_bytes(content)
    found = read_vectors(path, ())
    return dict(zip(found.words, found.matrix.tolist(), strict=True))


def test_words_may_contain_spaces_and_look_like_numbers(tmp_path: Path) -> None:
    content = b"a 1 2\n. . . 3 4\nat name@domain.com 5 6\n7 7 8\n\xc2\xa0 9 0\n"
    assert [*rows_of(tmp_path, content)] == ["a", ". . .", "at name@domain.com", "7", "\xa0"]


@pytest.mark.parametrize("start", [b"2 3\n", b"\xef\xbb\xbf2 3\n", b"\xef\xbb\xbf", b""])
def test_a_header_and_a_byte_order_mark_are_passed_over(tmp_path: Path, start: bytes) -> None:
    content = start + b"a 1 2 3 \nb 4 5 6 \n"  # word2vec ends its lines with a space
    assert rows_of(tmp_path, content) == {"a": [1, 2, 3], "b": [4, 5, 6]}


@pytest.mark.parametrize(
    ("row", "found"),
    [(b"c 5", 1), (b"c", 0), (b"c 5 6 7", 3), (b"c 5 6 7 8", 4), (b"c d 5 6 7", 4), (b"c\t5 6", 1), (b"c 5 ", 1)],
)
def test_a_row_with_another_number_of_values_is_refused_by_line(tmp_path: Path, row: bytes, found: int) -> None:
    with pytest.raises(InputError, match=rf"vectors\.txt, line 3: has {found} values"):
        rows_of(tmp_path, b"a 1 2\nb 3 4\n" + row + b"\nd 7 8\n")


@pytest.mark.parametrize("value", [b"x", b"nan", b"inf", b"-inf", b"1e39", b"1,5", b"0x10", b""])
def test_a_value_that_is_not_a_finite_number_is_refused_by_line(tmp_path: Path, value: bytes) -> None:
    with pytest.raises(InputError, match=rf"line 2: has the value '{value.decode()}'"):
        rows_of(tmp_path, b"a 1 2\nb " + value + b" 4\n")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"word\n", "not a vector"),
        (b"2 3\n", "no vectors"),
        (b"\n\n", "no vectors"),
        (b"The screen is great\nThe battery is not\n", "line 1: has the value 'screen'; expected"),
    ],
)
def test_a_file_without_vectors_is_refused_before_any_row_is_kept(tmp_path: Path, content: bytes, what: str) -> None:
    (tmp_path / "vectors.txt").write_bytes(content)
    with pytest.raises(InputError, match=what):
        read_vectors(tmp_path / "vectors.txt", (), extra_rows=0)


ROWS = "the 1 2\nscreen 3 4\nis 5 6\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text(ROWS)
    return path


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("the file was read again")


def test_a_second_reading_does_not_open_the_file(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read_vectors_once(file, {"screen"}, tmp_path / "cache", extra_rows=0)
    monkeypatch.setattr(vectors, "read_vectors", refuse)
    second = read_vectors_once(file, {"screen"}, tmp_path / "cache", extra_rows=0)
    assert second.words == first.words == ("screen",)
    assert np.array_equal(second.matrix, [[3.0, 4.0]])


def test_other_words_rows_or_content_are_read_anew(file: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert read_vectors_once(file, {"screen"}, cache, extra_rows=0).words == ("screen",)
    assert read_vectors_once(file, {"is"}, cache, extra_rows=0).words == ("is",)
    assert read_vectors_once(file, {"is"}, cache, extra_rows=1).words == ("the", "is")
    file.write_text(ROWS + "huge 7 8\n")
    assert read_vectors_once(file, {"huge"}, cache, extra_rows=0).words == ("huge",)
    assert len(list(cache.iterdir())) == 4


def test_a_damaged_entry_is_replaced(file: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    read_vectors_once(file, {"screen"}, cache, extra_rows=0)
    (entry,) = cache.iterdir()
    whole = entry.read_bytes()
    entry.write_bytes(whole[:40])
    assert read_vectors_once(file, {"screen"}, cache, extra_rows=0).words == ("screen",)
    assert entry.read_bytes() == whole
