"""What requests and answers look like. Nothing is converted: `"4"` and `false` are no integers, and unknown fields are refused.

Offsets count characters as Python does, by Unicode code points. JavaScript counts UTF-16 units, of which an emoji has two.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

__all__ = [
    "Answered",
    "Error",
    "ExplainAnswer",
    "ExplainRequest",
    "Explained",
    "Failed",
    "Fault",
    "Item",
    "ModelAnswer",
    "Place",
    "PredictAnswer",
    "PredictRequest",
    "RunInfo",
    "Runs",
    "Status",
    "Whole",
    "Word",
]

_MOST = 2**53 - 1  # the largest integer that every reader of JSON keeps exactly


def _whole(value: Any) -> Any:
    # To JSON 4.0 is the integer 4.
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Place(_Strict):
    """An aspect by its character offsets, half-open."""

    start: Whole = Field(alias="from", ge=0, le=_MOST)
    end: Whole = Field(alias="to", ge=0, le=_MOST)


class Item(_Strict):
    """A text and the aspects to judge in it, each as it stands in the text or by its offsets."""

    text: str
    aspects: list[str | Place]


class PredictRequest(_Strict):
    """Texts with their aspects, and the run to ask."""

    items: list[Item]
    run: Literal["first", "versus"] = "first"


class ExplainRequest(PredictRequest):
    """The same, and what a word's share is to be measured by; without it, the run's usual saliency."""

    saliency: str = ""


class Answered(_Strict):
    """What the run says of an aspect, and where it was found."""

    aspect: str
    start: int = Field(alias="from")
    end: int = Field(alias="to")
    label: str
    probabilities: dict[str, float]  # by label
    warning: str = ""  # left out where there is none


class Word(_Strict):
    """A word of the text and its share; shares sum to one, or are all zero where nothing can be said."""

    word: str
    start: int = Field(alias="from")
    end: int = Field(alias="to")
    share: float


class Explained(Answered):
    """An answer with every word's share in it."""

    saliency: str
    words: list[Word]


class Failed(_Strict):
    """Why there is no answer for an aspect."""

    error: str


class _PredictedItem(_Strict):
    aspects: list[Answered | Failed]


class PredictAnswer(_Strict):
    """Items and aspects in the order of the request."""

    items: list[_PredictedItem]


class _ExplainedItem(_Strict):
    aspects: list[Explained | Failed]


class ExplainAnswer(_Strict):
    """Items and aspects in the order of the request."""

    items: list[_ExplainedItem]


class RunInfo(_Strict):
    """What a run is and can be asked."""

    name: str  # of its folder
    model: str
    labels: list[str]
    saliencies: list[str]  # the usual one first
    members: int  # models that vote; 1 outside ensembles


class Runs(_Strict):
    """The runs that are served; `versus` only where there is a second."""

    first: RunInfo
    versus: RunInfo | None = None


class ModelAnswer(_Strict):
    """What is served, and how much is taken on."""

    runs: Runs
    limits: dict[str, int]
    evidence: bool  # whether evidence can be reviewed
    version: str  # of pssa


class Status(_Strict):
    """A sign of life."""

    status: str


class Fault(_Strict):
    """What went wrong: a code for programs, a message for people."""

    code: str
    message: str


class Error(_Strict):
    """Every answer that is not what was asked for."""

    error: Fault
