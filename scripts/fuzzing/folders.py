"""Targets of the room `runs`: each file of a run directory, of an encoder's folder, and the configuration."""

from __future__ import annotations

import contextlib
import json
import math
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from hypothesis.strategies import SearchStrategy
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from fuzzing.grammars import json_document, pieces_of, safetensors_file, toml_document
from fuzzing.target import Attack, Target
from pssa.data import embedded
from pssa.errors import InputError
from pssa.models import Pretrained, build
from pssa.report.run_report import write_report
from pssa.runs import load
from pssa.runs.directory import FileStore
from pssa.runs.run_names import starter_run
from pssa.runs.setting_types import parse_value
from pssa.runs.settings import Config
from pssa.runs.training_run import write_run

__all__ = ["folder_targets"]

_TINY: dict[str, Any] = {"epochs": 1, "batch_size": 8, "device": "cpu"}
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_OVERRIDES = ("dimension=", "seed=", "labels=", "learning_rate=", "model=", "options.dropout=", "x=", "[", "]", "1", "-1",
    "nan", "inf", "1e400", '"a"', "true", "{a=1}", "memnet", "tnet", ",", "9" * 5000)  # fmt: skip


def folder_targets(folder: Path) -> dict[str, Target]:
    """By name; runs and an encoder are made in `folder`."""
    corpus = embedded.load("train").select(range(24))
    run = write_run(corpus, folder / "run", model="memnet", dimension=4, **_TINY)
    write_encoder(folder / "encoder")
    encoded = write_run(corpus, folder / "encoded", model="bertabsa_att", encoder=str(folder / "encoder"), **_TINY)
    found = _files("run", run, ("config.toml", "model.json", "model.safetensors", "vocabulary.json"), _answer, 0.25)
    found |= _files("reported", _reported(folder, run), ("metrics.json", "history.jsonl"), _report, 0.1)
    ready = Path(shutil.copytree(starter_run(), folder / "ready"))
    found |= _files("ready", ready, ("model.json", "heads.safetensors"), _answer, 0.04)
    found |= _files("ready", ready, ("calibration.json", "inputs.json"), _judge, 0.04)
    found |= _files("encoded", encoded, ("encoder/config.json", "encoder/tokenizer.json"), _answer, 0.04)
    names = ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors")
    found |= _files("encoder", folder / "encoder", names, _open_encoder, 0.04)
    config = (run / "config.toml").read_bytes()
    checkpoint = _checkpoint_file()
    return found | {
        "config": Target(_config, (config,), (b"[", b"]", b"="), toml_document(tomllib.loads(config.decode()))),
        "override": Target(
            _override, (b"dimension=8", b'labels=["a","b"]', b"model=tnet"), grown=pieces_of(*_OVERRIDES)
        ),
        "checkpoint": Target(_checkpoint, (checkpoint,), grown=safetensors_file(checkpoint), share=0.5),
    }


def write_encoder(folder: Path) -> None:
    """An encoder of one layer, with weights and a tokenizer, as from elsewhere."""
    letters = [*"abcdefghijklmnopqrstuvwxyz.,'"]
    pieces = [*_SPECIAL, *letters, *(f"##{letter}" for letter in letters), "the", "screen"]
    inner = Tokenizer(models.WordPiece({piece: place for place, piece in enumerate(pieces)}, unk_token="[UNK]"))  # noqa: S106
    inner.normalizer, inner.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    inner.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), _SPECIAL, strict=True))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, **names)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    config = transformers.BertConfig(vocab_size=len(pieces), max_position_embeddings=64, **sizes)
    encoder = Pretrained(config, tokenizer)
    encoder.save(folder)
    body: Any = encoder.body(None, 0.1)
    transformers.utils.logging.disable_progress_bar()
    body.save_pretrained(folder)


def _files(
    kind: str, folder: Path, names: tuple[str, ...], use: Callable[[Path], None], share: float
) -> dict[str, Target]:
    return {
        f"{kind}/{name}": Target(
            _replacing(folder, name, use), ((folder / name).read_bytes(),), grown=_grown(folder / name), share=share
        )
        for name in names
    }


def _grown(path: Path) -> SearchStrategy[bytes]:
    content = path.read_bytes()
    if path.suffix == ".safetensors":
        return safetensors_file(content)
    return (
        toml_document(tomllib.loads(content.decode())) if path.suffix == ".toml" else json_document(json.loads(content))
    )


def _replacing(source: Path, name: str, use: Callable[[Path], None]) -> Callable[[Path], Attack]:
    """An attack on one file of a folder."""

    def prepare(folder: Path) -> Attack:
        copied = shutil.copytree(source, folder / "copied")

        def attack(content: bytes) -> None:
            (copied / name).unlink()  # it may still be mapped into memory
            (copied / name).write_bytes(content)
            use(copied)

        return attack

    return prepare


def _answer(run: Path) -> None:
    """A run that can be loaded must answer."""
    answer = load(run).predict("the screen is bright, the menu is not", "screen")
    if not all(map(math.isfinite, answer.probabilities.values())):
        raise AssertionError(f"the answer is {answer}")


def _reported(folder: Path, run: Path) -> Path:
    """A run whose history is one line."""
    copied = Path(shutil.copytree(run, folder / "reported"))
    with (copied / "history.jsonl").open("rb") as stream:
        first = stream.readline()
    (copied / "history.jsonl").write_bytes(first)
    return copied


def _report(run: Path) -> None:
    """A run that can be loaded can be reported."""
    write_report(run, run.parent / "report.html")


def _judge(run: Path) -> None:
    """A run with a tagger that can be loaded finds aspects and judges them, carefully too."""
    judge = load(run).predict
    for answer in judge("The food was great, but the service was slow."):
        if not all(map(math.isfinite, answer.probabilities.values())):
            raise AssertionError(f"the answer is {answer}")
    with contextlib.suppress(InputError):
        load(run).abstaining(risk=0.1)


def _open_encoder(folder: Path) -> None:
    """An encoder that can be opened must be fit for a model."""
    encoder = Pretrained.open(str(folder))
    encoder.cutter(False)
    build("bertabsa_att", encoder, 3, {}, 0)


def _config(folder: Path) -> Attack:
    path = folder / "config.toml"

    def attack(content: bytes) -> None:
        path.write_bytes(content)
        config = Config.from_toml(path)
        path.write_bytes(config.to_toml().encode())
        Config.from_toml(path)

    return attack


def _override(folder: Path) -> Attack:
    def attack(content: bytes) -> None:
        name, _, value = content.decode("utf-8", "surrogateescape").partition("=")
        Config().updated({name: parse_value(value)})

    return attack


def _checkpoint(folder: Path) -> Attack:
    path = folder / "checkpoint.safetensors"

    def attack(content: bytes) -> None:
        path.unlink(missing_ok=True)
        path.write_bytes(content)
        FileStore(path).load()

    return attack


def _checkpoint_file() -> bytes:
    from safetensors.torch import save

    history = json.dumps([{"stage": "search", "epoch": 1, "loss": 0.5, "penalty": 0.0, "accuracy": 0.5}])
    return bytes(save({"model.words": torch.zeros(2, 3), "optimizer.0.step": torch.ones(1)}, {"history": history}))
