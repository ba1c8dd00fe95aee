"""How much the service takes on."""

from __future__ import annotations

import pytest

from pssa.errors import InputError
from pssa.serve.limits import Limits


@pytest.mark.parametrize("name", ["items", "batch", "body_bytes", "queue", "table_bytes", "body_seconds"])
def test_a_limit_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} is 0; it must be at least 1"):
        Limits(**{name: 0})


def test_waiting_can_be_left_out() -> None:
    assert Limits(wait_ms=0).wait_ms == 0
    with pytest.raises(InputError, match="wait_ms is -1"):
        Limits(wait_ms=-1)


def test_the_queue_has_room_for_the_largest_request() -> None:
    with pytest.raises(InputError, match="holds 5 aspects, a request up to 3 items of 2"):
        Limits(items=3, aspects=2, queue=5)


def test_a_saliency_that_reads_a_text_for_each_word_explains_shorter_texts() -> None:
    limits = Limits(explained_words=200)
    assert (limits.max_words("gradient"), limits.max_words("leave_one_out")) == (200, 128)
    assert Limits(explained_words=100).max_words("leave_one_out") == 100
