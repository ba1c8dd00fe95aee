"""`pssa export`: write a trained run as an ONNX file, or upload it to a model hub."""

from __future__ import annotations

import argparse

from pssa.cli._options import add_run
from pssa.cli._output import print_json, say
from pssa.cli._parser import Commands, add_command, option
from pssa.errors import InputError


def add_parser(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "export", "write a run as ONNX, or upload it to a hub", run)
    add_run(parser)
    option(parser, "--onnx FILE", "ONNX file to write")
    option(parser, "--force", "replace an existing ONNX file")
    option(parser, "--hub OWNER/NAME", "repository of the model hub to upload to")
    option(parser, "--private", "make the repository private")


def run(arguments: argparse.Namespace) -> int:
    """Write the model of a run as one ONNX file, or upload the run to a repository of the model hub.

    pssa export runs/reviews --onnx reviews.onnx
    pssa export runs/reviews --hub me/reviews --private
    """
    from pssa.runs.hub import push_to_hub
    from pssa.runs.onnx_export import export_onnx

    if arguments.onnx is None and arguments.hub is None:
        raise InputError("pssa export needs --onnx FILE or --hub OWNER/NAME, or both")
    if arguments.private and arguments.hub is None:
        raise InputError("--private needs --hub OWNER/NAME; add it, or leave --private out")
    printed: dict[str, str | None] = {"run": str(arguments.run_path), "onnx": None, "hub": None}
    if arguments.onnx is not None:
        printed["onnx"] = str(export_onnx(arguments.run_path, arguments.onnx, force=arguments.force))
    if arguments.hub is not None:
        printed["hub"] = push_to_hub(arguments.run_path, arguments.hub, private=arguments.private)
    if arguments.json:
        print_json(printed)
        return 0
    if printed["onnx"] is not None:
        say(f"{printed['onnx']}: the model of {arguments.run_path} as ONNX")
    if printed["hub"] is not None:
        say(f"{printed['hub']}: {arguments.run_path}")
    return 0
