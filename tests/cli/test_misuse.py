"""Bad usage and bad input of every command: exit code 2, one line that says what is wrong, and nothing written."""

from __future__ import annotations

import codecs
import gzip
import json
import shlex
import shutil
from pathlib import Path

import pytest
from tests.cli.command import Command
from tests.cli.conftest import TINY
from tests.serve.review_toys import write_files

TEXT = "The screen is huge, but the battery dies at 10:30."
TRAIN = f"train --train train.jsonl {' '.join(TINY)} --out new"
MINE = f"evidence mine --train train.jsonl {' '.join(TINY)} --out new.jsonl"
EXPLAIN = f"explain run --text '{TEXT}' --aspect screen"
PREDICT = "predict run --input data.jsonl --output new.jsonl"
EVALUATE = "evaluate run --data data.jsonl"
INSIGHTS = "insights run --input reviews.csv --aspects food --out new.html"
SERVE = "serve run --port 0"
NEEDED = "pssa: pssa train needs --train FILE and --out RUN, or --resume RUN"
FILES = {
    "reviews.csv": "Text,branch,day\nThe food was great.,north,2024-01-05\n",
    "one.csv": "text,aspect,label\nNice staff,staff,positive\n",
    "good.csv": "text,aspect,label\na screen,screen,good\n",
    "conflict.csv": "text,aspect,label\na screen,screen,conflict\n",
    "unlabelled.csv": "text,aspect\na screen,screen\n",
    "keyboard.jsonl": '{"text": "a screen", "aspect": "screen"}\n{"text": "a keyboard", "aspect": "screen"}\n',
    "aspects.jsonl": '{"text": "a screen", "aspects": [{"from": 2, "to": 8}]}\n' * 10,
    "empty.csv": "text,aspect,label\n",
    "unmarked.tsv": "s_id\tsentence\ttarget_tags\topinion_words_tags\n",
    "secret": "a-long-secret\n",
    "guessed": "x",
    **{f"token{number}": text for number, text in enumerate(("", " \n", "two words", "línea", "two\nlines"))},
}

ROW = {"text": "the menu is good", "aspect": "menu", "label": "positive"}
CSV = "text,aspect,label\n" + "the menu is “good”,menu,positive\n" * 12
XML = (
    '<sentences><sentence id="1"><text>the menu is good</text><aspectTerms><aspectTerm term="menu" polarity="positive"'
)
XML += ' from="4" to="8"/></aspectTerms></sentence></sentences>\n'


def with_row(**fields: object) -> bytes:
    """JSON Lines whose eleventh row has these fields instead of its own."""
    return (f"{json.dumps(ROW)}\n" * 10 + json.dumps(ROW | fields) + "\n").encode()


MALFORMED: dict[str, bytes] = {
    "half.xml": XML[: len(XML) // 2].encode(),
    "twice.xml": (XML + XML).encode(),
    "tag.xml": XML.replace("</text>", "</txt>").encode(),
    "entity.xml": XML.replace("good", "&good;").encode(),
    "bomb.xml": b'<!DOCTYPE s [<!ENTITY a "ha">]>' + XML.replace("good", "&a;").encode(),
    "no-label.xml": XML.replace(' polarity="positive"', "").encode(),
    **{f"empty.{ending}": b"" for ending in ("csv", "tsv", "xml", "json", "jsonl", "ndjson", "raw", "seg", "txt")},
    "blank.txt": b"\n \n",
    "column.csv": CSV.replace("aspect", "term").encode(),
    "column.jsonl": json.dumps({"text": "the menu is good", "label": "positive"}).encode(),
    "label.jsonl": with_row(label="positive negative"),
    "aspect.jsonl": with_row(aspect="m\u0435nu"),
    **{
        f"offsets-{n}.jsonl": with_row(**{"from": given, "to": 8}) for n, given in enumerate((-1, 9, "four", 4.5, True))
    },
    "windows.csv": CSV.encode("cp1252"),
    "utf16.csv": codecs.BOM_UTF16_LE + CSV.encode("utf-16-le"),
    "utf32.csv": CSV.encode("utf-32"),
    "latin.raw": "le $T$ est très bon\nmenu\n1\n".encode("latin-1") * 12,
    "image.csv": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20,
    "packed.jsonl": gzip.compress(with_row()),
    "cut.csv.gz": gzip.compress(CSV.encode())[:-20],
    "plain.csv.gz": CSV.encode(),
    "cut.parquet": b"PAR1" + bytes(range(256)) * 20,
}
VECTORS = {
    f"vectors{number}.txt.gz": gzip.compress(b"some 1 2 3\n" * 7 + row + b"\nlast 1 2 3\n")
    for number, row in enumerate((b"word 0.1 0.2", b"word", b"word 1 2 3 word 4 5", b"word\t1\t2\t3"))
}

REFUSED = [
    ("fly", "pssa: argument COMMAND: invalid choice: 'fly'"),
    ("trian", "pssa: no command 'trian'; did you mean pssa train? see pssa train --help"),
    ("data chek", "pssa: no action 'chek'; did you mean pssa data check? see pssa data check --help"),
    ("data check F --conflict kep", "argument --conflict: invalid choice: 'kep' (did you mean keep?)"),
    ("evidence", "required: ACTION; see pssa evidence --help"),
    ("evidence mine --method boosting", "argument --method: invalid choice: 'boosting'"),
    ("predict run", "arguments are required: --input, --output; see pssa predict --help"),
    ("predict --inputs f", "unrecognized arguments: --inputs f (did you mean --input?); see pssa predict"),
    ("serve --log xml", "argument --log: invalid choice: 'xml'"),
    ("serve --port x", "argument --port: invalid int value: 'x'"),
    ("train --wings", "unrecognized arguments: --wings"),
    ("train --dropout 0.3", "(did you mean --set dropout=0.3?); see pssa train --help"),
    ("train --hidden=20", "(did you mean --set hidden=20?)"),
    ("train --folds 5", "unrecognized arguments: --folds 5 (did you mean --set folds=5?)"),
    ("train --val f", "unrecognized arguments: --val f (did you mean --dev?); see pssa train --help"),
    ("train --modle x", "unrecognized arguments: --modle x (did you mean --model?); see pssa train --help"),
    ("train --epochs many", "argument --epochs: invalid int value: 'many'; see pssa train --help"),
    ("train --enc x", "ambiguous option: --enc could match --encoder, --encoding"),
    ("train --train x --labels -1,0,1", "as --labels=-1,0,1; see pssa train --help"),
    ("train --calibrate", "pssa: --calibrate needs a value: calibration of probabilities: auto, held_out or none"),
    ("train --calibrate --train x", "pssa: --calibrate needs a value: calibration of probabilities: auto, held_out"),
    # A file without its option.
    ("train train.jsonl --out new", "did you mean --train train.jsonl?"),
    ("evaluate run data.jsonl", "did you mean --data data.jsonl?"),
    ("insights reviews.csv", "did you mean --input reviews.csv?"),
    # Bad values and bad files.
    ("train", NEEDED),
    ("train --out run", NEEDED),
    ("train --train file", NEEDED),
    (f"{TRAIN} --set options.speed=1", "unknown option 'speed' of model memnet; known: aspect_matrix"),
    (f"{TRAIN} --set colour=1", "unknown setting 'colour'; did you mean"),
    ("train --train train.jsonl --set foo=1 --out new", "pssa: unknown setting 'foo'"),
    (f"{TRAIN} --set from_=starter", "unknown setting 'from_'; did you mean from_pretrained?"),
    (f"{TRAIN} --set dev=nowhere.csv", "nowhere.csv: does not exist"),
    (f"{TRAIN} --set speed", "--set speed has no value; write --set KEY=VALUE"),
    (f"{TRAIN} --set patience=long", "patience is 'long'; expected int"),
    (f"{TRAIN} --model tnet --method aw-as", "model tnet has no attention to mine; method aw-as needs"),
    (f"{TRAIN} --method aw-as --evidence e.jsonl", "--evidence needs method base"),
    (f"{TRAIN} --evidence nowhere.jsonl", "nowhere.jsonl"),
    (f"{TRAIN} --device tpu", "device is 'tpu'; it can be auto, cpu or cuda"),
    (f"{TRAIN} --labels good,bad", "unknown label 'positive'; expected one of good, bad"),
    (f"{TRAIN} --out run", "run exists already; choose another path for --out, or continue that run with --resume"),
    (f"{TRAIN} --out secret", "is a file; --out must name a new directory"),
    (f"{TRAIN} --columns text=Rating", "no column 'Rating' for text (--columns)"),
    (f"{TRAIN} --group", "--group is for the model tagger"),
    ("train --model tagger --train aspects.jsonl --out new --encoder x --vectors y", "--vectors"),
    (f"{TRAIN} --model tagger --method kt", "method"),
    ("train --model tagger --train one.csv --out new", "--group"),
    ("train --resume run --group", "pssa: --group cannot be used with --resume"),
    ("train --resume run --epochs 0", "pssa: --epochs cannot be used with --resume"),
    ("train --resume run --set speed=1", "pssa: --set cannot be used with --resume"),
    ("train --resume run --out elsewhere", "pssa: --out cannot be used with --resume"),
    ("train --resume run --train file", "pssa: --train cannot be used with --resume"),
    ("train --resume run --columns text=x", "pssa: --columns cannot be used with --resume"),
    ("train --resume run --config nowhere.toml", "pssa: --config cannot be used with --resume"),
    ("evidence mine --out new.jsonl", "pssa: pssa evidence mine needs --train FILE"),
    (f"{MINE} --out data.jsonl", "data.jsonl exists already"),
    (f"{MINE} --set words=activ", "words is a setting of the final training"),
    (f"{MINE} --set supervision.gamma=2", "gamma is a setting of the final training"),
    (f"{MINE} --set folds=1", "folds is 1; it can be 0 (no cross-fitting) or at least 2"),
    (f"{MINE} --method aw-as --saliency gradient", "--method aw-as"),
    (f"{MINE} --train nowhere.csv", "nowhere.csv: does not exist"),
    ("evidence stats data.jsonl", "data.jsonl, line 1: "),
    ("evidence stats evidence.jsonl --limit -1", "--limit is -1; it must be at least 0"),
    ("evidence show evidence.jsonl --id c", "has no example 'c'"),
    ("evidence show evidence.jsonl --word nowhere", "has no finding 'nowhere'"),
    ("evidence edit evidence.jsonl --out new.jsonl", "needs an edit: --drop-word, --flip or --keep"),
    ("evidence edit evidence.jsonl --flip but --out evidence.jsonl", "exists"),
    ("evidence edit evidence.jsonl --keep some --out new.jsonl", "--keep is some; expected active, misleading, above="),
    ("evidence edit evidence.jsonl --keep rounds=x --out new.jsonl", "expected a number after rounds="),
    ("evaluate . --data data.jsonl", "is not a run"),
    (f"{EVALUATE} --data nowhere.csv", "nowhere.csv: does not exist"),
    (f"{EVALUATE} --versus .", "is not a run"),
    (f"{EVALUATE} --versus other", "other has other labels, good, negative, neutral, than run"),
    (f"{EVALUATE} --data good.csv", "unknown label 'good'; run knows positive, negative, neutral: relabel the data"),
    (
        f"{EVALUATE} --data conflict.csv --conflict keep",
        "the data has the label 'conflict', and the run knows positive, negative, neutral; relabel",
    ),
    (f"{EVALUATE} --labels good,bad", "--labels"),
    (f"{EVALUATE} --data unlabelled.csv", "line 2: no `label`"),
    (f"{EVALUATE} --data reviews.csv", "--columns text=Text"),
    (f"{EVALUATE} --saliency attention,self_attention", "saliency 'self_attention' cannot explain model memnet"),
    (f"{EVALUATE} --faithfulness --evidence nowhere.tsv", "nowhere.tsv: does not exist"),
    (f"{EVALUATE} --evidence unmarked.tsv", "marks no opinion words of these instances"),
    (
        "evaluate starter --data data.jsonl --faithfulness",
        "the model joint are not measured; train one such as --model",
    ),
    ("explain run", "or --input FILE"),
    (f"{EXPLAIN} --input data.jsonl", "or --input FILE"),
    (f"explain run --text '{TEXT}'", "--text and --aspect go together"),
    ("explain run --input data.jsonl --aspect screen", "--text and --aspect go together"),
    (f"{EXPLAIN} --aspect keyboard", "aspect 'keyboard' is not in the text"),
    (f"{EXPLAIN} --aspect 40:90", "aspect offsets 40-90 are not inside the text of 50 characters"),
    (f"{EXPLAIN} --aspect 10:11", "contain no word"),
    (f"{EXPLAIN} --saliency magic", "saliency 'magic' cannot explain model memnet"),
    (f"{EXPLAIN} --out nowhere/map.html", "nowhere does not exist"),
    (f"{EXPLAIN} --out .", "is a folder; name a file"),
    (f"{EXPLAIN} --out map.png", "name a file that ends in .html or .svg"),
    (f"{EXPLAIN} --columns text=review", "--columns needs --input"),
    (f"{EXPLAIN} --limit 0", "--limit is 0; it must be at least 1"),
    ("explain run --text 'caf\udce9 screen' --aspect screen", "--text is not UTF-8"),
    ("explain run --input nowhere.csv", "does not exist"),
    ("explain run --input keyboard.jsonl", "keyboard.jsonl, line 2: aspect 'screen' is not in"),
    ("predict . --input data.jsonl --output new.jsonl", "is not a run"),
    (f"{PREDICT} --input nowhere.csv", "does not exist"),
    (f"{PREDICT} --output o.xml", "name ending in"),
    (f"{PREDICT} --batch-size 0", "--batch-size is 0; it must be at least 1"),
    (f"{PREDICT} --engine spark", "--engine is 'spark'; it can be local or ray"),
    (f"{PREDICT} --workers 0", "--workers is 0; it must be at least 1"),
    (f"{PREDICT} --engine ray --workers 0", "--workers is 0; it must be at least 1"),
    (f"{PREDICT} --errors ignore", "--errors is 'ignore'; it can be fail or skip"),
    (f"{PREDICT} --columns txt=Review", "unknown field 'txt'; expected one of text,"),
    (f"{PREDICT} --aspects food --aspects-from starter", "give one of the two"),
    (
        "predict run --input one.csv --output data.jsonl",
        "data.jsonl already exists; choose another --output, or replace",
    ),
    (f"{INSIGHTS} --by shop", "Text, branch, day"),
    (f"{INSIGHTS} --date branch", "'north'"),
    (f"{INSIGHTS} --date nowhere", "Text, branch, day"),
    (f"{INSIGHTS} --rows rows.txt", ".parquet"),
    (f"{INSIGHTS} --columns text=review", "review"),
    (f"{INSIGHTS} --resume --force", "--force"),
    (f"{INSIGHTS} --out no/where.html", "no"),
    (f"{INSIGHTS} --input -", "standard input"),
    (f"{INSIGHTS} --table reviews.csv --force", "both an input"),
    (f"{INSIGHTS} --out data.jsonl", "--force"),
    (f"{INSIGHTS} --table new.html", "is named twice"),
    (f"{INSIGHTS} --groups new.html", "is named twice"),
    (f"{INSIGHTS} --groups no/where.csv", "no/where.csv cannot be written"),
    (
        "insights tagger --input reviews.csv --columns text=Text --out new.html",
        "tagger is a tagger and labels no aspects",
    ),
    (
        "predict tagger --input reviews.csv --columns text=Text --output new.csv",
        "tagger is a tagger and labels no aspects",
    ),
    (f"{INSIGHTS} --rows new.html.rejected.jsonl", "is named twice"),
    ("report . --out new.html", "is not a run"),
    ("report . --data data.jsonl --out new.html", "model.json cannot be read"),
    ("report run --versus . --out new.html", "is not a run"),
    ("report run --data nowhere.csv --out new.html", "does not exist"),
    ("report run --data data.jsonl --labels good,bad --out new.html", "--labels"),
    ("report run --limit 0 --out new.html", "--limit is 0; it must be at least 1"),
    ("report run --out nowhere/new.html", "nowhere does not exist"),
    ("report run --out data.jsonl", "data.jsonl exists; choose another name"),
    ("stress run --data data.jsonl --limit -1", "--limit is -1; it must be at least 0"),
    ("stress run --data data.jsonl --variants one.csv --evidence data.jsonl", "leave --evidence out"),
    ("stress run --data data.jsonl --variants no/v.jsonl", "no does not exist"),
    ("export run", "pssa export needs --onnx FILE, --compact DIR or --hub OWNER/NAME"),
    ("export run --onnx model.onnx --private", "--private needs --hub"),
    ("export run --onnx no/such/model.onnx", "no/such/model.onnx: cannot be written; expected the name of a file in a"),
    ("export run --hub a/b/c", "a/b/c: not the name of a repository; expected OWNER/NAME"),
    ("export . --onnx model.onnx", "is not a run"),
    ("export . --hub owner/model", "is not a run"),
    ("export . --compact less", "is not a run"),
    ("data check one.csv --columns Review", "--columns has 'Review'; expected FIELD"),
    ("data check empty.csv", "expected at least one"),
    ("data check empty.csv --json", "expected at least one"),
    ("data convert one.csv data.jsonl", "data.jsonl: exists; choose another name, or replace it with --force"),
    ("data convert good.csv new.jsonl", "line 2: unknown label 'good'"),
    ("data convert good.csv new.jsonl --errors ignore", "--errors is 'ignore'"),
    ("aspects evaluate run --data data.jsonl", "run"),
    ("demo --out secret", "secret is a file"),
    (f"try '{TEXT}' --run run --aspects ,", "--aspects"),
    ("try ' '", "empty"),
    (f"try {'x' * 100_001}", "100000"),
    ("serve nothing --port 0", "nothing"),
    (f"{SERVE} --versus nothing", "nothing"),
    (f"{SERVE} --limits nothing.toml", "nothing.toml: cannot be read"),
    (f"{SERVE} --port 99999", "--port is 99999"),
    (f"{SERVE} --corpus x", "--corpus needs --evidence FILE"),
    (f"{SERVE} --second x", "--second needs --evidence FILE"),
    (f"{SERVE} --columns text=x", "--columns needs --evidence FILE"),
    (f"{SERVE} --label-map 1=positive", "--label-map needs --evidence FILE"),
    (f"{SERVE} --evidence x", "--evidence needs --corpus FILE"),
    (f"{SERVE} --evidence 'no such file' --corpus x", "no such file"),
    (f"{SERVE} --allow-host a*b", "--allow-host is 'a*b'"),
    (f"{SERVE} --token-file none", "cannot be read"),
    *((f"{SERVE} --token-file token{number}", "holds no token") for number in range(5)),
    (f"{SERVE} --token-file guessed", "can be guessed"),
    (f"{SERVE} --host 0.0.0.0 --no-token", "--allow-host NAME"),
    (f"{SERVE} --host 0.0.0.0 --no-token --token-file secret", "--no-token contradicts"),
    *((f"train --train {name} --out new", name) for name in MALFORMED),
    *((f"{TRAIN} --vectors {name}", f"{name}, line 8: has") for name in VECTORS),
    # A folder in place of a file.
    *(
        (f"{TRAIN} {option} reviews", "reviews")
        for option in ("--train", "--dev", "--vectors", "--config", "--evidence")
    ),
]


@pytest.fixture(scope="module")
def folder(run: Path, train_file: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, another with other labels, and files."""
    folder = tmp_path_factory.mktemp("misuse")
    shutil.copytree(run, folder / "run")
    other = shutil.copytree(run, folder / "other") / "model.json"
    other.write_text(other.read_text().replace('"positive"', '"good"'))
    (folder / "reviews").mkdir()
    tagger = shutil.copytree(run, folder / "tagger") / "model.json"
    tagger.write_text(json.dumps(json.loads(tagger.read_text()) | {"model": "tagger", "options": {}}))
    write_files(folder)  # evidence and its corpus
    shutil.copy(train_file, folder / "train.jsonl")
    shutil.copy(data, folder / "data.jsonl")
    for name, content in FILES.items():
        (folder / name).write_text(content, "utf-8")
    for name, packed in (MALFORMED | VECTORS).items():
        (folder / name).write_bytes(packed)
    return folder


@pytest.fixture(autouse=True)
def _there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("PSSA_TOKEN", raising=False)


@pytest.mark.parametrize(("words", "said"), REFUSED)
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_written(
    command: Command, folder: Path, words: str, said: str
) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert said in command(*shlex.split(words)).refusal
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
