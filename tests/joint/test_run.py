"""A joint model from a file to answers, in torch and in ONNX Runtime; the encoder is tiny and learns nothing of use."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.models.encoders import write_encoder

import pssa
from pssa.data.reviews import Opinion, Review
from pssa.joint.model import JointBatch, JointLoss, JointModel, JointPrediction
from pssa.joint.pieces import PieceSentence, WordPieces
from pssa.joint.run import load_joint
from pssa.joint.starts import open_start
from pssa.joint.train import is_joint_training
from pssa.joint.training import (
    UNKNOWN,
    AnnotatedSentences,
    JointExample,
    batches,
    collate,
    joint_examples,
    outputs,
    read_states,
    remember,
)
from pssa.models import Pretrained
from pssa.runs.input_profile import InputProfile
from pssa.runs.settings import Config
from pssa.runs.training_run import write_run
from pssa.runs.warm_start import starter_knows

LABELS = ("positive", "negative", "neutral")
LINES = (
    "The food was good .####[([1], [3], 'POS')]####food",
    "The waiter was bad .####[([1], [3], 'NEG')]####food",
    "Love it !####[([-1], [0], 'POS')]####food",
    "It is here .####[]####food",
)
TEXT = "The food was good. The waiter was bad."


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("encoder")
    write_encoder(folder)
    return folder


@pytest.fixture(scope="module")
def triplets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "reviews.txt"
    path.write_text("\n".join(LINES * 6) + "\n")
    return path


@pytest.fixture(scope="module")
def run(encoder: Path, triplets: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "joint"
    return write_run(triplets, out, model="joint", encoder=str(encoder), epochs=2, progress=False)


def first_batch(encoder: Path, aspects: str = "opinions") -> JointBatch:
    review = Review("The food was good", (Opinion("positive", (4, 8), ((13, 17),)),))
    neutral = Review("The water was here", (Opinion("neutral", (4, 9)),))
    pieces = WordPieces(Pretrained.open(str(encoder)).tokenizer.backend_tokenizer, 64)
    return collate(joint_examples(AnnotatedSentences([review, neutral], aspects), pieces, LABELS))


def test_what_annotators_marked_says_which_tags_may_be_right_and_what_is_evidence(encoder: Path) -> None:
    kinds = ("opinions", "all", "mentions", "some")
    opinions, everything, mentions, some = (first_batch(encoder, kind).tags for kind in kinds)
    # B-opinion, I-opinion, B-mention, I-mention, O; the words are The, food or water, was, good or here.
    assert opinions[0, 1].tolist() == [True, False, False, False, False]
    assert opinions[0, 0].tolist() == [False, False, True, True, True]  # a mention nobody was asked to mark
    assert everything[0, 0].tolist() == [False, False, False, False, True]
    assert everything[1, 1].tolist() == [True, False, False, False, False]  # found like any other
    assert mentions[1, 1].tolist() == [False, False, True, False, False]  # a neutral aspect has no opinion
    assert mentions[0].equal(everything[0])
    assert some.all()
    batch = first_batch(encoder)
    assert batch.evidence.tolist() == [[False, False, False, True], [False] * 4, [False] * 4, [False] * 4]
    assert batch.labels.tolist() == [0, 2]
    assert batch.overall.tolist() == [3, 3]


def test_the_loss_is_the_sum_of_its_parts() -> None:
    tags = torch.tensor([[[True, False, False, False, False], [False, False, True, True, True]]])
    batch = JointBatch(
        ids=torch.zeros(1, 2, dtype=torch.long),
        present=torch.ones(1, 2, dtype=torch.bool),
        pooling=torch.eye(2)[None],
        words=torch.ones(1, 2, dtype=torch.bool),
        tags=tags,
        rows=torch.tensor([0]),
        aspects=torch.tensor([[True, False]]),
        labels=torch.tensor([1]),
        overall=torch.tensor([UNKNOWN]),
        evidence=torch.tensor([[False, True], [False, False]]),
    )
    even = torch.zeros(1, 2, 5)
    attention = torch.tensor([[0.0, 0.25], [0.5, 0.5]])
    predicted = JointPrediction(even, torch.zeros(1, 3), torch.zeros(1, 4), attention)
    # One tag of five is right for the first word, three for the second; one label of three; a quarter of the attention.
    parts = (-torch.log(torch.tensor([1 / 5, 3 / 5])).mean(), torch.log(torch.tensor(3.0)))
    mass = -torch.log(torch.tensor(0.25))
    assert JointLoss(evidence=0.0)(predicted, batch).item() == pytest.approx(float(sum(parts)), abs=1e-5)
    assert JointLoss(evidence=2.0)(predicted, batch).item() == pytest.approx(float(sum(parts) + 2 * mass), abs=1e-5)
    squared = JointLoss(evidence=2.0, penalty="squared")(predicted, batch).item()
    assert squared == pytest.approx(float(sum(parts)) + 2 * 0.75**2, abs=1e-5)


def taught(sentence: PieceSentence) -> JointExample:
    """A sentence of four words whose second a teacher takes for a positive aspect because of the last."""
    tags = np.full((4, 5), 0.1, dtype=np.float16)
    tags[:, 4], tags[1] = 0.6, (0.6, 0.1, 0.1, 0.1, 0.1)
    attention = np.array([[0, 0, 0.25, 0.75], [0.25] * 4])
    return JointExample(sentence, tags, ((1, 2),), np.array([[0.9, 0.1, 0.0]]), attention, np.array([0.7, 0, 0, 0.3]))


def test_what_a_teacher_says_is_learned_as_it_says_it(encoder: Path) -> None:
    pieces = WordPieces(Pretrained.open(str(encoder)).tokenizer.backend_tokenizer, 64)
    example = taught(pieces.read(["The food was good"])[0])
    batch = collate([example, example])
    assert batch.labels[1].tolist() == pytest.approx([0.9, 0.1, 0])
    even = JointPrediction(torch.zeros(2, 4, 5), torch.zeros(2, 3), torch.zeros(2, 4), torch.full((4, 4), 0.25))
    # Against even chances cross-entropy is the logarithm of their number, whatever the teacher says.
    parts = np.log([5, 3, 4, 4])
    assert JointLoss(overall=0.5, evidence=0.3)(even, batch).item() == pytest.approx(parts @ [1, 1, 0.5, 0.3], abs=1e-3)


def test_marked_and_taught_sentences_share_no_batch(encoder: Path) -> None:
    pieces = WordPieces(Pretrained.open(str(encoder)).tokenizer.backend_tokenizer, 64)
    marked = joint_examples(AnnotatedSentences([Review("The food was good")]), pieces, LABELS)
    examples = [*marked * 5, *[taught(marked[0].sentence)] * 5]
    found = list(batches(examples, 20, random.Random(0)))
    assert sum(map(len, found)) == 10
    assert all(len({each.is_taught for each in batch}) == 1 for batch in found)


def test_a_known_mention_is_no_opinion(encoder: Path) -> None:
    pieces = WordPieces(Pretrained.open(str(encoder)).tokenizer.backend_tokenizer, 64)
    review = Review("The food was good", (Opinion("positive", (4, 8)),))
    (example,) = joint_examples(AnnotatedSentences([review], mentions=[[(9, 12)]]), pieces, LABELS)
    assert example.tags[2].tolist() == [False, False, True, False, False]
    assert (example.aspects, example.labels) == (((1, 2),), (0,))


def test_no_attention_falls_on_the_aspect_itself(encoder: Path) -> None:
    body = Pretrained.open(str(encoder)).body(None, 0.0)
    batch = first_batch(encoder)
    attention = JointModel(body, 16, 3).eval()(batch).attention
    assert attention[0, 1].item() == 0
    assert attention.sum(1).tolist() == pytest.approx([1.0] * 4, abs=1e-5)


def test_a_run_answers_with_reasons_in_every_shape(run: Path) -> None:
    classifier = pssa.load(run)
    answer = classifier.predict(TEXT, "food")
    assert sum(answer.probabilities.values()) == pytest.approx(1)
    assert sum(word.share for word in answer.words) == pytest.approx(1, abs=1e-4)
    assert isinstance(classifier.predict(TEXT), list)
    assert len(classifier.predict([TEXT, ""])) == 2


def test_the_same_seed_gives_the_same_weights(run: Path, encoder: Path, triplets: Path, tmp_path: Path) -> None:
    again = write_run(triplets, tmp_path / "again", model="joint", encoder=str(encoder), epochs=2, progress=False)
    assert (again / "model.safetensors").read_bytes() == (run / "model.safetensors").read_bytes()


def test_a_training_goes_on_from_a_run(run: Path, triplets: Path, tmp_path: Path) -> None:
    start: dict[str, Any] = {"from_pretrained": str(run), "epochs": 1, "progress": False}
    small = write_run(triplets, tmp_path / "small", model="joint", learning_rate=1e-9, **start)
    before, after = (load_joint(folder).heads for folder in (run, small))
    # So small a step leaves the encoder; the four layers have a rate of their own and move.
    assert np.allclose(before["aspect_query.weight"], after["aspect_query.weight"], atol=0.01)
    assert not np.array_equal(before["tags.weight"], after["tags.weight"])


def test_labels_of_the_run_are_kept_by_name_and_new_ones_are_unlikely(run: Path) -> None:
    old, new = (open_start(run, labels).model for labels in (LABELS, ("mixed", "negative", "positive")))
    for layer in ("label", "overall"):
        before, after = getattr(old, layer), getattr(new, layer)
        assert torch.equal(after.weight[[2, 1]], before.weight[[0, 1]])
        assert torch.equal(after.bias[[2, 1]], before.bias[[0, 1]])
        assert not after.weight[0].any()
        assert after.bias[0] < before.bias.min()
    assert torch.equal(new.overall.weight[3], old.overall.weight[3])  # of no opinion
    with pytest.warns(UserWarning, match="label_map='good=LABEL'"):
        open_start(run, ("good", "bad"))


ROWS = [
    {"text": TEXT, "aspect": "food", "label": "negative"},
    {"text": TEXT, "aspect": "waiter", "label": "negative"},
    {"text": "Love the food.", "aspect": "food", "label": "positive"},
] * 4


def test_rows_teach_labels_and_the_run_finds_as_before(run: Path, tmp_path: Path) -> None:
    rows = [{**row, "text": f"{row['text']} Number {number}."} for number, row in enumerate(ROWS)]
    out = write_run(rows, tmp_path / "rows", model="joint", from_pretrained=str(run), epochs=30, progress=False)
    before, after = load_joint(run), load_joint(out)
    assert after.decoding.outside_bias == before.decoding.outside_bias
    assert pssa.load(out).predict(TEXT, "food").label == "negative"
    metrics = json.loads((out / "metrics.json").read_bytes())
    assert metrics["dev"][0]["spans"] is None  # nobody marked all aspects of the held-out rows
    assert metrics["dev"][0]["labels"]["instances"] > 0


def test_a_run_that_goes_on_knows_the_words_of_its_start(run: Path, tmp_path: Path) -> None:
    rows = [
        {"text": f"Sturdy zipper {n}", "aspect": "zipper", "label": ("positive", "negative")[n % 2]} for n in range(12)
    ]
    out = write_run(rows, tmp_path / "rows", from_pretrained=str(run), epochs=1, progress=False)
    assert pssa.load(out).predict(TEXT, "food").notes == ()
    before, after = InputProfile.load(run), InputProfile.load(out)
    assert before is not None
    assert after is not None
    assert {"sturdy", *before.words} <= set(after.words)
    assert after.aspects[0] == "zipper"  # its own come first
    assert after.longest == before.longest


def test_the_configuration_of_a_run_trains_one_like_it(run: Path, tmp_path: Path) -> None:
    first = write_run(ROWS, tmp_path / "first", from_pretrained=str(run), epochs=1, seed=4, progress=False)
    config = Config.from_toml(first / "config.toml")
    again = write_run(ROWS, tmp_path / "again", config=config, progress=False)
    assert (again / "model.safetensors").read_bytes() == (first / "model.safetensors").read_bytes()
    longer = write_run(ROWS, tmp_path / "longer", config=config, epochs=2, progress=False)
    assert json.loads((longer / "metrics.json").read_bytes())["schedule"]["epochs"] == 2


def test_rows_alone_do_not_say_which_aspects_there_are(encoder: Path, tmp_path: Path) -> None:
    with pytest.raises(pssa.InputError, match="starter"):
        write_run(ROWS, tmp_path / "no", model="joint", encoder=str(encoder), progress=False)
    assert not list(tmp_path.iterdir())


def test_what_nobody_marked_is_remembered(encoder: Path) -> None:
    pieces = WordPieces(Pretrained.open(str(encoder)).tokenizer.backend_tokenizer, 64)
    review = Review("The food was good", (Opinion("negative", (4, 8)),))
    examples = joint_examples(AnnotatedSentences([review], "some", False), pieces, LABELS)
    model = JointModel(Pretrained.open(str(encoder)).body(None, 0.0), 16, 3)
    (known,) = remember(model, examples)
    predicted = model(collate(examples))
    assert known.tags == pytest.approx(predicted.tags.softmax(-1)[0].detach().numpy(), abs=1e-5)
    assert np.asarray(known.labels).tolist() == [[0, 1, 0]]  # what people marked wins


def test_states_are_read_once_for_all_questions_about_them(encoder: Path) -> None:
    pieces = WordPieces(Pretrained.open(str(encoder)).tokenizer.backend_tokenizer, 64)
    review = Review("The food was good", (Opinion("negative", (4, 8)),))
    examples = joint_examples(AnnotatedSentences([review, Review("Good"), review], "opinions"), pieces, LABELS)
    model = JointModel(Pretrained.open(str(encoder)).body(None, 0.0), 16, 3)
    states, expected = read_states(model, examples), outputs(model, examples)
    model.body = torch.nn.Identity()  # is not asked again
    for found, right in zip(outputs(model, examples, states), expected, strict=True):
        for one, other in zip(found, right, strict=True):
            assert one == pytest.approx(other, abs=1e-6)


def test_the_run_remembers_how_its_data_was_read(run: Path, tmp_path: Path) -> None:
    rows = [{"review": row["text"], "aspect": row["aspect"], "label": "bad"} for row in ROWS]
    rows[0]["label"] = "good"
    given: dict[str, Any] = {"columns": {"text": "review"}, "label_map": {"good": "positive", "bad": "negative"}}
    out = write_run(rows, tmp_path / "run", from_pretrained=str(run), epochs=1, progress=False, **given)
    assert pssa.load(out).evaluate(rows).scores.instances == len(rows)


@pytest.mark.parametrize(
    ("settings", "is_joint"),
    [
        ({}, True),
        ({"epochs": 3, "labels": ("good", "bad"), "columns": {"text": "review"}, "training.learning_rate": 1e-4}, True),
        ({"from_pretrained": "starter", "batch_size": 8}, True),
        ({"from_pretrained": "none"}, False),
        ({"method": "pg-as"}, False),
        ({"vectors": "glove.txt"}, False),
        ({"evidence": "evidence.jsonl"}, False),
        ({"model": "joint", "batch_size": 8}, True),
        ({"model": "tnet_att"}, False),
    ],
)
def test_the_starter_goes_on_unless_something_else_is_named(settings: dict[str, Any], is_joint: bool) -> None:
    assert is_joint_training(settings) == is_joint


def test_a_setting_of_other_models_trains_one_and_says_so() -> None:
    with pytest.warns(UserWarning, match="batch_size is a setting of other models.*model='tnet_att'"):
        assert not is_joint_training({"training": {"batch_size": 8}})


def test_a_run_of_its_kind_goes_on(run: Path) -> None:
    assert is_joint_training({"from_pretrained": str(run)})


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS[:9], "9 instances; at least 10"),
        ([{**row, "label": "neutral"} for row in ROWS], "every training instance is neutral"),
        ([{**row, "label": "good"} for row in ROWS], "good"),
        (
            [
                {"text": " ".join("abcdefghijkl"), "aspect": each, "label": LABELS[each > "f"]}
                for each in "abcdefghijkl"
            ],
            "no held-out text has a label",
        ),
    ],
)
def test_what_nothing_can_be_learned_from_is_refused(run: Path, tmp_path: Path, rows: Any, message: str) -> None:
    with pytest.raises(pssa.InputError, match=message):
        write_run(rows, tmp_path / "no", from_pretrained=str(run), progress=False)
    assert not list(tmp_path.iterdir())


def test_held_out_texts_without_a_label_are_refused_before_the_training(
    run: Path, triplets: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty.txt").write_text(f"{LINES[3]}\n" * 3)
    with pytest.raises(pssa.InputError, match="no held-out text has a label"):
        write_run(triplets, tmp_path / "no", from_pretrained=str(run), dev=tmp_path / "empty.txt", progress=False)
    assert not (tmp_path / "no").exists()


def test_texts_that_the_starter_does_not_understand_are_pointed_out() -> None:
    english, german = ("The food was great but the waiter was rude.", "Leider waren die Zimmer nicht besonders sauber.")
    assert starter_knows([english])
    assert not starter_knows([german] * 3)


@pytest.mark.slow
def test_an_exported_run_gives_the_same_answers_without_torch(run: Path, tmp_path: Path) -> None:
    folder = pssa.load(run).export_onnx(tmp_path / "new" / "exported")
    program = f"""
import sys
sys.modules["torch"] = sys.modules["transformers"] = None
import pssa
answer = pssa.load({str(folder)!r}).predict({TEXT!r}, "food")
print(answer.label, [round(value, 6) for value in answer.probabilities.values()])
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    label, _, values = found.strip().partition(" ")
    expected = pssa.load(run).predict(TEXT, "food")
    assert label == expected.label
    # Eight bits are coarse for an encoder of sixteen dimensions.
    assert json.loads(values) == pytest.approx(list(expected.probabilities.values()), abs=0.1)
    # A training goes on from it with the rounded weights.
    exact, rounded = (open_start(start, LABELS).model.state_dict() for start in (run, folder))
    for name, value in exact.items():
        if value.is_floating_point():
            step = float(value.abs().max()) / 127
            assert rounded[name].numpy() == pytest.approx(value.numpy(), abs=step), name


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"from_pretrained": "starter"}, "encoder"),
        ({"epochs": "long"}, "epochs"),
        ({"dev_fraction": 1.0}, "dev_fraction"),
        ({"gamma": 0.5}, "gamma"),
        ({"labels": ("good", "bad")}, "labels"),
        ({"learning_rate": 0.0}, "learning_rate"),
    ],
)
def test_bad_settings_are_refused_and_nothing_is_written(
    encoder: Path, triplets: Path, tmp_path: Path, settings: dict[str, Any], name: str
) -> None:
    given: dict[str, Any] = {"model": "joint", "encoder": str(encoder)} | settings
    with pytest.raises(pssa.InputError, match=name):
        write_run(triplets, tmp_path / "run", progress=False, **given)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["model.json", "model.safetensors"])
def test_a_damaged_run_is_named(run: Path, tmp_path: Path, name: str) -> None:
    import shutil

    copy = shutil.copytree(run, tmp_path / "copy")
    (copy / name).write_bytes(b"{}")
    with pytest.raises(pssa.InputError, match=name.replace(".", r"\.")):
        pssa.load(copy)
