"""The name of an attachment: the sender's name made harmless, or a name by its type.

A name is only data to show and to offer; no file is opened by it. Even so it never holds a path, a control character or
a character that reorders text on the screen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from svc.formats.mime.model import MAX_FILENAME_BYTES
from svc.formats.text import clean_line

MAX_EXTENSION_BYTES: Final = 20
MAX_RAW_NAME_CHARS: Final = 4_096

_DRIVE: Final = re.compile(r"^[A-Za-z]:")
_WHOLE_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "message/rfc822": "message.eml",
        "message/global": "message.eml",
        "message/delivery-status": "delivery-status.txt",
        "message/disposition-notification": "disposition.txt",
        "message/feedback-report": "feedback-report.txt",
        "text/rfc822-headers": "headers.txt",
        "text/calendar": "invite.ics",
        "application/ms-tnef": "winmail.dat",
        "application/pgp-signature": "signature.asc",
        "application/pgp-encrypted": "encrypted.asc",
        "application/pgp-keys": "keys.asc",
        "application/pkcs7-signature": "smime.p7s",
        "application/x-pkcs7-signature": "smime.p7s",
        "application/pkcs7-mime": "smime.p7m",
        "application/x-pkcs7-mime": "smime.p7m",
    }
)
_EXTENSIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "application/gzip": "gz",
        "application/json": "json",
        "application/msword": "doc",
        "application/pdf": "pdf",
        "application/rtf": "rtf",
        "application/vnd.ms-excel": "xls",
        "application/vnd.ms-powerpoint": "ppt",
        "application/vnd.oasis.opendocument.spreadsheet": "ods",
        "application/vnd.oasis.opendocument.text": "odt",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
        "application/xml": "xml",
        "application/zip": "zip",
        "audio/mpeg": "mp3",
        "audio/mp4": "m4a",
        "audio/ogg": "ogg",
        "audio/wav": "wav",
        "image/bmp": "bmp",
        "image/gif": "gif",
        "image/heic": "heic",
        "image/jpeg": "jpg",
        "image/jpg": "jpg",
        "image/png": "png",
        "image/svg+xml": "svg",
        "image/tiff": "tif",
        "image/webp": "webp",
        "text/css": "css",
        "text/csv": "csv",
        "text/html": "html",
        "text/markdown": "md",
        "text/plain": "txt",
        "text/rtf": "rtf",
        "text/vcard": "vcf",
        "text/x-diff": "diff",
        "text/x-patch": "patch",
        "text/x-vcard": "vcf",
        "text/xml": "xml",
        "video/mp4": "mp4",
        "video/mpeg": "mpg",
        "video/quicktime": "mov",
        "video/webm": "webm",
    }
)


def safe_filename(raw: str, *, mime: str) -> str:
    """The last component of ``raw``, cleaned and at most 255 bytes, with its extension; else a name by type."""
    name = clean_line(raw[-MAX_RAW_NAME_CHARS:]).replace("\\", "/").rstrip("/").rpartition("/")[2]
    name = _DRIVE.sub("", name).strip(" \"'").rstrip(". ")
    return _shortened(name) if name.strip(". ") else default_filename(mime)


def default_filename(mime: str) -> str:
    whole = _WHOLE_NAMES.get(mime)
    return whole if whole else f"attachment.{_EXTENSIONS.get(mime, 'bin')}"


def _shortened(name: str) -> str:
    if len(name.encode("utf-8")) <= MAX_FILENAME_BYTES:
        return name
    stem, dot, extension = name.rpartition(".")
    ending = (dot + extension).encode("utf-8")
    if not stem or len(ending) > MAX_EXTENSION_BYTES:
        stem, ending = name, b""
    kept = stem.encode("utf-8")[: MAX_FILENAME_BYTES - len(ending)].decode("utf-8", "ignore")
    return kept + ending.decode("utf-8")
