"""`pssa export`: write a trained run as an ONNX file or a compact copy, or upload it to a model hub."""

from __future__ import annotations

import argparse

from pssa.cli._options import add_run, add_shared
from pssa.cli._output import print_json, say
from pssa.cli._parser import Commands, add_command, option
from pssa.errors import InputError
from pssa.runs.run_names import run_name


def add_parser(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "export", "export a run to ONNX, a compact copy or a model hub", run)
    add_run(parser)
    option(parser, "--onnx FILE", "ONNX file to write")
    add_shared(parser, "force")
    option(parser, "--compact DIR", "directory for a copy in half precision, without training data")
    option(parser, "--hub OWNER/NAME", "repository of the model hub to upload to")
    option(parser, "--private", "make the repository private")


def run(arguments: argparse.Namespace) -> None:
    """Export a run: its model as one ONNX file, a compact copy of the run without training data, or an upload to a repository
    of the model hub.

    pssa export runs/reviews --onnx reviews.onnx
    pssa export runs/reviews --compact shipped/reviews
    pssa export runs/reviews --hub me/reviews --private
    """
    from pssa.runs.copies import push_to_hub, write_compact
    from pssa.runs.onnx_export import export_onnx

    if arguments.onnx is None and arguments.compact is None and arguments.hub is None:
        raise InputError("pssa export needs --onnx FILE, --compact DIR or --hub OWNER/NAME")
    if arguments.private and arguments.hub is None:
        raise InputError("--private needs --hub OWNER/NAME; add it, or leave --private out")
    run, name, lines = arguments.run_path, run_name(arguments.run_path), []
    printed: dict[str, str | None] = {"run": str(run), "onnx": None, "compact": None, "hub": None}
    if arguments.onnx is not None:
        printed["onnx"] = str(export_onnx(run, arguments.onnx, force=arguments.force))
        lines.append(f"{printed['onnx']}: the model of {name} as ONNX")
    if arguments.compact is not None:
        printed["compact"] = str(write_compact(run, arguments.compact))
        lines.append(f"{printed['compact']}: a compact copy of {name}")
    if arguments.hub is not None:
        printed["hub"] = push_to_hub(run, arguments.hub, private=arguments.private)
        lines.append(f"{printed['hub']}: {name}")
    if arguments.json:
        print_json(printed)
    else:
        say("\n".join(lines))
