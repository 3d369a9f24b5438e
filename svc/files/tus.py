"""The headers of tus 1.0.0 (https://tus.io/protocols/resumable-upload), parsed strictly. Pure.

The core (``HEAD`` returns the progress of an upload, ``PATCH`` continues there), and the extensions *creation* and
*creation-with-upload*, *termination*, *expiration* and *checksum*. The length is given when the upload begins (no
``Upload-Defer-Length``), and one upload is one file (no ``Upload-Concat``).
"""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import dataclass
from email.utils import formatdate
from typing import Final

from svc.clock import Millis
from svc.errors import Invalid, Refusal, TooLarge
from svc.files.names import DEFAULT_NAME, safe_name, type_from_headers
from svc.files.partial import PartialUpload
from svc.files.receiving import Checksum
from svc.protocol import Headers

VERSION: Final = "1.0.0"
EXTENSIONS: Final = "creation,creation-with-upload,termination,expiration,checksum"
ALGORITHMS: Final = ("sha1", "sha256", "md5")
BYTES: Final = "application/offset+octet-stream"
MAX_METADATA_CHARS: Final = 4_096
"""The client's description of its upload, `Upload-Metadata`. Beyond: 400 `invalid`."""

_NUMBER: Final = re.compile(r"[0-9]{1,18}")
_KEY: Final = re.compile(r"[\x21-\x2b\x2d-\x7e]+")  # no blank, no comma
_NAME_KEYS: Final = ("filename", "name")
_TYPE_KEYS: Final = ("filetype", "type")


@dataclass(frozen=True, kw_only=True)
class Metadata:
    """``text``: as the client sent it."""

    text: str
    name: str
    mime: str


def check_version(headers: Headers) -> None:
    """Raise 412 for a client of another version, or without one."""
    if headers.all("tus-resumable") != [VERSION]:
        raise Refusal(f"Say Tus-Resumable: {VERSION}.", code="precondition_failed", headers={"tus-version": VERSION})


def length_from(headers: Headers, *, most: int) -> int:
    """``Upload-Length``. Raises 400 without one, 413 beyond the ceiling."""
    if headers.get("upload-concat") is not None:
        raise Invalid("Uploads are not put together of others here.")
    if headers.get("upload-defer-length") is not None:
        raise Invalid("Say Upload-Length; it can't be said later.")
    length = _number(headers, "upload-length")
    if length > most:
        raise TooLarge(f"An upload may have at most {most} bytes.", headers={"tus-max-size": str(most)})
    return length


def offset_from(headers: Headers) -> int:
    return _number(headers, "upload-offset")


def check_type(headers: Headers) -> None:
    if headers.all("content-type") != [BYTES]:
        raise Refusal(f"The bytes of an upload come as {BYTES}.", code="unsupported_media_type")


def metadata_from(headers: Headers) -> Metadata:
    """``Upload-Metadata``: keys, each with a value in base64. A name and a type are used, under any of the keys that
    clients have for them; all else is only sent back."""
    given = headers.all("upload-metadata")
    text = ",".join(given)
    if len(text) > MAX_METADATA_CHARS:
        raise Invalid(f"Upload-Metadata may have at most {MAX_METADATA_CHARS} characters.")
    pairs: dict[str, bytes] = {}
    for one in filter(None, (part.strip() for part in text.split(","))):
        key, _, value = one.partition(" ")
        if not _KEY.fullmatch(key) or key in pairs:
            raise Invalid("Upload-Metadata has a key that is none, or one twice.")
        pairs[key] = _decoded(value)
    return Metadata(text=text, name=_name(pairs), mime=_type(pairs))


def checksum_from(headers: Headers) -> Checksum | None:
    """``Upload-Checksum: sha1 <base64>``."""
    given = headers.get("upload-checksum")
    if given is None:
        return None
    algorithm, _, expected = given.partition(" ")
    if algorithm not in ALGORITHMS:
        raise Invalid(f"Checksums are taken by {', '.join(ALGORITHMS)}.")
    _decoded(expected)
    return Checksum(algorithm=algorithm, expected=expected)


def told(upload: PartialUpload) -> list[tuple[str, str]]:
    """The headers about an upload: its progress, when it expires, and the file that it became."""
    fields = [("tus-resumable", VERSION), ("upload-offset", str(upload.stored)), ("cache-control", "no-store")]
    if upload.file_id is not None:
        return [*fields, ("x-svc-file-id", upload.file_id)]
    return [*fields, ("upload-expires", _date(upload.expires_at))]


def _number(headers: Headers, name: str) -> int:
    values = headers.all(name)
    if len(values) != 1 or not _NUMBER.fullmatch(values[0]):
        raise Invalid(f"{name.title()} must be a whole number of bytes.")
    return int(values[0])


def _decoded(value: str) -> bytes:
    try:
        return b64decode(value, validate=True)
    except ValueError as error:
        raise Invalid("A value is not base64.") from error


def _name(pairs: dict[str, bytes]) -> str:
    raw = next((pairs[key] for key in _NAME_KEYS if key in pairs), b"")
    try:
        return safe_name(raw.decode()) if raw else DEFAULT_NAME
    except UnicodeDecodeError as error:
        raise Invalid("The name in Upload-Metadata is not UTF-8.") from error


def _type(pairs: dict[str, bytes]) -> str:
    raw = next((pairs[key] for key in _TYPE_KEYS if key in pairs), b"")
    return type_from_headers([raw.decode("latin-1")])


def _date(at: Millis) -> str:
    return formatdate(at / 1_000, usegmt=True)
