"""Who may use the service, and within which limits."""

from __future__ import annotations

from pathlib import Path

import pytest

from pssa.errors import InputError
from pssa.serve.access import AccessPolicy, check_token, choose_access
from pssa.serve.limits import Limits

NAMES = frozenset({"localhost"})


def choose(
    token: str | None = None, hosts: frozenset[str] | None = NAMES, declined: bool = False, has_changes: bool = False
) -> AccessPolicy:
    return choose_access(token, hosts, declined=declined, has_changes=has_changes)


def test_a_token_is_drawn_for_changes_and_for_services_that_take_any_name() -> None:
    assert choose() == AccessPolicy("", NAMES)
    reviewed = choose(has_changes=True)
    assert (len(reviewed.token) >= 20, reviewed.only_changes) == (True, True)
    open_to_all = choose(hosts=None)
    assert (len(open_to_all.token) >= 20, open_to_all.only_changes) == (True, False)
    assert choose(has_changes=True).token != reviewed.token


def test_a_token_that_is_given_protects_everything() -> None:
    assert choose("a-long-secret", has_changes=True) == AccessPolicy("a-long-secret", NAMES)


def test_without_a_token_names_must_be_known() -> None:
    assert choose(declined=True, has_changes=True) == AccessPolicy("", NAMES)
    with pytest.raises(InputError, match="allow_host"):
        choose(declined=True, hosts=None)
    with pytest.raises(InputError, match="no_token contradicts"):
        choose("a-long-secret", declined=True)


@pytest.mark.parametrize("token", ["", "x", "1234567", "two words", "caf\u00e9caf\u00e9"])
def test_what_can_be_guessed_is_no_token(token: str) -> None:
    with pytest.raises(InputError, match="holds"):
        check_token(token)
    assert check_token(" 12345678\n") == "12345678"


@pytest.mark.parametrize("name", ["items", "batch", "body_bytes", "queue", "table_bytes", "body_seconds"])
def test_a_limit_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} is 0; it must be at least 1"):
        Limits(**{name: 0})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("queue = 5000\nbatch = 8", ""),
        ("quue = 1", "unknown key 'quue'; expected body_bytes, "),
        ("queue = true", "queue` is "),
        ("queue = 1e3", "queue` is "),
        ("queue = 5", "the queue holds 5 aspects"),
        ("batch = 0", "batch is 0"),
        ("queue", "TOML"),
        ("\udcff", "TOML"),
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


def test_the_queue_has_room_for_the_largest_request() -> None:
    with pytest.raises(InputError, match="5 aspects, a request up to 3 items of 2"):
        Limits(items=3, aspects=2, queue=5)


def test_a_saliency_that_reads_a_text_for_each_word_explains_shorter_texts() -> None:
    limits = Limits(explained_words=200)
    assert (limits.max_words("gradient"), limits.max_words("leave_one_out")) == (200, 128)
    assert Limits(explained_words=100).max_words("leave_one_out") == 100
