"""The rebuild for outgoing HTML: as for the frame, except for links and images."""

from __future__ import annotations

import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

from svc.formats.html.address import image_address
from svc.formats.html.escaping import escape_attribute, escape_text, printable
from svc.formats.html.policy import ATTRIBUTES
from svc.formats.html.rebuild import Attributes, Rebuild

MAX_IMAGES: Final = 1_000
MAX_CONTENT_ID_CHARS: Final = 1_000

_CID: Final = "cid:"


def content_id_shown(src: str) -> str | None:
    """The content id that an image's address names, RFC 2392; ``None`` for any other address."""
    src = src.strip()
    if len(src) > MAX_CONTENT_ID_CHARS or src[: len(_CID)].lower() != _CID:
        return None
    return urllib.parse.unquote(src[len(_CID) :])


@dataclass
class OutgoingRebuild(Rebuild):
    link_attributes: ClassVar[str] = ""
    images: Mapping[str, str] = field(default_factory=dict)
    shown: dict[str, None] = field(default_factory=dict)
    _written: int = 0

    def image(self, attributes: Attributes, mark: str = "") -> None:
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
