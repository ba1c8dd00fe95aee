"""`pssa export`: write a trained run as an ONNX file, or upload it to a model hub."""

from __future__ import annotations

import argparse
from pathlib import Path

from pssa.cli._options import add_run
from pssa.cli._output import print_json, say
from pssa.cli._parser import finish, page
from pssa.errors import InputError


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "export",
        help="write a run as ONNX, or upload it to a hub",
        **page(
            "Write the model of a run as one ONNX file, or upload the run to a repository of the model hub.",
            "pssa export runs/reviews --onnx reviews.onnx",
            "pssa export runs/reviews --hub me/reviews --private",
        ),
    )
    add_run(parser)
    parser.add_argument("--onnx", type=Path, metavar="FILE", help="ONNX file to write")
    parser.add_argument("--force", action="store_true", help="replace an existing ONNX file")
    parser.add_argument("--hub", metavar="OWNER/NAME", help="repository of the model hub to upload to")
    parser.add_argument("--private", action="store_true", help="make the repository private")
    finish(parser, run)


def run(arguments: argparse.Namespace) -> int:
    """Export, and print the destination."""
    if arguments.onnx is None and arguments.hub is None:
        raise InputError("pssa export needs --onnx FILE or --hub OWNER/NAME, or both")
    if arguments.private and arguments.hub is None:
        raise InputError("--private needs --hub OWNER/NAME; add it, or leave --private out")
    written = None if arguments.onnx is None else _write_onnx(arguments)
    address = None if arguments.hub is None else _push(arguments)
    if arguments.json:
        print_json({"run": str(arguments.run_path), "onnx": written, "hub": address})
        return 0
    if written is not None:
        say(f"{written}: the model of {arguments.run_path} as ONNX")
    if address is not None:
        say(f"{address}: {arguments.run_path}")
    return 0


def _write_onnx(arguments: argparse.Namespace) -> str:
    from pssa.runs.onnx_export import export_onnx

    return str(export_onnx(arguments.run_path, arguments.onnx, force=arguments.force))


def _push(arguments: argparse.Namespace) -> str:
    from pssa.runs.hub import push_to_hub

    return push_to_hub(arguments.run_path, arguments.hub, private=arguments.private)
