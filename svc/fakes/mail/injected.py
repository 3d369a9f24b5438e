"""The message that a hook puts into a fake mailbox, in the form in which a sender's program would send it."""

from __future__ import annotations

import base64
from email.header import Header
from email.message import Message
from email.mime.application import MIMEApplication
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import parseaddr

from svc.errors import Invalid
from svc.fakes.authority import AUTHORITY
from svc.fakes.mail.wire import FakeAttachment, InjectInput


def raw_message(wanted: InjectInput) -> bytes:
    """The message, with the header of the fake's own server on top. Raises :class:`Invalid` for bad base64."""
    head = f"Authentication-Results: {AUTHORITY}; {_one_line(wanted.authentication)}\n" if wanted.authentication else ""
    return head.encode() + (_composed(wanted) if wanted.raw is None else _decoded(wanted.raw, "The message"))


def _composed(wanted: InjectInput) -> bytes:
    bodies: list[Message] = []
    if wanted.text is not None or wanted.html is None:
        bodies.append(MIMEText(wanted.text or "", "plain", "utf-8"))
    if wanted.html is not None:
        bodies.append(MIMEText(wanted.html, "html", "utf-8"))
    root: Message = bodies[0] if len(bodies) == 1 else MIMEMultipart("alternative", _subparts=bodies)
    if wanted.attachments:
        root = MIMEMultipart("mixed", _subparts=[root, *(_attachment(one) for one in wanted.attachments)])
    name, address = parseaddr(_one_line(wanted.from_))
    root["From"] = f"{Header(name, 'utf-8').encode()} <{address}>" if name else address or _one_line(wanted.from_)
    root["To"] = wanted.address
    root["Subject"] = Header(_one_line(wanted.subject), "utf-8").encode()
    return root.as_bytes()


def _attachment(wanted: FakeAttachment) -> Message:
    content = (wanted.text or "").encode() if wanted.content is None else _decoded(wanted.content, "An attachment")
    kind, _, subtype = _one_line(wanted.mime).partition("/")
    part = MIMEApplication(content, subtype or "octet-stream")
    part.replace_header("Content-Type", f"{kind}/{subtype or 'octet-stream'}")
    part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", _one_line(wanted.filename)))
    return part


def _decoded(text: str, what: str) -> bytes:
    try:
        return base64.b64decode(text)
    except ValueError as error:
        raise Invalid(f"{what} is not base64.") from error


def _one_line(value: str) -> str:
    return " ".join(value.split())
