"""Bodies of the review's requests; `pssa/serve/responses.json` describes those of responses."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pssa.serve.schemas import Integer, StrictModel

MAX_INTEGER = 2**31 - 1
Kind = Literal["active", "misleading"]


class Change(StrictModel):
    """A change of one word."""

    index: Integer = Field(ge=0, le=MAX_INTEGER, description="position of the sentence in the file, from 0")
    version: Integer = Field(ge=0, le=MAX_INTEGER, description="of the sentence, as it was read")
    action: Literal["flip", "drop", "active", "misleading"]
    word: Integer = Field(ge=0, le=MAX_INTEGER, description="position in the sentence, from 0")


class WordDrop(StrictModel):
    """A word whose findings of one kind are dropped in every sentence."""

    text: str = Field(min_length=1, max_length=1000, description="the word, in any case")
    kind: Kind


class Undo(StrictModel):
    """The change to take back."""

    number: Integer = Field(ge=1, le=MAX_INTEGER, description="of the last change that was not undone")
