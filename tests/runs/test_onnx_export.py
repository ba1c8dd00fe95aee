"""ONNX files answer as the runs they were made of do, for sentences of any size."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import pssa
from pssa import models
from pssa.data.example import DEFAULT_LABELS, Example
from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError, MissingExtra, RunError
from pssa.models import Batch, Encoding, Prediction, WordTable
from pssa.runs import onnx_export
from pssa.runs.classifier import Classifier
from pssa.runs.featurizer import PieceFeaturizer, WordFeaturizer
from pssa.runs.onnx_export import export_onnx
from pssa.runs.saved_model import Description, save_weights
from pssa.runs.torch_runtime import TorchRuntime

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

# One word, fewer than a convolution is wide, a long aspect, many words, words that no run knows.
SENTENCES = (
    Example.from_text("screen", (0, 6)),
    Example.from_text("great price", (6, 11)),
    Example.from_text("the battery life of number 3", (0, 16)),
    Example.from_text("so " * 60 + "the price is poor , and unheard-of words follow", (184, 189)),
    Example.from_text("the screen of number 5 is usual", (4, 10)).hide([6]),
)
BATCHES = ([0], [1], [2], [3], [4], [0, 1], [2, 2], [3, 0, 4, 1], [0, 1, 2, 3, 4, 4, 3, 2, 1])


def answers(path: Path, classifier: Classifier, examples: Sequence[Example]) -> dict[str, torch.Tensor]:
    """What the file says of the examples in one batch, by the names of its outputs."""
    session = onnxruntime.InferenceSession(path)
    batch = classifier.torch.index(examples).table
    found = session.run(None, {value.name: getattr(batch, value.name).numpy() for value in session.get_inputs()})
    names = [value.name for value in session.get_outputs()]
    return {name: torch.from_numpy(value) for name, value in zip(names, found, strict=True)}


def assert_same(path: Path, classifier: Classifier) -> None:
    """The file answers as the classifier does, in batches of many sizes."""
    for rows in BATCHES:
        examples = [SENTENCES[row] for row in rows]
        found, expected = answers(path, classifier, examples), classifier.torch.probabilities(examples)
        assert (found["probabilities"] - expected).abs().max() <= 1e-5
        assert found["probabilities"].argmax(dim=1).equal(expected.argmax(dim=1))
        torch.testing.assert_close(found["logits"].softmax(dim=1), found["probabilities"], atol=1e-5, rtol=0)
        batch = classifier.torch.index(examples).table
        with torch.no_grad():
            prediction = classifier.torch.model.classify(classifier.torch.model.encode(batch), batch)  # type: ignore[operator]
        assert ("attention" in found) == (prediction.attention is not None)
        if prediction.attention is not None:
            torch.testing.assert_close(found["attention"], prediction.attention, atol=1e-5, rtol=0)


@pytest.fixture(scope="module")
def exported(finished_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The finished run, a memory network, as a file."""
    path = tmp_path_factory.mktemp("onnx") / "model.onnx"
    assert export_onnx(finished_run, path) == path
    return path


@pytest.mark.slow
def test_a_file_answers_as_its_run_does_and_says_what_it_reads_and_means(exported: Path, finished_run: Path) -> None:
    assert_same(exported, pssa.load(finished_run))
    session = onnxruntime.InferenceSession(exported)
    # The memory network alone does not ask where the aspect stands.
    assert {value.name: (value.type, value.shape) for value in session.get_inputs()} == {
        "positions": ("tensor(int64)", ["batch", "positions"]),
        "word_of": ("tensor(int64)", ["batch", "positions"]),
        "aspect": ("tensor(int64)", ["batch", "aspect_words"]),
        "candidates": ("tensor(bool)", ["batch", "words"]),
    }
    assert {value.name: value.shape for value in session.get_outputs()} == {
        "logits": ["batch", 3],
        "probabilities": ["batch", 3],
        "attention": ["batch", "positions"],
    }
    known = onnxruntime.InferenceSession(exported).get_modelmeta().custom_metadata_map
    assert known == {"model": "memnet", "labels": '["positive", "negative", "neutral"]', "mask_id": "2"}
    assert str(Path(onnx_export.__file__).parent).encode() not in exported.read_bytes()
    assert b".py" not in exported.read_bytes()
    onnx.checker.check_model(onnx.load(exported), full_check=True)


@pytest.mark.slow
def test_the_recipe_in_the_documentation_works(
    exported: Path, finished_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "export.md").read_text("utf-8")
    recipe = page.split("```python\n")[1].split("```")[0]
    assert recipe.count("\n") <= 15
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "base").symlink_to(finished_run)
    (tmp_path / "base.onnx").symlink_to(exported)
    (tmp_path / "recipe.py").write_text(recipe)
    monkeypatch.chdir(tmp_path)
    made = runpy.run_path("recipe.py")
    expected = pssa.load(finished_run).answer(made["examples"])
    assert made["answers"] == [answer.label for answer in expected]
    assert made["probabilities"].tolist()[0] == pytest.approx(list(expected[0].probabilities.values()), abs=1e-5)


class Toy(nn.Module):
    """Says the same of everything; what it does on the way is its subclass' matter."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(3))

    def encode(self, batch: Batch) -> Encoding:
        return Encoding(batch.positions.float().unsqueeze(-1), batch.aspect.float())

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        return Prediction(self.bias + 0 * encoding.words.sum(1), None)


class Sorting(Toy):
    """Does what ONNX has no words for."""

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        return Prediction(torch.linalg.eigvals(encoding.words @ encoding.words.mT).real[:, :1] + self.bias, None)


class TwoFaced(Toy):
    """Is another one when it is exported."""

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        shift = torch.tensor([float(torch.compiler.is_compiling()), 0.0, 0.0])
        return Prediction(super().classify(encoding, batch).logits + shift, None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("toy", "error", "said"),
    [
        (Sorting, InputError, r"^toy cannot be exported to ONNX: .*"),
        (TwoFaced, RunError, r"^RUN predicts differently in ONNX .*: probabilities differ by 0\.\d+"),
    ],
)
def test_a_model_that_cannot_be_exported_leaves_no_file(
    toy: type[Toy], error: type[Exception], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    featurizer = WordFeaturizer(Vocabulary.build(["a"]), WordTable(torch.zeros(4, 1), 4))
    monkeypatch.setattr(
        onnx_export, "load", lambda run: Classifier(TorchRuntime("toy", DEFAULT_LABELS, featurizer, (toy(),), (1.0,)))
    )
    monkeypatch.chdir(tmp_path)
    Path("RUN").mkdir()
    Path("RUN", "model.json").write_text("{}")
    (tmp_path / "model.onnx").write_text("before")
    with pytest.raises(error, match=said) as told:
        export_onnx("RUN", tmp_path / "model.onnx", force=True)
    assert "\n" not in str(told.value)
    assert [path.read_text() for path in tmp_path.iterdir() if path.is_file()] == ["before"]


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("", "cannot be written; expected the name of"),
        ("no/such/model.onnx", "cannot be written; expected the name of"),
        ("mine.onnx", r"mine\.onnx exists already; choose"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_first(
    finished_run: Path, tmp_path: Path, name: str, what: str
) -> None:
    (tmp_path / "mine.onnx").write_bytes(b"mine")
    with pytest.raises(InputError, match=what):
        export_onnx(finished_run, tmp_path / name)
    assert (tmp_path / "mine.onnx").read_bytes() == b"mine"


@pytest.mark.parametrize("name", ["onnx", "onnxscript", "onnxruntime"])
def test_a_missing_library_is_named_with_its_extra(
    name: str, finished_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=rf"^{name} is not installed; get it with"):
        export_onnx(finished_run, tmp_path / "model.onnx")


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"model": "tnet"},
        {"model": "tnet_att", "tied": True},
        {"model": "tnet_att", "gating": "lossless", "attend_aspect": True},
        {"model": "memnet", "aspect_matrix": True, "scale_scores": False},
        {"model": "memnet", "method": "adaboost"},
    ],
    ids=lambda settings: "-".join(map(str, settings.values())),
)
def test_word_models_can_be_exported(settings: dict[str, Any], train_tiny: Callable[..., Path], tmp_path: Path) -> None:
    run = train_tiny(tmp_path / "run", **settings)
    (tmp_path / "model.onnx").write_bytes(b"another")
    assert_same(export_onnx(run, tmp_path / "model.onnx", force=True), pssa.load(run))


@pytest.mark.slow
@pytest.mark.parametrize("trained", [False, True])
def test_words_of_the_vector_file_are_kept(trained: bool, train_tiny: Callable[..., Path], tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("great 3 0\npoor 0 3\nunheard-of -2 4\nscreen 1 1\n")
    run = train_tiny(tmp_path / "run", model="memnet", vectors=str(vectors), train_embeddings=trained)
    path = export_onnx(run, tmp_path / "model.onnx")
    classifier = pssa.load(run)
    assert_same(path, classifier)
    in_file = Example.from_text("the unheard-of screen", (15, 21))
    nowhere = Example.from_text("the unheard-on screen", (15, 21))
    first, second = (answers(path, classifier, [example])["probabilities"] for example in (in_file, nowhere))
    assert not first.equal(second)


def saved_model(variant: str, architecture: str, folder: Path) -> Path:
    """A model on a small encoder, in a folder as a run's stages are; parameters are as drawn."""
    variants, encoders = (pytest.importorskip(f"tests.models.{name}") for name in ("variants", "encoders"))
    encoder, name = encoders.tiny_encoder(architecture), variants.name_of(variant)
    description = Description(name, variants.VARIANTS[variant], DEFAULT_LABELS)
    featurizer = PieceFeaturizer(encoder, pair=models.reads_pairs(name))
    save_weights(folder, variants.build(variant, encoder), description, featurizer)
    return folder


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* sentences are longer than:UserWarning")
@pytest.mark.parametrize(
    ("variant", "architecture"),
    [
        ("bertabsa", "bert"),
        ("bertabsa_cls", "roberta"),
        ("bertabsa_att", "modernbert"),
        ("bertabsa-random_head", "bert"),
        ("bertabsa-average", "mpnet"),
        ("bertabsa_cls-smallest_entropy", "deberta-v2"),
    ],
)
def test_every_encoder_model_can_be_exported(variant: str, architecture: str, tmp_path: Path) -> None:
    run = saved_model(variant, architecture, tmp_path / "run")
    assert_same(export_onnx(run, tmp_path / "model.onnx"), pssa.load(run))


def test_an_unfinished_run_is_refused(copied_run: Path, tmp_path: Path) -> None:
    (copied_run / "metrics.json").unlink()
    with pytest.raises(InputError, match=f"is not a finished run: .*{copied_run}"):
        export_onnx(copied_run, tmp_path / "model.onnx")
    assert not (tmp_path / "model.onnx").exists()
