"""Outgoing HTML: what a person composed, a signature, or a stranger's quoted words, rebuilt for other readers.

The allow-list is that of ``sanitize``: what may be shown may be sent, and nothing else; nothing that could run or lead
to a forbidden place. Only images and links are written differently. An image stays if it is one of the message's own
parts (``cid:``) or has an ``https`` address; any other is replaced by its text. Links need no ``target``: the reader's
program decides.

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
    """HTML fit to send. ``content_ids``: the parts that it shows, in order, by the ids that it uses for them."""

    html: str
    content_ids: tuple[str, ...] = ()
    truncated: bool = False


def outgoing_html(html: str, *, images: Mapping[str, str] = _NONE) -> OutgoingHtml:
    """``html`` rebuilt for sending. ``images``: the new content id by the one that ``html`` uses."""
    # Imported late, because it loads the parser (see :mod:`svc.formats.html.sanitizing`).
    from svc.formats.html.rebuild import parsed
    from svc.formats.writing.outgoing_rebuild import OutgoingRebuild

    rebuild = OutgoingRebuild(images=images)
    clean = rebuild.run(parsed(html))
    return OutgoingHtml(html=clean.html, content_ids=tuple(rebuild.shown), truncated=clean.truncated)
