"""Resources: found or refused with a reason, identified by content, held out by sentence, damaged as in the paper's footnote."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.paper.experiments.rooms import tiny_resources

from paper.experiments.cells import Mining, Place, Training, settings
from paper.experiments.resources import Resources, Scope, strip_targets
from pssa import models
from pssa.data import read
from pssa.data.formats.tagged import is_tagged
from pssa.data.io import ReadOptions
from pssa.errors import InputError

HERE = Place("laptop", "memnet", 0)


def test_data_sets_are_found_by_their_folders(tmp_path: Path) -> None:
    tiny = tiny_resources(tmp_path)
    found = Resources.find(tmp_path / "data", tiny.vectors, None, "cpu")
    assert found.settings_in(HERE)["consensus_folds"] == 5  # as in results/cells.jsonl
    assert list(found.sources) == ["laptop"]
    assert found.can_train("memnet")
    assert not found.can_train("bertabsa")


def test_workers_elsewhere_are_given_whole_paths_and_the_same_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = tiny_resources(tmp_path)
    monkeypatch.chdir(tmp_path)
    found = Resources.find(Path("data"), Path("vectors.txt"), "data")
    assert (found.sources, found.vectors, found.encoder) == (tiny.sources, tiny.vectors, tmp_path / "data")
    assert replace(found, settings=tiny.settings).key(Training(HERE)) == tiny.key(Training(HERE))


@pytest.mark.parametrize(("data", "vectors", "said"), [("no", None, "not a folder"), ("", "no.txt", "does not exist")])
def test_what_is_not_there_is_named(tmp_path: Path, data: str, vectors: str | None, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Resources.find(tmp_path / data, vectors and tmp_path / vectors, None)  # type: ignore[arg-type]


def test_an_encoder_of_the_hub_is_known_by_the_files_of_its_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_resources(tmp_path)
    copy = tmp_path / "snapshots" / "0a1b2c"
    copy.mkdir(parents=True)
    (copy / "config.json").write_text("{}")
    monkeypatch.setattr(models.Pretrained, "open", lambda name: SimpleNamespace(weights=str(copy)))
    named, same = (Resources.find(tmp_path / "data", None, given) for given in ("owner/encoder", copy))
    assert (named.encoder, named.encoder_name) == (copy, "owner/encoder")
    assert (same.encoder, same.encoder_name) == (copy, "")
    cell = Training(Place("laptop", "bertabsa_att", 0))
    key = named.key(cell)
    assert key == same.key(cell)
    (copy / "config.json").write_text('{"model_type": "bert"}')
    assert named.key(cell) != key


def test_a_folder_without_data_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"laptop/train\.txt"):
        Resources.find(tmp_path, None, None)


def test_few_instances_are_drawn_by_the_seed_fewer_among_more_and_never_held_out_ones(tmp_path: Path) -> None:
    resources = tiny_resources(tmp_path)

    def drawn(seed: int, count: int) -> set[str]:
        few, test = resources.corpora(Place("laptop", "memnet", seed, instances=count))
        same, judged = resources.corpora(Place("laptop", "memnet", seed, instances=count, held_out=True))
        ids = {example.id for example in few}
        assert ids == {example.id for example in same}
        assert len(ids) == count
        assert not {example.text for example in few} & {example.text for example in judged}
        assert len(test) == len(resources.corpora(HERE)[1])
        return ids

    assert drawn(0, 4) < drawn(0, 8)
    assert drawn(0, 8) != drawn(1, 8)


def test_held_out_instances_share_no_sentence_with_train_and_are_no_test_instances(tmp_path: Path) -> None:
    resources = tiny_resources(tmp_path)
    train, judged = resources.corpora(Place("laptop", "memnet", 0, held_out=True))
    whole, _ = resources.corpora(HERE)
    assert len(train) + len(judged) == len(whole)
    assert not {example.sentence_id for example in train} & {example.sentence_id for example in judged}


def test_a_key_depends_on_the_cell_the_files_and_the_settings(tmp_path: Path) -> None:
    resources = tiny_resources(tmp_path)
    key = resources.key(Training(HERE))
    assert key == tiny_resources(tmp_path).key(Training(HERE))
    others = {
        resources.key(Training(HERE, "kt")),
        resources.key(Training(Place("laptop", "memnet", 1))),
        resources.key(Mining(HERE, "aw-as")),
        resources.key(Mining(HERE, "aw-as", settings(epsilon=1.0))),
        Resources(resources.sources, resources.vectors, settings={"epochs": 3}).key(Training(HERE)),
        tiny_resources(tmp_path / "other", instances=30).key(Training(HERE)),
    }
    assert len(others) == 6
    assert key not in others


@pytest.mark.parametrize(
    "read_options",
    [
        ReadOptions(labels=("neutral", "negative", "positive")),
        ReadOptions(conflict="keep"),
        ReadOptions(format="jsonl"),
    ],
)
def test_a_file_that_is_read_otherwise_is_another_file(tmp_path: Path, read_options: ReadOptions) -> None:
    resources = tiny_resources(tmp_path)
    source = replace(resources.sources["laptop"], read_options=read_options)
    other = replace(resources, sources={"laptop": source})
    assert other.key(Training(HERE)) != resources.key(Training(HERE))


@pytest.mark.parametrize("name", ["tokenizer_config.json", "vocab.txt", "vocab.json", "pieces.model"])
def test_another_tokenizer_makes_another_encoder(tmp_path: Path, name: str) -> None:
    encoder = tmp_path / "encoder"
    encoder.mkdir()
    resources = Resources({}, encoder=encoder)
    before = resources.fingerprints()
    (encoder / name).write_text("[]")
    assert resources.fingerprints() != before
    (encoder / "README.md").write_text("what it is")
    (encoder / name).unlink()
    assert resources.fingerprints() == before


def stripped(tmp_path: Path, line: str) -> str:
    path = tmp_path / "train.txt"
    path.write_text(line + "\n")
    (example,) = strip_targets(path)
    (sound,) = read(path)
    assert (example.aspect, example.label, example.id) == (sound.aspect, sound.label, sound.id)
    assert example.text == " ".join(example.words)
    return example.text


@pytest.mark.parametrize(
    ("line", "damaged"),
    [
        ("i love nicki/n minaj", "i love icki minaj"),
        ("the nun/n in/n town", "the u i town"),
        ("a plain/p laptop/p plug", "a lain lapto plug"),
        ("the 100/0 pieces", "the 1 pieces"),
        ("a screen/p for nicki", "a screen for nicki"),
    ],
)
def test_letters_of_the_tag_go_with_it_from_targets_alone(tmp_path: Path, line: str, damaged: str) -> None:
    assert stripped(tmp_path, line) == damaged


# Train and test. Counted by `strip` alone, LAPTOP's test file has one more: its target `/` would be empty.
COUNTS = {"laptop": (290, 84), "rest": (405, 121), "twitter": (676, 84)}
EMPTIED = {"laptop": (0, 1), "rest": (0, 0), "twitter": (0, 0)}


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("data", COUNTS)
def test_damaged_lines_of_the_public_files(shared_data: Path, data: str) -> None:
    for part, count, emptied in zip(("train", "test"), COUNTS[data], EMPTIED[data], strict=True):
        path = shared_data / data / f"{part}.txt"
        changed = sum(
            before.words != after.words for before, after in zip(read(path), strip_targets(path), strict=True)
        )
        assert changed == count
        lines = path.read_text("utf-8").splitlines()
        assert sum(any(is_cut(token) for token in line.split()) for line in lines) == count + emptied


def is_cut(token: str) -> bool:
    return is_tagged(token) and token.strip(token[-2:]) != token[:-2]


def test_sweeps_start_from_the_small_encoder_and_word_vectors_stay(tmp_path: Path) -> None:
    resources = tiny_resources(tmp_path)
    for name in ("large", "small"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(name)
    resources = replace(resources, encoder=tmp_path / "large", small_encoder=tmp_path / "small")
    scope = Scope(resources, seeds=5, encoder_seeds=2, prefers_small=True)
    assert [place.small_encoder for place in scope.places("memnet", "laptop")] == [False] * 5
    assert [place.small_encoder for place in scope.places("bertabsa", "laptop")] == [True] * 2
    large, small = Place("laptop", "bertabsa", 0), scope.places("bertabsa", "laptop")[0]
    assert resources.settings_in(small)["encoder"] == str(tmp_path / "small")
    assert resources.files_of(Training(small))["encoder"] != resources.files_of(Training(large))["encoder"]
    without = replace(scope, resources=replace(resources, small_encoder=None))
    assert without.places("bertabsa", "laptop") == (large, replace(large, seed=1))


@pytest.mark.parametrize(("is_native", "precision"), [(True, "bfloat16"), (False, "auto")])
def test_encoders_train_on_a_processor_as_on_a_gpu_if_it_computes_bfloat16(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_native: bool, precision: str
) -> None:
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: {"avx512_bf16": is_native}, raising=False)
    resources = replace(tiny_resources(tmp_path), device="cpu")
    assert resources.settings_in(Place("laptop", "bertabsa", 0))["precision"] == precision
    assert "precision" not in resources.settings_in(HERE)  # word vectors
