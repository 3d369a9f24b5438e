"""Small real files for the attachments of the demo world: PDF, PNG, CSV, ZIP and iCalendar, made in code.

Deterministic, and valid enough for their usual programs to open them.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from svc.clock import MINUTE_MS, Millis
from svc.demo.mail.model import FileSpec, Invitation, span_ms

_ZIP_DATE: Final = (2026, 1, 1, 9, 0, 0)


@dataclass(frozen=True, kw_only=True)
class File:
    name: str
    mime: str
    content: bytes


def made(spec: FileSpec) -> File:
    """The file that ``spec`` describes."""
    ending = spec.name.rpartition(".")[2]
    if ending == "pdf":
        return File(name=spec.name, mime="application/pdf", content=_pdf(spec.lines))
    if ending == "png":
        return File(name=spec.name, mime="image/png", content=_png(spec.colors, *spec.size))
    if ending == "csv":
        return File(name=spec.name, mime="text/csv", content=_csv(spec.rows))
    if ending == "zip":
        return File(name=spec.name, mime="application/zip", content=_zip(spec.files))
    return File(name=spec.name, mime="text/plain", content="\n".join(spec.lines).encode())


def calendar(invitation: Invitation, *, uid: str, organizer: str, attendees: Sequence[str], now: Millis) -> str:
    """An iCalendar request (RFC 5545)."""
    start = now + span_ms(invitation.starts_in)
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Tern and Tide//Demo//EN",
        "METHOD:REQUEST",
        "BEGIN:VEVENT",
        f"UID:{uid}",
        f"DTSTAMP:{_stamp(now)}",
        f"DTSTART:{_stamp(start)}",
        f"DTEND:{_stamp(start + invitation.minutes * MINUTE_MS)}",
        f"SUMMARY:{_escaped(invitation.summary)}",
        f"LOCATION:{_escaped(invitation.place)}",
        f"ORGANIZER:mailto:{organizer}",
        *(f"ATTENDEE;RSVP=TRUE:mailto:{attendee}" for attendee in attendees),
        "END:VEVENT",
        "END:VCALENDAR",
    ]
    return "\r\n".join(lines) + "\r\n"


def _pdf(lines: Sequence[str]) -> bytes:
    """One A4 page; the first line is its title."""
    title, *rest = map(_pdf_text, lines)
    text = f"BT /F1 18 Tf 56 770 Td ({title}) Tj /F1 11 Tf" + "".join(f" 0 -22 Td ({line}) Tj" for line in rest) + " ET"
    stream = text.encode("cp1252", "replace")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    output = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(output))
        output += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(output)
    output += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    output += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    output += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, table)
    return bytes(output)


def _png(colors: Sequence[str], width: int, height: int) -> bytes:
    """Horizontal stripes of the given colours (``"#2d5d7b"``)."""
    band = -(-height // len(colors))
    rows = b"".join(b"\0" + bytes.fromhex(colors[y // band].lstrip("#")) * width for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows, 9)) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def _csv(rows: Sequence[Sequence[str]]) -> bytes:
    return "".join(",".join(f'"{cell}"' if "," in cell else cell for cell in row) + "\r\n" for row in rows).encode()


def _zip(specs: Sequence[FileSpec]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in map(made, specs):
            archive.writestr(zipfile.ZipInfo(file.name, date_time=_ZIP_DATE), file.content)
    return buffer.getvalue()


def _stamp(instant: Millis) -> str:
    return datetime.fromtimestamp(instant // 1_000, tz=UTC).strftime("%Y%m%dT%H%M%SZ")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace(",", "\\,").replace(";", "\\;")


def _pdf_text(line: str) -> str:
    return line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
