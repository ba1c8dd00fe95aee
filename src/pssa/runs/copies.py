"""Copies of a run to give away: what loading and evaluating it takes, without what only resuming needs or paths of this machine.

`push_to_hub` uploads a run to a model hub, and `download` fetches it again. Address, token and cache are the library's own
(`HF_ENDPOINT`, `HF_TOKEN`, `HF_HOME`). `write_compact` writes a copy to ship, in half precision, which loading makes single
precision again; it has no evidence, and so no training sentence.
"""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from pssa import __version__
from pssa.data.files import write_atomically
from pssa.data.validation import format_error, read_toml
from pssa.errors import InputError, import_extra
from pssa.runs.directory import RunDirectory, read_json, read_tensors, write_tensors
from pssa.runs.run_names import resolve_run

if TYPE_CHECKING:
    from torch import Tensor

# A star matches files in deeper folders too.
PORTABLE = (
    "model.json",
    "model.safetensors",
    "vocabulary.json",
    "calibration.json",
    "inputs.json",
    "encoder/*",
    "encoder.onnx",  # of an exported run, with the next four
    "heads.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
    "config.json",
    "members/*",
    "aspects/*",
    "config.toml",
    "metrics.json",
    "history.jsonl",
    "evidence.jsonl",
    "README.md",
)
_TRAINING_STATE = "stages"  # only resuming needs it
_PATHS = (("data", "train"), ("data", "dev"), ("data", "vectors"), ("supervision", "evidence"))
_TAGGER = "aspects/tagger.json"  # of earlier versions
# Keys under which transformers records where a configuration or a tokenizer was loaded from.
_ORIGIN = ("_name_or_path", "name_or_path")
_WEIGHTS, _EVIDENCE = "model.safetensors", "evidence.jsonl"  # evidence quotes the training sentences
_TABLES = ("calibration.json", "inputs.json")  # long lists, of which nobody reads single lines

_CARD = {"library_name": "pssa", "pipeline_tag": "text-classification", "tags": "[aspect-based-sentiment-analysis]"}
_LOADED = 'import pssa\n\nclassifier = pssa.load("path/to/this/directory")'
_FETCHED = 'import pssa\n\nclassifier = pssa.load("hf:{repo_id}")'


def is_portable(name: str) -> bool:
    """Return whether a file of this name, relative to the run, can be given away."""
    parts = name.split("/")
    hidden = any(part.startswith(".") or part == _TRAINING_STATE for part in parts)
    return not hidden and any(fnmatch(name, pattern) for pattern in PORTABLE)


def portable_files(run: Path) -> dict[str, Path | str]:
    """Return the files of a finished run by their names in it: paths, or text without the paths of this machine.

    :raises InputError: if `run` is not a finished run.
    """
    RunDirectory.open(run).require_finished()
    names = sorted(path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file())
    files: dict[str, Path | str] = {name: run / name for name in names if is_portable(name)}
    for name in [name for name in files if fnmatch(name, "*config.toml")]:
        table = read_toml(run / name)
        for section, key in _PATHS:
            table.get(section, {}).pop(key, None)
        for key in {"encoder", "from_pretrained"} & table["data"].keys():
            table["data"][key] = _name(table["data"][key])
        files[name] = tomli_w.dumps(table)
    if _TAGGER in files:
        table = json.loads((run / _TAGGER).read_text("utf-8"))
        files[_TAGGER] = _json(table | {"vectors": None, "encoder": table["encoder"] and _name(table["encoder"])})
    for name in [name for name in files if fnmatch(name, "*encoder/*.json")]:
        table = json.loads((run / name).read_text("utf-8"))
        origins = [key for key in _ORIGIN if isinstance(table, dict) and Path(str(table.get(key, ""))).is_absolute()]
        if origins:
            files[name] = _json(table | {key: _name(table[key]) for key in origins})
    return files


def _name(encoder: str) -> str:
    return Path(encoder).name if Path(encoder).is_absolute() else encoder


def _json(table: dict[str, Any]) -> str:
    return json.dumps(table, indent=2, ensure_ascii=False) + "\n"


def write_compact(run: str | Path, out: str | Path) -> Path:
    """Write a compact copy of a finished run into the new directory `out`.

    :raises InputError: if `run` is not a finished run, or `out` exists.
    """
    root = resolve_run(run)
    files = {name: content for name, content in portable_files(root).items() if name != _EVIDENCE}
    with RunDirectory.created(Path(out)) as directory:
        for name, content in files.items():
            target = directory.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.name == _WEIGHTS:
                tensors, _ = read_tensors(root / name)
                write_tensors(target, {each: _half(tensor) for each, tensor in tensors.items()})
            elif name in _TABLES:
                content = json.dumps(read_json(root / name), ensure_ascii=False, separators=(",", ":")) + "\n"
                write_atomically(target, content.encode())
            elif isinstance(content, str):
                write_atomically(target, content.encode())
            else:
                shutil.copyfile(content, target)
    return Path(out)


def _half(tensor: Tensor) -> Tensor:
    """Return the tensor in half precision, unless it has numbers that are too large for it."""
    narrow = tensor.half() if tensor.is_floating_point() else tensor
    return narrow if bool(narrow.isfinite().all()) else tensor


def push_to_hub(
    run: str | Path, repo_id: str, *, private: bool = False, revision: str | None = None, message: str = "A trained run"
) -> str:
    """Upload a finished run in one commit, create the repository if needed, and return its address.

    :param repo_id: OWNER/NAME. Files of a run that is there already are replaced, other files are left alone.
    :param private: create the repository so that only its owner sees it.
    :param revision: a branch, created if needed; by default the main one.
    :raises InputError: if `run` is not a finished run, or if the hub refuses it or cannot be reached.
    """
    contents = portable_files(resolve_run(run))
    contents.setdefault("README.md", "")
    hub = import_extra("huggingface_hub", "data")
    with _hub(repo_id, revision):
        api = hub.HfApi(library_name="pssa", library_version=__version__)
        # None leaves the choice to the owner's settings, which may say that everything is private.
        address = api.create_repo(repo_id, private=private or None, exist_ok=True)
        repo_id = address.repo_id
        if private and not api.repo_info(repo_id).private:
            raise InputError(f"{repo_id} exists already and is public; make it private first, or choose another name")
        if revision is not None:
            api.create_branch(repo_id, branch=revision, exist_ok=True)
        card = contents["README.md"]
        contents["README.md"] = _card(card if isinstance(card, str) else card.read_text("utf-8"), repo_id)
        there = api.list_repo_files(repo_id, revision=revision)
        if "model.json" not in there:  # no run: files such as config.json are those of another model
            there = []
        changes = [hub.CommitOperationDelete(name) for name in there if is_portable(name) and name not in contents]
        changes += [
            hub.CommitOperationAdd(name, content.encode() if isinstance(content, str) else content)
            for name, content in contents.items()
        ]
        api.create_commit(repo_id, changes, commit_message=message, revision=revision)
    return str(address) if revision is None else f"{address}/tree/{revision}"


def download(name: str) -> Path:
    """Return the folder of a run on the hub, which is fetched unless it is in the cache.

    :param name: OWNER/NAME, or OWNER/NAME@REVISION for a branch, a tag or a commit; by default the newest of the main branch.
    :raises InputError: if there is no such repository, if it is not a run, or if it is neither reachable nor cached.
    """
    hub = import_extra("huggingface_hub", "data")
    repo_id, _, revision = name.partition("@")
    of = {"revision": revision or None, "library_name": "pssa", "library_version": __version__}
    with _hub(repo_id, revision):
        # Weights last: those of another model may be large.
        heavy = ["*.safetensors", "*.onnx"]
        light = hub.snapshot_download(repo_id, allow_patterns=list(PORTABLE), ignore_patterns=heavy, **of)
        if not Path(light, "model.json").is_file():
            raise InputError(f"{repo_id}: not a run: it has no model.json")
        return Path(hub.snapshot_download(repo_id, allow_patterns=list(PORTABLE), **of))


def _card(text: str, repo_id: str) -> str:
    """Return the model card with the hub's metadata in its head, and with the call that loads the run from there."""
    _, head, body = text.split("---\n", 2) if text.startswith("---\n") and text.count("---\n") > 1 else ("", "", text)
    known = {line.partition(":")[0] for line in head.splitlines()}
    head += "".join(f"{key}: {value}\n" for key, value in _CARD.items() if key not in known)
    return f"---\n{head}---\n{body.replace(_LOADED, _FETCHED.format(repo_id=repo_id))}"


@contextmanager
def _hub(repo_id: str, revision: str | None) -> Iterator[None]:
    """Turn the errors of the hub's library into one line, and silence its bars where standard error is not a terminal."""
    utils: Any = importlib.import_module("huggingface_hub.utils")
    silence = not sys.stderr.isatty() and not utils.are_progress_bars_disabled()
    try:
        if silence:
            utils.disable_progress_bars()
        yield
    except InputError:
        raise
    except Exception as error:  # the library passes on errors of many libraries
        raise InputError(f"{repo_id}: {_reason(error, revision)}") from error
    finally:
        if silence:
            utils.enable_progress_bars()


def _reason(error: Any, revision: str | None) -> str:
    from huggingface_hub import errors

    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(error, errors.HFValidationError):
        return "not the name of a repository; expected OWNER/NAME"
    if isinstance(error, errors.RevisionNotFoundError):
        return f"has no revision {revision}"
    if isinstance(error, errors.RepositoryNotFoundError):
        return "no such repository, or no access to it; check the name, or log in with: hf auth login"
    if status in (401, 403):
        return "the hub refuses access; log in with: hf auth login, with a token that has it"
    # Errors of an upload's thread, and refusals that fall back to the cache, have the reason as their cause.
    cause = error.__cause__
    if (isinstance(error, RuntimeError) and cause is not None) or isinstance(cause, errors.HfHubHTTPError):
        return _reason(cause, revision)
    if isinstance(error, (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled)):
        return "not in the cache, and the hub cannot be reached; check the network and HF_ENDPOINT"
    if type(error).__module__.startswith("httpx"):  # the transport
        return f"the hub cannot be reached ({error}); check the network and HF_ENDPOINT"
    if isinstance(error, (AttributeError, KeyError, TypeError)):  # the answer was not what the library expected
        return f"the hub's answer cannot be read ({format_error(error)}); check HF_ENDPOINT"
    return format_error(error)
