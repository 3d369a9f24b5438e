"""Turns header text (raw bytes, with the encoded words of RFC 2047) into clean lines.

Senders break every rule of that RFC (words glued to text, blanks and question marks inside, characters split between
words, 8-bit bytes), so a word is found only by its start and end marks. One pass, for any input.
"""

from __future__ import annotations

import binascii
import re
from dataclasses import dataclass
from typing import Final

from svc.formats.mime.charsets import decode
from svc.formats.mime.model import MAX_LINE_CHARS, Problems
from svc.formats.mime.transfer import base64_bytes
from svc.formats.text import clean_line, cut

_OPENING: Final = re.compile(r"=\?([^?\s]{0,64})\?([bBqQ])\?")
_OPEN_WORD: Final = re.compile(rb"=\?([^?\s]{0,64})\?[qQ]\?([^?]*)\?=")


@dataclass(frozen=True)
class EncodedWord:
    """Its position in the text, and its content."""

    start: int
    end: int
    charset: str
    content: bytes


def header_text(raw: bytes, *, problems: Problems, charset: str = "") -> str:
    """A raw field as text, with encoded words still encoded. ``charset`` is the message's own, for bare 8-bit bytes."""
    if not raw.isascii():
        raw = _OPEN_WORD.sub(lambda word: _closed(word, problems), raw)
    try:
        return raw.decode("ascii")
    except UnicodeDecodeError:
        return decode(raw, "", problems=problems, hint=charset)


def _closed(word: re.Match[bytes], problems: Problems) -> bytes:
    """An encoded word with 8-bit bytes in it, rewritten without them. The bytes are of its charset, or UTF-8 from
    programs that ignore the charset of the word."""
    if word[0].isascii():
        return word[0]
    content = binascii.a2b_qp(word[2], header=True)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = decode(content, word[1].decode("ascii", "replace").partition("*")[0], problems=problems)
    return b"=?utf-8?b?" + binascii.b2a_base64(text.encode("utf-8", "replace"), newline=False) + b"?="


def header_line(text: str, *, problems: Problems) -> str:
    """The text for a person: encoded words decoded, one clean line of limited length."""
    return cut(clean_line(decode_words(text, problems=problems)), limit=MAX_LINE_CHARS)


def decode_words(text: str, *, problems: Problems) -> str:
    """Every encoded word decoded; white space between two of them is removed, as the RFC says."""
    if "=?" not in text:
        return text
    pieces: list[str] = []
    group: list[EncodedWord] = []
    position = 0
    for word in find_words(text):
        between = text[position : word.start]
        if not group or between.strip():
            pieces += (_decode_group(group, problems), between)
            group = []
        elif group[-1].charset.lower() != word.charset.lower():
            pieces.append(_decode_group(group, problems))
            group = []
        group.append(word)
        position = word.end
    return "".join([*pieces, _decode_group(group, problems), text[position:]])


def find_words(text: str) -> list[EncodedWord]:
    """The encoded words of ``text`` in order. The end mark is searched once per stretch, so this is linear."""
    words: list[EncodedWord] = []
    position = end = 0
    while match := _OPENING.search(text, position):
        if end < match.end():
            end = text.find("?=", match.end())
        if end < 0:
            break
        if (inner := text.find("=?", match.end(), end)) >= 0 and _OPENING.match(text, inner):
            position = inner  # the word before it never ended
            continue
        content = _word_bytes(text[match.end() : end], match[2])
        words.append(EncodedWord(match.start(), end + 2, match[1].partition("*")[0], content))
        position = end + 2
    return words


def _decode_group(group: list[EncodedWord], problems: Problems) -> str:
    """Adjacent words of the same charset are joined before decoding: senders split characters between words."""
    if not group:
        return ""
    return decode(b"".join(word.content for word in group), group[0].charset, problems=problems)


def _word_bytes(content: str, encoding: str) -> bytes:
    data = content.encode("utf-8", "replace")
    return base64_bytes(data) if encoding in "bB" else binascii.a2b_qp(data, header=True)
