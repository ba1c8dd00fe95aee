"""The house plan, held by reading the source: who may import whom, and what no file may do."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

import pssa

ROOT = Path(pssa.__file__).parent
# A room may import itself, the rooms before it, and what belongs to no room: the modules of the package itself and its version.
SHARED = ("display", "errors", "execution", "lazy", "progress", "registry", "__version__")
ROOMS = (
    "data",
    "models",
    "saliency",
    "evaluation",
    "training",
    "mining",
    "runs",
    "stress",
    "aspects",
    "joint",
    "report",
    "predict",
    "insights",
    "serve",
    "cli",
)
BESIDE = {"runs": ("aspects", "joint")}  # a classifier finds aspects; taggers and joint models are kept like a run
# All that the archive in paper/ may import of the library, by module.
PAPER = ROOT.parents[1] / "paper"
LIBRARY = {
    "pssa": "__version__ models saliency",
    "pssa.data": "Corpus DEFAULT_LABELS Evidence Example hold_out read",
    "pssa.data.evidence": "ACTIVE Evidence ExampleEvidence Finding KINDS RoundReport keep_above keep_iterations",
    "pssa.data.evidence_file": "read_evidence write_evidence",
    "pssa.data.files": "acquire_lock make_folders require_regular sync_folder write_atomically",
    "pssa.data.io": "ReadOptions format_of read_with",
    "pssa.data.labels": "ENGLISH",
    "pssa.data.opinion_words": "OpinionWords evidence_from_opinion_words read_opinion_words",
    "pssa.data.english": "is_content_word",
    "pssa.errors": "InputError PssaError PssaWarning import_extra",
    "pssa.evaluation": "correlate marked_words measure_agreement predict_classes score",
    "pssa.evaluation.agreement": "NEAREST",
    "pssa.evaluation.significance": "Floats SIGNIFICANT TIE cells_by_run scores_by_run",
    "pssa.execution": "ProcessPool RayPool WorkerLost WorkerPool WorkerSetup connect_ray",
    "pssa.models": "uses_encoder",
    "pssa.registry": "Registry",
    "pssa.report": "to_svg",
    "pssa.report.heat_map": "clean top_words",
    "pssa.report.html": "make_environment",
    "pssa.report.svg": "text_width",
    "pssa.runs": "load methods",
    "pssa.runs.answers": "Answer Explanation",
    "pssa.runs.classifier": "Classifier",
    "pssa.runs.devices": "choose_device computes_bfloat16",
    "pssa.runs.explain": "explain trust",
    "pssa.runs.methods": "Trained",
    "pssa.runs.prepared_data": "prepare",
    "pssa.runs.resolve": "FEW_LABELS_OPTIONS choose_epsilon choose_penalty consensus_rule resolve",
    "pssa.runs.run_context": "RunContext",
    "pssa.runs.run_names": "resolve_run",
    "pssa.runs.saved_model": "Description load_weights save_weights",
    "pssa.runs.settings": "Config",
    "pssa.runs.torch_runtime": "TorchRuntime",
    "pssa.runs.warm_start": "merge_settings",
    "pssa.saliency": "observe",
    "pssa.stress": "make_variants stress",
    "pssa.stress.variants": "KINDS VERSION",
    "pssa.training": "EpochRecord Observer",
}
MOST_LINES = 500
WITHOUT_TORCH = ("data", "predict", "insights", "serve")  # rooms that answer questions, for which numpy is enough
# Evidence is reviewed to train with it, and a GPU has torch.
WITH_TORCH = ("pssa.serve.review", "pssa.predict.beside_gpu")
# What a run in another runtime than torch needs of rooms that train too.
ANSWERING = (
    "pssa.aspects.find",
    "pssa.aspects.names",
    "pssa.aspects.sentences",
    "pssa.aspects.spans",
    "pssa.evaluation.metrics",
    "pssa.joint.pieces",
    "pssa.joint.runtime",
    "pssa.cli.insights",
    "pssa.cli.predict",
    "pssa.cli.serve",
    "pssa.cli.try_",
    "pssa.report.terminal",
    "pssa.runs.answers",
    "pssa.runs.calibration",
    "pssa.runs.classifier",
    "pssa.runs.copies",
    "pssa.runs.input_profile",
    "pssa.runs.loading",
    "pssa.runs.onnx_runtime",
)
# Modules whose files can run code when they are read.
UNSAFE_MODULES = {
    "cPickle",
    "cloudpickle",
    "code",
    "ctypes",
    "dill",
    "imp",
    "joblib",
    "marshal",
    "pickle",
    "runpy",
    "shelve",
}
UNSAFE_NAMES = {"__import__", "compile", "eval", "exec", "os.popen", "os.system"}
UNSAFE_NAMES |= {"torch.hub.load", "torch.jit.load", "torch.load", "yaml.load"}
ENCODERS = "models"  # the room that may import transformers
EMPTY_NAMES = {"utils", "util", "helpers", "common", "misc"}

FILES = sorted(ROOT.rglob("*.py"))


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0]


@cache
def imports_in(tree: ast.AST) -> frozenset[str]:
    """Everything that is imported, at the top or inside functions, as dotted names."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.update(f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)
    return frozenset(found)


@cache
def calls_in(tree: ast.AST) -> frozenset[str]:
    """Every call whose function is a plain or dotted name, as it is written."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return frozenset(ast.unparse(call.func) for call in calls if isinstance(call.func, (ast.Name, ast.Attribute)))


def test_every_folder_is_a_room_of_the_plan() -> None:
    assert {room_of(path) for path in FILES if path.parent != ROOT} <= set(ROOMS)


def test_imports_are_written_in_full() -> None:
    assert [name_of(path) for path in FILES if any(found.startswith(".") for found in imports_in(parse(path)))] == []


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_itself_and_rooms_before_it(room: str) -> None:
    allowed = {*SHARED, *ROOMS[: ROOMS.index(room) + 1], *BESIDE.get(room, ())}
    wrong = [
        f"{name_of(path)} imports {found}"
        for path in (*FILES, *ROOT.rglob("*.pyi"))
        if room_of(path) == room
        for found in imports_in(parse(path))
        if f"{found}.".startswith("pssa.") and f"{found}.".split(".")[1] not in allowed
    ]
    assert wrong == []


def test_the_archive_imports_a_list_of_the_library_and_the_library_nothing_of_it() -> None:
    archive = sorted(PAPER.rglob("*.py"))
    found = {name for path in archive for name in imports_in(parse(path)) if name.split(".")[0] == "pssa"}
    assert found == {f"{module}.{name}" for module, names in LIBRARY.items() for name in names.split()}
    assert [
        name_of(path) for path in FILES if any(name.split(".")[0] == "paper" for name in imports_in(parse(path)))
    ] == []
    assert [path.name for path in archive if not ast.get_docstring(parse(path))] == []
    assert [path.name for path in archive if len(path.read_text("utf-8").splitlines()) > MOST_LINES] == []


def test_the_archive_is_no_part_of_the_wheel() -> None:
    build = tomllib.loads((PAPER.parent / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    assert build["targets"]["wheel"] == {"packages": ["src/pssa"]}


def test_the_package_itself_loads_nothing_but_its_list_of_names() -> None:
    assert imports_in(parse(ROOT / "__init__.py")) == {"__future__.annotations", "os", "pssa.lazy.lazy_names"}
    assert {found.split(".")[0] for found in imports_in(parse(ROOT / "__init__.pyi"))} == {"pssa"}


def test_errors_depend_on_nothing_of_the_package() -> None:
    assert not any(found.startswith("pssa") for found in imports_in(parse(ROOT / "errors.py")))


def test_every_file_opens_with_a_docstring() -> None:
    assert [name_of(path) for path in FILES if not ast.get_docstring(parse(path))] == []


def test_no_file_is_too_long() -> None:
    lengths = {name_of(path): len(path.read_text("utf-8").splitlines()) for path in FILES}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}


def test_no_module_is_named_after_nothing() -> None:
    assert [name_of(path) for path in FILES if path.stem.strip("_") in EMPTY_NAMES] == []


def test_nothing_that_is_read_can_run_code() -> None:
    wrong = []
    for path in FILES:
        modules = {found.split(".")[0] for found in imports_in(parse(path))}
        names = imports_in(parse(path)) | calls_in(parse(path))
        wrong += [f"{name_of(path)} uses {found}" for found in modules & UNSAFE_MODULES | names & UNSAFE_NAMES]
    assert wrong == []


def test_only_models_import_transformers_and_none_before_it_is_needed() -> None:
    asking = {path: [found for found in imports_in(parse(path)) if is_transformers(found)] for path in FILES}
    assert {room_of(path) for path, found in asking.items() if found} == {ENCODERS}
    tops = [node for path in FILES for node in parse(path).body if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert not any(is_transformers(found) for node in tops for found in imports_in(node))


@pytest.mark.parametrize("room", WITHOUT_TORCH)
def test_answering_imports_no_torch(room: str) -> None:
    names = [".".join(path.relative_to(ROOT.parent).with_suffix("").parts) for path in FILES if room_of(path) == room]
    modules = [name.removesuffix(".__init__") for name in names if not name.startswith(WITH_TORCH)]
    program = f"""
import importlib, sys
for name in {modules}:
    importlib.import_module(name)
print(*sorted({{"torch", "transformers"}} & {{*sys.modules}}))
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (ended.stdout.strip(), ended.stderr) == ("", "")


def test_a_classifier_over_another_runtime_answers_without_torch() -> None:
    program = f"""
import importlib, sys
sys.modules["torch"] = sys.modules["transformers"] = None  # importing them fails
for name in {ANSWERING}:
    importlib.import_module(name)
import pandas, pssa
from tests.runs.toy_runtime import ToyRuntime
classifier = pssa.Classifier(ToyRuntime())
text = "The good soup. A bad waiter."
print(
    [answer.label for answer in classifier.predict(text)],
    [len(answers) for answers in classifier.predict([text, ""])],
    [answer.label for answer in classifier.predict([(text, "soup"), (text, "waiter")])],
    [len(answers) for answers in classifier.predict(pandas.Series([text]))],
    list(classifier.predict(pandas.DataFrame({{"text": [text]}}))["label"]),
)
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd=ROOT.parent.parent
    )
    labels = "['positive', 'negative']"
    assert (ended.stdout.strip(), ended.stderr) == (f"{labels} [2, 0] {labels} [2] {labels}", "")


def is_transformers(found: str) -> bool:
    return found.split(".")[0] == "transformers"


def test_only_the_command_line_prints() -> None:
    assert [name_of(path) for path in FILES if room_of(path) != "cli" and "print" in calls_in(parse(path))] == []
