"""One request to the Gmail API, as a record, and how it carries a whole mail."""

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
"""A larger mail is uploaded: as base64 in JSON it would exceed the 5 MB that Gmail accepts in a plain request."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request. ``name``: the API's name of the method, a key of ``COST_UNITS`` (``quota.py``)."""

    name: str
    path: str
    method: str = "GET"
    query: tuple[tuple[str, str], ...] = ()
    body: Mapping[str, object] | None = None
    writes: bool = False  # then "outcome unknown" and "nothing happened" are different faults
    urgent: bool = False
    large: bool = False  # the longer deadline and the larger limit, for whole messages
    answers: bool = True  # True: the answer is a record; False: it is empty
    not_found: Callable[[str], ProviderFault] | None = None
    upload: bytes | None = None  # goes to the upload endpoint as it is, instead of a JSON body
    upload_type: str = ""
    patience_s: float = math.inf  # the longest wait at the quota limiter


def carrying(call: Call, raw: bytes, *, thread_id: str | None, draft: bool = False) -> Call:
    """The call with a mail of that thread: a small mail in the JSON body, a larger one to Gmail's upload endpoint."""
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
    """Google's multipart upload (RFC 2387): the metadata, then the message. Returns body and boundary."""
    boundary = f"svc-{hashlib.sha256(raw).hexdigest()}"  # a mail can't contain its own hash
    head = (
        f"--{boundary}\r\ncontent-type: application/json; charset=utf-8\r\n\r\n".encode()
        + msgspec.json.encode(metadata)
        + f"\r\n--{boundary}\r\ncontent-type: message/rfc822\r\n\r\n".encode()
    )
    return b"".join((head, raw, f"\r\n--{boundary}--\r\n".encode())), boundary


def segment(text: str) -> str:
    """``text`` escaped as one segment of a path."""
    return quote(text, safe="")
