"""Which token and which names a service gets."""

from __future__ import annotations

import pytest

from pssa.errors import InputError
from pssa.serve.access import AccessPolicy, check_token, choose_access

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
