"""Some messages read together, in a worker process: each as compact bytes, which cross to the service at once.

In a thread of the service the same work would hold the interpreter's lock, and whatever else is done would wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from svc.formats.mime.message import parse_message
from svc.formats.mime.model import ParsedMessage
from svc.formats.readable import readable_text


class Read(msgspec.Struct, frozen=True, array_like=True):
    """``readable``: what a person reads in it, where that was asked for."""

    message: ParsedMessage
    readable: str | None


_DECODER: Final = msgspec.msgpack.Decoder(Read)


def read(raw: bytes, *, with_readable: bool) -> Read:
    message = parse_message(raw)
    return Read(message, readable_text(message.text, message.html) if with_readable else None)


def read_one(raw: bytes, with_readable: bool) -> Read:
    """In a worker: one message alone. Raises what reading it does."""
    return read(raw, with_readable=with_readable)


def read_each(raws: bytes, sizes: Sequence[int], with_readable: bool) -> list[bytes | None]:
    """In a worker: the messages that lie in ``raws`` one behind the other. ``None``: one that can't be read."""
    found: list[bytes | None] = []
    start = 0
    for size in sizes:
        try:
            found.append(msgspec.msgpack.encode(read(raws[start : start + size], with_readable=with_readable)))
        except Exception:  # an edge: the service reads it once more, alone, and tells why not
            found.append(None)
        start += size
    return found


def unpacked(data: bytes) -> Read:
    """What :func:`read_each` says of one message."""
    return _DECODER.decode(data)
