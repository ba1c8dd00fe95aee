"""Targets that read Excel workbooks: the archive as a whole, and each XML file in it with the archive packed anew."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import openpyxl

from fuzzing.grammars import pieces_of
from fuzzing.readers import CORPUS, read_in_every_way, using
from fuzzing.target import Attack, Target

__all__ = ["workbook_targets"]

_TEXTS = "xl/sharedStrings.xml"
_TYPES = "[Content_Types].xml"
_RELATIONS = "xl/_rels/workbook.xml.rels"
_KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
_HEADER = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in ("text", "aspect", "label", "x"))
_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_OPEN = f"<worksheet {_MAIN}><sheetData>"
_ODD = (
    "<!-- x -->",
    '<!DOCTYPE s [<!ENTITY a "ha">]>',
    "&a;",
    "&#0;",
    "&lt;",
    "<![CDATA[x]]>",
    "<?x y?>",
    "\n",
    "<a>",
    "</a>",
)
_PARTS: Mapping[str, tuple[str, ...]] = {
    "xl/worksheets/sheet1.xml": (
        f"{_OPEN}<row>{_HEADER}</row>", "</sheetData></worksheet>", "<row>", '<row r="2">', '<row r="9999999">', "</row>",
        '<c t="s"><v>0</v></c>', '<c t="s"><v>9</v></c>', '<c t="s"><v>1</v></c>', '<c s="1"><v>45000.5</v></c>', "<c>", "</c>",
        '<c s="2"><v>-1e9</v></c>', '<c r="XFD1"/>', '<c r="ZZZ1">', '<c r="A0" t="str">', '<c t="d"><v>2026-01-01T00</v></c>',
        '<c t="b"><v>2</v></c>', '<c t="e"><v>#N/A</v></c>', "<v>1e999</v>", "<v>", "</v>", "<is><t>menu</t></is>", "<f>A1</f>",
        '<c t="inlineStr"><is><r><t>the</t></r><rPh><t>x</t></rPh></is></c>', '<c t="x" s="-1"><v>1</v></c>', *_ODD),
    _TEXTS: (f"<sst {_MAIN}>", "</sst>", "<si>", "</si>", "<t>the menu is fine</t>", "<t>menu</t>", "<si><t>positive</t></si>",
        "<r>", "</r>", "<rPh>", "</rPh>", "_x000D_", "_x0000_", "_xD800_", *_ODD),
    "xl/styles.xml": (f"<styleSheet {_MAIN}>", "</styleSheet>", "<cellXfs>", "</cellXfs>", "<xf/>", '<xf numFmtId="14"/>',
        '<xf numFmtId="a"/>', '<xf numFmtId="164"/>', '<numFmt numFmtId="164" formatCode="[h]:mm"/>',
        '<numFmt numFmtId="164" formatCode="[["/>', '<numFmt numFmtId="14" formatCode="&quot;"/>',
        '<numFmt formatCode="yyyy"/>', *_ODD),
    "xl/workbook.xml": (f"<workbook {_MAIN}>", "</workbook>", '<workbookPr date1904="1"/>', "<sheets>", "</sheets>",
        '<sheet r:id="rId1"/>', '<sheet r:id="texts"/>', '<sheet r:id="x"/>', "<sheet/>", *_ODD),
    _RELATIONS: ("<Relationships>", "</Relationships>", f'<Relationship Id="rId1" Type="{_KIND}worksheet" Target="', '"/>',
        "worksheets/sheet1.xml", "/xl/worksheets/sheet1.xml", "../../../etc/passwd", "workbook.xml", ".",
        '" TargetMode="External', f'<Relationship Id="texts" Type="{_KIND}sharedStrings" Target="',
        "sharedStrings.xml", f'" Type="{_KIND}styles', *_ODD),
}  # fmt: skip


def workbook_targets() -> dict[str, Target]:
    """By name."""
    parts = _sound_parts()
    whole = (_pack(parts, zipfile.ZIP_STORED), _pack(parts, zipfile.ZIP_DEFLATED))
    found = {"excel": Target(using("case.xlsx", _read), whole, share=0.5)}
    for name, pieces in _PARTS.items():
        label = f"excel/{Path(name).name}"
        found[label] = Target(_replacing(parts, name), (parts[name],), grown=pieces_of(*pieces), share=0.5)
    return found


def _sound_parts() -> dict[str, bytes]:
    """The files of a workbook that has shared texts, dates, numbers and a formula."""
    book = openpyxl.Workbook()
    book.active.append(["text", "aspect", "label", "x"])
    odd = (dt.datetime(2026, 3, 1, 14, 30), dt.timedelta(hours=30), 1.5, True, "=A1")
    for example, value in zip(CORPUS, odd, strict=True):
        book.active.append([example.text, example.aspect_text, example.label, value])
    content = io.BytesIO()
    book.save(content)
    with zipfile.ZipFile(content) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[_TEXTS] = f"<sst {_MAIN}><si><t>the menu is fine</t></si><si><t>menu</t></si></sst>".encode()
    more = f'<Relationship Id="texts" Type="{_KIND}sharedStrings" Target="sharedStrings.xml"/></Relationships>'
    parts[_RELATIONS] = parts[_RELATIONS].replace(b"</Relationships>", more.encode())
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    override = f'<Override PartName="/{_TEXTS}" ContentType="{kind}"/></Types>'
    parts[_TYPES] = parts[_TYPES].replace(b"</Types>", override.encode())
    row = (
        b'<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="inlineStr"><is><t>neutral</t></is></c></row></sheetData>'
    )
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b"</sheetData>", row)
    return parts


def _pack(parts: Mapping[str, bytes], method: int) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, data in parts.items():
            part = zipfile.ZipInfo(name)  # without the time, so that the same seed gives the same cases
            part.compress_type = method
            archive.writestr(part, data)
    return content.getvalue()


def _read(path: Path) -> None:
    read_in_every_way(path, "excel")


def _replacing(parts: Mapping[str, bytes], name: str) -> Callable[[Path], Attack]:
    """An attack on one file of a workbook."""

    def prepare(folder: Path) -> Attack:
        path = folder / "case.xlsx"

        def attack(content: bytes) -> None:
            path.write_bytes(_pack({**parts, name: content}, zipfile.ZIP_STORED))
            _read(path)

        return attack

    return prepare
