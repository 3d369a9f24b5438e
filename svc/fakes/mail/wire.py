"""The inputs and outputs of the hooks of the fake mailboxes."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from svc.mail import INBOX, UNREAD, Id
from svc.protocol import Wire

Address = Annotated[str, msgspec.Meta(min_length=3, max_length=320, pattern=r"^[^\r\n]+(?![\r\n])$")]
"""Of one line: ``$`` alone would also match before a line break at the end."""
MAX_TIMES = 10_000
MAX_LINE_CHARS = 64 * 1024
"""The subject, the sender or the name of a file of an injected message. Beyond: 400 `invalid`."""

Line = Annotated[str, msgspec.Meta(max_length=MAX_LINE_CHARS)]


class FakeAttachment(Wire, frozen=True):
    """``content`` is base64; ``text`` is plain text instead."""

    filename: Line
    mime: str = "application/octet-stream"
    content: str | None = None
    text: str | None = None


class InjectInput(Wire, frozen=True):
    """``authentication``: the result of the fake server's own check of the origin, such as ``dmarc=pass
    header.from=a.example``. ``raw``: the whole message as base64; then the other fields of its content are ignored.
    """

    address: Address
    from_: Line = msgspec.field(name="from")
    subject: Line
    text: str | None = None
    html: str | None = None
    thread_key: str | None = None
    labels: tuple[str, ...] = (INBOX, UNREAD)
    attachments: tuple[FakeAttachment, ...] = ()
    authentication: str | None = None
    raw: str | None = None


class InjectOut(Wire, frozen=True):
    provider_message_id: str
    thread_id: str


class SetLabelsInput(Wire, frozen=True):
    address: Address
    provider_message_id: Id
    labels: tuple[str, ...]


class AddressInput(Wire, frozen=True):
    address: Address


class FaultInput(Wire, frozen=True):
    address: Address
    operation: Literal["list", "get", "history", "send", "modify"]
    fault: Literal[401, 403, 404, 429, 500, "timeout", "cut", "lost-answer"]
    times: Annotated[int, msgspec.Meta(ge=1, le=MAX_TIMES)] = 1


class SentOut(Wire, frozen=True):
    """``raw`` is base64url."""

    provider_message_id: str
    message_id: str
    to: tuple[str, ...]
    subject: str
    raw: str
