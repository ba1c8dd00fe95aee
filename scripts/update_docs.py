"""Fill the generated parts of the documentation: measured numbers, findings and the reference of commands.

    python scripts/update_docs.py            rewrite what is out of date
    python scripts/update_docs.py --check    name the pages that are out of date and exit with 1

A number stands between `<!--=TABLE|ROW|COLUMN|FIELD|FORMAT-->` and `<!--/-->`: TABLE is EXHIBIT/NAME, a table of
results/EXHIBIT/tables.json, ROW the first cells of a row, FORMAT a Python format. A block stands between `<!-- begin NAME -->`
and `<!-- end NAME -->`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # for the archive, which is no part of the package

from paper.studies.front_page import (  # noqa: E402
    findings_of,
    front_page,
    headline,
    read_exhibits,
    write_pictures,
)
from pssa.cli import build_parser  # noqa: E402

RESULTS = ROOT / "results"
_NUMBER = re.compile(r"(<!--=([^>]+)-->)(.*?)(<!--/-->)", re.DOTALL)
_BLOCK = re.compile(r"(<!-- begin ([a-z-]+) -->\n)(.*?)(<!-- end \2 -->)", re.DOTALL)
# Rows of the table of scores in domain: what they are called there, and in the tables of results/overall.
_OVERALL_ROWS = {
    "MN": "MN",
    "TNet-ATT": "TNet-ATT",
    "TNet-ATT, attention supervised (`pg-as`)": "TNet-ATT (+PG-AS)",
    "TNet-ATT, trained again": "TNet-ATT (again)",
    "BERTABSA-ATT": "BERTABSA-ATT",
    "BERTABSA-ATT, attention supervised (`aw-as`)": "BERTABSA-ATT (+AW-AS)",
    "BERTABSA-ATT, trained again": "BERTABSA-ATT (again)",
    "BERTABSA": "BERTABSA",
}

# Rows of the table of other domains and variants: model and method, as in results/transfer and results/stress, and names there.
_TRANSFER_ROWS = {
    ("TNet-ATT", "tnet_att"): {
        "": "TNet-ATT",
        " (again)": "the same, trained again",
        " (+Consensus)": "consensus evidence (`--method consensus`)",
        " (+Contrast)": "contrast (`--augment contrast`)",
        " (+Consensus+Contrast)": "both",
        " (+Human)": "words that people marked",
    },
    ("BERTABSA-ATT", "bertabsa_att"): {
        "": "BERTABSA-ATT on MPNet",
        " (again)": "the same, trained again",
        " (+Consensus)": "consensus evidence",
        " (+Contrast)": "contrast",
    },
}
_README_ROWS = {"`tnet_att` on word vectors": "TNet-ATT", "`bertabsa` on an encoder (MPNet)": "BERTABSA"}
_README_FINDINGS = ("overall", "stress", "transfer", "human-agreement")

_TAGGERS = {"words": "word vectors, characters", "minilm": "MiniLM", "mpnet": "MPNet"}
# What stands beside a measurement of results/aspects.jsonl: the head of its column, and its cells by data set and tagger.
_BESIDE = {
    "spans": ("aim", {"laptop": {"words": "75", "mpnet": "87"}, "rest": {"words": "82", "mpnet": "88"}}),
    "end_to_end": (
        "published",
        {"laptop": dict.fromkeys(_TAGGERS, "61 to 71"), "rest": dict.fromkeys(_TAGGERS, "73 to 78")},
    ),
}


def main() -> int:
    """Rewrite the pages, or check them."""
    parser = argparse.ArgumentParser(description="Fill the generated parts of the documentation.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a page is out of date")
    check = parser.parse_args().check
    if not check:
        write_pictures(RESULTS)
    stale = [page for page in pages() if filled(text := page.read_text("utf-8")) != text]
    for page in stale:
        print(f"{'out of date' if check else 'updated'}: {page.relative_to(ROOT)}")
        if not check:
            page.write_text(filled(page.read_text("utf-8")), "utf-8")
    return int(check and bool(stale))


def pages() -> list[Path]:
    """Return the pages that may have generated parts."""
    return sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("results/*.md")])


def filled(text: str) -> str:
    """Return a page with its generated parts made again."""
    text = _BLOCK.sub(lambda found: found[1] + BLOCKS[found[2]]() + found[4], text)
    return _NUMBER.sub(lambda found: found[1] + number(found[2]) + found[4], text)


def number(address: str) -> str:
    """Return the number at an address such as `overall/overall-gains|MN;LAPTOP|+AW-AS|macro-F1|+.2f`."""
    table, row, column, field, form = address.split("|")
    value: Any = cells(table, tuple(row.split(";")))[column]
    return format(value[field] if field else value, form)


def cells(table: str, row: tuple[str, ...]) -> dict[str, Any]:
    """Return the cells of the one row that begins with `row`, by column."""
    content = _table(table)
    found = [fields for fields in content["rows"] if tuple(fields[: len(row)]) == row]
    if len(found) != 1:
        raise SystemExit(f"{table} in results/ has {len(found)} rows that begin with {', '.join(row)}")
    return dict(zip(content["columns"], found[0], strict=True))


@cache
def _table(name: str) -> Any:
    exhibit, _, table = name.partition("/")
    stored = json.loads((RESULTS / exhibit / "tables.json").read_text("utf-8"))["tables"]
    return next(each for each in stored if each["name"] == table)


def overall_table(names: Mapping[str, str], data_sets: Sequence[str]) -> str:
    """Return a table of scores in domain, mean accuracy and macro-F1 on test: the rows that `names` gives other names."""
    lines = [f"| {' | '.join(['accuracy / macro-F1 on test', *map(str.upper, data_sets)])} |"]
    lines.append("|---" * (len(data_sets) + 1) + "|")
    for name, row in names.items():
        lines.append(f"| {' | '.join([name, *(_overall_scores(data, row) for data in data_sets)])} |")
    return "\n".join(lines) + "\n"


def _overall_scores(data: str, row: str) -> str:
    """Return mean accuracy and macro-F1 of a row; a table leaves out rows that were not measured."""
    if all(fields[0] != row for fields in _table(f"overall/overall-{data}")["rows"]):
        return "not measured"
    found = cells(f"overall/overall-{data}", (row,))
    return f"{found['accuracy']['mean']:.1f} / {found['macro-F1']['mean']:.1f}"


def transfer_table() -> str:
    """Return macro-F1 in the other domain, the share of instances right in every variant, and macro-F1 in domain."""
    columns = ("LAPTOP → REST", "REST → LAPTOP", "variants of LAPTOP", "variants of REST", "LAPTOP", "REST")
    lines = [f"| {' | '.join(('', *columns))} |", "|---" * (len(columns) + 1) + "|"]
    for (model, file), methods in _TRANSFER_ROWS.items():
        for method, name in methods.items():
            row = (f"{model}{method}",)
            pairs = [cells(f"transfer/transfer-{pair}", row) for pair in ("laptop-rest", "rest-laptop")]
            variants = [cells(f"stress/stress-{data}-{file}", row) for data in ("laptop", "rest")]
            found = [*(each["macro-F1"] for each in pairs), *(each["all right"] for each in variants)]
            means = [f"{each['mean']:.1f}" for each in (*found, *(each["at home"] for each in pairs))]
            seeds = "" if method else f", {min(each['seeds'] for each in (*pairs, *variants))} seeds"
            lines.append(f"| {' | '.join((name + seeds, *means))} |")
    return "\n".join(lines) + "\n"


def contrast_table() -> str:
    """Return what contrast changes, compared with training again: instances that are right in every variant, and macro-F1."""
    lines = [
        "| points over training again | right in every variant | in domain | in the other domain |",
        "|---|---|---|---|",
    ]
    for model, file in (("MN", "memnet"), ("TNet-ATT", "tnet_att"), ("BERTABSA-ATT", "bertabsa_att")):
        row = (f"{model} (+Contrast)",)
        variants = [cells(f"stress/stress-{data}-{file}", row) for data in ("laptop", "rest")]
        pairs = [cells(f"transfer/transfer-{pair}", row) for pair in ("laptop-rest", "rest-laptop")]
        found = [[each["over again"]["all right"] for each in variants]]
        found += [[each[column]["macro-F1"] for each in pairs] for column in ("over again at home", "over again")]
        shown = [" / ".join(f"{value:+.1f}" for value in values) for values in found]
        lines.append(f"| `{file}` | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def headlines() -> str:
    """Return the README's sentences about results: what the paper claims, and where evidence pays."""
    shown = {each.name: each for each in read_exhibits(RESULTS)}
    findings = findings_of(list(shown.values()))
    lines = (headline(name, findings[name], shown[name].title, "results/") for name in _README_FINDINGS)
    return "".join(f"- {line}\n" for line in lines)


def command_reference() -> str:
    """Return every command with its arguments and options."""
    return "\n".join(part for name, parser in leaf_parsers("pssa", build_parser()) for part in _command(name, parser))


def leaf_parsers(name: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield every command that can be typed, with its parser."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield name, parser
    for group in groups:
        for word, below in group.choices.items():
            yield from leaf_parsers(f"{name} {word}", below)


def _command(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"## {name}\n\n{parser.description}\n"
    for group in parser._action_groups:
        shown = [action for action in group._group_actions if action.help != argparse.SUPPRESS and _is_own(action)]
        if shown:
            title = "" if group.title in ("positional arguments", "options") else f"**{group.title}**\n\n"
            rows = [f"| {_spelling(action)} | {_help(parser, action)} |" for action in shown]
            yield "\n".join([f"{title}| {_kind(shown)} | |", "|---|---|", *rows, ""])
    if parser.epilog:
        examples = [line.strip() for line in parser.epilog.splitlines() if line.strip().startswith("pssa ")]
        yield "\n".join(["```sh", *examples, "```", ""])


def _is_own(action: argparse.Action) -> bool:
    """Whether an option is not one that every command has."""
    return not {"--help", "--json", "--debug"} & set(action.option_strings)


def _kind(actions: list[argparse.Action]) -> str:
    return "option" if any(action.option_strings for action in actions) else "argument"


def _spelling(action: argparse.Action) -> str:
    values = "" if action.nargs == 0 else argparse.HelpFormatter("")._format_args(action, action.dest.upper())
    return f"`{' '.join(filter(None, [*action.option_strings[-1:], values]))}`".replace("|", "\\|")


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    text = " ".join(parser._get_formatter()._expand_help(action).split())
    return text.replace("|", "\\|") + (" (required)" if action.required and action.option_strings else "")


def aspects_table(measure: str) -> str:
    """Return a table of results/aspects.jsonl: of `spans` or `end_to_end`, with means over the seeds."""
    records = [json.loads(line) for line in (RESULTS / "aspects.jsonl").read_text("utf-8").splitlines()]
    head, beside = _BESIDE[measure]
    lines = [f"| data | reads | F1 by seed | mean F1 | precision | recall | {head} |", "|---|---|---|---|---|---|---|"]
    for data, reads in ((data, reads) for data in beside for reads in _TAGGERS):
        found = [
            each[measure] for each in records if (each["data"], each["reads"]) == (data, reads) and measure in each
        ]
        if found:
            means = [f"{100 * fmean(each[key] for each in found):.1f}" for key in ("f1", "precision", "recall")]
            seeds = " ".join(f"{100 * each['f1']:.1f}" for each in found)
            row = (data.upper(), _TAGGERS[reads], seeds, *means, beside[data].get(reads, ""))
            lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


BLOCKS: dict[str, Callable[[], str]] = {
    "aspect-spans": lambda: aspects_table("spans"),
    "aspects-end-to-end": lambda: aspects_table("end_to_end"),
    "overall": lambda: overall_table(_OVERALL_ROWS, ("laptop", "rest", "twitter")),
    "scores": lambda: overall_table(_README_ROWS, ("laptop", "rest")),
    "transfer": transfer_table,
    "findings": lambda: front_page(read_exhibits(RESULTS)),
    "headlines": headlines,
    "contrast": contrast_table,
    "commands": command_reference,
}

if __name__ == "__main__":
    sys.exit(main())
