"""`Pretrained`: a pretrained Transformer encoder, from a folder or from the Hugging Face hub.

Weights are read from safetensors alone, and no code that comes with a model is run. A hub name is looked up in the local cache
first, then on the network. transformers and tokenizers raise errors of every kind on a damaged file; here each becomes an
`InputError` that names the file or folder.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError, safe_open
from torch import nn

from pssa.data.files import read_bounded, require_regular, sync_tree
from pssa.data.pieces import PieceCutter
from pssa.data.validation import format_error, is_fault, shorten
from pssa.errors import InputError, MissingExtra
from pssa.models._layers import refuse_outsized

# What the configurations of different architectures call the dropouts of their layers.
_DROPOUTS = (
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "dropout",
    "attention_dropout",
    "embedding_dropout",
    "mlp_dropout",
)
_MAX_POSITIONS = 512  # of an encoder that states no limit
_NO_LIMIT = 10**6  # tokenizers without a limit state an absurd one
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Pretrained:
    """A configuration, a tokenizer and, unless they come from elsewhere, weights."""

    config: Any  # of transformers
    tokenizer: Any  # a fast one
    weights: str = ""  # the folder they are in; empty: the body is drawn at random, to be filled from a file

    @classmethod
    def open(cls, source: str) -> Pretrained:
        """Open the encoder in a folder or, if there is no such folder, the one of that name on the hub."""
        transformers = _transformers()
        folder = find_folder(source)
        with _quiet(transformers):
            config, tokenizer = read_description(transformers, folder)
            check_weights(folder)
            with torch.device("meta"):
                body = _drawn(transformers, deepcopy(config), {})
        held = sum(path.stat().st_size for path in weight_files(folder))
        refuse_outsized(body, held, f"{folder}: config.json describes an encoder")
        return cls(config, tokenizer, str(folder))

    @classmethod
    def load(cls, folder: Path) -> Pretrained:
        """Read what `save` wrote: no weights."""
        transformers = _transformers()
        with _quiet(transformers):
            return cls(*read_description(transformers, folder))

    def save(self, folder: Path) -> None:
        """Write config.json and the tokenizer's files; weights belong to the model."""
        with _quiet(_transformers()):
            self.config.save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)
        sync_tree(folder)

    def body(self, attention: str | None, dropout: float) -> nn.Module:
        """Return the encoder in single precision, without a pooler, with `dropout` in every layer.

        `attention` names an implementation ("eager", "sdpa"); None leaves the choice to transformers. A body without weights, and
        nothing else, draws from torch's global random state.
        """
        transformers = _transformers()
        config = deepcopy(self.config)
        config.output_attentions, config.output_hidden_states, config.return_dict = False, False, True
        for name in _DROPOUTS:
            if hasattr(config, name):
                setattr(config, name, dropout)
        options: dict[str, Any] = {"dtype": torch.float32, "attn_implementation": attention}
        with _quiet(transformers):
            kind = transformers.MODEL_MAPPING[type(config)]  # several, for some architectures
            if "add_pooling_layer" in inspect.signature(kind[0] if isinstance(kind, tuple) else kind).parameters:
                options["add_pooling_layer"] = False  # no loss reaches it
            if self.weights:
                return self._filled(transformers, config, options)
            return _drawn(transformers, config, options)

    def _filled(self, transformers: Any, config: Any, options: dict[str, Any]) -> nn.Module:
        try:
            body, report = transformers.AutoModel.from_pretrained(
                self.weights,
                config=config,
                use_safetensors=True,
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
                **options,
            )
        except Exception as error:  # as many kinds as there are ways to damage a file
            raise InputError(f"{self.weights}: its weights cannot be read ({first_line(error)})") from error
        # transformers would silently draw them at random.
        if missing := sorted(report["missing_keys"]):
            expected = f"expected the weights of a {config.model_type} encoder as config.json describes it"
            raise InputError(f"{self.weights}: {len(missing)} tensors are missing, such as {missing[0]}; {expected}")
        return cast(nn.Module, body)

    @property
    def dimension(self) -> int:
        """D, the width of the encoder's states."""
        return int(self.config.hidden_size)

    @property
    def mask_id(self) -> int:
        """The id that replaces a hidden word's pieces."""
        return int(self.tokenizer.mask_token_id)

    @property
    def pad_id(self) -> int:
        """The id of padding."""
        return int(self.tokenizer.pad_token_id)

    @property
    def max_positions(self) -> int:
        """The longest row that the encoder and its tokenizer allow, special tokens included."""
        limit = getattr(self.config, "max_position_embeddings", None) or 0
        limit = limit - self._first_position if limit > 0 else _MAX_POSITIONS
        stated = self.tokenizer.model_max_length
        return int(min(limit, stated)) if 0 < stated < _NO_LIMIT else int(limit)

    @cached_property
    def _first_position(self) -> int:
        """The first row of the position table in use: in RoBERTa and its kin the one after the padding's, else 0."""
        transformers = _transformers()
        with _quiet(transformers), torch.device("meta"):
            body = _drawn(transformers, deepcopy(self.config), {})
        tables = (module for name, module in body.named_modules() if name.endswith("position_embeddings"))
        padding = getattr(next(tables, None), "padding_idx", None)
        return 0 if padding is None else int(padding) + 1

    def cutter(self, pair: bool, max_positions: int = 0) -> PieceCutter:
        """Return what cuts sentences into this encoder's pieces.

        :param max_positions: of a row; 0: as many as the encoder allows.
        """
        if not 0 <= max_positions <= self.max_positions:
            raise InputError(f"max_pieces is {max_positions}; the encoder takes up to {self.max_positions}")
        return PieceCutter(self.tokenizer, max_positions or self.max_positions, pair)

    def digest(self) -> str:
        """Return the SHA-256 of the weight files; empty where there are none."""
        if not self.weights:
            return ""
        total = hashlib.sha256()
        for path in weight_files(Path(self.weights)):
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    total.update(chunk)
        return total.hexdigest()


def _transformers() -> Any:
    try:
        import transformers
    except ImportError as error:
        raise MissingExtra("transformers", "bert") from error
    return transformers


def _drawn(transformers: Any, config: Any, options: dict[str, Any]) -> nn.Module:
    try:
        body = transformers.AutoModel.from_config(config, trust_remote_code=False, **options)
        return cast(nn.Module, body)
    except Exception as error:  # as many kinds as there are numbers that do not go together
        reason = first_line(error)
        raise InputError(
            f"config.json describes a {config.model_type} encoder that cannot be built ({reason})"
        ) from error


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """Silence progress bars, loading reports and warnings of transformers; `Pretrained` reports what is wrong."""
    log = transformers.utils.logging
    verbosity, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.set_verbosity(verbosity)
        if bars:
            log.enable_progress_bar()


_NEEDED = "a folder with config.json, model.safetensors and a tokenizer"
_HUB_NAME = re.compile(r"[^\W_][\w.-]*(/[^\W_][\w.-]*)?")
# Fetched from a repository: no pickled weights, no weights for other frameworks.
_PATTERNS = ["*.json", "*.txt", "*.model", "model.safetensors", "model-*-of-*.safetensors"]
_INDEX = "model.safetensors.index.json"  # which tensor is in which part
_PICKLED = "pytorch_model*.bin"
_MAX_BYTES, _MAX_TOKENIZER = 1 << 24, 1 << 28  # bytes of config.json and of a tokenizer's file
# Far beyond every encoder there is.
_MOST = {
    "hidden_size": 1 << 17,
    "num_attention_heads": 1 << 17,
    "num_hidden_layers": 200,
    "vocab_size": 10**7,
    "max_position_embeddings": 10**7,
}
_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")


def find_folder(source: str) -> Path:
    """Return the folder `source`, or the cached or downloaded copy of the hub's repository of that name."""
    folder = Path(source).expanduser()
    if source and folder.is_dir():
        return folder
    if folder.exists() or not _HUB_NAME.fullmatch(source):
        raise InputError(f"{source!r} is neither a folder nor a name on the Hugging Face hub; expected {_NEEDED}")
    return _fetch(source)


def _fetch(name: str) -> Path:
    try:
        from huggingface_hub import HfApi, snapshot_download
    except ImportError as error:
        raise MissingExtra("huggingface_hub", "bert") from error
    try:
        cached = Path(snapshot_download(name, local_files_only=True))
        if _is_whole(cached):
            return cached
    except (OSError, ValueError):
        pass  # not in the cache, or not a valid name: the hub's answer decides
    try:
        fetched = Path(snapshot_download(name, allow_patterns=_PATTERNS, ignore_patterns=["*/*"]))
        there = [] if weight_files(fetched) else HfApi().list_repo_files(name)
    except Exception as error:  # of the network, of the hub, of the disk
        raise InputError(
            f"encoder {name!r} is not a folder and could not be fetched from the Hugging Face hub "
            f"({first_line(error)}); check the name and the connection, or name {_NEEDED}"
        ) from error
    if any(fnmatch(file, _PICKLED) for file in there):
        raise InputError(f"encoder {name!r} has only pickled weights on the Hugging Face hub; {_conversion(name)}")
    if there:
        raise InputError(f"encoder {name!r} has no model.safetensors on the Hugging Face hub; expected {_NEEDED}")
    return fetched


def _is_whole(folder: Path) -> bool:
    """Return whether a copy, perhaps interrupted, is complete; in doubt the rest is fetched from the hub."""
    files = weight_files(folder)
    whole = [path.name for path in files] == ["model.safetensors"]
    # The name of every part has their number, and an index lists what is in which.
    if files and not whole:
        whole = files[0].stem.endswith(f"-of-{len(files):05}") and (folder / _INDEX).is_file()
    return whole and (folder / "config.json").is_file() and _has_tokenizer(folder)


def weight_files(folder: Path) -> list[Path]:
    """Return the safetensors files that hold the weights: one, or its parts in order."""
    whole = folder / "model.safetensors"
    return [whole] if whole.is_file() else sorted(folder.glob("model-*-of-*.safetensors"))


def check_weights(folder: Path) -> None:
    """Refuse a folder without weights, or with files that are cut off; only their headers are read."""
    files = weight_files(folder)
    if not files:
        if any(folder.glob(_PICKLED)):
            raise InputError(f"{folder}: has only pickled weights; {_conversion(str(folder))}")
        raise InputError(f"{folder}: has no model.safetensors; expected {_NEEDED}")
    _check_index(folder, {path.name for path in files})
    for path in files:
        try:
            with safe_open(str(path), framework="pt"):
                pass
        except (SafetensorError, OSError) as error:
            reason = first_line(error)
            raise InputError(f"{path}: is damaged or not a safetensors file ({reason}); download it again") from error


def _check_index(folder: Path, files: set[str]) -> None:
    """Refuse an index that names anything but the safetensors files beside it: transformers would open a pickle."""
    path = folder / _INDEX
    if not path.is_file():
        return
    try:
        targets = {*json.loads(read_bounded(path, _MAX_BYTES))["weight_map"].values()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path}: is not an index of weights ({first_line(error)}); download it again") from error
    if others := sorted(map(str, targets - files)):
        what = f"names {shorten(others[0])}, which is not one of the safetensors files beside it"
        raise InputError(f"{path}: {what}; download the encoder again")


def read_description(transformers: Any, folder: Path) -> tuple[Any, Any]:
    """Read configuration and tokenizer of the encoder in `folder`."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.exists():  # libraries open it under names of their own
            require_regular(path)
    config = _read_config(transformers, folder)
    try:
        tokenizer = _read_tokenizer(transformers, folder)
        # Its special tokens need not be in its own vocabulary.
        entries = 1 + max([*tokenizer.get_vocab().values(), *tokenizer("a", "a")["input_ids"]])
    except InputError:
        raise
    except BaseException as error:
        if not is_fault(error):
            raise
        raise InputError(f"{folder}: its tokenizer cannot be read ({first_line(error)})") from error
    for what in ("mask_token", "pad_token", "cls_token", "sep_token"):
        if getattr(tokenizer, what) is None:
            raise InputError(f"{folder}: its tokenizer has no {what}; expected an encoder like BERT")
    if entries > config.vocab_size:
        counts = f"its tokenizer has {entries} entries and its encoder {config.vocab_size}"
        raise InputError(f"{folder}: {counts}; they do not belong together")
    return config, tokenizer


def _read_config(transformers: Any, folder: Path) -> Any:
    path = folder / "config.json"
    if not path.is_file():
        raise InputError(f"{folder}: has no config.json; expected {_NEEDED}")
    try:
        kind = json.loads(read_bounded(path, _MAX_BYTES).decode())["model_type"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: is not a transformers configuration with a model_type; download it again") from error
    known = transformers.CONFIG_MAPPING
    if not (isinstance(kind, str) and kind in known and known[kind] in transformers.MODEL_MAPPING):
        unknown = f"architecture {shorten(kind)} is unknown to transformers {transformers.__version__}"
        raise InputError(f"{path}: {unknown}; use an encoder like BERT")
    try:
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        raise InputError(f"{path}: cannot be read ({first_line(error)}); download it again") from error
    if config.is_encoder_decoder or not hasattr(config, "hidden_size") or not hasattr(config, "vocab_size"):
        raise InputError(f"{path}: {kind} is not a text encoder; use one like BERT")
    for name, most in _MOST.items():
        value = getattr(config, name, 1)
        if type(value) is not int or not 0 < value <= most:
            raise InputError(f"{path}: {name} is {shorten(value)}; expected a whole number from 1 to {most}")
    return config


def _read_tokenizer(transformers: Any, folder: Path) -> Any:
    # transformers would make up an empty vocabulary.
    if not _has_tokenizer(folder):
        raise InputError(f"{folder}: has no tokenizer (tokenizer.json or a vocabulary); expected {_NEEDED}")
    for name in ("tokenizer.json", "vocab.json"):
        if (folder / name).is_file():
            _check_ids(folder / name)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    if not tokenizer.is_fast:
        raise InputError(
            f"{folder}: its tokenizer is not a fast one, which knows where pieces begin; add tokenizer.json"
        )
    if not isinstance(limit := tokenizer.model_max_length, int | float):
        raise InputError(f"{folder}: model_max_length of its tokenizer is {shorten(limit)}; expected a number")
    return tokenizer


def _check_ids(path: Path) -> None:
    """Refuse ids far beyond any vocabulary: tokenizers keeps a list of all ids up to the largest."""
    state = json.loads(read_bounded(path, _MAX_TOKENIZER))
    model = state["model"]["vocab"] if path.name == "tokenizer.json" else state
    ids = [*(model.values() if isinstance(model, dict) else ())]
    ids += [token["id"] for token in state.get("added_tokens") or () if path.name == "tokenizer.json"]
    if not all(type(number) is int and 0 <= number <= _MOST["vocab_size"] for number in ids):
        raise InputError(f"{path}: an id is not a number from 0 to {_MOST['vocab_size']}; download it again")


def _has_tokenizer(folder: Path) -> bool:
    return any(any(folder.glob(pattern)) for pattern in _TOKENIZERS)


def _conversion(source: str) -> str:
    return (
        "they are not read, since pickle can run code; if you trust them, convert them with transformers: "
        f"AutoModel.from_pretrained({source!r}).save_pretrained(DIR), "
        f"AutoTokenizer.from_pretrained({source!r}).save_pretrained(DIR), and name DIR"
    )


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message."""
    lines = str(error).strip().splitlines()
    return format_error(lines[0] if lines else type(error).__name__)
