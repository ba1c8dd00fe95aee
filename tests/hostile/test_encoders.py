"""Folders of encoders from strangers: no code of theirs runs, and what they describe is never larger than what they hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from tests.models.encoders import tiny_encoder, write_encoder

from pssa.errors import InputError
from pssa.models import Pretrained
from pssa.models._plain_tokenizer import PlainTokenizer

MARKING = """
from pathlib import Path
Path({marker!r}).touch()
class Custom:
    pass
CustomConfig = CustomModel = CustomTokenizer = Custom
"""


def change(path: Path, **values: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | values), "utf-8")


def bring_code(folder: Path, marker: Path, **values: Any) -> None:
    """Let configuration and tokenizer name classes in a file that leaves a mark when it is run."""
    (folder / "custom.py").write_text(MARKING.format(marker=str(marker)), "utf-8")
    named = {"AutoConfig": "custom.CustomConfig", "AutoModel": "custom.CustomModel"}
    tokenizers = {"AutoTokenizer": ["custom.CustomTokenizer", "custom.CustomTokenizer"]}
    change(folder / "config.json", auto_map=named, **values)
    change(folder / "tokenizer_config.json", auto_map=tokenizers, tokenizer_class="CustomTokenizer")


def test_code_that_a_folder_brings_is_not_run(tmp_path: Path) -> None:
    write_encoder(tmp_path / "encoder")
    bring_code(tmp_path / "encoder", tmp_path / "marker")
    found = Pretrained.open(str(tmp_path / "encoder"))
    assert type(found.tokenizer).__module__.startswith("transformers.")
    assert type(found.body(None, 0.1)).__module__.startswith("transformers.models.bert")
    assert not (tmp_path / "marker").exists()
    bring_code(tmp_path / "encoder", tmp_path / "marker", model_type="custom")
    with pytest.raises(InputError, match="architecture 'custom' is unknown to"):
        Pretrained.open(str(tmp_path / "encoder"))
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize("target", ["pytorch_model.bin", "../other/model-00001-of-00001.safetensors", "/etc/passwd", 7])
def test_an_index_names_only_safetensors_files_beside_it(tmp_path: Path, target: Any) -> None:
    for name in ("encoder", "other"):
        write_encoder(tmp_path / name)
        (tmp_path / name / "model.safetensors").rename(tmp_path / name / "model-00001-of-00001.safetensors")
    folder = tmp_path / "encoder"
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    with safe_open(str(folder / "model-00001-of-00001.safetensors"), framework="pt") as weights:
        names = list(weights.keys())
    index = folder / "model.safetensors.index.json"

    def write_index(target: Any) -> None:
        index.write_text(json.dumps({"metadata": {}, "weight_map": dict.fromkeys(names, target)}), "utf-8")

    write_index("model-00001-of-00001.safetensors")
    assert Pretrained.open(str(folder)).body(None, 0.1)
    write_index(target)
    with pytest.raises(InputError, match=r"index\.json: names .*, which is not one"):
        Pretrained.open(str(folder))
    index.write_text("[]", "utf-8")
    with pytest.raises(InputError, match="is not an index of weights"):
        Pretrained.open(str(folder))


SIZES: dict[str, tuple[dict[str, Any], str]] = {
    "width": ({"hidden_size": 10**9}, "hidden_size is 1000000000; expected a whole number from 1 to 131072"),
    "a width that could be": ({"hidden_size": 50_000}, r"describes an encoder of \d+ numbers, but its weights have"),
    "layers": ({"num_hidden_layers": 10**9}, "num_hidden_layers is 1000000000; expected a whole number from 1 to 200"),
    "some layers": ({"num_hidden_layers": 200, "intermediate_size": 2000}, r"describes an encoder of \d+ numbers"),
    "entries": ({"vocab_size": 10**12}, "vocab_size is 1000000000000; expected a whole number from 1 to 10000000"),
    "positions": ({"max_position_embeddings": 10**7}, r"describes an encoder of \d+ numbers"),
    "no heads": ({"num_attention_heads": 0}, "num_attention_heads is 0; expected"),
    "heads that do not divide": ({"num_attention_heads": 5}, "describes a bert encoder that cannot be built"),
    "a type": ({"model_type": ["bert"]}, r"architecture \['bert'\] is unknown"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SIZES)
def test_a_configuration_larger_than_its_weights_is_refused(tmp_path: Path, kind: str) -> None:
    values, message = SIZES[kind]
    write_encoder(tmp_path)
    change(tmp_path / "config.json", **values)
    with pytest.raises(InputError, match=message):
        Pretrained.open(str(tmp_path))


def changed_tokenizer(change: Callable[[dict[str, Any]], object]) -> Callable[[str], str]:
    def write(content: str) -> str:
        state = json.loads(content)
        change(state)
        return json.dumps(state)

    return write


def move_template(state: dict[str, Any]) -> None:
    for token in state["post_processor"]["special_tokens"].values():
        token["ids"] = [10**6]


TOKENIZERS: dict[str, tuple[Callable[[str], str], str]] = {
    "a far entry": (
        changed_tokenizer(lambda state: state["model"]["vocab"].update(far=2**32 - 1)),
        "not a number from 0 to 10000000",
    ),
    "a far token": (
        changed_tokenizer(lambda state: state["added_tokens"][0].update(id=2**31)),
        "not a number from 0 to 10000000",
    ),
    "a far template": (changed_tokenizer(move_template), "its tokenizer has 1000001 entries and its encoder"),
    "garbage": (lambda _: "garbage", "tokenizer"),
    "depth": (lambda _: "[" * 100_000, "tokenizer"),
    "nothing": (lambda _: "{}", "tokenizer"),
    "entries without numbers": (lambda _: '{"model": {"vocab": {"a": "b"}}}', "tokenizer"),
}


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_a_tokenizer_made_to_harm_is_refused(tmp_path: Path, kind: str) -> None:
    spoil, message = TOKENIZERS[kind]
    write_encoder(tmp_path)
    path = tmp_path / "tokenizer.json"
    path.write_text(spoil(path.read_text("utf-8")), "utf-8")
    with pytest.raises(InputError, match=message) as caught:
        Pretrained.open(str(tmp_path))
    assert str(caught.value).isprintable()


def test_a_length_that_is_no_number_is_refused(tmp_path: Path) -> None:
    write_encoder(tmp_path)
    change(tmp_path / "tokenizer_config.json", model_max_length="long")
    with pytest.raises(InputError, match="of its tokenizer is 'long'"):
        Pretrained.open(str(tmp_path))


def test_a_tokenizer_that_panics_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    class Broken:
        def encode_batch(self, *_: Any, **__: Any) -> None:
            raise PanicException("index out of bounds")

    reader = PlainTokenizer(tiny_encoder().tokenizer)
    monkeypatch.setitem(reader.__dict__, "_first", Broken())
    with pytest.raises(InputError, match=r"tokenizer.*\(index out of bounds\)"):
        reader.read(["a menu"], [[]])


def test_sizes_are_looked_at_without_memory_for_them(tmp_path: Path) -> None:
    write_encoder(tmp_path)
    before = torch.random.get_rng_state()
    Pretrained.open(str(tmp_path))
    assert torch.equal(torch.random.get_rng_state(), before)
