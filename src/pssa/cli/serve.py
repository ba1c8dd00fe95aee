"""`pssa serve`: a run as an HTTP service, with a page to try it and one to review evidence."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from pssa.cli._options import DATA, add_run, add_shared, reading
from pssa.cli._parser import INTERRUPTED, Commands, add_command, option
from pssa.errors import InputError
from pssa.runs.run_names import run_name

if TYPE_CHECKING:
    import socket

    from pssa.serve.review.session import Review

_VARIABLE = "PSSA_TOKEN"


def add_parser(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "serve", "serve a run over HTTP, with web pages", run)
    add_run(parser, is_optional=True)
    option(parser, "--versus RUN2", "run to compare with")
    add_shared(parser, "aspects_from")
    option(parser, "--evidence FILE", "evidence to review at /evidence")
    option(parser, "--corpus FILE", "training data of the evidence")
    option(parser, "--second FILE", "second evidence file, to find disagreements")
    option(parser, "--host ADDRESS", "address to listen on (default 127.0.0.1: this machine only)", "127.0.0.1")
    option(parser, "--port N", "port to listen on (default 8000; 0: any free port)", 8000)
    allowed = "host name that may reach the service, such as *.example.com"
    option(parser, "--allow-host NAME", allowed, action="append", default=[])
    option(parser, "--token-file FILE", f"file with the token that clients send (default: variable {_VARIABLE})")
    option(parser, "--no-token", "no token, not even for changes to evidence")
    option(parser, "--access-log FILE", "log of requests and changes, without texts (-: standard output)")
    option(parser, "--log FORMAT", "format of logs on standard output", "lines", choices=("lines", "json"))
    option(parser, "--grace N", "seconds to finish requests on shutdown", 30)
    option(parser, "--limits FILE", "TOML file with limits of requests and of the queue")
    add_shared(parser, "device", "abstain", "abstain_risk")
    data = parser.add_argument_group("format of --corpus (default: as for the run that contains the evidence)")
    add_shared(data, *DATA)


def run(arguments: argparse.Namespace) -> None:
    """Serve a run over HTTP until Ctrl-C: an API for labels, explanations and scored tables, a page to try the model and a
    page to review evidence.

    pssa serve
    pssa serve runs/reviews --host 0.0.0.0 --port 8080 --token-file token.txt
    pssa serve runs/reviews --evidence runs/reviews/evidence.jsonl --corpus reviews.csv
    """
    from pssa.runs.loading import finds_aspects
    from pssa.runs.run_names import LENT, has_starter, starter_run
    from pssa.serve.access import choose_access
    from pssa.serve.app import create_app
    from pssa.serve.batcher import open_batcher
    from pssa.serve.limits import Limits
    from pssa.serve.monitoring import AccessLog, log_to_stdout
    from pssa.serve.server import Server, bind, hosts_of, is_loopback

    limits = Limits() if arguments.limits is None else Limits.read(arguments.limits)
    token = _token(arguments.token_file)
    with bind(arguments.host, arguments.port) as bound, ExitStack() as stack:
        stack.enter_context(log_to_stdout(arguments.log))
        hosts, has_changes = hosts_of(bound, arguments.host, arguments.allow_host), arguments.evidence is not None
        access = choose_access(token, hosts, declined=arguments.no_token, has_changes=has_changes)
        review = _review(arguments)
        if review is not None:
            stack.callback(review.close)
        log = None
        if arguments.access_log is not None:
            is_file = str(arguments.access_log) != "-"
            log = AccessLog(arguments.access_log, "json" if is_file else arguments.log)
            stack.callback(log.close)
        folders = [path for path in (arguments.run_path, arguments.versus) if path is not None]
        abstaining = {"abstain": arguments.abstain, "abstain_risk": arguments.abstain_risk}
        can_find = arguments.aspects_from or any(map(finds_aspects, folders))
        tagger = arguments.aspects_from if can_find or not has_starter() else starter_run()
        batcher = open_batcher(folders, limits, arguments.device, tagger, **abstaining)
        if tagger and not can_find:
            print(f"pssa: {LENT}", file=sys.stderr)
        torch = sys.modules.get("torch")  # a model that runs without it has its own threads
        if torch is not None and "OMP_NUM_THREADS" not in os.environ:
            # Leave a core to the network: threads of a model that wait for each other are slower than one thread.
            torch.set_num_threads(max(1, torch.get_num_threads() - 1))
        if (not access.token or access.only_changes) and not is_loopback(bound):
            warning = f"anyone who can reach {arguments.host} can use this service; set {_VARIABLE} or --token-file"
            print(f"pssa: {warning}", file=sys.stderr)
        app = create_app(batcher, access, review, access_log=log)
        drawn = access.token if token is None else ""  # a token that was given stays secret
        server = Server(app, batcher, arguments.grace, lambda: _announce(bound, arguments, drawn))
        server.run([bound])
    if server.force_exit:  # a second Ctrl-C: the end of Python would abort a model that is still computing
        sys.stdout.flush()
        os._exit(INTERRUPTED)


def _announce(bound: socket.socket, arguments: argparse.Namespace, token: str) -> None:
    """Print the address and, if a token was drawn, the address that gives it to the page."""
    from pssa.cli._output import print_json, say
    from pssa.serve.monitoring import now
    from pssa.serve.server import url_of

    url = url_of(bound)
    if arguments.json or arguments.log == "json":
        head = {} if arguments.json else {"time": now(), "level": "info", "message": f"serving at {url}"}
        print_json(head | {"url": url, "run": str(arguments.run_path)} | ({"token": token} if token else {}))
    else:
        say(f"{run_name(arguments.run_path)} at {url}; stop with Ctrl-C")
        if token:
            # After `#`: a browser does not send it, so it gets into no log.
            where, what = ("evidence", "To review evidence") if arguments.evidence else ("", "With its token")
            say(f"{what}, open {url}/{where}#token={token}")
    sys.stdout.flush()


def _token(path: Path | None) -> str | None:
    """Return the configured token, or None; refuse an invalid one."""
    from pssa.serve.access import check_token

    if path is None and _VARIABLE not in os.environ:
        return None
    try:
        token = os.environ[_VARIABLE] if path is None else path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the token file {path} cannot be read ({error}); name a file with one line of text"
        ) from error
    try:
        return check_token(token)
    except InputError as error:
        raise InputError(f"{_VARIABLE if path is None else path} {error.message}") from None


def _review(arguments: argparse.Namespace) -> Review | None:
    if arguments.evidence is None:
        for name in ("corpus", *DATA, "second"):
            if getattr(arguments, name) is not None:
                raise InputError(f"--{name.replace('_', '-')} needs --evidence FILE; add it")
        return None
    if arguments.corpus is None:
        raise InputError("--evidence needs --corpus FILE, the training data of the evidence; add it")
    from pssa.serve.review.session import Review

    return Review.open(arguments.evidence, arguments.corpus, arguments.second, **reading(arguments))
