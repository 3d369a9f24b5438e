"""HTML that leaves: what a person composed, a signature, or a stranger's words they quote, rebuilt for other readers.

The allow-list is that of ``sanitize``: whatever may be shown may be sent, nothing else, and nothing that could run or
be followed to where it should not. Only images and links are written otherwise. An image stays if it is one of the
message's own parts (``cid:``) or lies at an ``https`` address; any other leaves its text. Links need no ``target``:
the reader's program decides.

As with ``sanitize``, ask :func:`svc.formats.html.plan` where this may run: no parser is quick on every shape.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar, Final

from svc.formats.html.address import image_address
from svc.formats.html.policy import ATTRIBUTES
from svc.formats.html.rebuild import Attributes, Rebuild, escape_attribute, escape_text, parsed, printable

MAX_IMAGES: Final = 1_000
MAX_CONTENT_ID_CHARS: Final = 1_000

_CID: Final = "cid:"
_NONE: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class OutgoingHtml:
    """HTML fit to leave. ``content_ids``: the parts it shows, in order, by the ids it shows them under."""

    html: str
    content_ids: tuple[str, ...] = ()
    truncated: bool = False


def outgoing_html(html: str, *, images: Mapping[str, str] = _NONE) -> OutgoingHtml:
    """``html`` rebuilt for sending. ``images``: by the content id it is shown under there, the one it will have."""
    rebuild = _Outgoing(images=images)
    clean = rebuild.run(parsed(html))
    return OutgoingHtml(html=clean.html, content_ids=tuple(rebuild.shown), truncated=clean.truncated)


def content_id_shown(src: str) -> str | None:
    """The content id that an image's address names, RFC 2392; ``None`` for any other address."""
    src = src.strip()
    if len(src) > MAX_CONTENT_ID_CHARS or src[: len(_CID)].lower() != _CID:
        return None
    return urllib.parse.unquote(src[len(_CID) :])


@dataclass
class _Outgoing(Rebuild):
    link_attributes: ClassVar[str] = ""
    images: Mapping[str, str] = field(default_factory=dict)
    shown: dict[str, None] = field(default_factory=dict)
    _written: int = 0

    def image(self, attributes: Attributes) -> None:
        source = self._source(attributes.get("src") or "")
        if source is None or self._written >= MAX_IMAGES:
            self.write(escape_text(printable(ATTRIBUTES["img"]["alt"](attributes.get("alt") or "") or "")))
            return
        self._written += 1
        self.write(f'<img src="{escape_attribute(source)}"{self.attributes("img", attributes)}>')

    def _source(self, src: str) -> str | None:
        content_id = content_id_shown(src)
        if content_id is not None:
            sent_as = self.images.get(content_id)
            if sent_as is None:
                return None
            self.shown[sent_as] = None
            return _CID + urllib.parse.quote(sent_as, safe="@")
        address = image_address(src)
        return address if address is not None and address.startswith("https://") else None
