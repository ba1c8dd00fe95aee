"""The folder of a pretrained encoder: found on disk or on the Hugging Face hub, and checked before anything is built from it.

transformers and tokenizers raise errors of every kind on a damaged file; `refuse_faults` makes each an `InputError` that names
the file or folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from safetensors import safe_open

from pssa.data.files import read_bounded, require_regular
from pssa.data.validation import format_error, is_fault, shorten
from pssa.errors import InputError, MissingExtra

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
        raise MissingExtra("huggingface_hub", "train") from error
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
        with refuse_faults(f"{path}: is damaged or not a safetensors file"), safe_open(str(path), framework="pt"):
            pass


def _check_index(folder: Path, files: set[str]) -> None:
    """Refuse an index that names anything but the safetensors files beside it: transformers would open a pickle."""
    path = folder / _INDEX
    if not path.is_file():
        return
    with refuse_faults(f"{path}: is not an index of weights"):
        targets = {*json.loads(read_bounded(path, _MAX_BYTES))["weight_map"].values()}
    if others := sorted(map(str, targets - files)):
        what = f"names {shorten(others[0])}, which is not one of the safetensors files beside it"
        raise InputError(f"{path}: {what}; download the encoder again")


def read_description(transformers: Any, folder: Path) -> tuple[Any, Any]:
    """Read configuration and tokenizer of the encoder in `folder`."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.exists():  # libraries open it under names of their own
            require_regular(path)
    config = _read_config(transformers, folder)
    with refuse_faults(f"{folder}: its tokenizer cannot be read"):
        tokenizer = _read_tokenizer(transformers, folder)
        # Its special tokens need not be in its own vocabulary.
        entries = 1 + max([*tokenizer.get_vocab().values(), *tokenizer("a", "a")["input_ids"]])
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
    with refuse_faults(f"{path}: is not a transformers configuration with a model_type"):
        kind = json.loads(read_bounded(path, _MAX_BYTES).decode())["model_type"]
    known = transformers.CONFIG_MAPPING
    if not (isinstance(kind, str) and kind in known and known[kind] in transformers.MODEL_MAPPING):
        unknown = f"architecture {shorten(kind)} is unknown to transformers {transformers.__version__}"
        raise InputError(f"{path}: {unknown}; use an encoder like BERT")
    with refuse_faults(f"{path}: cannot be read"):
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
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


@contextmanager
def refuse_faults(what: str, advice: str = "download it again") -> Iterator[None]:
    """Turn an error of a library about a file into an `InputError` that says what is wrong."""
    try:
        yield
    except InputError:
        raise
    except BaseException as error:
        if not is_fault(error):
            raise
        raise InputError(f"{what} ({first_line(error)}); {advice}") from error


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message."""
    lines = str(error).strip().splitlines()
    return format_error(lines[0] if lines else type(error).__name__)
