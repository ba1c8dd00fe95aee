"""Lines out of plain and packed files, and the files that are refused."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pssa.data.text_file import read_packed
from pssa.errors import InputError

TEXT = b"one 1\r\n\n  \ntwo 2 \nthree 3"
LINES = [(1, b"one 1"), (4, b"two 2"), (5, b"three 3")]


def plain(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def gzipped(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content))
    return path


def zipped(path: Path, content: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__MACOSX/._words.txt", b"\0")
        archive.writestr("readme.md", "no vectors")
        archive.writestr("folder/words.txt", content)
    return path


PACKERS = [plain, gzipped, zipped]
Pack = Callable[[Path, bytes], Path]


@pytest.mark.parametrize("pack", PACKERS)
def test_lines_are_the_same_however_the_file_is_packed_and_named(tmp_path: Path, pack: Pack) -> None:
    assert list(read_packed(pack(tmp_path / "no-suffix", TEXT))) == LINES


@pytest.mark.slow
@pytest.mark.parametrize("pack", PACKERS)
def test_the_observer_sees_the_packed_bytes_grow_to_the_total(tmp_path: Path, pack: Pack) -> None:
    path = pack(tmp_path / "file", b"".join(b"word%d %d\n" % (n, n * n) for n in range(400_000)))
    seen: list[tuple[int, int]] = []
    assert sum(1 for _ in read_packed(path, lambda done, total: seen.append((done, total)))) == 400_000
    done = [place for place, _ in seen]
    assert {total for _, total in seen} == {path.stat().st_size}
    assert done == sorted(done)
    assert 0 < done[0] < done[-1] == path.stat().st_size


@pytest.mark.slow
@pytest.mark.parametrize("pack", PACKERS)
def test_a_line_longer_than_a_mebibyte_is_refused(tmp_path: Path, pack: Pack) -> None:
    path = pack(tmp_path / "bomb", b"a 1\n" + b"0" * (64 << 20))
    with pytest.raises(InputError, match="line 2: is longer than 1048576 bytes"):
        list(read_packed(path))


@pytest.mark.parametrize("pack", PACKERS)
def test_an_empty_or_binary_file_is_refused(tmp_path: Path, pack: Pack) -> None:
    with pytest.raises(InputError, match="is empty"):
        list(read_packed(pack(tmp_path / "empty", b"")))
    with pytest.raises(InputError, match="line 2: is binary or UTF-16"):
        list(read_packed(pack(tmp_path / "binary", b"a 1\nb\0 2\n")))


@pytest.mark.parametrize("pack", [gzipped, zipped])
def test_a_packed_file_cut_short_or_damaged_is_refused(tmp_path: Path, pack: Pack) -> None:
    content = b"".join(b"word%d %d\n" % (n, n * n * n) for n in range(20_000))
    whole = pack(tmp_path / "whole", content).read_bytes()
    for place, damaged in enumerate((whole[: len(whole) // 2], whole[:5000] + bytes(200) + whole[5200:])):
        with pytest.raises(InputError, match=r"damaged|cannot be opened"):
            list(read_packed(plain(tmp_path / f"damaged{place}", damaged)))


def test_a_directory_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory"):
        list(read_packed(tmp_path))
    with pytest.raises(InputError, match="No such file"):
        list(read_packed(tmp_path / "missing.txt"))


@pytest.mark.parametrize(
    ("names", "what"),
    [
        ([], "without a file that ends in"),
        (["a.md"], "without a file that ends in"),
        (["a.txt", "b.vec"], "2 text files \\(a.txt, b.vec\\)"),
    ],
)
def test_an_archive_must_hold_one_text_file(tmp_path: Path, names: list[str], what: str) -> None:
    path = tmp_path / "vectors.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, TEXT)
    with pytest.raises(InputError, match=what):
        list(read_packed(path))


def test_an_encrypted_archive_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "vectors.zip", TEXT)
    content = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # set the bit that says encrypted
        place = content.find(signature)
        while place >= 0:
            content[place + flags] |= 1
            place = content.find(signature, place + 4)
    with pytest.raises(InputError, match="cannot be opened"):
        list(read_packed(plain(path, bytes(content))))


def test_an_error_of_the_observer_is_not_blamed_on_the_file(tmp_path: Path) -> None:
    def broken(done: int, total: int) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        list(read_packed(plain(tmp_path / "file", TEXT), broken))
