"""The files of a pretrained encoder: where they are, whether they are whole, and what they describe.

transformers and tokenizers raise errors of every kind on a damaged file; here each becomes an `InputError` that names the file
or folder.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from pssa.errors import InputError, MissingExtra

__all__ = ["check_weights", "find_folder", "first_line", "read_description", "weight_files"]

_NEEDED = "a folder with config.json, model.safetensors and a tokenizer"
_HUB_NAME = re.compile(r"[^\W_][\w.-]*(/[^\W_][\w.-]*)?")
# What is fetched of a repository: no pickled weights, no weights for other frameworks.
_WANTED = ["*.json", "*.txt", "*.model", "model.safetensors", "model-*-of-*.safetensors"]
_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")


def find_folder(source: str) -> Path:
    """The folder `source`, or the cached or downloaded copy of the hub's repository of that name."""
    folder = Path(source).expanduser()
    if source and folder.is_dir():
        return folder
    if folder.exists() or not _HUB_NAME.fullmatch(source):
        raise InputError(f"{source!r} is neither a folder nor a name on the Hugging Face hub; expected {_NEEDED}")
    return _fetch(source)


def _fetch(name: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise MissingExtra("huggingface_hub", "bert") from error
    try:
        cached = Path(snapshot_download(name, local_files_only=True))
        if (cached / "config.json").is_file() and weight_files(cached):
            return cached
    except (OSError, ValueError):
        pass  # not in the cache, or no name that could be; the hub says which
    try:
        return Path(snapshot_download(name, allow_patterns=_WANTED, ignore_patterns=["*/*"]))
    except Exception as error:  # of the network, of the hub, of the disk
        raise InputError(
            f"encoder {name!r} is no folder here and could not be fetched from the Hugging Face hub "
            f"({first_line(error)}); check the name and the connection, or give {_NEEDED}"
        ) from error


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files that hold the weights: one, or its parts in order."""
    whole = folder / "model.safetensors"
    return [whole] if whole.is_file() else sorted(folder.glob("model-*-of-*.safetensors"))


def check_weights(folder: Path) -> None:
    """Refuse a folder without weights, or with files that are cut off; only their headers are read."""
    files = weight_files(folder)
    if not files:
        pickled = " (pytorch_model.bin is pickled and is not read: convert it)" if _has_pickle(folder) else ""
        raise InputError(f"{folder}: has no model.safetensors{pickled}; expected {_NEEDED}")
    for path in files:
        try:
            with safe_open(str(path), framework="pt"):
                pass
        except (SafetensorError, OSError) as error:
            raise InputError(
                f"{path}: is damaged or no safetensors file ({first_line(error)}); get it again"
            ) from error


def read_description(transformers: Any, folder: Path) -> tuple[Any, Any]:
    """Configuration and tokenizer of the encoder in `folder`."""
    config, tokenizer = _read_config(transformers, folder), _read_tokenizer(transformers, folder)
    for what in ("mask_token", "pad_token", "cls_token", "sep_token"):
        if getattr(tokenizer, what) is None:
            raise InputError(f"{folder}: its tokenizer has no {what}; expected an encoder like BERT")
    if len(tokenizer) > config.vocab_size:
        raise InputError(
            f"{folder}: its tokenizer has {len(tokenizer)} entries and its encoder {config.vocab_size}; "
            "they do not belong together"
        )
    return config, tokenizer


def _read_config(transformers: Any, folder: Path) -> Any:
    path = folder / "config.json"
    if not path.is_file():
        raise InputError(f"{folder}: has no config.json; expected {_NEEDED}")
    try:
        kind = json.loads(path.read_text("utf-8"))["model_type"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: is no configuration of transformers with a model_type; get it again") from error
    if kind not in transformers.CONFIG_MAPPING or transformers.CONFIG_MAPPING[kind] not in transformers.MODEL_MAPPING:
        version = transformers.__version__
        raise InputError(
            f"{path}: architecture {kind!r} is unknown to transformers {version}; use an encoder like BERT"
        )
    try:
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        raise InputError(f"{path}: cannot be read ({first_line(error)}); get it again") from error
    if config.is_encoder_decoder or not hasattr(config, "hidden_size") or not hasattr(config, "vocab_size"):
        raise InputError(f"{path}: {kind} is no text encoder; use one like BERT")
    return config


def _read_tokenizer(transformers: Any, folder: Path) -> Any:
    # transformers would make up an empty vocabulary.
    if not any(any(folder.glob(pattern)) for pattern in _TOKENIZERS):
        raise InputError(f"{folder}: has no tokenizer (tokenizer.json or a vocabulary); expected {_NEEDED}")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        raise InputError(f"{folder}: its tokenizer cannot be read ({first_line(error)})") from error
    if not tokenizer.is_fast:
        raise InputError(f"{folder}: its tokenizer is not a fast one (tokenizer.json), which tells where pieces begin")
    return tokenizer


def _has_pickle(folder: Path) -> bool:
    return any(folder.glob("pytorch_model*.bin"))


def first_line(error: Exception) -> str:
    """The first line of what an error says."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
