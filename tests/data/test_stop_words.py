from __future__ import annotations

import pytest

from pssa.data.stop_words import is_content_word


@pytest.mark.parametrize("word", ["great", "Not", "n't", "never", "too", "4", "😀", "素晴らしい", "café"])
def test_words_that_carry_an_opinion_are_shown(word: str) -> None:
    assert is_content_word(word)


@pytest.mark.parametrize("word", ["the", "The", "was", "it's", "It’s", "but", ".", "...", "$", "(", "—", ""])
def test_stop_words_and_punctuation_are_not(word: str) -> None:
    assert not is_content_word(word)
