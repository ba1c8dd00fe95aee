"""Pretrained encoders: where they are found, what is refused, and what is built from them."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from tests.models.encoders import ARCHITECTURES, tiny_encoder, write_encoder
from tests.runs.hub_stub import Repository, open_hub
from torch import nn

from pssa.errors import InputError, MissingExtra
from pssa.models import Pretrained

every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)


@pytest.mark.slow
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
def test_attention_is_fast_unless_another_is_asked_for(architecture: str, asked: str | None, expected: str) -> None:
    body: Any = tiny_encoder(architecture).body(asked, 0.1)
    assert body.config._attn_implementation == expected


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("named", ["attacker/evil", "paged|attacker/evil:kernel", "flash_attention_2"])
def test_attention_that_a_configuration_names_is_never_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, architecture: str, named: str
) -> None:
    fetched: list[Any] = []
    for loader in ("load_and_register_attn_kernel", "lazy_load_kernel", "get_kernel"):
        monkeypatch.setattr(
            f"transformers.integrations.hub_kernels.{loader}", lambda *given, **more: fetched.append(given)
        )
    write_encoder(tmp_path, architecture)
    settings = ("_attn_implementation", "attn_implementation", "_attn_implementation_internal")
    change_config(tmp_path, **dict.fromkeys(settings, named))
    start = Pretrained.open(str(tmp_path))
    start.save(tmp_path / "saved")
    for opened in (start, Pretrained.load(tmp_path / "saved")):
        body: Any = opened.body(None, 0.1)
        assert body.config._attn_implementation in ("sdpa", "eager")
        assert opened.max_positions > 0
    assert fetched == []


def test_a_configuration_that_asks_for_more_outputs_is_not_followed() -> None:
    start = replace(tiny_encoder(), config=deepcopy(tiny_encoder().config))
    start.config.output_hidden_states, start.config.return_dict = True, False
    output = start.body(None, 0.0)(input_ids=torch.ones(1, 4, dtype=torch.long))
    assert list(output.keys()) == ["last_hidden_state"]
    assert start.config.output_hidden_states


@pytest.mark.parametrize("parts", ["1GB", "20KB"])
def test_weights_may_come_in_parts_and_have_a_digest(tmp_path: Path, parts: str) -> None:
    body = write_encoder(tmp_path, parts=parts)
    files = sorted(tmp_path.glob("model*.safetensors"))
    assert (len(files) > 1) == (parts == "20KB")
    opened = Pretrained.open(str(tmp_path))
    read = opened.body(None, 0.1).state_dict()
    assert all(torch.equal(tensor, read[key]) for key, tensor in body.state_dict().items())
    assert opened.digest() == hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    assert replace(opened, weights="").digest() == ""


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


def test_positions_are_what_encoder_and_tokenizer_both_allow() -> None:
    assert tiny_encoder("bert").max_positions == 128
    # The first position of these is the one after the padding's id, which is 1.
    assert tiny_encoder("roberta").max_positions == tiny_encoder("mpnet").max_positions == 126
    start = replace(tiny_encoder("bert"), tokenizer=deepcopy(tiny_encoder("bert").tokenizer))
    start.tokenizer.model_max_length = 100
    assert start.max_positions == 100
    start.tokenizer.model_max_length = 400
    assert start.max_positions == 128


# RoBERTa, and kin of it whose names do not say so.
KIN = {
    "roberta": transformers.RobertaConfig,
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
        with pytest.raises(InputError, match=f"is {wrong}; the encoder takes up to 128"):
            start.cutter(pair=False, max_positions=wrong)


def test_nothing_is_printed_and_transformers_stays_as_it_was(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_encoder(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    save_file(tensors | {"stray": torch.ones(1)}, tmp_path / "model.safetensors", {"format": "pt"})
    log = transformers.utils.logging
    before = log.get_verbosity(), log.is_progress_bar_enabled()
    capfd.readouterr()
    Pretrained.open(str(tmp_path)).body(None, 0.1)
    assert capfd.readouterr() == ("", "")
    assert (log.get_verbosity(), log.is_progress_bar_enabled()) == before


def test_weights_that_miss_a_tensor_or_have_another_size_are_refused(tmp_path: Path) -> None:
    write_encoder(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    del tensors["encoder.layer.1.output.dense.bias"]
    save_file(tensors, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match="1 tensors are missing, such as"):
        Pretrained.open(str(tmp_path)).body(None, 0.1)
    tensors["encoder.layer.1.output.dense.bias"] = torch.ones(5)
    save_file(tensors, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match=r"its weights cannot be read \("):
        Pretrained.open(str(tmp_path)).body(None, 0.1)


def test_without_transformers_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    message = r"transformers is not installed; get it with: pip install 'pssa\[train\]'"
    with pytest.raises(MissingExtra, match=message):
        Pretrained.open("bert-base-uncased")
    with pytest.raises(MissingExtra, match=message):
        Pretrained.load(tmp_path)


def change_config(folder: Path, name: str = "config.json", **changes: Any) -> None:
    settings = json.loads((folder / name).read_text("utf-8"))
    (folder / name).write_text(json.dumps(settings | changes), "utf-8")


def remove_tokenizer(folder: Path) -> None:
    for path in folder.glob("*token*"):
        path.unlink()


def remove_weights(folder: Path) -> None:
    for path in folder.glob("*.safetensors"):
        path.unlink()


def cut_off(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-10])


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


NO_CONFIG = r"config\.json: is not a transformers configuration with a model_type"
DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no config": (lambda folder: (folder / "config.json").unlink(), r"has no config\.json; expected a folder with"),
    "config is no JSON": (lambda folder: (folder / "config.json").write_text("{"), NO_CONFIG),
    "config is a list": (lambda folder: (folder / "config.json").write_text("[]"), NO_CONFIG),
    "config makes no sense": (
        lambda folder: change_config(folder, hidden_size="wide"),
        r"config\.json: cannot be read",
    ),
    "unknown architecture": (lambda folder: change_config(folder, model_type="hal9000"), "'hal9000' is unknown to"),
    "encoder and decoder": (lambda folder: (folder / "config.json").write_text('{"model_type": "t5"}'), "t5 is not"),
    "no tokenizer": (remove_tokenizer, r"has no tokenizer \(tokenizer\.json or a vocabulary\)"),
    "damaged tokenizer": (lambda folder: (folder / "tokenizer.json").write_text("{}"), "its tokenizer cannot be read"),
    "tokenizer without a mask": (
        lambda folder: change_config(folder, "tokenizer_config.json", mask_token=None),
        "its tokenizer has no mask_token; expected an",
    ),
    "smaller vocabulary": (lambda folder: change_config(folder, vocab_size=20), r"has \d+ entries and its encoder 20"),
    "no weights": (lambda folder: (folder / "model.safetensors").unlink(), r"has no model\.safetensors; expected a"),
    "pickled weights": (pickled, r"has only pickled weights; .+ AutoModel\.from_pretrained\('.+'\)\.save_pretrained"),
    "weights that are cut off": (cut_off, r"model\.safetensors: is damaged or not a safetensors file \(.+\)"),
    "weights of another kind": (lambda folder: (folder / "model.safetensors").write_text("no"), "is damaged or not"),
}


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_folder_is_refused_with_the_reason_in_one_line(damage: str, tmp_path: Path) -> None:
    change, message = DAMAGES[damage]
    write_encoder(tmp_path)
    change(tmp_path)
    with pytest.raises(InputError, match=message) as caught:
        Pretrained.open(str(tmp_path))
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_slow_tokenizer_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow:
        is_fast = False

    write_encoder(tmp_path)
    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lambda *_, **__: Slow())
    with pytest.raises(InputError, match=r"its tokenizer is not a fast one"):
        Pretrained.open(str(tmp_path))


@pytest.mark.parametrize("source", ["no/such/folder", "./encoder", "", "two words", __file__])
def test_what_is_no_folder_and_no_name_is_refused_at_once(source: str) -> None:
    with pytest.raises(InputError, match="is neither a folder nor a name on the"):
        Pretrained.open(source)


class Hub:
    """Stands for the hub's client: a cache and a network, each a folder or nothing; calls are recorded."""

    def __init__(self, cached: Path | None, online: Path | None) -> None:
        self.cached, self.online = cached, online
        self.calls: list[str] = []
        self.patterns: dict[str, list[str]] = {}

    def __call__(self, name: str, local_files_only: bool = False, **patterns: list[str]) -> str:
        self.calls.append("cache" if local_files_only else "network")
        self.patterns |= patterns
        found = self.cached if local_files_only else self.online
        if found is None:
            raise FileNotFoundError(f"{name} is not here\nsecond line")
        return str(found)


def open_from(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> Pretrained:
    monkeypatch.setattr(huggingface_hub, "snapshot_download", hub)
    return Pretrained.open("someone/encoder")


PARTS: dict[str, Callable[[Path], object]] = {
    "no config": lambda folder: (folder / "config.json").unlink(),
    "no weights": remove_weights,
    "one part of the weights is missing": lambda folder: max(folder.glob("*.safetensors")).unlink(),
    "parts without an index": lambda folder: (folder / "model.safetensors.index.json").unlink(),
    "no tokenizer": remove_tokenizer,
    "everything": shutil.rmtree,
}


@pytest.mark.parametrize("parts", ["1GB", "20KB"])
def test_a_name_in_the_cache_asks_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: str) -> None:
    write_encoder(tmp_path, parts=parts)
    hub = Hub(tmp_path, None)
    assert open_from(hub, monkeypatch).weights == str(tmp_path)
    assert hub.calls == ["cache"]


@pytest.mark.parametrize("lost", PARTS)
def test_what_the_cache_has_not_is_fetched(lost: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached = tmp_path / "cached"
    write_encoder(tmp_path / "whole", parts="20KB")
    write_encoder(cached, parts="20KB")
    PARTS[lost](cached)
    hub = Hub(cached if cached.exists() else None, tmp_path / "whole")
    assert open_from(hub, monkeypatch).weights == str(tmp_path / "whole")
    assert hub.calls == ["cache", "network"]


def open_served(files: dict[str, bytes], cache: Path, patch: pytest.MonkeyPatch) -> Pretrained:
    """The encoder of these files, from a hub that holds nothing else."""
    with open_hub(cache, patch) as hub:
        hub.repositories["someone/encoder"] = Repository(branches={"main": files})
        return Pretrained.open("someone/encoder")


def test_pickled_weights_on_the_hub_are_to_be_converted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_encoder(tmp_path / "encoder")
    pickled(tmp_path / "encoder")
    files = {path.name: path.read_bytes() for path in (tmp_path / "encoder").iterdir()}
    with pytest.raises(InputError) as caught:
        open_served(files, tmp_path / "cache", monkeypatch)
    assert str(caught.value) == (
        "encoder 'someone/encoder' has only pickled weights on the Hugging Face hub; they are not read, since pickle can run "
        "code; if you trust them, convert them with transformers: "
        "AutoModel.from_pretrained('someone/encoder').save_pretrained(DIR), "
        "AutoTokenizer.from_pretrained('someone/encoder').save_pretrained(DIR), and name DIR"
    )
    assert not list((tmp_path / "cache").rglob("*.bin"))


def test_a_repository_without_weights_is_named_as_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"^encoder 'someone/encoder' has no"):
        open_served({"config.json": b"{}"}, tmp_path, monkeypatch)


def test_a_name_that_cannot_be_fetched_is_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    message = (
        r"encoder 'someone/encoder' is not a folder and could not be fetched from the Hugging Face hub "
        r"\(someone/encoder is not here\); check the name and the connection, or name a folder with"
    )
    with pytest.raises(InputError, match=message):
        open_from(Hub(None, None), monkeypatch)


def test_only_text_and_safetensors_are_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_encoder(tmp_path)
    hub = Hub(None, tmp_path)
    open_from(hub, monkeypatch)
    client: Any = huggingface_hub.utils
    wanted = ["config.json", "vocab.txt", "spiece.model", "model.safetensors", "model-00001-of-00002.safetensors"]
    others = ["pytorch_model.bin", "model.fp16.safetensors", "onnx/config.json", "tf_model.h5", "modeling.py"]
    assert list(client.filter_repo_objects(wanted + others, **hub.patterns)) == wanted
