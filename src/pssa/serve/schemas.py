"""Bodies of requests; `responses.json` describes those of responses.

Validation is strict: `"4"` and `false` are not integers, and unknown fields are refused. Offsets count characters as Python
does, by Unicode code points; JavaScript counts UTF-16 units, of which an emoji has two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, create_model, model_validator

from pssa.serve.limits import Limits

_MAX_INTEGER = 2**53 - 1  # the largest integer that every JSON reader keeps exactly
_MAX_UNKNOWN_FIELDS = 10  # of an object that are reported one by one
Fields = dict[str, Any]  # of a model that is made: type and default of each
ITEMS_TAG, TEXT_TAG = "a request with items", "a request with one text"  # names of the two in the place of a fault


# JSON Schema counts 4.0 as the integer 4.
Integer = Annotated[
    int, BeforeValidator(lambda value: int(value) if isinstance(value, float) and value.is_integer() else value)
]


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


def limited_requests(
    limits: Limits, saliencies: Mapping[str, Sequence[str]], finds_aspects: bool = False
) -> tuple[Any, Any]:
    """Return what /v1/predict and /v1/explain take: one text or items, with the limits, runs and saliencies of one service.

    :param saliencies: by run.
    :param finds_aspects: whether the schema lets texts come without aspects. If not, the service explains why it refuses them.
    """
    text = Annotated[str, Field(max_length=limits.characters)]
    # With a discriminator, the faults of an aspect are those of one of the two.
    aspect = Annotated[
        Annotated[text, Tag("text")] | Annotated[Offsets, Tag("offsets")],
        Discriminator(lambda value: "text" if isinstance(value, str) else "offsets"),
    ]
    aspects = Annotated[list[aspect], Field(max_length=limits.aspects), _at_most(limits.aspects)]
    # A factory, so that the schema shows no default: aspects are a list, or absent.
    of_text: Fields = {"text": (text, ...), "aspects": (aspects, Field(default_factory=lambda: None))}
    needed = {} if finds_aspects else {"required": ["text", "aspects"]}
    item = _model("Item", str(Item.__doc__), needed, of_text)
    items = Annotated[list[item], Field(max_length=limits.items), _at_most(limits.items)]  # type: ignore[valid-type]
    run: Fields = {"run": (Literal[*saliencies], "first")}
    saliency = (Literal[*sorted(set().union(*saliencies.values()))], Field(default_factory=str))
    by_run: dict[str, Any] = {}  # JSON Schema that says which saliencies each run has, if they differ
    if len({*map(tuple, saliencies.values())}) > 1:
        of = {name: {"properties": {"saliency": {"enum": list(usable)}}} for name, usable in saliencies.items()}
        is_versus = {"properties": {"run": {"const": "versus"}}, "required": ["run"]}
        by_run = {"if": is_versus, "then": of["versus"], "else": of["first"]}

    def either(name: str, purpose: str, extra: Mapping[str, Any], fields: Fields) -> Any:
        """Return the union of both requests; the faults of one that has neither `text` nor `items` are those of items."""
        several = _model(
            f"{name}Request", f"Texts with their aspects, and {purpose}.", extra, {"items": (items, ...), **fields}
        )
        one = _model(f"{name}Text", f"A text with its aspects, and {purpose}.", {**extra, **needed}, of_text | fields)

        def tag(value: Any) -> str:
            is_text = "text" in value and "items" not in value if isinstance(value, dict) else isinstance(value, one)
            return TEXT_TAG if is_text else ITEMS_TAG

        return Annotated[Annotated[several, Tag(ITEMS_TAG)] | Annotated[one, Tag(TEXT_TAG)], Discriminator(tag)]

    return (
        either("Predict", "the run that labels them", {}, run),
        either("Explain", "the run and saliency that explain them", by_run, {**run, "saliency": saliency}),
    )


def _at_most(most: int) -> BeforeValidator:
    """Refuse a list that is too long at once: pydantic would look at every element for faults first."""

    def check(value: Any) -> Any:
        if isinstance(value, list) and len(value) > most:
            raise ValueError(f"has {len(value)} elements, at most {most} are allowed")
        return value

    return BeforeValidator(check)


def _model(name: str, purpose: str, extra: Mapping[str, Any], fields: Fields) -> Any:
    """Return a strict model with these fields, and with more in its JSON Schema."""
    more: Any = {"json_schema_extra": dict(extra)}
    return create_model(name, __base__=StrictModel, __doc__=purpose, __cls_kwargs__=more, **fields)


def response(name: str, takes_body: bool = False) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of a route's responses, by the name of the body in `responses.json`."""
    refused: dict[int | str, dict[str, Any]] = {413: {"$ref": "#/components/responses/Refused"}} if takes_body else {}
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}
    return {200: {"description": "Successful Response", "content": content}, **refused}
