"""Runs on a model hub: `push_to_hub` uploads what loading and evaluating a run takes, `download` fetches it again.

Files that only resuming needs are not uploaded, nor are paths of this machine. Address, token and cache are the library's own
(`HF_ENDPOINT`, `HF_TOKEN`, `HF_HOME`).
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pssa import __version__
from pssa.data.validation import format_error
from pssa.errors import InputError, MissingExtra
from pssa.runs.copies import PORTABLE, is_portable, portable_files
from pssa.runs.run_names import resolve_run

_CARD = {"library_name": "pssa", "pipeline_tag": "text-classification", "tags": "[aspect-based-sentiment-analysis]"}
_LOADED = 'import pssa\n\nclassifier = pssa.load("path/to/this/directory")'
_FETCHED = 'import pssa\n\nclassifier = pssa.load("hf:{repo_id}")'


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
    hub = _library()
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
    hub = _library()
    repo_id, _, revision = name.partition("@")
    of = {"revision": revision or None, "library_name": "pssa", "library_version": __version__}
    with _hub(repo_id, revision):
        # Weights last: those of another model may be large.
        light = hub.snapshot_download(repo_id, allow_patterns=list(PORTABLE), ignore_patterns=["*.safetensors"], **of)
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


def _library() -> Any:
    try:
        import huggingface_hub
    except ImportError as error:
        raise MissingExtra("huggingface_hub", "data") from error
    return huggingface_hub
