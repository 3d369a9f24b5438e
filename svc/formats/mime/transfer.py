"""Decodes Content-Transfer-Encoding (RFC 2045 section 6), with the damage of real mail. Never raises, always linear."""

from __future__ import annotations

import binascii
import re
import string
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from svc.formats.mime.model import Problems

MAX_GLUED_PIECES: Final = 1_000
"""Base64 pieces, each with its own padding, that are accepted one after another in one part."""
MAX_MENDED_LINES: Final = 1_000_000
"""Lines of one part whose trailing blanks are removed."""

_ALPHABET: Final = (string.ascii_letters + string.digits + "+/").encode("ascii")
_OUTSIDE_ALPHABET: Final = bytes(byte for byte in range(256) if byte not in _ALPHABET)
_WHITE: Final = b" \t\r\n"
_TRAILING_BLANKS: Final = re.compile(rb"(?<![ \t])[ \t]+(?=\r?\n)")
"""The lookbehind keeps it linear: a run of blanks is tried only from its start."""
_BLANK_AT_THE_END: Final = (b" \n", b"\t\n", b" \r\n", b"\t\r\n")
"""A quick check: hardly any mail has one."""


def decode_transfer(data: bytes, encoding: str, *, problems: Problems) -> bytes:
    """``data`` without its ``encoding`` (the header's value, or ``""``); an unknown encoding changes nothing."""
    token = encoding.split(";", 1)[0].strip(" \t\"'").lower()
    decoder = _DECODERS.get(token)
    if decoder is None:
        problems.add(f"unknown transfer encoding {token}")
        return data
    return decoder(data, problems)


def base64_bytes(data: bytes) -> bytes:
    """Tolerates junk, and missing or inner padding. A mailing list's footer after the padding is left out."""
    head, _, rest = data.translate(None, _WHITE).partition(b"=")
    pieces = [head]
    rest = rest.lstrip(b"=")
    if rest and not rest.translate(None, _ALPHABET + b"="):
        pieces += rest.split(b"=", MAX_GLUED_PIECES)
    return b"".join(map(_base64_piece, pieces))


def quoted_printable_bytes(data: bytes) -> bytes:
    """Blanks before a line end were added in transport, not by the sender (RFC 2045 section 6.7 rule 3)."""
    if any(end in data for end in _BLANK_AT_THE_END):
        data = _TRAILING_BLANKS.sub(b"", data, count=MAX_MENDED_LINES)
    return binascii.a2b_qp(data)


def uu_bytes(data: bytes) -> bytes:
    """The data between ``begin`` and ``end``; empty if there is no ``begin``."""
    decoded: list[bytes] = []
    inside = False
    for line in data.splitlines():
        if not inside:
            inside = line.startswith(b"begin ")
        elif line.strip() == b"end":
            break
        elif line:
            decoded.append(_uu_line(line))
    return b"".join(decoded)


def _base64_piece(piece: bytes) -> bytes:
    piece = piece.translate(None, _OUTSIDE_ALPHABET)
    if len(piece) % 4 == 1:
        piece = piece[:-1]  # six bits make no byte
    return binascii.a2b_base64(piece + b"=" * (-len(piece) % 4))


def _uu_line(line: bytes) -> bytes:
    """The first character counts the bytes; some encoders write more than that, or strip the blanks at the end."""
    length = (((line[0] - 32) & 63) * 4 + 5) // 3
    try:
        return binascii.a2b_uu(line[: length + 1].ljust(length, b" "))
    except binascii.Error:
        try:
            return binascii.a2b_uu(line[:length])
        except binascii.Error:
            return b""


def _as_is(data: bytes, problems: Problems) -> bytes:
    return data


def _base64(data: bytes, problems: Problems) -> bytes:
    return base64_bytes(data)


def _quoted_printable(data: bytes, problems: Problems) -> bytes:
    return quoted_printable_bytes(data)


def _uuencode(data: bytes, problems: Problems) -> bytes:
    decoded = uu_bytes(data)
    if not decoded:
        problems.add("uuencoded part without data")
        return data
    return decoded


_DECODERS: Final[Mapping[str, Callable[[bytes, Problems], bytes]]] = MappingProxyType(
    dict.fromkeys(("", "7bit", "7-bit", "8bit", "8-bit", "8bits", "binary", "none", "identity"), _as_is)
    | {"base64": _base64, "base-64": _base64, "b": _base64, "x-base64": _base64}
    | {"quoted-printable": _quoted_printable, "quotedprintable": _quoted_printable, "qp": _quoted_printable}
    | dict.fromkeys(("uuencode", "x-uuencode", "x-uue", "uue"), _uuencode)
)
