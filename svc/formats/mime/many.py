"""Reads several messages together, in a worker process: each becomes compact bytes, sent to the service in one answer.

In a thread of the service the same work would hold the interpreter's lock, and all other work would wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from svc.formats.mime.message import parse_message
from svc.formats.mime.model import ParsedMessage
from svc.formats.readable import readable_text


class Read(msgspec.Struct, frozen=True, array_like=True):
    """``readable``: the text that a person reads in it, if it was asked for."""

    message: ParsedMessage
    readable: str | None


_DECODER: Final = msgspec.msgpack.Decoder(Read)


def read(raw: bytes, *, with_readable: bool) -> Read:
    message = parse_message(raw)
    return Read(message, readable_text(message.text, message.html) if with_readable else None)


def read_one(raw: bytes, with_readable: bool) -> Read:
    """In a worker: read one message alone. Errors are raised."""
    return read(raw, with_readable=with_readable)


def read_each(raws: bytes, sizes: Sequence[int], with_readable: bool) -> list[bytes | None]:
    """In a worker: read the messages that are concatenated in ``raws``. ``None`` for one that can't be read."""
    found: list[bytes | None] = []
    start = 0
    for size in sizes:
        try:
            found.append(msgspec.msgpack.encode(read(raws[start : start + size], with_readable=with_readable)))
        except Exception:  # an edge: the service reads it once more, alone, and then reports the error
            found.append(None)
        start += size
    return found


def unpacked(data: bytes) -> Read:
    """One message's result of :func:`read_each`."""
    return _DECODER.decode(data)
