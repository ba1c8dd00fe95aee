"""Bodies of requests and responses.

Validation is strict: `"4"` and `false` are not integers, and unknown fields are refused. Offsets count characters as Python
does, by Unicode code points; JavaScript counts UTF-16 units, of which an emoji has two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, create_model, model_validator

from pssa.serve.limits import Limits

_MAX_INTEGER = 2**53 - 1  # the largest integer that every JSON reader keeps exactly
_MAX_UNKNOWN_FIELDS = 10  # of an object that are reported one by one


def _to_integer(value: Any) -> Any:
    # JSON Schema counts 4.0 as the integer 4.
    return int(value) if isinstance(value, float) and value.is_integer() else value


Integer = Annotated[int, BeforeValidator(_to_integer)]


class StrictModel(BaseModel):
    """Base of every body: exact names and exact types."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _check_size(cls, value: Any) -> Any:
        # Each unknown field would be an error of its own, and a body has room for many thousands.
        if isinstance(value, dict) and len(value) > len(cls.model_fields) + _MAX_UNKNOWN_FIELDS:
            raise ValueError(f"has {len(value)} fields, at most {len(cls.model_fields)} are known")
        return value


class Offsets(StrictModel):
    """An aspect by its character offsets, half-open."""

    start: Integer = Field(alias="from", ge=0, le=_MAX_INTEGER)
    end: Integer = Field(alias="to", ge=0, le=_MAX_INTEGER)


class Item(StrictModel):
    """A text and its aspects, each as it is written in the text or by its offsets; without `aspects` they are found."""

    text: str
    aspects: list[str | Offsets] | None = None


class PredictRequest(StrictModel):
    """Texts with their aspects, and the run that labels them."""

    items: list[Item]
    run: str = "first"
    split_sentences: bool = False  # judge each aspect in its sentence; aspects that are found always are


class ExplainRequest(PredictRequest):
    """Texts with their aspects, the run that explains them and the saliency; by default the usual one of the run."""

    saliency: str = Field(default_factory=str)  # a factory, so that the schema shows no default


class AspectResult(StrictModel):
    """Label of an aspect, and where the aspect was found."""

    aspect: str
    start: int = Field(alias="from")
    end: int = Field(alias="to")
    label: str
    probabilities: dict[str, float]  # by label
    warning: str = ""  # absent if there is none


class WordShare(StrictModel):
    """A word of the text and its share of the saliency; shares sum to one, or are all zero if nothing can be said."""

    word: str
    start: int = Field(alias="from")
    end: int = Field(alias="to")
    share: float


class AspectExplanation(AspectResult):
    """Label of an aspect with the share of every word."""

    saliency: str
    words: list[WordShare]


class AspectError(StrictModel):
    """Why an aspect has no result."""

    error: str


ModelT = TypeVar("ModelT", bound=BaseModel)
ResultT = TypeVar("ResultT", bound=AspectResult)


class ItemResponse(StrictModel, Generic[ResultT]):
    """Results of one item, in the order of its aspects."""

    aspects: list[ResultT | AspectError]
    left_out: int = 0  # aspects that were found beyond the limit; absent if there are none


class ItemsResponse(StrictModel, Generic[ResultT]):
    """Results in the order of the request."""

    items: list[ItemResponse[ResultT]]


class RunInfo(StrictModel):
    """A served run."""

    name: str  # of its folder
    model: str
    labels: list[str]
    saliencies: list[str]  # the usual one first
    members: int  # models that vote; 1 unless it is an ensemble


class ModelResponse(StrictModel):
    """Runs, limits and version of the service."""

    runs: dict[str, RunInfo]  # `first` and, if there is a second run, `versus`
    limits: dict[str, int]
    finds_aspects: bool  # whether items may come without aspects
    evidence: bool  # whether there is evidence to review
    version: str  # of pssa


class ErrorResponse(StrictModel):
    """Body of every response that reports an error."""

    error: dict[Literal["code", "message"], str]  # a code for programs, a message for people


def limited_requests(
    limits: Limits, saliencies: Mapping[str, Sequence[str]], finds_aspects: bool = False
) -> tuple[type[PredictRequest], type[ExplainRequest]]:
    """Return the two requests with the limits, runs and saliencies of one service in their schema; `saliencies` are by run.

    :param finds_aspects: whether the schema lets items come without aspects. If not, the service explains why it refuses them.
    """
    text = Annotated[str, Field(max_length=limits.characters)]
    # With a discriminator, the faults of an aspect are those of one of the two.
    aspect = Annotated[
        Annotated[text, Tag("text")] | Annotated[Offsets, Tag("offsets")],
        Discriminator(lambda value: "text" if isinstance(value, str) else "offsets"),
    ]
    aspects = Annotated[list[aspect], Field(max_length=limits.aspects), _at_most(limits.aspects)]
    # A factory, so that the schema shows no default: aspects are a list, or absent.
    needed = {} if finds_aspects else {"json_schema_extra": {"required": ["text", "aspects"]}}
    absent = Field(default_factory=lambda: None)
    item = _narrowed(Item, text=(text, ...), aspects=(aspects, absent), __cls_kwargs__=needed)
    fields: dict[str, Any] = {
        "items": (Annotated[list[item], Field(max_length=limits.items), _at_most(limits.items)], ...),  # type: ignore[valid-type]
        "run": (Literal[*saliencies], "first"),
    }
    saliency = (Literal[*sorted(set().union(*saliencies.values()))], Field(default_factory=str))
    extra = {"json_schema_extra": _saliencies_by_run(saliencies)}
    explain = _narrowed(ExplainRequest, **fields, saliency=saliency, __cls_kwargs__=extra)
    return _narrowed(PredictRequest, **fields), explain


def _at_most(most: int) -> BeforeValidator:
    """Refuse a list that is too long at once: pydantic would look at every element for faults first."""

    def check(value: Any) -> Any:
        if isinstance(value, list) and len(value) > most:
            raise ValueError(f"has {len(value)} elements, at most {most} are allowed")
        return value

    return BeforeValidator(check)


def _narrowed(base: type[ModelT], **fields: Any) -> type[ModelT]:
    """Return a model with the name and description of another, and narrower types for its fields."""
    return create_model(base.__name__, __base__=base, __doc__=base.__doc__, **fields)


def _saliencies_by_run(saliencies: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the JSON Schema that says which saliencies each run has; empty if all have the same."""
    if len({*map(tuple, saliencies.values())}) == 1:
        return {}
    first, versus = ({"properties": {"saliency": {"enum": list(saliencies[run])}}} for run in ("first", "versus"))
    return {"if": {"properties": {"run": {"const": "versus"}}, "required": ["run"]}, "then": versus, "else": first}
