"""Files that are missing or damaged, and names on the hub; nothing here asks the network."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import transformers
from tests.models.encoders import write_encoder
from tests.runs.hub_server import Repository, point_library_at, serve

from pssa.errors import InputError
from pssa.models import Pretrained


def change_config(folder: Path, **changes: Any) -> None:
    settings = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(settings | changes), "utf-8")


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


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no config": (lambda folder: (folder / "config.json").unlink(), r"has no config\.json; expected a folder with"),
    "config is no JSON": (
        lambda folder: (folder / "config.json").write_text("{", "utf-8"),
        r"config\.json: is no configuration of transformers with a model_type",
    ),
    "config is a list": (
        lambda folder: (folder / "config.json").write_text("[]", "utf-8"),
        r"config\.json: is no configuration of transformers with a model_type",
    ),
    "config makes no sense": (
        lambda folder: change_config(folder, hidden_size="wide"),
        r"config\.json: cannot be read \(",
    ),
    "unknown architecture": (
        lambda folder: change_config(folder, model_type="hal9000"),
        r"config\.json: architecture 'hal9000' is unknown to transformers 5\.\S+; use an encoder like BERT",
    ),
    "encoder and decoder": (
        lambda folder: (folder / "config.json").write_text(json.dumps({"model_type": "t5"}), "utf-8"),
        r"config\.json: t5 is no text encoder; use one like BERT",
    ),
    "no tokenizer": (remove_tokenizer, r"has no tokenizer \(tokenizer\.json or a vocabulary\)"),
    "damaged tokenizer": (
        lambda folder: (folder / "tokenizer.json").write_text("{}", "utf-8"),
        r"its tokenizer cannot be read \(",
    ),
    "smaller vocabulary": (
        lambda folder: change_config(folder, vocab_size=20),
        r"its tokenizer has \d+ entries and its encoder 20; they do not belong together",
    ),
    "no weights": (
        lambda folder: (folder / "model.safetensors").unlink(),
        r"has no model\.safetensors; expected a folder with config\.json, model\.safetensors and a tokenizer",
    ),
    "pickled weights": (
        pickled,
        r"has only pickled weights; they are not read, .+ AutoModel\.from_pretrained\('.+'\)\.save_pretrained\(DIR\)",
    ),
    "weights that are cut off": (
        cut_off,
        r"model\.safetensors: is damaged or no safetensors file \(.+\); get it again",
    ),
    "weights of another kind": (
        lambda folder: (folder / "model.safetensors").write_text("weights", "utf-8"),
        r"model\.safetensors: is damaged or no safetensors file",
    ),
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


def test_a_tokenizer_without_a_mask_is_refused(tmp_path: Path) -> None:
    write_encoder(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    settings = json.loads(path.read_text("utf-8"))
    del settings["mask_token"]
    path.write_text(json.dumps(settings), "utf-8")
    with pytest.raises(InputError, match="its tokenizer has no mask_token; expected an encoder like BERT"):
        Pretrained.open(str(tmp_path))


def test_a_slow_tokenizer_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow:
        is_fast = False

    write_encoder(tmp_path)
    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lambda *_, **__: Slow())
    with pytest.raises(InputError, match=r"its tokenizer is not a fast one \(tokenizer\.json\)"):
        Pretrained.open(str(tmp_path))


@pytest.mark.parametrize("source", ["no/such/folder", "./encoder", "", "two words"])
def test_what_is_no_folder_and_no_name_is_refused_at_once(source: str) -> None:
    with pytest.raises(InputError, match="is neither a folder nor a name on the Hugging Face hub"):
        Pretrained.open(source)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "encoder").write_text("", "utf-8")
    with pytest.raises(InputError, match="is neither a folder nor a name"):
        Pretrained.open(str(tmp_path / "encoder"))


class Hub:
    """Stands for the hub's client: a cache and a network, each a folder or nothing; calls are recorded."""

    def __init__(self, cached: Path | None, online: Path | None) -> None:
        self.cached, self.online = cached, online
        self.calls: list[str] = []

    def __call__(self, name: str, local_files_only: bool = False, **patterns: list[str]) -> str:
        self.calls.append("cache" if local_files_only else "network")
        found = self.cached if local_files_only else self.online
        if found is None:
            raise FileNotFoundError(f"{name} is not here\nsecond line")
        return str(found)


def open_from(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> Pretrained:
    monkeypatch.setattr(huggingface_hub, "snapshot_download", hub)
    return Pretrained.open("someone/encoder")


def test_a_name_in_the_cache_asks_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_encoder(tmp_path)
    hub = Hub(tmp_path, None)
    assert open_from(hub, monkeypatch).weights == str(tmp_path)
    assert hub.calls == ["cache"]


def test_a_name_that_is_not_in_the_cache_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_encoder(tmp_path)
    hub = Hub(None, tmp_path)
    assert open_from(hub, monkeypatch).weights == str(tmp_path)
    assert hub.calls == ["cache", "network"]


PARTS: dict[str, Callable[[Path], object]] = {
    "no config": lambda folder: (folder / "config.json").unlink(),
    "no weights": remove_weights,
    "one part of the weights is missing": lambda folder: max(folder.glob("*.safetensors")).unlink(),
    "parts without an index": lambda folder: (folder / "model.safetensors.index.json").unlink(),
    "no tokenizer": remove_tokenizer,
}


@pytest.mark.parametrize("lost", PARTS)
def test_a_cache_with_only_a_part_is_completed(lost: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_encoder(tmp_path / "whole", parts="20KB")
    write_encoder(tmp_path / "part", parts="20KB")
    PARTS[lost](tmp_path / "part")
    hub = Hub(tmp_path / "part", tmp_path / "whole")
    assert open_from(hub, monkeypatch).weights == str(tmp_path / "whole")
    assert hub.calls == ["cache", "network"]


def test_a_cache_with_all_parts_asks_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_encoder(tmp_path, parts="20KB")
    hub = Hub(tmp_path, None)
    assert open_from(hub, monkeypatch).weights == str(tmp_path)
    assert hub.calls == ["cache"]


def open_served(files: dict[str, bytes], cache: Path, patch: pytest.MonkeyPatch) -> Pretrained:
    """The encoder of these files, by the real library from a hub that holds nothing else."""
    with serve() as hub:
        point_library_at(hub, cache, patch)
        hub.repositories["someone/encoder"] = repository = Repository(private=False)
        repository.commit("main", files, "an encoder")
        return Pretrained.open("someone/encoder")


def test_pickled_weights_on_the_hub_are_named_with_what_converts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_encoder(tmp_path / "encoder")
    pickled(tmp_path / "encoder")
    files = {path.name: path.read_bytes() for path in (tmp_path / "encoder").iterdir()}
    with pytest.raises(InputError) as caught:
        open_served(files, tmp_path / "cache", monkeypatch)
    assert str(caught.value) == (
        "encoder 'someone/encoder' has only pickled weights on the Hugging Face hub; they are not read, since pickle can run "
        "code; if you trust them, convert them with transformers: "
        "AutoModel.from_pretrained('someone/encoder').save_pretrained(DIR), "
        "AutoTokenizer.from_pretrained('someone/encoder').save_pretrained(DIR), and give DIR"
    )
    assert not list((tmp_path / "cache").rglob("*.bin"))


def test_a_repository_without_weights_is_named_as_it_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        InputError, match=r"^encoder 'someone/encoder' has no model\.safetensors on the Hugging Face hub"
    ):
        open_served({"config.json": b"{}"}, tmp_path, monkeypatch)


def test_a_name_that_cannot_be_fetched_is_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    message = (
        r"encoder 'someone/encoder' is no folder here and could not be fetched from the Hugging Face hub "
        r"\(someone/encoder is not here\); check the name and the connection, or give a folder with"
    )
    with pytest.raises(InputError, match=message):
        open_from(Hub(None, None), monkeypatch)


def test_only_text_and_safetensors_are_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def fetch(name: str, local_files_only: bool = False, **patterns: Any) -> str:
        if local_files_only:
            raise FileNotFoundError(name)
        asked.update(patterns)
        return str(tmp_path)

    write_encoder(tmp_path)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetch)
    Pretrained.open("someone/encoder")
    client: Any = huggingface_hub.utils
    wanted = client.filter_repo_objects(
        [
            "config.json",
            "vocab.txt",
            "spiece.model",
            "model.safetensors",
            "model-00001-of-00002.safetensors",
            "pytorch_model.bin",
            "model.fp16.safetensors",
            "onnx/config.json",
            "tf_model.h5",
            "modeling.py",
        ],
        **asked,
    )
    assert list(wanted) == [
        "config.json",
        "vocab.txt",
        "spiece.model",
        "model.safetensors",
        "model-00001-of-00002.safetensors",
    ]
