"""Writes header fields (RFC 5322 section 2.2 and 2.2.3): ASCII, folded, and safe from injection.

The theory. A field's value is a list of words, and a word holds only printable ASCII. :func:`field` puts exactly one
blank, or a line end and a blank, between two words; there is no other way to get anything into a header. Text that is
not plain becomes encoded words (RFC 2047), a parameter becomes RFC 2231's segments. Both are cut between characters, so
that a reader who decodes word by word sees each character whole.

The standard library's ``email`` is not used: it decodes what looks encoded and writes it back unchanged, even with a
line end in it. Nothing here decodes: the input is text as a person reads it, and a part that looks like an encoded word
is encoded like anything else.
"""

from __future__ import annotations

import base64
import re
import unicodedata
import urllib.parse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Final

from svc.clock import Millis
from svc.formats.mime.fields import read_fields
from svc.formats.mime.model import MAX_LINE_CHARS, MAX_NAME_CHARS, Problems
from svc.formats.mime.names import default_filename, safe_filename
from svc.formats.person import Person
from svc.formats.text import clean_line, cut

FOLD_CHARS: Final = 76
"""RFC 2047 section 2: no line with an encoded word is longer."""
MAX_WORD_CHARS: Final = 60
"""Limit for a word that can be cut. With it, the longest field name before such words still fits on the line."""
MAX_LINE_BYTES: Final = 998
"""RFC 5322 section 2.1.1, without the line end."""
MAX_ID_CHARS: Final = 900
"""Limit for a message id: with its brackets it fits on a line."""
MAX_REFERENCES: Final = 20
MAX_REFERENCES_CHARS: Final = 998
MAX_FALLBACK_CHARS: Final = 60

_WORD: Final = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z-]*")
_ATOM: Final = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+")
_TOKEN: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`{|}~-]+")
_QUOTABLE: Final = re.compile(r'["\\]')
_PLAIN_FILENAME: Final = re.compile(r"[A-Za-z0-9_+@,.()\[\]{}!#$&~^-]+(?: [A-Za-z0-9_+@,.()\[\]{}!#$&~^-]+)*")
_NOT_PLAIN: Final = re.compile(r"[^A-Za-z0-9_+@,.()\[\]{}!#$&~^ -]+")
_ACCENTS: Final = re.compile("[\u0300-\u036f]")
_MESSAGE_ID: Final = re.compile(r"[!-;=?-~]+")
_FIELD: Final = re.compile(rb"[A-Za-z][A-Za-z-]*:(?: [ -~]*[!-~])?\r\n(?: [ -~]*[!-~]\r\n)*")
_Q_SAFE: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!*+-/")
"""The bytes that an encoded word may hold unencoded in any place, RFC 2047 section 5 (3)."""
_ATTRIBUTE_SAFE: Final = "!#$&+-.^_`{|}~"
"""RFC 2231 section 7, ``attribute-char``, beyond letters and digits."""


class NotAsMeant(Exception):
    """The written bytes are read back as something else than was meant. This is a bug, found before anything is
    sent."""


def field(name: str, words: Iterable[str]) -> bytes:
    """One field with its line end, folded between words where a line would be longer than 76 characters."""
    if not _NAME.fullmatch(name):
        raise NotAsMeant("no name of a field")
    lines = [f"{name}:"]
    for position, word in enumerate(words):
        if not _WORD.fullmatch(word):
            raise NotAsMeant(f"a word of {name} that is not printable ASCII")
        if position and len(lines[-1]) + 1 + len(word) > FOLD_CHARS:
            lines.append("")
        lines[-1] += f" {word}"
    return "\r\n".join(lines).encode("ascii") + b"\r\n"


def verify_block(block: bytes, *, names: Sequence[str]) -> None:
    """Read ``block`` (only fields) back: it must hold exactly these fields, none of them twice unless meant so."""
    position = 0
    while position < len(block):
        match = _FIELD.match(block, position)
        if match is None or any(len(line) > MAX_LINE_BYTES for line in match[0].split(b"\r\n")):
            raise NotAsMeant("a header line that is none")
        position = match.end()
    read = read_fields(block + b"\r\n", 0, is_delimiter=lambda line: False, problems=Problems()).fields
    found = {name: len(values) for name, values in read.values.items()}
    if found != Counter(name.lower() for name in names):
        raise NotAsMeant("header fields that were not meant")


def text_words(text: str) -> list[str]:
    """The words of a subject: one clean line of at most 2,000 characters, as our own parser would read it back."""
    text = cut(clean_line(text), limit=MAX_LINE_CHARS)
    return _plain_words(text) or encoded_words(text)


def mailbox_words(person: Person) -> list[str]:
    """``"Smith, Ann" <ann@x.example>``. The address was checked before, see ``addresses.py``."""
    return [*_phrase_words(shown_name(person)), *f"<{person.address}>".split(" ")]


def mailbox_list_words(people: Sequence[Person]) -> Iterator[str]:
    for position, person in enumerate(people, start=1):
        *before, last = mailbox_words(person)
        yield from before
        yield last if position == len(people) else f"{last},"


def shown_name(person: Person) -> str:
    """A name for a header: clean, and not longer than our own parser reads."""
    return cut(clean_line(person.name), limit=MAX_NAME_CHARS)


def id_words(ids: Iterable[str]) -> list[str]:
    """Message ids, each in its brackets. They were checked before: :func:`usable_id`, :func:`references_of`."""
    return [f"<{one}>" for one in ids]


def usable_id(message_id: str) -> bool:
    """Whether a stranger's message id may be repeated in a header: ASCII, on one line, nothing encoded in it."""
    return len(message_id) <= MAX_ID_CHARS and bool(_MESSAGE_ID.fullmatch(message_id)) and "=?" not in message_id


def references_of(references: Sequence[str], *, parent: str | None) -> tuple[str, ...]:
    """The References of a reply, RFC 5322 section 3.6.4: those of its parent, then the parent.

    Of a long list, the thread's first id and the newest ones stay, which threading needs most; unusable ids are left
    out.
    """
    ids = list(dict.fromkeys(one for one in (*references, parent or "") if usable_id(one)))
    if parent in ids:  # it comes last, whatever its position was
        ids.remove(parent)
        ids.append(parent)
    while len(ids) > MAX_REFERENCES or (len(ids) > 1 and sum(len(one) + 3 for one in ids) > MAX_REFERENCES_CHARS):
        del ids[1 if len(ids) > 2 else 0]
    return tuple(ids)


def date_words(instant: Millis) -> list[str]:
    return format_datetime(datetime.fromtimestamp(instant // 1_000, tz=UTC)).split(" ")


def parameter_words(value: str, **parameters: str) -> list[str]:
    """A token such as ``multipart/mixed``, and parameters that are tokens too, or ASCII to be quoted."""
    shown = [f"{name}={one if _TOKEN.fullmatch(one) else _quoted(one)}" for name, one in parameters.items()]
    return _with_semicolons([value, *shown])


def file_type_words(mime: str, *, filename: str) -> list[str]:
    """A Content-Type with the name repeated in ASCII, for readers that do not know RFC 2231."""
    return _with_semicolons([mime, f'name="{ascii_filename(filename, mime=mime)}"'])


def disposition_words(kind: str, *, filename: str) -> list[str]:
    """A Content-Disposition: ``filename=`` if that can hold the name, else ``filename*=`` in as many segments as
    needed."""
    if len(filename) <= MAX_WORD_CHARS and _PLAIN_FILENAME.fullmatch(filename):
        return _with_semicolons([kind, f'filename="{filename}"'])
    return _with_semicolons([kind, *_segments("filename", filename)])


def settled_filename(raw: str, *, mime: str) -> str:
    """``raw`` in the form that our own parser gives it, so also in our own copy: cleaning it again changes nothing."""
    while True:
        name = safe_filename(raw, mime=mime).replace("=?", "_")
        if name == raw:
            return name
        raw = name


def ascii_filename(filename: str, *, mime: str) -> str:
    """A name reduced to plain ASCII, without accents, its extension kept; a name by type if nothing is left."""
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", filename))
    name = _NOT_PLAIN.sub("_", bare)
    stem, dot, extension = name.rpartition(".")
    if len(name) > MAX_FALLBACK_CHARS and stem and len(extension) < MAX_FALLBACK_CHARS // 2:
        name = stem[: MAX_FALLBACK_CHARS - len(extension) - 1].rstrip() + dot + extension
    name = " ".join(name[:MAX_FALLBACK_CHARS].split())
    return name if name.strip("_. ") else default_filename(mime)


def encoded_words(text: str) -> list[str]:
    """``text`` in UTF-8, as encoded words cut between characters; by B or Q, whichever is shorter."""
    data = text.encode("utf-8")
    quoted = sum(1 if byte in _Q_SAFE or byte == 0x20 else 3 for byte in data)
    if quoted <= (len(data) + 2) // 3 * 4:
        return [f"=?utf-8?q?{piece}?=" for piece in _packed(map(_q_encoded, text), room=MAX_WORD_CHARS - 12)]
    room = (MAX_WORD_CHARS - 12) // 4 * 3
    return [f"=?utf-8?b?{base64.b64encode(piece).decode('ascii')}?=" for piece in _pieces(text, room=room)]


def _plain_words(text: str) -> list[str]:
    """The words of text that needs no encoding; empty if it does."""
    words = text.split(" ")
    plain = text.isascii() and "=?" not in text and all(len(word) <= MAX_WORD_CHARS for word in words)
    return words if plain and text else []


def _phrase_words(name: str) -> list[str]:
    words = _plain_words(name)
    if not words:
        return encoded_words(name) if name else []
    return words if all(map(_ATOM.fullmatch, words)) else _quoted(name).split(" ")


def _quoted(text: str) -> str:
    return '"' + _QUOTABLE.sub(r"\\\g<0>", text) + '"'


def _with_semicolons(words: Sequence[str]) -> list[str]:
    return [f"{word};" for word in words[:-1]] + [words[-1]]


def _segments(name: str, value: str) -> Iterator[str]:
    """RFC 2231: percent-encoded UTF-8, in numbered segments if one line can't hold it."""
    encoded = (urllib.parse.quote(character, safe=_ATTRIBUTE_SAFE) for character in value)
    pieces = list(_packed(encoded, room=MAX_WORD_CHARS - len(name) - len("*00*=utf-8''")))
    if len(pieces) == 1:
        yield f"{name}*=utf-8''{pieces[0]}"
        return
    for index, piece in enumerate(pieces):
        yield f"{name}*{index}*={'' if index else chr(39).join(('utf-8', '', ''))}{piece}"


def _q_encoded(character: str) -> str:
    if character == " ":
        return "_"
    return "".join(chr(byte) if byte in _Q_SAFE else f"={byte:02X}" for byte in character.encode("utf-8"))


def _packed(items: Iterable[str], *, room: int) -> Iterator[str]:
    """The items joined to pieces of at most ``room`` characters; no item is cut."""
    piece = ""
    for item in items:
        if len(piece) + len(item) > room and piece:
            yield piece
            piece = ""
        piece += item
    if piece:
        yield piece


def _pieces(text: str, *, room: int) -> Iterator[bytes]:
    """``text`` in UTF-8, in pieces of at most ``room`` bytes; no character is cut."""
    piece = b""
    for character in text:
        data = character.encode("utf-8")
        if len(piece) + len(data) > room and piece:
            yield piece
            piece = b""
        piece += data
    if piece:
        yield piece
