"""`Pretrained`: what is read, what is written, and the body that comes of it."""

from __future__ import annotations

import hashlib
import sys
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from tests.models.encoders import ARCHITECTURES, tiny_encoder, write_encoder
from torch import nn

from pssa.errors import InputError, MissingExtra
from pssa.models import Pretrained

every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)


@every_architecture
def test_a_folder_gives_the_body_with_its_weights_in_single_precision(architecture: str, tmp_path: Path) -> None:
    written = write_encoder(tmp_path, architecture, torch.bfloat16)
    body = Pretrained.open(str(tmp_path)).body(None, 0.1)
    found = body.state_dict()
    assert {tensor.dtype for tensor in found.values()} == {torch.float32}
    assert found.keys() == written.state_dict().keys()
    assert all(torch.equal(tensor, written.state_dict()[key].float()) for key, tensor in found.items())


@every_architecture
def test_a_body_has_no_pooler_and_its_dropout_everywhere(architecture: str) -> None:
    body = tiny_encoder(architecture).body(None, 0.25)
    assert [key for key, _ in body.named_parameters() if "pooler" in key] == []
    assert {module.p for module in body.modules() if isinstance(module, nn.Dropout)} == {0.25}
    attention = [module.attention_dropout for module in body.modules() if hasattr(module, "attention_dropout")]
    assert set(attention) <= {0.25}
    assert tiny_encoder(architecture).config.to_dict().get("hidden_dropout_prob", 0.1) == 0.1


def test_a_pooler_that_the_weights_have_is_left_where_it_is(tmp_path: Path) -> None:
    write_encoder(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    save_file(tensors | {"pooler.dense.weight": torch.ones(16, 16)}, tmp_path / "model.safetensors", {"format": "pt"})
    assert "pooler.dense.weight" not in Pretrained.open(str(tmp_path)).body(None, 0.1).state_dict()


@pytest.mark.parametrize(
    ("architecture", "asked", "expected"),
    [("bert", None, "sdpa"), ("bert", "eager", "eager"), ("mpnet", None, "eager")],  # MPNet has no other
)
def test_attention_is_the_fast_one_unless_another_is_asked_for(
    architecture: str, asked: str | None, expected: str
) -> None:
    body: Any = tiny_encoder(architecture).body(asked, 0.1)
    assert body.config._attn_implementation == expected


def test_a_configuration_that_asks_for_more_outputs_is_not_followed() -> None:
    start = replace(tiny_encoder(), config=deepcopy(tiny_encoder().config))
    start.config.output_hidden_states, start.config.return_dict = True, False
    output = start.body(None, 0.0)(input_ids=torch.ones(1, 4, dtype=torch.long))
    assert list(output.keys()) == ["last_hidden_state"]
    assert start.config.output_hidden_states


def test_a_large_model_may_come_in_parts(tmp_path: Path) -> None:
    body = write_encoder(tmp_path, parts="20KB")
    assert len(list(tmp_path.glob("model-*-of-*.safetensors"))) > 1
    opened = Pretrained.open(str(tmp_path))
    read = opened.body(None, 0.1).state_dict()
    assert all(torch.equal(tensor, read[key]) for key, tensor in body.state_dict().items())
    joined = b"".join(path.read_bytes() for path in sorted(tmp_path.glob("model-*.safetensors")))
    assert opened.digest() == hashlib.sha256(joined).hexdigest()


@every_architecture
def test_what_is_saved_reads_back_without_weights(architecture: str, tmp_path: Path) -> None:
    start = tiny_encoder(architecture)
    start.save(tmp_path / "encoder")
    loaded = Pretrained.load(tmp_path / "encoder")
    assert loaded.weights == ""
    assert _settings(loaded) == _settings(start)
    text = "the laptops' battery isn't great"
    assert loaded.tokenizer(text, text)["input_ids"] == start.tokenizer(text, text)["input_ids"]
    assert (loaded.mask_id, loaded.pad_id, loaded.max_positions) == (start.mask_id, start.pad_id, start.max_positions)
    assert loaded.body(None, 0.1).state_dict().keys() == start.body(None, 0.1).state_dict().keys()


def _settings(pretrained: Pretrained) -> dict[str, Any]:
    return {key: value for key, value in pretrained.config.to_dict().items() if key not in ("_name_or_path", "dtype")}


def test_what_is_saved_is_text_and_names_no_folder(tmp_path: Path) -> None:
    write_encoder(tmp_path / "source")
    Pretrained.open(str(tmp_path / "source")).save(tmp_path / "first")
    Pretrained.load(tmp_path / "first").save(tmp_path / "second")
    for path in (tmp_path / "first").iterdir():
        assert path.suffix in (".json", ".txt")
        assert str(tmp_path) not in path.read_text("utf-8")
        assert path.read_bytes() == (tmp_path / "second" / path.name).read_bytes()
    assert (tmp_path / "first" / "config.json").is_file()


def test_the_digest_is_that_of_the_weights(tmp_path: Path) -> None:
    write_encoder(tmp_path)
    opened = Pretrained.open(str(tmp_path))
    content = (tmp_path / "model.safetensors").read_bytes()
    assert opened.digest() == hashlib.sha256(content).hexdigest()
    assert replace(opened, weights="").digest() == ""


def test_positions_are_what_encoder_and_tokenizer_both_allow() -> None:
    assert tiny_encoder("bert").max_positions == 128
    # The first position of these is the one after the padding's id, which is 1.
    assert tiny_encoder("roberta").max_positions == tiny_encoder("mpnet").max_positions == 126
    start = replace(tiny_encoder("bert"), tokenizer=deepcopy(tiny_encoder("bert").tokenizer))
    start.tokenizer.model_max_length = 100
    assert start.max_positions == 100
    start.tokenizer.model_max_length = 400
    assert start.max_positions == 128


def test_roberta_reads_its_last_position() -> None:
    start = tiny_encoder("roberta")
    ids = torch.full((1, start.max_positions), 9)
    assert start.body(None, 0.0)(input_ids=ids).last_hidden_state.shape == (1, 126, 16)
    with pytest.raises((IndexError, RuntimeError)):
        start.body(None, 0.0)(input_ids=torch.full((1, 127), 9))


# Kin of RoBERTa whose names do not say so.
KIN = {
    "esm": transformers.EsmConfig,
    "ibert": transformers.IBertConfig,
    "longformer": transformers.LongformerConfig,
    "roberta-prelayernorm": transformers.RobertaPreLayerNormConfig,
}


@pytest.mark.parametrize("kind", KIN)
def test_positions_that_begin_after_the_padding_are_known_by_their_table(kind: str) -> None:
    start = tiny_encoder("roberta")
    sizes = {key: value for key, value in start.config.to_dict().items() if key != "model_type"}
    encoder = Pretrained(KIN[kind](**sizes | {"attention_window": [4, 4]}), start.tokenizer)
    assert encoder.max_positions == 128 - (start.config.pad_token_id + 1)
    states = encoder.body(None, 0.0)(input_ids=torch.full((1, encoder.max_positions), 9)).last_hidden_state
    assert states.shape == (1, 126, 16)


@pytest.mark.parametrize("stated", [-1, 0])
def test_an_encoder_without_a_limit_reads_a_usual_number_of_positions(stated: int) -> None:
    start = replace(tiny_encoder("modernbert"), config=deepcopy(tiny_encoder("modernbert").config))
    start.config.max_position_embeddings = stated
    assert start.max_positions == 512


def test_a_cutter_keeps_to_the_encoders_positions() -> None:
    start = tiny_encoder()
    assert (start.cutter(pair=True).max_positions, start.cutter(pair=True).pair) == (128, True)
    assert (start.cutter(pair=False, max_positions=12).max_positions, start.cutter(pair=False).pair) == (12, False)
    for wrong in (129, -1):
        with pytest.raises(InputError, match=f"at most {wrong} pieces are asked for; the encoder takes up to 128"):
            start.cutter(pair=False, max_positions=wrong)


def test_nothing_is_printed_and_the_loudness_of_transformers_stays(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write_encoder(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    save_file(tensors | {"stray": torch.ones(1)}, tmp_path / "model.safetensors", {"format": "pt"})
    log = transformers.utils.logging
    before = log.get_verbosity(), log.is_progress_bar_enabled()
    capfd.readouterr()
    Pretrained.open(str(tmp_path)).body(None, 0.1)
    assert capfd.readouterr() == ("", "")
    assert (log.get_verbosity(), log.is_progress_bar_enabled()) == before


def test_weights_that_miss_a_tensor_are_refused(tmp_path: Path) -> None:
    write_encoder(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    del tensors["encoder.layer.1.output.dense.bias"]
    save_file(tensors, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match=r"1 tensors are missing, such as encoder.layer.1.output.dense.bias"):
        Pretrained.open(str(tmp_path)).body(None, 0.1)


def test_weights_of_another_size_are_refused(tmp_path: Path) -> None:
    write_encoder(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    tensors["encoder.layer.1.output.dense.bias"] = torch.ones(5)
    save_file(tensors, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match=r"its weights cannot be read \("):
        Pretrained.open(str(tmp_path)).body(None, 0.1)


def test_without_transformers_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    message = r"transformers is not installed; get it with: pip install 'pssa\[bert\]'"
    with pytest.raises(MissingExtra, match=message):
        Pretrained.open("bert-base-uncased")
    with pytest.raises(MissingExtra, match=message):
        Pretrained.load(tmp_path)
