"""HTML that leaves: what a person composed, a signature, or a stranger's words they quote, rebuilt for other readers.

The allow-list is that of ``sanitize``: whatever may be shown may be sent, nothing else, and nothing that could run or
be followed to where it should not. Only images and links are written otherwise. An image stays if it is one of the
message's own parts (``cid:``) or lies at an ``https`` address; any other leaves its text. Links need no ``target``:
the reader's program decides.

As with ``sanitize``, ask :func:`svc.formats.html.plan` where this may run: no parser is quick on every shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class OutgoingHtml:
    """HTML fit to leave. ``content_ids``: the parts it shows, in order, by the ids it shows them under."""

    html: str
    content_ids: tuple[str, ...] = ()
    truncated: bool = False


def outgoing_html(html: str, *, images: Mapping[str, str] = _NONE) -> OutgoingHtml:
    """``html`` rebuilt for sending. ``images``: by the content id it is shown under there, the one it will have."""
    # Imported late: the parser comes with it (see :mod:`svc.formats.html.sanitizing`).
    from svc.formats.html.rebuild import parsed
    from svc.formats.writing.outgoing_rebuild import OutgoingRebuild

    rebuild = OutgoingRebuild(images=images)
    clean = rebuild.run(parsed(html))
    return OutgoingHtml(html=clean.html, content_ids=tuple(rebuild.shown), truncated=clean.truncated)
