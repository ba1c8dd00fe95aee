"""How much the service takes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from pssa.errors import InputError
from pssa.serve.limits import Limits


@pytest.mark.parametrize("name", ["items", "batch", "body_bytes", "queue", "table_bytes", "body_seconds"])
def test_a_limit_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} is 0; it must be at least 1"):
        Limits(**{name: 0})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("queue = 5000\nbatch = 8", ""),
        ("quue = 1", "there is no limit 'quue'; choose among body_bytes, "),
        ("queue = true", "queue is not a whole number"),
        ("queue = 1e3", "queue is not a whole number"),
        ("queue = 5", "the queue holds 5 aspects"),
        ("batch = 0", "batch is 0"),
        ("queue", "cannot be read as TOML"),
        ("\udcff", "cannot be read as TOML"),
    ],
)
def test_limits_come_from_a_file(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "limits.toml"
    path.write_text(content, "utf-8", "surrogateescape")
    if not message:
        assert Limits.read(path) == Limits(queue=5000, batch=8)
        return
    with pytest.raises(InputError) as caught:
        Limits.read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_waiting_can_be_left_out() -> None:
    assert Limits(wait_ms=0).wait_ms == 0
    with pytest.raises(InputError, match="wait_ms is -1"):
        Limits(wait_ms=-1)


def test_the_queue_has_room_for_the_largest_request() -> None:
    with pytest.raises(InputError, match="5 aspects, a request up to 3 items of 2"):
        Limits(items=3, aspects=2, queue=5)


def test_a_saliency_that_reads_a_text_for_each_word_explains_shorter_texts() -> None:
    limits = Limits(explained_words=200)
    assert (limits.max_words("gradient"), limits.max_words("leave_one_out")) == (200, 128)
    assert Limits(explained_words=100).max_words("leave_one_out") == 100
