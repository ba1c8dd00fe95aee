"""Refined self-attention: an encoder cut below its top layer, and the heads of that layer that are mined and supervised.

Section "Progressive Self-supervision for Self-attention within the BERT" of the paper, with its three ways: one head, drawn at
random for the whole run; for each example the head of the smallest entropy; the mean of all heads. The paper means the entropy of
a head's saliency; here it is that of its attention, which needs no gradient inside of training.

transformers has no such cut, so hooks make it: one catches the top layer's arguments before it runs, one reads the attention
that passes from it. They stay on the layer and are active only in `below` and `above`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor, nn

from pssa.errors import InputError
from pssa.models._layers import full_precision, widen
from pssa.models._protocol import Heads, TopLayer

_WAYS = ("none", "random_head", "smallest_entropy", "average")


def check_refine(refine: str) -> None:
    """Refuse an unknown way to choose heads."""
    if refine not in _WAYS:
        raise InputError(f"refine is {refine!r}; it can be {', '.join(_WAYS[:-1])} or {_WAYS[-1]}")


class Refinement(nn.Module):
    """Chooses the heads of a body's top layer, and prepares the body for the cut; it does not own the body."""

    def __init__(self, body: nn.Module, way: str, probe: Mapping[str, Any], generator: torch.Generator) -> None:
        super().__init__()
        n_heads = prepare(body, probe)
        self.by_entropy = way == "smallest_entropy"
        if way == "random_head":
            drawn = torch.randint(n_heads, (), generator=generator)
            # A persistent buffer: a run is loaded without its seed.
            self.register_buffer("share", (torch.arange(n_heads) == drawn).float())
        elif way == "average":
            self.register_buffer("share", torch.full((n_heads,), 1 / n_heads), persistent=False)

    def forward(self, weights: Tensor, rows: Tensor, candidates: Tensor) -> Heads:
        """Choose heads by the attention of the positions `rows` (B, P) on `candidates` (B, P); `weights` are (B, H, P, P)."""
        attended = _row_mean(weights.detach(), rows)  # (B, H, P)
        if not self.by_entropy:
            return Heads(weights, rows, self.get_buffer("share").to(attended.dtype).expand(weights.shape[0], -1))
        attended = attended * candidates.unsqueeze(1)
        shares = attended / attended.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(attended.dtype).tiny)
        entropy = torch.special.entr(shares).sum(dim=-1)  # (B, H)
        # Compared, since `one_hot` would wait for the device.
        places = torch.arange(entropy.shape[1], device=entropy.device)
        return Heads(weights, rows, (places == entropy.argmin(dim=1, keepdim=True)).to(attended.dtype))


def attention_of(heads: Heads, candidates: Tensor) -> Tensor:
    """Return the attention of the chosen heads on each of `candidates` (B, P), mean over the rows that count: (B, P).

    The rest of a row's weight lies on the aspect and on special tokens, so that a sum is at most one.
    """
    with full_precision(heads.weights):
        return torch.einsum("bh,bhp->bp", heads.share, _row_mean(heads.weights, heads.rows)) * candidates


def _row_mean(weights: Tensor, rows: Tensor) -> Tensor:
    # (B, H, P)
    with full_precision(weights):
        weights = widen(weights)
        counted = rows.to(weights.dtype)
        return torch.einsum("bhqp,bq->bhp", weights, counted / counted.sum(dim=1, keepdim=True).clamp(min=1))


# Where architectures keep their layers, where a layer keeps its attention, and where that keeps its own dropout.
_LAYERS = ("encoder.layer", "layers", "transformer.layer")
_ATTENTIONS = ("attention", "attn")
_INNERMOST = ("self", "attn")

# Where the hooks put what they catch. Each thread has its own, so that several may use one model.
_catching: ContextVar[list[Any] | None] = ContextVar("catching", default=None)
_reading: ContextVar[list[Any] | None] = ContextVar("reading", default=None)


class _Caught(Exception):
    """Ends the body's run at the top layer."""


def prepare(body: nn.Module, probe: Mapping[str, Any]) -> int:
    """Prepare the body for the cut, switch off dropout of its top attention, and return the number of heads.

    :raises InputError: if the body, tried with the inputs `probe`, cannot be cut because its architecture is unusual.
    """
    try:
        layer = _top_layer(body)
        attention = _first(layer, _ATTENTIONS)
        _drop_nothing(_first(attention, _INNERMOST, attention))
        layer.register_forward_pre_hook(_catch, with_kwargs=True)
        attention.register_forward_hook(_read)
        return _try_out(body, probe)
    except (AttributeError, IndexError, RuntimeError, TypeError) as error:
        kind = getattr(body.config, "model_type", type(body).__name__)
        raise InputError(f"the self-attention of {kind} encoders cannot be refined; set refine to none") from error


def below(body: nn.Module, inputs: Mapping[str, Any]) -> tuple[Tensor, TopLayer]:
    """Return the top layer's input (B, P, D), and its other arguments."""
    with _collecting(_catching) as caught, suppress(_Caught):
        body(**inputs)
    if not caught:
        raise AttributeError("the top layer was not called")
    (words, *arguments), keywords = caught[0]
    return words, (words.shape[0], tuple(arguments), keywords)


def above(body: nn.Module, words: Tensor, top: TopLayer) -> tuple[Tensor, Tensor]:
    """Return the body's states (B, P, D) from the top layer's input, and the layer's attention (B, H, P, P).

    `words` may be the batch that `top` is of, stacked several times.
    """
    rows, arguments, keywords = top
    layer, times = _top_layer(body), words.shape[0] // rows
    keywords = {name: _repeat(value, times, rows) for name, value in keywords.items()}
    if "output_attentions" in inspect.signature(layer.forward).parameters:
        keywords["output_attentions"] = True  # some layers do not return it otherwise
    with _collecting(_reading) as read:
        states = layer(words, *(_repeat(value, times, rows) for value in arguments), **keywords)
    states = states[0] if isinstance(states, tuple) else states
    norm = getattr(body, "final_norm", None)  # ModernBERT's
    return (states if norm is None else norm(states)), read[0]


def _catch(layer: nn.Module, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    caught = _catching.get()
    if caught is not None:
        caught.append((arguments, keywords))
        # An exporter cannot follow an exception; the top layer then runs in vain, and is left out of the export.
        if not torch.compiler.is_compiling():
            raise _Caught


def _read(attention: nn.Module, arguments: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    read = _reading.get()
    if read is not None:
        read.append(output[1])


@contextmanager
def _collecting(variable: ContextVar[list[Any] | None]) -> Iterator[list[Any]]:
    """Let the hook of `variable` add to a list for a while."""
    found: list[Any] = []
    token = variable.set(found)
    try:
        yield found
    finally:
        variable.reset(token)


def _top_layer(body: nn.Module) -> Any:
    for path in _LAYERS:
        found: Any = body
        for name in path.split("."):
            found = getattr(found, name, None)
        if isinstance(found, nn.ModuleList):
            return found[-1]
    raise AttributeError("no list of layers")


def _first(module: Any, names: tuple[str, ...], otherwise: Any = None) -> Any:
    found = next(
        (getattr(module, name) for name in names if isinstance(getattr(module, name, None), nn.Module)), otherwise
    )
    if found is None:
        raise AttributeError(f"no {' or '.join(names)}")
    return found


def _drop_nothing(attention: Any) -> None:
    """Set the dropout of attention probabilities to zero: what is supervised has to be the probabilities themselves."""
    if isinstance(getattr(attention, "dropout", None), nn.Dropout):
        attention.dropout.p = 0.0
    elif isinstance(attention.attention_dropout, float):
        attention.attention_dropout = 0.0
    else:
        raise AttributeError("no dropout of attention")


@torch.no_grad()
def _try_out(body: nn.Module, probe: Mapping[str, Any]) -> int:
    training = body.training
    body.eval()
    words, top = below(body, probe)
    states, weights = above(body, words.repeat(2, 1, 1), top)
    whole = body(**probe).last_hidden_state.repeat(2, 1, 1)
    body.train(training)
    if weights.dim() != 4 or not torch.allclose(states, whole, atol=1e-4):
        raise AttributeError("something happens above the top layer")
    return weights.shape[1]


def _repeat(value: Any, times: int, rows: int) -> Any:
    """Repeat a tensor with a row for each of the `rows` examples `times` times; return anything else as it is."""
    if isinstance(value, tuple | list):
        return tuple(_repeat(part, times, rows) for part in value)
    if not isinstance(value, Tensor) or times == 1 or rows == 1 or value.shape[0] != rows or value.dim() < 3:
        return value
    return value.repeat(times, *([1] * (value.dim() - 1)))
