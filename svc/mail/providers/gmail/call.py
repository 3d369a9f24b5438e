"""One request to the Gmail API, as a record, and how a whole mail goes along with it."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote

import msgspec

from svc.mail.providers.seam import ProviderFault

SIMPLE_SEND_MAX_BYTES: Final = 3 * 1024 * 1024
"""A larger mail is uploaded: as base64 in JSON it would pass the 5 MB that Gmail takes in a plain request."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request. ``name`` is the API's own, and its price stands in the quota's table."""

    name: str
    path: str
    method: str = "GET"
    query: tuple[tuple[str, str], ...] = ()
    body: Mapping[str, object] | None = None
    writes: bool = False  # an unknown outcome must be told from "nothing happened"
    urgent: bool = False
    large: bool = False  # a whole message goes or comes
    answers: bool = True  # with a record; else with nothing
    not_found: Callable[[], ProviderFault] | None = None
    upload: bytes | None = None  # goes to the upload endpoint as it is, instead of a JSON body
    upload_type: str = ""
    patience_s: float = math.inf  # at the quota limiter


def carrying(call: Call, raw: bytes, *, thread_id: str | None, draft: bool = False) -> Call:
    """With a mail, of that thread: small ones as JSON, what is larger than Gmail takes so to its upload endpoint."""
    about: dict[str, object] = {} if thread_id is None else {"threadId": thread_id}
    if len(raw) <= SIMPLE_SEND_MAX_BYTES:
        message = {"raw": base64.urlsafe_b64encode(raw).decode(), **about}
        return replace(call, body={"message": message} if draft else message)
    if not about:
        return replace(call, upload=raw, upload_type="message/rfc822", query=(*call.query, ("uploadType", "media")))
    upload, boundary = _with_metadata({"message": about} if draft else about, raw)
    query = (*call.query, ("uploadType", "multipart"))
    return replace(call, upload=upload, upload_type=f"multipart/related; boundary={boundary}", query=query)


def _with_metadata(metadata: Mapping[str, object], raw: bytes) -> tuple[bytes, str]:
    """Google's multipart upload (RFC 2387): what is said about the message, and the message. Body and boundary."""
    boundary = f"svc-{hashlib.sha256(raw).hexdigest()}"  # in no content that has this hash
    head = (
        f"--{boundary}\r\ncontent-type: application/json; charset=utf-8\r\n\r\n".encode()
        + msgspec.json.encode(metadata)
        + f"\r\n--{boundary}\r\ncontent-type: message/rfc822\r\n\r\n".encode()
    )
    return b"".join((head, raw, f"\r\n--{boundary}--\r\n".encode())), boundary


def segment(text: str) -> str:
    """``text`` as one segment of a path, whatever is in it."""
    return quote(text, safe="")
