"""Small pictures of every kind, real where a browser looks at them, and what only pretends to be one."""

from __future__ import annotations

import base64
from typing import Final

PNG: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP8z8DAwMDAxMDAwMDAAAANHQEDasKb6QAAAABJRU5ErkJggg=="
)
GIF: Final = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
SVG: Final = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
KINDS: Final = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0\x00\x10JFIF",
    "image/gif": GIF,
    "image/webp": b"RIFF\x24\x00\x00\x00WEBPVP8 ",
    "image/avif": b"\x00\x00\x00\x1cftypavif\x00\x00\x00\x00avifmif1",
    "image/bmp": b"BM" + bytes(12) + b"\x28\x00\x00\x00" + bytes(40),
    "image/x-icon": b"\x00\x00\x01\x00\x01\x00" + bytes(40),
}
NO_PICTURES: Final = {
    "nothing": b"",
    "svg": SVG,
    "svg after a declaration": b"<?xml version='1.0'?>" + SVG,
    "html": b"<!doctype html><script>alert(1)</script>",
    "text that begins as a bitmap does": b"BMW is a car. <script>alert(1)</script> and so on, at length",
    "pdf": b"%PDF-1.7",
    "video": b"\x00\x00\x00\x1cftypisom\x00\x00\x00\x00isommp42",
    "an icon without icons": b"\x00\x00\x01\x00\x00\x00" + bytes(40),
    "sound": b"RIFF\x24\x00\x00\x00WAVEfmt ",
    "gzip": b"\x1f\x8b\x08\x00",
}
