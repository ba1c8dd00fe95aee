"""`pssa serve`: a run behind HTTP, with pages to ask it and to review evidence."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from pssa.cli._options import add_data, common_options
from pssa.cli._parser import page
from pssa.errors import InputError

if TYPE_CHECKING:
    import socket

    from pssa.serve.limits import Limits
    from pssa.serve.review.session import Review

__all__ = ["add_parser"]

# By the limit's name in the service.
_LIMITS = {
    "items": "items in a request (default 64)",
    "aspects": "aspects of an item (default 16)",
    "characters": "characters of a text (default 4000)",
    "explained-words": "words of a text that is to be explained (default 512)",
    "body-bytes": "bytes of a request (default 1 MiB)",
    "table-bytes": "bytes of a CSV (default 16 MiB)",
    "body-seconds": "seconds until a request must have arrived (default 30)",
    "queue": "aspects that wait; more are answered 503 (default 2048)",
    "batch": "aspects that are answered in one go (default 64)",
}
_READING = ("format", "columns", "labels", "conflict")  # how the corpus is read
_VARIABLE = "PSSA_TOKEN"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "serve",
        parents=[common_options()],
        help="answer over HTTP, with a page",
        **page(
            "Put a run behind HTTP until Ctrl-C: labels, explanations and scored tables for programs, and for people a page"
            " to ask it and one to review evidence.",
            "pssa serve runs/reviews",
            "pssa serve runs/reviews --host 0.0.0.0 --port 8080 --token-file token.txt",
            "pssa serve runs/reviews --evidence runs/reviews/evidence.jsonl --corpus reviews.csv",
        ),
    )
    parser.add_argument("run_path", metavar="RUN", type=Path, help="a run, as `pssa train --out RUN` makes it")
    parser.add_argument("--versus", metavar="RUN2", type=Path, help="a second run, to compare with")
    parser.add_argument("--evidence", type=Path, help="evidence to review at /evidence")
    parser.add_argument("--corpus", type=Path, help="the instances that the evidence is about")
    parser.add_argument("--second", type=Path, help="other evidence of the same instances, to find disagreements with")
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen at (default 127.0.0.1: this machine only)"
    )
    parser.add_argument("--port", type=int, default=8000, help="port to listen at (default 8000; 0: any that is free)")
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME", help="another name of this service"
    )
    parser.add_argument("--token-file", type=Path, help=f"file with the token that clients must give; or {_VARIABLE}")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda (default auto)")
    parser.add_argument("--threads", type=int, help="of the model (default: one less than there are cores)")
    parser.add_argument(
        "--grace", type=int, default=30, help="seconds to answer what was accepted, at the end (default 30)"
    )
    parser.add_argument("--wait-ms", type=int, metavar="N", help="milliseconds a batch waits for company (default 4)")
    for name, meaning in _LIMITS.items():
        parser.add_argument(f"--max-{name}", type=int, metavar="N", help=f"at most so many {meaning}")
    add_data(parser.add_argument_group("the file of --corpus, where the run beside the evidence does not say it"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until told to end."""
    from pssa.serve.app import create_app
    from pssa.serve.batcher import open_batcher
    from pssa.serve.middleware import AccessPolicy
    from pssa.serve.server import Server, bind, hosts_of, is_loopback

    limits, token = _limits(arguments), _token(arguments.token_file)
    _share_cores(arguments.threads)
    with bind(arguments.host, arguments.port) as bound, ExitStack() as stack:
        review = _review(arguments)
        if review is not None:
            stack.callback(review.close)
        batcher = open_batcher(arguments.run_path, arguments.versus, limits, arguments.device)
        if not token and not is_loopback(bound):
            print(f"pssa: whoever reaches {arguments.host} may ask; set {_VARIABLE} or --token-file", file=sys.stderr)
        access = AccessPolicy(token, hosts_of(bound, arguments.host, arguments.allow_host))
        app = create_app(batcher, access, review)
        Server(app, batcher, arguments.grace, lambda: _announce(bound, arguments)).run([bound])
    return 0


def _announce(bound: socket.socket, arguments: argparse.Namespace) -> None:
    from pssa.cli._output import print_json, say
    from pssa.serve.server import url_of

    if arguments.json:
        print_json({"url": url_of(bound), "run": str(arguments.run_path)})
    else:
        say(f"{arguments.run_path} at {url_of(bound)}; end with Ctrl-C")
    sys.stdout.flush()


def _limits(arguments: argparse.Namespace) -> Limits:
    from pssa.serve.limits import Limits

    named = {name.replace("-", "_"): getattr(arguments, f"max_{name}".replace("-", "_")) for name in _LIMITS}
    given = {name: value for name, value in {**named, "wait_ms": arguments.wait_ms}.items() if value is not None}
    return Limits(**given)


def _share_cores(threads: int | None) -> None:
    """Leave a core to the network: threads of a model that have to wait for each other are slower than one."""
    import torch

    if threads is not None and threads < 1:
        raise InputError(f"--threads is {threads}; it must be at least 1")
    if threads is not None or "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(threads or max(1, torch.get_num_threads() - 1))


def _token(path: Path | None) -> str:
    """The token, empty if there is none; one that was meant and is empty would leave the access open."""
    if path is None and _VARIABLE not in os.environ:
        return ""
    try:
        token = (os.environ[_VARIABLE] if path is None else path.read_text("utf-8")).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the token file {path} cannot be read ({error}); give a file with one line of text"
        ) from error
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        source = _VARIABLE if path is None else path
        raise InputError(f"{source} holds no token; expected letters and digits in one line, without spaces")
    return token


def _review(arguments: argparse.Namespace) -> Review | None:
    if arguments.evidence is None:
        for name in ("corpus", *_READING, "second"):
            if getattr(arguments, name) is not None:
                raise InputError(f"--{name} goes with --evidence FILE; give that too")
        return None
    if arguments.corpus is None:
        raise InputError("--evidence needs --corpus FILE, the instances that it is about")
    from pssa.serve.review.session import Review

    reading = {name: getattr(arguments, name) for name in _READING}
    return Review.open(arguments.evidence, arguments.corpus, arguments.second, **reading)
